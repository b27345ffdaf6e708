#include "compiler/expand/items.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "compiler/expand/energies.h"
#include "compiler/expand/expressions.h"
#include "compiler/expand/grounds.h"
#include "compiler/expand/jumps.h"
#include "compiler/expand/numbers.h"
#include "compiler/expand/paths.h"

namespace expand {
namespace {

using parse::NodeKind;

class Items {
 public:
  explicit Items(Program& program)
      : program_(program),
        tree_(program.tree),
        names_(program.names),
        expressions_(program),
        jumps_(program, expressions_),
        energies_(program, expressions_) {}

  void write(Scope& top) {
    for (Scope* instance : program_.instances) find_mode(*instance);
    for (parse::External& external : tree_.externals) expand_external(external, top);
    for (parse::Setting& setting : tree_.settings) {
      if (tree_[setting.value].kind != NodeKind::name) setting.value = expressions_.expand(setting.value, top, nullptr);
    }
    emit(top, program_.items, nullptr, {});
    for (Scope* instance : program_.instances) emit_instance(*instance);
    energies_.write_joins();
    while (emit_wanted()) {
    }
    // Drawn in the order of their lines, whatever instance or turn of a loop they are of.
    sort_by_place(tree_.drawings);
    // The first transition that is enabled is the first in the text.
    sort_by_place(tree_.transitions);
    tree_.jumps.clear();
  }

 private:
  template <class Item>
  static void sort_by_place(std::vector<Item>& items) {
    std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
      return std::pair(a.span.file, a.span.begin) < std::pair(b.span.file, b.span.begin);
    });
  }

  // Parents come before their instances.
  void find_mode(Scope& scope) {
    scope.mode = scope.parent->mode;
    for (auto written = scope.modes.rbegin(); written != scope.modes.rend(); ++written)
      scope.mode = expressions_.both(scope.mode, expressions_.expand(*written, *scope.parent, scope.counters()));
  }

  void expand_external(parse::External& external, Scope& scope) {
    for (std::vector<parse::Access>* list : {&external.reads, &external.writes}) {
      for (parse::Access& access : *list) {
        if (!access.value.valid()) access.variable = expressions_.expand(access.variable, scope, nullptr);
        access.value = expressions_.expand(access.value, scope, nullptr);
      }
    }
    for (parse::ObservedEvent& event : external.events) {
      event.rate = expressions_.expand(event.rate, scope, nullptr);
      event.time = expressions_.expand(event.time, scope, nullptr);
    }
    external.period = expressions_.expand(external.period, scope, nullptr);
  }

  void emit_instance(Scope& scope) {
    if (program_.is_too_large) return;
    for (const parse::ModulePort& port : scope.module->ports) {
      Found found = find_own(scope, port.name);
      NodeId value = expressions_.bound_to(port.name, found);
      if (!port.shape.valid()) continue;
      if (!value.valid()) value = expressions_.add_name(scope.prefix + names_.text(port.name), port.span);
      tree_.shapes.push_back({port.span, value, expressions_.expand(port.shape, scope, nullptr)});
    }
    for (const parse::Parameter& parameter : scope.body->parameters)
      expressions_.bound_to(parameter.name, find_own(scope, parameter.name));
    emit(scope, *scope.body, nullptr, scope.mode);
  }

  // Constants, parameters and functions of used files that something reads. Whether there were any.
  bool emit_wanted() {
    bool any = false;
    for (std::size_t i = 0; i < program_.scopes.size(); ++i) {
      Scope& scope = *program_.scopes[i];
      if (!scope.is_file) continue;
      auto is_due = [&](NameId name) {
        Entry& entry = scope.entries.at(name);
        if (!entry.is_wanted || entry.is_emitted) return false;
        return any = entry.is_emitted = true;
      };
      for (const parse::Constant& item : scope.body->constants)
        if (is_due(item.name)) emit_constant(item, scope);
      for (const parse::Parameter& item : scope.body->parameters)
        if (is_due(item.name)) emit_parameter(item, scope);
      for (const parse::Function& item : scope.body->functions)
        if (is_due(item.name)) emit_function(item, scope);
    }
    return any;
  }

  void emit_constant(parse::Constant item, Scope& scope) {
    item.name = program_.full_name(scope, item.name);
    item.value = expressions_.expand(item.value, scope, nullptr);
    tree_.constants.push_back(item);
  }

  void emit_parameter(parse::Parameter item, Scope& scope) {
    Entry& entry = find_own(scope, item.name).entry[0];
    const bool is_given = entry.argument.valid();
    const NodeId bound = expressions_.bound_to(item.name, find_own(scope, item.name));
    if (bound.valid()) {
      if (is_given) note_given(item, {}, bound);
      return;
    }
    if (is_given) {
      Scope& parent = *scope.parent;
      const NameId own = program_.full_name(scope, item.name);
      if (!number(program_, entry.argument, parent, scope.counters(), entry.is_fixed))  // it has an equation
        return note_given(item, own, expressions_.add_name(names_.text(own), tree_[entry.argument].span));
      const NodeId value = expressions_.expand(entry.argument, parent, scope.counters());
      note_given(item, own, value);
      item.value = value;
    } else {
      item.value = expressions_.expand(item.value, scope, nullptr);
    }
    item.name = program_.full_name(scope, item.name);
    if (entry.is_fixed) {
      tree_.constants.push_back({item.span, item.name, item.name_span, item.value});
      return;
    }
    item.low = expressions_.expand(item.low, scope, nullptr);
    item.high = expressions_.expand(item.high, scope, nullptr);
    tree_.parameters.push_back(item);
  }

  // What a parameter is given is measured as its default is, where that is made of literals with units.
  void note_given(const parse::Parameter& item, NameId own, NodeId value) {
    if (program_.given && is_measured(item.value)) program_.given->push_back({item.name, item.value, value, own});
  }

  bool is_measured(NodeId id) const {
    std::vector<NodeId> open{id};
    bool has_unit = false;
    while (!open.empty()) {
      const parse::Node& node = tree_[open.back()];
      const NodeId at = open.back();
      open.pop_back();
      if (node.kind == NodeKind::name || node.kind == NodeKind::member) return false;
      has_unit = has_unit || node.unit != 0;
      for (const parse::Child& child : tree_.children_of(at)) open.push_back(child.node);
    }
    return has_unit;
  }

  void emit_function(parse::Function item, Scope& scope) {
    std::deque<Local> arguments;
    for (NameId argument : item.arguments)
      arguments.push_back({arguments.empty() ? nullptr : &arguments.back(), argument, std::nullopt});
    item.name = program_.full_name(scope, item.name);
    item.value = expressions_.expand(item.value, scope, arguments.empty() ? nullptr : &arguments.back());
    tree_.functions.push_back(std::move(item));
  }

  // `mode`: what the `in` blocks around demand, written out; not valid: nothing.
  void emit(Scope& scope, const Body& body, const Local* locals, NodeId mode) {
    if (program_.is_too_large) return;
    for (const parse::Constant& item : body.constants) emit_constant(item, scope);
    for (const parse::Parameter& item : body.parameters) emit_parameter(item, scope);
    for (const parse::Function& item : body.functions) emit_function(item, scope);
    for (const parse::Condition& item : body.conditions) emit_condition(item, scope, locals);
    for (const parse::Equation& item : body.equations) emit_equation(item, scope, locals, mode);
    for (const parse::Event& item : body.events) {
      one_or_many(program_, item.family, item.name, scope, locals,
                  [&](const Local* inner, NameId name) { emit_event(item, name, scope, inner, mode); });
    }
    for (const parse::Behaviour& item : body.behaviours) {
      one_or_many(program_, item.family, item.name, scope, locals,
                  [&](const Local* inner, NameId name) { emit_behaviour(item, name, scope, inner); });
    }
    for (const parse::Drawing& item : body.drawings) emit_drawing(item, scope, body, locals);
    for (const parse::Loop& loop : body.loops) {
      repeat(program_, loop.low, loop.high, loop.name, scope, locals,
             [&](const Local* inner, long long) { emit(scope, program_.bodies[loop.body], inner, mode); });
    }
    emit_hybrid(scope, body, locals, mode);
    energies_.expand(body, scope, locals, mode);
    for (const parse::InBlock& block : body.in_blocks) {
      const NodeId inner = expressions_.both(mode, expressions_.expand(block.condition, scope, locals));
      emit(scope, program_.bodies[block.body], locals, inner);
    }
  }

  void emit_hybrid(Scope& scope, const Body& body, const Local* locals, NodeId mode) {
    for (const parse::Automaton& item : body.automata) {
      one_or_many(program_, item.family, item.name, scope, locals, [&](const Local* inner, NameId name) {
        parse::Automaton made = item;
        made.name = name;
        made.family = {};
        for (parse::AutomatonStart& start : made.starts)
          start.condition = expressions_.expand(start.condition, scope, inner);
        tree_.automata.push_back(std::move(made));
      });
    }
    for (parse::Must item : body.musts) {
      item.mode = expressions_.both(mode, expressions_.expand(item.mode, scope, locals));
      item.condition = expressions_.expand(item.condition, scope, locals);
      tree_.musts.push_back(std::move(item));
    }
    for (const parse::Transition& item : body.transitions) {
      one_or_many(program_, item.family, item.name, scope, locals, [&](const Local* inner, NameId name) {
        parse::Transition made = item;
        emit_head(made, name, scope, inner, inner, mode);
        tree_.transitions.push_back(std::move(made));
      });
    }
    for (const parse::Sequence& item : body.sequences) {
      one_or_many(program_, item.family, item.name, scope, locals, [&](const Local* inner, NameId name) {
        parse::Sequence made = item;
        emit_head(made, name, scope, inner, inner, mode);
        for (std::size_t i = 0; i < made.phases.size(); ++i) {
          made.phases[i].until = expressions_.expand(made.phases[i].until, scope, inner);
          made.phases[i].jump = jumps_.expand(made.phases[i].jump, phase_name(name, i), scope, inner);
        }
        tree_.sequences.push_back(std::move(made));
      });
    }
    for (const parse::Plan& item : body.plans) {
      one_or_many(program_, item.family, item.name, scope, locals,
                  [&](const Local* inner, NameId name) { emit_plan(item, name, scope, inner, mode); });
    }
    for (const parse::Equation& item : body.invariants) {
      const NodeId left = expressions_.expand(item.left, scope, locals);
      tree_.invariants.push_back({item.span, left, expressions_.expand(item.right, scope, locals), {}, mode});
    }
    for (parse::Property item : body.properties) {
      if (item.name.valid()) item.name = program_.full_name(scope, item.name);
      item.formula = expressions_.expand(item.formula, scope, locals);
      tree_.properties.push_back(item);
    }
  }

  std::string phase_name(NameId name, std::size_t phase) const {
    return fmt::format("{}.phase{}", names_.text(name), phase + 1);
  }

  // What is chosen goes by the plan's name, `Fire.v`, in its jumps, durations and targets.
  void emit_plan(parse::Plan item, NameId name, Scope& scope, const Local* locals, NodeId mode) {
    std::deque<Local> bound;
    for (parse::Chosen& chosen : item.chosen) {
      const NameId full = program_.names.intern(fmt::format("{}.{}", names_.text(name), names_.text(chosen.name)));
      chosen.value = expressions_.expand(chosen.value, scope, locals);
      bound.push_back({bound.empty() ? locals : &bound.back(), chosen.name, std::nullopt, full});
      chosen.name = full;
    }
    const Local* inner = bound.empty() ? locals : &bound.back();
    emit_head(item, name, scope, locals, inner, mode);
    for (std::size_t i = 0; i < item.phases.size(); ++i) {
      parse::PlanPhase& phase = item.phases[i];
      phase.duration = expressions_.expand(phase.duration, scope, inner);
      for (parse::Target& target : phase.targets) {
        target.left = expressions_.expand(target.left, scope, inner);
        target.right = expressions_.expand(target.right, scope, inner);
      }
      phase.jump = jumps_.expand(phase.jump, phase_name(name, i), scope, inner);
    }
    item.otherwise = jumps_.expand(item.otherwise, names_.text(name) + ".failed", scope, locals);
    tree_.plans.push_back(std::move(item));
  }

  // The head and the first jump of a transition, sequence or plan. `inner`: what the jump sees.
  void emit_head(parse::Transition& item, NameId name, Scope& scope, const Local* locals, const Local* inner,
                 NodeId mode) {
    item.name = name;
    item.family = {};
    item.mode = expressions_.both(mode, expressions_.expand(item.mode, scope, locals));
    item.condition = expressions_.expand(item.condition, scope, locals);
    item.jump = jumps_.expand(item.jump, names_.text(name), scope, inner);
  }

  void emit_equation(const parse::Equation& item, Scope& scope, const Local* locals, NodeId mode) {
    if (!item.left.valid() || called_module(program_, item, scope)) return;
    if (!item.family.valid()) {
      const NodeId left = expressions_.expand(item.left, scope, locals);
      tree_.equations.push_back({item.span, left, expressions_.expand(item.right, scope, locals), {}, mode});
      return;
    }
    one_or_many(program_, item.family, tree_[item.left].name, scope, locals, [&](const Local* inner, NameId name) {
      const NodeId left = expressions_.add_name(names_.text(name), tree_[item.left].span);
      tree_.equations.push_back({item.span, left, expressions_.expand(item.right, scope, inner), {}, mode});
    });
  }

  void emit_condition(const parse::Condition& item, Scope& scope, const Local* locals) {
    parse::Condition made = item;
    made.variable = expressions_.expand(item.variable, scope, locals);
    made.time = expressions_.expand(item.time, scope, locals);
    made.value = expressions_.expand(item.value, scope, locals);
    NodeId base = made.variable;
    const bool is_primed = tree_[base].kind == NodeKind::prime;
    if (is_primed) base = tree_.child(base, 0);
    if (tree_[base].kind != NodeKind::tuple) {
      tree_.conditions.push_back(made);
      return;
    }
    // A family, or a port that is a tuple: a condition for each part.
    const std::uint32_t count = tree_[base].child_count;
    const NodeId value = made.value;
    for (std::uint32_t i = 0; i < count; ++i) {
      parse::Child part{tree_.child(base, i)};
      if (is_primed) {
        parse::Node prime = tree_[made.variable];
        prime.count = tree_[item.variable].count;
        part.node = expressions_.add(prime, {&part, 1});
      }
      parse::Condition component = made;
      component.variable = part.node;
      if (tree_[value].kind == NodeKind::tuple && tree_[value].child_count == count) {
        component.value = tree_.child(value, i);
      } else if ((tree_[value].kind != NodeKind::number || tree_[value].number != 0) &&
                 !is_parameter(item.value, scope)) {
        const parse::Child children[] = {{value}, {expressions_.add_number(i + 1, tree_[value].span)}};
        component.value = expressions_.add({.kind = NodeKind::index, .span = tree_[value].span}, children);
      }
      tree_.conditions.push_back(component);
    }
  }

  // A parameter that is a number of its own: as a start it spreads over all parts.
  bool is_parameter(NodeId id, Scope& scope) {
    if (tree_[id].kind != NodeKind::name) return false;
    Found found = find(scope, tree_[id].name);
    return found.entry && found.entry->what == What::parameter && !expressions_.bound_to(tree_[id].name, found).valid();
  }

  void emit_event(parse::Event item, NameId name, Scope& scope, const Local* locals, NodeId mode) {
    item.name = name;
    item.family = {};
    item.period = expressions_.expand(item.period, scope, locals);
    item.from = expressions_.expand(item.from, scope, locals);
    item.condition = expressions_.expand(item.condition, scope, locals);
    if (item.kind == parse::EventKind::when) item.condition = expressions_.both(mode, item.condition);
    for (NodeId& time : item.times) time = expressions_.expand(time, scope, locals);
    tree_.events.push_back(std::move(item));
  }

  // A behaviour that is a port is what the call gives when that is a name; any other reference equals it.
  NameId behaviour_name(const parse::Behaviour& item, NameId name, Scope& scope) {
    if (item.family.valid() || !is_port(scope, item.name)) return name;
    const NodeId bound = expressions_.bound_to(item.name, find_own(scope, item.name));
    if (!bound.valid()) return name;
    if (tree_[bound].kind == NodeKind::name) return tree_[bound].name;
    tree_.equations.push_back(
        {item.span, bound, expressions_.add_name(names_.text(name), item.name_span), {}, scope.mode});
    return name;
  }

  void emit_behaviour(parse::Behaviour item, NameId name, Scope& scope, const Local* locals) {
    item.name = behaviour_name(item, name, scope);
    item.family = {};
    item.start = expressions_.expand(item.start, scope, locals);
    item.value = expressions_.expand(item.value, scope, locals);
    const Local own{locals, item.own, std::nullopt};
    for (parse::Handler& handler : item.handlers) {
      handler.event = expressions_.expand(handler.event, scope, locals);
      handler.value = expressions_.expand(handler.value, scope, item.own.valid() ? &own : locals);
    }
    tree_.behaviours.push_back(std::move(item));
  }

  void emit_drawing(parse::Drawing item, Scope& scope, const Body& body, const Local* locals) {
    sample_ground(program_, expressions_, item, scope, body);
    for (NodeId& value : item.values) value = expressions_.expand(value, scope, locals);
    for (parse::DrawingOption& option : item.options) option.value = expressions_.expand(option.value, scope, locals);
    tree_.drawings.push_back(std::move(item));
  }

  Program& program_;
  parse::Tree& tree_;
  const base::Names& names_;
  Expressions expressions_;
  Jumps jumps_;
  Energies energies_;
};

}  // namespace

void write_items(Program& program, Scope& top) { Items(program).write(top); }

}  // namespace expand
