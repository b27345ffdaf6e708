#include "compiler/check/roles.h"

#include <algorithm>
#include <unordered_set>

#include "base/nearest.h"
#include "compiler/check/diagnostics.h"
#include "compiler/check/scope.h"
#include "compiler/check/tables.h"
#include "compiler/parse/parse.h"

namespace check {
namespace {

using parse::NodeId;
using parse::NodeKind;

class Roles {
 public:
  Roles(Model& model, base::Names& names, diag::Sink& diags)
      : model_(model),
        tree_(*model.tree),
        names_(names),
        diags_(diags),
        time_(names.intern("t")),
        pi_(names.intern("pi")) {}

  void run() {
    declare();
    find_event_names();
    find_variables();
  }

 private:
  void declare() {
    for (std::uint32_t i = 0; i < tree_.constants.size(); ++i) declare(Role::constant, tree_.constants[i], i);
    for (std::uint32_t i = 0; i < tree_.parameters.size(); ++i) {
      declare(Role::parameter, tree_.parameters[i], i);
      // It is refused for that; what reads it is not to be told of a number.
      const auto vector = model_.find(tree_.parameters[i].name);
      const parse::Node& value = tree_[tree_.parameters[i].value];
      if (vector && value.kind == NodeKind::tuple)
        model_.symbols[*vector].shape = expr::Shape::vector(value.child_count);
    }
    for (std::uint32_t i = 0; i < tree_.functions.size(); ++i) declare(Role::function, tree_.functions[i], i);
    for (std::uint32_t i = 0; i < tree_.behaviours.size(); ++i) {
      const parse::Behaviour& behaviour = tree_.behaviours[i];
      if (behaviour.start.valid()) {
        declare(Role::behaviour, behaviour, i);
      } else {
        declare(Role::variable, behaviour, i);
        model_.passive.emplace(behaviour.name, i);
      }
    }
    for (const parse::Automaton& automaton : tree_.automata) declare_automaton(automaton);
    for (const parse::External& external : tree_.externals) {
      // RIDL's reads and writes are seen from RIDL: what it writes is an input of the model.
      bool reactive = names_.text(external.name) == "ridl";
      for (const parse::Access& access : reactive ? external.writes : external.reads)
        declare_input(external, access, reactive);
    }
  }

  void declare_automaton(const parse::Automaton& item) {
    const auto index = static_cast<std::uint32_t>(model_.automata.size());
    declare(Role::automaton, item, index);
    Automaton made{item.name, item.name_span, {}, {}};
    for (std::uint32_t i = 0; i < item.modes.size(); ++i) {
      const base::NameId name = names_.intern(names_.text(item.name) + "." + names_.text(item.modes[i].name));
      Symbol symbol{Role::mode, name, item.modes[i].span, {}, index};
      symbol.place = i;
      made.modes.push_back(model_.symbols.push(std::move(symbol)));
      model_.by_name.emplace(name, made.modes.back());
    }
    for (const parse::AutomatonStart& start : item.starts) {
      for (std::uint32_t i = 0; i < item.modes.size(); ++i)
        if (item.modes[i].name == start.mode) made.starts.push_back({i, start.condition});
    }
    model_.automata.push_back(std::move(made));
  }

  template <class Declaration>
  void declare(Role role, const Declaration& declaration, std::uint32_t index) {
    if (declaration.name == time_ || declaration.name == pi_) {
      diags_.report(declaration.name_span, declared_twice, names_.text(declaration.name))
          .hint("`t` is the time and `pi` is pi in every program; choose another name");
      return;
    }
    if (auto found = model_.find(declaration.name)) {
      diags_.report(declaration.name_span, declared_twice, names_.text(declaration.name))
          .related(model_.symbols[*found].span, "declared here before");
      return;
    }
    const bool open = role == Role::constant || role == Role::behaviour || role == Role::variable;
    SymbolId id = model_.symbols.push({role, declaration.name, declaration.name_span, {}, index, open});
    model_.by_name.emplace(declaration.name, id);
  }

  void declare_input(const parse::External& external, const parse::Access& access, bool reactive) {
    const parse::Node& node = tree_[access.variable];
    if (node.kind != NodeKind::name) {
      diags_.report(access.span, input_primed, parse::print(tree_, names_, access.variable))
          .hint("read the name itself; its derivative by time is known wherever the program writes it with a prime");
      return;
    }
    auto found = model_.find(node.name);
    if (reactive && found && tree_behaviour(*found)) return;
    if (reactive && !tree_.behaviours.empty()) {
      auto report = diags_.report(access.span, not_reactive, names_.text(node.name));
      std::vector<std::string_view> known;
      for (const parse::Behaviour& behaviour : tree_.behaviours) known.push_back(names_.text(behaviour.name));
      if (auto near = base::nearest(names_.text(node.name), known)) report.hint("did you mean `{}`?", *near);
      report.hint("define it: `{} = init 0 in {{ clock => .. }}`", names_.text(node.name));
      return;
    }
    if (reactive) {
      diags_.report(access.span, no_behaviour_given, names_.text(node.name))
          .hint("give the .ridl file too, `tactus run ball.phydl ball.ridl`, or write them under `reactive`");
    }
    if (found && model_.symbols[*found].role != Role::input) {
      diags_.report(access.span, declared_twice, names_.text(node.name))
          .related(model_.symbols[*found].span, "declared here before");
      return;
    }
    if (found) return;  // read by two externals: one input
    SymbolId id = model_.symbols.push({Role::input, node.name, access.span, {}, 0, true});
    model_.by_name.emplace(node.name, id);
    model_.ports.push_back({external.name, id, true, reactive, {}});
  }

  bool tree_behaviour(SymbolId id) const {
    return model_.symbols[id].role == Role::behaviour || model_.passive.contains(model_.symbols[id].name);
  }

  // Every name of an equation, condition or output that nothing declares is a variable.
  void find_variables() {
    for (const parse::Condition& condition : tree_.conditions) {
      find_variables(condition.variable, nullptr, 0);
      find_variables(condition.value, nullptr, 0);
    }
    for (const parse::Equation& equation : tree_.equations) {
      find_variables(equation.left, nullptr, 0);
      if (!equation.is_of_book) find_variables(equation.right, nullptr, 0);
    }
    for (const parse::ShapeGiven& given : tree_.shapes) find_variables(given.value, nullptr, 0);
    for (const parse::External& external : tree_.externals) {
      bool reactive = names_.text(external.name) == "ridl";
      for (const parse::Access& access : reactive ? external.reads : external.writes)
        declare_output(external, access, reactive);
    }
    for (const parse::Energy& energy : tree_.energies) check_energy(energy);
    read_names();
    for (const parse::Drawing& drawing : tree_.drawings) {
      for (NodeId value : drawing.values) find_device_values(value);
      for (const parse::DrawingOption& option : drawing.options) find_device_values(option.value);
    }
  }

  // What jumps, guards and properties name stands in an equation as well.
  void read_names() {
    may_add_ = false;
    for (std::uint32_t i = 0; i < tree_.transitions.size(); ++i) find_variables_of_transition(i);
    for (const parse::Must& must : tree_.musts) find_variables(must.condition, nullptr, 0);
    for (const parse::Automaton& automaton : tree_.automata) {
      for (const parse::AutomatonStart& start : automaton.starts)
        if (start.condition.valid()) find_variables(start.condition, nullptr, 0);
    }
    for (const parse::Equation& invariant : tree_.invariants) {
      find_variables(invariant.left, nullptr, 0);
      find_variables(invariant.right, nullptr, 0);
    }
    for (const parse::PlanProblem& problem : tree_.problems) find_variables_of_plan(problem);
    for (const parse::Power& power : tree_.powers) {
      find_variables(power.in, nullptr, 0);
      find_variables(power.out, nullptr, 0);
    }
    for (const parse::Join& join : tree_.joins) check_join(join);
    may_name_events_ = true;
    for (const parse::Property& property : tree_.properties) find_variables(property.formula, nullptr, 0);
    may_name_events_ = false;
    may_add_ = true;
  }

  // The name of an energy is declared by it.
  void check_energy(const parse::Energy& energy) {
    const parse::Node& node = tree_[energy.variable];
    const auto found = model_.find(node.name);
    if (found && model_.symbols[*found].role == Role::variable && !model_.passive.contains(node.name)) return;
    auto report = diags_.report(node.span, declared_twice, names_.text(node.name));
    if (found)
      report.related(model_.symbols[*found].span, "declared here before");
    else
      report.hint("`t` is the time and `pi` is pi in every program; choose another name");
  }

  // A join determines what enters both of its ports.
  void check_join(const parse::Join& join) {
    for (const std::uint32_t port : join.ports) {
      NodeId in = tree_.powers[port].in;
      if (tree_[in].kind == NodeKind::index) in = tree_.child(in, 0);
      const base::NameId name = tree_[in].name;
      const auto found = model_.find(name);
      if (found && model_.symbols[*found].role == Role::variable) continue;
      auto report = diags_.report(join.span, join_of_given, names_.text(tree_.powers[port].name), names_.text(name));
      if (found) report.related(model_.symbols[*found].span, "it is given here");
      report.hint("a join says what enters a port; leave `{0}` to it, or drop the join and use `{0}` as it is given",
                  names_.text(name));
    }
  }

  void report_not_in_equations(NodeId id) {
    const std::string& name = names_.text(tree_[id].name);
    std::vector<std::string_view> known;
    std::string mode;
    for (const Symbol& symbol : model_.symbols) {
      known.push_back(names_.text(symbol.name));
      if (symbol.role == Role::mode && known.back().ends_with("." + name)) mode = known.back();
    }
    for (base::NameId event : event_names_) {
      if (may_name_events_) known.push_back(names_.text(event));
    }
    std::sort(known.begin(), known.end());
    auto report = diags_.report(tree_[id].span, not_in_equations, name);
    if (!mode.empty())
      report.hint("did you mean the mode `{}`?", mode);
    else if (auto near = base::nearest(name, known))
      report.hint("did you mean `{}`?", *near);
    else
      report.hint("it needs an equation under `system`; a memory, which only jumps change, has `{}' = 0;`", name);
  }

  void find_variables_of_transition(std::uint32_t index) {
    const parse::Transition& item = tree_.transitions[index];
    Transition& made = model_.transitions.emplace_back();
    for (const parse::JumpUnknown& unknown : item.jump.unknowns) {
      const SymbolId id = add_variable(unknown.name, unknown.span);
      model_.symbols[id].transition = index;
      made.unknowns.push_back(id);
    }
    if (item.condition.valid()) {
      may_name_events_ = true;
      find_variables(item.condition, nullptr, 0);
      may_name_events_ = false;
    }
    for (const parse::Equation& equation : item.jump.equations) {
      find_variables(equation.left, nullptr, 0);
      find_variables(equation.right, nullptr, 0);
    }
    for (const parse::JumpUnknown& unknown : item.jump.unknowns)
      if (unknown.guess.valid()) find_variables(unknown.guess, nullptr, 0);
  }

  void find_variables_of_plan(const parse::PlanProblem& problem) {
    for (const parse::Chosen& chosen : problem.chosen) find_variables(chosen.value, nullptr, 0);
    for (const parse::PlanProblem::Phase& phase : problem.phases) {
      find_variables(phase.duration, nullptr, 0);
      for (const parse::Target& target : phase.targets) {
        find_variables(target.left, nullptr, 0);
        find_variables(target.right, nullptr, 0);
      }
    }
  }

  void find_event_names() {
    for (const parse::Event& event : tree_.events) event_names_.insert(event.name);
    for (const parse::Transition& transition : tree_.transitions) event_names_.insert(transition.name);
    for (const parse::External& external : tree_.externals) {
      for (const parse::ObservedEvent& event : external.events) event_names_.insert(event.name);
    }
  }

  // A scene shows what there is, and what devices give.
  void find_device_values(NodeId id) {
    if (tree_[id].kind == NodeKind::member) device_value(id);
    for (const parse::Child& child : tree_.children_of(id)) find_device_values(child.node);
  }

  void declare_output(const parse::External& external, const parse::Access& access, bool reactive) {
    if (!access.value.valid()) {
      find_variables(access.variable, nullptr, 0);
      NodeId base = access.variable;
      while (tree_[base].kind != NodeKind::name && tree_[base].child_count > 0) base = tree_.child(base, 0);
      auto found = model_.find(tree_[base].name);
      if (found) model_.ports.push_back({external.name, *found, false, reactive, {}});
      return;
    }
    // writes v = e: a variable of its own, `hand.force`.
    find_variables(access.value, nullptr, 0);
    base::NameId name = names_.intern(names_.text(external.name) + "." + names_.text(tree_[access.variable].name));
    const bool is_read_before = read_before_.erase(name) > 0;
    if (model_.find(name) && !is_read_before) {
      diags_.report(access.span, declared_twice, names_.text(name));
      return;
    }
    SymbolId id = is_read_before ? *model_.find(name) : add_variable(name, access.span);
    model_.ports.push_back({external.name, id, false, reactive, access.value});
  }

  SymbolId add_variable(base::NameId name, base::Span span) {
    SymbolId id = model_.symbols.push({Role::variable, name, span, {}, 0, true});
    model_.by_name.emplace(name, id);
    return id;
  }

  // The input that stands for a device's value, `hand.position`, or the variable that it is given, `hand.force`; added at
  // its first use. Empty if `node` is no such thing.
  std::optional<SymbolId> device_value(NodeId id) {
    const parse::Node& node = tree_[id];
    const parse::Node& base = tree_[tree_.child(id, 0)];
    if (base.kind != NodeKind::name) return std::nullopt;
    base::NameId name = names_.intern(names_.text(base.name) + "." + names_.text(node.name));
    if (auto found = model_.find(name)) return found;
    bool is_device = false;
    for (const parse::External& external : tree_.externals) {
      if (external.name != base.name) continue;
      is_device = true;
      for (const parse::Access& access : external.writes) {
        if (!access.value.valid() || tree_[access.variable].name != node.name) continue;
        read_before_.insert(name);
        return add_variable(name, access.span);
      }
    }
    const std::string& value = names_.text(node.name);
    const std::uint32_t size = value == "position" || value == "velocity" ? 3 : value == "button" ? 4 : 0;
    if (!is_device || size == 0) return std::nullopt;
    SymbolId symbol = model_.symbols.push({Role::input, name, node.span, expr::Shape::vector(size), 0, false});
    model_.by_name.emplace(name, symbol);
    model_.ports.push_back({base.name, symbol, true, false, {}});
    return symbol;
  }

  void find_variables(NodeId id, const BoundNames* scope, int depth) {
    const parse::Node& node = tree_[id];
    switch (node.kind) {
      case NodeKind::name:
        if (may_name_events_ && event_names_.contains(node.name)) return;
        if (!find_binding(scope, node.name) && node.name != time_ && node.name != pi_ && !model_.find(node.name)) {
          if (!may_add_) report_not_in_equations(id);
          add_variable(node.name, node.span);
        }
        return;
      case NodeKind::member:
        device_value(id);
        return;
      case NodeKind::call: {
        // `table("x.csv", cubic)`, also where its argument is forgotten: words, no names.
        if (is_table_word(model_, names_, tree_.child(id, 0))) return;
        for (std::uint32_t i = 1; i < node.child_count; ++i) find_variables(tree_.child(id, i), scope, depth);
        // Names in a function's body, once each function.
        const parse::Node& callee = tree_[tree_.child(id, 0)];
        if (callee.kind != NodeKind::name) return;
        auto found = model_.find(callee.name);
        if (!found || model_.symbols[*found].role != Role::function || depth > 64) return;
        const parse::Function& function = tree_.functions[model_.symbols[*found].declaration];
        std::vector<BoundNames> bindings(function.arguments.size());
        const BoundNames* inner = nullptr;
        for (std::size_t i = 0; i < bindings.size(); ++i) {
          bindings[i] = {inner, function.arguments[i], {}};
          inner = &bindings[i];
        }
        if (bodies_seen_.emplace(found->value, true).second) find_variables(function.value, inner, depth + 1);
        return;
      }
      case NodeKind::sum_over: {
        find_variables(tree_.child(id, 0), scope, depth);
        find_variables(tree_.child(id, 1), scope, depth);
        BoundNames inner{scope, node.name, {}};
        find_variables(tree_.child(id, 2), &inner, depth);
        return;
      }
      default:
        for (const parse::Child& child : tree_.children_of(id)) find_variables(child.node, scope, depth);
    }
  }

  Model& model_;
  const parse::Tree& tree_;
  base::Names& names_;
  diag::Sink& diags_;
  base::NameId time_;
  base::NameId pi_;
  bool may_add_ = true;           // a name that nothing declares is a variable
  bool may_name_events_ = false;  // the expression is a guard or a formula
  std::unordered_set<base::NameId> event_names_;
  std::unordered_map<std::uint32_t, bool> bodies_seen_;
  std::unordered_set<base::NameId> read_before_;  // `hand.force`, before `external hand writes` it
};

}  // namespace

void find_roles(Model& model, base::Names& names, diag::Sink& diags) { Roles(model, names, diags).run(); }

}  // namespace check
