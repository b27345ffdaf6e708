// Which transitions can interfere with a plan. The structures of a model, sorted and with their jumps, in; for each
// plan a list out.
//
// A plan's targets depend on what its phases compute them from: the quantities that the equations of the modes of a
// phase lead to, state by state and block by block, back from the targets, the ends of phases and the plan's own jumps.
// A transition can interfere when some combination of modes that can be reached has both a phase of the plan and the
// transition's `in`, and the transition changes one of these quantities there: it sets a state, a handler that answers
// it sets a behaviour, or it goes to modes in which another equation gives one of them. What its guard says is not
// looked at.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/span.h"
#include "compiler/modes/modes.h"
#include "compiler/structure/structure.h"

namespace compiler {

struct Interference {
  struct Cause {
    std::string transition;
    base::Span span;
    std::vector<std::string> changes = {};   // names, those of automata where it changes modes
    std::vector<std::uint32_t> phases = {};  // from 1, in which it can be taken
    bool is_foreseen = true;                 // the search goes through it: it is no plan, and its guard reads no input
  };
  std::string plan;
  base::Span span;
  std::vector<std::string> depends_on = {};  // states, behaviours, inputs and modes
  std::vector<Cause> causes = {};
  std::vector<std::string> harmless = {};  // transitions that can be taken during it and change nothing of that
};

[[nodiscard]] std::vector<Interference> find_interference(modes::Structures& structures,
                                                          const std::vector<structure::Sorted>& sorted);

}  // namespace compiler
