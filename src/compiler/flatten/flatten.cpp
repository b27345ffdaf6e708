// The walk over a checked model, and what becomes of its names, equations, starts, ports, energies and drawings.
//
//   enters: check::Model     leaves: flat::Model
//   a name of shape (n)   ->   n variables, inputs, discrete values or parameters, with one name for all of them
//   l = r of shape (n)    ->   n equations l[i] = r[i]
//   writes v = e          ->   the equation v = e
//
// Nothing of a drawing becomes an equation, and its relations are evaluated: what is drawn does not change a bit of the motion.
#include "compiler/flatten/flatten.h"

#include <cmath>

#include "compiler/check/target.h"
#include "compiler/expr/budget.h"
#include "compiler/flatten/flattener.h"

namespace flatten {

flat::Model Flattener::run(Axioms axioms) {
  time_ = names_.find("t");
  pi_ = names_.find("pi");
  sides_.resize(tree_.equations.size());
  places_.resize(model_.symbols.size());
  evaluating_.resize(model_.symbols.size());
  for (const check::Automaton& automaton : model_.automata) add_automaton(automaton);
  for (std::size_t i = 0; i < model_.symbols.size(); ++i) place(SymbolId(i));
  const check::Settings& settings = model_.settings;
  flat_.settings = {settings.starting_time,   settings.ending_time,   settings.step_size,
                    settings.tolerance,       settings.record_period, settings.event_precision,
                    settings.max_transitions, settings.solver,        settings.hand_period};
  for (const parse::Condition& condition : tree_.conditions) add_condition(condition);
  for (std::size_t i = 0; i < tree_.equations.size(); ++i) add_equation(i);
  for (const parse::Equation& invariant : tree_.invariants) add_invariant(invariant);
  for (const check::Port& port : model_.ports) add_port(port);
  for (const parse::Behaviour& behaviour : tree_.behaviours) add_behaviour(behaviour);
  for (const check::Event& event : model_.events) {
    if (event.kind != parse::EventKind::transition) add_event(event);
  }
  std::vector<flat::Event> monitors;
  for (const parse::Property& property : tree_.properties) add_check(property, monitors);
  if (axioms == Axioms::watched) add_axioms(monitors);
  for (std::uint32_t i = 0; i < tree_.transitions.size(); ++i) add_transition(i);
  for (std::uint32_t i = 0; i < tree_.problems.size(); ++i) add_plan(i);
  for (const parse::Must& must : tree_.musts) add_must(must);
  for (flat::Event& monitor : monitors) flat_.events.push_back(std::move(monitor));
  for (const parse::Energy& energy : tree_.energies) add_energy(energy);
  for (const flat::Discrete& discrete : flat_.discrete)
    if (!flat_.energies.empty() && discrete.name == "book.booked") flat_.ledger = discrete.first + 1;
  for (const parse::Power& power : tree_.powers) add_power(power);
  for (const parse::Storage& storage : tree_.storages) add_storage(storage);
  add_starts_of_automata();
  for (const check::Drawing& drawing : model_.drawings) add_drawing(drawing);
  flat_.dimensions = model_.dimensions;
  for (flat::Event& event : flat_.events) {
    if (auto pulse = pulses_.find(event.name); pulse != pulses_.end() && event.kind != TACTUS_AFTER)
      event.pulse = pulse->second + 1;
    if (event.pulse == 0 || event.kind == TACTUS_AFTER) continue;
    for (const auto& [key, answer] : answers_) {
      if (key.second == event.name)
        event.updates.push_back({answer, add_hidden("nothing has answered", flat_.pool.constant(0), event.span)});
    }
  }
  write_starts();
  report_differentiated_without_definition();
  return std::move(flat_);
}

void Flattener::place(SymbolId id) {
  const check::Symbol& symbol = model_.symbols[id];
  const std::string& name = names_.text(symbol.name);
  Value& value = places_[id.value];
  value.shape = symbol.shape;
  expr::Budget::work_on(symbol.span);
  if (!expr::Budget::has_room(symbol.shape.size())) {
    diags_.report(symbol.span, too_many_scalars, name, symbol.shape.size(), expr::most_expressions);
    value.items.assign(symbol.shape.size(), flat_.pool.time());
    return;
  }
  switch (symbol.role) {
    case Role::variable: {
      if (symbol.is_of_jump()) {
        for (std::uint32_t i = 0; i < symbol.shape.size(); ++i) {
          const flat::VariableId own = flat_.variables.push({component_name(name, symbol.shape, i), symbol.span, true});
          value.items.push_back(flat_.pool.variable(own.value, 0));
        }
        break;
      }
      flat::VariableId first = add_group(name, symbol.shape, symbol.span);
      flat_.groups.back().quantity = quantity(symbol);
      for (std::uint32_t i = 0; i < symbol.shape.size(); ++i)
        value.items.push_back(flat_.pool.variable(first.value + i, 0));
      break;
    }
    case Role::input:
      flat_.inputs.push_back({name, symbol.shape, flat_.input_count, symbol.span, quantity(symbol)});
      for (std::uint32_t i = 0; i < symbol.shape.size(); ++i) {
        value.items.push_back(flat_.pool.input(flat_.input_count++));
        flat_.input_names.push_back(component_name(name, symbol.shape, i));
      }
      break;
    case Role::parameter: {
      const parse::Parameter& parameter = tree_.parameters[symbol.declaration];
      double initial = constant(parameter.value);
      if (auto given = model_.overrides.find(symbol.name); given != model_.overrides.end()) initial = given->second;
      flat_.parameters.push_back({name, flat::unit_of(quantity(symbol), 0), initial,
                                  parameter.low.valid() ? constant(parameter.low) : 0,
                                  parameter.high.valid() ? constant(parameter.high) : 0, symbol.span});
      value = scalar(flat_.pool.parameter(static_cast<std::uint32_t>(flat_.parameters.size() - 1)));
      break;
    }
    case Role::constant:
      value = constant_value(id);
      break;
    case Role::behaviour:
      flat_.discrete.push_back({name, symbol.shape, flat_.discrete_count, symbol.span, {}, quantity(symbol)});
      for (std::uint32_t i = 0; i < symbol.shape.size(); ++i) {
        value.items.push_back(flat_.pool.discrete(flat_.discrete_count++));
        flat_.discrete_names.push_back(component_name(name, symbol.shape, i));
      }
      break;
    case Role::mode:
      value = scalar(flat_.pool.make(Op::equal, flat_.pool.discrete(flat_.automata[symbol.declaration].slot),
                                     flat_.pool.constant(symbol.place)));
      break;
    case Role::function:
    case Role::automaton:
      break;
  }
}

Value Flattener::constant_value(SymbolId id) {
  const check::Symbol& symbol = model_.symbols[id];
  if (!places_[id.value].items.empty()) return places_[id.value];
  if (auto given = model_.overrides.find(symbol.name); given != model_.overrides.end()) {
    return places_[id.value] = number(given->second);
  }
  if (evaluating_[id.value]) {
    diags_.report(symbol.span, constant_cycle, names_.text(symbol.name));
    return places_[id.value] = number(0);
  }
  evaluating_[id.value] = true;
  Value value = evaluate_in(nullptr, tree_.constants[symbol.declaration].value, nullptr);
  const bool is_constant =
      std::all_of(value.items.begin(), value.items.end(), [&](ExprId item) { return flat_.pool.is_constant(item); });
  if (!is_constant) {
    diags_.report(symbol.span, constant_not_constant, names_.text(symbol.name))
        .hint(
            "it may read numbers and other constants; what reads a parameter or changes is an equation under "
            "`system`");
    value = number(0);
  }
  return places_[id.value] = value;
}

double Flattener::constant(NodeId node) {
  ExprId id = evaluate(node, nullptr).items[0];
  return flat_.pool.is_constant(id) ? flat_.pool[id].number : 0;
}

std::string Flattener::component_name(const std::string& name, const Shape& shape, std::uint32_t index) {
  if (shape.is_scalar()) return name;
  if (shape.is_vector()) return fmt::format("{}[{}]", name, index + 1);
  return fmt::format("{}[{},{}]", name, index / shape.columns + 1, index % shape.columns + 1);
}

flat::VariableId Flattener::add_group(const std::string& name, const Shape& shape, base::Span span) {
  flat::VariableId first(flat_.variables.size());
  for (std::uint32_t i = 0; i < shape.size(); ++i) flat_.variables.push({component_name(name, shape, i), span});
  flat_.groups.push_back({name, shape, first, false, {}});
  return first;
}

flat::VariableId Flattener::add_hidden(std::string name, ExprId value, base::Span span) {
  const flat::VariableId variable = flat_.variables.push({std::move(name), span});
  flat_.equations.push({flat_.pool.variable(variable.value, 0), as_number(value), span, 0});
  return variable;
}

std::uint32_t Flattener::add_discrete(std::string name) {
  flat_.discrete_names.push_back(std::move(name));
  return flat_.discrete_count++;
}

void Flattener::add_equation(std::size_t equation) {
  const Sides& sides = *sides_of(equation);
  const Shape shape = sides.shape();
  for (std::uint32_t i = 0; i < shape.size(); ++i) {
    flat_.equations.push({as_number(sides.left.item(i)), as_number(sides.right.item(i)), tree_.equations[equation].span,
                          shape.is_scalar() ? 0 : static_cast<int>(i) + 1, 0, mode_of(tree_.equations[equation].mode)});
  }
}

const Flattener::Sides* Flattener::sides_of(std::size_t equation) {
  Sides& sides = sides_[equation];
  if (sides.state == Sides::in_progress) return nullptr;
  if (sides.state == Sides::done) return &sides;
  sides.state = Sides::in_progress;
  const bool was_reacting = std::exchange(reacting_, false);
  sides.left = evaluate(tree_.equations[equation].left, nullptr);
  sides.right = evaluate(tree_.equations[equation].right, nullptr);
  reacting_ = was_reacting;
  sides.state = Sides::done;
  return &sides;
}

void Flattener::add_condition(const parse::Condition& condition) {
  const check::Target part = check::target_of(tree_, condition.variable);
  auto symbol = model_.find(tree_[part.name].name);
  TACTUS_CHECK(symbol.has_value());
  const auto index =
      part.index.valid() ? static_cast<std::uint32_t>(constant_in(part.index, nullptr)) - 1 : std::uint32_t{0};
  const Value& place = places_[symbol->value];
  const Value target = part.index.valid() ? row(place, index) : place;
  Value value = evaluate(condition.value, nullptr);
  const double time = constant(condition.time);
  const std::optional<double> later = time > flat_.settings.starting_time ? std::optional(time) : std::nullopt;
  for (std::uint32_t i = 0; i < target.items.size(); ++i) {
    ExprId item = as_number(value.item(i));
    if (flat_.pool.is_constant(item) && !std::isfinite(flat_.pool[item].number)) {
      diags_.report(condition.span, start_not_finite, names_.text(tree_[part.name].name));
    }
    flat_.conditions.push_back({flat::VariableId(flat_.pool[target.items[i]].index), part.order, item, condition.guess,
                                false, condition.span, later});
  }
}

void Flattener::add_port(const check::Port& port) {
  if (port.is_reactive) return;  // connected when there are reactive behaviours
  const std::string& device = names_.text(port.device);
  const std::string& name = names_.text(model_.symbols[port.symbol].name);
  if (port.is_input) {
    for (std::uint32_t i = 0; i < flat_.inputs.size(); ++i) {
      if (flat_.inputs[i].name == name) flat_.ports.push_back({device, true, i});
    }
    return;
  }
  if (port.value.valid()) {  // writes v = e
    Value value = evaluate(port.value, nullptr);
    const Value& target = places_[port.symbol.value];
    for (std::uint32_t i = 0; i < target.items.size(); ++i) {
      flat_.equations.push({target.items[i], as_number(value.item(i)), model_.symbols[port.symbol].span,
                            value.shape.is_scalar() ? 0 : static_cast<int>(i) + 1});
    }
  }
  for (std::uint32_t i = 0; i < flat_.groups.size(); ++i) {
    if (flat_.groups[i].name == name) {
      flat_.groups[i].written = true;
      flat_.ports.push_back({device, false, i});
    }
  }
}

// Its derivatives among what it reads are worked out, like those that jumps read.
void Flattener::add_invariant(const parse::Equation& invariant) {
  Sides sides;
  sides.left = evaluate(invariant.left, nullptr);
  sides.right = evaluate(invariant.right, nullptr);
  const Shape shape = sides.shape();
  for (std::uint32_t i = 0; i < shape.size(); ++i) {
    const flat::Equation made{as_number(sides.left.item(i)),
                              as_number(sides.right.item(i)),
                              invariant.span,
                              shape.is_scalar() ? 0 : static_cast<int>(i) + 1,
                              0,
                              mode_of(invariant.mode)};
    flat_.invariants.push_back(made);
    for (ExprId side : {made.left, made.right}) {
      for (ExprId leaf : symbolic::leaves(flat_.pool, side, Op::variable)) flat_.asked.push_back(leaf);
    }
  }
}

void Flattener::add_energy(const parse::Energy& energy) {
  const expr::Node& leaf = flat_.pool[evaluate(energy.variable, nullptr).items[0]];
  TACTUS_CHECK(leaf.op == Op::variable);
  flat_.energies.push_back({flat::VariableId(leaf.index), energy.span});
}

void Flattener::add_storage(const parse::Storage& storage) {
  flat::Storage made;
  made.span = storage.span;
  for (const NodeId state : storage.states) made.states.push_back(as_number(evaluate(state, nullptr).items[0]));
  made.energy = flat::VariableId(flat_.pool[evaluate(storage.variable, nullptr).items[0]].index);
  const auto matrix = [&](NodeId node, flat::Storage::Matrix& into) {
    if (!node.valid()) return;
    into.span = tree_[node].span;
    const Value value = evaluate(node, nullptr);
    for (std::uint32_t i = 0; i < value.shape.size(); ++i) into.entries.push_back(as_number(value.item(i)));
  };
  matrix(storage.j, made.j);
  matrix(storage.r, made.r);
  matrix(storage.g, made.g);
  flat_.storages.push_back(std::move(made));
}

void Flattener::add_power(const parse::Power& power) {
  const Value in = evaluate(power.in, nullptr);
  const Value out = evaluate(power.given.valid() ? power.given : power.out, nullptr);
  flat::Power made{names_.text(power.name), power.span, {}, power.is_joined};
  const std::size_t count = std::max(in.items.size(), out.items.size());
  for (std::uint32_t i = 0; i < count; ++i) made.pairs.push_back({as_number(in.item(i)), as_number(out.item(i))});
  flat_.powers.push_back(std::move(made));
}

void Flattener::add_drawing(const check::Drawing& drawing) {
  flat::Drawing made{drawing.kind, drawing.text, drawing.span, {}};
  for (const check::DrawnOption& option : drawing.options) {
    flat::DrawnOption drawn{option.name, option.text, ""};
    for (NodeId value : option.values) {
      const Value shown = evaluate(value, nullptr);
      if (option.name == "heights")  // of a function at many places
        drawn.label = option.name;
      else
        drawn.label += (drawn.label.empty() ? "" : ", ") + parse::print(tree_, names_, value);
      drawn.shape = shown.shape;
      for (ExprId item : shown.items) drawn.items.push_back(smooth_(as_number(item)));
    }
    if (option.values.size() > 1) drawn.shape = Shape::vector(static_cast<std::uint32_t>(option.values.size()));
    made.options.push_back(std::move(drawn));
  }
  flat_.drawings.push_back(std::move(made));
}

flat::Model flatten(const check::Model& model, const base::Names& names, diag::Sink& diags, Axioms axioms) {
  return Flattener(model, names, diags).run(axioms);
}

}  // namespace flatten
