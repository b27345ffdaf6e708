#include "compiler/flatten/linear_algebra.h"

#include <algorithm>

namespace flatten {

using expr::ExprId;
using expr::Op;
using expr::Shape;

Value LinearAlgebra::multiply(const Value& a, const Value& b) {
  std::uint32_t inner = a.shape.columns;
  std::uint32_t columns = b.shape.columns;
  Value result{b.shape.is_vector() ? Shape::vector(a.shape.rows) : Shape::matrix(a.shape.rows, columns), {}, false};
  const ExprId zero = pool_.constant(0);
  const Rows of_b = nonzero(b, inner, columns);
  result.items.assign(std::size_t{a.shape.rows} * columns, zero);
  for (std::uint32_t i = 0; i < a.shape.rows; ++i) {
    for (std::uint32_t k = 0; k < inner; ++k) {
      const ExprId factor = a.items[i * inner + k];
      if (factor == zero) continue;
      for (std::uint32_t j : of_b[k]) {
        ExprId& sum = result.items[i * columns + j];
        sum = pool_.add(sum, pool_.multiply(factor, b.items[k * columns + j]));
      }
    }
  }
  return result;
}

std::size_t LinearAlgebra::count_products(const Value& a, const Value& b) {
  const ExprId zero = pool_.constant(0);
  const Rows of_b = nonzero(b, a.shape.columns, b.shape.columns);
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (a.items[i] != zero) count += of_b[i % a.shape.columns].size();
  }
  return count;
}

LinearAlgebra::Rows LinearAlgebra::nonzero(const Value& a, std::uint32_t rows, std::uint32_t columns) {
  const ExprId zero = pool_.constant(0);
  Rows places(rows);
  for (std::uint32_t i = 0; i < rows; ++i) {
    for (std::uint32_t j = 0; j < columns; ++j) {
      if (a.items[i * columns + j] != zero) places[i].push_back(j);
    }
  }
  return places;
}

ExprId LinearAlgebra::dot(const Value& a, const Value& b) {
  ExprId sum = pool_.constant(0);
  const std::size_t size = std::max(a.items.size(), b.items.size());  // one may be the literal 0
  for (std::uint32_t i = 0; i < size; ++i) sum = pool_.add(sum, pool_.multiply(a.item(i), b.item(i)));
  return sum;
}

ExprId LinearAlgebra::norm(const Value& a) {
  if (a.items.size() == 1) return pool_.make(Op::absolute, a.items[0]);
  return pool_.make(Op::square_root, dot(a, a));
}

Value LinearAlgebra::cross(const Value& a, const Value& b) {
  if (a.zero && b.zero) return a;
  auto part = [&](std::uint32_t i, std::uint32_t j) {
    return pool_.subtract(pool_.multiply(a.item(i), b.item(j)), pool_.multiply(a.item(j), b.item(i)));
  };
  if (a.items.size() == 2 || b.items.size() == 2) return {Shape::scalar(), {part(0, 1)}, false};
  return {Shape::vector(3), {part(1, 2), part(2, 0), part(0, 1)}, false};
}

Value LinearAlgebra::direction(const Value& a) {
  ExprId length = norm(a);
  ExprId zero = pool_.constant(0);
  ExprId is_zero = pool_.make(Op::equal, length, zero);
  Value result{a.shape, {}, false};
  for (ExprId item : a.items) result.items.push_back(pool_.make(Op::select, is_zero, zero, pool_.divide(item, length)));
  return result;
}

Value LinearAlgebra::project(const Value& a, const Value& b) {
  ExprId square = dot(b, b);
  ExprId zero = pool_.constant(0);
  ExprId factor = pool_.make(Op::select, pool_.make(Op::equal, square, zero), zero, pool_.divide(dot(a, b), square));
  Value result{b.shape, {}, false};
  for (ExprId item : b.items) result.items.push_back(pool_.multiply(factor, item));
  return result;
}

Value LinearAlgebra::rotate(const Value& a, ExprId angle) {
  ExprId c = pool_.make(Op::cos, angle);
  ExprId s = pool_.make(Op::sin, angle);
  ExprId x = a.item(0);
  ExprId y = a.item(1);
  return {Shape::vector(2),
          {pool_.subtract(pool_.multiply(c, x), pool_.multiply(s, y)),
           pool_.add(pool_.multiply(s, x), pool_.multiply(c, y))},
          false};
}

// v cos + (k x v) sin + k (k . v)(1 - cos), with k the unit vector of the axis.
Value LinearAlgebra::rotate(const Value& a, const Value& axis, ExprId angle) {
  ExprId c = pool_.make(Op::cos, angle);
  ExprId s = pool_.make(Op::sin, angle);
  Value k = axis.zero ? axis : direction(axis);
  Value side = cross(k, a);
  ExprId along = pool_.multiply(dot(k, a), pool_.subtract(pool_.constant(1), c));
  Value result{Shape::vector(3), {}, false};
  for (std::uint32_t i = 0; i < 3; ++i) {
    ExprId turned = pool_.add(pool_.multiply(a.item(i), c), pool_.multiply(side.item(i), s));
    result.items.push_back(pool_.add(turned, pool_.multiply(k.item(i), along)));
  }
  return result;
}

Value LinearAlgebra::transpose(const Value& a) {
  if (a.zero) return a;
  Value result{Shape::matrix(a.shape.columns, a.shape.rows), {}, false};
  for (std::uint32_t j = 0; j < a.shape.columns; ++j) {
    for (std::uint32_t i = 0; i < a.shape.rows; ++i) result.items.push_back(a.items[i * a.shape.columns + j]);
  }
  return result;
}

// By the first of the rows; equal minors have equal ids, so the pool shares them.
ExprId LinearAlgebra::minor(const Value& a, std::vector<std::uint32_t>& rows, std::vector<std::uint32_t>& columns) {
  std::uint32_t n = a.shape.columns;
  if (rows.empty()) return pool_.constant(1);
  if (rows.size() == 1) return a.items[rows[0] * n + columns[0]];
  std::vector<std::uint32_t> rest_rows(rows.begin() + 1, rows.end());
  ExprId sum = pool_.constant(0);
  for (std::size_t j = 0; j < columns.size(); ++j) {
    std::vector<std::uint32_t> rest = columns;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(j));
    ExprId term = pool_.multiply(a.items[rows[0] * n + columns[j]], minor(a, rest_rows, rest));
    sum = j % 2 == 0 ? pool_.add(sum, term) : pool_.subtract(sum, term);
  }
  return sum;
}

ExprId LinearAlgebra::determinant(const Value& a) {
  std::vector<std::uint32_t> all(a.shape.rows);
  for (std::uint32_t i = 0; i < a.shape.rows; ++i) all[i] = i;
  std::vector<std::uint32_t> columns = all;
  return minor(a, all, columns);
}

Value LinearAlgebra::inverse(const Value& a) {
  std::uint32_t n = a.shape.rows;
  ExprId det = determinant(a);
  Value result{a.shape, {}, false};
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::uint32_t j = 0; j < n; ++j) {
      std::vector<std::uint32_t> rows, columns;
      for (std::uint32_t k = 0; k < n; ++k) {
        if (k != j) rows.push_back(k);
        if (k != i) columns.push_back(k);
      }
      ExprId cofactor = minor(a, rows, columns);
      result.items.push_back(pool_.divide((i + j) % 2 == 0 ? cofactor : pool_.negate(cofactor), det));
    }
  }
  return result;
}

Value LinearAlgebra::skew(const Value& a) {
  ExprId zero = pool_.constant(0);
  ExprId x = a.item(0), y = a.item(1), z = a.item(2);
  return {Shape::matrix(3, 3), {zero, pool_.negate(z), y, z, zero, pool_.negate(x), pool_.negate(y), x, zero}, false};
}

Value LinearAlgebra::diagonal(const std::vector<ExprId>& items) {
  auto n = static_cast<std::uint32_t>(items.size());
  Value result{Shape::matrix(n, n), {}, false};
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::uint32_t j = 0; j < n; ++j) result.items.push_back(i == j ? items[i] : pool_.constant(0));
  }
  return result;
}

}  // namespace flatten
