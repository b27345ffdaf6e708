#include "compiler/lower/regroup.h"

namespace lower {

using expr::ExprId;
using expr::Op;

Regroup::Regroup(expr::Pool& pool, std::function<bool(ExprId)> is_static)
    : pool_(pool),
      is_static_(std::move(is_static)),
      rewrite_(
          pool, [](ExprId) { return ExprId(); },
          [this](const expr::Node& node, ExprId a, ExprId b, ExprId c) { return combine(node, a, b, c); }) {}

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

ExprId Regroup::combine(const expr::Node& node, ExprId a, ExprId b, ExprId c) {
  const Op op = node.op;
  std::optional<ExprId> merged;
  if (op == Op::multiply || op == Op::divide) {
    const bool static_a = is_static_(a);
    const bool static_b = is_static_(b);
    if (op == Op::multiply && static_a && !static_b) merged = absorb(b, op, a, 0);
    if (static_b && !static_a) merged = absorb(a, op, b, 0);
  }
  return merged ? *merged : pool_.remake(node, a, b, c);
}

}  // namespace lower
