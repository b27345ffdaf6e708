#include "compiler/check/jumps.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/nearest.h"
#include "compiler/check/diagnostics.h"
#include "compiler/check/guards.h"
#include "compiler/check/numbers.h"
#include "compiler/check/target.h"
#include "compiler/parse/parse.h"

namespace check {
namespace {

using parse::NodeId;
using parse::NodeKind;

class JumpReader {
 public:
  JumpReader(Model& model, base::Names& names, diag::Sink& diags)
      : model_(model),
        tree_(*model.tree),
        names_(names),
        diags_(diags),
        guards_(model, names, diags),
        numbers_(model, names) {}

  void run() {
    for (const Automaton& automaton : model_.automata) {
      for (const Automaton::Start& start : automaton.starts)
        if (start.condition.valid()) guards_.read_truth(start.condition, "`when`");
    }
    // Statements of one block share its condition.
    for (const parse::Equation& equation : tree_.equations) read_mode(equation.mode, false);
    for (const parse::Must& must : tree_.musts) {
      static constexpr std::string_view words[] = {"`require`", "`expect`", "`stop when`"};
      read_mode(must.mode, false);
      guards_.read_truth(must.condition, words[static_cast<int>(must.kind)]);
    }
    for (const parse::Equation& invariant : tree_.invariants) read_mode(invariant.mode, false);
    for (std::uint32_t i = 0; i < tree_.transitions.size(); ++i) read_transition(i);
    for (const parse::PlanProblem& problem : tree_.problems) read_plan(problem);
    for (const parse::Property& property : tree_.properties) {
      guards_.read_truth(property.formula, "`check`");
      read_bounds(property.formula);
    }
  }

 private:
  // A formula over modes.
  void read_mode(NodeId id, bool is_head) {
    if (!id.valid() || !read_modes_.insert(id).second) return;
    const parse::Node& node = tree_[id];
    switch (node.kind) {
      case NodeKind::logical_and:
      case NodeKind::logical_or:
      case NodeKind::logical_not:
        for (const parse::Child& child : tree_.children_of(id)) read_mode(child.node, is_head);
        return;
      case NodeKind::boolean:
        return;
      case NodeKind::name:
        if (auto found = model_.find(node.name); found && model_.symbols[*found].role == Role::mode) return;
        break;
      default:
        break;
    }
    const std::string text = parse::print(tree_, names_, id);
    auto report = diags_.report(node.span, not_a_mode, text);
    std::vector<std::string_view> modes;
    std::optional<std::string_view> meant;
    for (const Symbol& symbol : model_.symbols) {
      if (symbol.role != Role::mode) continue;
      modes.push_back(names_.text(symbol.name));
      if (modes.back().ends_with("." + text)) meant = modes.back();
    }
    if (!meant) meant = base::nearest(text, modes);
    if (meant)
      report.hint("did you mean `{}`?", *meant);
    else if (is_head)
      report.hint("what is not a mode stands behind `when`: `when {}`", text);
    else
      report.hint(
          "a mode is `ball.Rolling`, of `automaton ball in Bouncing, Rolling;`; any other choice is `if {} then a else "
          "b`",
          text);
  }

  void read_transition(std::uint32_t index) {
    const parse::Transition& item = tree_.transitions[index];
    Transition& made = model_.transitions[index];
    read_mode(item.mode, true);
    if (item.condition.valid()) {
      guards_.read_truth(item.condition, "`when`");
      guards_.read_equalities(item.condition, "the transition");
    }
    std::unordered_map<std::uint32_t, base::Span> entered;
    for (const parse::Goto& target : item.jump.gotos) {
      auto found = model_.find(tree_[target.target].name);
      if (!found || model_.symbols[*found].role != Role::mode) continue;  // expand has said so
      const Symbol& mode = model_.symbols[*found];
      const auto [first, fresh] = entered.emplace(mode.declaration, target.span);
      if (!fresh) {
        diags_.report(target.span, goto_twice, names_.text(model_.automata[mode.declaration].name))
            .related(first->second, "it already goes here")
            .hint("an automaton is in one mode; write one `goto` for it, or two transitions");
        continue;
      }
      made.gotos.push_back({mode.declaration, mode.place});
    }
    for (NodeId kept : item.jump.keeps) read_kept(kept);
    for (const parse::Equation& equation : item.jump.equations) read_equation(item, equation);
  }

  // None when its name is taken, as events has said.
  std::uint32_t transition(base::NameId name) const {
    auto found = model_.event_by_name.find(name);
    return found == model_.event_by_name.end() ? no_transition : model_.events[found->second].transition;
  }

  // The transitions and memories that schemata has made.
  void read_plan(const parse::PlanProblem& problem) {
    Plan made;
    made.start = transition(problem.name);
    made.failed = transition(problem.failed);
    for (const parse::PlanProblem::Phase& phase : problem.phases) made.phases.push_back(transition(phase.transition));
    for (const parse::Chosen& chosen : problem.chosen) made.chosen.push_back(*model_.find(chosen.name));
    model_.plans.push_back(std::move(made));
  }

  // Of every temporal operator in a formula.
  void read_bounds(NodeId id) {
    const parse::Node& node = tree_[id];
    const std::uint32_t first = node.kind == NodeKind::until ? 2 : 1;
    const bool is_temporal =
        node.kind == NodeKind::until || node.kind == NodeKind::always || node.kind == NodeKind::eventually;
    if (is_temporal && node.child_count > first) {
      const NodeId low = tree_.child(id, first), high = tree_.child(id, first + 1);
      const std::string_view word = node.kind == NodeKind::until    ? "until"
                                    : node.kind == NodeKind::always ? "always"
                                                                    : "eventually";
      auto from = numbers_.value(low), to = numbers_.value(high);
      const base::Span span = tree_[low].span.to(tree_[high].span);
      if (!from || !to) {
        diags_.report(span, not_constant, fmt::format("the bounds of `{}`", word))
            .hint("write numbers or constants: `{}[0..2]`", word);
      } else if (*from < 0 || *to < *from) {
        diags_.report(span, bad_bounds, word).hint("they count from now: `{}[0..2]` looks two seconds ahead", word);
      }
    }
    for (const parse::Child& child : tree_.children_of(id)) read_bounds(child.node);
  }

  void read_kept(NodeId id) {
    const NodeId name = target_of(tree_, id).name;
    if (tree_[name].kind == NodeKind::name) {
      auto found = model_.find(tree_[name].name);
      if (found && model_.symbols[*found].role == Role::variable && !model_.symbols[*found].is_of_jump()) return;
    }
    diags_.report(tree_[id].span, cannot_keep, parse::print(tree_, names_, id))
        .hint("what is kept is a state of the model, or its derivative: `keep x, x';`");
  }

  void read_equation(const parse::Transition& item, const parse::Equation& equation) {
    if (speaks_of_after(equation.left) || speaks_of_after(equation.right)) return;
    auto report = diags_.report(equation.span, says_nothing_of_after);
    const NodeId left = equation.left;
    const Target target = target_of(tree_, left);
    if (tree_[target.name].kind == NodeKind::name)
      report.hint("what comes after is `next(..)`: `next({}) = {};`", parse::print(tree_, names_, left),
                  parse::print(tree_, names_, equation.right));
    else
      report.hint("what comes after is `next(..)`; what must hold before stands in the head: `transition {} when ..`",
                  names_.text(item.name));
  }

  bool speaks_of_after(NodeId id) {
    const parse::Node& node = tree_[id];
    if (node.kind == NodeKind::name) {
      auto found = model_.find(node.name);
      return found && model_.symbols[*found].is_of_jump();
    }
    if (node.kind == NodeKind::call && is_next(id)) {
      const parse::Node& argument = tree_[tree_.child(id, node.child_count > 1 ? 1 : 0)];
      auto found = argument.kind == NodeKind::name ? model_.find(argument.name) : std::nullopt;
      if (found && model_.symbols[*found].is_of_jump()) {
        const std::string& name = names_.text(argument.name);
        const std::string written = name.substr(name.rfind('.') + 1);
        diags_.report(node.span, next_of_unknown, written).hint("write `{}` alone", written);
      }
      return true;
    }
    const auto children = tree_.children_of(id);
    const bool is_call = node.kind == NodeKind::call;
    // A function's body may speak of it too.
    if (is_call && tree_[children[0].node].kind == NodeKind::name) {
      auto found = model_.find(tree_[children[0].node].name);
      if (found && model_.symbols[*found].role == Role::function && ++depth_ < 64) {
        const bool speaks = speaks_of_after(tree_.functions[model_.symbols[*found].declaration].value);
        --depth_;
        if (speaks) return true;
      }
    }
    return std::any_of(children.begin() + (is_call ? 1 : 0), children.end(),
                       [&](const parse::Child& child) { return speaks_of_after(child.node); });
  }

  bool is_next(NodeId call) const {
    const parse::Node& callee = tree_[tree_.child(call, 0)];
    return callee.kind == NodeKind::name && names_.text(callee.name) == "next" && !model_.find(callee.name);
  }

  Model& model_;
  const parse::Tree& tree_;
  const base::Names& names_;
  diag::Sink& diags_;
  Guards guards_;
  Numbers numbers_;
  std::unordered_set<NodeId> read_modes_;
  int depth_ = 0;
};

}  // namespace

void read_jumps(Model& model, base::Names& names, diag::Sink& diags) { JumpReader(model, names, diags).run(); }

}  // namespace check
