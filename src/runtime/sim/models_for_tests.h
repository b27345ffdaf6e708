// Models whose tables are filled by hand, with closed forms.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "abi/model.h"
#include "kernel/kernel.h"

namespace sim {

// A table with room for its metadata. Derived classes set functions and names, then call `finish`.
struct HandFilled {
  tactus_model table = {};
  std::vector<tactus_channel> channels;
  std::vector<tactus_channel> input_channels;
  std::vector<tactus_parameter> parameters;
  std::vector<tactus_block> blocks;
  std::vector<const char*> state_names;
  std::vector<tactus_event> events;
  std::vector<tactus_delay> delays;

  HandFilled() {
    table.abi = TACTUS_ABI;
    table.name = "hand_filled";
    table.solver = -1;
    table.prepare = [](const tactus_model*, tactus_instance*) { return int{TACTUS_OK}; };
    table.fixed_steps = tk_fixed_steps;
    table.adaptive_step = tk_adaptive_step;
  }
  HandFilled(const HandFilled&) = delete;
  HandFilled& operator=(const HandFilled&) = delete;

  void finish() {
    auto count = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
    table.channels = channels.data();
    table.channel_count = count(channels);
    table.input_channels = input_channels.data();
    table.input_channel_count = table.input_count = count(input_channels);
    table.parameters = parameters.data();
    table.parameter_count = count(parameters);
    table.blocks = blocks.data();
    table.block_count = count(blocks);
    table.state_names = state_names.data();
    table.state_count = count(state_names);
    table.output_count = count(channels);
    table.events = events.data();
    table.event_count = count(events);
    table.delays = delays.data();
    table.delay_count = count(delays);
    tk_layout(&table, &table.layout);
  }
};

// x' = -k x, x(0) = 1, parameter k = 1. Outputs: x, t.
struct Decay : HandFilled {
  Decay() {
    state_names = {"x"};
    channels = {{"x", "m", 0, 1, 1, 0}, {"t", "s", 1, 1, 1, 0}};
    parameters = {{"k", "", 1, 0, 0}};
    table.initialize = [](const tactus_model* model, tactus_instance* instance) {
      tactus_data(instance)[model->layout.states] = 1;
      return int{TACTUS_OK};
    };
    table.derivative = [](const tactus_model* model, tactus_instance* instance, double, const double* x, double* dx) {
      dx[0] = -tactus_data(instance)[model->layout.parameters] * x[0];
      return int{TACTUS_OK};
    };
    table.outputs = [](const tactus_model* model, tactus_instance* instance, double t, const double* x) {
      tactus_data(instance)[model->layout.outputs] = x[0];
      tactus_data(instance)[model->layout.outputs + 1] = t;
      return int{TACTUS_OK};
    };
    finish();
  }
};

// x' = u, y' = u' where u is an input. Outputs: x, y, u.
struct Follower : HandFilled {
  Follower() {
    state_names = {"x", "y"};
    channels = {{"x", "", 0, 1, 1, 0}, {"y", "", 1, 1, 1, 0}, {"u", "", 2, 1, 1, 0}};
    input_channels = {{"u", "", 0, 1, 1, 0}};
    table.initialize = [](const tactus_model*, tactus_instance*) { return int{TACTUS_OK}; };
    table.derivative = [](const tactus_model* model, tactus_instance* instance, double t, const double*, double* dx) {
      dx[0] = input(model, instance, t);
      dx[1] = tactus_data(instance)[model->layout.input_rates];
      return int{TACTUS_OK};
    };
    table.outputs = [](const tactus_model* model, tactus_instance* instance, double t, const double* x) {
      double* outputs = tactus_data(instance) + model->layout.outputs;
      outputs[0] = x[0];
      outputs[1] = x[1];
      outputs[2] = input(model, instance, t);
      return int{TACTUS_OK};
    };
    finish();
  }
  static double input(const tactus_model* model, tactus_instance* instance, double t) {
    const double* data = tactus_data(instance);
    return data[model->layout.inputs] + data[model->layout.input_rates] * (t - instance->input_time);
  }
};

// x' = x^2, x(0) = 1: x = 1 / (1 - t) grows without bound at t = 1. Output: x.
struct Explosion : HandFilled {
  Explosion() {
    state_names = {"x"};
    channels = {{"x", "", 0, 1, 1, 0}};
    table.initialize = [](const tactus_model* model, tactus_instance* instance) {
      tactus_data(instance)[model->layout.states] = 1;
      return int{TACTUS_OK};
    };
    table.derivative = [](const tactus_model*, tactus_instance*, double, const double* x, double* dx) {
      dx[0] = x[0] * x[0];
      return int{TACTUS_OK};
    };
    table.outputs = [](const tactus_model* model, tactus_instance* instance, double, const double* x) {
      tactus_data(instance)[model->layout.outputs] = x[0];
      return int{TACTUS_OK};
    };
    finish();
  }
};

// x' = 2 - x - z^2 where z^2 = 1 - x, by Newton from the last solution: x = t, z = sqrt(1 - t), and no solution from t
// = 1 on. The motion depends on z's rounding, and so on where each search starts. Outputs: x, z.
struct Root : HandFilled {
  Root() {
    state_names = {"x"};
    channels = {{"x", "", 0, 1, 1, 0}, {"z", "", 1, 1, 1, 0}};
    blocks = {{"z^2 = 1 - x", "z", 7, 1, 0}};
    table.warm_count = 1;
    table.work_count = 4;
    table.initialize = [](const tactus_model* model, tactus_instance* instance) {
      tactus_data(instance)[model->layout.warm] = 1;
      return int{TACTUS_OK};
    };
    table.derivative = [](const tactus_model* model, tactus_instance* instance, double, const double* x, double* dx) {
      double z = 0;
      int status = solve(model, instance, x, &z);
      dx[0] = 2 - x[0] - z * z;
      return status;
    };
    table.outputs = [](const tactus_model* model, tactus_instance* instance, double, const double* x) {
      double* outputs = tactus_data(instance) + model->layout.outputs;
      outputs[0] = x[0];
      return solve(model, instance, x, outputs + 1);
    };
    finish();
  }
  static int solve(const tactus_model* model, tactus_instance* instance, const double* x, double* z) {
    double* data = tactus_data(instance);
    auto residual = [](const double* captured, const double* at, double* r, double* j) {
      r[0] = at[0] * at[0] - 1 + captured[0];
      j[0] = 2 * at[0];
    };
    int status = tk_newton(1, residual, x, data + model->layout.warm, data + model->layout.work);
    if (status != TACTUS_OK) instance->failed_block = 0;
    *z = data[model->layout.warm];
    return status;
  }
};

// x' = u, where u counts the ticks of a clock, from t = 0 on every 0.25, and `fell` how often x has risen above 1.
// x = sum over the ticks before t of t - tick. Outputs: x, u, fell.
struct Counter : HandFilled {
  explicit Counter(bool watches = true, double period = 0.25) {
    state_names = {"x"};
    channels = {{"x", "", 0, 1, 1, 0},
                {"u", "", 1, 1, 1, TACTUS_CHANNEL_DISCRETE},
                {"fell", "", 2, 1, 1, TACTUS_CHANNEL_DISCRETE}};
    events = {{"clock", TACTUS_EVERY, 0, 0, 3, period, 0, 0, 0}};
    if (watches) events.push_back({"full", TACTUS_WHEN, 0, 1, 4, 0, 0, 0, 0});
    table.watch_count = watches ? 1 : 0;
    table.discrete_count = 2;
    table.initialize = [](const tactus_model*, tactus_instance*) { return int{TACTUS_OK}; };
    table.derivative = [](const tactus_model* model, tactus_instance* instance, double, const double*, double* dx) {
      dx[0] = tactus_data(instance)[model->layout.discrete];
      return int{TACTUS_OK};
    };
    table.outputs = [](const tactus_model* model, tactus_instance* instance, double, const double* x) {
      double* data = tactus_data(instance);
      data[model->layout.outputs] = x[0];
      data[model->layout.outputs + 1] = data[model->layout.discrete];
      data[model->layout.outputs + 2] = data[model->layout.discrete + 1];
      return int{TACTUS_OK};
    };
    table.fire = [](const tactus_model* model, tactus_instance* instance, std::uint32_t event) {
      tactus_data(instance)[model->layout.discrete + event] += 1;
      return int{TACTUS_OK};
    };
    table.watch = [](const tactus_model* model, tactus_instance* instance, double, const double* x) {
      tactus_data(instance)[model->layout.watched] = x[0] > 1;
      return int{TACTUS_OK};
    };
    finish();
  }
  static double x(double t, double period = 0.25) {
    double sum = 0;
    for (int k = 0; k * period < t; ++k) sum += t - k * period;
    return sum;
  }
};

// x' = -x(t - d), x = 1 up to t = 0; parameter d = 1. Output: x.
struct Late : HandFilled {
  Late() {
    state_names = {"x"};
    channels = {{"x", "", 0, 1, 1, 0}};
    parameters = {{"d", "", 1, 0, 0}};
    delays = {{0, 0, 0, 256, 0}};
    table.derived_count = 1;
    table.watch_count = 1;
    table.history_count = 2 + 2 * 256;
    table.prepare = [](const tactus_model* model, tactus_instance* instance) {
      tactus_data(instance)[model->layout.derived] = tactus_data(instance)[model->layout.parameters];
      return int{TACTUS_OK};
    };
    table.initialize = [](const tactus_model* model, tactus_instance* instance) {
      tactus_data(instance)[model->layout.states] = 1;
      return int{TACTUS_OK};
    };
    table.derivative = [](const tactus_model* model, tactus_instance* instance, double t, const double*, double* dx) {
      dx[0] = -tk_delayed(model, instance, 0, t);
      return int{TACTUS_OK};
    };
    table.outputs = [](const tactus_model* model, tactus_instance* instance, double, const double* x) {
      tactus_data(instance)[model->layout.outputs] = x[0];
      return int{TACTUS_OK};
    };
    table.watch = [](const tactus_model* model, tactus_instance* instance, double, const double* x) {
      tactus_data(instance)[model->layout.watched] = x[0];
      return int{TACTUS_OK};
    };
    finish();
  }
  // The method of steps.
  static double x(double t, double d = 1) {
    double sum = 1, factorial = 1;
    for (int k = 1; t > (k - 1) * d; ++k) {
      factorial *= -k;
      sum += std::pow(t - (k - 1) * d, k) / factorial;
    }
    return sum;
  }
};

}  // namespace sim
