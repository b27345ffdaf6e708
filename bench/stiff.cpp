// The stiff problems of the test set for IVP solvers: by our solvers, from our text, and by CVODE called as its manual says, the
// equations and their Jacobian written by hand. All in one run, interleaved; the time of the run alone, without compiling.
#include <cvode/cvode.h>
#include <fmt/format.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <cmath>
#include <cstdlib>
#include <functional>

#include "api/load.h"
#include "bench.h"
#include "compiler/emit_llvm/jit.h"
#include "runtime/sim/run.h"

namespace bench {
namespace {

struct Result {
  double seconds = 0;
  double error = 0;  // of the first state at the end
  std::int64_t steps = 0;
};

struct Problem {
  const char* name;
  const char* file;
  double end;
  double tolerance;
  double first;  // the first state at the end, published
  std::vector<double> start;
  CVRhsFn derivative;
  CVLsJacFn jacobian;
};

Problem van_der_pol() {
  return {"van der Pol, mu = 1000",
          "van_der_pol_stiff.tact",
          2000,
          1e-6,
          1.706167732170469,
          {2, 0},
          [](realtype, N_Vector y, N_Vector dy, void*) {
            const double* x = N_VGetArrayPointer(y);
            double* d = N_VGetArrayPointer(dy);
            d[0] = x[1];
            d[1] = 1000 * (1 - x[0] * x[0]) * x[1] - x[0];
            return 0;
          },
          [](realtype, N_Vector y, N_Vector, SUNMatrix matrix, void*, N_Vector, N_Vector, N_Vector) {
            const double* x = N_VGetArrayPointer(y);
            double* j = SUNDenseMatrix_Data(matrix);  // by columns
            j[0] = 0;
            j[1] = -2000 * x[0] * x[1] - 1;
            j[2] = 1;
            j[3] = 1000 * (1 - x[0] * x[0]);
            return 0;
          }};
}

Problem robertson() {
  return {"Robertson to t = 1e11",
          "robertson.tact",
          1e11,
          1e-12,
          2.083340149701255e-8,
          {1, 0, 0},
          [](realtype, N_Vector y, N_Vector dy, void*) {
            const double* x = N_VGetArrayPointer(y);
            double* d = N_VGetArrayPointer(dy);
            d[0] = -0.04 * x[0] + 1e4 * x[1] * x[2];
            d[2] = 3e7 * x[1] * x[1];
            d[1] = -d[0] - d[2];
            return 0;
          },
          [](realtype, N_Vector y, N_Vector, SUNMatrix matrix, void*, N_Vector, N_Vector, N_Vector) {
            const double* x = N_VGetArrayPointer(y);
            double* j = SUNDenseMatrix_Data(matrix);
            const double columns[3][2] = {{-0.04, 0}, {1e4 * x[2], 6e7 * x[1]}, {1e4 * x[1], 0}};
            for (int k = 0; k < 3; ++k) {
              j[3 * k] = columns[k][0];
              j[3 * k + 1] = -columns[k][0] - columns[k][1];
              j[3 * k + 2] = columns[k][1];
            }
            return 0;
          }};
}

Result by_hand(const Problem& problem) {
  Result result;
  const double before = thread_seconds();
  SUNContext context = nullptr;
  SUNContext_Create(nullptr, &context);
  const auto n = static_cast<sunindextype>(problem.start.size());
  N_Vector y = N_VNew_Serial(n, context);
  for (std::size_t i = 0; i < problem.start.size(); ++i) N_VGetArrayPointer(y)[i] = problem.start[i];
  void* memory = CVodeCreate(CV_BDF, context);
  CVodeInit(memory, problem.derivative, 0, y);
  CVodeSStolerances(memory, problem.tolerance, problem.tolerance);
  SUNMatrix matrix = SUNDenseMatrix(n, n, context);
  SUNLinearSolver solver = SUNLinSol_Dense(y, matrix, context);
  CVodeSetLinearSolver(memory, solver, matrix);
  CVodeSetJacFn(memory, problem.jacobian);
  CVodeSetMaxNumSteps(memory, 1'000'000);
  realtype t = 0;
  const int flag = CVode(memory, problem.end, y, &t, CV_NORMAL);
  result.seconds = thread_seconds() - before;
  long int steps = 0;
  CVodeGetNumSteps(memory, &steps);
  result.steps = steps;
  result.error = flag == CV_SUCCESS ? std::abs(N_VGetArrayPointer(y)[0] - problem.first) : NAN;
  CVodeFree(&memory);
  SUNLinSolFree(solver);
  SUNMatDestroy(matrix);
  N_VDestroy(y);
  SUNContext_Free(&context);
  return result;
}

class Ours {
 public:
  explicit Ours(const Problem& problem) : problem_(problem) {
    auto compiled = api::compile_files({std::string(TACTUS_SOURCE_DIR) + "/examples/" + problem.file}, {}, false);
    if (!compiled.program) {
      fmt::print(stderr, "{}", diag::render_text(compiled.diags, compiled.sources, false));
      std::exit(1);
    }
    emit_llvm::JitOptions tiers;
    tiers.tangents = tangent::only(TACTUS_OF_DERIVATIVE);
    jit_ = std::make_unique<emit_llvm::CompiledModel>(std::move(*compiled.program), tiers);
    jit_->wait_optimised();
  }

  Result run(tactus_solver solver) const {
    std::string failure;
    sim::Request request;
    request.table = [this] { return jit_->current(); };
    auto plan = sim::make_plan(
        *jit_->current(),
        {.solver = solver, .tolerance = problem_.tolerance, .until = problem_.end, .recording = false}, failure);
    if (!plan) return {NAN, NAN, 0};
    request.plan = *plan;
    const double before = thread_seconds();
    const sim::Outcome outcome = sim::run(request, nullptr);
    const double seconds = thread_seconds() - before;
    return {seconds, outcome.outputs.empty() ? NAN : std::abs(outcome.outputs[0] - problem_.first), outcome.steps};
  }

 private:
  const Problem& problem_;
  std::unique_ptr<emit_llvm::CompiledModel> jit_;
};

}  // namespace

std::vector<Figure> measure_stiff(const Options& options) {
  std::vector<Figure> figures;
  for (const Problem& problem : {van_der_pol(), robertson()}) {
    const Ours ours(problem);
    std::vector<Way<Result>> ways = {{"CVODE by hand", [&] { return by_hand(problem); }},
                                     {"our cvode", [&] { return ours.run(TACTUS_CVODE); }},
                                     {"our rosenbrock", [&] { return ours.run(TACTUS_ROSENBROCK); }}};
    interleave(ways, options.pairs);
    for (const Way<Result>& way : ways) {
      figures.push_back({fmt::format("{}, tolerance {:g}: {}", problem.name, problem.tolerance, way.name),
                         1e3 * median(way.seconds), "ms", 0,
                         fmt::format("{} steps, error {:.2g}", way.last.steps, way.last.error)});
    }
  }
  return figures;
}

}  // namespace bench
