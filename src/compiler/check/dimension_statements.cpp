#include "compiler/check/dimension_statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/check/drawings.h"
#include "compiler/check/events.h"
#include "compiler/check/expression_dimensions.h"

namespace check {
namespace {

using parse::NodeId;
using parse::NodeKind;

class Statements {
 public:
  Statements(Model& model, base::Names& names, DimensionSystem& system, ToldPlaces& told, diag::Sink& diags)
      : model_(model),
        tree_(*model.tree),
        names_(names),
        system_(system),
        expressions_(model, names, system, told, diags) {}

  void collect() {
    for (std::size_t i = 0; i < model_.symbols.size(); ++i) collect_declaration(SymbolId(i));
    for (const parse::Condition& condition : tree_.conditions) {
      relate(Origin::start, condition.variable, condition.value);
      expressions_.need_time(condition.time, "the time of a start");
    }
    for (const parse::Equation& equation : tree_.equations)
      // Of the book, sums of energies are in their unit; its rates are made of ports, which are checked where they stand.
      if (!equation.is_of_book || tree_[equation.left].kind == NodeKind::name)
        relate(Origin::equation, equation.left, equation.right);
    for (std::uint32_t i = 0; i < tree_.transitions.size(); ++i) collect_transition(i);
    for (const parse::Equation& invariant : tree_.invariants) relate(Origin::equation, invariant.left, invariant.right);
    for (std::size_t i = 0; i < model_.plans.size(); ++i) collect_plan(i);
    for (const parse::Property& property : tree_.properties) {
      expressions_.evaluate(property.formula, {});
      collect_bounds(property.formula);
    }
    for (const parse::Must& must : tree_.musts) expressions_.evaluate(must.condition, {});
    for (const parse::Automaton& automaton : tree_.automata) {
      for (const parse::AutomatonStart& start : automaton.starts)
        if (start.condition.valid()) expressions_.evaluate(start.condition, {});
    }
    for (const Port& port : model_.ports) {
      if (port.value.valid()) define(port.symbol, port.value);
    }
    for (const parse::Setting& setting : tree_.settings) collect_setting(setting);
    for (const parse::External& external : tree_.externals) {
      if (external.period.valid()) expressions_.need_time(external.period, "the period of an external");
      for (const parse::ObservedEvent& event : external.events) {
        if (event.rate.valid() && !is_frequency(tree_, event.rate))
          expressions_.need_time(event.rate, "the period of an event");
        if (event.time.valid()) expressions_.need_time(event.time, "the time of an event");
      }
    }
    for (const parse::Event& event : tree_.events) collect_event(event);
    for (const parse::Behaviour& behaviour : tree_.behaviours) collect_behaviour(behaviour);
    for (const Drawing& drawing : model_.drawings) collect_drawing(drawing);
    for (const parse::Energy& energy : tree_.energies)
      system_.works.push_back({expressions_.evaluate(energy.variable, {}).item(0), energy.variable});
    for (const parse::Power& power : tree_.powers) collect_power(power);
  }

  // What an instance gives to a parameter is measured as the module's default is; a bare number takes that dimension.
  void collect_given(const parse::Given& given) {
    const DimensionValue declared = expressions_.evaluate(given.declared, {});
    if (!declared.item(0).is_rigid()) return;
    const Origin origin{Origin::given, given.declared, given.value, names_.text(given.parameter)};
    const DimensionValue value = expressions_.evaluate(given.value, {});
    if (value.items.size() == 1 && value.item(0).is_rigid())
      system_.constrain(origin, declared.item(0), value.item(0));
    else if (const auto own = given.name.valid() ? model_.find(given.name) : std::nullopt)
      system_.constrain(origin, declared.item(0), system_.unknown_of(*own, 0));
  }

 private:
  void collect_power(const parse::Power& power) {
    const DimensionValue in = expressions_.evaluate(power.in, {});
    const DimensionValue out = expressions_.evaluate(power.out, {});
    for (std::uint32_t i = 0; i < in.items.size() && i < out.items.size(); ++i) {
      if (in.items[i].is_rigid() && out.items[i].is_rigid())
        system_.works.push_back({times(in.items[i], out.items[i], {1, 1}), power.in, power.out});
    }
  }

  void collect_transition(std::uint32_t index) {
    const parse::Transition& item = tree_.transitions[index];
    if (item.condition.valid()) expressions_.evaluate(item.condition, {});
    for (const parse::Equation& equation : item.jump.equations) relate(Origin::equation, equation.left, equation.right);
    for (std::size_t i = 0; i < item.jump.unknowns.size(); ++i) {
      if (item.jump.unknowns[i].guess.valid())
        define(model_.transitions[index].unknowns[i], item.jump.unknowns[i].guess);
    }
  }

  void collect_plan(std::size_t index) {
    const parse::PlanProblem& problem = tree_.problems[index];
    for (std::size_t i = 0; i < problem.chosen.size(); ++i)
      define(model_.plans[index].chosen[i], problem.chosen[i].value);
    for (const parse::PlanProblem::Phase& phase : problem.phases) {
      expressions_.need_time(phase.duration, "the time of a phase");
      for (const parse::Target& target : phase.targets) relate(Origin::equation, target.left, target.right);
    }
  }

  void collect_bounds(NodeId id) {
    const parse::Node& node = tree_[id];
    const bool is_until = node.kind == NodeKind::until;
    if (is_until || node.kind == NodeKind::always || node.kind == NodeKind::eventually) {
      for (std::uint32_t i = is_until ? 2 : 1; i < node.child_count; ++i)
        expressions_.need_time(tree_.child(id, i), "a bound of a formula");
    }
    for (const parse::Child& child : tree_.children_of(id)) collect_bounds(child.node);
  }

  void collect_event(const parse::Event& event) {
    if (event.period.valid()) expressions_.need_time(event.period, "the period of an event");
    if (event.from.valid()) expressions_.need_time(event.from, "the first tick of an event");
    for (NodeId time : event.times) expressions_.need_time(time, "the time of an event");
    if (event.condition.valid()) expressions_.evaluate(event.condition, {});
  }

  // A behaviour has one dimension: of its first value and of what every handler gives it.
  void collect_behaviour(const parse::Behaviour& behaviour) {
    const SymbolId symbol = *model_.find(behaviour.name);
    if (behaviour.value.valid()) return define(symbol, behaviour.value);
    define(symbol, behaviour.start);
    DimensionValue own{model_.symbols[symbol].shape, {}, false};
    for (std::uint32_t i = 0; i < own.shape.size(); ++i) own.items.push_back(system_.unknown_of(symbol, i));
    const Binding<DimensionValue> bound{nullptr, behaviour.own, own};
    DimensionFrame frame;
    if (behaviour.own.valid()) frame.values = &bound;
    for (const parse::Handler& handler : behaviour.handlers) define(symbol, handler.value, frame);
  }

  // Places and lengths of one drawing are measured alike, component by component; numbers spread.
  void collect_drawing(const Drawing& drawing) {
    std::vector<std::pair<NodeId, DimensionValue>> lengths;
    std::uint32_t count = 0;
    for (const DrawnOption& option : drawing.options) {
      for (NodeId value : option.values) {
        DimensionValue dimensions = expressions_.evaluate(value, {});
        if (option.name == "rotation") expressions_.need_pure(dimensions, value, "a rotation");
        if (!is_length(option.name)) continue;
        count = std::max(count, static_cast<std::uint32_t>(dimensions.items.size()));
        lengths.emplace_back(value, std::move(dimensions));
      }
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      Agreement agreement(system_, {Origin::drawing, {}, {}, drawing.kind, count > 1 ? i + 1 : 0}, i);
      for (const auto& [node, dimensions] : lengths) {
        if (dimensions.items.size() == 1 || i < dimensions.items.size()) agreement.add(node, dimensions.item(i));
      }
    }
  }

  void collect_declaration(SymbolId id) {
    const Symbol& symbol = model_.symbols[id];
    if (symbol.role == Role::constant) define(id, tree_.constants[symbol.declaration].value);
    if (symbol.role != Role::parameter) return;
    const parse::Parameter& parameter = tree_.parameters[symbol.declaration];
    define(id, parameter.value);
    for (NodeId end : {parameter.low, parameter.high}) {
      if (!end.valid()) continue;
      const DimensionValue value = expressions_.evaluate(end, {});
      const NodeId against = value.item(0).is_rigid() ? parameter.value : NodeId();
      if (against.valid())
        system_.constrain({Origin::range, end, against, {}}, value.item(0), system_.unknown_of(id, 0));
    }
  }

  // The symbol has the dimensions of its value; of bare numbers it has whatever its uses ask for.
  void define(SymbolId id, NodeId node, const DimensionFrame& frame = {}) {
    const DimensionValue value = expressions_.evaluate(node, frame);
    for (std::uint32_t i = 0; i < model_.symbols[id].shape.size(); ++i) {
      if (!value.item(i).is_rigid()) continue;
      const std::string& name = names_.text(model_.symbols[id].name);
      system_.constrain({Origin::definition, node, {}, name, component_of(value, i)}, system_.unknown_of(id, i),
                        value.item(i));
    }
    keep_written_unit(id, node);
  }

  // `f = 50 [Hz]` is shown in Hz, not in 1/s, if that is what the number is kept in.
  void keep_written_unit(SymbolId id, NodeId node) {
    while (tree_[node].kind == NodeKind::negate) node = tree_.child(node, 0);
    if (tree_[node].kind != NodeKind::number || tree_[node].unit == 0) return;
    const parse::Unit& unit = tree_.units[tree_[node].unit];
    if (unit.measure.dimension.pure() || parse::to_si(1, unit.measure.scale) != 1) return;
    std::string& text = model_.symbols[id].written_unit;
    text.clear();
    for (char c : unit.text) {
      if (c != ' ' && c != '\t' && c != '\n' && c != '\r') text += c;
    }
  }

  void collect_setting(const parse::Setting& setting) {
    const std::string& name = names_.text(setting.name);
    if (name == "starting_time" || name == "ending_time" || name == "step_size" || name == "record_period")
      expressions_.need_time(setting.value, fmt::format("`{}`", name));
    else if (name == "tolerance")
      expressions_.need(setting.value, {}, fmt::format("`{}`", name), "has no unit");
  }

  void relate(Origin::Kind kind, NodeId left, NodeId right) {
    const DimensionValue a = expressions_.evaluate(left, {});
    const DimensionValue b = expressions_.evaluate(right, {});
    const DimensionValue& longer = a.items.size() >= b.items.size() ? a : b;
    for (std::uint32_t i = 0; i < longer.items.size(); ++i) {
      Agreement agreement(system_, {kind, {}, {}, {}, component_of(longer, i)}, i);
      agreement.add(left, a.item(i));
      agreement.add(right, b.item(i));
    }
    if (kind == Origin::equation && tree_[left].kind == NodeKind::name) {
      if (auto found = model_.find(tree_[left].name); found && model_.symbols[*found].shape.is_scalar())
        keep_written_unit(*found, right);
    }
  }

  Model& model_;
  const parse::Tree& tree_;
  const base::Names& names_;
  DimensionSystem& system_;
  ExpressionDimensions expressions_;
};

}  // namespace

void collect_dimensions(Model& model, base::Names& names, std::span<const parse::Given> given, DimensionSystem& system,
                        ToldPlaces& told, diag::Sink& diags) {
  Statements statements(model, names, system, told, diags);
  statements.collect();
  for (const parse::Given& each : given) statements.collect_given(each);
}

}  // namespace check
