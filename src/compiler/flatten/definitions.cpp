// diff(e, x): what x does behind the names that equations define.
//
//   enters: a scalar e and the leaf x     leaves: e with definitions in the places of names, ready for symbolic::differentiate
//
// e may read names that equations define, V = 2 * x^2: their definitions are put in their places wherever x is found behind
// them. A name that is differentiated in time is a coordinate beside x, and held; so is what no equation defines, and what is defined by
// derivatives of itself.
#include "compiler/flatten/flattener.h"

namespace flatten {

bool Flattener::is_of_names(NodeId id) const {
  const parse::Node& node = tree_[id];
  if (node.kind == NodeKind::name) return model_.find(node.name).has_value();
  if (node.kind == NodeKind::index) return is_of_names(tree_.child(id, 0));
  if (node.kind != NodeKind::tuple) return false;
  for (std::uint32_t i = 0; i < node.child_count; ++i) {
    if (!is_of_names(tree_.child(id, i))) return false;
  }
  return true;
}

void Flattener::find_definitions() {
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

void Flattener::add_coordinates(NodeId id) {
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

ExprId Flattener::definition_of(ExprId leaf) {
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

Value Flattener::with_known_numbers(Value value) {
  if (reacting_) return value;
  find_definitions();
  for (ExprId& item : value.items) {
    const expr::Node node = flat_.pool[item];
    if (node.op != Op::variable || node.order > 0) continue;
    const auto found = definitions_.find(node.index);
    if (found == definitions_.end() || tree_.equations[found->second.equation].mode.valid()) continue;
    const std::string& name = flat_.variables[flat::VariableId(node.index)].name;
    if (!model_.overrides.empty() && model_.overrides.contains(names_.find(name))) continue;
    const ExprId definition = definition_of(item);
    if (definition.valid() && flat_.pool.is_constant(definition)) item = definition;
  }
  return value;
}

ExprId Flattener::follow_definitions(ExprId e, ExprId by, base::Span span) {
  find_definitions();
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> entered;  // by variable: the orders in progress
  std::unordered_map<ExprId, ExprId> followed;                            // invalid: in progress
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
      entered[flat_.pool[leaf].index].pop_back();
      const ExprId value = symbolic::Substitution(flat_.pool, replace)(definition);
      if (!symbolic::contains(flat_.pool, value, by)) continue;
      if (coordinates_.contains(flat_.pool[leaf].index)) {
        report_held(leaf, by, span);
      } else {
        followed[leaf] = value;
      }
      continue;
    }
    entered[flat_.pool[leaf].index].push_back(flat_.pool[leaf].order);
    for (ExprId behind : symbolic::leaves(flat_.pool, definition, Op::variable)) {
      if (followed.contains(behind)) continue;
      const std::vector<std::uint32_t>& orders = entered[flat_.pool[behind].index];
      const auto is_lower = [&](std::uint32_t order) { return order < flat_.pool[behind].order; };
      if (std::any_of(orders.begin(), orders.end(), is_lower)) {
        followed.emplace(behind, behind);
        report_circle(behind, by, span);
      } else {
        open.push_back(behind);
      }
    }
  }
  return symbolic::Substitution(flat_.pool, replace)(e);
}

std::string Flattener::leaf_name(ExprId leaf) const {
  const expr::Node& node = flat_.pool[leaf];
  return node.op == Op::variable ? flat::primed(flat_.variables[flat::VariableId(node.index)].name, node.order)
                                 : flat::print(flat_, leaf);
}

bool Flattener::has_start(std::uint32_t variable) const {
  return std::any_of(flat_.conditions.begin(), flat_.conditions.end(),
                     [&](const flat::Condition& condition) { return condition.variable.value == variable; });
}

void Flattener::report_circle(ExprId leaf, ExprId by, base::Span span) {
  const std::uint32_t variable = flat_.pool[leaf].index;
  if (has_start(variable) || !held_.insert(variable).second) return;
  const std::string name = leaf_name(flat_.pool.variable(variable, 0));
  diags_.report(span, diff_in_circle, name, leaf_name(by))
      .related(tree_.equations[definitions_.at(variable).equation].span, "its definition")
      .hint("give `{}` a start to say that it is a state of its own, which is held", name);
}

void Flattener::report_held(ExprId leaf, ExprId by, base::Span span) {
  const std::uint32_t variable = flat_.pool[leaf].index;
  if (has_start(variable) || !held_.insert(variable).second) return;  // a coordinate, and said to be one
  const std::string name = leaf_name(flat_.pool.variable(variable, 0));
  diags_.report(span, held_in_diff, name, leaf_name(by))
      .related(tree_.equations[definitions_.at(variable).equation].span, "this equation makes it depend on `{}`",
               leaf_name(by))
      .hint("write what `{0}` is in its place to differentiate it too; give `{0}` a start to say that it is held",
            name);
}

void Flattener::report_differentiated_without_definition() {
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
    auto report = diags_.report(span, diff_of_unknown, leaf_name(leaf), leaf_name(by));
    if (flat_.pool[by].op == Op::time) report.hint("the derivative by time is a prime: `{}'`", leaf_name(leaf));
    report.hint("solve the equation that determines it for `{0}`: `{0} = ..`", leaf_name(leaf));
  }
}

}  // namespace flatten
