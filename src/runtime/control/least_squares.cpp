#include "runtime/control/least_squares.h"

namespace control {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

LeastSquares::LeastSquares(const MatrixXd& matrix, double threshold) {
  decomposition_.setThreshold(threshold);
  decomposition_.compute(matrix);
}

MatrixXd LeastSquares::null_space() const {
  const Index open = decomposition_.cols() - rank();
  if (rank() == 0) return MatrixXd::Identity(decomposition_.cols(), decomposition_.cols());
  if (open == 0) return MatrixXd(decomposition_.cols(), 0);
  const MatrixXd rows = decomposition_.matrixZ().bottomRows(open);
  return decomposition_.colsPermutation() * rows.transpose();
}

LeastSquares::Step LeastSquares::damped(const VectorXd& wanted, double damping) const {
  Step step{VectorXd::Zero(decomposition_.cols()), 0};
  const Index count = rank();
  if (count == 0) return step;
  const MatrixXd t = decomposition_.matrixT().topLeftCorner(count, count).triangularView<Eigen::Upper>();
  const VectorXd along = (decomposition_.householderQ().adjoint() * wanted).head(count);
  VectorXd y;
  if (damping == 0) {
    y = t.triangularView<Eigen::Upper>().solve(along);
  } else {
    MatrixXd normal = t.transpose() * t;
    normal.diagonal().array() += damping * t(0, 0) * t(0, 0);
    y = normal.llt().solve(t.transpose() * along);
  }
  step.gain = along.squaredNorm() - (along - t * y).squaredNorm();
  // Z is not made where all directions are felt.
  if (count < decomposition_.cols()) y = (decomposition_.matrixZ().topRows(count).transpose() * y).eval();
  step.x = decomposition_.colsPermutation() * y;
  return step;
}

}  // namespace control
