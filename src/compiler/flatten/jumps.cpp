// Modes and jumps: automata, transitions, plans, and what must hold.
//
//   automaton a in M, N      ->   a discrete value, the number of the mode; a.N is `a = 1`
//   transition T when g {..} ->   an event that watches g as a signed distance, and equations over before and after
//   next(e)                  ->   e over twins of its variables, their values after the jump
//   require, expect, stop    ->   an event each
#include "compiler/flatten/flattener.h"

namespace flatten {

void Flattener::add_automaton(const check::Automaton& automaton) {
  flat::Automaton made{names_.text(automaton.name), automaton.span, {}};
  for (SymbolId mode : automaton.modes) {
    const std::string& name = names_.text(model_.symbols[mode].name);
    made.modes.push_back(name.substr(made.name.size() + 1));
  }
  made.slot = add_discrete(made.name);
  flat_.automata.push_back(std::move(made));
}

void Flattener::add_starts_of_automata() {
  flat::Event choose;
  choose.name = "the start";
  choose.kind = TACTUS_CHOOSE;
  for (std::size_t i = 0; i < model_.automata.size(); ++i) {
    flat::Automaton& automaton = flat_.automata[i];
    for (const check::Automaton::Start& start : model_.automata[i].starts)
      automaton.starts.push_back({start.mode, mode_of(start.condition)});
    if (automaton.starts.empty()) continue;
    ExprId mode = flat_.pool.constant(0);
    for (auto start = automaton.starts.rbegin(); start != automaton.starts.rend(); ++start) {
      const ExprId chosen = flat_.pool.constant(start->mode);
      mode = start->condition.valid() ? flat_.pool.make(Op::select, start->condition, chosen, mode) : chosen;
    }
    choose.updates.push_back(
        {automaton.slot, add_hidden("the first mode of " + automaton.name, smooth_(mode), automaton.span)});
  }
  if (!choose.updates.empty()) flat_.events.push_back(std::move(choose));
}

ExprId Flattener::signed_distance(ExprId truth) {
  expr::Pool& pool = flat_.pool;
  constexpr double far = 1e30;
  const expr::Node node = pool[truth];
  switch (node.op) {
    case Op::less:
    case Op::less_equal:
      return pool.subtract(node.b, node.a);
    case Op::logical_and:
      return pool.minimum(signed_distance(node.a), signed_distance(node.b));
    case Op::logical_or:
      return pool.maximum(signed_distance(node.a), signed_distance(node.b));
    case Op::logical_not:
      return pool.negate(signed_distance(node.a));
    default:
      return pool.make(Op::select, truth, pool.constant(far), pool.constant(-far));
  }
}

std::vector<ExprId> Flattener::conjuncts(ExprId truth) const {
  std::vector<ExprId> list, open = {truth};
  while (!open.empty()) {
    const expr::Node node = flat_.pool[open.back()];
    const ExprId whole = open.back();
    open.pop_back();
    if (node.op == Op::logical_and)
      open.insert(open.end(), {node.b, node.a});
    else
      list.push_back(whole);
  }
  return list;
}

void Flattener::watch(flat::Event& event, ExprId mode, ExprId truth) {
  expr::Pool& pool = flat_.pool;
  ExprId distance = signed_distance(truth);
  for (ExprId part : conjuncts(truth)) {
    event.parts.push_back(
        add_hidden(fmt::format("part {} of the guard of {}", event.parts.size() + 1, event.name),
                   smooth_(mode.valid() ? pool.make(Op::select, mode, signed_distance(part), pool.constant(-1))
                                        : signed_distance(part)),
                   event.span));
  }
  if (mode.valid()) {
    truth = pool.make(Op::logical_and, mode, truth);
    distance = pool.make(Op::select, mode, distance, pool.constant(-1));
  }
  event.condition = add_hidden("whether " + event.name, smooth_(as_number(truth)), event.span);
  event.guard = add_hidden("the guard of " + event.name, smooth_(distance), event.span);
}

void Flattener::add_transition(std::uint32_t index) {
  const parse::Transition& item = tree_.transitions[index];
  const check::Transition& known = model_.transitions[index];
  flat::Transition made;
  made.name = names_.text(item.name);
  made.span = item.name_span;
  made.mode = mode_of(item.mode);
  for (const check::Transition::Goto& to : known.gotos) {
    made.gotos.push_back({to.automaton, to.mode});
    answering_.push_back("automaton " + std::to_string(to.automaton));
  }
  if (answering_.empty()) answering_.push_back("transition " + std::to_string(index));
  made.guard = item.condition.valid() ? truth_of(item.condition, nullptr) : flat_.pool.truth(true);
  answering_.clear();
  const std::set<std::uint32_t> answers = std::exchange(answers_of_guard_, {});
  for (NodeId kept : item.jump.keeps) {
    for (ExprId leaf : evaluate(kept, nullptr).items) {
      if (flat_.pool[leaf].op == Op::variable) made.kept.push_back(flat_.pool[leaf].index);
    }
  }
  for (SymbolId unknown : known.unknowns) {
    for (ExprId leaf : places_[unknown.value].items) made.unknowns.push_back(flat_.pool[leaf].index);
  }
  for (const parse::Equation& equation : item.jump.equations) {
    Sides sides{evaluate(equation.left, nullptr), evaluate(equation.right, nullptr)};
    const Shape shape = sides.shape();
    for (std::uint32_t i = 0; i < shape.size(); ++i) {
      made.equations.push_back({smooth_(as_number(sides.left.item(i))), smooth_(as_number(sides.right.item(i))),
                                equation.span, shape.is_scalar() ? 0 : static_cast<int>(i) + 1});
    }
  }
  made.enforces_velocities = item.jump.enforce_velocities;
  made.enforces_positions = item.jump.enforce_positions;
  made.enforce_span = item.jump.enforce_span;
  flat::Event event;
  event.name = made.name;
  event.kind = TACTUS_TRANSITION;
  event.span = item.name_span;
  event.flags = made.enforces_positions ? TACTUS_ENFORCES_POSITIONS : 0;
  watch(event, made.mode, made.guard);
  add_memories_of_before(index, event);
  for (std::uint32_t answer : answers)
    event.updates.push_back({answer, add_hidden("it has answered", flat_.pool.constant(1), event.span)});
  made.event = static_cast<std::uint32_t>(flat_.events.size());
  flat_.events.push_back(std::move(event));
  flat_.transitions.push_back(std::move(made));
  for (const check::Event& answered : model_.events) {
    if (answered.kind == parse::EventKind::transition && answered.transition == index) add_event(answered);
  }
}

void Flattener::add_plan(std::uint32_t index) {
  const parse::PlanProblem& problem = tree_.problems[index];
  const check::Plan& known = model_.plans[index];
  flat::Plan made{names_.text(problem.name), problem.name_span, known.start, known.failed};
  made.has_otherwise = problem.has_otherwise;
  for (std::size_t i = 0; i < problem.chosen.size(); ++i) {
    const Value& place = places_[known.chosen[i].value];
    const Value guess = evaluate(problem.chosen[i].value, nullptr);
    for (std::uint32_t k = 0; k < place.items.size(); ++k) {
      made.chosen.push_back(flat::VariableId(flat_.pool[place.items[k]].index));
      made.guesses.push_back(add_hidden(fmt::format("where the search of {} begins", made.name),
                                        smooth_(as_number(guess.item(k))), problem.chosen[i].span));
    }
  }
  for (std::size_t p = 0; p < problem.phases.size(); ++p) {
    flat::Plan::Phase phase{known.phases[p]};
    for (const parse::Target& target : problem.phases[p].targets) {
      Sides sides{evaluate(target.left, nullptr), evaluate(target.right, nullptr)};
      const Shape shape = sides.shape();
      for (std::uint32_t k = 0; k < shape.size(); ++k) {
        phase.targets.push_back(add_hidden(
            fmt::format("a target of {}", made.name),
            smooth_(flat_.pool.subtract(as_number(sides.left.item(k)), as_number(sides.right.item(k)))), target.span));
      }
    }
    made.phases.push_back(std::move(phase));
  }
  flat_.plans.push_back(std::move(made));
}

void Flattener::add_must(const parse::Must& must) {
  static constexpr tactus_event_kind kinds[] = {TACTUS_REQUIRE, TACTUS_EXPECT, TACTUS_STOP};
  flat::Event event;
  event.name = must.text.empty() ? parse::print(tree_, names_, must.condition) : must.text;
  event.kind = kinds[static_cast<int>(must.kind)];
  event.span = must.span;
  ExprId truth = truth_of(must.condition, nullptr);
  if (must.kind != parse::MustKind::stop) truth = flat_.pool.make(Op::logical_not, truth);
  watch(event, mode_of(must.mode), truth);
  flat_.events.push_back(std::move(event));
}

Value Flattener::event_value(base::NameId name) {
  const std::string& text = names_.text(name);
  if (jumping_ != nobody) {
    const check::Event& event = model_.events[model_.event_by_name.at(name)];
    if (event.kind == parse::EventKind::transition) return scalar(flat_.pool.truth(event.transition == jumping_));
  }
  auto found = pulses_.find(text);
  if (found == pulses_.end()) found = pulses_.emplace(text, add_discrete(text + " happens")).first;
  const auto is_set = [&](std::uint32_t discrete) {
    return flat_.pool.make(Op::less, flat_.pool.constant(0.5), flat_.pool.discrete(discrete));
  };
  ExprId happens = is_set(found->second);
  for (const std::string& who : answering_) {
    const auto [answer, is_new] = answers_.try_emplace({who, text}, 0);
    if (is_new) answer->second = add_discrete(fmt::format("{} has answered {}", who, text));
    answers_of_guard_.insert(answer->second);
    happens = flat_.pool.make(Op::logical_and, happens, flat_.pool.make(Op::logical_not, is_set(answer->second)));
  }
  return scalar(happens);
}

Value Flattener::after_jump(Value value) {
  if (jumping_ == nothing_jumps) return scalar(flat_.pool.truth(false));
  symbolic::Substitution after(flat_.pool, [&](ExprId leaf) {
    const expr::Node node = flat_.pool[leaf];
    if (node.op == Op::discrete && jumping_ != nobody) {
      const auto known = std::find_if(next_discretes_.begin(), next_discretes_.end(),
                                      [&](const auto& each) { return each.second == node.index; });
      if (known != next_discretes_.end()) return flat_.pool.variable(known->first, 0);
      const flat::VariableId twin =
          flat_.variables.push({fmt::format("next({})", flat_.discrete_names[node.index]), {}, true});
      next_discretes_[twin.value] = node.index;
      return flat_.pool.variable(twin.value, 0);
    }
    if (node.op != Op::variable || flat_.variables[flat::VariableId(node.index)].is_of_jump) return ExprId();
    auto [found, is_new] = nexts_.try_emplace(node.index, static_cast<std::uint32_t>(flat_.variables.size()));
    if (is_new) {
      const flat::Variable variable = flat_.variables[flat::VariableId(node.index)];
      flat_.variables.push({fmt::format("next({})", variable.name), variable.span, true, flat::VariableId(node.index)});
    }
    return flat_.pool.variable(found->second, node.order);
  });
  for (ExprId& item : value.items) item = after(item);
  return value;
}

}  // namespace flatten
