// One equation, one unknown.
//
// Isolation:  f + g = r  ->  f = r - g   and so on, while the unknown stands on one side only and on one path.
// Linearity:  r(z) = left - right with dr/dz = a free of z  ->  z = -r(0) / a.
#include "compiler/symbolic/symbolic.h"

namespace symbolic {

using expr::Node;
using expr::Op;

std::optional<ExprId> solve(expr::Pool& pool, ExprId left, ExprId right, ExprId leaf) {
  bool in_left = contains(pool, left, leaf);
  bool in_right = contains(pool, right, leaf);
  ExprId inside = in_left ? left : right;
  ExprId outside = in_left ? right : left;
  if (in_left != in_right) {
    while (inside != leaf) {
      const Node node = pool[inside];
      if (node.op == Op::negate) {
        outside = pool.negate(outside);
        inside = node.a;
        continue;
      }
      if (node.op != Op::add && node.op != Op::subtract && node.op != Op::multiply && node.op != Op::divide) break;
      bool in_a = contains(pool, node.a, leaf);
      if (in_a && contains(pool, node.b, leaf)) break;
      switch (node.op) {
        case Op::add:
          outside = pool.subtract(outside, in_a ? node.b : node.a);
          break;
        case Op::subtract:
          outside = in_a ? pool.add(outside, node.b) : pool.subtract(node.a, outside);
          break;
        case Op::multiply: {
          ExprId factor = in_a ? node.b : node.a;
          if (pool.is_constant(factor, 0)) return std::nullopt;
          outside = pool.divide(outside, factor);
          break;
        }
        default:
          if (in_a) {
            outside = pool.multiply(outside, node.b);
          } else {
            if (pool.is_constant(outside, 0)) return std::nullopt;
            outside = pool.divide(node.a, outside);
          }
      }
      inside = in_a ? node.a : node.b;
    }
    if (inside == leaf) return outside;
  }
  // What is left of the isolation: inside = outside, with the leaf in one or both.
  ExprId residual = pool.subtract(inside, outside);
  const std::optional<ExprId> slope = differentiate(pool, residual, leaf);
  if (!slope || pool.is_constant(*slope, 0) || contains(pool, *slope, leaf)) return std::nullopt;
  Substitution at_zero(pool, [&](ExprId id) { return id == leaf ? pool.constant(0) : ExprId(); });
  ExprId rest = at_zero(residual);
  return pool.negate(pool.divide(rest, *slope));
}

}  // namespace symbolic
