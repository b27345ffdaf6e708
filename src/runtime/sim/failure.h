// A failed step -> words: which equations, when, with what values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "abi/model.h"

namespace sim {

struct NamedValue {
  std::string name;
  double value = 0;
};

struct Failure {
  tactus_status status = TACTUS_OK;  // of the kernel's call; ok when none was made
  std::string kind;                  // status_name, or "delay_too_short", "too_many_changes"
  double time = 0;                   // of the last good state; the failed step began here
  std::string text;                  // one or more lines for people, without an end of line
  std::string hint;
  std::string equations;             // of the block that found no solution, "; "-separated; else empty
  std::uint32_t line = 0;            // of its first equation; 0: none
  std::vector<NamedValue> unknowns;  // of that block, where the iteration stopped
  std::vector<NamedValue> states;    // at `time`
};

// `instance` as the failing call left it. `starting`: it failed before the first step.
Failure describe_failure(const tactus_model& model, const tactus_instance& instance, tactus_status status,
                         bool starting);

// A delay that lasts `duration` and cannot be run: with fixed steps of `step` none may be shorter.
Failure describe_short_delay(const tactus_model& model, const tactus_instance& instance, double duration, double step);

// More than `most` transitions were taken, or relations changed more often.
Failure describe_many_changes(const tactus_model& model, const tactus_instance& instance, std::int64_t changes,
                              std::int64_t most, bool are_jumps);

// The tolerance asks for a step shorter than `least`.
Failure describe_short_step(const tactus_model& model, const tactus_instance& instance, double least);

// "ok", "not_finite", "diverged", "singular", "step_too_small", "endless_events", "off_constraints", "no_start",
// "no_solver", "not_located".
const char* status_name(tactus_status status);

}  // namespace sim
