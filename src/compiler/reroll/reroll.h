// Equations that are the same but for their places become loops: ir::Program in, ir::Program with chunks of several
// turns out.
//
//   take a function apart into statements and group those of the same form     statements
//   order them so that those of one form stand together                        schedule
//   write runs of them as one chunk of many turns                              loops
//
// The values are the same to the last bit: every operation is still done, with the same operands. So code grows with
// the number of different equations, data with their number. Small functions stay as they are: straight-line code in
// registers is faster.
#pragma once

#include "compiler/ir/ir.h"

namespace reroll {

// Functions of fewer instructions are left alone.
inline constexpr std::size_t smallest_function = 1500;

// Sets loop_work_count: how much work the loops of the program's functions, and mostly those of their tangents, need;
// and kept_warm_count where there are many warm starts, so that keeping them is a loop too.
void reserve(ir::Program& program);

// What backends print. Nothing changes where that room does not suffice, and in functions that are small or have no
// runs.
[[nodiscard]] ir::Program with_loops(const ir::Program& program);
[[nodiscard]] ir::Tangents with_loops(const ir::Tangents& tangents, const ir::Program& program);

}  // namespace reroll
