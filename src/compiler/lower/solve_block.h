// How a block is solved: decided once, used by every function that needs it.
#pragma once

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
};

[[nodiscard]] Solution solve_block(expr::Pool& pool, const structure::System& system, const structure::Block& block);

}  // namespace lower
