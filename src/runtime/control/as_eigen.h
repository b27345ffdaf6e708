// Our matrices as Eigen sees them. For the .cpp files of this folder alone: no other header knows Eigen.
#pragma once

#include <Eigen/Dense>

#include "runtime/control/linear_system.h"

namespace control {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

inline Eigen::Map<RowMajor> as_eigen(Matrix& matrix) {
  return {matrix.entries.data(), static_cast<Eigen::Index>(matrix.rows), static_cast<Eigen::Index>(matrix.columns)};
}
inline Eigen::Map<const RowMajor> as_eigen(const Matrix& matrix) {
  return {matrix.entries.data(), static_cast<Eigen::Index>(matrix.rows), static_cast<Eigen::Index>(matrix.columns)};
}
inline Matrix from_eigen(const Eigen::MatrixXd& given) {
  Matrix matrix(static_cast<std::size_t>(given.rows()), static_cast<std::size_t>(given.cols()));
  as_eigen(matrix) = given;
  return matrix;
}

}  // namespace control
