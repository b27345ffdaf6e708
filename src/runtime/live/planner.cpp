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
    question->modes.resize(model.automaton_count);
  }
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
  tk_cancel_plan(&model_, copy_.get());
  if (worker_.joinable()) worker_.join();
}

// --- The loop's side ----------------------------------------------------------------------------------------------------

int Planner::begin_due(const tactus_model* table, tactus_instance* instance) {
  ++tick_;
  int status = TACTUS_OK;
  for (std::uint32_t k = 0; k < questions_.size() && status == TACTUS_OK; ++k) {
    Question& question = *questions_[k];
    const int state = question.state.load(std::memory_order_acquire);
    if (state == idle || (question.is_wanted && tick_ < question.begins)) continue;
    if (state == answered) {
      question.state.store(idle, std::memory_order_relaxed);
      if (question.is_wanted) status = take_answer(table, instance, k, question);
    } else if (question.is_wanted && !question.is_late) {
      question.is_late = true;
      add_one(counts_.late);
      if (question.asked == most_questions) status = refuse(table, instance, k, question);
    }
  }
  return status;
}

int Planner::take_answer(const tactus_model* table, tactus_instance* instance, std::uint32_t plan, Question& question) {
  question.is_wanted = false;
  if (!is_in_modes(instance, question.modes)) {
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
  if (question.is_late) return TACTUS_OK;  // `send` asks again
  if (question.status != TACTUS_OK) return refuse(table, instance, plan, question);
  question.asked = 0;
  add_one(counts_.begun);
  return tk_begin_plan(table, instance, plan, question.values.data());
}

int Planner::refuse(const tactus_model* table, tactus_instance* instance, std::uint32_t plan, Question& question) {
  question.is_wanted = false;
  question.asked = 0;
  add_one(counts_.failed);
  gave_up_.store(question.is_late, std::memory_order_relaxed);
  return tk_refuse_plan(table, instance, plan);
}

void Planner::send(const tactus_model* table, const tactus_instance* instance, double speed) {
  if (instance->plans_asked == 0) return;
  for (std::uint32_t k = 0; k < questions_.size(); ++k) {
    Question& question = *questions_[k];
    if ((instance->plans_asked >> k & 1) == 0 || question.state.load(std::memory_order_acquire) != idle) continue;
    const double ticks = std::ceil(plan_budget * speed / pace_.period - 1e-9);
    question.ahead = static_cast<std::int64_t>(std::max(1.0, ticks)) << question.asked;
    question.begins = tick_ + 1 + question.ahead;
    question.asked++;
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

// --- The worker's side --------------------------------------------------------------------------------------------------

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
  const tactus_model* table = question.table;
  tactus_instance* instance = copy_.get();
  std::memcpy(static_cast<void*>(instance), question.copy.data(), question.copy.size() * sizeof(double));
  question.status = TACTUS_NO_PLAN;
  if (is_over_.load()) return;  // from here on it is cancelled
  hold_inputs(model_, instance);
  instance->is_planning = 1;
  const double h = pace_.period / static_cast<double>(pace_.substeps);
  int status = tk_event_steps(table, instance, pace_.solver, h, question.ahead * pace_.substeps);
  if (status == TACTUS_OK) status = tk_settle(table, instance);  // what is watched says where the search begins
  instance->is_planning = 0;
  for (std::uint32_t i = 0; i < model_.automaton_count; ++i)
    question.modes[i] = tactus_data(instance)[model_.layout.discrete + model_.automata[i].slot];
  question.status = status == TACTUS_OK ? tk_search_for_plan(table, instance, plan, question.values.data()) : status;
}

}  // namespace live
