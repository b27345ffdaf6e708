// Carries out ir functions over double or std::complex<double>, independently of the backends.
//
// Over complex numbers it differentiates by itself: with an imaginary part of 1e-150 d on all that enters, the
// imaginary parts that leave are 1e-150 times the derivative along d, to rounding (Squire and Trapp, SIAM Review 40(1),
// 1998). Arithmetic, blocks and their iterations are complex arithmetic and know no rule. Elementary functions and
// tables are expanded to first order, since std::complex loses such tiny parts: their slopes are rules, too, written a
// second time; central differences of the same interpreter over doubles hold them independently. Comparisons look at
// real parts, so kinks are taken on the side that the real computation takes. Noise and delayed values are real: they
// count as constant.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/ir/ir.h"

namespace tangent_testing {

// All that a function reads and writes.
template <class T>
struct Scene {
  T t = 0;
  double input_time = 0;
  std::vector<T> states, inputs, input_rates, parameters, derived, discrete, warm, work, outputs, watched;
  std::vector<T> x;          // of functions that get it as an argument
  std::vector<T> direction;  // of tangents
  std::vector<T> result;
  std::function<double(std::uint32_t, double)> delayed = [](std::uint32_t, double) { return 0.0; };
};

// False when a block cannot be solved.
bool carry_out(const ir::Program& program, const ir::Function& function, Scene<double>& scene);
bool carry_out(const ir::Program& program, const ir::Function& function, Scene<std::complex<double>>& scene);

// A scene of the program's size; every section of an instance, or zero without one.
Scene<double> scene_of(const ir::Program& program, const tactus_model* model = nullptr,
                       tactus_instance* instance = nullptr);

// The tangent along `direction` of what `function` (a tactus_function) gives, by complex step. `status`: false when it
// fails.
std::vector<double> complex_step(const ir::Program& program, std::uint32_t function, const Scene<double>& scene,
                                 const std::vector<double>& direction, bool& status);

// What `function` gives at scene + step * direction.
std::vector<double> moved(const ir::Program& program, std::uint32_t function, const Scene<double>& scene,
                          const std::vector<double>& direction, double step, bool& status);

// The number of values that `function` gives.
std::size_t result_size(const ir::Program& program, std::uint32_t function);

}  // namespace tangent_testing
