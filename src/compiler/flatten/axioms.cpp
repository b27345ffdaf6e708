// The axioms of the model's schemata (compiler/schemata) as checks, and what formulas that speak of next(..) say behind a jump.
//
//   EquationalReset        behind each jump its equations hold, as far as they are of before and after alone; and so do its modes
//   SpecifiedTermination   a phase of a sequence or a plan has ended when its condition holds
//   TemporalProjection     the targets of a phase hold where it ends
//
//   enters: transitions, sequences, plans     leaves: checks; for each jump what it remembers of before and its verdicts right behind it
#include "compiler/flatten/flattener.h"

namespace flatten {

ExprId Flattener::nearly_equal(ExprId a, ExprId b) {
  expr::Pool& pool = flat_.pool;
  const auto size = [&](ExprId x) { return pool.make(Op::absolute, x); };
  const ExprId scale = pool.add(pool.constant(1), pool.add(size(a), size(b)));
  return pool.make(Op::less_equal, size(pool.subtract(a, b)), pool.multiply(pool.constant(axiom_tolerance), scale));
}

ExprId Flattener::nearly_equal(const Sides& sides) {
  ExprId all = flat_.pool.truth(true);
  for (std::uint32_t i = 0; i < sides.shape().size(); ++i)
    all = both(all, nearly_equal(as_number(sides.left.item(i)), as_number(sides.right.item(i))));
  return all;
}

bool Flattener::has_own_unknowns(ExprId truth) const {
  const auto leaves = symbolic::leaves(flat_.pool, truth, Op::variable);
  return std::any_of(leaves.begin(), leaves.end(), [&](ExprId leaf) {
    const flat::Variable& variable = flat_.variables[flat::VariableId(flat_.pool[leaf].index)];
    return variable.is_of_jump && !variable.next_of.valid() && !next_discretes_.contains(flat_.pool[leaf].index);
  });
}

void Flattener::add_axiom_of_jump(std::uint32_t transition, ExprId truth, const char* schema,
                                  std::vector<flat::Event>& events) {
  if (truth == flat_.pool.truth(true)) return;
  const parse::Transition& item = tree_.transitions[transition];
  Monitor monitor{fmt::format("{} of {}", schema, names_.text(item.name)), item.name_span, events};
  const std::uint32_t broken = add_memory(monitor, "breach");
  verdicts_.push_back({transition, truth, broken, false, item.name_span});
  add_breach(monitor, is_set(broken), flat_.pool.truth(false));
}

void Flattener::add_axioms(std::vector<flat::Event>& events) {
  for (std::uint32_t i = 0; i < tree_.transitions.size(); ++i) {
    const parse::Transition& item = tree_.transitions[i];
    jumping_ = i;
    ExprId all = flat_.pool.truth(true);
    for (const parse::Equation& equation : item.jump.equations) {
      const ExprId holds = nearly_equal({evaluate(equation.left, nullptr), evaluate(equation.right, nullptr)});
      if (!has_own_unknowns(holds)) all = both(all, holds);
    }
    for (const check::Transition::Goto& to : model_.transitions[i].gotos) {
      const ExprId mode = after_jump(scalar(flat_.pool.discrete(flat_.automata[to.automaton].slot))).items[0];
      all = both(all, flat_.pool.make(Op::equal, mode, flat_.pool.constant(to.mode)));
    }
    jumping_ = nobody;
    add_axiom_of_jump(i, all, "EquationalReset", events);
    if (is_end_of_phase(item)) {
      const ExprId due = both(mode_of(item.mode), truth_of(item.condition, nullptr));
      Monitor monitor{fmt::format("SpecifiedTermination of {}", names_.text(item.name)), item.name_span, events};
      add_response(monitor, due, negation(due), axiom_tolerance);
    }
  }
  for (std::uint32_t p = 0; p < tree_.problems.size(); ++p) {
    for (std::size_t k = 0; k < tree_.problems[p].phases.size(); ++k) {
      ExprId all = flat_.pool.truth(true);
      for (const parse::Target& target : tree_.problems[p].phases[k].targets)
        all = both(all, nearly_equal({evaluate(target.left, nullptr), evaluate(target.right, nullptr)}));
      add_axiom_of_jump(model_.plans[p].phases[k], all, "TemporalProjection", events);
    }
  }
}

bool Flattener::is_end_of_phase(const parse::Transition& item) const {
  if (!item.mode.valid() || !item.condition.valid() || tree_[item.mode].kind != NodeKind::name) return false;
  std::string name = names_.text(item.name);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || name.compare(dot, 6, ".phase") != 0) return false;
  name[dot + 1] = 'P';
  return names_.text(tree_[item.mode].name) == name;
}

void Flattener::add_memories_of_before(std::uint32_t transition, flat::Event& event) {
  for (const Verdict& verdict : verdicts_) {
    if (verdict.transition != transition) continue;
    for (const Op op : {Op::variable, Op::discrete}) {
      for (const ExprId leaf : symbolic::leaves(flat_.pool, verdict.truth, op)) {
        if (op == Op::variable && flat_.variables[flat::VariableId(flat_.pool[leaf].index)].is_of_jump) continue;
        auto [memory, is_new] = before_.try_emplace(leaf, flat_.discrete_count);
        if (is_new) add_discrete(flat::print(flat_, leaf) + " before");
        const std::uint32_t slot = memory->second;
        if (std::any_of(event.updates.begin(), event.updates.end(),
                        [&](const flat::Update& update) { return update.discrete == slot; }))
          continue;
        event.updates.push_back(
            {slot, add_hidden(fmt::format("{} before {}", flat::print(flat_, leaf), event.name), leaf, event.span)});
      }
    }
  }
}

void Flattener::add_verdicts(std::uint32_t transition, flat::Event& after) {
  const std::vector<flat::Update> handlers = after.updates;
  for (const Verdict& verdict : verdicts_) {
    if (verdict.transition != transition) continue;
    symbolic::Substitution now(flat_.pool, [&](ExprId leaf) {
      const expr::Node node = flat_.pool[leaf];
      if (const auto memory = before_.find(leaf); memory != before_.end()) return flat_.pool.discrete(memory->second);
      if (node.op != Op::variable) return ExprId();
      if (const auto discrete = next_discretes_.find(node.index); discrete != next_discretes_.end()) {
        for (const flat::Update& update : handlers)
          if (update.discrete == discrete->second) return flat_.pool.variable(update.value.value, 0);
        return flat_.pool.discrete(discrete->second);
      }
      const flat::VariableId of = flat_.variables[flat::VariableId(node.index)].next_of;
      return of.valid() ? flat_.pool.variable(of.value, node.order) : ExprId();
    });
    const ExprId truth = now(verdict.truth);
    const ExprId old = flat_.pool.discrete(verdict.discrete), one = flat_.pool.constant(1);
    // What is no number does not hold.
    const ExprId value =
        verdict.if_true ? flat_.pool.make(Op::select, truth, one, old) : flat_.pool.make(Op::select, truth, old, one);
    after.updates.push_back(
        {verdict.discrete, add_hidden(fmt::format("{} behind {}", flat_.discrete_names[verdict.discrete], after.name),
                                      smooth_(value), verdict.span)});
  }
}

}  // namespace flatten
