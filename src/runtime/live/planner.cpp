#include "runtime/live/planner.h"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "kernel/hybrid.h"
#include "kernel/kernel.h"

namespace live {
namespace {

constexpr std::size_t header_size = sizeof(tactus_instance) / sizeof(double);
constexpr auto look = std::chrono::milliseconds(1);
constexpr std::int64_t longest_delay = (1 << most_questions) - 1;  // budgets of all questions, in those of the first

void add_one(std::atomic<std::int64_t>& count) {
  count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// Inputs as they are now, from now on.
void hold_inputs(const tactus_model& model, tactus_instance* instance) {
  double* values = tactus_data(instance) + model.layout.inputs;
  double* rates = tactus_data(instance) + model.layout.input_rates;
  for (std::uint32_t i = 0; i < model.input_count; ++i) {
    values[i] += rates[i] * (instance->time - instance->input_time);
    rates[i] = 0;
  }
  instance->input_time = instance->time;
}

}  // namespace

Planner::Planner(const tactus_model& model, const Pace& pace, Worker worker)
    : model_(model), pace_(pace), snapshot_(model.layout.snapshot), copy_(model) {
  const std::uint32_t count = std::min<std::uint32_t>(model.plan_count, TACTUS_MOST_ASKED);
  for (std::uint32_t k = 0; k < count; ++k) {
    auto& question = questions_.emplace_back(std::make_unique<Question>());
    question->copy.resize(header_size + snapshot_);
    question->origin.resize(header_size + snapshot_);
    question->motion.resize(header_size + snapshot_);
    question->modes.resize(model.automaton_count);
  }
  before_.resize(header_size + snapshot_);
  if (worker == Worker::nobody) return;
  worker_ = std::thread([this] {
    prctl(PR_SET_NAME, "tactus-planner");
    while (!is_over_.load(std::memory_order_relaxed)) {
      if (!work()) std::this_thread::sleep_for(look);
    }
  });
}

Planner::~Planner() {
  is_over_ = true;
  tk_cancel(&model_, copy_.get());
  if (worker_.joinable()) worker_.join();
}

// --- The loop's side
// ----------------------------------------------------------------------------------------------------

int Planner::begin_due(const tactus_model* table, tactus_instance* instance) {
  if (!is_waiting_) ++tick_;
  is_waiting_ = false;
  int status = TACTUS_OK;
  for (std::uint32_t k = 0; k < questions_.size() && status == TACTUS_OK; ++k) {
    Question& question = *questions_[k];
    const int state = question.state.load(std::memory_order_acquire);
    if (state == idle || (question.is_wanted && tick_ < question.begins)) continue;
    if (state == answered) {
      question.state.store(idle, std::memory_order_relaxed);
      if (question.is_wanted) status = take_answer(table, instance, k, question);
    } else if (question.is_wanted && question.asked == most_questions) {
      is_waiting_ = true;
    } else if (question.is_wanted && !question.is_late) {
      question.is_late = true;
      add_one(counts_.late);
    } else if (question.is_wanted && tick_ - question.origin_tick >= longest_delay * question.first) {
      // No answer for very long: its search is ended, and the world waits for the next one.
      is_waiting_ = true;
      question.asked = most_questions - 1;
      tk_cancel(&model_, copy_.get());
    }
  }
  if (is_waiting_) add_one(counts_.waited);
  if (status == TACTUS_OK && !is_waiting_) std::memcpy(before_.data(), instance, before_.size() * sizeof(double));
  return status;
}

int Planner::take_answer(const tactus_model* table, tactus_instance* instance, std::uint32_t plan, Question& question) {
  question.is_wanted = false;
  if (!is_in_modes(instance, question.modes)) {
    question.has_origin = false;  // the way from there is another one
    const int status = tk_settle(table, instance);
    if (status != TACTUS_OK) return status;
    const tactus_model* active = tk_active(table, instance);
    const double holds =
        tactus_data(instance)[active->layout.watched + active->events[active->plans[plan].event].first];
    if (holds > 0.5) return question.asked == most_questions ? refuse(table, instance, plan, question) : int{TACTUS_OK};
    instance->plans_asked &= ~(std::uint64_t{1} << plan);
    question.asked = 0;
    add_one(counts_.dropped);
    return TACTUS_OK;
  }
  if (question.is_late || question.is_cancelled) return TACTUS_OK;  // `send` asks again
  if (question.status != TACTUS_OK) return refuse(table, instance, plan, question);
  question.asked = 0;
  add_one(counts_.begun);
  if (question.is_motion) return take_motion(table, instance, question);
  return tk_begin_plan(table, instance, plan, question.values.data());
}

// What the hand and the person have said since stays: inputs and parameters are those of now.
int Planner::take_motion(const tactus_model* table, tactus_instance* instance, Question& question) {
  add_one(counts_.put_back);
  auto* header = reinterpret_cast<tactus_instance*>(question.motion.data());
  header->plans_wait = instance->plans_wait;
  header->plans_asked = 0;
  header->input_time = instance->input_time;
  double* to = question.motion.data() + header_size;
  const double* from = tactus_data(instance);
  const tactus_layout& layout = model_.layout;
  const bool is_set =
      !std::equal(from + layout.parameters, from + layout.parameters + model_.parameter_count, to + layout.parameters);
  std::copy_n(from + layout.inputs, model_.input_count, to + layout.inputs);
  std::copy_n(from + layout.input_rates, model_.input_count, to + layout.input_rates);
  std::copy_n(from + layout.parameters, model_.parameter_count, to + layout.parameters);
  std::memcpy(static_cast<void*>(instance), question.motion.data(), question.motion.size() * sizeof(double));
  instance->first_stage_valid = 0;
  // What other plans were asked for belongs to the motion that is left; on this one they have begun, or will be asked
  // for.
  for (const auto& other : questions_) {
    other->is_wanted = false;
    other->asked = 0;
  }
  const int status = is_set ? table->prepare(table, instance) : int{TACTUS_OK};
  return status == TACTUS_OK ? tk_settle(table, instance) : status;
}

int Planner::refuse(const tactus_model* table, tactus_instance* instance, std::uint32_t plan, Question& question) {
  question.is_wanted = false;
  question.asked = 0;
  add_one(counts_.failed);
  return tk_refuse_plan(table, instance, plan);
}

void Planner::send(const tactus_model* table, const tactus_instance* instance, double speed) {
  if (instance->plans_asked == 0 || is_waiting_) return;
  for (std::uint32_t k = 0; k < questions_.size(); ++k) {
    Question& question = *questions_[k];
    if ((instance->plans_asked >> k & 1) == 0 || question.state.load(std::memory_order_acquire) != idle) continue;
    const double ticks = std::ceil(plan_budget * std::min(speed, 1.0) / pace_.period - 1e-9);
    question.first = static_cast<std::int64_t>(std::max(1.0, ticks));
    question.ahead = question.first << question.asked;
    question.begins = tick_ + 1 + question.ahead;
    if (question.asked == 0) {
      question.has_origin = true;
      question.origin_tick = tick_;
      std::memcpy(question.origin.data(), before_.data(), before_.size() * sizeof(double));
      reinterpret_cast<tactus_instance*>(question.origin.data())->plans_wait = 0;
    }
    question.from_origin = question.begins - question.origin_tick;
    question.asked++;
    question.is_last = question.asked == most_questions;
    question.is_late = false;
    question.is_wanted = true;
    question.table = table;
    std::memcpy(question.copy.data(), instance, question.copy.size() * sizeof(double));
    question.state.store(sent, std::memory_order_release);
  }
}

bool Planner::is_in_modes(const tactus_instance* instance, const std::vector<double>& modes) const {
  for (std::uint32_t i = 0; i < model_.automaton_count; ++i) {
    if (tactus_data_const(instance)[model_.layout.discrete + model_.automata[i].slot] != modes[i]) return false;
  }
  return true;
}

// --- The worker's side
// --------------------------------------------------------------------------------------------------

bool Planner::work() {
  bool any = false;
  for (std::uint32_t k = 0; k < questions_.size(); ++k) {
    Question& question = *questions_[k];
    if (question.state.load(std::memory_order_acquire) != sent) continue;
    any = true;
    answer(k, question);
    question.state.store(answered, std::memory_order_release);
  }
  return any;
}

void Planner::answer(std::uint32_t plan, Question& question) {
  question.is_motion = false;
  question.is_cancelled = false;
  const auto is_cancelled = [&] { return question.is_cancelled = copy_->plans_wait < 0; };
  int status = look_ahead(question);
  // While the world waits, what may be long to find out comes last: that there is no late start.
  const bool is_on_time_first = question.is_last && question.has_origin;
  if (is_on_time_first) {
    question.status = begin_on_time(question) ? int{TACTUS_OK} : int{TACTUS_NO_PLAN};
    if (question.status == TACTUS_OK || is_cancelled()) return;
    status = look_ahead(question);
  }
  question.status =
      status == TACTUS_OK ? tk_search_for_plan(question.table, copy_.get(), plan, question.values.data()) : status;
  if (question.status == TACTUS_OK || is_cancelled() || is_on_time_first || !question.has_origin) return;
  if (begin_on_time(question)) {
    question.status = TACTUS_OK;
  } else {
    (void)is_cancelled();
  }
}

// The copy at the instant at which the plan is to begin, and its modes there.
int Planner::look_ahead(Question& question) {
  const tactus_model* table = question.table;
  tactus_instance* instance = copy_.get();
  std::memcpy(static_cast<void*>(instance), question.copy.data(), question.copy.size() * sizeof(double));
  if (is_over_.load()) return TACTUS_NO_PLAN;  // from here on it is cancelled
  hold_inputs(model_, instance);
  instance->is_planning = 1;
  const double h = pace_.period / static_cast<double>(pace_.substeps);
  int status = tk_event_steps(table, instance, pace_.solver, h, question.ahead * pace_.substeps);
  if (status == TACTUS_OK) status = tk_settle(table, instance);  // what is watched says where the search begins
  instance->is_planning = 0;
  for (std::uint32_t i = 0; i < model_.automaton_count; ++i)
    question.modes[i] = tactus_data(instance)[model_.layout.discrete + model_.automata[i].slot];
  return status;
}

// From before the tick in which the guard held, as a batch run goes: plans begin when their guards hold, and the search
// takes no time.
bool Planner::begin_on_time(Question& question) {
  const tactus_model* table = question.table;
  tactus_instance* instance = copy_.get();
  std::memcpy(static_cast<void*>(instance), question.origin.data(), question.origin.size() * sizeof(double));
  if (is_over_.load()) return false;  // from here on it is cancelled
  const std::int32_t made = instance->plans_made, failed = instance->plans_failed;
  const double h = pace_.period / static_cast<double>(pace_.substeps);
  if (tk_event_steps(table, instance, pace_.solver, h, pace_.substeps) != TACTUS_OK) return false;
  if (instance->plans_made == made || instance->plans_failed != failed) return false;
  hold_inputs(model_, instance);
  const std::int64_t rest = (question.from_origin - 1) * pace_.substeps;
  if (tk_event_steps(table, instance, pace_.solver, h, rest) != TACTUS_OK) return false;
  std::memcpy(question.motion.data(), static_cast<const void*>(instance), question.motion.size() * sizeof(double));
  question.is_motion = true;
  return true;
}

}  // namespace live
