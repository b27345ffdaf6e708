#include "compiler/flatten/flatten.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include "base/check.h"
#include "compiler/check/builtins.h"
#include "compiler/check/numbers.h"
#include "compiler/check/scope.h"
#include "compiler/check/target.h"
#include "compiler/flatten/diagnostics.h"
#include "compiler/flatten/linear_algebra.h"
#include "compiler/parse/parse.h"
#include "compiler/symbolic/symbolic.h"
#include "compiler/table/slopes.h"
#include "kernel/kernel.h"

namespace flatten {
namespace {

using check::Builtin;
using check::Role;
using check::SymbolId;
using expr::ExprId;
using expr::Op;
using expr::Shape;
using parse::NodeId;
using parse::NodeKind;

using Scope = check::Binding<Value>;

class Flattener {
 public:
  Flattener(const check::Model& model, const base::Names& names, diag::Sink& diags)
      : model_(model), tree_(*model.tree), names_(names), diags_(diags), numbers_(model, names), algebra_(flat_.pool) {}

  flat::Model run(Axioms axioms) {
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
    add_starts_of_automata();
    for (const check::Drawing& drawing : model_.drawings) add_drawing(drawing);
    flat_.dimensions = model_.dimensions;
    for (flat::Event& event : flat_.events) {
      if (auto pulse = pulses_.find(event.name); pulse != pulses_.end() && event.kind != TACTUS_AFTER)
        event.pulse = pulse->second + 1;
    }
    write_starts();
    report_differentiated_without_definition();
    return std::move(flat_);
  }

 private:
  Value scalar(ExprId id) { return {Shape::scalar(), {id}, false}; }
  Value number(double value) { return scalar(flat_.pool.constant(value)); }

  static flat::Quantity quantity(const check::Symbol& symbol) {
    return {check::common_dimension(symbol), symbol.written_unit};
  }

  // Gives every symbol its scalars.
  void place(SymbolId id) {
    const check::Symbol& symbol = model_.symbols[id];
    const std::string& name = names_.text(symbol.name);
    Value& value = places_[id.value];
    value.shape = symbol.shape;
    switch (symbol.role) {
      case Role::variable: {
        if (symbol.is_of_jump()) {
          for (std::uint32_t i = 0; i < symbol.shape.size(); ++i) {
            const flat::VariableId own =
                flat_.variables.push({component_name(name, symbol.shape, i), symbol.span, true});
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

  // Constants may use each other in any order.
  Value constant_value(SymbolId id) {
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

  double constant(NodeId node) {
    ExprId id = evaluate(node, nullptr).items[0];
    return flat_.pool.is_constant(id) ? flat_.pool[id].number : 0;
  }

  static std::string component_name(const std::string& name, const Shape& shape, std::uint32_t index) {
    if (shape.is_scalar()) return name;
    if (shape.is_vector()) return fmt::format("{}[{}]", name, index + 1);
    return fmt::format("{}[{},{}]", name, index / shape.columns + 1, index % shape.columns + 1);
  }

  flat::VariableId add_group(const std::string& name, const Shape& shape, base::Span span) {
    flat::VariableId first(flat_.variables.size());
    for (std::uint32_t i = 0; i < shape.size(); ++i) flat_.variables.push({component_name(name, shape, i), span});
    flat_.groups.push_back({name, shape, first, false, {}});
    return first;
  }

  void add_equation(std::size_t equation) {
    const Sides& sides = *sides_of(equation);
    const Shape shape = sides.shape();
    for (std::uint32_t i = 0; i < shape.size(); ++i) {
      flat_.equations.push({as_number(sides.left.item(i)), as_number(sides.right.item(i)),
                            tree_.equations[equation].span, shape.is_scalar() ? 0 : static_cast<int>(i) + 1, 0,
                            mode_of(tree_.equations[equation].mode)});
    }
  }

  void add_energy(const parse::Energy& energy) {
    const expr::Node& leaf = flat_.pool[evaluate(energy.variable, nullptr).items[0]];
    TACTUS_CHECK(leaf.op == Op::variable);
    flat_.energies.push_back({flat::VariableId(leaf.index), energy.span});
  }

  void add_power(const parse::Power& power) {
    const Value in = evaluate(power.in, nullptr);
    const Value out = evaluate(power.out, nullptr);
    flat::Power made{names_.text(power.name), power.span, {}, power.is_joined};
    const std::size_t count = std::max(in.items.size(), out.items.size());
    for (std::uint32_t i = 0; i < count; ++i) made.pairs.push_back({as_number(in.item(i)), as_number(out.item(i))});
    flat_.powers.push_back(std::move(made));
  }

  struct Sides {
    Value left, right;
    enum { not_yet, in_progress, done } state = not_yet;
    const Shape& shape() const { return left.zero ? right.shape : left.shape; }
  };

  // Both sides of an equation, evaluated when they are first asked for; none while they are being evaluated.
  const Sides* sides_of(std::size_t equation) {
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

  // --- diff(e, x) ------------------------------------------------------------------------------------------------------
  //
  // e may read names that equations define, V = 2 * x^2: their definitions are put in their places wherever x is found behind
  // them. A name that is differentiated in time is a coordinate beside x, and held; so is what no equation defines.

  struct Definition {
    std::size_t equation = 0;
    std::uint32_t item = 0;
    bool from_left = true;  // the name stands on the left
  };

  bool is_of_names(NodeId id) const {
    const parse::Node& node = tree_[id];
    if (node.kind == NodeKind::name) return model_.find(node.name).has_value();
    if (node.kind == NodeKind::index) return is_of_names(tree_.child(id, 0));
    if (node.kind != NodeKind::tuple) return false;
    for (std::uint32_t i = 0; i < node.child_count; ++i) {
      if (!is_of_names(tree_.child(id, i))) return false;
    }
    return true;
  }

  void find_definitions() {
    if (has_definitions_) return;
    has_definitions_ = true;
    for (bool from_left : {true, false}) {
      for (std::size_t e = 0; e < tree_.equations.size(); ++e) {
        const NodeId side = from_left ? tree_.equations[e].left : tree_.equations[e].right;
        if (!is_of_names(side)) continue;
        const Value names = evaluate(side, nullptr);
        for (std::uint32_t i = 0; i < names.items.size(); ++i) {
          const expr::Node& leaf = flat_.pool[names.items[i]];
          if (leaf.op == Op::variable) definitions_.try_emplace(leaf.index, Definition{e, i, from_left});
        }
      }
    }
    std::vector<NodeId> open;
    for (const parse::Equation& equation : tree_.equations) open.insert(open.end(), {equation.left, equation.right});
    for (const parse::Condition& condition : tree_.conditions) open.push_back(condition.variable);
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      for (std::uint32_t i = 0; i < tree_[id].child_count; ++i) open.push_back(tree_.child(id, i));
      if (tree_[id].kind == NodeKind::prime && is_of_names(tree_.child(id, 0))) add_coordinates(tree_.child(id, 0));
    }
  }

  // All components of the names in p', p[i]', (x, y)'.
  void add_coordinates(NodeId id) {
    const parse::Node& node = tree_[id];
    if (node.kind == NodeKind::name) {
      for (ExprId leaf : places_[model_.find(node.name)->value].items) {
        if (flat_.pool[leaf].op == Op::variable) coordinates_.insert(flat_.pool[leaf].index);
      }
    } else {
      for (std::uint32_t i = 0; i < (node.kind == NodeKind::index ? 1 : node.child_count); ++i)
        add_coordinates(tree_.child(id, i));
    }
  }

  // What an equation says a leaf is; invalid when none does, or while that equation is being evaluated.
  ExprId definition_of(ExprId leaf) {
    const expr::Node node = flat_.pool[leaf];
    auto found = definitions_.find(node.index);
    if (found == definitions_.end()) return {};
    const Sides* sides = sides_of(found->second.equation);
    if (!sides) return {};
    ExprId value = as_number((found->second.from_left ? sides->right : sides->left).item(found->second.item));
    for (std::uint32_t k = 0; k < node.order; ++k) {
      auto rate = symbolic::differentiate_in_time(flat_.pool, value, nullptr,
                                                  [&](std::uint32_t d) { return flat::rate_of_delay(flat_, d); });
      if (!rate) return {};
      value = *rate;
    }
    return symbolic::contains(flat_.pool, value, flat_.pool.variable(node.index, 0)) ? ExprId() : value;
  }

  // e with the definitions of all names behind which `by` is found.
  ExprId follow_definitions(ExprId e, ExprId by, base::Span span) {
    find_definitions();
    std::unordered_map<ExprId, ExprId> followed;  // invalid: in progress
    std::vector<ExprId> open = symbolic::leaves(flat_.pool, e, Op::variable);
    const auto replace = [&](ExprId leaf) {
      auto found = followed.find(leaf);
      return found == followed.end() ? ExprId() : found->second;
    };
    while (!open.empty()) {
      const ExprId leaf = open.back();
      const ExprId definition = leaf == by ? ExprId() : definition_of(leaf);
      auto [place, is_fresh] = followed.try_emplace(leaf, ExprId());
      if (!is_fresh || !definition.valid()) {
        open.pop_back();
        if (place->second.valid()) continue;
        place->second = leaf;
        if (!definition.valid()) continue;
        const ExprId value = symbolic::Substitution(flat_.pool, replace)(definition);
        if (!symbolic::contains(flat_.pool, value, by)) continue;
        if (coordinates_.contains(flat_.pool[leaf].index)) {
          report_held(leaf, by, span);
        } else {
          followed[leaf] = value;
        }
        continue;
      }
      for (ExprId behind : symbolic::leaves(flat_.pool, definition, Op::variable)) {
        if (!followed.contains(behind)) open.push_back(behind);
      }
    }
    return symbolic::Substitution(flat_.pool, replace)(e);
  }

  std::string leaf_name(ExprId leaf) const {
    const expr::Node& node = flat_.pool[leaf];
    return node.op == Op::variable ? flat::primed(flat_.variables[flat::VariableId(node.index)].name, node.order)
                                   : flat::print(flat_, leaf);
  }

  void report_held(ExprId leaf, ExprId by, base::Span span) {
    const std::uint32_t variable = flat_.pool[leaf].index;
    const bool has_start =
        std::any_of(flat_.conditions.begin(), flat_.conditions.end(),
                    [&](const flat::Condition& condition) { return condition.variable.value == variable; });
    if (has_start || !held_.insert(variable).second) return;  // a coordinate, and said to be one
    const std::string name = leaf_name(flat_.pool.variable(variable, 0));
    diags_.report(span, held_in_diff, name, leaf_name(by))
        .related(tree_.equations[definitions_.at(variable).equation].span, "this equation makes it depend on `{}`",
                 leaf_name(by))
        .hint("write what `{0}` is in its place to differentiate it too; give `{0}` a start to say that it is held",
              name);
  }

  // diff(V, x), where V is neither defined by an equation V = .. nor a coordinate: how it depends on x is not known.
  void report_differentiated_without_definition() {
    if (bare_in_diff_.empty()) return;
    std::set<std::uint32_t> moving(coordinates_);
    for (const flat::Equation& equation : flat_.equations) {
      for (ExprId side : {equation.left, equation.right}) {
        for (ExprId leaf : symbolic::leaves(flat_.pool, side, Op::variable)) {
          if (flat_.pool[leaf].order > 0) moving.insert(flat_.pool[leaf].index);
        }
      }
    }
    std::set<std::uint32_t> said;
    for (const auto& [leaf, by, span] : bare_in_diff_) {
      if (moving.contains(flat_.pool[leaf].index) || !said.insert(span.begin).second) continue;
      diags_.report(span, diff_of_unknown, leaf_name(leaf), leaf_name(by))
          .hint("solve the equation that determines it for `{0}`: `{0} = ..`", leaf_name(leaf));
    }
  }

  void add_condition(const parse::Condition& condition) {
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
      flat_.conditions.push_back({flat::VariableId(flat_.pool[target.items[i]].index), part.order, item,
                                  condition.guess, false, condition.span, later});
    }
  }

  void add_port(const check::Port& port) {
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

  // --- Events ----------------------------------------------------------------------------------------------------------
  //
  // On event E, with old values a, b, ..:
  //   ordinary handlers  a' = e(..)   read the new values of ordinary behaviours of E and the old ones of all others
  //   later handlers     b' = e(..)   the same, once the ordinary ones are done
  // Put into each other, every new value is an expression over old ones; a cycle among ordinary handlers has none.

  void add_behaviour(const parse::Behaviour& behaviour) {
    const SymbolId symbol = *model_.find(behaviour.name);
    if (behaviour.value.valid()) {  // passive
      const Value value = evaluate(behaviour.value, nullptr);
      const Value& target = places_[symbol.value];
      for (std::uint32_t i = 0; i < target.items.size(); ++i) {
        flat_.equations.push({target.items[i], as_number(value.item(i)), behaviour.span,
                              target.shape.is_scalar() ? 0 : static_cast<int>(i) + 1});
      }
      return;
    }
    const Value start = evaluate(behaviour.start, nullptr);
    const std::uint32_t first = flat_.pool[places_[symbol.value].items[0]].index;
    auto discrete = std::find_if(flat_.discrete.begin(), flat_.discrete.end(),
                                 [&](const flat::Discrete& candidate) { return candidate.first == first; });
    for (std::uint32_t i = 0; i < discrete->shape.size(); ++i) {
      discrete->start.push_back(as_number(start.item(i)));
    }
  }

  // A variable of its own for what is needed at events only; not a channel.
  flat::VariableId add_hidden(std::string name, ExprId value, base::Span span) {
    const flat::VariableId variable = flat_.variables.push({std::move(name), span});
    flat_.equations.push({flat_.pool.variable(variable.value, 0), as_number(value), span, 0});
    return variable;
  }

  void add_event(const check::Event& event) {
    static constexpr tactus_event_kind kinds[] = {TACTUS_EVERY, TACTUS_WHEN, TACTUS_AT, TACTUS_AFTER};
    flat::Event made{names_.text(event.name),
                     kinds[static_cast<int>(event.kind)],
                     event.period,
                     event.from,
                     event.times,
                     {},
                     event.span};
    if (event.condition.valid()) {
      made.condition = add_hidden("the condition of " + made.name, as_number(truth_of(event.condition, nullptr)),
                                  tree_[event.condition].span);
    }
    handlers_.clear();
    std::vector<SymbolId> order;
    for (const parse::Behaviour& behaviour : tree_.behaviours) {
      for (const parse::Handler& handler : behaviour.handlers) {
        if (tree_[handler.event].name != event.name) continue;
        const SymbolId symbol = *model_.find(behaviour.name);
        handlers_.emplace(symbol.value, Handling{&behaviour, &handler, {}, Handling::not_yet});
        order.push_back(symbol);
      }
    }
    reacting_ = true;
    std::string code;
    for (bool later : {false, true}) {
      done_handlers_.clear();
      for (SymbolId symbol : order) {
        if (handlers_.at(symbol.value).handler->later == later) new_value(symbol);
      }
      for (SymbolId symbol : done_handlers_) code += handler_code(handlers_.at(symbol.value));
    }
    reacting_ = false;
    for (SymbolId symbol : order) {
      const Handling& handling = handlers_.at(symbol.value);
      const Value& place = places_[symbol.value];
      for (std::uint32_t i = 0; i < place.items.size(); ++i) {
        const std::uint32_t discrete = flat_.pool[place.items[i]].index;
        made.updates.push_back({discrete, add_hidden(fmt::format("{} at {}", flat_.discrete_names[discrete], made.name),
                                                     handling.value.item(i), handling.handler->span)});
      }
    }
    if (made.kind == TACTUS_AFTER) add_verdicts(event.transition, made);
    if (made.kind == TACTUS_AFTER && made.updates.empty()) return;
    flat_.event_code += fmt::format("if {} happens\n{{{}}}\n", made.name, code.empty() ? "" : code.substr(2));
    flat_.events.push_back(std::move(made));
  }

  // --- Modes and jumps -------------------------------------------------------------------------------------------------

  std::uint32_t add_discrete(std::string name) {
    flat_.discrete_names.push_back(std::move(name));
    return flat_.discrete_count++;
  }

  void add_automaton(const check::Automaton& automaton) {
    flat::Automaton made{names_.text(automaton.name), automaton.span, {}};
    for (SymbolId mode : automaton.modes) {
      const std::string& name = names_.text(model_.symbols[mode].name);
      made.modes.push_back(name.substr(made.name.size() + 1));
    }
    made.slot = add_discrete(made.name);
    flat_.automata.push_back(std::move(made));
  }

  ExprId mode_of(NodeId mode) { return mode.valid() ? truth_of(mode, nullptr) : ExprId(); }

  // The first modes, asked for with the start of all automata in their first.
  void add_starts_of_automata() {
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

  // A truth value as a number that is positive where it holds and crosses zero where it begins or ends to.
  ExprId signed_distance(ExprId truth) {
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

  std::vector<ExprId> conjuncts(ExprId truth) const {
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

  // What is watched of a guard: whether it holds, and how far it is from where that changes.
  void watch(flat::Event& event, ExprId mode, ExprId truth) {
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

  void add_transition(std::uint32_t index) {
    const parse::Transition& item = tree_.transitions[index];
    const check::Transition& known = model_.transitions[index];
    flat::Transition made;
    made.name = names_.text(item.name);
    made.span = item.name_span;
    made.mode = mode_of(item.mode);
    made.guard = item.condition.valid() ? truth_of(item.condition, nullptr) : flat_.pool.truth(true);
    for (const check::Transition::Goto& to : known.gotos) made.gotos.push_back({to.automaton, to.mode});
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
    made.event = static_cast<std::uint32_t>(flat_.events.size());
    flat_.events.push_back(std::move(event));
    flat_.transitions.push_back(std::move(made));
    for (const check::Event& answered : model_.events) {
      if (answered.kind == parse::EventKind::transition && answered.transition == index) add_event(answered);
    }
  }

  void add_plan(std::uint32_t index) {
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
          phase.targets.push_back(
              add_hidden(fmt::format("a target of {}", made.name),
                         smooth_(flat_.pool.subtract(as_number(sides.left.item(k)), as_number(sides.right.item(k)))),
                         target.span));
        }
      }
      made.phases.push_back(std::move(phase));
    }
    flat_.plans.push_back(std::move(made));
  }

  void add_must(const parse::Must& must) {
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

  // --- Checks ----------------------------------------------------------------------------------------------------------
  //
  // Each formula becomes a monitor of constant memory: discrete values, notes and checks. A note is an event of the kind of a check
  // that has a pulse: while it holds, its updates are made, at the start and whenever something happens, before checks are asked.
  // With t0 the start, w = [a..b], and all discrete values 0 at the start:
  //
  //   always[w] f         broken while   t0 + a <= t <= t0 + b  and  not f
  //   eventually[w] f     note f in w: seen = 1;     broken while   not seen  and  (t > t0 + b  or the run is over at t >= t0 + b)
  //   f until[w] g        note g in w: seen = 1;     broken while   not seen  and  not g  and  not f  and  t <= t0 + b
  //   always (c -> T), with T looking ahead from now on:
  //     eventually[0..b] f   note f: asked = 0;  note c and not f and not asked: asked = 1, since = t;
  //                          broken while   asked  and  t > since + b; without b, when the run is over
  //     always[0..b] f       note c: on = 1;  note not c and on: on = 0, has = 1, last = t;
  //                          broken while   (c or on or has and t <= last + b)  and  not f
  //     f until g (c: true)  note g: on = 0;  note c and not g: on = 1;    broken while   (c or on)  and  not g  and  not f
  //
  // The first instant that is not answered stands for all that follow it, and the last that asks for all before it; with other bounds
  // than 0 that is not so, and all of them would have to be remembered.
  //
  // f may speak of next(..): then it is asked once for each transition, with that alone happening. What is read before the
  // jump is remembered by it, and what it is after stands in the event right behind it: broken or not is one more discrete value.
  // Everywhere else a comparison with next(..) is false.

  static constexpr double for_ever = 1e300;

  struct Window {
    double from = 0, to = for_ever;  // after the start
  };

  // A formula that speaks of next(..), as it is right behind one transition.
  struct Verdict {
    std::uint32_t transition = 0;
    ExprId truth;                // over variables before (as they are) and after (twins)
    std::uint32_t discrete = 0;  // becomes 1 ..
    bool if_true = false;        // .. where the formula holds, or where it does not
    base::Span span;
  };

  bool is_temporal(NodeId id) const {
    const NodeKind kind = tree_[id].kind;
    return kind == NodeKind::always || kind == NodeKind::eventually || kind == NodeKind::until;
  }
  template <class Wanted>
  bool has_part(NodeId id, Wanted wanted) const {
    if (wanted(id)) return true;
    const auto children = tree_.children_of(id);
    return std::any_of(children.begin(), children.end(),
                       [&](const parse::Child& child) { return has_part(child.node, wanted); });
  }
  bool looks_ahead(NodeId id) const {
    return has_part(id, [&](NodeId part) { return is_temporal(part); });
  }
  bool has_next(NodeId id) const {
    return has_part(id, [&](NodeId part) {
      if (tree_[part].kind != NodeKind::call || tree_[tree_.child(part, 0)].kind != NodeKind::name) return false;
      const base::NameId name = tree_[tree_.child(part, 0)].name;
      if (names_.text(name) == "next" && !model_.find(name)) return true;
      const auto found = model_.find(name);
      return found && model_.symbols[*found].role == Role::function &&
             has_next(tree_.functions[model_.symbols[*found].declaration].value);
    });
  }

  bool is_of_no_jump(NodeId id) const { return jumping_ == nothing_jumps && has_next(id); }

  Window window_of(NodeId id) {
    const std::uint32_t first = tree_[id].kind == NodeKind::until ? 2 : 1;
    if (tree_[id].child_count <= first) return {};
    return {constant(tree_.child(id, first)), constant(tree_.child(id, first + 1))};
  }
  static bool is_all(const Window& window) { return window.from == 0 && window.to == for_ever; }

  ExprId negation(ExprId truth) { return flat_.pool.make(Op::logical_not, truth); }
  ExprId both(ExprId a, ExprId b) { return flat_.pool.make(Op::logical_and, a, b); }
  ExprId either(ExprId a, ExprId b) { return flat_.pool.make(Op::logical_or, a, b); }
  ExprId is_set(std::uint32_t discrete) {
    return flat_.pool.make(Op::less, flat_.pool.constant(0.5), flat_.pool.discrete(discrete));
  }
  // t >= t0 + from, and t > t0 + to
  ExprId has_begun(const Window& window) {
    if (window.from == 0) return flat_.pool.truth(true);
    const double from = flat_.settings.starting_time + window.from;
    return flat_.pool.make(Op::less_equal, flat_.pool.constant(from), flat_.pool.time());
  }
  ExprId has_ended(const Window& window) {
    if (window.to == for_ever) return flat_.pool.truth(false);
    const double to = flat_.settings.starting_time + window.to;
    return flat_.pool.make(Op::less, flat_.pool.constant(to), flat_.pool.time());
  }
  // t >= t0 + to, whatever rounding does to a window that ends with the run; without an end, always.
  ExprId is_at_end(const Window& window) {
    if (window.to == for_ever) return flat_.pool.truth(true);
    const double to = flat_.settings.starting_time + window.to;
    return flat_.pool.make(Op::less_equal, flat_.pool.constant(to - 1e-12 * std::fabs(to)), flat_.pool.time());
  }
  ExprId is_inside(const Window& window) { return both(has_begun(window), negation(has_ended(window))); }

  ExprId is_over() {
    if (!over_) {
      over_ = add_discrete("the run is over");
      flat::Event end;
      end.name = "the end of the run";
      end.kind = TACTUS_AT;
      end.pulse = *over_ + 1;
      flat_.events.push_back(std::move(end));
    }
    return is_set(*over_);
  }

  // `located` is where `whole` can begin to hold between events; both may differ in what is remembered.
  void watch_monitor(flat::Event& event, ExprId located, ExprId whole) {
    event.condition = add_hidden("whether " + event.name, smooth_(as_number(whole)), event.span);
    event.guard = add_hidden("the guard of " + event.name, smooth_(signed_distance(located)), event.span);
  }

  struct Monitor {
    std::string name;
    base::Span span;
    std::vector<flat::Event>& events;
  };

  std::uint32_t add_memory(const Monitor& monitor, const char* what) {
    return add_discrete(fmt::format("{} of {}", what, monitor.name));
  }

  // While `located` and `besides` hold: discrete := value.
  void add_note(Monitor& monitor, ExprId located, ExprId besides,
                std::initializer_list<std::pair<std::uint32_t, ExprId>> updates) {
    if (!noted_) noted_ = add_discrete("noted");
    flat::Event note;
    note.name = fmt::format("note {} of {}", monitor.events.size() + 1, monitor.name);
    note.kind = TACTUS_CHECK;
    note.span = monitor.span;
    note.pulse = *noted_ + 1;
    watch_monitor(note, located, both(located, besides));
    for (const auto& [discrete, value] : updates)
      note.updates.push_back(
          {discrete, add_hidden(fmt::format("{} at {}", flat_.discrete_names[discrete], note.name), value, note.span)});
    monitor.events.push_back(std::move(note));
  }

  // Broken while `located` holds, or `at_last`.
  void add_breach(Monitor& monitor, ExprId located, ExprId at_last) {
    flat::Event event;
    event.name = monitor.name;
    event.kind = TACTUS_CHECK;
    event.span = monitor.span;
    watch_monitor(event, located, either(located, at_last));
    monitor.events.push_back(std::move(event));
  }

  void add_check(const parse::Property& property, std::vector<flat::Event>& events) {
    const std::string text = parse::print(tree_, names_, property.formula);
    Monitor monitor{property.name.valid() ? fmt::format("{}: {}", names_.text(property.name), text) : text,
                    property.span, events};
    const NodeId formula = property.formula;
    const Window window = window_of(formula);
    switch (tree_[formula].kind) {
      case NodeKind::eventually:
        return add_eventually(monitor, tree_.child(formula, 0), window);
      case NodeKind::until:
        return add_until(monitor, tree_.child(formula, 0), tree_.child(formula, 1), window);
      default:
        return add_always(monitor, tree_.child(formula, 0), window);
    }
  }

  void refuse(const Monitor& monitor, NodeId part, const std::string& hint) {
    diags_.report(tree_[part].span, needs_history, monitor.name).hint("{}", hint);
  }

  void add_always(Monitor& monitor, NodeId formula, const Window& window) {
    if (!looks_ahead(formula)) {
      if (has_next(formula)) {
        const std::uint32_t broken = add_memory(monitor, "breach");
        const auto holds = [&] { return either(negation(is_inside(window)), truth_of(formula, nullptr)); };
        const ExprId between = add_verdicts_of_jumps(monitor, broken, false, holds);
        return add_breach(monitor, either(is_set(broken), negation(between)), flat_.pool.truth(false));
      }
      const ExprId truth = truth_of(formula, nullptr);
      return add_breach(monitor, both(is_inside(window), negation(truth)), flat_.pool.truth(false));
    }
    const NodeKind kind = tree_[formula].kind;
    if (kind == NodeKind::logical_and) {
      for (const parse::Child& child : tree_.children_of(formula)) add_always(monitor, child.node, window);
      return;
    }
    // c -> T, not c || T, or T alone.
    NodeId ahead = formula;
    ExprId when = is_inside(window);
    if (kind == NodeKind::implies || kind == NodeKind::logical_or) {
      for (const parse::Child& child : tree_.children_of(formula)) {
        const bool is_consequence = kind == NodeKind::logical_or || child.node == tree_.child(formula, 1);
        if (is_consequence && is_temporal(child.node) && ahead == formula) {
          ahead = child.node;
          continue;
        }
        if (looks_ahead(child.node))
          return refuse(monitor, child.node, "let one part look ahead, behind `->`: `c -> eventually[0..2](f)`");
        if (has_next(child.node)) return refuse_next(monitor, child.node);
        const ExprId truth = truth_of(child.node, nullptr);
        when = both(when, kind == NodeKind::implies ? truth : negation(truth));
      }
    }
    if (!is_temporal(ahead))
      return refuse(monitor, formula, "write what is to come behind `->`: `c -> eventually[0..2](f)`");
    add_obligation(monitor, when, ahead);
  }

  void refuse_next(const Monitor& monitor, NodeId part) {
    refuse(monitor, part,
           "`next` is known at the instant of a jump alone; write it in a check of its own, `Bounce -> next(v) > 0;`");
  }

  // Whether what stands under an operator speaks of now alone.
  bool is_plain(const Monitor& monitor, NodeId id) {
    if (looks_ahead(id)) {
      refuse(monitor, id,
             "one operator inside another is watched where the outer one is `always`: "
             "`always(c -> eventually[0..2](f))`");
      return false;
    }
    if (has_next(id)) {
      refuse_next(monitor, id);
      return false;
    }
    return true;
  }

  void add_eventually(Monitor& monitor, NodeId formula, const Window& window) {
    if (looks_ahead(formula) && !is_plain(monitor, formula)) return;
    const std::uint32_t seen = add_memory(monitor, "seen");
    ExprId now;
    if (has_next(formula)) {
      const auto holds = [&] { return both(is_inside(window), truth_of(formula, nullptr)); };
      now = add_verdicts_of_jumps(monitor, seen, true, holds);
    } else {
      now = both(is_inside(window), truth_of(formula, nullptr));
    }
    const ExprId not_yet = negation(is_set(seen));
    add_note(monitor, now, not_yet, {{seen, flat_.pool.constant(1)}});
    add_breach(monitor, both(not_yet, has_ended(window)), both(not_yet, both(is_over(), is_at_end(window))));
  }

  void add_until(Monitor& monitor, NodeId first, NodeId second, const Window& window) {
    if (!is_plain(monitor, first) || !is_plain(monitor, second)) return;
    const std::uint32_t seen = add_memory(monitor, "seen");
    const ExprId released = both(has_begun(window), truth_of(second, nullptr));
    const ExprId not_yet = negation(is_set(seen));
    add_note(monitor, released, not_yet, {{seen, flat_.pool.constant(1)}});
    const ExprId holds = either(truth_of(first, nullptr), released);
    add_breach(monitor, both(both(not_yet, negation(holds)), negation(has_ended(window))), flat_.pool.truth(false));
  }

  // Whenever `when` holds, `f` does within `most` seconds.
  void add_response(Monitor& monitor, ExprId when, ExprId f, double most) {
    expr::Pool& pool = flat_.pool;
    const std::uint32_t asked = add_memory(monitor, "asked"), since = add_memory(monitor, "since");
    add_note(monitor, f, is_set(asked), {{asked, pool.constant(0)}});
    add_note(monitor, both(when, negation(f)), negation(is_set(asked)),
             {{asked, pool.constant(1)}, {since, pool.time()}});
    const ExprId end = pool.add(pool.discrete(since), pool.constant(most));
    const ExprId late = most == for_ever ? pool.truth(false) : pool.make(Op::less, end, pool.time());
    add_breach(monitor, both(is_set(asked), late),
               most == for_ever ? both(is_set(asked), is_over()) : pool.truth(false));
  }

  // Whenever `when` holds, what `ahead` says of the time from then on.
  void add_obligation(Monitor& monitor, ExprId when, NodeId ahead) {
    expr::Pool& pool = flat_.pool;
    const Window window = window_of(ahead);
    const NodeKind kind = tree_[ahead].kind;
    if (!is_plain(monitor, tree_.child(ahead, 0))) return;
    if (kind == NodeKind::until && !is_plain(monitor, tree_.child(ahead, 1))) return;
    if (kind == NodeKind::until && !is_all(window))
      return refuse(monitor, ahead, "leave the bounds out: `always(f until g)`");
    if (window.from > 0)
      return refuse(monitor, ahead,
                    fmt::format("let the bounds begin now: `{}[0..{}](..)`",
                                kind == NodeKind::always ? "always" : "eventually", expr::print_number(window.to)));
    const ExprId f = truth_of(tree_.child(ahead, 0), nullptr);
    const ExprId one = pool.constant(1), zero = pool.constant(0), never = pool.truth(false);
    if (kind == NodeKind::eventually) return add_response(monitor, when, f, window.to);
    const std::uint32_t on = add_memory(monitor, "on");
    ExprId binding = either(when, is_set(on));
    if (kind == NodeKind::until) {
      const ExprId g = truth_of(tree_.child(ahead, 1), nullptr);
      add_note(monitor, g, is_set(on), {{on, zero}});
      add_note(monitor, both(when, negation(g)), negation(is_set(on)), {{on, one}});
      return add_breach(monitor, both(binding, both(negation(g), negation(f))), never);
    }
    add_note(monitor, when, negation(is_set(on)), {{on, one}});
    if (window.to < for_ever) {
      const std::uint32_t has = add_memory(monitor, "has"), last = add_memory(monitor, "last");
      add_note(monitor, negation(when), is_set(on), {{on, zero}, {has, one}, {last, pool.time()}});
      const ExprId end = pool.add(pool.discrete(last), pool.constant(window.to));
      binding = either(binding, both(is_set(has), pool.make(Op::less_equal, pool.time(), end)));
    }
    add_breach(monitor, both(binding, negation(f)), never);
  }

  // A formula that speaks of next(..): `discrete` becomes 1 right behind each jump where it holds, or does not. What it is where nothing
  // jumps is returned.
  template <class Make>
  ExprId add_verdicts_of_jumps(const Monitor& monitor, std::uint32_t discrete, bool if_true, Make make) {
    for (std::uint32_t i = 0; i < tree_.transitions.size(); ++i) {
      jumping_ = i;
      const ExprId truth = make();
      jumping_ = nobody;
      if (truth == flat_.pool.truth(!if_true)) continue;
      verdicts_.push_back({i, truth, discrete, if_true, monitor.span});
    }
    jumping_ = nothing_jumps;
    const ExprId between = make();
    jumping_ = nobody;
    return between;
  }

  // --- The axioms of the model's schemata (compiler/schemata), as checks ---------------------------------------------------
  //
  //   EquationalReset        behind each jump its equations hold, as far as they are of before and after alone; and so do its modes
  //   SpecifiedTermination   a phase of a sequence or a plan has ended when its condition holds
  //   TemporalProjection     the targets of a phase hold where it ends

  static constexpr double axiom_tolerance = 1e-6;  // of both sides of an equation; and seconds

  // |a - b| <= 1e-6 (1 + |a| + |b|)
  ExprId nearly_equal(ExprId a, ExprId b) {
    expr::Pool& pool = flat_.pool;
    const auto size = [&](ExprId x) { return pool.make(Op::absolute, x); };
    const ExprId scale = pool.add(pool.constant(1), pool.add(size(a), size(b)));
    return pool.make(Op::less_equal, size(pool.subtract(a, b)), pool.multiply(pool.constant(axiom_tolerance), scale));
  }

  ExprId nearly_equal(const Sides& sides) {
    ExprId all = flat_.pool.truth(true);
    for (std::uint32_t i = 0; i < sides.shape().size(); ++i)
      all = both(all, nearly_equal(as_number(sides.left.item(i)), as_number(sides.right.item(i))));
    return all;
  }

  bool has_own_unknowns(ExprId truth) const {
    const auto leaves = symbolic::leaves(flat_.pool, truth, Op::variable);
    return std::any_of(leaves.begin(), leaves.end(), [&](ExprId leaf) {
      const flat::Variable& variable = flat_.variables[flat::VariableId(flat_.pool[leaf].index)];
      return variable.is_of_jump && !variable.next_of.valid() && !next_discretes_.contains(flat_.pool[leaf].index);
    });
  }

  void add_axiom_of_jump(std::uint32_t transition, ExprId truth, const char* schema, std::vector<flat::Event>& events) {
    if (truth == flat_.pool.truth(true)) return;
    const parse::Transition& item = tree_.transitions[transition];
    Monitor monitor{fmt::format("{} of {}", schema, names_.text(item.name)), item.name_span, events};
    const std::uint32_t broken = add_memory(monitor, "breach");
    verdicts_.push_back({transition, truth, broken, false, item.name_span});
    add_breach(monitor, is_set(broken), flat_.pool.truth(false));
  }

  void add_axioms(std::vector<flat::Event>& events) {
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

  // S.phase1, heard in S.Phase1: schemata has written it.
  bool is_end_of_phase(const parse::Transition& item) const {
    if (!item.mode.valid() || !item.condition.valid() || tree_[item.mode].kind != NodeKind::name) return false;
    std::string name = names_.text(item.name);
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos || name.compare(dot, 6, ".phase") != 0) return false;
    name[dot + 1] = 'P';
    return names_.text(tree_[item.mode].name) == name;
  }

  // What the jump remembers of the time before it.
  void add_memories_of_before(std::uint32_t transition, flat::Event& event) {
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

  // What formulas say right behind a jump, where its handlers are about to answer it.
  void add_verdicts(std::uint32_t transition, flat::Event& after) {
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

  // Whether an event happens now.
  Value event_value(base::NameId name) {
    const std::string& text = names_.text(name);
    if (jumping_ != nobody) {
      const check::Event& event = model_.events[model_.event_by_name.at(name)];
      if (event.kind == parse::EventKind::transition) return scalar(flat_.pool.truth(event.transition == jumping_));
    }
    auto found = pulses_.find(text);
    if (found == pulses_.end()) found = pulses_.emplace(text, add_discrete(text + " happens")).first;
    return scalar(flat_.pool.make(Op::less, flat_.pool.constant(0.5), flat_.pool.discrete(found->second)));
  }

  // What an expression is after a jump.
  Value after_jump(Value value) {
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
        flat_.variables.push(
            {fmt::format("next({})", variable.name), variable.span, true, flat::VariableId(node.index)});
      }
      return flat_.pool.variable(found->second, node.order);
    });
    for (ExprId& item : value.items) item = after(item);
    return value;
  }

  struct Handling {
    const parse::Behaviour* behaviour;
    const parse::Handler* handler;
    Value value;
    enum { not_yet, in_progress, done } state;
  };

  std::string handler_code(const Handling& handling) const {
    return fmt::format("\n  {} = {};", names_.text(handling.behaviour->name),
                       parse::print(tree_, names_, handling.handler->value));
  }

  // `cur = 0; prev = 0;` before the events' code.
  void write_starts() {
    std::string starts;
    for (const parse::Behaviour& behaviour : tree_.behaviours) {
      if (!behaviour.start.valid()) continue;
      starts += fmt::format("{} = {}; ", names_.text(behaviour.name), parse::print(tree_, names_, behaviour.start));
      if (behaviour.own.valid())
        starts += fmt::format("{} is the old value of {}; ", names_.text(behaviour.own), names_.text(behaviour.name));
    }
    if (!starts.empty()) starts.back() = '\n';
    flat_.event_code = starts + flat_.event_code;
  }

  // The value of a behaviour behind the event that is being worked out.
  const Value& new_value(SymbolId symbol) {
    Handling& handling = handlers_.at(symbol.value);
    if (handling.state == Handling::done) return handling.value;
    if (handling.state == Handling::in_progress) {
      report_cycle(symbol);
      handling.value = places_[symbol.value];
      handling.state = Handling::done;
      return handling.value;
    }
    handling.state = Handling::in_progress;
    open_handlers_.push_back(symbol);
    const Scope own{nullptr, handling.behaviour->own, places_[symbol.value]};
    const check::Scope counted{nullptr, handling.behaviour->own, {}};
    const bool has_own = handling.behaviour->own.valid();
    Value value = evaluate_in(has_own ? &counted : nullptr, handling.handler->value, has_own ? &own : nullptr);
    open_handlers_.pop_back();
    if (handling.state != Handling::done) handling.value = std::move(value);
    handling.state = Handling::done;
    done_handlers_.push_back(symbol);
    return handling.value;
  }

  void report_cycle(SymbolId symbol) {
    auto from = std::find(open_handlers_.begin(), open_handlers_.end(), symbol);
    std::string cycle;
    for (auto at = from; at != open_handlers_.end(); ++at)
      cycle += "`" + names_.text(model_.symbols[*at].name) + "` reads ";
    cycle += "`" + names_.text(model_.symbols[symbol].name) + "`";
    const Handling& first = handlers_.at(symbol.value);
    auto report = diags_.report(first.handler->span, handler_cycle, cycle);
    for (auto at = from + 1; at < open_handlers_.end(); ++at)
      report.related(handlers_.at(at->value).handler->span, "this one is part of it");
    if (open_handlers_.end() - from == 1) {
      report.hint("the own old value has a name of its own: `{} = init old = .. in {{ .. => old + 1 }}`",
                  names_.text(model_.symbols[symbol].name));
    } else {
      report.hint("mark one of them `later`: it then runs behind the others, and they see its old value");
    }
  }

  // A behaviour's name inside a handler.
  Value behaviour_value(SymbolId symbol) {
    auto handling = handlers_.find(symbol.value);
    if (handling == handlers_.end() || handling->second.handler->later) return places_[symbol.value];
    return new_value(symbol);
  }

  // --- The scene -------------------------------------------------------------------------------------------------------
  //
  // Nothing of it becomes an equation, and its relations are evaluated: what is drawn does not change a bit of the motion.

  void add_drawing(const check::Drawing& drawing) {
    flat::Drawing made{drawing.kind, drawing.text, drawing.span, {}};
    for (const check::DrawnOption& option : drawing.options) {
      flat::DrawnOption drawn{option.name, option.text, ""};
      for (NodeId value : option.values) {
        const Value shown = evaluate(value, nullptr);
        if (option.name == "heights")  // of a function at many places
          drawn.label = "heights";
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

  // --- Expressions -----------------------------------------------------------------------------------------------------

  ExprId as_number(ExprId id) {
    if (!flat_.pool.is_truth(id)) return id;
    return flat_.pool.make(Op::select, id, flat_.pool.constant(1), flat_.pool.constant(0));
  }
  ExprId as_truth(ExprId id) {
    if (flat_.pool.is_truth(id)) return id;
    return flat_.pool.make(Op::not_equal, id, flat_.pool.constant(0));
  }

  // Component by component; scalars and the literal 0 spread.
  template <class Make>
  Value component_wise(const Value& a, const Value& b, Make make) {
    const Shape& shape = (a.zero || a.shape.is_scalar()) && !b.zero ? b.shape : a.shape;
    Value result{shape, {}, false};
    for (std::uint32_t i = 0; i < shape.size(); ++i)
      result.items.push_back(make(as_number(a.item(i)), as_number(b.item(i))));
    return result;
  }
  Value component_wise(Op op, const Value& a, const Value& b) {
    return component_wise(a, b, [&](ExprId x, ExprId y) { return flat_.pool.make(op, x, y); });
  }
  template <class Make>
  Value each(const Value& a, Make make) {
    Value result{a.shape, {}, false};
    for (ExprId item : a.items) result.items.push_back(make(as_number(item)));
    return result;
  }

  ExprId truth_of(NodeId id, const Scope* scope) { return as_truth(evaluate(id, scope).items[0]); }
  ExprId number_of(NodeId id, const Scope* scope) { return as_number(evaluate(id, scope).items[0]); }

  Value evaluate_in(const check::Scope* counted, NodeId id, const Scope* scope) {
    const check::Scope* outside = std::exchange(counted_, counted);
    Value value = evaluate(id, scope);
    counted_ = outside;
    return value;
  }

  Value evaluate(NodeId id, const Scope* scope) {
    const parse::Node& node = tree_[id];
    expr::Pool& pool = flat_.pool;
    auto child = [&](std::uint32_t i) { return evaluate(tree_.child(id, i), scope); };
    switch (node.kind) {
      case NodeKind::number:
        return {Shape::scalar(), {pool.constant(node.number)}, node.number == 0};
      case NodeKind::boolean:
        return scalar(pool.truth(node.number != 0));
      case NodeKind::name:
        if (auto bound = check::find_binding(scope, node.name)) return bound->what;
        if (node.name == time_) return scalar(pool.time());
        if (node.name == pi_) return number(3.14159265358979323846);
        return symbol_value(node.name);
      case NodeKind::member:
        return device_value(id);
      case NodeKind::prime:
        return derivative(child(0), node.count, node.span);
      case NodeKind::negate:
        return each(child(0), [&](ExprId x) { return pool.negate(x); });
      case NodeKind::tuple: {
        std::vector<Value> parts;
        for (std::uint32_t i = 0; i < node.child_count; ++i) parts.push_back(child(i));
        auto widest =
            std::find_if(parts.begin(), parts.end(), [](const Value& part) { return part.shape.is_vector(); });
        Shape part_shape = widest == parts.end() ? Shape::scalar() : widest->shape;
        Value result{
            part_shape.is_scalar() ? Shape::vector(node.child_count) : Shape::matrix(node.child_count, part_shape.rows),
            {},
            false};
        for (const Value& part : parts) {
          for (std::uint32_t i = 0; i < part_shape.size(); ++i) result.items.push_back(as_number(part.item(i)));
        }
        return result;
      }
      case NodeKind::sum: {
        Value result = child(0);
        for (std::uint32_t i = 1; i < node.child_count; ++i) {
          bool minus = tree_.children[node.first_child + i].op == parse::Op::minus;
          result = component_wise(minus ? Op::subtract : Op::add, result, child(i));
        }
        return result;
      }
      case NodeKind::product: {
        Value result = child(0);
        for (std::uint32_t i = 1; i < node.child_count; ++i) {
          bool divide = tree_.children[node.first_child + i].op == parse::Op::divide;
          result = divide ? component_wise(Op::divide, result, child(i)) : product(result, child(i));
        }
        return result;
      }
      case NodeKind::power:
        return component_wise(Op::power, child(0), child(1));
      case NodeKind::logical_not:
        return scalar(pool.make(Op::logical_not, truth_of(tree_.child(id, 0), scope)));
      case NodeKind::logical_and:
      case NodeKind::logical_or: {
        ExprId result = truth_of(tree_.child(id, 0), scope);
        Op op = node.kind == NodeKind::logical_and ? Op::logical_and : Op::logical_or;
        for (std::uint32_t i = 1; i < node.child_count; ++i)
          result = pool.make(op, result, truth_of(tree_.child(id, i), scope));
        return scalar(result);
      }
      case NodeKind::implies:
        return scalar(pool.make(Op::logical_or, pool.make(Op::logical_not, truth_of(tree_.child(id, 0), scope)),
                                truth_of(tree_.child(id, 1), scope)));
      case NodeKind::compare:
        if (is_of_no_jump(id)) return scalar(pool.truth(false));
        return compare(node.op, number_of(tree_.child(id, 0), scope), number_of(tree_.child(id, 1), scope));
      case NodeKind::in_set:
        if (is_of_no_jump(id)) return scalar(pool.truth(false));
        return in_set(id, scope);
      case NodeKind::in_range: {
        if (is_of_no_jump(id)) return scalar(pool.truth(false));
        ExprId x = number_of(tree_.child(id, 0), scope);
        return scalar(between(number_of(tree_.child(id, 1), scope), x, number_of(tree_.child(id, 2), scope)));
      }
      case NodeKind::conditional: {
        ExprId condition = truth_of(tree_.child(id, 0), scope);
        // Check has looked only at what is chosen.
        if (const auto chosen = numbers_.truth(tree_.child(id, 0), counted_)) return child(*chosen ? 1 : 2);
        return component_wise(child(1), child(2),
                              [&](ExprId x, ExprId y) { return pool.make(Op::select, condition, x, y); });
      }
      case NodeKind::sum_over: {
        auto low = static_cast<long long>(constant_in(tree_.child(id, 0), scope));
        auto high = static_cast<long long>(constant_in(tree_.child(id, 1), scope));
        Value result{Shape::scalar(), {pool.constant(0)}, true};
        for (long long i = low; i <= high; ++i) {
          Scope inner{scope, node.name, number(static_cast<double>(i))};
          const check::Scope counted{counted_, node.name, {.number = static_cast<double>(i)}};
          result = component_wise(Op::add, result, evaluate_in(&counted, tree_.child(id, 2), &inner));
        }
        return result;
      }
      case NodeKind::index:
        return component(id, scope);
      case NodeKind::call:
        return call(id, scope);
      case NodeKind::string:
      case NodeKind::argument:
      case NodeKind::always:
      case NodeKind::eventually:
      case NodeKind::until:
        break;
    }
    TACTUS_CHECK(!"an expression that check let through");
    return number(0);
  }

  // v[i], m[i, j], v'[i]. Of a name that has its place nothing but the component is touched: a loop over all of them stays linear.
  Value component(NodeId id, const Scope* scope) {
    const parse::Node& node = tree_[id];
    const auto i = static_cast<std::uint32_t>(constant_in(tree_.child(id, 1), scope)) - 1;
    const auto j = node.child_count == 3 ? static_cast<std::uint32_t>(constant_in(tree_.child(id, 2), scope)) - 1 : 0;
    const auto part = [&](const Value& base) {
      return node.child_count == 3 ? scalar(base.items[i * base.shape.columns + j]) : row(base, i);
    };
    const NodeId whole = tree_.child(id, 0);
    if (const Value* kept = kept_value(whole, scope)) return part(*kept);
    if (tree_[whole].kind == NodeKind::prime) {
      if (const Value* kept = kept_value(tree_.child(whole, 0), scope))
        return derivative(part(*kept), tree_[whole].count, tree_[whole].span);
    }
    return part(evaluate(whole, scope));
  }

  // What a name means, where that is kept as it is; else nothing.
  const Value* kept_value(NodeId id, const Scope* scope) const {
    const parse::Node& node = tree_[id];
    if (node.kind != NodeKind::name) return nullptr;
    if (auto bound = check::find_binding(scope, node.name)) return &bound->what;
    const auto found = model_.find(node.name);
    if (reacting_ || !found || model_.symbols[*found].role == Role::constant) return nullptr;
    const Value& place = places_[found->value];
    return place.items.empty() ? nullptr : &place;
  }

  double constant_in(NodeId id, const Scope* scope) {
    ExprId value = number_of(id, scope);
    TACTUS_CHECK(flat_.pool.is_constant(value));
    return flat_.pool[value].number;
  }

  Value row(const Value& base, std::uint32_t i) {
    if (!base.shape.is_matrix()) return scalar(base.items[i]);
    Value result{Shape::vector(base.shape.columns), {}, false};
    for (std::uint32_t j = 0; j < base.shape.columns; ++j)
      result.items.push_back(base.items[i * base.shape.columns + j]);
    return result;
  }

  Value symbol_value(base::NameId name) {
    auto found = model_.find(name);
    // A sequence and a plan are an automaton and an event; as a value, the event.
    const bool is_value = found && model_.symbols[*found].role != Role::automaton;
    if (!is_value && model_.is_event(name)) return event_value(name);
    TACTUS_CHECK(found.has_value());
    const check::Symbol& symbol = model_.symbols[*found];
    if (symbol.role == Role::constant) return constant_value(*found);
    if (reacting_ && symbol.role == Role::behaviour) return behaviour_value(*found);
    if (auto passive = model_.passive.find(name); reacting_ && passive != model_.passive.end()) {
      if (++passive_depth_ > 200) {
        passive_depth_ = 0;
        reacting_ = false;
        diags_.report(symbol.span, handler_cycle, "`" + names_.text(name) + "` reads itself");
        return places_[found->value];
      }
      Value value = evaluate(tree_.behaviours[passive->second].value, nullptr);
      --passive_depth_;
      return value;
    }
    const Value& place = places_[found->value];
    // Only constants are evaluated before all else has its place; whatever it is, it is no constant.
    if (place.items.empty()) return {symbol.shape, std::vector<ExprId>(symbol.shape.size(), flat_.pool.time()), false};
    return place;
  }

  Value device_value(NodeId id) {
    const parse::Node& base = tree_[tree_.child(id, 0)];
    base::NameId name = names_.find(names_.text(base.name) + "." + names_.text(tree_[id].name));
    TACTUS_CHECK(name.valid());
    return symbol_value(name);
  }

  Value derivative(Value value, std::uint32_t count, base::Span span) {
    for (ExprId& item : value.items) {
      // A bare name needs no rules: x'' is x with two more primes.
      const expr::Node node = flat_.pool[item];
      if (node.op == Op::variable) {
        item = flat_.pool.variable(node.index, node.order + count);
        continue;
      }
      for (std::uint32_t k = 0; k < count && !flat_.pool.is_constant(item, 0); ++k) {
        ExprId obstacle;
        auto derived = symbolic::differentiate_in_time(flat_.pool, as_number(item), &obstacle,
                                                       [&](std::uint32_t d) { return flat::rate_of_delay(flat_, d); });
        if (!derived) {
          if (flat_.pool[obstacle].op == Op::noise)
            report_noise_differentiated(span);
          else
            diags_.report(span, input_twice_differentiated, flat_.input_names[flat_.pool[obstacle].index])
                .hint("give the second derivative an equation of its own, or filter the input");
          derived = flat_.pool.constant(0);
        }
        item = *derived;
      }
    }
    value.zero = false;
    return value;
  }

  void report_noise_differentiated(base::Span span) {
    diags_.report(span, noise_differentiated).hint("let it pass a filter, `T * y' + y = noise(1);`, and use y and y'");
  }

  Value product(const Value& a, const Value& b) {
    if (a.shape.is_matrix() && !b.shape.is_scalar() && !b.zero) return algebra_.multiply(a, b);
    return component_wise(Op::multiply, a, b);
  }

  Value compare(parse::Op op, ExprId a, ExprId b) {
    switch (op) {
      case parse::Op::less:
        return scalar(flat_.pool.make(Op::less, a, b));
      case parse::Op::less_equal:
        return scalar(flat_.pool.make(Op::less_equal, a, b));
      case parse::Op::greater:
        return scalar(flat_.pool.make(Op::less, b, a));
      case parse::Op::greater_equal:
        return scalar(flat_.pool.make(Op::less_equal, b, a));
      case parse::Op::equal:
        return scalar(flat_.pool.make(Op::equal, a, b));
      default:
        return scalar(flat_.pool.make(Op::not_equal, a, b));
    }
  }

  ExprId between(ExprId low, ExprId x, ExprId high) {
    return flat_.pool.make(Op::logical_and, flat_.pool.make(Op::less_equal, low, x),
                           flat_.pool.make(Op::less_equal, x, high));
  }

  // A plain vector used as a box is its bottom-left corner; the side is 50, as in seed 000 section 4.1.
  Value in_set(NodeId id, const Scope* scope) {
    Value point = evaluate(tree_.child(id, 0), scope);
    NodeId set = tree_.child(id, 1);
    bool is_box = tree_[set].kind == NodeKind::call && names_.text(tree_[tree_.child(set, 0)].name) == "box";
    Value corner = evaluate(is_box ? tree_.child(set, 1) : set, scope);
    Value size = is_box ? evaluate(tree_.child(set, 2), scope) : number(50);
    ExprId inside = flat_.pool.truth(true);
    for (std::uint32_t i = 0; i < point.items.size(); ++i) {
      ExprId low = corner.item(i);
      inside =
          flat_.pool.make(Op::logical_and, inside, between(low, point.items[i], flat_.pool.add(low, size.item(i))));
    }
    return scalar(inside);
  }

  Value call(NodeId id, const Scope* scope) {
    const parse::Node& node = tree_[id];
    if (auto table = model_.table_calls.find(id); table != model_.table_calls.end())
      return table_value(id, table->second, scope);
    base::NameId name = tree_[tree_.child(id, 0)].name;
    if (auto found = model_.find(name); found && model_.symbols[*found].role == Role::function) {
      const parse::Function& function = tree_.functions[model_.symbols[*found].declaration];
      std::vector<Scope> bindings(function.arguments.size());
      std::vector<check::Scope> counted(bindings.size());
      const Scope* inner = nullptr;
      const check::Scope* inner_counted = nullptr;
      for (std::uint32_t i = 0; i < bindings.size(); ++i) {
        const NodeId argument = tree_.child(id, i + 1);
        bindings[i] = {inner, function.arguments[i], evaluate(argument, scope)};
        counted[i] = {inner_counted, function.arguments[i], {.node = argument, .scope = counted_}};
        inner = &bindings[i];
        inner_counted = &counted[i];
      }
      return evaluate_in(inner_counted, function.value, inner);
    }
    const check::BuiltinRow* builtin = check::find_builtin(names_.text(name));
    TACTUS_CHECK(builtin != nullptr);
    std::vector<Value> arguments;
    for (std::uint32_t i = 1; i < node.child_count; ++i) arguments.push_back(evaluate(tree_.child(id, i), scope));
    return apply(*builtin, arguments, node.span);
  }

  Value apply(const check::BuiltinRow& builtin, std::vector<Value>& arguments, base::Span span) {
    expr::Pool& pool = flat_.pool;
    Value& first = arguments[0];
    auto each_by = [&](Op op) { return each(first, [&](ExprId x) { return pool.make(op, x); }); };
    switch (builtin.id) {
      case Builtin::sin:
        return each_by(Op::sin);
      case Builtin::cos:
        return each_by(Op::cos);
      case Builtin::tan:
        return each_by(Op::tan);
      case Builtin::asin:
        return each_by(Op::asin);
      case Builtin::acos:
        return each_by(Op::acos);
      case Builtin::atan:
        return each_by(Op::atan);
      case Builtin::square_root:
        return each_by(Op::square_root);
      case Builtin::exp:
        return each_by(Op::exp);
      case Builtin::log:
        return each_by(Op::log);
      case Builtin::absolute:
        return each_by(Op::absolute);
      case Builtin::floor:
        return each_by(Op::floor);
      case Builtin::ceil:
        return each_by(Op::ceil);
      case Builtin::sign:
        return each(first, [&](ExprId x) { return pool.sign(x); });
      case Builtin::atan2:
        return component_wise(Op::atan2, first, arguments[1]);
      case Builtin::power:
        return component_wise(Op::power, first, arguments[1]);
      case Builtin::minimum:
      case Builtin::maximum: {
        Value result = first;
        bool smallest = builtin.id == Builtin::minimum;
        for (std::size_t i = 1; i < arguments.size(); ++i) {
          result = component_wise(result, arguments[i], [&](ExprId x, ExprId y) {
            return smallest ? pool.minimum(x, y) : pool.maximum(x, y);
          });
        }
        return result;
      }
      case Builtin::clamp: {
        Value above = component_wise(first, arguments[1], [&](ExprId x, ExprId y) { return pool.maximum(x, y); });
        return component_wise(above, arguments[2], [&](ExprId x, ExprId y) { return pool.minimum(x, y); });
      }
      case Builtin::norm:
        return scalar(algebra_.norm(first));
      case Builtin::dot:
        return scalar(algebra_.dot(first, arguments[1]));
      case Builtin::cross:
        return algebra_.cross(first, arguments[1]);
      case Builtin::direction:
        return algebra_.direction(first);
      case Builtin::rotate:
        return arguments.size() == 2 ? algebra_.rotate(first, arguments[1].items[0])
                                     : algebra_.rotate(first, arguments[1], arguments[2].items[0]);
      case Builtin::proj:
        return algebra_.project(first, arguments[1]);
      case Builtin::distance:
        return scalar(algebra_.norm(component_wise(Op::subtract, first, arguments[1])));
      case Builtin::transpose:
        return algebra_.transpose(first);
      case Builtin::inverse:
        return algebra_.inverse(first);
      case Builtin::det:
        return scalar(algebra_.determinant(first));
      case Builtin::skew:
        return algebra_.skew(first);
      case Builtin::diag: {
        if (arguments.size() == 1) return algebra_.diagonal(first.items);
        std::vector<ExprId> items;
        for (const Value& argument : arguments) items.push_back(argument.items[0]);
        return algebra_.diagonal(items);
      }
      case Builtin::identity: {
        auto n = static_cast<std::size_t>(pool[first.items[0]].number);
        return algebra_.diagonal(std::vector<ExprId>(n, pool.constant(1)));
      }
      case Builtin::index:
        return row(first, static_cast<std::uint32_t>(pool[arguments[1].items[0]].number) - 1);
      case Builtin::integration:
        return integration(first, span);
      case Builtin::diff: {
        ExprId by = arguments[1].items[0];
        if (!expr::is_leaf(pool[by].op) || pool.is_constant(by)) {
          diags_.report(span, diff_by_expression).hint("write `diff(e, x)` with a variable, parameter or `t` for x");
          return first;
        }
        return each(first, [&](ExprId x) {
          const ExprId whole = follow_definitions(x, by, span);
          if (pool[whole].op == Op::variable && pool[whole].order == 0 && whole != by &&
              !definitions_.contains(pool[whole].index))
            bare_in_diff_.push_back({whole, by, span});
          auto derived = symbolic::differentiate(pool, whole, by);
          if (!derived) report_noise_differentiated(span);
          return derived.value_or(pool.constant(0));
        });
      }
      case Builtin::smooth: {
        Value result{first.shape, {}, false};
        for (ExprId item : first.items) result.items.push_back(smooth_(item));
        return result;
      }
      case Builtin::delay:
        return delay(first, as_number(arguments[1].items[0]), span);
      case Builtin::noise:
        return noise(arguments, span);
      case Builtin::next:
        return after_jump(std::move(first));
      case Builtin::at:
      case Builtin::since:
      case Builtin::box:
      case Builtin::table:
        break;
    }
    TACTUS_CHECK(!"a function that check let through");
    return number(0);
  }

  // integration(e): a state of its own that starts at zero.
  Value integration(const Value& integrand, base::Span span) {
    // Not a channel, and a name that nobody can write.
    const std::string name = fmt::format("integration {}", ++integrations_);
    const flat::VariableId first(flat_.variables.size());
    for (std::uint32_t i = 0; i < integrand.shape.size(); ++i)
      flat_.variables.push({component_name(name, integrand.shape, i), span});
    Value result{integrand.shape, {}, false};
    for (std::uint32_t i = 0; i < integrand.shape.size(); ++i) {
      flat_.equations.push({flat_.pool.variable(first.value + i, 1), as_number(integrand.items[i]), span,
                            integrand.shape.is_scalar() ? 0 : static_cast<int>(i) + 1});
      flat_.conditions.push_back({flat::VariableId(first.value + i), 0, flat_.pool.constant(0), false, true, span});
      result.items.push_back(flat_.pool.variable(first.value + i, 0));
    }
    return result;
  }

  // --- Data ------------------------------------------------------------------------------------------------------------

  Value delay(const Value& value, ExprId duration, base::Span span) {
    return each(value, [&](ExprId item) {
      flat::Delay made{{}, 0, duration, span};
      if (flat_.pool[item].op == Op::variable) {
        made.source = flat::VariableId(flat_.pool[item].index);
        made.order = flat_.pool[item].order;
      } else {
        auto [source, is_new] = delayed_.try_emplace(item);
        if (is_new) source->second = add_hidden(flat::print(flat_, item), item, span);
        made.source = source->second;
      }
      return flat::delayed(flat_, made);
    });
  }

  // Samples lie 1 / (2 bandwidth) apart, counted from t = 0.
  Value noise(const std::vector<Value>& arguments, base::Span span) {
    expr::Pool& pool = flat_.pool;
    const ExprId seed = as_number(arguments[0].items[0]);
    const ExprId bandwidth = arguments.size() > 1 ? as_number(arguments[1].items[0]) : pool.constant(10);
    if (!pool.is_constant(seed) || !std::isfinite(pool[seed].number)) {
      diags_.report(span, noise_not_static, "seed")
          .hint("write a number or a constant; a module takes it as a port: `ports x, seed;`");
      return number(0);
    }
    symbolic::Substitution begin(pool, [&](ExprId leaf) {
      return pool[leaf].op == Op::parameter ? pool.constant(flat_.parameters[pool[leaf].index].initial) : ExprId();
    });
    const ExprId known = begin(bandwidth);
    if (!pool.is_constant(known)) {
      diags_.report(span, noise_not_static, "bandwidth").hint("make it of numbers, constants and parameters");
    } else if (!(pool[known].number > 0)) {
      diags_.report(span, bandwidth_not_positive, expr::print_number(pool[known].number))
          .hint("write `noise(1, 50 [Hz])` for noise up to 50 cycles a second");
    }
    const ExprId phase = pool.multiply(pool.multiply(pool.constant(2), bandwidth), pool.time());
    return scalar(pool.noise(pool[seed].number, phase));
  }

  Value table_value(NodeId id, std::uint32_t index, const Scope* scope) {
    const check::Table& table = model_.tables[index];
    const std::vector<std::uint32_t>& columns = place_table(index);
    const Value x = evaluate(tree_.child(id, 1), scope);
    if (table.is_map) {
      return component_wise(x, evaluate(tree_.child(id, 2), scope),
                            [&](ExprId a, ExprId b) { return sampled(columns[0], a, b); });
    }
    if (columns.size() == 1) return each(x, [&](ExprId a) { return sampled(columns[0], a, {}); });
    Value result{Shape::vector(static_cast<std::uint32_t>(columns.size())), {}, false};
    for (std::uint32_t column : columns) result.items.push_back(sampled(column, as_number(x.items[0]), {}));
    return result;
  }

  // Known arguments give a known value, so that constants may be read from tables.
  ExprId sampled(std::uint32_t column, ExprId a, ExprId b) {
    expr::Pool& pool = flat_.pool;
    if (!pool.is_constant(a) || (b.valid() && !pool.is_constant(b)))
      return b.valid() ? pool.table_2(column, a, b) : pool.table(column, a);
    const flat::Table& from = flat_.tables[column];
    const tactus_table table{static_cast<std::uint32_t>(from.method),
                             static_cast<std::uint32_t>(from.x.size()),
                             static_cast<std::uint32_t>(from.y.size()),
                             from.x.data(),
                             from.y.data(),
                             from.values.data(),
                             from.slopes.data()};
    return pool.constant(b.valid() ? tk_table_2(&table, 0, 0, pool[a].number, pool[b].number)
                                   : tk_table(&table, 0, pool[a].number));
  }

  // The flat tables of a table's columns.
  const std::vector<std::uint32_t>& place_table(std::uint32_t index) {
    auto [placed, is_new] = placed_tables_.try_emplace(index);
    if (!is_new) return placed->second;
    const check::Table& table = model_.tables[index];
    const table::Samples& samples = table.samples;
    const std::string file = samples.file.substr(samples.file.find_last_of("/\\") + 1);
    for (std::size_t i = 0; i < samples.values.size(); ++i) {
      flat::Table made{file, table.method, samples.x, samples.y, samples.values[i], {}};
      if (samples.values.size() > 1)
        made.name += samples.names[i].empty() ? fmt::format("[{}]", i + 1) : fmt::format("[{}]", samples.names[i]);
      if (table.method == TACTUS_CUBIC) made.slopes = slopes_of(made);
      placed->second.push_back(static_cast<std::uint32_t>(flat_.tables.size()));
      flat_.tables.push_back(std::move(made));
    }
    return placed->second;
  }

  // Along x; in two dimensions along y, for each x.
  static std::vector<double> slopes_of(const flat::Table& table) {
    if (table.y.empty()) return table::monotone_slopes(table.x, table.values);
    std::vector<double> slopes;
    const std::size_t width = table.y.size();
    for (std::size_t row = 0; row < table.x.size(); ++row) {
      const auto of_row = table::monotone_slopes(table.y, std::span(table.values).subspan(row * width, width));
      slopes.insert(slopes.end(), of_row.begin(), of_row.end());
    }
    return slopes;
  }

  const check::Model& model_;
  const parse::Tree& tree_;
  const base::Names& names_;
  diag::Sink& diags_;
  check::Numbers numbers_;
  const check::Scope* counted_ = nullptr;  // what check knows of the names that are bound here
  flat::Model flat_;
  LinearAlgebra algebra_;
  symbolic::Rewrite smooth_{flat_.pool, [](ExprId) { return ExprId(); },
                            [this](const expr::Node& node, ExprId a, ExprId b, ExprId c) {
                              return flat_.pool.evaluated(flat_.pool.remake(node, a, b, c));
                            }};
  base::NameId time_;
  base::NameId pi_;
  std::unordered_map<std::string, std::uint32_t>
      pulses_;  // of events that are asked for as truth values: discrete scalars
  std::unordered_map<std::uint32_t, std::uint32_t> nexts_;  // by variable, the one that is its value after a jump
  std::vector<Value> places_;                               // by symbol
  std::vector<bool> evaluating_;
  std::vector<Sides> sides_;  // by equation of the tree
  // For diff(e, x), once it stands somewhere.
  bool has_definitions_ = false;
  std::unordered_map<std::uint32_t, Definition> definitions_;  // by variable: the first equation v = e, or else e = v
  std::set<std::uint32_t> coordinates_;                        // variables whose derivatives are written
  std::set<std::uint32_t> held_;                               // those of them of which that was said
  struct BareInDiff {
    ExprId leaf, by;
    base::Span span;
  };
  std::vector<BareInDiff> bare_in_diff_;
  int integrations_ = 0;
  std::unordered_map<ExprId, flat::VariableId> delayed_;                         // hidden variables, by what they are
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> placed_tables_;  // by index in model_.tables
  // While checks are worked out.
  static constexpr std::uint32_t nobody = 0xffffffffu;         // events are what they are
  static constexpr std::uint32_t nothing_jumps = 0xfffffffeu;  // no transition happens, and next(..) is nothing
  std::uint32_t jumping_ = nobody;                             // of the tree's transitions the one that happens, alone
  std::vector<Verdict> verdicts_;
  std::unordered_map<ExprId, std::uint32_t> before_;  // by leaf, the discrete value that remembers it
  std::unordered_map<std::uint32_t, std::uint32_t>
      next_discretes_;  // by variable, the discrete value that it is after a jump
  std::optional<std::uint32_t> over_, noted_;
  // While an event is worked out.
  bool reacting_ = false;
  int passive_depth_ = 0;
  std::unordered_map<std::uint32_t, Handling> handlers_;  // by symbol
  std::vector<SymbolId> open_handlers_;
  std::vector<SymbolId> done_handlers_;  // in data-flow order
};

}  // namespace

flat::Model flatten(const check::Model& model, const base::Names& names, diag::Sink& diags, Axioms axioms) {
  return Flattener(model, names, diags).run(axioms);
}

}  // namespace flatten
