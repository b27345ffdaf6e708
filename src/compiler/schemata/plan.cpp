// TemporalProjection (seed 002, section 4.4): choose now so that targets hold later.
//
//   TemporalProjection(g, u, e, (d, k, f)+):
//     v- . g(m, s, v-)  ->  exists u:  next( v+ . e(u, m, s, v-, v+)  and
//        eventually ( t- . d(u, m, s, v-, v+, t-)  and  k(u, m, s, v-, v+, t-)  and  next( t+ . f(u, m, s, v-, v+, t-,
//        t+) ) ) )
//
// If the guard g holds at v-, there are values u with which the jump e leads to v+ such that, when the time d has
// passed, the targets k hold and the jump f leads on.
//
// A plan in; out an automaton, a transition for the head and one for each phase, which ends when its time has passed; a
// memory for each chosen value, which carries u forward; and the PlanProblem, from which the solver (a shooting method,
// section 5) finds u before the head's jump. When it finds none:
//
//   transition P.failed   when false { else }   goto P.Failed     made to happen by the solver, not by its guard
//   transition P.rearmed  in P.Failed when the head is not enabled  goto P.Idle
//
// so a search that failed is not tried again before its guard has been false.
#include "compiler/schemata/plan.h"

#include <utility>

#include "compiler/schemata/diagnostics.h"
#include "compiler/schemata/phases.h"

namespace schemata {

void write_plan(TreeBuilder& builder, parse::Plan item, diag::Sink& diags) {
  Phases phases(builder, item, item.phases.size());
  Instants instants(builder, item.name, item.phases.size(), diags);
  phases.add_automaton({"Failed"});
  parse::PlanProblem problem;
  problem.span = item.span;
  problem.name = item.name;
  problem.name_span = item.name_span;
  problem.has_otherwise = item.has_otherwise;
  problem.failed = phases.part("failed");
  for (parse::Chosen& chosen : item.chosen) {
    builder.memory(chosen.name, chosen.span);
    chosen.value = instants.rewrite(chosen.value, 0);
    problem.chosen.push_back(chosen);
  }
  item.condition = instants.rewrite(item.condition, 0);
  instants.rewrite(item.jump, 0);
  instants.rewrite(item.otherwise, 0);
  std::vector<NodeId> ends;
  for (std::size_t i = 0; i < item.phases.size(); ++i) {
    parse::PlanPhase& phase = item.phases[i];
    if (builder.is_negative_number(phase.duration)) {
      diags.report(builder.tree[phase.duration].span, negative_amount, "the time of a phase")
          .hint("`for 1.5` is how long it lasts; a time to be found is chosen: `choose T = 1` and `for T reaching`");
    }
    phase.duration = instants.rewrite(phase.duration, i + 1);
    for (parse::Target& target : phase.targets) {
      target.left = instants.rewrite(target.left, i + 1);
      target.right = instants.rewrite(target.right, i + 1);
    }
    instants.rewrite(phase.jump, i + 1);
    const base::Span span = builder.tree[phase.duration].span;
    const parse::Child sides[] = {{instants.since(i, span)}, {phase.duration}};
    ends.push_back(builder.add({.kind = NodeKind::compare, .op = parse::Op::greater_equal, .span = span}, sides));
    problem.phases.push_back({phase.span, phases.event(i + 1), phase.duration, phase.targets});
  }
  // All memories are known from here on.
  const auto with_memories = [&](parse::Jump jump, std::size_t instant) {
    for (const parse::Equation& set : instants.sets(instant)) jump.equations.push_back(set);
    return jump;
  };
  phases.add_start(with_memories(item.jump, 0));
  for (std::size_t i = 0; i < item.phases.size(); ++i)
    phases.add_end(i + 1, ends[i], with_memories(std::move(item.phases[i].jump), i + 1), item.phases[i].span);

  const base::Span span = item.name_span;
  const NodeId never = builder.add({.kind = NodeKind::boolean, .span = span, .number = 0});
  parse::Jump otherwise = std::move(item.otherwise);
  phases.go(otherwise, phases.part("Failed"), span);
  phases.add_transition(problem.failed, item.span, phases.in_mode(phases.mode(0), span), never, std::move(otherwise));
  const NodeId enabled = builder.both(item.mode, item.condition);
  parse::Jump rearm;
  rearm.span = span;
  phases.go(rearm, phases.mode(0), span);
  phases.add_transition(phases.part("rearmed"), item.span, phases.in_mode(phases.part("Failed"), span),
                        enabled.valid() ? builder.negation(enabled) : never, std::move(rearm));
  builder.tree.problems.push_back(std::move(problem));
}

}  // namespace schemata
