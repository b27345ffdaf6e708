// SpecifiedTermination (seed 002, section 4.3): phases, each until its condition.
//
//   SpecifiedTermination(g, e, (c, f)+):
//     v- . g(m, s, v-)  ->  next( v+ . e(m, s, v-, v+)  and
//        ( (t . not c(m, s, v-, v+, t))  until  (t- . c(m, s, v-, v+, t-)  and  next( t+ . f(m, s, v-, v+, t-, t+) )) )
//        )
//
// If the guard g holds at v-, the jump e leads to v+; if the condition c holds at v+ or later, then at the earliest
// such instant t- the jump f leads to t+, and the next phase begins. v-, v+, t- are what `at` and `since` look back to.
//
// A sequence in; an automaton, a transition for the head and one for each phase, and memories out. A phase that runs is
// a mode, so a guard that ends it is heard in no other, and a chain that runs is not begun again.
#include "compiler/schemata/sequence.h"

#include <utility>

#include "compiler/schemata/phases.h"

namespace schemata {

void write_sequence(TreeBuilder& builder, parse::Sequence item, diag::Sink& diags) {
  Phases phases(builder, item, item.phases.size());
  Instants instants(builder, item.name, item.phases.size(), diags);
  phases.add_automaton();
  item.condition = instants.rewrite(item.condition, 0);
  instants.rewrite(item.jump, 0);
  for (std::size_t i = 0; i < item.phases.size(); ++i) {
    item.phases[i].until = instants.rewrite(item.phases[i].until, i + 1);
    instants.rewrite(item.phases[i].jump, i + 1);
  }
  // All memories are known from here on.
  const auto with_memories = [&](parse::Jump jump, std::size_t instant) {
    for (const parse::Equation& set : instants.sets(instant)) jump.equations.push_back(set);
    return jump;
  };
  phases.add_start(with_memories(item.jump, 0));
  for (std::size_t i = 0; i < item.phases.size(); ++i) {
    parse::SequencePhase& phase = item.phases[i];
    phases.add_end(i + 1, phase.until, with_memories(std::move(phase.jump), i + 1), phase.span);
  }
}

}  // namespace schemata
