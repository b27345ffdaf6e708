#include "runtime/sim/lifted.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "kernel/hybrid.h"
#include "kernel/kernel.h"

namespace sim {

namespace {

constexpr std::uint32_t header_size = sizeof(tactus_instance) / 8;
static_assert(sizeof(tactus_instance) % 8 == 0);

}  // namespace

std::string Lifted::obstacle(const tactus_model& inner) {
  if (inner.tangent == nullptr) return "the model was compiled without tangents";
  if (inner.delay_count > 0) return "what a delay gives has no tangent";
  const bool has_conditions = std::any_of(inner.events, inner.events + inner.event_count,
                                          [](const tactus_event& e) { return e.kind == TACTUS_WHEN; });
  if (has_conditions && inner.relation_count == 0) return "the conditions of its events have no guards";
  return "";
}

Lifted::Lifted(const tactus_model& inner, std::vector<Seed> seeds)
    : inner_(inner),
      seeds_(std::move(seeds)),
      states_(inner.state_count),
      direction_size_(tactus_direction_size(&inner)) {
  TACTUS_CHECK(obstacle(inner).empty());
  for (const Seed& seed : seeds_) {
    TACTUS_CHECK(seed.index < (seed.kind == Seed::parameter ? inner.parameter_count : inner.state_count));
  }
  table_.lifted = this;
  tactus_model& model = table_.model;
  model = inner;
  model.state_count = static_cast<std::uint32_t>(states_ * (1 + seeds_.size()));
  model.condition_count = 0;
  model.conditions = nullptr;
  model.condition = nullptr;
  model.state_flags = nullptr;
  model.jacobian = {};
  model.colours = nullptr;
  model.colour_count = 0;
  model.tangent = nullptr;
  model.prepare = prepare;
  model.initialize = initialize;
  model.derivative = derivative;
  model.outputs = outputs;
  model.fire = fire_one;
  model.watch = inner.watch != nullptr ? watch : nullptr;
  model.constrain = inner.constrain != nullptr ? constrain : nullptr;
  model.fixed_steps = tk_fixed_steps;
  model.adaptive_step = tk_adaptive_step;
  lay_out();
  name_states();
}

std::uint32_t Lifted::result_size() const {
  return std::max(
      {inner_.derived_count, inner_.state_count + inner_.discrete_count, inner_.watch_count, inner_.output_count});
}

// All sections but the states are those inside the inner Instance, so that both models see the same values.
void Lifted::lay_out() {
  tactus_layout& layout = table_.model.layout;
  for (std::uint32_t tactus_layout::* section :
       {&tactus_layout::inputs, &tactus_layout::input_rates, &tactus_layout::parameters, &tactus_layout::derived,
        &tactus_layout::outputs, &tactus_layout::warm, &tactus_layout::discrete, &tactus_layout::clocks,
        &tactus_layout::history, &tactus_layout::watched, &tactus_layout::work}) {
    layout.*section = header_size + inner_.layout.*section;
  }
  const auto seeds = static_cast<std::uint32_t>(seeds_.size());
  std::uint32_t at = header_size + inner_.layout.size;
  const auto take = [&](std::uint64_t count) {
    const std::uint32_t place = at;
    at += static_cast<std::uint32_t>(count);
    return place;
  };
  layout.states = take(table_.model.state_count);
  places_.directions = take(seeds * direction_size_);
  places_.moved = take(seeds);
  places_.before = take(states_);
  layout.ties = take(tk_ties_size(&table_.model));
  take(table_.model.state_count);  // the kept derivative
  layout.snapshot = at;
  places_.scratch = take(result_size() + direction_size_);
  layout.stages = take(std::uint64_t{TACTUS_STAGE_VECTORS} * table_.model.state_count + inner_.warm_count);
  layout.projection = take(tk_projection_size(&table_.model));
  layout.linear = at;  // none: there are no tangents of tangents, so no stiff method either
  layout.size = at;
}

// "x", .., then "d x/d k", ..
void Lifted::name_states() {
  const auto name = [&](std::uint32_t state) {
    return inner_.state_names != nullptr ? std::string(inner_.state_names[state]) : fmt::format("x[{}]", state + 1);
  };
  for (std::uint32_t state = 0; state < states_; ++state) names_.push_back(name(state));
  for (const Seed& seed : seeds_) {
    const std::string by =
        seed.kind == Seed::parameter ? std::string(inner_.parameters[seed.index].name) : name(seed.index) + "(0)";
    for (std::uint32_t state = 0; state < states_; ++state)
      names_.push_back(fmt::format("d {}/d {}", names_[state], by));
  }
  for (const std::string& each : names_) state_names_.push_back(each.c_str());
  table_.model.state_names = state_names_.data();
}

tactus_instance* Lifted::enter(tactus_instance* outer) const {
  auto* inside = reinterpret_cast<tactus_instance*>(tactus_data(outer));
  *inside = *outer;
  return inside;
}

int Lifted::leave(tactus_instance* outer, int status) const {
  outer->failed_block = reinterpret_cast<const tactus_instance*>(tactus_data(outer))->failed_block;
  return status;
}

double* Lifted::direction(tactus_instance* outer, std::size_t seed) const {
  return tactus_data(outer) + places_.directions + seed * direction_size_;
}

double* Lifted::states_of(tactus_instance* outer) const { return tactus_data(outer) + table_.model.layout.states; }

// ---- the table

// Parameters move along their seeds, and what is derived from them with them.
int Lifted::prepare(const tactus_model* model, tactus_instance* outer) {
  const Lifted& self = of(model);
  tactus_instance* inside = self.enter(outer);
  int status = self.inner_.prepare(&self.inner_, inside);
  for (std::size_t k = 0; k < self.seeds_.size() && status == TACTUS_OK; ++k) {
    double* direction = self.direction(outer, k);
    std::fill_n(direction, tactus_direction_discrete(&self.inner_), 0.0);
    const Seed& seed = self.seeds_[k];
    if (seed.kind == Seed::parameter) direction[tactus_direction_parameters(&self.inner_) + seed.index] = 1;
    double* result = tactus_data(outer) + self.places_.scratch;
    status = self.inner_.tangent(&self.inner_, inside, TACTUS_OF_PREPARE, outer->time,
                                 tactus_data(inside) + self.inner_.layout.states, direction, result);
    std::copy_n(result, self.inner_.derived_count, direction + tactus_direction_derived(&self.inner_));
  }
  return self.leave(outer, status);
}

int Lifted::initialize(const tactus_model* model, tactus_instance* outer) {
  const Lifted& self = of(model);
  const tactus_model& inner = self.inner_;
  tactus_instance* inside = self.enter(outer);
  double* x = self.states_of(outer);
  int status = TACTUS_OK;
  for (std::size_t k = 0; k < self.seeds_.size() && status == TACTUS_OK; ++k) {
    double* direction = self.direction(outer, k);
    double* result = tactus_data(outer) + self.places_.scratch;
    status = inner.tangent(&inner, inside, TACTUS_OF_INITIALIZE, outer->time, tactus_data(inside) + inner.layout.states,
                           direction, result);
    double* s = x + self.states_ * (1 + k);
    std::copy_n(result, self.states_, s);
    if (self.seeds_[k].kind == Seed::start_of_state) s[self.seeds_[k].index] += 1;
    std::copy_n(result + self.states_, inner.discrete_count, direction + tactus_direction_discrete(&inner));
  }
  if (status == TACTUS_OK && inner.initialize != nullptr) status = inner.initialize(&inner, inside);
  std::copy_n(tactus_data(inside) + inner.layout.states, self.states_, x);
  std::fill_n(tactus_data(outer) + self.places_.moved, self.seeds_.size(), 0.0);
  return self.leave(outer, status);
}

int Lifted::derivative(const tactus_model* model, tactus_instance* outer, double t, const double* x, double* dx) {
  const Lifted& self = of(model);
  const tactus_model& inner = self.inner_;
  tactus_instance* inside = self.enter(outer);
  int status = inner.derivative(&inner, inside, t, x, dx);
  for (std::size_t k = 0; k < self.seeds_.size() && status == TACTUS_OK; ++k) {
    double* direction = self.direction(outer, k);
    std::copy_n(x + self.states_ * (1 + k), self.states_, direction + tactus_direction_states(&inner));
    status = inner.tangent(&inner, inside, TACTUS_OF_DERIVATIVE, t, x, direction, dx + self.states_ * (1 + k));
  }
  return self.leave(outer, status);
}

int Lifted::outputs(const tactus_model* model, tactus_instance* outer, double t, const double* x) {
  const Lifted& self = of(model);
  return self.leave(outer, self.inner_.outputs(&self.inner_, self.enter(outer), t, x));
}

int Lifted::watch(const tactus_model* model, tactus_instance* outer, double t, const double* x) {
  const Lifted& self = of(model);
  return self.leave(outer, self.inner_.watch(&self.inner_, self.enter(outer), t, x));
}

int Lifted::constrain(const tactus_model* model, tactus_instance* outer, double t, const double* x, double* result) {
  const Lifted& self = of(model);
  return self.leave(outer, self.inner_.constrain(&self.inner_, self.enter(outer), t, x, result));
}

// The discrete values and states after the event, and how they move: the event sees the states where it happens. What
// `fire` adds to the sensitivities, for the instant moves, is taken from them here.
int Lifted::fire_one(const tactus_model* model, tactus_instance* outer, std::uint32_t event) {
  const Lifted& self = of(model);
  const tactus_model& inner = self.inner_;
  tactus_instance* inside = self.enter(outer);
  double* x = self.states_of(outer);
  const double* before = tactus_data(outer) + self.places_.before;
  double* inner_x = tactus_data(inside) + inner.layout.states;
  std::copy_n(x, self.states_, inner_x);
  for (std::size_t k = 0; k < self.seeds_.size(); ++k) {
    double* direction = self.direction(outer, k);
    const double moved = tactus_data(outer)[self.places_.moved + k];
    double* along = direction + tactus_direction_states(&inner);
    double* s = x + self.states_ * (1 + k);
    direction[0] = moved;
    for (std::uint32_t i = 0; i < self.states_; ++i) along[i] = moved == 0 ? s[i] : s[i] + before[i] * moved;
    double* result = tactus_data(outer) + self.places_.scratch;
    const int status = inner.tangent(&inner, inside, TACTUS_OF_FIRE + event, outer->time, x, direction, result);
    direction[0] = 0;
    if (status != TACTUS_OK) return self.leave(outer, status);
    std::copy_n(result, inner.discrete_count, direction + tactus_direction_discrete(&inner));
    const double* after = result + inner.discrete_count;
    for (std::uint32_t i = 0; i < self.states_; ++i) s[i] = moved == 0 ? after[i] : after[i] - before[i] * moved;
  }
  const int status = inner.fire != nullptr ? inner.fire(&inner, inside, event) : int{TACTUS_OK};
  std::copy_n(inner_x, self.states_, x);
  return self.leave(outer, status);
}

// ---- events

int Lifted::find_moves(tactus_instance* outer) const {
  const tactus_model& inner = inner_;
  const double* x = states_of(outer);
  double* moved = tactus_data(outer) + places_.moved;
  double* before = tactus_data(outer) + places_.before;
  std::fill_n(moved, seeds_.size(), 0.0);
  tactus_instance* inside = enter(outer);
  int status = inner.derivative(&inner, inside, outer->time, x, before);
  if (status != TACTUS_OK || inner.relation_count == 0) return leave(outer, status);
  status = inner.watch(&inner, inside, outer->time, x);
  if (status != TACTUS_OK) return leave(outer, status);
  const std::int32_t crossed = tk_first_crossed(&table_.model, outer);
  if (crossed < 0) return leave(outer, TACTUS_OK);
  const std::uint32_t guard = inner.relations[crossed].guard;
  double* result = tactus_data(outer) + places_.scratch;
  // Along the motion.
  double* along = result + result_size();
  std::fill_n(along, direction_size_, 0.0);
  along[0] = 1;
  std::copy_n(before, states_, along + tactus_direction_states(&inner));
  status = inner.tangent(&inner, inside, TACTUS_OF_WATCH, outer->time, x, along, result);
  const double rate = result[guard];
  for (std::size_t k = 0; k < seeds_.size() && status == TACTUS_OK; ++k) {
    double* toward = direction(outer, k);
    std::copy_n(x + states_ * (1 + k), states_, toward + tactus_direction_states(&inner));
    status = inner.tangent(&inner, inside, TACTUS_OF_WATCH, outer->time, x, toward, result);
    moved[k] = result[guard] == 0 ? 0 : -result[guard] / rate;
    if (!std::isfinite(moved[k])) status = TACTUS_SINGULAR;
  }
  return leave(outer, status);
}

int Lifted::fire(tactus_instance* instance) const {
  const tactus_model* model = &table_.model;
  if (tk_is_due(model, instance) == 0) return TACTUS_OK;
  int status = find_moves(instance);
  if (status == TACTUS_OK) status = tk_fire(model, instance);
  if (status != TACTUS_OK) return tk_fail(instance, status, instance->failed_index);
  if (instance->tie_count > 0) return tk_fail(instance, TACTUS_SINGULAR, -1);
  double* x = states_of(instance);
  double* after = tactus_data(instance) + places_.scratch;
  status = inner_.derivative(&inner_, enter(instance), instance->time, x, after);
  if (leave(instance, status) != TACTUS_OK) return tk_fail(instance, status, -1);
  const double* before = tactus_data(instance) + places_.before;
  double* moved = tactus_data(instance) + places_.moved;
  for (std::size_t k = 0; k < seeds_.size(); ++k) {
    double* s = x + states_ * (1 + k);
    for (std::uint32_t i = 0; i < states_; ++i) s[i] += (before[i] - after[i]) * moved[k];
    moved[k] = 0;
  }
  instance->first_stage_valid = 0;
  return TACTUS_OK;
}

int Lifted::run(tactus_instance* instance, int solver, double h, double tolerance, double t_end) const {
  int status = instance->tie_count > 0 ? tk_fail(instance, TACTUS_SINGULAR, -1) : int{TACTUS_OK};
  while (status == TACTUS_OK && instance->time < t_end) {
    status = tk_part(&table_.model, instance, solver, h, tolerance, t_end);
    if (status == TACTUS_OK) status = fire(instance);
  }
  return status;
}

// ---- what comes out

std::span<const double> Lifted::sensitivity(const tactus_instance* instance, std::size_t seed) const {
  return {tactus_data_const(instance) + table_.model.layout.states + states_ * (1 + seed), states_};
}

std::span<const double> Lifted::discrete_sensitivity(const tactus_instance* instance, std::size_t seed) const {
  return {
      tactus_data_const(instance) + places_.directions + seed * direction_size_ + tactus_direction_discrete(&inner_),
      inner_.discrete_count};
}

int Lifted::sensitivity_of(tactus_instance* outer, tactus_function function, std::size_t seed, double* result) const {
  double* along = direction(outer, seed);
  const double* x = states_of(outer);
  std::copy_n(x + states_ * (1 + seed), states_, along + tactus_direction_states(&inner_));
  return leave(outer, inner_.tangent(&inner_, enter(outer), function, outer->time, x, along, result));
}

int Lifted::output_sensitivity(tactus_instance* instance, std::size_t seed, std::span<double> result) const {
  TACTUS_CHECK(result.size() == inner_.output_count);
  return sensitivity_of(instance, TACTUS_OF_OUTPUTS, seed, result.data());
}

int Lifted::conditions(tactus_instance* instance, std::span<double> result) const {
  TACTUS_CHECK(result.size() == inner_.condition_count);
  const double* x = states_of(instance);
  return leave(instance, inner_.condition(&inner_, enter(instance), instance->time, x, result.data()));
}

int Lifted::condition_sensitivity(tactus_instance* instance, std::size_t seed, std::span<double> result) const {
  TACTUS_CHECK(result.size() == inner_.condition_count);
  return sensitivity_of(instance, TACTUS_OF_CONDITIONS, seed, result.data());
}

}  // namespace sim
