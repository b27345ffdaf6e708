#include "compiler/origins.h"

#include <unordered_set>

#include "compiler/lower/lower.h"

namespace compiler {
namespace {

std::string leaf_name(const flat::Model& model, expr::ExprId leaf) {
  const expr::Node& node = model.pool[leaf];
  return node.op == expr::Op::time ? "t" : flat::leaf_names(model)(node);
}

// All that an equation reads but numbers, each once, from left to right.
std::vector<expr::ExprId> leaves_of(const expr::Pool& pool, const flat::Equation& equation) {
  std::vector<expr::ExprId> leaves;
  std::unordered_set<expr::ExprId> seen;
  std::vector<expr::ExprId> open = {equation.right, equation.left};
  while (!open.empty()) {
    const expr::ExprId id = open.back();
    open.pop_back();
    if (!seen.insert(id).second) continue;
    const expr::Node& node = pool[id];
    if (expr::is_leaf(node.op)) {
      if (node.op != expr::Op::constant && node.op != expr::Op::truth) leaves.push_back(id);
      continue;
    }
    const int operands = expr::operand_count(node.op);
    if (operands >= 3) open.push_back(node.c);
    if (operands >= 2) open.push_back(node.b);
    open.push_back(node.a);
  }
  return leaves;
}

std::vector<Origin> origins_of(const structure::System& system, const flat::Model& model,
                               const diag::SourceMap& sources) {
  std::vector<Origin> list;
  for (const structure::Block& block : system.blocks) {
    for (std::size_t i = 0; i < block.equations.size(); ++i) {
      const flat::Equation& equation = system.equations[block.equations[i]];
      const expr::ExprId unknown = system.unknowns[block.unknowns[i]];
      Origin origin;
      origin.name = leaf_name(model, unknown);
      origin.text = lower::equation_text(model, equation, sources);
      origin.line = sources.position(equation.span.file, equation.span.begin).line;
      for (expr::ExprId leaf : leaves_of(model.pool, equation)) {
        if (leaf != unknown) origin.reads.push_back(leaf_name(model, leaf));
      }
      list.push_back(std::move(origin));
    }
  }
  return list;
}

}  // namespace

void Origins::take(const structure::Sorted& sorted, const flat::Model& model, const diag::SourceMap& sources) {
  if (start.empty()) start = origins_of(sorted.start, model, sources);
  motion.push_back(origins_of(sorted.motion, model, sources));
  for (std::size_t i = 0; i < sorted.states.size(); ++i)
    rates[leaf_name(model, sorted.states[i])] = leaf_name(model, sorted.state_rates[i]);
}

}  // namespace compiler
