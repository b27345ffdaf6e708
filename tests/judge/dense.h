// Dense linear algebra of the judge: Gaussian elimination with partial pivoting on scaled rows, and Gram and Schmidt's
// search for rows that depend on each other. Row-major.
#pragma once

#include <cstddef>
#include <vector>

namespace judge {

class Factors {
 public:
  // False when singular to rounding; then nothing can be solved.
  bool factor(std::size_t n, std::vector<double> matrix);
  void solve(std::vector<double>& b) const;
  bool usable() const { return usable_; }

 private:
  std::size_t n_ = 0;
  bool usable_ = false;
  std::vector<double> matrix_, scale_;
  std::vector<std::size_t> pivot_;
};

// Rows offered one by one; keeps those that are independent of the ones kept before.
class IndependentRows {
 public:
  bool offer(std::vector<double> row);
  std::size_t count() const { return basis_.size(); }

 private:
  std::vector<std::vector<double>> basis_;  // orthonormal
};

// The smallest x with A x = b for `rows` rows of `columns`; what cannot be met is met in the mean.
std::vector<double> least_solution(std::size_t rows, std::size_t columns, const std::vector<double>& a,
                                   const std::vector<double>& b);

}  // namespace judge
