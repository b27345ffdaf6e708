// Blocks that look solvable and are not: x' + y' = f; x' + y' = g. Whether each unknown stands in some equation of its
// own says nothing of the numbers before it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/expr/pool.h"
#include "compiler/flat/model.h"

namespace structure {

// factors[i] of equation i, of largest size 1: in the sum all unknowns cancel, and `rest` = 0 is left, which has none
// of them.
struct Cancellation {
  std::vector<double> factors;
  expr::ExprId rest;
  // Not empty: they cancel whatever the parameters are, but by factors that depend on these; then there is no rest.
  std::vector<std::uint32_t> parameters;
};

// Only for equations that are linear in the unknowns with numbers, parameters and functions of time as factors; empty
// otherwise, and when they are independent. As many unknowns as equations, or not.
//
// Method: Gaussian elimination with complete pivoting on (A, I); a row of zeros in A leaves the factors in I.
// Parameters have the values that they begin with, the time some value. What cancels then and for other values too, by
// the same factors, cancels for all: a polynomial that is zero at a point chosen beforehand is zero everywhere, but for
// a bad coincidence.
[[nodiscard]] std::optional<Cancellation> find_cancellation(flat::Model& model,
                                                            const std::vector<const flat::Equation*>& equations,
                                                            const std::vector<expr::ExprId>& unknowns);

}  // namespace structure
