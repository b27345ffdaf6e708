// A model at one instant -> the linear system that it is for small deviations from there.
//
//   A = df/dx, B = df/du, C = dy/dx, D = dy/du   exact, by tangents (abi/model.h)
//
// Redundant states. On the constraints g(x, u) = 0 of a reduced model, with G = dg/dx, a deviation is dx = N z + S u: N
// spans the null space of G, scaled so that z are deviations of as many states as are independent (chosen by pivoting,
// so that the others follow from them as gently as can be), and S is how the constraints move with the inputs while z
// stands still. Then
//
//   z' = E (A N) z + E (B + A S) u,   y = C N z + (D + C S) u,   E picks the rows of the independent states
//
// since E S = 0. The coordinates are those of Wehage and Haug, J. Mech. Design 104(1), 1982.
//
// Relations, behaviours and what delays give stand still: the system is that of the present piece.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "abi/model.h"
#include "runtime/control/linear_system.h"

namespace control {

// A scalar of the inputs section, or a parameter.
struct Input {
  std::string name;
  std::string unit;
  bool is_parameter = false;
  std::uint32_t index = 0;
};

// A scalar of the outputs section, or a state.
struct Output {
  std::string name;
  std::string unit;
  bool is_state = false;
  std::uint32_t index = 0;
};

struct Linearization {
  LinearSystem system;                     // of the independent states
  std::vector<std::uint32_t> independent;  // their indices in the model
  bool reads_rates = false;                // the rate of an input matters too, and is not in the system
  tactus_status status = TACTUS_OK;        // else nothing above is valid, and the instance says more
};

// `model` has `tangent`; the instance is at the point, its relations settled. Only scratch and warm starts of it
// change.
[[nodiscard]] Linearization linearize(const tactus_model& model, tactus_instance* instance,
                                      std::span<const Input> inputs, std::span<const Output> outputs);

// How `function` (a tactus_function) with `rows` results changes with each input, one column each: parameters move what
// is derived from them along.
[[nodiscard]] tactus_status differentiate_by(const tactus_model& model, tactus_instance* instance,
                                             std::uint32_t function, std::uint32_t rows, std::span<const Input> inputs,
                                             Matrix& result);
// The constraints and their derivative by x, constraint_count x state_count.
[[nodiscard]] tactus_status constraint_jacobian(const tactus_model& model, tactus_instance* instance,
                                                std::vector<double>& values, Matrix& jacobian);
// df/dx, state_count x state_count.
[[nodiscard]] tactus_status state_jacobian(const tactus_model& model, tactus_instance* instance, Matrix& jacobian);

}  // namespace control
