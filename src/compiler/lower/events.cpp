// What events, plans, delays and relations watch, and the handlers and jumps that follow.
#include <algorithm>
#include <cmath>
#include <limits>

#include "abi/model.h"
#include "compiler/flat/delay_memory.h"
#include "compiler/lower/lowering.h"

namespace lower {

void Lowering::build_watch() {
  FunctionBuilder builder = motion_builder();
  std::vector<ExprId> watched;
  for (const flat::Event& event : model_.events) {
    ir::Event made{event.name, event.kind,          event.times, 0,          event.period,
                   event.from, line_of(event.span), event.flags, event.pulse};
    if (event.condition.valid()) {
      made.watched = static_cast<std::uint32_t>(watched.size());
      const ExprId condition = hidden_value(event.condition);
      watched.push_back(pool_.is_constant(condition) || is_known(condition) ? condition : pool_.constant(0));
      for (flat::VariableId part : event.parts) {
        const ExprId value = hidden_value(part);
        watched.push_back(pool_.is_constant(value) || is_known(value) ? value : pool_.constant(-1));
      }
      made.parts = static_cast<std::uint32_t>(event.parts.size());
    }
    program_.events.push_back(std::move(made));
  }
  const auto known_or_nothing = [&](flat::VariableId variable) {
    const ExprId value = hidden_value(variable);
    return pool_.is_constant(value) || is_known(value) ? value
                                                       : pool_.constant(std::numeric_limits<double>::quiet_NaN());
  };
  for (const flat::Plan& plan : model_.plans) {
    ir::Plan made{plan.name, model_.transitions[plan.transition].event, model_.transitions[plan.failed].event};
    made.has_otherwise = plan.has_otherwise;
    made.line = line_of(plan.span);
    made.guess = static_cast<std::uint32_t>(watched.size());
    for (std::size_t i = 0; i < plan.chosen.size(); ++i) {
      made.chosen.push_back(place_of_state_.at(pool_.variable(plan.chosen[i].value, 0)));
      watched.push_back(known_or_nothing(plan.guesses[i]));
    }
    for (const flat::Plan::Phase& phase : plan.phases) {
      made.phases.push_back({model_.transitions[phase.transition].event, static_cast<std::uint32_t>(watched.size()),
                             static_cast<std::uint32_t>(phase.targets.size())});
      for (flat::VariableId target : phase.targets) watched.push_back(known_or_nothing(target));
    }
    program_.plans.push_back(std::move(made));
  }
  for (const flat::Delay& delay : model_.delays) {
    ir::Delay made;
    made.source = static_cast<std::uint32_t>(watched.size());
    made.duration = program_.derived_count++;
    made.capacity = delay_capacity(delay.duration);
    made.is_rate = delay.is_rate;
    prepare_->store(ir::Op::store_derived, made.duration, prepare_->value(delay.duration));
    watched.push_back(hidden_value(delay.source, delay.order));
    program_.delays.push_back(made);
  }
  for (const structure::Relation& relation : sorted_.relations) {
    const auto at = static_cast<std::uint32_t>(watched.size());
    const bool is_floor = relation.kind == TACTUS_FLOOR;
    watched.push_back(relation.guard);
    if (is_floor) watched.push_back(relation.source);
    program_.relations.push_back({static_cast<std::uint32_t>(relation.kind), at, relation.held,
                                  is_floor ? at + 1 : relation.event, 1, line_of(relation.span)});
  }
  std::vector<ExprId> read;
  for (ExprId e : watched) {
    const auto leaves = symbolic::leaves(pool_, e, Op::variable);
    read.insert(read.end(), leaves.begin(), leaves.end());
  }
  solve_needed(builder, read);
  for (std::uint32_t i = 0; i < watched.size(); ++i) {
    builder.may_split();
    builder.store(ir::Op::store_watched, i, builder.value(watched[i]));
  }
  program_.watch_count = static_cast<std::uint32_t>(watched.size());
  program_.watch = builder.take();
}

std::uint32_t Lowering::delay_capacity(ExprId duration) const { return flat::delay_capacity(model_, duration); }

void Lowering::build_handlers() {
  for (std::uint32_t e = 0; e < model_.events.size(); ++e) {
    const flat::Event& event = model_.events[e];
    if (event.kind == TACTUS_TRANSITION) {
      program_.handlers.push_back(jump_at(e));
      continue;
    }
    FunctionBuilder builder = motion_builder();
    std::vector<ExprId> values;
    for (const flat::Update& update : event.updates) {
      const ExprId value = hidden_value(update.value);
      values.push_back(pool_.is_constant(value) || is_known(value) ? value : pool_.discrete(update.discrete));
    }
    solve_needed(builder, values);
    // All values before any of them changes what the others read.
    std::vector<ir::Value> made;
    for (ExprId value : values) made.push_back(builder.value(value));
    for (std::size_t i = 0; i < made.size(); ++i)
      builder.store(ir::Op::store_discrete, event.updates[i].discrete, made[i]);
    program_.handlers.push_back(builder.take());
  }
}

ir::Function Lowering::jump_at(std::uint32_t event) {
  for (const structure::Jump& jump : sorted_.jumps) {
    const flat::Transition& transition = model_.transitions[jump.transition];
    if (transition.event != event) continue;
    FunctionBuilder builder = motion_builder();
    Solved solved = solve_all(jump.system);
    std::vector<ExprId> read;
    const auto note = [&](ExprId e) {
      for (ExprId leaf : symbolic::leaves(pool_, e, Op::variable)) {
        if (!solved.block_of.contains(leaf)) read.push_back(leaf);
      }
    };
    for (const flat::Equation& equation : jump.system.equations) {
      note(equation.left);
      note(equation.right);
    }
    for (const structure::Jump::Set& set : jump.sets) note(set.value);
    std::vector<ExprId> remembered;  // of what was before
    for (const flat::Update& update : model_.events[event].updates) {
      const ExprId value = hidden_value(update.value);
      remembered.push_back(pool_.is_constant(value) || is_known(value) ? value : pool_.discrete(update.discrete));
      note(remembered.back());
    }
    solve_needed(builder, read);
    for (std::size_t b = 0; b < solved.solutions.size(); ++b) {
      const Solution& solution = solved.solutions[b];
      if (solution.kind != Solution::newton) continue;
      const std::uint32_t warm = warm_of(solution);
      for (std::size_t i = 0; i < solution.unknowns.size(); ++i)
        builder.store(ir::Op::store_warm, warm + static_cast<std::uint32_t>(i),
                      builder.value(before_of(solution.unknowns[i])));
    }
    for (std::size_t b = 0; b < solved.solutions.size(); ++b) solve(builder, solved, b);
    // All values before any of them changes what the others read.
    std::vector<ir::Value> values;
    for (const structure::Jump::Set& set : jump.sets) values.push_back(builder.value(set.value));
    std::vector<ir::Value> kept;
    for (ExprId value : remembered) kept.push_back(builder.value(value));
    for (std::size_t i = 0; i < kept.size(); ++i)
      builder.store(ir::Op::store_discrete, model_.events[event].updates[i].discrete, kept[i]);
    for (std::size_t i = 0; i < values.size(); ++i)
      builder.store(ir::Op::store_state, place_of_state_.at(jump.sets[i].state), values[i]);
    for (const flat::Transition::Goto& to : transition.gotos) {
      builder.store(ir::Op::store_discrete, model_.automata[to.automaton].slot, builder.value(pool_.constant(to.mode)));
    }
    return builder.take();
  }
  return {};
}

ExprId Lowering::before_of(ExprId leaf) {
  const flat::VariableId of = model_.variables[flat::VariableId(pool_[leaf].index)].next_of;
  if (!of.valid()) return pool_.constant(1);
  const ExprId before = hidden_value(of, pool_[leaf].order);
  return pool_.is_constant(before) || state_index_.contains(before) ? before : pool_.constant(1);
}

ExprId Lowering::hidden_value(flat::VariableId variable, std::uint32_t order) {
  auto number = sorted_.constants.find(variable.value);
  if (number == sorted_.constants.end()) return pool_.variable(variable.value, order);
  return pool_.constant(order == 0 ? number->second : 0);
}

}  // namespace lower
