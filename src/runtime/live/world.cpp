#include "runtime/live/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <thread>
#include <unordered_map>

#include "kernel/hybrid.h"
#include "kernel/kernel.h"
#include "kernel/sections.h"
#include "runtime/sim/evaluate.h"
#include "runtime/sim/plan.h"
#include "runtime/sim/shooting.h"

namespace live {
namespace {

constexpr double most_damping = 50;  // N s/m: a desktop device's own limit is of this size
constexpr double default_period = 1e-3;
constexpr std::chrono::seconds longest_search(5);  // for a start: a person waits
constexpr double longest_step_of_follower = 2;     // w * period: beyond, it would jump

std::int64_t in_nanoseconds(double time) { return std::llround(1e9 * time); }

// What a model's structure is called; two with the same keep each other's discrete values.
std::vector<std::string_view> structure_of(const tactus_model& model) {
  std::vector<std::string_view> names(model.state_names, model.state_names + model.state_count);
  for (std::uint32_t i = 0; i < model.channel_count; ++i) {
    if (model.channels[i].flags & TACTUS_CHANNEL_DISCRETE) names.emplace_back(model.channels[i].name);
  }
  for (std::uint32_t i = 0; i < model.event_count; ++i) names.emplace_back(model.events[i].name);
  return names;
}

bool has_same_structure(const tactus_model& a, const tactus_model& b) {
  const auto counts = [](const tactus_model& m) {
    return std::array{m.discrete_count, m.event_count, m.relation_count, m.history_count, m.delay_count};
  };
  if (counts(a) != counts(b) || structure_of(a) != structure_of(b)) return false;
  for (std::uint32_t i = 0; i < a.event_count; ++i) {
    if (a.events[i].kind != b.events[i].kind || a.events[i].period != b.events[i].period) return false;
  }
  return true;
}

// How often an event that counts has been due up to t, t included.
double times_passed(const tactus_model& model, const tactus_event& event, double t) {
  if (event.kind == TACTUS_EVERY)
    return std::max(0.0, std::floor((t - model.starting_time - event.from) / event.period) + 1);
  const double* first = model.event_times + event.first;
  return static_cast<double>(std::upper_bound(first, first + event.count, t) - first);
}

}  // namespace

Timing choose_timing(const tactus_model& model, double period) {
  Timing timing;
  if (!(period > 0)) period = model.hand_period > 0 ? model.hand_period : default_period;
  timing.period = period;
  if (model.step_size > 0 && model.step_size < period)
    timing.substeps = std::llround(std::min(std::ceil(period / model.step_size - 1e-9), 1e15));
  const int named = model.solver;
  const int fixed = named < 0 ? int{TACTUS_RK4} : tactus_fixed_form(named);
  timing.solver = fixed;
  if (tactus_is_adaptive(fixed)) {
    timing.solver = tactus_is_stiff_solver(fixed) ? TACTUS_ROSENBROCK_FIXED : TACTUS_RK4;
    timing.notes.push_back(fmt::format("`{}` chooses its own steps, which a clock does not allow: {} at {:g} s instead",
                                       tactus_solver_name(named), tactus_solver_name(timing.solver),
                                       period / static_cast<double>(timing.substeps)));
  }
  return timing;
}

std::optional<sim::Failure> find_unbounded_work(const tactus_model& model, const Timing& timing) {
  sim::Failure failure;
  failure.kind = "too_much_work";
  failure.time = model.starting_time;
  if (timing.period < least_period) {
    failure.text = fmt::format("a tick every {:g} s is more often than a clock can keep: at most {:g} a second",
                               timing.period, 1 / least_period);
    failure.hint = "write a longer period behind `every` of the hand, or give one: --rate 1000";
    return failure;
  }
  if (!(timing.period <= longest_period)) {
    failure.text =
        fmt::format("a tick every {:g} s is as good as none: at least one in {:g} s", timing.period, longest_period);
    failure.hint = "write a shorter period behind `every` of the hand, or give one: --rate 1000";
    return failure;
  }
  if (timing.substeps > most_substeps) {
    failure.text = fmt::format("a tick of {:g} s would take {:.4g} steps of {:g} s, and at most {} are allowed",
                               timing.period, timing.period / model.step_size, model.step_size, most_substeps);
    failure.hint = "write a longer `step_size`; `tactus run` takes steps of any length";
    return failure;
  }
  double scheduled = 0;
  const tactus_event* most_frequent = nullptr;
  for (std::uint32_t i = 0; i < model.event_count; ++i) {
    const tactus_event& event = model.events[i];
    if (event.kind != TACTUS_EVERY) continue;
    scheduled += timing.period / event.period;
    if (!most_frequent || event.period < most_frequent->period) most_frequent = &event;
  }
  if (scheduled > most_scheduled_events) {
    failure.line = most_frequent->line;
    failure.text =
        fmt::format("a tick of {:g} s would have {:.4g} events, `{}` every {:g} s, and at most {:g} are allowed",
                    timing.period, scheduled, most_frequent->name, most_frequent->period, most_scheduled_events);
    failure.hint = "let it happen less often; `tactus run` takes events of any period that time can count";
    return failure;
  }
  if (model.max_transitions > most_transitions) {
    failure.text = fmt::format("`max_transitions = {}` lets one instant last longer than a clock can wait: at most {}",
                               model.max_transitions, most_transitions);
    failure.hint = "a chain of transitions that ends is rarely longer than 100; 1000 is what holds without it";
    return failure;
  }
  return std::nullopt;
}

HandPlaces find_hand(const tactus_model& model) {
  HandPlaces hand;
  for (std::uint32_t i = 0; i < model.port_count; ++i) {
    const tactus_port& port = model.ports[i];
    if (!port.is_input) continue;
    const tactus_channel& channel = model.input_channels[port.channel];
    const std::string_view name = channel.name;
    HandPlaces::Input input = {HandPlaces::Input::position, channel.at, channel.rows * channel.columns};
    if (name == std::string(port.device) + ".velocity") input.kind = HandPlaces::Input::velocity;
    if (name == std::string(port.device) + ".button") input.kind = HandPlaces::Input::button;
    input.count = std::min(input.count, input.kind == HandPlaces::Input::button ? 4u : 3u);
    if (input.kind == HandPlaces::Input::position) hand.components = std::max(hand.components, input.count);
    hand.inputs.push_back(input);
    if (hand.device.empty() || hand.device == "GUI") hand.device = port.device;
  }
  for (std::uint32_t i = 0; i < model.port_count; ++i) {
    const tactus_port& port = model.ports[i];
    if (port.is_input) continue;
    const tactus_channel& channel = model.channels[port.channel];
    if (std::string_view(channel.name) != std::string(port.device) + ".force") continue;
    hand.force_at = channel.at;
    hand.force_count = std::min(channel.rows * channel.columns, 3u);
    if (hand.device.empty()) hand.device = port.device;
  }
  return hand;
}

World::World(const tactus_model& model, Timing timing)
    : model_(model),
      timing_(std::move(timing)),
      hand_(find_hand(model)),
      instance_(model),
      warm_(model.warm_count),
      outputs_(model.output_count),
      book_(find_book(model)),
      shown_(Shown{0, 0, {}, {}, std::vector<double>(model.output_count)}) {
  const double origin[3] = {0, 0, 0};
  tk_begin_following(&follower_, follower_frequency, origin);
  passivity_.most_damping = most_damping;
  tk_begin_passivity(&passivity_);
}

void World::set_hand(std::shared_ptr<Hand> hand) {
  simulated_ = std::move(hand);
  if (!simulated_) return own_port_.reset();
  tk_limits limits = mouse_limits;
  limits.jump = std::max(limits.jump, limits.change * timing_.period);  // its ticks are never late
  own_port_.emplace(limits);
  own_port_->withdraw(in_nanoseconds(instance_->time));
}

std::optional<sim::Failure> World::start(const std::vector<double>& parameters, const tactus_model* with_tangents) {
  tactus_instance* instance = instance_.get();
  int status = tk_reset(&model_, instance);
  if (status == TACTUS_OK) {
    std::copy_n(parameters.begin(), std::min<std::size_t>(parameters.size(), model_.parameter_count),
                instance_.section(model_.layout.parameters));
    status = tk_start(&model_, instance);
  }
  if (status == TACTUS_OK && with_tangents && sim::has_later_conditions(model_)) {
    if (auto failure = meet_boundary_values(parameters, *with_tangents)) return failure;
  }
  if (status == TACTUS_OK) {
    const double step = timing_.period / static_cast<double>(timing_.substeps);
    for (std::uint32_t i = 0; i < model_.delay_count; ++i) {
      const double duration = instance_.section(model_.layout.derived)[model_.delays[i].duration];
      if (!(duration >= step * (1 - 1e-9))) return sim::describe_short_delay(model_, *instance, duration, step);
    }
    status = take_stop(tk_begin_events(&model_, instance));
  }
  if (status == TACTUS_OK) status = evaluate(&model_);
  if (status == TACTUS_OK) return std::nullopt;
  return sim::describe_failure(model_, *instance, static_cast<tactus_status>(status), true);
}

std::optional<sim::Failure> World::meet_boundary_values(const std::vector<double>& parameters,
                                                        const tactus_model& table) {
  std::string mistake;
  const std::optional<sim::Plan> plan = sim::make_plan(table, {.recording = false}, mistake);
  if (!plan) {
    sim::Failure failure;
    failure.kind = sim::status_name(TACTUS_NO_START);
    failure.text = mistake;
    return failure;
  }
  std::vector<sim::ParameterValue> values;
  for (std::uint32_t i = 0; i < parameters.size(); ++i) values.push_back({i, parameters[i]});
  std::atomic<bool> is_enough = false;
  sim::BoundarySolution found;
  {
    const std::jthread watch([&](const std::stop_token& is_found) {
      std::mutex mutex;
      std::unique_lock lock(mutex);
      std::condition_variable_any().wait_for(lock, is_found, longest_search, [] { return false; });
      is_enough = true;
    });
    found = sim::solve_boundary({table, *plan, values, {}, &is_enough});
  }
  if (found.is_interrupted) {
    sim::Failure failure;
    failure.kind = sim::status_name(TACTUS_NO_START);
    failure.text = fmt::format("no start that meets the boundary values was found within {} s", longest_search.count());
    failure.hint = "`tactus run` searches for as long as it takes; a nearer guess, `x'(0) ~ 3`, makes it quick";
    return failure;
  }
  if (found.failure) return found.failure;
  std::ranges::copy(found.nodes[0].states, instance_.states().begin());
  timing_.notes.push_back(found.note());
  if (found.nodes.size() > 1)
    timing_.notes.emplace_back(
        "this motion runs away from its start too fast to meet its later boundary values in one go");
  return std::nullopt;
}

void World::plan_elsewhere() {
  if (model_.plan_count == 0) return;
  planner_ = std::make_unique<Planner>(model_, Pace{timing_.period, timing_.substeps, timing_.solver});
  instance_->plans_wait = 1;
}

void World::plan_to_take_over(const World& before, const std::vector<Named>& its_discrete,
                              const std::vector<Named>& discrete) {
  std::unordered_map<std::string_view, std::uint32_t> places, slots;
  for (std::uint32_t i = 0; i < before.model_.state_count; ++i) places.emplace(before.model_.state_names[i], i);
  kept_states_.clear();
  for (std::uint32_t i = 0; i < model_.state_count; ++i) {
    if (const auto found = places.find(model_.state_names[i]); found != places.end())
      kept_states_.push_back({found->second, i});
  }
  keeps_all_ = has_same_structure(before.model_, model_);
  for (const Named& each : its_discrete) slots.emplace(each.name, each.slot);
  kept_discrete_.clear();
  for (const Named& each : discrete) {
    if (const auto found = slots.find(each.name); found != slots.end())
      kept_discrete_.push_back({found->second, each.slot});
  }
  const double* started = instance_.section(model_.layout.discrete);
  started_discrete_.assign(started, started + model_.discrete_count);
}

void World::take_over(const World& before) {
  const auto part = [&](const World& world, std::uint32_t offset) {
    return tactus_data(const_cast<tactus_instance*>(world.instance_.get())) + offset;
  };
  instance_->time = before.instance_->time;
  instance_->start_time = instance_->time;
  instance_->steps = 0;
  instance_->input_time = instance_->time;
  const double* from = part(before, before.model_.layout.states);
  double* to = part(*this, model_.layout.states);
  for (const Copy& copy : kept_states_) to[copy.to] = from[copy.from];
  double* clocks = part(*this, model_.layout.clocks);
  if (keeps_all_) {
    std::copy_n(part(before, before.model_.layout.discrete), model_.discrete_count,
                part(*this, model_.layout.discrete));
    std::copy_n(part(before, before.model_.layout.clocks), model_.event_count, clocks);
    std::copy_n(part(before, before.model_.layout.history), model_.history_count, part(*this, model_.layout.history));
    // The modes came with the discrete values; what they say of the equations does not.
    if (model_.structure_count > 0) (void)tk_choose_structure(&model_, instance_.get());
  } else {
    const double* its_discrete = part(before, before.model_.layout.discrete);
    double* discrete = part(*this, model_.layout.discrete);
    for (const Copy& copy : kept_discrete_) discrete[copy.to] = its_discrete[copy.from];
    if (model_.structure_count > 0 && !tk_choose_structure(&model_, instance_.get())) {
      // Nothing leads to these modes any more: it begins with its own.
      std::copy(started_discrete_.begin(), started_discrete_.end(), discrete);
      (void)tk_choose_structure(&model_, instance_.get());
    }
    for (std::uint32_t i = 0; i < model_.event_count; ++i) {
      const int kind = model_.events[i].kind;
      if (kind == TACTUS_EVERY || kind == TACTUS_AT)
        clocks[i] = times_passed(model_, model_.events[i], instance_->time);
    }
  }
  instance_->first_stage_valid = 0;
  stopped_by_ = -1;  // what stops it at its own start need not hold here: the next tick asks
  if (model_.constraint_count > 0)
    (void)tk_project(&model_, instance_.get(), instance_->time, to, TK_FIXED_PROJECTIONS,
                     0);  // else the next tick says so
  follower_ = before.follower_;
  passivity_ = before.passivity_;
  told_ = before.told_;
  was_present_ = before.was_present_;
  write_inputs(follower_, {});
  if (model_.relation_count > 0) (void)tk_settle(&model_, instance_.get());
  if (evaluate(&model_) == TACTUS_OK) keep_book(before.invented());
}

std::optional<World::BookPlaces> World::find_book(const tactus_model& model) {
  const auto* const states = model.state_names + model.state_count;
  const auto* const start =
      std::find_if(model.state_names, states, [](const char* name) { return name == std::string_view("book.start"); });
  const auto* const channels = model.channels + model.channel_count;
  const auto* const invented = std::find_if(model.channels, channels, [](const tactus_channel& channel) {
    return channel.name == std::string_view("book.invented");
  });
  if (start == states || invented == channels) return std::nullopt;
  return BookPlaces{static_cast<std::uint32_t>(start - model.state_names), invented->at};
}

double World::invented() const { return book_ ? outputs_[book_->invented] : 0; }

// An edit or a parameter may change what is stored: other states, another energy, another mass. Nobody's method made
// that, so the account begins with it, and what came from nowhere before stays what it was.
void World::keep_book(double invented_before) {
  if (!book_) return;
  const double change = invented() - invented_before;
  if (!std::isfinite(change) || change == 0) return;
  instance_.section(model_.layout.states)[book_->start] += change;
  (void)evaluate(&model_);
}

// The inputs of the tick that begins: from where the estimate was to where it now is.
void World::write_inputs(const tk_follower& now, const Pointer& pointer) {
  const double dt = timing_.period;
  double* values = instance_.section(model_.layout.inputs);
  double* rates = instance_.section(model_.layout.input_rates);
  for (const HandPlaces::Input& input : hand_.inputs) {
    for (std::uint32_t i = 0; i < input.count; ++i) {
      double& value = values[input.at + i];
      double& rate = rates[input.at + i];
      switch (input.kind) {
        case HandPlaces::Input::position:
          value = now.position[i];
          rate = (follower_.position[i] - now.position[i]) / dt;
          break;
        case HandPlaces::Input::velocity:
          value = now.velocity[i];
          rate = (follower_.velocity[i] - now.velocity[i]) / dt;
          break;
        case HandPlaces::Input::button:
          value = pointer.is_present ? pointer.buttons[i] : 0;
          rate = 0;
          break;
      }
    }
  }
  instance_->input_time = instance_->time;
  instance_->first_stage_valid = 0;
}

int World::evaluate(const tactus_model* table) {
  const double* x = instance_.section(model_.layout.states);
  const int status = sim::evaluate_outputs(*table, instance_.get(), instance_->time, x, warm_);
  if (status == TACTUS_OK) std::copy_n(instance_.section(model_.layout.outputs), outputs_.size(), outputs_.data());
  return status;
}

int World::tick(const tactus_model* table, const Pointer& heard, std::int64_t now) {
  const Pointer pointer = simulated_ ? simulated_->at(instance_->time) : heard;
  const double input_age = simulated_ ? 0 : 1e-9 * static_cast<double>(now - pointer.heard);
  const bool is_here = pointer.is_present && input_age <= mouse_limits.input_age;
  if (is_here) {
    told_ = pointer.position;
    if (!was_present_) tk_begin_passivity(&passivity_);
  }
  was_present_ = is_here;
  tk_follower before = follower_;
  if (simulated_) {
    for (int i = 0; i < 3; ++i) {
      const double from = was_followed_ ? before.position[i] : told_[i];
      follower_.velocity[i] = (told_[i] - from) / timing_.period;
      follower_.position[i] = told_[i];
    }
    if (!was_followed_) before = follower_;
    was_followed_ = true;
  } else {
    tk_follow(&follower_, timing_.period, told_.data());
  }
  write_inputs(before, is_here ? pointer : Pointer{});

  int status = planner_ ? planner_->begin_due(table, instance_.get()) : int{TACTUS_OK};
  const bool stands_still = planner_ && planner_->is_waiting();
  if (status == TACTUS_OK && !stands_still) status = take_steps(table);
  status = take_stop(status);
  if (status == TACTUS_OK && planner_) planner_->send(table, instance_.get(), speed_);
  if (status == TACTUS_OK) status = evaluate(table);
  if (simulated_) {
    const std::int64_t time = in_nanoseconds(instance_->time);
    if (is_here) own_port_->hear(time);
    push_back(*own_port_, time);
    simulated_->feel(own_port_->newest().force, instance_->time);
  }
  return status;
}

// A few at a time: a tick of many can be cancelled between them.
int World::take_steps(const tactus_model* table) {
  // Whoever cancels waits for so many: fewer of a large model, whose steps take longer.
  const std::int64_t at_once = std::clamp<std::int64_t>(100'000 / (1 + std::int64_t{model_.state_count}), 1, 256);
  const double h = timing_.period / static_cast<double>(timing_.substeps);
  const auto steps = tk_runs_in_parts(table) ? tk_event_steps : table->fixed_steps;
  for (std::int64_t left = timing_.substeps; left > 0; left -= at_once) {
    if (is_cancelled()) return TACTUS_ENDLESS_EVENTS;
    const int status = steps(table, instance_.get(), timing_.solver, h, std::min(left, at_once));
    if (status != TACTUS_OK) return status;
  }
  return TACTUS_OK;
}

// What a `stop when` ends, ends well, where it held.
int World::take_stop(int status) {
  if (status != TACTUS_STOPPED) return status;
  stopped_by_ = instance_->failed_index;
  return TACTUS_OK;
}

bool World::has_ended() const {
  constexpr double rounding = 1e-6;  // of a tick: time is a sum of steps
  if (stopped_by_ >= 0) return true;
  return model_.ending_time > model_.starting_time && instance_->time >= model_.ending_time - rounding * timing_.period;
}

void World::cancel() {
  is_cancelled_.store(true, std::memory_order_relaxed);
  tk_cancel(&model_, instance_.get());
}

void World::give_force(Port& port, std::int64_t now) {
  if (simulated_) {
    port.withdraw(now);
  } else {
    push_back(port, now);
  }
}

void World::push_back(Port& port, std::int64_t now) {
  Force force = {};
  for (std::uint32_t i = 0; i < hand_.force_count; ++i) force[i] = outputs_[hand_.force_at + i];
  tk_gave(&passivity_, port.mean(now).data());
  if (was_present_) tk_keep_passive(&passivity_, timing_.period, follower_.position, follower_.velocity, force.data());
  port.give(now, force);
}

void World::rest(Port& port, std::int64_t now) {
  was_present_ = false;
  port.withdraw(now);
}

int World::set_parameter(const tactus_model* table, std::uint32_t index, double value) {
  const double invented_before = invented();
  instance_.section(model_.layout.parameters)[index] = value;
  instance_->first_stage_valid = 0;
  int status = table->prepare(table, instance_.get());
  if (status == TACTUS_OK && table->relation_count > 0) status = tk_settle(table, instance_.get());
  if (status == TACTUS_OK) status = evaluate(table);
  if (status == TACTUS_OK) keep_book(invented_before);
  return status;
}

void World::set_speed(double speed) {
  speed_ = speed;
  follower_.frequency = std::min(follower_frequency / speed, longest_step_of_follower / timing_.period);
}

void World::publish(std::uint32_t flags) {
  Shown& draft = shown_.draft();
  draft.time = instance_->time;
  draft.flags = flags | (was_present_ ? flag::hand : 0u) | (passivity_.damping > 0 ? flag::controller : 0u);
  std::copy_n(follower_.position, 3, draft.position.begin());
  std::copy_n(follower_.velocity, 3, draft.velocity.begin());
  std::copy(outputs_.begin(), outputs_.end(), draft.outputs.begin());
  shown_.publish();
}

std::vector<double> World::parameters() const {
  const double* values = tactus_data(const_cast<tactus_instance*>(instance_.get())) + model_.layout.parameters;
  return {values, values + model_.parameter_count};
}

}  // namespace live
