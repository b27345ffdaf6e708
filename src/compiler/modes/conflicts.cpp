#include "compiler/modes/conflicts.h"

#include <algorithm>
#include <set>

#include "compiler/modes/modes.h"
#include "compiler/symbolic/symbolic.h"

namespace modes {
namespace {

using What = std::set<std::pair<std::uint32_t, std::uint32_t>>;

// What a transition changes: automata, and variables with their orders.
What changed(const flat::Model& model, const flat::Transition& transition) {
  constexpr std::uint32_t a_mode = 0xffffffffu;
  What what;
  for (const flat::Transition::Goto& to : transition.gotos) what.emplace(to.automaton, a_mode);
  for (const flat::Equation& equation : transition.equations) {
    for (expr::ExprId side : {equation.left, equation.right}) {
      for (expr::ExprId leaf : symbolic::leaves(model.pool, side, expr::Op::variable)) {
        const expr::Node& node = model.pool[leaf];
        const flat::VariableId of = model.variables[flat::VariableId(node.index)].next_of;
        if (of.valid()) what.emplace(of.value, node.order);
      }
    }
  }
  return what;
}

}  // namespace

std::vector<std::pair<std::uint32_t, std::uint32_t>> conflicts(const flat::Model& model) {
  std::vector<What> all;
  for (const flat::Transition& transition : model.transitions) all.push_back(changed(model, transition));
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    for (std::uint32_t j = i + 1; j < all.size(); ++j) {
      if (std::any_of(all[i].begin(), all[i].end(), [&](const auto& what) { return all[j].contains(what); }))
        pairs.emplace_back(i, j);
    }
  }
  return pairs;
}

bool can_meet(flat::Model& model, std::uint32_t first, std::uint32_t second) {
  Combination combination(model.automata.size(), 0);
  for (std::size_t tried = 0; tried < most_combinations; ++tried) {
    if (holds(model, model.transitions[first].mode, combination) &&
        holds(model, model.transitions[second].mode, combination))
      return true;
    std::size_t i = 0;
    while (i < combination.size() && ++combination[i] == model.automata[i].modes.size()) combination[i++] = 0;
    if (i == combination.size()) return false;
  }
  return true;
}

}  // namespace modes
