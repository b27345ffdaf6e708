// Gathers the factors of a product that depend on parameters only, so that `prepare` computes them once:
//
//   (k * p) / m        ->  (k / m) * p
//   l * (k * x * y)    ->  ((l * k) * x) * y
//
// A factor moves only to meet another: `k * x * y` alone stays as it was written, for its order may be the quicker one.
// One rounding may fall elsewhere; every backend prints the same instructions, so their bits agree.
#pragma once

#include <functional>
#include <optional>

#include "compiler/symbolic/symbolic.h"

namespace lower {

class Regroup {
 public:
  Regroup(expr::Pool& pool, std::function<bool(expr::ExprId)> is_static);
  expr::ExprId operator()(expr::ExprId e) { return rewrite_(e); }

 private:
  expr::ExprId combine(const expr::Node& node, expr::ExprId a, expr::ExprId b, expr::ExprId c);
  // `e` times the static `factor`, or divided by it, with the factor merged into a static factor of e; empty when e has
  // none.
  std::optional<expr::ExprId> absorb(expr::ExprId e, expr::Op op, expr::ExprId factor, int depth);

  expr::Pool& pool_;
  std::function<bool(expr::ExprId)> is_static_;
  symbolic::Rewrite rewrite_;
};

}  // namespace lower
