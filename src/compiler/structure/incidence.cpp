#include "compiler/structure/incidence.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/symbolic/symbolic.h"

namespace structure {

using expr::Op;
using flat::Equation;

std::vector<ExprId> unknown_leaves(flat::Model& model, const Constants& constants, const Orders& orders) {
  std::vector<ExprId> leaves;
  for (std::uint32_t v = 0; v < model.variables.size(); ++v) {
    if (constants.numbers.contains(v) || model.variables[flat::VariableId(v)].is_absent) continue;
    for (std::uint32_t k = orders.state_count(v); k <= orders.highest[v]; ++k)
      leaves.push_back(model.pool.variable(v, k));
  }
  return leaves;
}

Rows incidence(expr::Pool& pool, const System& system, bool by_name) {
  std::unordered_map<ExprId, std::uint32_t> index;
  for (std::uint32_t u = 0; u < system.unknowns.size(); ++u) index.emplace(system.unknowns[u], u);
  Rows rows(system.equations.size());
  for (std::size_t e = 0; e < rows.size(); ++e) {
    const Equation& equation = system.equations[e];
    auto add = [&](ExprId leaf) {
      auto found = index.find(by_name ? pool.variable(pool[leaf].index, 0) : leaf);
      if (found != index.end() && std::find(rows[e].begin(), rows[e].end(), found->second) == rows[e].end()) {
        rows[e].push_back(found->second);
      }
    };
    // The name alone on one side is the one a person means.
    if (pool[equation.left].op == Op::variable) add(equation.left);
    if (pool[equation.right].op == Op::variable) add(equation.right);
    for (ExprId leaf : symbolic::leaves(pool, equation.left, Op::variable)) add(leaf);
    for (ExprId leaf : symbolic::leaves(pool, equation.right, Op::variable)) add(leaf);
  }
  return rows;
}

System count_by_name(flat::Model& model, const std::vector<Equation>& equations, const Constants& constants) {
  System named;
  for (const Equation& equation : equations) {
    if (equation.component != flat::differentiated) named.equations.push_back(equation);
  }
  for (std::uint32_t v = 0; v < model.variables.size(); ++v) {
    if (!constants.numbers.contains(v) && !model.variables[flat::VariableId(v)].is_absent)
      named.unknowns.push_back(model.pool.variable(v, 0));
  }
  return named;
}

void sort_blocks(System& system, const Rows& rows, const Matching& matching) {
  for (std::vector<std::uint32_t>& equations : components(rows, matching)) {
    Block block;
    for (std::uint32_t e : equations) block.unknowns.push_back(matching.unknown_of[e]);
    block.equations = std::move(equations);
    system.blocks.push_back(std::move(block));
  }
}

}  // namespace structure
