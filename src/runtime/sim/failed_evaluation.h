// A fixed step that failed -> where, in time and state, its derivative could not be evaluated: the model fails at a
// stage, and the step only knows where it began.
//
// Method: the step is taken once more, by the kernel's own loop, around a table whose derivative notes where it is
// asked.
#pragma once

#include <optional>
#include <vector>

#include "abi/model.h"

namespace sim {

struct FailedEvaluation {
  double time = 0;
  std::vector<double> states;
};

// `at`: before the step, with the status and failed_block that it ended with. Empty when the step does not fail the
// same way again.
[[nodiscard]] std::optional<FailedEvaluation> find_failed_evaluation(const tactus_model& model,
                                                                     const tactus_instance& at, tactus_solver solver,
                                                                     double step);

}  // namespace sim
