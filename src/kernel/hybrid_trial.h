// A model with events and delays, its functions given as C++ ones: for the tests of events, parts and delays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "kernel/kernel.h"

namespace kernel_test {

class Hybrid {
 public:
  std::vector<double> start;               // states
  std::vector<double> discrete_start;      // discrete values
  std::vector<tactus_event> events;        // `first` of a condition: its place in watched
  std::vector<double> times;               // of `at` events
  std::vector<double> durations;           // of delays; delay k watches watched[conditions + k]
  std::vector<tactus_relation> relations;  // guards and sources stand in watched before `conditions`
  std::uint32_t conditions = 0;
  std::uint32_t capacity = 256;
  bool are_rates = false;  // all delays
  std::function<void(double t, const double* x, double* dx)> derivative = [](double, const double*, double*) {};
  std::function<void(std::uint32_t event)> fire = [](std::uint32_t) {};
  std::function<void(double t, const double* x, double* watched)> watch = [](double, const double*, double*) {};
  tactus_model model{};

  static tactus_event every(double period, double from = 0) {
    return {"every", TACTUS_EVERY, 0, 0, 1, period, from, 0, 0};
  }
  static tactus_event when(std::uint32_t condition) { return {"when", TACTUS_WHEN, condition, 1, 1, 0, 0, 0, 0}; }
  static tactus_relation truth(std::uint32_t guard, std::uint32_t held, bool is_strict = true) {
    return {TACTUS_TRUTH, guard, held, 0, is_strict ? 1u : 0u, 1};
  }
  static tactus_event at(std::uint32_t first, std::uint32_t count) {
    return {"at", TACTUS_AT, first, count, 1, 0, 0, 0, 0};
  }

  int begin() {
    model.abi = TACTUS_ABI;
    model.name = reinterpret_cast<const char*>(this);  // the way from the table's functions back to here
    model.state_count = static_cast<std::uint32_t>(start.size());
    model.discrete_count = static_cast<std::uint32_t>(discrete_start.size());
    model.derived_count = static_cast<std::uint32_t>(durations.size());
    model.event_count = static_cast<std::uint32_t>(events.size());
    model.delay_count = static_cast<std::uint32_t>(durations.size());
    model.watch_count = conditions + model.delay_count;
    model.relation_count = static_cast<std::uint32_t>(relations.size());
    model.relations = relations.data();
    model.events = events.data();
    model.event_times = times.data();
    delays_.clear();
    for (std::uint32_t k = 0; k < model.delay_count; k++)
      delays_.push_back({conditions + k, k, k * (2 + 2 * capacity), capacity, are_rates ? 1u : 0u});
    model.delays = delays_.data();
    model.history_count = model.delay_count * (2 + 2 * capacity);
    model.fixed_steps = [](const tactus_model* m, tactus_instance* i, int solver, double h, std::int64_t count) {
      me(m)->fixed_calls++;
      return tk_fixed_steps(m, i, solver, h, count);
    };
    model.adaptive_step = tk_adaptive_step;
    model.prepare = [](const tactus_model* m, tactus_instance* i) {
      for (std::size_t k = 0; k < me(m)->durations.size(); k++)
        tactus_data(i)[m->layout.derived + k] = me(m)->durations[k];
      return int{TACTUS_OK};
    };
    model.initialize = [](const tactus_model* m, tactus_instance* i) {
      for (std::size_t k = 0; k < me(m)->start.size(); k++) tactus_data(i)[m->layout.states + k] = me(m)->start[k];
      for (std::size_t k = 0; k < me(m)->discrete_start.size(); k++)
        tactus_data(i)[m->layout.discrete + k] = me(m)->discrete_start[k];
      return int{TACTUS_OK};
    };
    model.derivative = [](const tactus_model* m, tactus_instance*, double t, const double* x, double* dx) {
      me(m)->derivative(t, x, dx);
      return int{TACTUS_OK};
    };
    model.fire = [](const tactus_model* m, tactus_instance*, std::uint32_t event) {
      me(m)->fire(event);
      return int{TACTUS_OK};
    };
    model.watch = [](const tactus_model* m, tactus_instance* i, double t, const double* x) {
      me(m)->watch(t, x, tactus_data(i) + m->layout.watched);
      return int{TACTUS_OK};
    };
    tk_layout(&model, &model.layout);
    block_.assign((tactus_instance_bytes(&model) + 7) / 8, 0.0);
    tk_reset(&model, instance());
    // Scratch holds NaN until written: nobody may read it before.
    for (std::uint32_t i = model.layout.snapshot; i < model.layout.size; i++)
      tactus_data(instance())[i] = std::numeric_limits<double>::quiet_NaN();
    tk_start(&model, instance());
    return tk_begin_events(&model, instance());
  }

  int steps(int solver, double h, std::int64_t count) { return tk_event_steps(&model, instance(), solver, h, count); }
  int part(int solver, double h, double t_end, double tolerance = 1e-6) {
    return tk_part(&model, instance(), solver, h, tolerance, t_end);
  }
  int run(int solver, double h, double t_end, double tolerance = 1e-6) {
    while (instance()->time < t_end) {
      if (int status = part(solver, h, t_end, tolerance)) return status;
      if (int status = tk_fire(&model, instance())) return status;
    }
    return TACTUS_OK;
  }

  tactus_instance* instance() { return reinterpret_cast<tactus_instance*>(block_.data()); }
  tactus_instance* operator->() { return instance(); }
  double* x() { return tactus_data(instance()) + model.layout.states; }
  double* discrete() { return tactus_data(instance()) + model.layout.discrete; }
  double* clocks() { return tactus_data(instance()) + model.layout.clocks; }
  double delayed(std::uint32_t index, double t) { return tk_delayed(&model, instance(), index, t); }

  std::vector<double> states_and_clocks() {
    std::vector<double> values(x(), x() + model.state_count);
    values.insert(values.end(), clocks(), clocks() + model.event_count);
    return values;
  }
  std::vector<double> snapshot() {
    return {block_.begin(),
            block_.begin() + static_cast<std::ptrdiff_t>(sizeof(tactus_instance) / 8 + model.layout.snapshot)};
  }
  void restore(const std::vector<double>& saved) {
    std::memcpy(block_.data(), saved.data(), 8 * saved.size());
    for (std::uint32_t i = model.layout.snapshot; i < model.layout.size; i++)
      tactus_data(instance())[i] = std::numeric_limits<double>::quiet_NaN();
  }

  int fixed_calls = 0;  // of model.fixed_steps

 private:
  static Hybrid* me(const tactus_model* m) { return reinterpret_cast<Hybrid*>(const_cast<char*>(m->name)); }
  std::vector<tactus_delay> delays_;
  std::vector<double> block_;
};

}  // namespace kernel_test
