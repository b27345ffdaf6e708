#include "runtime/sim/failed_evaluation.h"

#include <cstring>

#include "kernel/kernel.h"
#include "runtime/sim/instance.h"

namespace sim {
namespace {

// The table is the first member: the kernel hands it back.
struct Noting {
  tactus_model table;
  const tactus_model* inner;
  FailedEvaluation* last;
};

int note_derivative(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* dx) {
  const auto* noting = reinterpret_cast<const Noting*>(model);
  noting->last->time = t;
  noting->last->states.assign(x, x + noting->inner->state_count);
  return noting->inner->derivative(noting->inner, instance, t, x, dx);
}

}  // namespace

std::optional<FailedEvaluation> find_failed_evaluation(const tactus_model& model, const tactus_instance& at,
                                                       tactus_solver solver, double step) {
  if (at.failed_block < 0 || tactus_is_adaptive(solver)) return std::nullopt;
  Instance again(model);
  std::memcpy(static_cast<void*>(again.get()), &at, again.bytes());
  const tactus_model* inner = tk_active(&model, again.get());
  FailedEvaluation last;
  Noting noting = {*inner, inner, &last};
  noting.table.derivative = note_derivative;
  const int status = tk_fixed_steps(&noting.table, again.get(), solver, step, 1);
  if (status != at.status || again->failed_block != at.failed_block || last.states.empty()) return std::nullopt;
  return last;
}

}  // namespace sim
