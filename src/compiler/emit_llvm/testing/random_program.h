// Random programs that run: every operation occurs, states stay bounded most of the time, blocks mostly solve. The same seed
// gives the same program on every machine.
#pragma once

#include <cstdint>

#include "compiler/emit_llvm/testing/compare.h"
#include "compiler/ir/ir.h"

namespace backend_testing {

ir::Program random_program(std::uint64_t seed);
// A solver, a step and a length to run it with.
Plan random_plan(std::uint64_t seed);

}  // namespace backend_testing
