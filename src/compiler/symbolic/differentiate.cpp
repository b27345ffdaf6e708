// Rules of differentiation, forward over the expression in post-order: the answer for a node is made of the answers for its
// operands. What does not depend on the leaf has derivative 0, which Pool::make drops at once.
#include <algorithm>

#include "base/check.h"
#include "compiler/symbolic/symbolic.h"

namespace symbolic {
namespace {

using expr::Node;
using expr::Op;

// From `id`, which has no derivative, down to the operand that is the reason.
ExprId innermost_without(const expr::Pool& pool, ExprId id, const std::unordered_map<ExprId, ExprId>& d) {
  while (true) {
    const Node& node = pool[id];
    const int operands = expr::operand_count(node.op);
    ExprId inner;
    if (operands >= 3 && !d.at(node.c).valid()) inner = node.c;
    if (operands >= 2 && !d.at(node.b).valid()) inner = node.b;
    if (operands >= 1 && !d.at(node.a).valid()) inner = node.a;
    if (!inner.valid()) return id;
    id = inner;
  }
}

// `of_leaf` gives a leaf's derivative, or an invalid id when it has none; then what depends on it has none either. On such an
// answer `obstacle` is the innermost expression without a derivative.
template <class OfLeaf>
std::optional<ExprId> derivative(expr::Pool& pool, ExprId root, OfLeaf of_leaf, ExprId* obstacle) {
  std::unordered_map<ExprId, ExprId> d;  // invalid ids: none
  std::vector<bool> visited;
  std::vector<ExprId> order;
  expr::visit_postorder(pool, {root}, visited, [&](ExprId id) { order.push_back(id); });
  const ExprId zero = pool.constant(0);
  const ExprId one = pool.constant(1);
  for (ExprId id : order) {
    const Node node = pool[id];  // a copy: making expressions moves the pool
    if (expr::is_leaf(node.op)) {
      d[id] = of_leaf(id);
      continue;
    }
    if (pool.is_truth(id) || node.op == Op::floor || node.op == Op::ceil) {
      d[id] = zero;
      continue;
    }
    const int operands = expr::operand_count(node.op);
    const ExprId a = node.a;
    const ExprId da = d[a];
    const ExprId b = node.b;
    const ExprId db = operands >= 2 ? d[b] : zero;
    if (!da.valid() || !db.valid() || (operands == 3 && !d[node.c].valid())) {
      d[id] = ExprId();
      continue;
    }
    if (node.op == Op::select) {
      d[id] = pool.make(Op::select, node.a, db, d[node.c]);
      continue;
    }
    if (da == zero && db == zero) {
      d[id] = zero;
      continue;
    }
    auto square = [&](ExprId e) { return pool.multiply(e, e); };
    switch (node.op) {
      case Op::add:
        d[id] = pool.add(da, db);
        break;
      case Op::subtract:
        d[id] = pool.subtract(da, db);
        break;
      case Op::multiply:
        d[id] = a == b ? pool.multiply(pool.constant(2), pool.multiply(a, da))
                       : pool.add(pool.multiply(da, b), pool.multiply(a, db));
        break;
      case Op::divide:  // (a / b)' = (a' - (a / b) b') / b
        d[id] = pool.divide(pool.subtract(da, pool.multiply(id, db)), b);
        break;
      case Op::negate:
        d[id] = pool.negate(da);
        break;
      case Op::square_root:
        d[id] = pool.divide(da, pool.multiply(pool.constant(2), id));
        break;
      case Op::absolute:
        d[id] = pool.multiply(pool.sign(a, node.order > 0), da);
        break;
      case Op::sin:
        d[id] = pool.multiply(pool.make(Op::cos, a), da);
        break;
      case Op::cos:
        d[id] = pool.negate(pool.multiply(pool.make(Op::sin, a), da));
        break;
      case Op::tan:
        d[id] = pool.multiply(pool.add(one, square(id)), da);
        break;
      case Op::asin:
        d[id] = pool.divide(da, pool.make(Op::square_root, pool.subtract(one, square(a))));
        break;
      case Op::acos:
        d[id] = pool.negate(pool.divide(da, pool.make(Op::square_root, pool.subtract(one, square(a)))));
        break;
      case Op::atan:
        d[id] = pool.divide(da, pool.add(one, square(a)));
        break;
      case Op::atan2:  // of (y, x): (x y' - y x') / (x^2 + y^2)
        d[id] = pool.divide(pool.subtract(pool.multiply(b, da), pool.multiply(a, db)), pool.add(square(a), square(b)));
        break;
      case Op::exp:
        d[id] = pool.multiply(id, da);
        break;
      case Op::log:
        d[id] = pool.divide(da, a);
        break;
      case Op::power: {
        // (a^b)' = b a^(b-1) a' + a^b log(a) b'; the second term only where the exponent moves.
        ExprId first = pool.multiply(pool.multiply(b, pool.make(Op::power, a, pool.subtract(b, one))), da);
        d[id] = db == zero ? first : pool.add(first, pool.multiply(pool.multiply(id, pool.make(Op::log, a)), db));
        break;
      }
      case Op::table:
        d[id] = pool.multiply(pool.table(node.index, a, node.order + 1), da);
        break;
      case Op::table_2:
        d[id] = pool.add(pool.multiply(pool.table_2(node.index, a, b, node.order + 1, node.order_b), da),
                         pool.multiply(pool.table_2(node.index, a, b, node.order, node.order_b + 1u), db));
        break;
      case Op::noise:
        d[id] = ExprId();
        break;
      default:
        TACTUS_CHECK(!"an operation on doubles");
    }
  }
  if (d[root].valid()) return d[root];
  if (obstacle != nullptr) *obstacle = innermost_without(pool, root, d);
  return std::nullopt;
}

}  // namespace

std::optional<ExprId> differentiate(expr::Pool& pool, ExprId e, ExprId leaf, ExprId* obstacle) {
  const ExprId one = pool.constant(1);
  const ExprId zero = pool.constant(0);
  return derivative(pool, e, [&](ExprId id) { return id == leaf ? one : zero; }, obstacle);
}

std::optional<ExprId> differentiate_in_time(expr::Pool& pool, ExprId e, ExprId* obstacle,
                                            const RateOfDelay& rate_of_delay) {
  const auto of_leaf = [&](ExprId id) {
    const Node node = pool[id];
    switch (node.op) {
      case Op::time:
        return pool.constant(1);
      case Op::variable:
        return pool.variable(node.index, node.order + 1);
      case Op::input:
        return pool.input_rate(node.index);
      case Op::input_rate:
        return ExprId();
      case Op::delayed:
        return rate_of_delay ? rate_of_delay(node.index) : ExprId();
      default:
        return pool.constant(0);
    }
  };
  return derivative(pool, e, of_leaf, obstacle);
}

}  // namespace symbolic
