// How a block is solved: decided once, used by every function that needs it.
#pragma once

#include <functional>
#include <vector>

#include "compiler/expr/pool.h"
#include "compiler/structure/structure.h"

namespace lower {

using expr::ExprId;

struct Solution {
  enum Kind { direct, linear, newton } kind = direct;
  std::vector<ExprId> unknowns;  // leaves
  std::vector<ExprId> values;    // direct: one each
  ExprId determinant{};          // direct, by Cramer's rule: what must not vanish; else not valid
  std::vector<ExprId> matrix;    // linear: row-major; newton: the Jacobian
  std::vector<ExprId> right;     // linear: right sides; newton: the residuals
  // linear, with constraints that may follow from one another: so many unknowns, the first ones, must be determined; the others, such as
  // forces that share a load, need not be. 0: all must.
  std::uint32_t essential = 0;
};

// `moves`: whether something outside the block that moves a state reads this unknown, or it is itself a state's rate.
[[nodiscard]] Solution solve_block(expr::Pool& pool, const structure::System& system, const structure::Block& block,
                                   const std::function<bool(ExprId)>& moves);

}  // namespace lower
