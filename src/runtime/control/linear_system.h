// Data: x' = A x + B u, y = C x + D u, with the names of what stands in x, u and y. All are deviations from an
// operating point.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace control {

// By rows.
struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> entries;

  Matrix() = default;
  Matrix(std::size_t row_count, std::size_t column_count)
      : rows(row_count), columns(column_count), entries(row_count * column_count) {}
  double& operator()(std::size_t row, std::size_t column) { return entries[row * columns + column]; }
  double operator()(std::size_t row, std::size_t column) const { return entries[row * columns + column]; }
};

struct LinearSystem {
  Matrix a, b, c, d;
  std::vector<std::string> states, inputs, outputs;
};

}  // namespace control
