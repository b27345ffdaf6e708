// Whether a model keeps up with a clock: a bound on the operations of a tick, from its instructions, and what a tick
// takes here, by trying. Nothing in the count depends on values; what a table costs is estimated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "runtime/live/world.h"
#include "runtime/sim/failure.h"

namespace play {

struct Bound {
  double usual = 0;       // operations of a tick without events, Newton blocks from a good start
  double most = 0;        // the same, at worst
  double each_event = 0;  // at worst, for each event or change of a relation inside a tick
  std::uint32_t newton_blocks = 0;
  std::uint32_t largest_newton = 0;  // unknowns
  int evaluations = 0;               // of the derivative, in a tick
};
[[nodiscard]] Bound bound_of(const ir::Program& program, const live::Timing& timing);

// Seconds of one tick, of many; quick code first is left out.
struct Measured {
  double median = 0;
  double p99 = 0;
  double longest = 0;
  std::int64_t ticks = 0;
  std::optional<sim::Failure> failure;
};
// Ticks with a hand that goes in circles of 5 cm where the model has one, for about `seconds`.
[[nodiscard]] Measured measure(live::World& world, const tactus_model* table, double seconds);

}  // namespace play
