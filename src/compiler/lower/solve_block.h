// How a block is solved: decided once, used by every function that needs it. A linear block is made smaller first
// (eliminate.h): what is left of it comes first, then one direct solution for each unknown that was written out, so
// that nobody works out more than it needs.
#pragma once

#include <functional>
#include <vector>

#include "compiler/expr/pool.h"
#include "compiler/structure/structure.h"

namespace lower {

using expr::ExprId;

struct Solution {
  std::uint32_t block = 0;  // of the system
  enum Kind { direct, linear, newton } kind = direct;
  std::vector<ExprId> unknowns;  // leaves
  std::vector<ExprId> values;    // direct: one each
  ExprId determinant{};          // direct, by Cramer's rule: what must not vanish; else not valid
  std::vector<ExprId> matrix;    // linear: row-major; newton: the Jacobian
  std::vector<ExprId> right;     // linear: right sides; newton: the residuals
  // linear, with constraints that may follow from one another: so many unknowns, the first ones, must be determined;
  // the others, such as forces that share a load, need not be. 0: all must.
  std::uint32_t essential = 0;
};

struct Facts {
  // Whether something outside the block that moves a state reads this unknown, or it is itself a state's rate.
  std::function<bool(ExprId)> moves;
  // Whether an expression that is no number can be divided by.
  std::function<bool(ExprId)> never_zero;
};

// Block number `block` of the system; each solution reads only unknowns of earlier ones.
[[nodiscard]] std::vector<Solution> solve_block(expr::Pool& pool, const structure::System& system, std::uint32_t block,
                                                const Facts& facts);

}  // namespace lower
