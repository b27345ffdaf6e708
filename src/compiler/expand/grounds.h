// `ground height f` with a function f: of x in a flat world, of x and y in space. A page cannot compute f, so the
// program does, at places side by side: the drawing gets their `heights`, and from `low` to `high` where they lie.
//
//   ground height f from a to b;   between a and b: numbers, or points of two components
//   ground height f;               around what the camera follows, as far as it sees; else 10 to either side of the
//   origin
//
// Without a range the places are multiples of their distance, so that the ground stands still while the camera goes.
#pragma once

#include "compiler/expand/expressions.h"
#include "compiler/parse/tree.h"

namespace expand {

// The drawing, and the body that it stands in; unchanged when its height is no function of one or two.
void sample_ground(Program& program, Expressions& expressions, parse::Drawing& drawing, Scope& scope, const Body& body);

}  // namespace expand
