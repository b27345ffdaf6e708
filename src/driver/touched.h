// A run with a device that feels what the model does: ticks of a world in simulated time, as `tactus play` takes them
// with the clock, the passivity controller and the limiter between both.
#pragma once

#include "compiler/emit_llvm/jit.h"
#include "play/hand.h"
#include "runtime/sim/run.h"

namespace driver {

// Rows, interrupts, progress, parameters and the plan's times are those of the request; its steps are cut to whole
// parts of a tick.
[[nodiscard]] sim::Outcome run_touched(emit_llvm::CompiledModel& code, const sim::Request& request,
                                       const play::HandSpec& hand, sim::Observer* observer);

}  // namespace driver
