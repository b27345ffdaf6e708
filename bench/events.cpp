// Located events: a ball that falls ten times onto a springy floor, twenty changes of its equation. By us from the text; and by CVODE
// with its root finding, the equations, their Jacobian and the height as root function written by hand, started anew at each
// root. All in one run, interleaved; the time of the run alone, without compiling. The truth is in closed form from change to change.
#include <cvode/cvode.h>
#include <fmt/format.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>

#include "api/load.h"
#include "bench.h"
#include "compiler/emit_llvm/jit.h"
#include "runtime/sim/run.h"

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

struct Result {
  double seconds = 0;
  double error = 0;  // of the height at the end
  std::int64_t steps = 0;
  std::int64_t crossings = 0;
};

struct Floor {
  bool is_touched = false;
};

Result by_hand(const Truth& expected) {
  const double before = thread_seconds();
  SUNContext context = nullptr;
  SUNContext_Create(nullptr, &context);
  N_Vector y = N_VNew_Serial(2, context);
  N_VGetArrayPointer(y)[0] = 1;
  N_VGetArrayPointer(y)[1] = 0;
  Floor floor;
  void* memory = CVodeCreate(CV_BDF, context);
  CVodeInit(
      memory,
      [](realtype, N_Vector x, N_Vector dx, void* user) {
        const double* s = N_VGetArrayPointer(x);
        double* d = N_VGetArrayPointer(dx);
        d[0] = s[1];
        d[1] = -gravity - (static_cast<Floor*>(user)->is_touched ? stiffness * s[0] + damping * s[1] : 0);
        return 0;
      },
      0, y);
  CVodeSetUserData(memory, &floor);
  CVodeSStolerances(memory, tolerance, tolerance);
  SUNMatrix matrix = SUNDenseMatrix(2, 2, context);
  SUNLinearSolver solver = SUNLinSol_Dense(y, matrix, context);
  CVodeSetLinearSolver(memory, solver, matrix);
  CVodeSetJacFn(memory, [](realtype, N_Vector, N_Vector, SUNMatrix to, void* user, N_Vector, N_Vector, N_Vector) {
    double* j = SUNDenseMatrix_Data(to);
    const bool is_touched = static_cast<Floor*>(user)->is_touched;
    j[0] = 0;
    j[1] = is_touched ? -stiffness : 0;
    j[2] = 1;
    j[3] = is_touched ? -damping : 0;
    return 0;
  });
  CVodeRootInit(memory, 1, [](realtype, N_Vector x, realtype* g, void*) {
    g[0] = N_VGetArrayPointer(x)[0];
    return 0;
  });
  Result result;
  realtype t = 0;
  int flag = CV_ROOT_RETURN;
  long int steps = 0;
  while (flag == CV_ROOT_RETURN) {
    flag = CVode(memory, expected.end, y, &t, CV_NORMAL);
    CVodeGetNumSteps(memory, &steps);
    result.steps += steps;
    if (flag != CV_ROOT_RETURN) break;
    ++result.crossings;
    floor.is_touched = !floor.is_touched;
    CVodeReInit(memory, t, y);
  }
  result.seconds = thread_seconds() - before;
  result.error = flag == CV_SUCCESS ? std::abs(N_VGetArrayPointer(y)[0] - expected.height) : NAN;
  CVodeFree(&memory);
  SUNLinSolFree(solver);
  SUNMatDestroy(matrix);
  N_VDestroy(y);
  SUNContext_Free(&context);
  return result;
}

class Ours {
 public:
  Ours() {
    auto compiled = api::compile_text("springy_floor.tact", text, {});
    if (!compiled.program) {
      fmt::print(stderr, "{}", diag::render_text(compiled.diags, compiled.sources, false));
      std::exit(1);
    }
    emit_llvm::JitOptions tiers;
    tiers.tangents = tangent::only(TACTUS_OF_DERIVATIVE);
    jit_ = std::make_unique<emit_llvm::CompiledModel>(std::move(*compiled.program), tiers);
    jit_->wait_optimised();
  }

  Result run(tactus_solver solver, const Truth& expected) const {
    std::string failure;
    sim::Request request;
    request.table = [this] { return jit_->current(); };
    auto plan =
        sim::make_plan(*jit_->current(),
                       {.solver = solver, .tolerance = tolerance, .until = expected.end, .recording = false}, failure);
    if (!plan) return {NAN, NAN, 0, 0};
    request.plan = *plan;
    const double before = thread_seconds();
    const sim::Outcome outcome = sim::run(request, nullptr);
    const double seconds = thread_seconds() - before;
    return {seconds, outcome.outputs.empty() ? NAN : std::abs(outcome.outputs[0] - expected.height), outcome.steps,
            outcome.crossings};
  }

 private:
  std::unique_ptr<emit_llvm::CompiledModel> jit_;
};

}  // namespace

std::vector<Figure> measure_events(const Options& options) {
  const Truth expected = truth();
  const Ours ours;
  std::vector<Way<Result>> ways = {{"CVODE and roots by hand", [&] { return by_hand(expected); }},
                                   {"our tsit5", [&] { return ours.run(TACTUS_TSIT5, expected); }},
                                   {"our dop853", [&] { return ours.run(TACTUS_DOP853, expected); }},
                                   {"our rosenbrock", [&] { return ours.run(TACTUS_ROSENBROCK, expected); }},
                                   {"our cvode", [&] { return ours.run(TACTUS_CVODE, expected); }}};
  interleave(ways, options.pairs);
  std::vector<Figure> figures;
  for (const Way<Result>& way : ways) {
    figures.push_back(
        {fmt::format("ten falls on a springy floor, tolerance {:g}: {}", tolerance, way.name),
         1e6 * median(way.seconds), "us", 0,
         fmt::format("{} changes, {} steps, error {:.2g}", way.last.crossings, way.last.steps, way.last.error)});
  }
  return figures;
}

}  // namespace bench
