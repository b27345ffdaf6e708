// Transitions that could disagree, and whether their guards can hold at once. The structures of a model, sorted, in; a
// verdict for each pair out.
//
// Two transitions could disagree when both go to a mode of one automaton, or both say what one name is next. They are
// asked about in each structure in which both can be taken, with what its equations say: names that one equation gives
// are put in, constraints are ties, parameters without a range are what they are. What is solved for together with
// others counts as free.
#pragma once

#include <string>
#include <vector>

#include "base/span.h"
#include "compiler/modes/modes.h"
#include "compiler/proof/decide.h"
#include "compiler/structure/structure.h"

namespace compiler {

struct GuardPair {
  std::string first, second;
  base::Span first_span, second_span;
  proof::Verdict verdict;
  bool have_common_mode = true;  // false: no combination of modes that can be reached has both, so nothing was asked
};

struct Guards {
  proof::Limits limits = {};
  double seconds = 60;  // for all pairs together
  std::vector<GuardPair> pairs = {};
  std::vector<std::string> notes = {};
};

// Fills pairs and notes. Adds expressions to the models' pools.
void judge_guards(modes::Structures& structures, const std::vector<structure::Sorted>& sorted, Guards& guards);

}  // namespace compiler
