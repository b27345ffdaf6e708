// Relations that are located and held. Enters: the sorted motion. Leaves: the same, in which each comparison, and each
// kink of abs, floor and ceil, that can change during a run reads a discrete value, and the list of these with what to
// watch for them.
//
//   x' = if x < 1 then a else b      ->  x' = if held(x < 1) then a else b,   watched: 1 - x
//   x >= 1                           ->  !held(x < 1)
//   abs(e)                           ->  if held(e < 0) then -e else e
//   floor(e), ceil(e)                ->  n, -n with n = held(floor(e)), held(floor(-e)); watched: (e - n) (n + 1 - e),
//   e
//
// Between two events all that the motion depends on is then smooth, however often the methods look beyond a surface
// where something switches. What is left as it stands, being evaluated:
//   - what stands inside smooth(..), except in the condition of an event, which must be located;
//   - what reads constants, parameters, behaviours and other held values only: it changes when they do;
//   - what depends on the unknowns of the very equations it stands in: these are solved with the branch that fits;
//   - what stands in a constraint, which asks for what holds at the present time, also before anything is held: at the
//     start;
//   - what stands in a handler: it is asked for at its event;
//   - what is only recorded: no motion, event or delay depends on it, and where it is recorded it is exact.
// A comparison that keeps a function inside its domain is located but evaluated, so that no method looks beyond: what
// chooses between branches with a root, logarithm, arc or quotient of what it compares (if x > 0 then sqrt(x) else 0),
// and what stands below one of these but the quotient (sqrt(max(x, 0))), be it in an equation of its own. Not what
// chooses between numbers alone: sign(x).
#pragma once

#include <string>

#include "compiler/flat/model.h"
#include "compiler/structure/structure.h"

namespace hold {

// Adds expressions and discrete values to the model.
void hold(flat::Model& model, structure::Sorted& sorted);

std::string dump(const flat::Model& model, const structure::Sorted& sorted);

}  // namespace hold
