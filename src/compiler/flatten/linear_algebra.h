// Vectors and matrices of scalar expressions, written out: what `norm`, `cross`, `rotate`, `inverse` .. mean in scalars.
#pragma once

#include <vector>

#include "compiler/expr/pool.h"
#include "compiler/expr/shape.h"

namespace flatten {

struct Value {
  expr::Shape shape;
  std::vector<expr::ExprId> items;  // row-major
  bool zero = false;                // the literal 0, which has any shape

  // Component i; a scalar spreads.
  expr::ExprId item(std::uint32_t i) const { return items.size() == 1 ? items[0] : items[i]; }
};

// Every vector may be the literal 0.
class LinearAlgebra {
 public:
  explicit LinearAlgebra(expr::Pool& pool) : pool_(pool) {}

  Value multiply(const Value& a, const Value& b);              // a is a matrix; known zeros cost nothing
  std::size_t count_products(const Value& a, const Value& b);  // of scalars, that `multiply` makes
  expr::ExprId dot(const Value& a, const Value& b);
  expr::ExprId norm(const Value& a);
  Value cross(const Value& a, const Value& b);                          // of two vectors of 2: the scalar a1 b2 - a2 b1
  Value direction(const Value& a);                                      // of zero: zero
  Value project(const Value& a, const Value& b);                        // the part of a along b; b = 0: zero
  Value rotate(const Value& a, expr::ExprId angle);                     // counter-clockwise, in the plane
  Value rotate(const Value& a, const Value& axis, expr::ExprId angle);  // Rodrigues' formula
  Value transpose(const Value& a);
  expr::ExprId determinant(const Value& a);
  Value inverse(const Value& a);  // adjugate over determinant
  Value skew(const Value& a);     // skew(a) * b = cross(a, b)
  Value diagonal(const std::vector<expr::ExprId>& items);

 private:
  using Rows = std::vector<std::vector<std::uint32_t>>;

  // By row, the columns where something other than the number 0 stands.
  Rows nonzero(const Value& a, std::uint32_t rows, std::uint32_t columns);
  expr::ExprId minor(const Value& a, std::vector<std::uint32_t>& rows, std::vector<std::uint32_t>& columns);

  expr::Pool& pool_;
};

}  // namespace flatten
