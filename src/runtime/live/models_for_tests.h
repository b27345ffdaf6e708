// Worlds to be touched, their tables filled by hand.
#pragma once

#include "runtime/sim/models_for_tests.h"

namespace live {

// A ball on a spring and a damper behind the hand: m x'' = k (u - x) + b (u' - x'), force on the hand its opposite.
// Parameters k, b. Outputs: x, u, hand.force.
struct Dragged : sim::HandFilled {
  std::vector<tactus_port> ports;

  explicit Dragged(const char* state = "x") {
    state_names = {state, "x'"};
    channels = {{"x", "m", 0, 1, 1, 0}, {"u", "m", 1, 1, 1, 0}, {"hand.force", "N", 2, 1, 1, 0}};
    input_channels = {{"u", "m", 0, 1, 1, 0}};
    parameters = {{"k", "", 4, 0, 0}, {"b", "", 1, 0, 0}};
    ports = {{"hand", 0, 1}, {"hand", 2, 0}};
    table.ports = ports.data();
    table.port_count = 2;
    table.initialize = [](const tactus_model* model, tactus_instance* instance) {
      double* x = tactus_data(instance) + model->layout.states;
      x[0] = x[1] = 0;
      return int{TACTUS_OK};
    };
    table.derivative = [](const tactus_model* model, tactus_instance* instance, double t, const double* x, double* dx) {
      dx[0] = x[1];
      dx[1] = force(model, instance, t, x);
      return int{TACTUS_OK};
    };
    table.outputs = [](const tactus_model* model, tactus_instance* instance, double t, const double* x) {
      double* outputs = tactus_data(instance) + model->layout.outputs;
      outputs[0] = x[0];
      outputs[1] = sim::Follower::input(model, instance, t);
      outputs[2] = -force(model, instance, t, x);
      return int{TACTUS_OK};
    };
    finish();
  }

  static double force(const tactus_model* model, tactus_instance* instance, double t, const double* x) {
    const double* p = tactus_data(instance) + model->layout.parameters;
    return p[0] * (sim::Follower::input(model, instance, t) - x[0]) +
           p[1] * (tactus_data(instance)[model->layout.input_rates] - x[1]);
  }
};

}  // namespace live
