// Sequences and plans written out as what they are made of. A program without modules and loops in; out the same with
// automata, transitions and memories in their place, and Tree::problems for the solver of plans.
//
//   sequence S { e } until c1 { f1 } until c2 { f2 }
//
//   automaton S in Idle, Phase1, Phase2;
//   transition S        in S.Idle && its modes when its guard { e;  goto S.Phase1; }
//   transition S.phase1 in S.Phase1 when c1 { f1;  goto S.Phase2; }
//   transition S.phase2 in S.Phase2 when c2 { f2;  goto S.Idle; }
//
// Method: T. Ellman, seed 002, section 5: N + 1 transitions for N phases, a mode variable for the phase that runs, a
// state for each value that a later instant refers to. The axioms stand in sequence.cpp and plan.cpp, the states in
// instants.h.
#pragma once

#include "base/names.h"
#include "compiler/parse/tree.h"
#include "diag/sink.h"

namespace schemata {

[[nodiscard]] parse::Tree write_out(parse::Tree tree, base::Names& names, diag::Sink& diags);

}  // namespace schemata
