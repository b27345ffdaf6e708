// The public header's implementation: a compiled model, its machine code and one Instance.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "api/load.h"
#include "compiler/emit_llvm/jit.h"
#include "kernel/kernel.h"
#include "runtime/sim/cvode.h"
#include "runtime/sim/evaluate.h"
#include "runtime/sim/failure.h"
#include "runtime/sim/instance.h"
#include "runtime/sim/plan.h"
#include "runtime/sim/shooting.h"
#include "tactus/tactus.h"

namespace tactus {
namespace {

std::uint32_t scalars(const tactus_channel& channel) { return channel.rows * channel.columns; }

// Where a name leads: `count` doubles at `at` in a section.
struct Place {
  Role role = Role::value;
  std::uint32_t at = 0;
  std::uint32_t count = 1;
};

// "p", "p[2]", "R[1][2]" in one channel.
std::optional<Place> find_in(const tactus_channel& channel, Role role, std::string_view name) {
  std::string_view base = channel.name;
  if (name == base) return Place{role, channel.at, scalars(channel)};
  if (!name.starts_with(base) || name[base.size()] != '[') return std::nullopt;
  for (std::uint32_t k = 0; k < scalars(channel); ++k) {
    std::string component = channel.columns == 1
                                ? fmt::format("[{}]", k + 1)
                                : fmt::format("[{}][{}]", k / channel.columns + 1, k % channel.columns + 1);
    if (name.substr(base.size()) == component) return Place{role, channel.at + k, 1};
  }
  return std::nullopt;
}

}  // namespace

struct Model::Implementation {
  explicit Implementation(ir::Program program)
      : jit(std::move(program)), instance(*jit.current()), warm(jit.current()->warm_count) {
    check(tk_reset(jit.current(), instance.get()), true);
  }

  const tactus_model& table() const { return *jit.current(); }

  // For a step by `solver`: with what it needs.
  const tactus_model* table_for(int solver) {
    if (!tactus_is_stiff_solver(solver)) return jit.current();
    const tactus_model* with_tangents = jit.with_tangents();
    if (solver != TACTUS_CVODE) return with_tangents;
    if (!cvode) cvode = std::make_unique<sim::Cvode>(*with_tangents);
    return cvode->table(with_tangents);
  }

  void check(int status, bool starting) {
    if (status == TACTUS_OK) return;
    auto failure = sim::describe_failure(table(), *instance.get(), static_cast<tactus_status>(status), starting);
    throw Error(failure.hint.empty() ? failure.text : failure.text + "\n  hint: " + failure.hint);
  }

  bool has_events() const { return tk_runs_in_parts(&table()) != 0; }

  // Boundary conditions are taken when the first step or value is asked for, so that parameters may be set before.
  void start() {
    if (is_started) return;
    instance->time = table().starting_time;
    instance->input_time = table().starting_time;
    steps = 0;
    check(tk_start(&table(), instance.get()), true);
    if (sim::has_later_conditions(table())) meet_boundary_values();
    for (std::uint32_t i = 0; i < table().delay_count; ++i) {
      double duration = instance.section(table().layout.derived)[table().delays[i].duration];
      if (!(duration > 0) || !std::isfinite(duration))
        throw Error(sim::describe_short_delay(table(), *instance.get(), duration, 0).text);
    }
    check(tk_begin_events(&table(), instance.get()), true);
    is_started = true;
    is_evaluated = false;
  }

  // Inputs count as zero during the search: those of later times are not known yet.
  void meet_boundary_values() {
    std::string mistake;
    auto plan = sim::make_plan(table(), {}, mistake);
    if (!plan) throw Error(mistake);
    const double* values = instance.section(table().layout.parameters);
    std::vector<sim::ParameterValue> parameters;
    for (std::uint32_t i = 0; i < table().parameter_count; ++i) parameters.push_back({i, values[i]});
    const sim::BoundarySolution found = sim::solve_boundary({*jit.with_tangents(), *plan, parameters, {}});
    if (found.failure) throw Error(found.failure->text + "\n  hint: " + found.failure->hint);
    std::copy(found.nodes[0].states.begin(), found.nodes[0].states.end(), instance.states().begin());
  }

  void before_step() {
    start();
    is_evaluated = false;
  }

  void fixed(int solver, double h, std::int64_t count) {
    std::int64_t before = instance->steps;
    double from = instance->time;
    const tactus_model* model = table_for(solver);
    auto take_steps = has_events() ? tk_event_steps : model->fixed_steps;
    int status = take_steps(model, instance.get(), solver, h, count);
    // The kernel counts anew when h changed.
    steps += from == instance->start_time ? instance->steps : instance->steps - before;
    check(status, false);
  }

  std::optional<Place> find(std::string_view name) const {
    const tactus_model& model = table();
    for (std::uint32_t i = 0; i < model.parameter_count; ++i) {
      if (name == model.parameters[i].name) return Place{Role::parameter, i, 1};
    }
    for (std::uint32_t i = 0; i < model.input_channel_count; ++i) {
      if (auto place = find_in(model.input_channels[i], Role::input, name)) return place;
    }
    for (std::uint32_t i = 0; i < model.channel_count; ++i) {
      if (model.channels[i].flags & TACTUS_CHANNEL_SCENE) continue;
      if (auto place = find_in(model.channels[i], Role::value, name)) return place;
    }
    return std::nullopt;
  }

  Place need(std::string_view name) const {
    if (auto place = find(name)) return *place;
    throw Error(fmt::format("there is nothing called `{}` in the model", name));
  }

  std::vector<double> read(const Place& place) {
    start();
    const tactus_model& model = table();
    std::uint32_t section = model.layout.parameters;
    if (place.role == Role::value) {
      if (!is_evaluated) {
        if (model.relation_count > 0) check(tk_settle(&model, instance.get()), false);
        const double* x = instance.section(model.layout.states);
        int status = sim::evaluate_outputs(model, instance.get(), instance->time, x, warm);
        check(status, false);
        is_evaluated = true;
      }
      section = model.layout.outputs;
    } else if (place.role == Role::input) {
      section = model.layout.inputs;
    }
    const double* from = instance.section(section) + place.at;
    std::vector<double> values(from, from + place.count);
    if (place.role == Role::input) {
      const double* rates = instance.section(model.layout.input_rates) + place.at;
      for (std::size_t i = 0; i < values.size(); ++i) values[i] += rates[i] * (instance->time - instance->input_time);
    }
    return values;
  }

  emit_llvm::CompiledModel jit;
  sim::Instance instance;
  std::vector<double> warm;
  std::string warnings;
  std::int64_t steps = 0;
  bool is_started = false;
  bool is_evaluated = false;
  bool is_stiff = false;  // found so by an explicit solver: a stiff one took over
  std::unique_ptr<sim::Cvode> cvode;
};

namespace {

template <class Implementation>
std::unique_ptr<Implementation> make(api::Compiled compiled) {
  std::string text = diag::render_text(compiled.diags, compiled.sources, false);
  if (!compiled.program) throw Error(text);
  auto made = std::make_unique<Implementation>(std::move(*compiled.program));
  made->warnings = std::move(text);
  return made;
}

}  // namespace

Model Model::from_text(std::string_view text, std::string_view name, const std::vector<std::string>& allow) {
  return Model(
      make<Implementation>(api::compile_text(std::string(name), std::string(text), {.overrides = {}, .allow = allow})));
}

Model Model::from_file(const std::string& path, const std::vector<std::string>& allow) {
  return from_files({path}, allow);
}

Model Model::from_files(const std::vector<std::string>& paths, const std::vector<std::string>& allow) {
  return Model(make<Implementation>(api::compile_files(paths, {.overrides = {}, .allow = allow}, false)));
}

Model::Model(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

const std::string& Model::warnings() const { return implementation_->warnings; }

std::vector<Name> Model::names() const {
  const tactus_model& model = implementation_->table();
  std::vector<Name> names;
  auto add = [&](const tactus_channel& channel, Role role) {
    names.push_back(
        {channel.name, channel.unit, role, static_cast<int>(channel.rows), static_cast<int>(channel.columns)});
  };
  for (std::uint32_t i = 0; i < model.parameter_count; ++i)
    names.push_back({model.parameters[i].name, model.parameters[i].unit, Role::parameter, 1, 1});
  for (std::uint32_t i = 0; i < model.input_channel_count; ++i) add(model.input_channels[i], Role::input);
  for (std::uint32_t i = 0; i < model.channel_count; ++i) {
    if (model.channels[i].flags & TACTUS_CHANNEL_SCENE) continue;
    // What can be set is listed once, as what it is.
    bool listed = std::any_of(names.begin(), names.end(), [&](const Name& name) {
      return name.role != Role::value && name.name == model.channels[i].name;
    });
    if (!listed) add(model.channels[i], Role::value);
  }
  return names;
}

void Model::set(std::string_view name, double value) {
  Place place = implementation_->need(name);
  if (place.role == Role::input) return set(name, std::span(&value, 1));
  if (place.role != Role::parameter)
    throw Error(fmt::format("`{}` is computed by the model: only parameters and inputs can be set", name));
  Implementation& me = *implementation_;
  const tactus_model& model = me.table();
  me.instance.section(model.layout.parameters)[place.at] = value;
  me.instance->first_stage_valid = 0;
  me.is_evaluated = false;
  me.check(model.prepare(&model, me.instance.get()), false);
}

void Model::set(std::string_view name, std::span<const double> values, std::span<const double> rates) {
  Implementation& me = *implementation_;
  Place place = me.need(name);
  if (place.role == Role::parameter && values.size() == 1) return set(name, values[0]);
  if (place.role != Role::input)
    throw Error(fmt::format("`{}` is computed by the model: only parameters and inputs can be set", name));
  if (values.size() != place.count || (!rates.empty() && rates.size() != place.count))
    throw Error(fmt::format("`{}` has {} components, not {}", name, place.count,
                            values.size() != place.count ? values.size() : rates.size()));
  const tactus_model& model = me.table();
  double* inputs = me.instance.section(model.layout.inputs);
  double* slopes = me.instance.section(model.layout.input_rates);
  // All inputs share one input_time: bring the others to now.
  for (std::uint32_t i = 0; i < model.input_count; ++i)
    inputs[i] += slopes[i] * (me.instance->time - me.instance->input_time);
  me.instance->input_time = me.instance->time;
  for (std::uint32_t i = 0; i < place.count; ++i) {
    inputs[place.at + i] = values[i];
    slopes[place.at + i] = rates.empty() ? 0 : rates[i];
  }
  me.instance->first_stage_valid = 0;
  me.is_evaluated = false;
}

void Model::reset() {
  Implementation& me = *implementation_;
  me.is_started = false;
  me.is_stiff = false;
  me.steps = 0;
  me.instance->time = me.table().starting_time;
}

double Model::time() const { return implementation_->instance->time; }
std::int64_t Model::steps() const { return implementation_->steps; }

void Model::step(double h) {
  if (!(h > 0) || !std::isfinite(h)) throw Error(fmt::format("a step of {} is no step: it must be positive", h));
  Implementation& me = *implementation_;
  me.before_step();
  const int solver = tactus_fixed_form(me.table().solver);
  me.fixed(solver >= 0 && !tactus_is_adaptive(solver) ? solver : TACTUS_RK4, h, 1);
}

void Model::advance(double until) {
  Implementation& me = *implementation_;
  me.before_step();
  std::string failure;
  auto plan = sim::make_plan(me.table(), {.until = until}, failure);
  if (!plan) throw Error(failure);
  if (until < me.instance->time)
    throw Error(fmt::format("the model is already at t = {}: reset() goes back", me.instance->time));
  if (plan->adaptive()) {
    double largest = plan->step;
    if (me.is_stiff && !plan->is_chosen) plan->solver = sim::stiff_solver_for(me.table());
    while (me.instance->time < until) {
      std::int64_t before = me.instance->steps;
      const tactus_model* model = me.table_for(plan->solver);
      tactus_instance* instance = me.instance.get();
      int status = TACTUS_OK;
      if (me.has_events()) {
        status = tk_part(model, instance, plan->solver, largest, plan->tolerance, until);
        if (status == TACTUS_OK) status = tk_fire(model, instance);
      } else {
        status = model->adaptive_step(model, instance, plan->solver, until, largest, plan->tolerance);
      }
      me.steps += me.instance->steps - before;
      me.check(status, false);
      if (!me.is_stiff && me.instance->stiff_steps >= TACTUS_STIFF && !plan->is_chosen) {
        me.is_stiff = true;
        plan->solver = sim::stiff_solver_for(me.table());
      }
    }
    return;
  }
  // Whole steps from here, then the rest.
  double h = plan->step;
  double ratio = (until - me.instance->time) / h;
  double nearest = std::round(ratio);
  bool whole = std::abs(ratio - nearest) <= 1e-9 * std::max(1.0, nearest);
  auto count = static_cast<std::int64_t>(whole ? nearest : std::floor(ratio));
  constexpr std::int64_t chunk = 1000;  // so that better code takes over soon
  for (std::int64_t left = count; left > 0; left -= std::min(left, chunk))
    me.fixed(plan->solver, h, std::min(left, chunk));
  double rest = until - me.instance->time;
  if (!whole && rest > 0) me.fixed(plan->solver, rest, 1);
}

double Model::get(std::string_view name) const {
  Place place = implementation_->need(name);
  if (place.count != 1)
    throw Error(fmt::format("`{}` has {} components: read it by get_all, or one by its index", name, place.count));
  return implementation_->read(place).front();
}

std::vector<double> Model::get_all(std::string_view name) const {
  return implementation_->read(implementation_->need(name));
}

void Model::wait_until_optimised() { implementation_->jit.wait_optimised(); }

const char* version() { return TACTUS_VERSION; }

}  // namespace tactus
