#include "runtime/sim/failed_evaluation.h"

#include "kernel/kernel.h"
#include "runtime/sim/words.h"

namespace sim {

std::optional<FailedEvaluation> find_failed_evaluation(const tactus_model& model, const tactus_instance& at,
                                                       tactus_solver solver, double step) {
  std::vector<double> room = words_room(model);
  FailedEvaluation last;
  const double* states = nullptr;
  if (!tk_find_failed_evaluation(&model, &at, solver, step, room.data(), &last.time, &states)) return std::nullopt;
  last.states.assign(states, states + tk_active(&model, &at)->state_count);
  return last;
}

}  // namespace sim
