#include "compiler/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/check/numbers.h"

namespace compiler {
namespace {

// A number, or a tuple of numbers; else empty.
std::string print_value(const check::Model& model, const check::Numbers& numbers, parse::NodeId id) {
  const parse::Tree& tree = *model.tree;
  if (const auto number = numbers.value(id)) return fmt::format("{}", *number);
  if (tree[id].kind != parse::NodeKind::tuple) return "";
  std::string all;
  for (const parse::Child& child : tree.children_of(id)) {
    const std::string one = print_value(model, numbers, child.node);
    if (one.empty()) return "";
    all += (all.empty() ? "" : ", ") + one;
  }
  return "(" + all + ")";
}

}  // namespace

const Fact* Facts::find(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  return found == index_.end() ? nullptr : &list_[found->second];
}

Fact& Facts::entry(const std::string& name) {
  const auto [found, added] = index_.emplace(name, list_.size());
  if (added) list_.push_back({name, "", "", "", ""});
  return list_[found->second];
}

void Facts::take(const check::Model& model, base::Names& names) {
  static constexpr const char* roles[] = {"variable", "input",     "parameter", "constant",
                                          "function", "behaviour", "mode",      "automaton"};
  const check::Numbers numbers(model, names);
  for (const check::Symbol& symbol : model.symbols) {
    Fact& fact = entry(names.text(symbol.name));
    fact.role = roles[static_cast<std::size_t>(symbol.role)];
    if (symbol.role != check::Role::function && symbol.role != check::Role::automaton)
      fact.shape = describe(symbol.shape);
    fact.unit = check::describe_unit(symbol);
    parse::NodeId value;
    if (symbol.role == check::Role::constant) value = model.tree->constants[symbol.declaration].value;
    if (symbol.role == check::Role::parameter) value = model.tree->parameters[symbol.declaration].value;
    if (value.valid()) fact.value = print_value(model, numbers, value);
  }
  for (const check::Port& port : model.ports) {
    if (!port.is_input) continue;
    entry(names.text(model.symbols[port.symbol].name)).role = fmt::format("input of `{}`", names.text(port.device));
  }
}

void Facts::take(const structure::Sorted& sorted, const flat::Model& flat) {
  std::set<std::uint32_t> states;
  for (const expr::ExprId leaf : sorted.states) states.insert(flat.pool[leaf].index);
  for (const flat::Group& group : flat.groups) {
    std::string values;
    bool constant = true, state = false;
    for (std::uint32_t i = 0; i < group.shape.size(); ++i) {
      const std::uint32_t variable = group.first.value + i;
      state = state || states.contains(variable);
      const auto value = sorted.constants.find(variable);
      if (value == sorted.constants.end())
        constant = false;
      else
        values += fmt::format("{}{}", i == 0 ? "" : ", ", value->second);
    }
    Fact& fact = entry(group.name);
    if (state) fact.role = "state";
    if (!constant) continue;
    fact.role = "variable that is constant";
    if (!group.shape.is_matrix()) fact.value = group.shape.is_scalar() ? values : "(" + values + ")";
  }
}

}  // namespace compiler
