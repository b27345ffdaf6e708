#include "compiler/symbolic/symbolic.h"

namespace symbolic {

ExprId Rewrite::operator()(ExprId root) {
  // Iterative post-order over what is not yet done.
  std::vector<std::pair<ExprId, int>> stack = {{root, 0}};
  while (!stack.empty()) {
    auto [id, next] = stack.back();
    if (done_.contains(id)) {
      stack.pop_back();
      continue;
    }
    const expr::Node node = pool_[id];  // a copy: making expressions moves the pool
    const int operands = expr::operand_count(node.op);
    if (next < operands) {
      stack.back().second = next + 1;
      stack.push_back({next == 0 ? node.a : next == 1 ? node.b : node.c, 0});
      continue;
    }
    stack.pop_back();
    if (operands == 0) {
      ExprId replaced = leaf_(id);
      done_[id] = replaced.valid() ? replaced : id;
      continue;
    }
    done_[id] = combine_(node, done_[node.a], operands >= 2 ? done_[node.b] : ExprId(),
                         operands >= 3 ? done_[node.c] : ExprId());
  }
  return done_[root];
}

std::vector<ExprId> leaves(const expr::Pool& pool, ExprId e, expr::Op op) {
  // A small set of seen ids: an equation is small beside the pool.
  std::vector<ExprId> found;
  std::vector<ExprId> stack = {e};
  std::unordered_map<ExprId, bool> seen;
  while (!stack.empty()) {
    ExprId id = stack.back();
    stack.pop_back();
    if (!seen.emplace(id, true).second) continue;
    const expr::Node& node = pool[id];
    if (expr::is_leaf(node.op)) {
      if (node.op == op) found.push_back(id);
      continue;
    }
    const int operands = expr::operand_count(node.op);
    if (operands >= 3) stack.push_back(node.c);
    if (operands >= 2) stack.push_back(node.b);
    stack.push_back(node.a);
  }
  return found;
}

bool contains(const expr::Pool& pool, ExprId e, ExprId leaf) {
  std::vector<ExprId> stack = {e};
  std::unordered_map<ExprId, bool> seen;
  while (!stack.empty()) {
    ExprId id = stack.back();
    stack.pop_back();
    if (id == leaf) return true;
    if (id < leaf || !seen.emplace(id, true).second) continue;  // children are smaller than parents
    const expr::Node& node = pool[id];
    const int operands = expr::operand_count(node.op);
    if (operands >= 3) stack.push_back(node.c);
    if (operands >= 2) stack.push_back(node.b);
    if (operands >= 1) stack.push_back(node.a);
  }
  return false;
}

}  // namespace symbolic
