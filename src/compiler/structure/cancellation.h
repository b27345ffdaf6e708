// Blocks that look solvable and are not: x' + y' = f; x' + y' = g. Whether each unknown stands in some equation of its own says
// nothing of the numbers before it.
#pragma once

#include <optional>
#include <vector>

#include "compiler/expr/pool.h"
#include "compiler/flat/model.h"

namespace structure {

// factors[i] of equation i, of largest size 1: in the sum all unknowns cancel, and `rest` = 0 is left, which has none of them.
struct Cancellation {
  std::vector<double> factors;
  expr::ExprId rest;
};

// Only for equations that are linear in the unknowns with numbers as factors; empty otherwise, and when they are regular.
//
// Method: Gaussian elimination with complete pivoting on (A, I); a row of zeros in A leaves the factors in I.
[[nodiscard]] std::optional<Cancellation> find_cancellation(expr::Pool& pool,
                                                            const std::vector<const flat::Equation*>& equations,
                                                            const std::vector<expr::ExprId>& unknowns);

}  // namespace structure
