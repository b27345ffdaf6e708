// Motion without friction: the seven bodies of the Pleiades problem beside CVODE's Adams method on equations written by
// hand; and the pendulum in Cartesian coordinates, a constraint that every step is put back on, beside the same one as
// an angle.
#include <fmt/format.h>
#include <nvector/nvector_serial.h>

#include <array>
#include <cmath>

#include "bench.h"
#include "peers.h"

namespace bench {
namespace {

constexpr int bodies = 7;

constexpr const char* pleiades = R"(constant n = 7;
boundary
  x(0) = (3, 3, -1, -3, 2, -2, 2);  y(0) = (3, -3, 2, 0, 0, -4, 4);
  x'(0) = (0, 0, 0, 0, 0, 1.75, -1.5);  y'(0) = (0, 0, 0, -1.25, 1, 0, 0);
system
  for i in 1..n {
    x[i]'' = sum(j in 1..n: if j = i then 0 else j * (x[j] - x[i]) / ((x[j] - x[i])^2 + (y[j] - y[i])^2)^1.5);
    y[i]'' = sum(j in 1..n: if j = i then 0 else j * (y[j] - y[i]) / ((x[j] - x[i])^2 + (y[j] - y[i])^2)^1.5);
  }
)";

// Published, of the x at t = 3.
constexpr std::array<double, bodies> published = {.3706139143970502, 3.237284092057233, -3.222559032418324,
                                                  .6597091455775310, .3425581707156584, 1.562172101400631,
                                                  -.7003092922212495};

HandWritten pleiades_by_hand() {
  HandWritten problem;
  problem.method = CV_ADAMS;
  problem.start = {3, 3, -1, -3, 2, -2, 2, 3, -3, 2, 0, 0, -4, 4, 0, 0, 0, 0, 0, 1.75, -1.5, 0, 0, 0, -1.25, 1, 0, 0};
  problem.derivative = [](realtype, N_Vector state, N_Vector rate, void*) {
    const double* s = N_VGetArrayPointer(state);
    double* d = N_VGetArrayPointer(rate);
    for (int i = 0; i < 2 * bodies; ++i) d[i] = s[2 * bodies + i];
    for (int i = 0; i < bodies; ++i) {
      double ax = 0;
      double ay = 0;
      for (int j = 0; j < bodies; ++j) {
        if (j == i) continue;
        const double dx = s[j] - s[i];
        const double dy = s[bodies + j] - s[bodies + i];
        const double r2 = dx * dx + dy * dy;
        const double m = (j + 1) / (r2 * std::sqrt(r2));
        ax += m * dx;
        ay += m * dy;
      }
      d[2 * bodies + i] = ax;
      d[3 * bodies + i] = ay;
    }
    return 0;
  };
  return problem;
}

double error_of(const Run& run) {
  if (run.values.empty()) return NAN;
  double worst = 0;
  for (int i = 0; i < bodies; ++i)
    worst = std::max(worst, std::abs(run.values[static_cast<std::size_t>(i)] - published[static_cast<std::size_t>(i)]));
  return worst;
}

void measure_pleiades(const Options& options, std::vector<Figure>& figures) {
  const OurModel ours("pleiades.tact", pleiades);
  const HandWritten by_hand = pleiades_by_hand();
  const auto with_error = [](Run run) {
    run.error = error_of(run);
    return run;
  };
  const double theirs_at = 1e-10;
  const double wanted = with_error(run_cvode(by_hand, theirs_at, 3)).error;
  // The loosest tolerance of ours that is no less accurate.
  double ours_at = 1e-7;
  while (ours_at > 1e-14 && !(error_of(ours.run(TACTUS_DOP853, ours_at, 3)) <= wanted)) ours_at /= 1.5;
  std::vector<Way<Run>> ways = {{"CVODE Adams by hand", [&] { return with_error(run_cvode(by_hand, theirs_at, 3)); }},
                                {"our dop853", [&] { return with_error(ours.run(TACTUS_DOP853, ours_at, 3)); }}};
  interleave(ways, options.pairs);
  const std::string name = fmt::format("Pleiades to t = 3, CVODE at {:g}, dop853 at {:.1g}", theirs_at, ours_at);
  for (const Way<Run>& way : ways) {
    figures.push_back({fmt::format("{}: {}", name, way.name), 1e3 * median(way.seconds), "ms", 0,
                       fmt::format("{} steps, error {:.2g}", way.last.steps, way.last.error)});
  }
  figures.push_back(at_no_larger_error(name, ways[0], ways[1], 0.7));
}

constexpr const char* cartesian = R"(boundary x(0) = 1, y(0) = 0, y'(0) = 0;
system
  x'' = lambda * x;  y'' = lambda * y - 9.81;  x^2 + y^2 = 1;
  E = (x'^2 + y'^2) / 2 + 9.81 * y;
  off = x;
)";
constexpr const char* angular = R"(boundary phi(0) = pi / 2, phi'(0) = 0;
system
  phi'' = -9.81 * sin(phi);
  E = phi'^2 / 2 - 9.81 * cos(phi);
  off = sin(phi);
)";
constexpr double period = 2.367841947576237;

void measure_pendulum(const Options& options, std::vector<Figure>& figures) {
  const OurModel with_constraint("pendulum_cartesian.tact", cartesian);
  const OurModel minimal("pendulum.tact", angular);
  const double periods = 20.25;  // at the end it passes the lowest point, where x = sin(phi) = 0, at its fastest
  struct Method {
    std::string name;
    tactus_solver solver;
    double fineness;  // step or tolerance
  };
  for (const Method& method :
       {Method{"rk4 at 1 ms", TACTUS_RK4, 1e-3}, Method{"tsit5 at 1e-6", TACTUS_TSIT5, 1e-6},
        Method{"tsit5 at 1e-10", TACTUS_TSIT5, 1e-10}, Method{"dop853 at 1e-10", TACTUS_DOP853, 1e-10}}) {
    const auto by = [&](const OurModel& model) {
      return [&] { return model.run(method.solver, method.fineness, periods * period); };
    };
    std::vector<Way<Run>> ways = {{"as an angle", by(minimal)}, {"with projection", by(with_constraint)}};
    interleave(ways, options.pairs);
    const std::string name = fmt::format("pendulum, {} periods, {}", periods, method.name);
    std::vector<double> errors;
    for (const Way<Run>& way : ways) {
      const std::vector<double>& values = way.last.values;  // the last two: E, off
      const double drift = values.empty() ? NAN : values[values.size() - 2] / (9.81 * periods);
      errors.push_back(values.empty() ? NAN : std::abs(values.back()));
      figures.push_back({fmt::format("{}: {}", name, way.name), 1e6 * median(way.seconds), "us", 0,
                         fmt::format("{} steps, error {:.2g} of L, energy drift a period {:.2g} of m g L",
                                     way.last.steps, errors.back(), drift)});
    }
    figures.push_back({fmt::format("{}: with projection / as an angle", name),
                       median(ways[1].seconds) / median(ways[0].seconds), "", 3,
                       fmt::format("errors {:.2g} and {:.2g}", errors[1], errors[0])});
  }
}

}  // namespace

std::vector<Figure> measure_mechanics(const Options& options) {
  std::vector<Figure> figures;
  measure_pleiades(options, figures);
  measure_pendulum(options, figures);
  return figures;
}

}  // namespace bench
