// Least squares of matrices of any rank: the directions that a matrix feels, the smallest solution among equals, damped
// steps. For the .cpp files of this folder alone.
//
// Method: complete orthogonal decomposition A P = Q [T 0; 0 0] Z (Golub and Van Loan, Matrix Computations, 5.5.2),
// since the divide-and-conquer SVD of Eigen 3.4.0 reads past an empty list where a matrix falls into blocks of which
// one is zero.
#pragma once

#include <Eigen/Dense>

namespace control {

class LeastSquares {
 public:
  // Directions count as not felt when their pivot is at most `threshold` of the largest.
  LeastSquares(const Eigen::MatrixXd& matrix, double threshold);

  Eigen::Index rank() const { return decomposition_.rank(); }
  // Columns: an orthonormal basis of what the matrix maps to zero.
  Eigen::MatrixXd null_space() const;
  // The smallest x with the least |A x - wanted|; one column each.
  Eigen::MatrixXd solve(const Eigen::MatrixXd& wanted) const { return decomposition_.solve(wanted); }

  // The x with the least |A x - wanted|^2 + damping |largest pivot|^2 |x|^2, and by how much |A x - wanted|^2 is less
  // than at x = 0.
  struct Step {
    Eigen::VectorXd x;
    double gain = 0;
  };
  Step damped(const Eigen::VectorXd& wanted, double damping) const;

 private:
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition_;
};

}  // namespace control
