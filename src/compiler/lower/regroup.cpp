#include "compiler/lower/regroup.h"

#include <vector>

namespace lower {

using expr::ExprId;
using expr::Op;

std::optional<ExprId> Regroup::absorb(ExprId e, Op op, ExprId factor, int depth) {
  const expr::Node node = pool_[e];
  if (depth > 32) return std::nullopt;
  if (node.op == Op::negate) {
    auto inside = absorb(node.a, op, factor, depth + 1);
    return inside ? std::optional(pool_.negate(*inside)) : std::nullopt;
  }
  if (node.op == Op::divide) {
    auto above = absorb(node.a, op, factor, depth + 1);
    return above ? std::optional(pool_.divide(*above, node.b)) : std::nullopt;
  }
  if (node.op != Op::multiply) return std::nullopt;
  if (is_static_(node.a)) return pool_.multiply(pool_.make(op, node.a, factor), node.b);
  if (is_static_(node.b)) return pool_.multiply(node.a, pool_.make(op, node.b, factor));
  if (auto left = absorb(node.a, op, factor, depth + 1)) return pool_.multiply(*left, node.b);
  if (auto right = absorb(node.b, op, factor, depth + 1)) return pool_.multiply(node.a, *right);
  return std::nullopt;
}

ExprId Regroup::operator()(ExprId root) {
  std::vector<std::pair<ExprId, int>> stack = {{root, 0}};
  while (!stack.empty()) {
    auto [id, next] = stack.back();
    if (done_.contains(id)) {
      stack.pop_back();
      continue;
    }
    const expr::Node node = pool_[id];
    const int operands = expr::operand_count(node.op);
    if (next < operands) {
      stack.back().second = next + 1;
      stack.push_back({next == 0 ? node.a : next == 1 ? node.b : node.c, 0});
      continue;
    }
    stack.pop_back();
    if (operands == 0) {
      done_[id] = id;
      continue;
    }
    ExprId a = done_[node.a];
    ExprId b = operands >= 2 ? done_[node.b] : ExprId();
    ExprId c = operands >= 3 ? done_[node.c] : ExprId();
    std::optional<ExprId> merged;
    if (node.op == Op::multiply && is_static_(a) && !is_static_(b)) merged = absorb(b, Op::multiply, a, 0);
    if (node.op == Op::multiply && is_static_(b) && !is_static_(a)) merged = absorb(a, Op::multiply, b, 0);
    if (node.op == Op::divide && is_static_(b) && !is_static_(a)) merged = absorb(a, Op::divide, b, 0);
    done_[id] = merged ? *merged : pool_.make(node.op, a, b, c);
  }
  return done_[root];
}

}  // namespace lower
