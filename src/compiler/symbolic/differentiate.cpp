// Rules of differentiation, forward over the expression in post-order: the answer for a node is made of the answers for
// its operands. What does not depend on the leaf has derivative 0, which Pool::make drops at once.
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

// The derivative of operation `id`, one on doubles but `select`, from those of its operands; an invalid id: it has
// none.
ExprId chain(expr::Pool& pool, ExprId id, const Node& node, ExprId da, ExprId db) {
  const ExprId zero = pool.constant(0);
  const ExprId one = pool.constant(1);
  const ExprId a = node.a;
  const ExprId b = node.b;
  auto square = [&](ExprId e) { return pool.multiply(e, e); };
  switch (node.op) {
    case Op::add:
      return pool.add(da, db);
    case Op::subtract:
      return pool.subtract(da, db);
    case Op::multiply:
      return a == b ? pool.multiply(pool.constant(2), pool.multiply(a, da))
                    : pool.add(pool.multiply(da, b), pool.multiply(a, db));
    case Op::divide:  // (a / b)' = (a' - (a / b) b') / b
      return pool.divide(pool.subtract(da, pool.multiply(id, db)), b);
    case Op::negate:
      return pool.negate(da);
    case Op::square_root:
      return pool.divide(da, pool.multiply(pool.constant(2), id));
    case Op::absolute:
      return pool.multiply(pool.sign(a, node.order > 0), da);
    case Op::sin:
      return pool.multiply(pool.make(Op::cos, a), da);
    case Op::cos:
      return pool.negate(pool.multiply(pool.make(Op::sin, a), da));
    case Op::tan:
      return pool.multiply(pool.add(one, square(id)), da);
    case Op::asin:
      return pool.divide(da, pool.make(Op::square_root, pool.subtract(one, square(a))));
    case Op::acos:
      return pool.negate(pool.divide(da, pool.make(Op::square_root, pool.subtract(one, square(a)))));
    case Op::atan:
      return pool.divide(da, pool.add(one, square(a)));
    case Op::atan2:  // of (y, x): (x y' - y x') / (x^2 + y^2)
      return pool.divide(pool.subtract(pool.multiply(b, da), pool.multiply(a, db)), pool.add(square(a), square(b)));
    case Op::exp:
      return pool.multiply(id, da);
    case Op::log:
      return pool.divide(da, a);
    case Op::power: {
      // (a^b)' = b a^(b-1) a' + a^b log(a) b'; the second term only where the exponent moves.
      ExprId first = pool.multiply(pool.multiply(b, pool.make(Op::power, a, pool.subtract(b, one))), da);
      return db == zero ? first : pool.add(first, pool.multiply(pool.multiply(id, pool.make(Op::log, a)), db));
    }
    case Op::table:
      return pool.multiply(pool.table(node.index, a, node.order + 1), da);
    case Op::table_2:
      return pool.add(pool.multiply(pool.table_2(node.index, a, b, node.order + 1, node.order_b), da),
                      pool.multiply(pool.table_2(node.index, a, b, node.order, node.order_b + 1u), db));
    case Op::noise:
      return ExprId();
    default:
      TACTUS_CHECK(!"an operation on doubles");
      return ExprId();
  }
}

// `of_leaf` gives a leaf's derivative, or an invalid id when it has none; then what depends on it has none either. On
// such an answer `obstacle` is the innermost expression without a derivative.
template <class OfLeaf>
std::optional<ExprId> derivative(expr::Pool& pool, ExprId root, OfLeaf of_leaf, ExprId* obstacle) {
  std::unordered_map<ExprId, ExprId> d;  // invalid ids: none
  std::vector<bool> visited;
  std::vector<ExprId> order;
  expr::visit_postorder(pool, {root}, visited, [&](ExprId id) { order.push_back(id); });
  const ExprId zero = pool.constant(0);
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
    const ExprId da = d[node.a];
    const ExprId db = operands >= 2 ? d[node.b] : zero;
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
    d[id] = chain(pool, id, node, da, db);
  }
  if (d[root].valid()) return d[root];
  if (obstacle != nullptr) *obstacle = innermost_without(pool, root, d);
  return std::nullopt;
}

}  // namespace

std::unordered_map<ExprId, ExprId> gradient(expr::Pool& pool, ExprId e) {
  std::vector<bool> visited;
  std::vector<ExprId> order;
  expr::visit_postorder(pool, {e}, visited, [&](ExprId id) { order.push_back(id); });
  const ExprId zero = pool.constant(0);
  const ExprId one = pool.constant(1);
  std::unordered_map<ExprId, ExprId> weight = {{e, one}};  // how fast e changes with each part of it
  std::unordered_map<ExprId, ExprId> found;
  const auto add = [&](ExprId part, ExprId by) {
    auto [at, is_first] = weight.emplace(part, by);
    if (!is_first) at->second = pool.add(at->second, by);
  };
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const auto known = weight.find(*at);
    if (known == weight.end() || known->second == zero) continue;
    const ExprId by = known->second;
    const Node node = pool[*at];
    if (node.op == Op::variable) found.emplace(*at, by);
    if (expr::is_leaf(node.op) || pool.is_truth(*at) || node.op == Op::floor || node.op == Op::ceil ||
        node.op == Op::noise)
      continue;
    if (node.op == Op::select) {
      add(node.b, pool.make(Op::select, node.a, by, zero));
      add(node.c, pool.make(Op::select, node.a, zero, by));
      continue;
    }
    const bool has_two = expr::operand_count(node.op) >= 2;
    if (has_two && node.a == node.b) {
      add(node.a, pool.multiply(by, chain(pool, *at, node, one, one)));
      continue;
    }
    add(node.a, pool.multiply(by, chain(pool, *at, node, one, zero)));
    if (has_two) add(node.b, pool.multiply(by, chain(pool, *at, node, zero, one)));
  }
  return found;
}

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
