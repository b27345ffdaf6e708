#include "peers.h"

#include <fmt/format.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "api/load.h"
#include "runtime/sim/run.h"

namespace bench {
namespace {

std::unique_ptr<emit_llvm::CompiledModel> compiled(api::Compiled result) {
  if (!result.program) {
    fmt::print(stderr, "{}", diag::render_text(result.diags, result.sources, false));
    std::exit(1);
  }
  emit_llvm::JitOptions tiers;
  tiers.tangents = tangent::only(TACTUS_OF_DERIVATIVE);
  auto jit = std::make_unique<emit_llvm::CompiledModel>(std::move(*result.program), tiers);
  jit->wait_optimised();
  return jit;
}

}  // namespace

OurModel::OurModel(std::unique_ptr<emit_llvm::CompiledModel> jit) : jit_(std::move(jit)) {}
OurModel::OurModel(const std::string& name, const std::string& text)
    : OurModel(compiled(api::compile_text(name, text, {}))) {}
OurModel OurModel::of_example(const std::string& file) {
  return OurModel(compiled(api::compile_files({std::string(TACTUS_SOURCE_DIR) + "/examples/" + file}, {}, false)));
}

Run OurModel::run(tactus_solver solver, double fineness, double end) const {
  std::string failure;
  sim::Settings settings = {.solver = solver, .until = end, .recording = false};
  (tactus_is_adaptive(solver) ? settings.tolerance : settings.step) = fineness;
  sim::Request request;
  request.table = [this] { return jit_->current(); };
  const auto plan = sim::make_plan(*jit_->current(), settings, failure);
  if (!plan) return {};
  request.plan = *plan;
  const double before = thread_seconds();
  const sim::Outcome outcome = sim::run(request, nullptr);
  const double seconds = thread_seconds() - before;
  const bool is_done = outcome.ending == sim::Ending::done;
  Run result = {seconds, is_done ? outcome.outputs : std::vector<double>(), outcome.steps, outcome.crossings};
  for (const sim::Fired& fired : outcome.events) result.times.push_back(fired.time);
  return result;
}

Figure at_no_larger_error(const std::string& name, const Way<Run>& theirs, const Way<Run>& ours, double goal) {
  const bool is_as_good = ours.last.error <= theirs.last.error;
  return {fmt::format("{}: {} / {}", name, ours.name, theirs.name),
          is_as_good ? median(ours.seconds) / median(theirs.seconds) : NAN, "", goal,
          fmt::format("errors {:.2g} and {:.2g}", ours.last.error, theirs.last.error)};
}

Run run_cvode(const HandWritten& problem, double tolerance, double end) {
  Run result;
  const double before = thread_seconds();
  SUNContext context = nullptr;
  SUNContext_Create(nullptr, &context);
  const auto n = static_cast<sunindextype>(problem.start.size());
  N_Vector y = N_VNew_Serial(n, context);
  std::copy(problem.start.begin(), problem.start.end(), N_VGetArrayPointer(y));
  void* memory = CVodeCreate(problem.method, context);
  CVodeInit(memory, problem.derivative, 0, y);
  CVodeSetUserData(memory, problem.user);
  CVodeSStolerances(memory, tolerance, tolerance);
  CVodeSetMaxNumSteps(memory, 1'000'000);
  SUNMatrix matrix = nullptr;
  SUNLinearSolver linear = nullptr;
  SUNNonlinearSolver iteration = nullptr;
  if (problem.jacobian != nullptr) {
    matrix = SUNDenseMatrix(n, n, context);
    linear = SUNLinSol_Dense(y, matrix, context);
    CVodeSetLinearSolver(memory, linear, matrix);
    CVodeSetJacFn(memory, problem.jacobian);
  } else {
    iteration = SUNNonlinSol_FixedPoint(y, 0, context);
    CVodeSetNonlinearSolver(memory, iteration);
  }
  if (problem.root != nullptr) {
    int direction = problem.direction;
    CVodeRootInit(memory, 1, problem.root);
    CVodeSetRootDirection(memory, &direction);
  }
  realtype t = 0;
  int flag = CV_ROOT_RETURN;
  while (flag == CV_ROOT_RETURN) {
    flag = CVode(memory, end, y, &t, CV_NORMAL);
    long int steps = 0;
    CVodeGetNumSteps(memory, &steps);
    result.steps += steps;
    if (flag != CV_ROOT_RETURN) break;
    ++result.crossings;
    result.times.push_back(t);
    problem.at_root(N_VGetArrayPointer(y));
    CVodeReInit(memory, t, y);
  }
  result.seconds = thread_seconds() - before;
  const double* const values = N_VGetArrayPointer(y);
  if (flag == CV_SUCCESS) result.values.assign(values, values + n);
  CVodeFree(&memory);
  if (linear != nullptr) SUNLinSolFree(linear);
  if (matrix != nullptr) SUNMatDestroy(matrix);
  if (iteration != nullptr) SUNNonlinSolFree(iteration);
  N_VDestroy(y);
  SUNContext_Free(&context);
  return result;
}

}  // namespace bench
