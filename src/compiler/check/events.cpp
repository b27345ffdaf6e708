#include "compiler/check/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.h"
#include "compiler/check/diagnostics.h"
#include "compiler/check/guards.h"
#include "compiler/check/numbers.h"
#include "compiler/check/read_names.h"
#include "compiler/parse/parse.h"

namespace check {
namespace {

using parse::NodeId;
using parse::NodeKind;

class EventReader {
 public:
  EventReader(Model& model, base::Names& names, diag::Sink& diags)
      : model_(model),
        tree_(*model.tree),
        names_(names),
        diags_(diags),
        numbers_(model, names),
        read_names_(
            model, names, [this](NodeId id, const BoundNames* scope) { report_unknown(id, scope); },
            [this](NodeId call, std::string_view function) {
              diags_.report(tree_[call].span, not_in_handler, fmt::format("`{}`", function))
                  .hint("give it an equation under `system`, and read its name here");
            }) {}

  void run() {
    for (const parse::Event& event : tree_.events) add(event);
    for (std::uint32_t i = 0; i < tree_.transitions.size(); ++i) add_transition(i);
    for (const parse::External& external : tree_.externals) {
      for (const parse::ObservedEvent& event : external.events) add_observed(event);
    }
    Guards guards(model_, names_, diags_);
    for (const Event& event : model_.events) {
      if (event.kind != parse::EventKind::when) continue;
      read_names_(event.condition);
      guards.read_equalities(event.condition, "the event");
    }
    for (const parse::Behaviour& behaviour : tree_.behaviours) read_behaviour(behaviour);
  }

 private:
  Event* find(base::NameId name) {
    auto found = model_.event_by_name.find(name);
    return found == model_.event_by_name.end() ? nullptr : &model_.events[found->second];
  }

  // By an equation, or a start.
  bool is_defined(base::NameId name) const {
    const auto is_it = [&](NodeId id) {
      while (id.valid() && (tree_[id].kind == NodeKind::prime || tree_[id].kind == NodeKind::index))
        id = tree_.child(id, 0);
      return id.valid() && tree_[id].kind == NodeKind::name && tree_[id].name == name;
    };
    return std::any_of(tree_.equations.begin(), tree_.equations.end(),
                       [&](const parse::Equation& equation) { return is_it(equation.left); }) ||
           std::any_of(tree_.conditions.begin(), tree_.conditions.end(),
                       [&](const parse::Condition& condition) { return is_it(condition.variable); });
  }

  double number(NodeId id, std::string_view what, base::Span span) {
    auto value = numbers_.value(id);
    if (value && std::isfinite(*value)) return *value;
    diags_.report(span, not_constant, what).hint("write a number or constants");
    return 1;
  }

  // Whether nothing else goes by this name; else reports.
  template <class Item>
  bool is_free(const Item& item) {
    if (const Event* before = find(item.name)) {
      diags_.report(item.name_span, declared_twice, names_.text(item.name))
          .related(before->span, "declared here before");
      return false;
    }
    if (auto symbol = model_.find(item.name); symbol && model_.symbols[*symbol].role != Role::automaton) {
      if (model_.symbols[*symbol].role == Role::variable && !is_defined(item.name)) {
        diags_.report(model_.symbols[*symbol].span, not_a_value, fmt::format("the event `{}`", names_.text(item.name)))
            .hint(
                "an event has no duration; a behaviour remembers it: `reactive n = init a = 0 in {{ {} => a + 1 }}`, "
                "and "
                "equations read `n`",
                names_.text(item.name));
        return false;
      }
      diags_.report(item.name_span, declared_twice, names_.text(item.name))
          .related(model_.symbols[*symbol].span, "used here for a value");
      return false;
    }
    return true;
  }

  void push(Event event) {
    model_.event_by_name.emplace(event.name, static_cast<std::uint32_t>(model_.events.size()));
    model_.events.push_back(std::move(event));
  }

  void add_transition(std::uint32_t index) {
    const parse::Transition& item = tree_.transitions[index];
    if (!is_free(item)) return;
    Event event{item.name, item.name_span, parse::EventKind::transition};
    event.transition = index;
    push(std::move(event));
  }

  void add(const parse::Event& item) {
    if (!is_free(item)) return;
    Event event{item.name, item.name_span, item.kind};
    event.condition = item.condition;
    if (item.kind == parse::EventKind::every) {
      event.period = period(item.period);
      if (item.from.valid()) event.from = number(item.from, "the first tick of an event", tree_[item.from].span);
    }
    for (NodeId time : item.times) event.times.push_back(number(time, "the time of an event", tree_[time].span));
    std::sort(event.times.begin(), event.times.end());
    event.times.erase(std::unique(event.times.begin(), event.times.end()), event.times.end());
    push(std::move(event));
  }

  double period(NodeId id) {
    double value = number(id, "the period of an event", tree_[id].span);
    if (value > 0) return value;
    diags_.report(tree_[id].span, bad_setting, "the period of an event must be greater than 0")
        .hint("ten times a second is `every 0.1`");
    return 1;
  }

  // `observes event clock rate 0.1`: the seed's rate is a period in seconds; with a unit it is a rate.
  void add_observed(const parse::ObservedEvent& item) {
    if (find(item.name)) return;
    Event event{item.name, item.span, parse::EventKind::every};
    if (item.rate.valid()) {
      event.period = period(item.rate);
      if (is_frequency(tree_, item.rate)) event.period = 1 / event.period;
    } else if (item.time.valid()) {
      event.kind = parse::EventKind::at;
      event.times.push_back(number(item.time, "the time of an event", item.span));
    } else {
      diags_.report(item.span, no_timing, names_.text(item.name))
          .hint("write `observes event {0} rate 0.1`, or declare it: `event {0} every 0.1;`", names_.text(item.name));
      return;
    }
    push(std::move(event));
  }

  void read_behaviour(const parse::Behaviour& behaviour) {
    const BoundNames own{nullptr, behaviour.own, {}};
    const BoundNames* scope = behaviour.own.valid() ? &own : nullptr;
    if (behaviour.start.valid()) read_names_(behaviour.start);
    if (behaviour.value.valid()) read_names_(behaviour.value);
    std::vector<base::NameId> handled;
    for (const parse::Handler& handler : behaviour.handlers) {
      const parse::Node& event = tree_[handler.event];
      if (event.kind != NodeKind::name || !find(event.name)) {
        const std::string name = parse::print(tree_, names_, handler.event);
        auto report = diags_.report(event.span, unknown_event, name);
        std::vector<std::string_view> known;
        for (const Event& candidate : model_.events) known.push_back(names_.text(candidate.name));
        if (auto near = base::nearest(name, known))
          report.hint("did you mean `{}`?", *near);
        else
          report.hint("declare it: `event {} every 0.1;`", name);
      } else if (std::find(handled.begin(), handled.end(), event.name) != handled.end()) {
        diags_.report(handler.span, handled_twice, names_.text(behaviour.name), names_.text(event.name))
            .hint("write one handler: `{} => if c then a else b`", names_.text(event.name));
      } else {
        handled.push_back(event.name);
      }
      read_names_(handler.value, scope);
    }
  }

  void report_unknown(NodeId id, const BoundNames* scope) {
    const std::string& name = names_.text(tree_[id].name);
    if (find(tree_[id].name)) {
      diags_.report(tree_[id].span, not_a_value, fmt::format("the event `{}`", name))
          .hint("a behaviour answers it with a handler of its own: `{{ {} => .. }}`", name);
      keep(id);
      return;
    }
    auto report = diags_.report(tree_[id].span, unknown_name, name);
    std::vector<std::string_view> known;
    for (const BoundNames* bound = scope; bound; bound = bound->outer) known.push_back(names_.text(bound->name));
    for (const Symbol& symbol : model_.symbols) known.push_back(names_.text(symbol.name));
    if (auto near = base::nearest(name, known)) {
      report.hint("did you mean `{}`?", *near);
    } else if (scope) {
      report.hint("the behaviour's own old value is `{}` here", names_.text(scope->name));
    } else {
      report.hint(
          "a handler reads behaviours and names of the equations; the own old value needs a name: `init a = 0`");
    }
    keep(id);
  }

  // So that the passes behind this one do not stumble over it again.
  void keep(NodeId id) {
    model_.by_name.emplace(tree_[id].name, model_.symbols.push({Role::variable, tree_[id].name, tree_[id].span, {}}));
  }

  Model& model_;
  const parse::Tree& tree_;
  base::Names& names_;
  diag::Sink& diags_;
  Numbers numbers_;
  ReadNames read_names_;
};

}  // namespace

bool is_frequency(const parse::Tree& tree, NodeId id) {
  parse::Dimension frequency;
  frequency.exponents[parse::Dimension::second] = {-1, 1};
  return tree[id].kind == NodeKind::number && tree[id].unit != 0 &&
         tree.units[tree[id].unit].measure.dimension == frequency;
}

void read_events(Model& model, base::Names& names, diag::Sink& diags) { EventReader(model, names, diags).run(); }

}  // namespace check
