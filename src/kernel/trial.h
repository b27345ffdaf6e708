// A model table filled by hand around one derivative, and an Instance of it: for the kernel's tests.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "kernel/kernel.h"

namespace kernel_test {

using Derivative = int (*)(const tactus_model*, tactus_instance*, double t, const double* x, double* dx);

class Trial {
 public:
  Trial(Derivative derivative, const std::vector<double>& start, double start_time = 0.0, std::uint32_t warm_count = 0,
        std::uint32_t discrete_count = 0, decltype(tactus_model::structure) structure = nullptr) {
    model.abi = TACTUS_ABI;
    model.structure = structure;
    model.state_count = static_cast<std::uint32_t>(start.size());
    model.warm_count = warm_count;
    model.discrete_count = discrete_count;
    model.starting_time = start_time;
    model.derivative = derivative;
    model.fixed_steps = tk_fixed_steps;
    model.adaptive_step = tk_adaptive_step;
    tk_layout(&model, &model.layout);
    // Scratch holds NaN until written: nobody may read it before.
    block_.assign((tactus_instance_bytes(&model) + 7) / 8, std::numeric_limits<double>::quiet_NaN());
    tk_reset(&model, instance());
    for (std::uint32_t i = model.layout.snapshot; i < model.layout.size; i++) {
      tactus_data(instance())[i] = std::numeric_limits<double>::quiet_NaN();
    }
    set_states(start);
    tk_start(&model, instance());
  }

  tactus_instance* instance() { return reinterpret_cast<tactus_instance*>(block_.data()); }
  tactus_instance* operator->() { return instance(); }
  double* x() { return tactus_data(instance()) + model.layout.states; }
  double* discrete() { return tactus_data(instance()) + model.layout.discrete; }
  double* warm() { return tactus_data(instance()) + model.layout.warm; }
  std::vector<double> states() { return {x(), x() + model.state_count}; }
  void set_states(const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); i++) x()[i] = values[i];
    instance()->first_stage_valid = 0;
  }

  int fixed(int solver, double h, std::int64_t count) { return tk_fixed_steps(&model, instance(), solver, h, count); }
  int step(int solver, double t_end, double h_max, double tolerance) {
    return tk_adaptive_step(&model, instance(), solver, t_end, h_max, tolerance);
  }
  int adaptive(int solver, double t_end, double tolerance, double h_max = 0.0) {
    while (instance()->time < t_end) {
      const int status = step(solver, t_end, h_max, tolerance);
      if (status != TACTUS_OK) return status;
    }
    return TACTUS_OK;
  }
  std::vector<double> dense(int solver, double t) {
    std::vector<double> values(model.state_count);
    tk_dense(&model, instance(), solver, t, values.data());
    return values;
  }

  // The header and the snapshot's doubles: all that replay needs.
  std::vector<double> snapshot() {
    return {block_.begin(), block_.begin() + static_cast<std::ptrdiff_t>(snapshot_doubles())};
  }
  void restore(const std::vector<double>& saved) { std::memcpy(block_.data(), saved.data(), 8 * saved.size()); }

  tactus_model model{};

 private:
  std::size_t snapshot_doubles() const { return sizeof(tactus_instance) / 8 + model.layout.snapshot; }
  std::vector<double> block_;
};

// Nonlinear and not autonomous, with a closed form: x0 = 1 / (1 + t^2), x1 = exp(sin t), from t = 0 at (1, 1).
inline int bell_and_wave(const tactus_model*, tactus_instance*, double t, const double* x, double* dx) {
  dx[0] = -2.0 * t * x[0] * x[0];
  dx[1] = std::cos(t) * x[1];
  return TACTUS_OK;
}
inline std::vector<double> bell_and_wave_at(double t) { return {1.0 / (1.0 + t * t), std::exp(std::sin(t))}; }

inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); i++) largest = std::fmax(largest, std::fabs(a[i] - b[i]));
  return largest;
}

}  // namespace kernel_test
