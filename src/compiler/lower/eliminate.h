// A z = b made smaller before it is solved: an unknown whose factor in some equation is a number, or a parameter that
// cannot be 0, is written out there and put into the others.
//
//   x'' - x * lambda = 0;  y'' - y * lambda = -g;  x * x'' + y * y'' = -v    ->    (x * x + y * y) * lambda = y * g - v
//                                                                                  y'' = y * lambda - g;  x'' = x *
//                                                                                  lambda
//
// Which one comes next: of the factors that are safe to divide by, the one whose row and column leave the fewest new
// products (Markowitz, Management Science 3(3), 1957); of equals the first. Safe is a factor that is not small beside
// the other numbers of its row. Where the equations may follow from one another, only what is a number times one other
// unknown is written out, and never one that must be determined by one that need not be: then the rest determines as
// much as the whole did. It ends when none is left, or when the products would be more than a matrix has entries a few
// times over: then code would grow faster than the time saved.
#pragma once

#include <functional>
#include <vector>

#include "compiler/expr/pool.h"

namespace lower {

using expr::ExprId;

struct Eliminated {
  std::size_t row;     // the equation it was written out from
  std::size_t column;  // the unknown
  ExprId value;        // over unknowns that are left, and ones that were eliminated later
  bool is_as_written;  // the row was still what it was at first
};

struct Elimination {
  std::vector<Eliminated> steps;     // in order: values are worked out from the last to the first
  std::vector<std::size_t> rows;     // left, in order
  std::vector<std::size_t> columns;  // left, in order
  std::vector<ExprId> matrix;        // of those: row-major
  std::vector<ExprId> right;
};

// `never_zero`: whether an expression that is no number can be divided by. `essential`: as in Solution; 0 where all
// equations are independent.
[[nodiscard]] Elimination eliminate(expr::Pool& pool, const std::vector<ExprId>& unknowns,
                                    const std::vector<ExprId>& matrix, const std::vector<ExprId>& right,
                                    const std::function<bool(ExprId)>& never_zero, std::size_t essential);

// Whether the rows in `among` cannot depend on one another: taking out one after the other that has a number where none
// of the rest has anything, at most one is left.
[[nodiscard]] bool are_independent(const expr::Pool& pool, const std::vector<ExprId>& matrix,
                                   const std::vector<bool>& among);

}  // namespace lower
