#include "runtime/sim/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "base/check.h"
#include "kernel/creeping.h"
#include "kernel/kernel.h"
#include "runtime/sim/cvode.h"
#include "runtime/sim/evaluate.h"
#include "runtime/sim/failed_evaluation.h"
#include "runtime/sim/initial.h"
#include "runtime/sim/instance.h"
#include "runtime/sim/words.h"

namespace sim {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double slice_seconds = 0.02;  // what a chunk aims at
constexpr double progress_seconds = 0.05;
constexpr double grid_slack = 1e-9;  // a row this close to a step's end, in steps, is on it

// The cubic through (x0, f0) at 0 and (x1, f1) at h, at s * h. Hairer, Norsett, Wanner: Solving ODEs I, II.6, (6.7).
double hermite(double s, double h, double x0, double x1, double f0, double f1) {
  double r = 1 - s;
  return r * x0 + s * x1 + s * (s - 1) * ((1 - 2 * s) * (x1 - x0) + (s - 1) * h * f0 + s * h * f1);
}

class Run;

// A table that tells the run of each event; all else is that of `inner`.
struct Listening {
  tactus_model table = {};  // first: the kernel hands back its address
  const tactus_model* inner = nullptr;
  Run* run = nullptr;
};

class Run {
 public:
  Run(const Request& request, Observer* observer)
      : request_(request),
        plan_(request.plan),
        observer_(observer),
        solver_(request.plan.solver),
        model_(listen(table_of(request))),
        has_events_(tk_runs_in_parts(model_) != 0),
        instance_(*model_),
        inputs_(request.feeds),
        warm_(model_->warm_count),
        x_(model_->state_count) {}

  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Outcome execute() {
    if (start()) {
      if (plan_.adaptive()) {
        adaptive();
      } else {
        fixed();
      }
    }
    return finish();
  }

 private:
  // A step of the method: false ends the run, with ending_ set.
  bool start();
  void fixed();
  bool advance_to(std::int64_t step);
  bool last_short_step();
  bool fixed_step_with_rows(double h);
  bool fixed_parts_with_rows(double h);
  void adaptive();
  bool consider_stiffness();
  bool end_part(double close);
  void tell_of_ties();

  int fixed_steps(std::int64_t count);
  bool check_delays();
  bool meet_boundary_values();
  bool is_at_node() const {
    return boundary_ && next_node_ < boundary_->nodes.size() && instance_->time >= boundary_->nodes[next_node_].time;
  }
  void place_on_node();
  double next_stop(double end) const {
    return boundary_ && next_node_ < boundary_->nodes.size() ? std::min(end, boundary_->nodes[next_node_].time) : end;
  }

  bool fail(int status, bool starting = false);
  bool fail_in_step(int status, double h);
  bool evaluate(double t, const double* x);
  bool record(double t, const double* x);
  bool record_between(double t);
  bool record_step();
  bool keeps_limits();
  bool comes_along();
  bool go_on();
  Outcome finish();

  static const tactus_model* table_of(const Request& request) {
    return tactus_is_stiff_solver(request.plan.solver) && request.stiff_table ? request.stiff_table() : request.table();
  }
  void refresh_table() {
    const tactus_model* table =
        tactus_is_stiff_solver(solver_) && request_.stiff_table ? request_.stiff_table() : request_.table();
    if (solver_ == TACTUS_CVODE) {
      if (!cvode_) cvode_ = std::make_unique<Cvode>(*table);
      table = cvode_->table(table);
    }
    model_ = listen(table);
  }
  const tactus_model* listen(const tactus_model* table);
  static int fire(const tactus_model* listening, tactus_instance* instance, std::uint32_t event);
  static int adaptive_step(const tactus_model* listening, tactus_instance* instance, int solver, double t_end,
                           double h_max, double tolerance);
  double* states() { return instance_.section(model_->layout.states); }
  double row_time(std::int64_t index) const { return plan_.start + static_cast<double>(index) * plan_.period; }
  bool stop_asked() const { return request_.stop && request_.stop->load(std::memory_order_relaxed); }

  const Request& request_;
  const Plan& plan_;
  Observer* observer_;
  Listening listening_;
  std::vector<Listening> listening_structures_;
  std::vector<const tactus_model*> structures_;
  tactus_model whole_ = {};
  std::vector<Fired> events_;
  std::int64_t events_total_ = 0;
  tactus_solver solver_;
  const tactus_model* model_;
  bool has_events_;  // or relations, or delays: the run goes in parts
  Instance instance_;
  std::unique_ptr<Cvode> cvode_;
  Inputs inputs_;
  std::vector<double> warm_;  // warm starts, put aside while recording
  std::vector<double> x_;     // a state between steps
  std::vector<double> x0_, f0_, f1_;
  std::int64_t next_row_ = 0;  // the next row is at row_time(next_row_)
  double recorded_ = 0;        // time of the last row, if any
  bool has_row_ = false;
  std::int64_t slice_steps_ = 1;  // how many steps take about slice_seconds
  Clock::time_point last_progress_ = Clock::now();
  Ending ending_ = Ending::done;
  std::optional<Failure> failure_;
  bool has_considered_stiffness_ = false;
  tk_creeping creeping_ = {};
  std::optional<double> switched_at_;
  std::optional<BoundarySolution> boundary_;
  std::size_t next_node_ = 1;
  double tolerance_ = 0;
  std::vector<std::string> notes_;
  std::vector<Fired> broken_;
  static constexpr int most_ties_told = 6;
  std::int64_t ties_told_ = 0;
  std::int64_t ties_known_ = 0;
  std::int32_t plans_failed_ = 0;
  int plans_told_ = 0;
};

const tactus_model* Run::listen(const tactus_model* table) {
  if (table->event_count == 0) return table;
  const auto listen_to = [this](Listening& listening, const tactus_model* to) {
    if (listening.inner == to) return;
    listening = {*to, to, this};
    listening.table.fire = fire;
    listening.table.adaptive_step = adaptive_step;
  };
  // Of a table with modes each structure's own; better ones may have come.
  listening_structures_.resize(table->structure_count);
  structures_.resize(table->structure_count);
  for (std::uint32_t k = 0; k < table->structure_count; ++k) {
    listen_to(listening_structures_[k], table->structures[k]);
    structures_[k] = &listening_structures_[k].table;
  }
  if (table->structure_count > 0) {
    whole_ = *table;
    whole_.structures = structures_.data();
    return &whole_;
  }
  listen_to(listening_, table);
  return &listening_.table;
}

int Run::fire(const tactus_model* listening, tactus_instance* instance, std::uint32_t event) {
  const auto* from = reinterpret_cast<const Listening*>(listening);
  Run* run = from->run;
  const std::uint32_t kind = from->inner->events[event].kind;
  // The jump itself is told, not its handlers; start and end are none, nor is what monitors note, and what a plan tries out has not
  // happened.
  const bool is_breach = kind == TACTUS_CHECK && from->inner->events[event].pulse == 0;
  if (is_breach && instance->is_planning == 0) run->broken_.push_back({event, instance->time});
  const bool is_end = kind == TACTUS_AT && from->inner->events[event].count == 0;
  const bool is_told = kind != TACTUS_AFTER && kind != TACTUS_CHOOSE && kind != TACTUS_CHECK && !is_end;
  if (is_told && instance->is_planning == 0) {
    run->events_total_++;
    if (run->events_.size() < most_events) run->events_.push_back({event, instance->time});
  }
  return from->inner->fire ? from->inner->fire(from->inner, instance, event) : int{TACTUS_OK};
}

int Run::adaptive_step(const tactus_model* listening, tactus_instance* instance, int solver, double t_end, double h_max,
                       double tolerance) {
  const tactus_model* inner = reinterpret_cast<const Listening*>(listening)->inner;
  return inner->adaptive_step(inner, instance, solver, t_end, h_max, tolerance);
}

bool Run::fail(int status, bool starting) {
  if (status == TACTUS_STOPPED) {
    ending_ = Ending::stopped;
    notes_.push_back(in_words([&](tk_text* text) { tk_note_stop(model_, instance_.get(), text); }));
    return false;
  }
  ending_ = Ending::failed;
  failure_ = describe_failure(*model_, *instance_.get(), static_cast<tactus_status>(status), starting);
  return false;
}

// A fixed step failed: told of the instant at which it did, not of the step's beginning.
bool Run::fail_in_step(int status, double h) {
  instance_->status = status;
  const auto at = find_failed_evaluation(*model_, *instance_.get(), solver_, h);
  if (!at) return fail(status);
  const double time = instance_->time;
  const std::vector<double> good(states(), states() + at->states.size());
  instance_->time = at->time;
  std::copy(at->states.begin(), at->states.end(), states());
  fail(status);
  instance_->time = time;
  std::copy(good.begin(), good.end(), states());
  return false;
}

// Between two chunks: progress, and whether the person wants an end.
bool Run::go_on() {
  if (stop_asked()) {
    ending_ = Ending::interrupted;
    return false;
  }
  if (request_.progress) {
    auto now = Clock::now();
    if (std::chrono::duration<double>(now - last_progress_).count() >= progress_seconds) {
      last_progress_ = now;
      request_.progress(instance_->time);
    }
  }
  return true;
}

bool Run::evaluate(double t, const double* x) {
  int status = evaluate_outputs(*model_, instance_.get(), t, x, warm_);
  if (status == TACTUS_OK) return true;
  double time = instance_->time;
  instance_->time = t;
  fail(status);
  instance_->time = time;
  restore_warm(*model_, instance_.get(), warm_);
  return false;
}

bool Run::record(double t, const double* x) {
  if (!evaluate(t, x)) return false;
  has_row_ = true;
  recorded_ = t;
  if (observer_->row(t, {instance_.section(model_->layout.outputs), model_->output_count})) return true;
  ending_ = Ending::not_kept;
  return false;
}

// The row where an adaptive step ends, when every step has one; that of the last is left to finish().
bool Run::record_step() {
  if (!observer_ || !plan_.is_every_step || instance_->time >= plan_.end) return true;
  return record(instance_->time, states());
}

// The row at t inside a step, from x_.
bool Run::record_between(double t) {
  tk_put_back(model_, instance_.get(), t, x_.data());
  return record(t, x_.data());
}

bool Run::start() {
  if (int status = tk_reset(model_, instance_.get())) return fail(status, true);
  for (const ParameterValue& parameter : request_.parameters)
    instance_.section(model_->layout.parameters)[parameter.index] = parameter.value;
  inputs_.set(*model_, instance_.get(), plan_.start, plan_.adaptive() ? 0 : plan_.step);
  if (int status = tk_start(model_, instance_.get())) return fail(status, true);
  notes_ = redundant_constraints(*model_, instance_.get());
  tolerance_ = plan_.tolerance;
  if (has_later_conditions(*model_) && !meet_boundary_values()) return false;
  if (!check_delays()) return false;
  if (int status = tk_begin_events(model_, instance_.get())) return fail(status, true);
  if (has_events_) tell_of_ties();
  if (request_.at_start) request_.at_start(*instance_.get());
  if (observer_) {
    if (!record(instance_->time, states())) return false;
    next_row_ = 1;
  }
  return true;
}

bool Run::meet_boundary_values() {
  const tactus_model* table = request_.tangent_table ? request_.tangent_table() : request_.table();
  boundary_ = solve_boundary({*table, plan_, request_.parameters, request_.feeds, request_.stop});
  if (boundary_->is_interrupted) {
    ending_ = Ending::interrupted;
    return false;
  }
  if (boundary_->failure) {
    ending_ = Ending::failed;
    failure_ = boundary_->failure;
    return false;
  }
  const std::vector<BoundaryNode>& nodes = boundary_->nodes;
  std::copy(nodes[0].states.begin(), nodes[0].states.end(), states());
  notes_.push_back(boundary_->note());
  if (nodes.size() > 1) {
    const std::string between = plan_.adaptive() ? fmt::format(", at a tolerance of {:g}", boundary_->tolerance) : "";
    notes_.push_back(fmt::format(
        "this motion runs away from its start too fast to be followed from there: it is put back on what was "
        "found {}{}",
        nodes.size() == 2 ? "once" : fmt::format("{} times", nodes.size() - 1), between));
  }
  if (!boundary_->why_finer.empty()) notes_.push_back(boundary_->why_finer);
  notes_.insert(notes_.end(), boundary_->notes.begin(), boundary_->notes.end());
  tolerance_ = boundary_->tolerance;
  return true;
}

// Where the run was cut to find its start it goes on from the states that were found.
void Run::place_on_node() {
  if (!is_at_node()) return;
  const std::vector<double>& found = boundary_->nodes[next_node_++].states;
  std::copy(found.begin(), found.end(), states());
  instance_->first_stage_valid = 0;
}

// Durations may depend on parameters, so they are known only now.
bool Run::check_delays() {
  for (std::uint32_t i = 0; i < model_->delay_count; ++i) {
    double duration = instance_.section(model_->layout.derived)[model_->delays[i].duration];
    bool is_short = !plan_.adaptive() && duration < plan_.step * (1 - grid_slack);
    if (duration > 0 && std::isfinite(duration) && !is_short) continue;
    ending_ = Ending::failed;
    failure_ = describe_short_delay(*model_, *instance_.get(), duration, plan_.step);
    return false;
  }
  return true;
}

int Run::fixed_steps(std::int64_t count) {
  auto steps = has_events_ ? tk_event_steps : model_->fixed_steps;
  return steps(model_, instance_.get(), solver_, plan_.step, count);
}

// After a step: whether the run may go on by what was asked for besides the motion.
bool Run::keeps_limits() {
  const auto is_jump = [](const tactus_event& event) { return event.kind == TACTUS_TRANSITION; };
  const bool has_jumps = std::any_of(model_->events, model_->events + model_->event_count, is_jump);
  const std::int64_t changes = has_jumps ? instance_->transitions : instance_->crossings;
  if (plan_.most_changes >= 0 && changes > plan_.most_changes) {
    ending_ = Ending::failed;
    failure_ = describe_many_changes(*model_, *instance_.get(), changes, plan_.most_changes, has_jumps);
    return false;
  }
  if (plan_.least_step > 0 && instance_->next_step > 0 && instance_->next_step < plan_.least_step &&
      instance_->time < plan_.end) {
    ending_ = Ending::failed;
    failure_ = describe_short_step(*model_, *instance_.get(), plan_.least_step);
    return false;
  }
  return true;
}

// Up to `step` full steps in all, in chunks.
bool Run::advance_to(std::int64_t step) {
  while (instance_->steps < step) {
    if (!go_on()) return false;
    refresh_table();
    place_on_node();
    std::int64_t left = step - instance_->steps;
    std::int64_t count = std::min(left, slice_steps_);
    if (plan_.most_changes >= 0 && has_events_) count = 1;  // it ends where the count is exceeded, not a while later
    if (const double stop = next_stop(plan_.end); stop < plan_.end)
      count = std::min<std::int64_t>(count, std::llround((stop - plan_.start) / plan_.step) - instance_->steps);
    auto before = Clock::now();
    int status = TACTUS_OK;
    if (inputs_.empty()) {
      status = fixed_steps(count);
    } else {
      for (std::int64_t i = 0; i < count && status == TACTUS_OK; ++i) {
        inputs_.set(*model_, instance_.get(), instance_->time, plan_.step);
        status = fixed_steps(1);
      }
      // The inputs of the next step, for a row that is recorded here.
      if (status == TACTUS_OK) inputs_.set(*model_, instance_.get(), instance_->time, plan_.step);
    }
    if (has_events_) tell_of_ties();
    if (status != TACTUS_OK) return fail_in_step(status, plan_.step);
    if (!keeps_limits()) return false;
    if (count == slice_steps_) {
      double seconds = std::chrono::duration<double>(Clock::now() - before).count();
      double factor = std::clamp(slice_seconds / std::max(seconds, 1e-9), 0.125, 8.0);
      slice_steps_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(slice_steps_) * factor));
    }
  }
  return true;
}

void Run::fixed() {
  // Rows on steps.
  if (observer_ && plan_.period_steps > 0) {
    while (instance_->steps < plan_.full_steps) {
      if (!advance_to(std::min(plan_.full_steps, next_row_ * plan_.period_steps))) return;
      if (instance_->steps == next_row_ * plan_.period_steps) {
        if (!record(instance_->time, states())) return;
        ++next_row_;
      }
    }
    if (plan_.last_step > 0) last_short_step();
    return;
  }
  // Rows between steps: the step that holds the next row is taken alone.
  while (observer_ && instance_->steps < plan_.full_steps) {
    double steps = (row_time(next_row_) - plan_.start) / plan_.step;
    auto whole = static_cast<std::int64_t>(std::min(steps + grid_slack, static_cast<double>(plan_.full_steps)));
    if (!advance_to(whole)) return;
    if (std::abs(steps - static_cast<double>(instance_->steps)) <= grid_slack) {
      if (!record(instance_->time, states())) return;
      ++next_row_;
    } else if (instance_->steps < plan_.full_steps && !fixed_step_with_rows(plan_.step)) {
      return;
    }
  }
  if (!advance_to(plan_.full_steps)) return;
  if (plan_.last_step > 0) last_short_step();
}

// From the last full step to the end.
bool Run::last_short_step() {
  // The kernel's time is start_time + steps * h: the short step counts from where it begins.
  std::int64_t steps = instance_->steps;
  instance_->start_time = instance_->time;
  instance_->steps = 0;
  bool good = go_on() && fixed_step_with_rows(plan_.last_step);
  instance_->steps += steps;
  if (good) instance_->time = plan_.end;
  return good;
}

// One step of length h and the rows strictly inside it.
bool Run::fixed_step_with_rows(double h) {
  place_on_node();
  if (has_events_) return fixed_parts_with_rows(h);
  refresh_table();
  inputs_.set(*model_, instance_.get(), instance_->time, h);
  double from = instance_->time;
  auto inside = [&](double t) { return t < from + h * (1 - grid_slack); };
  bool rows = observer_ && inside(row_time(next_row_));
  std::size_t n = model_->state_count;
  double* warm = instance_.section(model_->layout.warm);
  auto derivative = [&](double t, std::vector<double>& f) {
    f.resize(n);
    std::copy_n(warm, warm_.size(), warm_.data());
    int status = model_->derivative(model_, instance_.get(), t, states(), f.data());
    if (status == TACTUS_OK) std::copy_n(warm_.data(), warm_.size(), warm);
    return status;
  };
  const bool has_rates = model_->subsystem_count > 0;  // then nothing moves inside of a step
  if (rows) {
    x0_.assign(states(), states() + n);
    if (!tactus_is_stiff_solver(solver_) && !has_rates) {
      if (int status = derivative(from, f0_)) return fail(status);
    }
  }
  if (int status = model_->fixed_steps(model_, instance_.get(), solver_, h, 1)) return fail_in_step(status, h);
  if (!rows) return true;
  if (!tactus_is_stiff_solver(solver_) && !has_rates) {
    if (int status = derivative(instance_->time, f1_)) return fail(status);
  }
  for (double t = row_time(next_row_); inside(t); t = row_time(++next_row_)) {
    if (!go_on()) return false;
    if (has_rates) {
      x_ = x0_;
    } else if (tactus_is_stiff_solver(solver_)) {
      tk_between(model_, instance_.get(), solver_, t, x_.data());
    } else {
      double s = (t - from) / h;
      for (std::size_t i = 0; i < n; ++i) x_[i] = hermite(s, h, x0_[i], states()[i], f0_[i], f1_[i]);
    }
    if (!record_between(t)) return false;
  }
  // The inputs of the next step, for a row that is recorded at this one's end.
  inputs_.set(*model_, instance_.get(), instance_->time, plan_.step);
  return true;
}

// The rows strictly inside the last part, then what is due at its end. Rows closer to the end than `close` are after it.
bool Run::end_part(double close) {
  for (double t = row_time(next_row_); observer_ && t < instance_->time - close; t = row_time(++next_row_)) {
    if (!go_on()) return false;
    tk_between(model_, instance_.get(), solver_, t, x_.data());
    if (!record_between(t)) return false;
  }
  int status = tk_fire(model_, instance_.get());
  tell_of_ties();
  if (status != TACTUS_OK) return fail(status);
  return keeps_limits();
}

// The motion has come to rest on a surface, or slides along one, or left one: never silently.
void Run::tell_of_ties() {
  const tactus_model& model = *tk_active(model_, instance_.get());
  if (static_cast<std::size_t>(instance_->broken_checks) > broken_.size()) {
    for (std::uint32_t e = 0; e < model.event_count; ++e) {
      const bool is_known = std::any_of(broken_.begin(), broken_.end(), [&](const Fired& b) { return b.event == e; });
      if (model.events[e].kind != TACTUS_CHECK || is_known || instance_.section(model.layout.clocks)[e] == 0) continue;
      broken_.push_back({e, instance_->time});
    }
  }
  // Of more than can be asked for, the last ones.
  const std::int64_t ties = tk_ties_told(instance_.get());
  for (; ties_known_ < ties; ++ties_known_) {
    if (ties - ties_known_ > TK_TIES_TOLD || ++ties_told_ > most_ties_told) continue;
    const tk_tie_told told = tk_told_of_tie(&model, instance_.get(), ties_known_);
    notes_.push_back(in_words([&](tk_text* text) { tk_note_tie(&model, &told, text); }));
  }
  for (; plans_failed_ < instance_->plans_failed; ++plans_failed_) {
    if (++plans_told_ > most_ties_told) continue;
    notes_.push_back(in_words([&](tk_text* text) { tk_note_failed_plan(instance_.get(), text); }));
  }
}

// The same in parts. A row at the step's end is left to the caller.
bool Run::fixed_parts_with_rows(double h) {
  refresh_table();
  inputs_.set(*model_, instance_.get(), instance_->time, h);
  const std::int64_t end = instance_->steps + 1;
  const double close = grid_slack * h;
  while (instance_->steps < end) {
    if (!go_on()) return false;
    constexpr double no_end = std::numeric_limits<double>::infinity();
    if (int status = tk_part(model_, instance_.get(), solver_, h, 0, no_end)) return fail_in_step(status, h);
    if (!end_part(close)) return false;
    for (; observer_ && instance_->steps < end && row_time(next_row_) <= instance_->time + close; ++next_row_) {
      if (!record(row_time(next_row_), states())) return false;
    }
  }
  inputs_.set(*model_, instance_.get(), instance_->time, plan_.step);
  return true;
}

void Run::adaptive() {
  // Knots closer than this are taken together.
  double gap = 1e-12 * std::max(plan_.end - plan_.start, std::abs(plan_.end));
  double knot = plan_.start;
  while (instance_->time < plan_.end) {
    if (!go_on()) return;
    refresh_table();
    place_on_node();
    if (!inputs_.empty() && instance_->time >= knot) {
      knot = std::min(inputs_.next_knot(instance_->time + gap), plan_.end);
      if (plan_.end - knot < gap) knot = plan_.end;
      inputs_.set(*model_, instance_.get(), instance_->time, knot - instance_->time);
      instance_->first_stage_valid = 0;  // a rate that the model reads may have jumped
    }
    double end = next_stop(inputs_.empty() ? plan_.end : knot);
    if (has_events_) {
      const double close = plan_.is_every_step ? 0 : grid_slack * plan_.period;
      if (int status = tk_part(model_, instance_.get(), solver_, plan_.step, tolerance_, end)) {
        fail(status);
        return;
      }
      if (!end_part(close)) return;
      for (; observer_ && row_time(next_row_) <= instance_->time + close && instance_->time < plan_.end; ++next_row_) {
        if (!record(row_time(next_row_), states())) return;
      }
      if (!record_step() || !consider_stiffness() || !comes_along()) return;
      continue;
    }
    int status = model_->adaptive_step(model_, instance_.get(), solver_, end, plan_.step, tolerance_);
    if (status != TACTUS_OK) {
      fail(status);
      return;
    }
    for (double t = row_time(next_row_); observer_ && t <= instance_->time && t < plan_.end;
         t = row_time(++next_row_)) {
      if (!go_on()) return;
      if (t == instance_->time) {
        if (!record(t, states())) return;
        continue;
      }
      tk_dense(model_, instance_.get(), solver_, t, x_.data());
      if (!record_between(t)) return;
    }
    if (!keeps_limits() || !record_step() || !consider_stiffness() || !comes_along()) return;
  }
}

// A motion that creeps is given up (kernel/creeping.h).
bool Run::comes_along() {
  if (!tk_creeps(&creeping_, instance_.get(), plan_.end)) return true;
  instance_->failed_block = -1;
  instance_->failed_index = tk_worst_state(tk_active(model_, instance_.get()), instance_.get(), 1);
  return fail(TACTUS_STEP_TOO_SMALL);
}

// Once in a run, after a step: the explicit method may have found that stability and not accuracy sets its steps.
bool Run::consider_stiffness() {
  if (has_considered_stiffness_ || instance_->stiff_steps < TACTUS_STIFF) return true;
  has_considered_stiffness_ = true;
  const tactus_solver better = stiff_solver_for(*model_);
  const std::string found = in_words([&](tk_text* text) { tk_note_stiffness(instance_.get(), solver_, text); });
  if (plan_.is_chosen || !request_.stiff_table) {
    notes_.push_back(fmt::format("{}; --solver {} would take longer ones", found, solver_name(better)));
    return true;
  }
  notes_.push_back(fmt::format("{}; `{}` took over there", found, solver_name(better)));
  solver_ = better;
  switched_at_ = instance_->time;
  refresh_table();
  if (model_->tangent) return true;
  return fail(TACTUS_NO_SOLVER);
}

// The last row, at the end or wherever the motion got to, and the values there.
Outcome Run::finish() {
  Outcome outcome;
  outcome.time = instance_->time;
  outcome.steps = instance_->steps;
  outcome.rejected = instance_->rejected;
  outcome.constraint_residual = instance_->constraint_residual;
  outcome.events = std::move(events_);
  outcome.events_total = events_total_;
  outcome.crossings = instance_->crossings;
  bool finite = std::all_of(states(), states() + model_->state_count, [](double x) { return std::isfinite(x); });
  bool started = !(failure_ && failure_->time <= plan_.start && outcome.steps == 0);
  if (started && finite) {
    // A failure that happens here is told only when there was none before.
    auto ending = ending_;
    auto failure = failure_;
    double close = grid_slack * (plan_.adaptive() ? std::min(plan_.period, plan_.step) : plan_.step);
    bool due = observer_ && ending != Ending::not_kept && !(has_row_ && outcome.time - recorded_ <= close);
    bool good = due ? record(outcome.time, states()) : evaluate(outcome.time, states());
    if (good) {
      const double* outputs = instance_.section(model_->layout.outputs);
      outcome.outputs.assign(outputs, outputs + model_->output_count);
    }
    if (ending != Ending::done) {
      ending_ = ending;
      failure_ = failure;
    }
  }
  if (ties_told_ > most_ties_told)
    notes_.push_back(fmt::format("and {} more rests, slides and releases like these", ties_told_ - most_ties_told));
  if (instance_->expectations > 0)
    notes_.push_back(in_words([&](tk_text* text) { tk_note_expectations(instance_.get(), text); }));
  if (started && finite && request_.at_end) request_.at_end(*instance_.get());
  const bool is_whole = ending_ == Ending::done || ending_ == Ending::stopped;
  if (has_events_ && started && finite && is_whole) {
    if (int status = tk_end_run(model_, instance_.get())) fail(status);
  }
  outcome.ending = ending_;
  if (has_events_) tell_of_ties();
  outcome.broken = std::move(broken_);
  outcome.failure = failure_;
  outcome.solver = solver_;
  outcome.switched_at = switched_at_;
  outcome.boundary = std::move(boundary_);
  outcome.notes = std::move(notes_);
  return outcome;
}

}  // namespace

Outcome run(const Request& request, Observer* observer) {
  TACTUS_CHECK(request.table);
  return Run(request, observer).execute();
}

}  // namespace sim
