// The start of a run, for people: what was given, what was found, what follows. A model's table in, values at
// starting_time out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "abi/model.h"
#include "runtime/sim/failure.h"
#include "runtime/sim/run.h"

namespace sim {

struct InitialValue {
  std::string name;
  double value = 0;
  const char* how =
      "";  // "given", "found", "assumed", or after a failure "not found" (states); "follows" (the other names)
};

struct Initial {
  std::vector<InitialValue> values;  // states first
  std::vector<std::string> notes;    // what is redundant
  std::optional<Failure> failure;
};

// With boundary values at other times `model` has the tangents of all functions.
[[nodiscard]] Initial find_initial(const tactus_model& model, const std::vector<ParameterValue>& parameters);

// "the constraint .. follows from the others": one for each, at the instance's present state.
[[nodiscard]] std::vector<std::string> redundant_constraints(const tactus_model& model, tactus_instance* instance);

}  // namespace sim
