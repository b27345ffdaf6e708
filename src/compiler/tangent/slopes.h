// `slopes` of a small program with energy: `balance` in, the same with the Jacobian of the derivative behind it out,
// what both need, as the sine and cosine of an angle, computed once.
//
// The Jacobian's columns are the tangent of the derivative along each state alone: direction 1 there and 0 elsewhere,
// put in as numbers and folded (0 a = 0, 1 a = a, a + 0 = a), instructions that are there already being taken again.
// The values of `balance` are its own instructions, hence its bits.
#pragma once

#include "compiler/ir/ir.h"

namespace tangent {

// Nothing happens without `balance`, where anything but arithmetic is in it (blocks that are solved, several chunks),
// with more than TACTUS_CORE states that count, and where it would be long.
void add_slopes(ir::Program& program);

}  // namespace tangent
