#include "dense.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace judge {

bool Factors::factor(std::size_t n, std::vector<double> matrix) {
  n_ = n;
  matrix_ = std::move(matrix);
  scale_.assign(n, 1.0);
  pivot_.resize(n);
  usable_ = false;
  double* m = matrix_.data();
  for (std::size_t i = 0; i < n; ++i) {
    double largest = 0;
    for (std::size_t k = 0; k < n; ++k) largest = std::max(largest, std::fabs(m[i * n + k]));
    if (!(largest > 0) || !std::isfinite(largest)) return false;
    scale_[i] = 1 / largest;
    for (std::size_t k = 0; k < n; ++k) m[i * n + k] *= scale_[i];
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t best = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::fabs(m[i * n + k]) > std::fabs(m[best * n + k])) best = i;
    pivot_[k] = best;
    if (best != k) std::swap_ranges(m + k * n, m + (k + 1) * n, m + best * n);
    if (!(std::fabs(m[k * n + k]) > 1e-13)) return false;
    for (std::size_t i = k + 1; i < n; ++i) {
      if (m[i * n + k] == 0) continue;
      const double factor = m[i * n + k] /= m[k * n + k];
      for (std::size_t j = k + 1; j < n; ++j) m[i * n + j] -= factor * m[k * n + j];
    }
  }
  usable_ = true;
  return true;
}

void Factors::solve(std::vector<double>& b) const {
  const double* m = matrix_.data();
  for (std::size_t i = 0; i < n_; ++i) b[i] *= scale_[i];
  for (std::size_t k = 0; k < n_; ++k) std::swap(b[k], b[pivot_[k]]);
  for (std::size_t i = 0; i < n_; ++i)
    for (std::size_t k = 0; k < i; ++k) b[i] -= m[i * n_ + k] * b[k];
  for (std::size_t i = n_; i-- > 0;) {
    for (std::size_t k = i + 1; k < n_; ++k) b[i] -= m[i * n_ + k] * b[k];
    b[i] /= m[i * n_ + i];
  }
}

bool IndependentRows::offer(std::vector<double> row) {
  const auto length = [](const std::vector<double>& v) {
    double sum = 0;
    for (double x : v) sum += x * x;
    return std::sqrt(sum);
  };
  const double whole = length(row);
  if (!(whole > 0)) return false;
  for (int turn = 0; turn < 2; ++turn) {
    for (const auto& direction : basis_) {
      double along = 0;
      for (std::size_t i = 0; i < row.size(); ++i) along += direction[i] * row[i];
      if (along == 0) continue;
      for (std::size_t i = 0; i < row.size(); ++i) row[i] -= along * direction[i];
    }
  }
  const double rest = length(row);
  if (!(rest > 1e-6 * whole)) return false;
  for (double& x : row) x /= rest;
  basis_.push_back(std::move(row));
  return true;
}

std::vector<double> least_solution(std::size_t rows, std::size_t columns, const std::vector<double>& a,
                                   const std::vector<double>& b) {
  // x = A' (A A' + e)^-1 b, improved by its own remainder: e takes the place of a rank.
  std::vector<double> square(rows * rows);
  double largest = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k <= i; ++k) {
      double sum = 0;
      for (std::size_t j = 0; j < columns; ++j) sum += a[i * columns + j] * a[k * columns + j];
      square[i * rows + k] = square[k * rows + i] = sum;
    }
    largest = std::max(largest, square[i * rows + i]);
  }
  for (std::size_t i = 0; i < rows; ++i) square[i * rows + i] += 1e-10 * largest;
  Factors factors;
  std::vector<double> x(columns, 0.0);
  if (!factors.factor(rows, std::move(square))) return x;
  std::vector<double> rest = b;
  for (int turn = 0; turn < 3; ++turn) {
    std::vector<double> y = rest;
    factors.solve(y);
    for (std::size_t j = 0; j < columns; ++j)
      for (std::size_t i = 0; i < rows; ++i) x[j] += a[i * columns + j] * y[i];
    for (std::size_t i = 0; i < rows; ++i) {
      rest[i] = b[i];
      for (std::size_t j = 0; j < columns; ++j) rest[i] -= a[i * columns + j] * x[j];
    }
  }
  return x;
}

}  // namespace judge
