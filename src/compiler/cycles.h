// Transitions that lead to each other at one instant without end: told before the run where it is certain. The
// structures of a model, sorted, in; diagnostics out.
//
//   from i on: behind each comes the next, until i comes again
//   j comes next: wherever i's guard held at the beginning, j's holds now, and that of no transition before j in the
//   text can hold
//
// Both are asked as guards are (proof/): "i's guard then, and not j's now", "i's guard then, and k's now"; a
// contradiction in how they are written is a proof. After a jump a name is what the jump says, a state that it does not
// mention what it was, an event still there; what constraints of the entered mode may move, what handlers change and
// what is solved for together with others may be anything. Where i's guard holds again at the end, in modes of the
// beginning, all of it comes again, without end.
//
// A transition before j whose guard may hold is let pass when it changes nothing that the ring depends on: taken or
// not, the ring goes on.
//
// A run may slide between modes that take turns, if they are of one structure and the guards of two of them are at
// their surfaces (kernel/ties.h). Of a ring for which that cannot be ruled out it is told, too (J009); all others fail
// wherever they are met (`is_endless`).
//
// Cost: a few questions for each transition and structure, and a bound on all, behind which nothing is said.
#pragma once

#include <vector>

#include "compiler/modes/modes.h"
#include "compiler/structure/structure.h"
#include "diag/sink.h"

namespace compiler {

// Reports warnings: a run fails only where it comes to such a ring. Adds expressions to the models' pools.
void find_cycles(modes::Structures& structures, const std::vector<structure::Sorted>& sorted, diag::Sink& diags);

// Whether some ring was told that never ends.
[[nodiscard]] bool is_endless(const diag::Sink& diags);

}  // namespace compiler
