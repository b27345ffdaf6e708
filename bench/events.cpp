// Located events: a ball that falls ten times onto a springy floor, twenty changes of its equation. By us from the
// text; and by CVODE with its root finding, the equations, their Jacobian and the height as root function written by
// hand, started anew at each root. All in one run, interleaved; the time of the run alone, without compiling. The truth
// is in closed form from change to change.
#include <fmt/format.h>
#include <nvector/nvector_serial.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <cmath>

#include "bench.h"
#include "peers.h"

namespace bench {
namespace {

constexpr double gravity = 9.81;
constexpr double stiffness = 1000;
constexpr double damping = 2;
constexpr int contacts = 10;
constexpr double tolerance = 1e-8;

constexpr const char* text = R"(simulation starting_time = 0
boundary h(0) = 1, h'(0) = 0;
system
  h'' = -9.81 - (if h < 0 then 1000 * h + 2 * h' else 0);
)";

struct Truth {
  double end = 0;  // on the way up behind the last contact
  double height = 0;
};

// Contact begins with the speed -v at height 0: h'' + damping h' + stiffness h = -gravity.
Truth truth() {
  long double t = std::sqrt(2 / static_cast<long double>(gravity));
  long double v = gravity * t;
  const long double a = damping / 2;
  const long double w = std::sqrt(stiffness - a * a);
  for (int k = 0; k < contacts; ++k) {
    const long double rest = -static_cast<long double>(gravity) / stiffness;
    const long double b = (-v - a * rest) / w;
    const auto height = [&](long double s) {
      return rest + std::exp(-a * s) * (-rest * std::cos(w * s) + b * std::sin(w * s));
    };
    long double low = 0.5L * std::acos(-1.0L) / w;
    long double high = 3 * low;
    for (int i = 0; i < 80; ++i) {
      const long double middle = (low + high) / 2;
      (height(middle) < 0 ? low : high) = middle;
    }
    const long double s = low;
    const long double c = std::cos(w * s);
    const long double n = std::sin(w * s);
    v = std::exp(-a * s) * (-a * (-rest * c + b * n) + w * (rest * n + b * c));
    t += s;
    if (k + 1 < contacts) t += 2 * v / gravity;
  }
  const long double rise = v / gravity / 2;
  return {static_cast<double>(t + rise), static_cast<double>(v * rise - gravity * rise * rise / 2)};
}

struct Floor {
  bool is_touched = false;
};

HandWritten by_hand(Floor& floor) {
  return {.start = {1, 0},
          .derivative =
              [](realtype, N_Vector x, N_Vector dx, void* user) {
                const double* s = N_VGetArrayPointer(x);
                double* d = N_VGetArrayPointer(dx);
                d[0] = s[1];
                d[1] = -gravity - (static_cast<Floor*>(user)->is_touched ? stiffness * s[0] + damping * s[1] : 0);
                return 0;
              },
          .jacobian =
              [](realtype, N_Vector, N_Vector, SUNMatrix to, void* user, N_Vector, N_Vector, N_Vector) {
                double* j = SUNDenseMatrix_Data(to);
                const bool is_touched = static_cast<Floor*>(user)->is_touched;
                j[0] = 0;
                j[1] = is_touched ? -stiffness : 0;
                j[2] = 1;
                j[3] = is_touched ? -damping : 0;
                return 0;
              },
          .root =
              [](realtype, N_Vector x, realtype* g, void*) {
                g[0] = N_VGetArrayPointer(x)[0];
                return 0;
              },
          .user = &floor,
          .at_root = [&floor](double*) { floor.is_touched = !floor.is_touched; }};
}

}  // namespace

std::vector<Figure> measure_events(const Options& options) {
  const Truth expected = truth();
  const OurModel ours("springy_floor.tact", text);
  const auto with_error = [&](Run run) {
    run.error = run.values.empty() ? NAN : std::abs(run.values[0] - expected.height);
    return run;
  };
  const auto by_us = [&](tactus_solver solver) {
    return [&, solver] { return with_error(ours.run(solver, tolerance, expected.end)); };
  };
  std::vector<Way<Run>> ways = {{"CVODE and roots by hand",
                                 [&] {
                                   Floor floor;
                                   return with_error(run_cvode(by_hand(floor), tolerance, expected.end));
                                 }},
                                {"our tsit5", by_us(TACTUS_TSIT5)},
                                {"our dop853", by_us(TACTUS_DOP853)},
                                {"our rosenbrock", by_us(TACTUS_ROSENBROCK)},
                                {"our cvode", by_us(TACTUS_CVODE)}};
  interleave(ways, options.pairs);
  const std::string name = fmt::format("ten falls on a springy floor, tolerance {:g}", tolerance);
  std::vector<Figure> figures;
  for (const Way<Run>& way : ways) {
    figures.push_back(
        {fmt::format("{}: {}", name, way.name), 1e6 * median(way.seconds), "us", 0,
         fmt::format("{} changes, {} steps, error {:.2g}", way.last.crossings, way.last.steps, way.last.error)});
  }
  figures.push_back(at_no_larger_error(name, ways[0], ways[1], 0.5));
  return figures;
}

}  // namespace bench
