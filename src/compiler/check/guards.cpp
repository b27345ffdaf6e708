#include "compiler/check/guards.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/check/builtins.h"
#include "compiler/check/diagnostics.h"
#include "compiler/check/target.h"
#include "compiler/parse/parse.h"

namespace check {

using parse::NodeId;
using parse::NodeKind;

Guards::Guards(const Model& model, base::Names& names, diag::Sink& diags)
    : model_(model),
      tree_(*model.tree),
      names_(names),
      diags_(diags),
      time_(names.intern("t")),
      pi_(names.intern("pi")) {}

void Guards::read_equalities(NodeId id, std::string_view what) {
  const parse::Node& node = tree_[id];
  if (node.kind == NodeKind::compare && node.op == parse::Op::equal && moves(id)) {
    const std::string left = parse::print(tree_, names_, tree_.child(id, 0));
    const std::string right = parse::print(tree_, names_, tree_.child(id, 1));
    diags_.report(node.span, equality_in_guard, fmt::format("`{}` and `{}`", left, right))
        .hint("write `{0} >= {1}` or `{0} <= {1}`: {2} happens when that becomes true", left, right, what);
    return;
  }
  for (const parse::Child& child : tree_.children_of(id)) read_equalities(child.node, what);
}

bool Guards::moves(NodeId id) {
  const parse::Node& node = tree_[id];
  if (node.kind == NodeKind::name) {
    auto found = model_.find(node.name);
    if (!found) return node.name == time_;
    const Role role = model_.symbols[*found].role;
    find_defined();
    return role == Role::input ||
           (role == Role::variable && !model_.passive.contains(node.name) && !memories_.contains(node.name));
  }
  const auto children = tree_.children_of(id);
  return std::any_of(children.begin(), children.end(), [&](const parse::Child& child) { return moves(child.node); });
}

void Guards::read_truth(NodeId id, std::string_view what) {
  const parse::Node& node = tree_[id];
  switch (node.kind) {
    case NodeKind::logical_and:
    case NodeKind::logical_or:
    case NodeKind::logical_not:
    case NodeKind::implies:
      for (const parse::Child& child : tree_.children_of(id)) read_truth(child.node, what);
      return;
    case NodeKind::until:
      read_truth(tree_.child(id, 1), what);
      [[fallthrough]];
    case NodeKind::always:
    case NodeKind::eventually:
      return read_truth(tree_.child(id, 0), what);
    default:
      break;
  }
  if (!is_number(id, 0)) return;
  const std::string text = parse::print(tree_, names_, id);
  diags_.report(node.span, not_a_truth, what, text).hint("compare it: `{} > 0`", text);
}

// Only what is a number for certain; inputs, parameters and behaviours may stand for a truth value.
bool Guards::is_number(NodeId id, int depth) {
  if (depth > 64) return false;
  const parse::Node& node = tree_[id];
  switch (node.kind) {
    case NodeKind::number:
    case NodeKind::negate:
    case NodeKind::sum:
    case NodeKind::product:
    case NodeKind::power:
    case NodeKind::prime:
    case NodeKind::tuple:
    case NodeKind::sum_over:
      return true;
    case NodeKind::conditional:
      return is_number(tree_.child(id, 1), depth + 1) || is_number(tree_.child(id, 2), depth + 1);
    case NodeKind::name:
      if (node.name == time_ || node.name == pi_) return true;
      return is_number_by_equation(node.name, depth);
    case NodeKind::call: {
      const parse::Node& callee = tree_[tree_.child(id, 0)];
      if (callee.kind != NodeKind::name) return false;
      auto found = model_.find(callee.name);
      if (found && model_.symbols[*found].role == Role::function)
        return is_number(tree_.functions[model_.symbols[*found].declaration].value, depth + 1);
      const BuiltinRow* builtin = find_builtin(names_.text(callee.name));
      if (!builtin || builtin->id == Builtin::index || node.child_count < 2) return false;
      const bool is_of_argument = builtin->id == Builtin::next || builtin->id == Builtin::smooth;
      return !is_of_argument || is_number(tree_.child(id, 1), depth + 1);
    }
    default:
      return false;
  }
}

bool Guards::is_number_by_equation(base::NameId name, int depth) {
  auto found = model_.find(name);
  if (!found || model_.symbols[*found].role != Role::variable) return false;
  find_defined();
  if (states_.contains(name)) return true;
  auto definition = definitions_.find(name);
  return definition != definitions_.end() && is_number(definition->second, depth + 1);
}

void Guards::find_defined() {
  if (has_looked_) return;
  has_looked_ = true;
  std::unordered_set<base::NameId> moving;
  for (const parse::Condition& condition : tree_.conditions) {
    const NodeId name = target_of(tree_, condition.variable).name;
    if (tree_[name].kind == NodeKind::name) states_.insert(tree_[name].name);
  }
  for (const parse::Equation& equation : tree_.equations) {
    if (tree_[equation.left].kind == NodeKind::name) definitions_.emplace(tree_[equation.left].name, equation.right);
    const Target target = target_of(tree_, equation.left);
    if (target.order == 0 || tree_[target.name].kind != NodeKind::name) continue;
    const base::NameId name = tree_[target.name].name;
    states_.insert(name);
    const parse::Node& right = tree_[equation.right];
    const bool rests =
        target.order == 1 && !equation.mode.valid() && right.kind == NodeKind::number && right.number == 0;
    if (rests)
      memories_.insert(name);
    else
      moving.insert(name);
  }
  for (base::NameId name : moving) memories_.erase(name);
}

}  // namespace check
