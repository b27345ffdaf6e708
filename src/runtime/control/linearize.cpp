#include "runtime/control/linearize.h"

#include <algorithm>
#include <cmath>

#include "kernel/kernel.h"
#include "runtime/control/as_eigen.h"
#include "runtime/control/least_squares.h"

namespace control {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

// A row of G counts as following from others below this part of the largest, all rows having the same length.
constexpr double dependent = 1e-10;

const double* states_of(const tactus_model& model, const tactus_instance* instance) {
  return tactus_data_const(instance) + model.layout.states;
}

// The tangent of `function` along `direction` as a column of `result`.
tactus_status add_column(const tactus_model& model, tactus_instance* instance, std::uint32_t function,
                         const std::vector<double>& direction, std::vector<double>& scratch, std::size_t column,
                         Matrix& result) {
  scratch.resize(std::max<std::size_t>(result.rows, 1));
  const int status = model.tangent(&model, instance, function, instance->time, states_of(model, instance),
                                   direction.data(), scratch.data());
  if (status != TACTUS_OK) return static_cast<tactus_status>(status);
  for (std::size_t row = 0; row < result.rows; ++row) {
    if (!std::isfinite(scratch[row])) return TACTUS_NOT_FINITE;
    result(row, column) = scratch[row];
  }
  return TACTUS_OK;
}

// By each state, for functions that have no pattern.
tactus_status by_states(const tactus_model& model, tactus_instance* instance, std::uint32_t function,
                        std::uint32_t rows, Matrix& result) {
  result = Matrix(rows, model.state_count);
  std::vector<double> direction(tactus_direction_size(&model)), scratch;
  for (std::uint32_t j = 0; j < model.state_count; ++j) {
    double& along = direction[tactus_direction_states(&model) + j];
    along = 1;
    if (auto status = add_column(model, instance, function, direction, scratch, j, result)) return status;
    along = 0;
  }
  return TACTUS_OK;
}

// By the rates of those inputs that have one.
tactus_status by_rates(const tactus_model& model, tactus_instance* instance, std::uint32_t function, std::uint32_t rows,
                       std::span<const Input> inputs, Matrix& result) {
  result = Matrix(rows, inputs.size());
  std::vector<double> direction(tactus_direction_size(&model)), scratch;
  for (std::size_t j = 0; j < inputs.size(); ++j) {
    if (inputs[j].is_parameter) continue;
    double& along = direction[tactus_direction_input_rates(&model) + inputs[j].index];
    along = 1;
    if (auto status = add_column(model, instance, function, direction, scratch, j, result)) return status;
    along = 0;
  }
  return TACTUS_OK;
}

// dx = N z + S u, and which states z are. Without constraints N is the identity and S zero.
struct Coordinates {
  MatrixXd n, s;
  std::vector<std::uint32_t> independent;
};

Coordinates choose_coordinates(Index state_count, MatrixXd g, MatrixXd g_by_inputs) {
  Coordinates coordinates;
  const Index count = g.rows();
  for (Index i = 0; i < count; ++i) {
    const double length = g.row(i).norm();
    if (length == 0) continue;
    g.row(i) /= length;
    g_by_inputs.row(i) /= length;
  }
  Index rank = 0;
  MatrixXd null = MatrixXd::Identity(state_count, state_count);
  coordinates.s = MatrixXd::Zero(state_count, g_by_inputs.cols());
  if (count > 0 && state_count > 0) {
    const LeastSquares squares(g, dependent);
    rank = squares.rank();
    null = squares.null_space();
    if (rank > 0 && g_by_inputs.cols() > 0) coordinates.s = -squares.solve(g_by_inputs);
  }
  if (rank == 0) {
    coordinates.n = null;
    for (std::uint32_t i = 0; i < state_count; ++i) coordinates.independent.push_back(i);
    return coordinates;
  }
  const Index free = state_count - rank;
  if (free > 0) {
    const Eigen::ColPivHouseholderQR<MatrixXd> qr(null.transpose());
    for (Index k = 0; k < free; ++k)
      coordinates.independent.push_back(static_cast<std::uint32_t>(qr.colsPermutation().indices()[k]));
    std::sort(coordinates.independent.begin(), coordinates.independent.end());
  }
  MatrixXd picked(free, free), moved(free, coordinates.s.cols());
  for (Index k = 0; k < free; ++k) {
    picked.row(k) = null.row(coordinates.independent[static_cast<std::size_t>(k)]);
    moved.row(k) = coordinates.s.row(coordinates.independent[static_cast<std::size_t>(k)]);
  }
  coordinates.n = free > 0 ? MatrixXd(null * picked.inverse()) : null;
  coordinates.s -= coordinates.n * moved;
  return coordinates;
}

// What is zero but for the rounding of the products that gave it.
void clean(MatrixXd& matrix) {
  const double small = 1e-14 * (matrix.size() ? matrix.cwiseAbs().maxCoeff() : 0);
  matrix = matrix.unaryExpr([small](double entry) { return std::abs(entry) <= small ? 0.0 : entry; });
}

}  // namespace

tactus_status differentiate_by(const tactus_model& model, tactus_instance* instance, std::uint32_t function,
                               std::uint32_t rows, std::span<const Input> inputs, Matrix& result) {
  result = Matrix(rows, inputs.size());
  std::vector<double> scratch;
  for (std::size_t j = 0; j < inputs.size(); ++j) {
    std::vector<double> direction(tactus_direction_size(&model));
    if (inputs[j].is_parameter) {
      direction[tactus_direction_parameters(&model) + inputs[j].index] = 1;
      if (model.derived_count > 0) {
        Matrix derived(model.derived_count, 1);
        if (auto status = add_column(model, instance, TACTUS_OF_PREPARE, direction, scratch, 0, derived)) return status;
        std::copy(derived.entries.begin(), derived.entries.end(),
                  direction.begin() + static_cast<std::ptrdiff_t>(tactus_direction_derived(&model)));
      }
    } else {
      direction[tactus_direction_inputs(&model) + inputs[j].index] = 1;
    }
    if (auto status = add_column(model, instance, function, direction, scratch, j, result)) return status;
  }
  return TACTUS_OK;
}

tactus_status constraint_jacobian(const tactus_model& model, tactus_instance* instance, std::vector<double>& values,
                                  Matrix& jacobian) {
  const std::uint32_t count = model.constraint_count;
  jacobian = Matrix(count, model.state_count);
  values.clear();
  if (count == 0) return TACTUS_OK;
  std::vector<double> made(count + model.constraint_jacobian.start[count]);
  const int status = model.constrain(&model, instance, instance->time, states_of(model, instance), made.data());
  if (status != TACTUS_OK) return static_cast<tactus_status>(status);
  if (!std::all_of(made.begin(), made.end(), [](double value) { return std::isfinite(value); }))
    return TACTUS_NOT_FINITE;
  for (std::uint32_t i = 0; i < count; ++i) {
    for (std::uint32_t k = model.constraint_jacobian.start[i]; k < model.constraint_jacobian.start[i + 1]; ++k)
      jacobian(i, model.constraint_jacobian.index[k]) = made[count + k];
  }
  values.assign(made.begin(), made.begin() + count);
  return TACTUS_OK;
}

tactus_status state_jacobian(const tactus_model& model, tactus_instance* instance, Matrix& jacobian) {
  jacobian = Matrix(model.state_count, model.state_count);
  std::vector<double> scratch(tk_jacobian_scratch(&model));
  const int status = tk_dense_jacobian(&model, instance, instance->time, states_of(model, instance), scratch.data(),
                                       jacobian.entries.data());
  if (status != TACTUS_OK) return static_cast<tactus_status>(status);
  const bool finite =
      std::all_of(jacobian.entries.begin(), jacobian.entries.end(), [](double value) { return std::isfinite(value); });
  return finite ? TACTUS_OK : TACTUS_NOT_FINITE;
}

Linearization linearize(const tactus_model& model, tactus_instance* instance, std::span<const Input> inputs,
                        std::span<const Output> outputs) {
  Linearization result;
  const auto failed = [&](tactus_status status) { return (result.status = status) != TACTUS_OK; };
  Matrix a, b, b_rates, outputs_by_x, outputs_by_u, outputs_by_rates, g, g_by_u;
  std::vector<double> constraints;
  if (failed(state_jacobian(model, instance, a)) ||
      failed(differentiate_by(model, instance, TACTUS_OF_DERIVATIVE, model.state_count, inputs, b)) ||
      failed(by_rates(model, instance, TACTUS_OF_DERIVATIVE, model.state_count, inputs, b_rates)) ||
      failed(by_states(model, instance, TACTUS_OF_OUTPUTS, model.output_count, outputs_by_x)) ||
      failed(differentiate_by(model, instance, TACTUS_OF_OUTPUTS, model.output_count, inputs, outputs_by_u)) ||
      failed(by_rates(model, instance, TACTUS_OF_OUTPUTS, model.output_count, inputs, outputs_by_rates)) ||
      failed(constraint_jacobian(model, instance, constraints, g)))
    return result;
  g_by_u = Matrix(model.constraint_count, inputs.size());
  if (model.constraint_count > 0 &&
      failed(differentiate_by(model, instance, TACTUS_OF_CONSTRAINTS, model.constraint_count, inputs, g_by_u)))
    return result;

  // Rows of the chosen outputs.
  const Index n = static_cast<Index>(model.state_count), m = static_cast<Index>(inputs.size());
  const Index p = static_cast<Index>(outputs.size());
  MatrixXd c = MatrixXd::Zero(p, n), d = MatrixXd::Zero(p, m), d_rates = MatrixXd::Zero(p, m);
  for (Index i = 0; i < p; ++i) {
    const Output& output = outputs[static_cast<std::size_t>(i)];
    if (output.is_state) {
      c(i, output.index) = 1;
      continue;
    }
    c.row(i) = as_eigen(outputs_by_x).row(output.index);
    d.row(i) = as_eigen(outputs_by_u).row(output.index);
    d_rates.row(i) = as_eigen(outputs_by_rates).row(output.index);
  }

  const Coordinates coordinates = choose_coordinates(n, as_eigen(g), as_eigen(g_by_u));
  const Index free = static_cast<Index>(coordinates.independent.size());
  const MatrixXd a_n = as_eigen(a) * coordinates.n, b_s = as_eigen(b) + as_eigen(a) * coordinates.s;
  MatrixXd a_z(free, free), b_z(free, m), rates_z(free, m);
  for (Index k = 0; k < free; ++k) {
    const std::uint32_t state = coordinates.independent[static_cast<std::size_t>(k)];
    a_z.row(k) = a_n.row(state);
    b_z.row(k) = b_s.row(state);
    rates_z.row(k) = as_eigen(b_rates).row(state);
    result.system.states.emplace_back(model.state_names[state]);
  }
  MatrixXd c_z = c * coordinates.n, d_z = d + c * coordinates.s;
  if (model.constraint_count > 0) {
    for (MatrixXd* matrix : {&a_z, &b_z, &c_z, &d_z}) clean(*matrix);
  }
  result.reads_rates = !rates_z.isZero(0) || !d_rates.isZero(0);
  result.system.a = from_eigen(a_z);
  result.system.b = from_eigen(b_z);
  result.system.c = from_eigen(c_z);
  result.system.d = from_eigen(d_z);
  for (const Input& input : inputs) result.system.inputs.push_back(input.name);
  for (const Output& output : outputs) result.system.outputs.push_back(output.name);
  result.independent = coordinates.independent;
  return result;
}

}  // namespace control
