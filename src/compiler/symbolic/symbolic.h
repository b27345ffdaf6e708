// Expressions to expressions: derivatives, substitution, and solving one equation for one unknown. All passes are
// iterative and remember their answer by id, so shared parts are visited once.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/expr/pool.h"

namespace symbolic {

using expr::ExprId;

// Derivatives are exact. A condition counts as constant; floor and ceil have derivative 0; abs has sign; a table is
// sampled data differentiated once more. Noise, whose phase moves, has no derivative: then the answer is empty, and
// `obstacle`, where given, is the expression that has none.

// d(e)/d(leaf).
std::optional<ExprId> differentiate(expr::Pool& pool, ExprId e, ExprId leaf, ExprId* obstacle = nullptr);

// d(e)/d(leaf) for every variable leaf that e depends on, backwards over the expression: all of them cost what e costs
// a few times over. What has no derivative (noise) counts as constant.
std::unordered_map<ExprId, ExprId> gradient(expr::Pool& pool, ExprId e);

// d(e)/dt along the motion between events: a variable's order rises by one, an input becomes its rate, t becomes 1, a
// discrete value is constant. An input's rate has no derivative; that of what delay k gives is `rate_of_delay(k)`, and
// without one it has none.
using RateOfDelay = std::function<ExprId(std::uint32_t delay)>;
std::optional<ExprId> differentiate_in_time(expr::Pool& pool, ExprId e, ExprId* obstacle = nullptr,
                                            const RateOfDelay& rate_of_delay = {});

// Rewrites expressions from the leaves up: `leaf` gives a leaf's new expression, or an invalid id to keep it; `combine`
// puts an operation together again from its rewritten operands. The object remembers its answers, so that many
// expressions over the same leaves cost their size once.
class Rewrite {
 public:
  using Leaf = std::function<ExprId(ExprId)>;
  // The node is the operation as it was; its operands are given apart, rewritten.
  using Combine = std::function<ExprId(const expr::Node& node, ExprId a, ExprId b, ExprId c)>;

  Rewrite(expr::Pool& pool, Leaf leaf, Combine combine)
      : pool_(pool), leaf_(std::move(leaf)), combine_(std::move(combine)) {}
  ExprId operator()(ExprId e);

 private:
  expr::Pool& pool_;
  Leaf leaf_;
  Combine combine_;
  std::unordered_map<ExprId, ExprId> done_;
};

// Replaces leaves only.
class Substitution {
 public:
  Substitution(expr::Pool& pool, Rewrite::Leaf replace)
      : rewrite_(pool, std::move(replace),
                 [&pool](const expr::Node& node, ExprId a, ExprId b, ExprId c) { return pool.remake(node, a, b, c); }) {
  }
  ExprId operator()(ExprId e) { return rewrite_(e); }

 private:
  Rewrite rewrite_;
};

// The leaves of `e` with the given operation, each once, in order of first appearance.
std::vector<ExprId> leaves(const expr::Pool& pool, ExprId e, expr::Op op);
bool contains(const expr::Pool& pool, ExprId e, ExprId leaf);

// Solves left = right for `leaf` when that is possible by undoing + - * / and signs where the leaf stands once, or when
// the equation is linear in it. Empty otherwise, and when the factor of the leaf is zero.
std::optional<ExprId> solve(expr::Pool& pool, ExprId left, ExprId right, ExprId leaf);

}  // namespace symbolic
