// Shapes: a scalar, a vector of n, a matrix of rows x columns. A vector is a column.
#pragma once

#include <cstdint>
#include <string>

namespace expr {

struct Shape {
  std::uint32_t rank = 0;  // 0 scalar, 1 vector, 2 matrix
  std::uint32_t rows = 1;
  std::uint32_t columns = 1;

  static constexpr Shape scalar() { return {}; }
  static constexpr Shape vector(std::uint32_t n) { return {1, n, 1}; }
  static constexpr Shape matrix(std::uint32_t rows, std::uint32_t columns) { return {2, rows, columns}; }
  constexpr bool is_scalar() const { return rank == 0; }
  constexpr bool is_vector() const { return rank == 1; }
  constexpr bool is_matrix() const { return rank == 2; }
  constexpr std::uint32_t size() const { return rows * columns; }
  friend constexpr bool operator==(const Shape&, const Shape&) = default;
};

// "a scalar", "a vector of 3", "a 3 x 2 matrix".
std::string describe(const Shape& shape);

}  // namespace expr
