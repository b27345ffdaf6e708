#include "runtime/sim/plan.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace sim {
namespace {

// Whole numbers and grids count as met within this fraction.
constexpr double grid_slack = 1e-9;

// The nearest whole number when `ratio` is one to grid_slack.
std::optional<std::int64_t> whole(double ratio) {
  double nearest = std::round(ratio);
  if (nearest < 1 || nearest > 9e15 || std::abs(ratio - nearest) > grid_slack * nearest) return std::nullopt;
  return static_cast<std::int64_t>(nearest);
}

// Fixed steps, or events of a clock, of a run. Steps are counted in doubles, which are exact to 9e15; at fifty million a
// second 1e15 take eight months, so nobody waits for more.
constexpr double most_steps = 1e15;

bool positive(double value) { return std::isfinite(value) && value > 0; }

}  // namespace

std::vector<std::string> solver_names() {
  std::vector<std::string> names;
  for (int solver = 0; solver < TACTUS_SOLVER_COUNT; ++solver) {
    if (tactus_adaptive_form(solver) == solver) names.emplace_back(tactus_solver_name(solver));
  }
  return names;
}

std::optional<tactus_solver> find_solver(const std::string& name) {
  const int solver = tactus_find_solver(name.c_str());
  if (solver < 0) return std::nullopt;
  return static_cast<tactus_solver>(solver);
}

std::string_view solver_name(tactus_solver solver) { return tactus_solver_name(solver); }

tactus_solver choose_solver(int model_solver, double model_step, double model_tolerance, const Settings& settings) {
  const bool has_step = settings.step.has_value() || model_step != 0;
  const bool has_tolerance = settings.tolerance.has_value() || model_tolerance != 0;
  const int named = settings.solver ? *settings.solver : model_solver;
  return static_cast<tactus_solver>(tactus_choose_solver(named, has_step, has_tolerance));
}

tactus_solver stiff_solver_for(const tactus_model& model) {
  constexpr std::uint32_t most_states = 50;
  const bool has_room = model.layout.size > model.layout.linear;
  return model.state_count <= most_states && has_room ? TACTUS_ROSENBROCK : TACTUS_CVODE;
}

std::optional<Plan> make_plan(const tactus_model& model, const Settings& settings, std::string& failure) {
  auto fail = [&](std::string text) {
    failure = std::move(text);
    return std::nullopt;
  };
  Plan plan;

  // The span of time.
  plan.start = model.starting_time;
  if (settings.until) {
    plan.end = *settings.until;
    if (!std::isfinite(plan.end) || plan.end < plan.start)
      return fail(fmt::format("the run cannot end at t = {}: it starts at t = {}", plan.end, plan.start));
  } else if (model.ending_time > model.starting_time) {
    plan.end = model.ending_time;
  } else {
    plan.end = plan.start + default_span;
    plan.notes.push_back(fmt::format(
        "no `ending_time` is given: the run ends at t = {}; say `simulation ending_time = ..` or --until", plan.end));
  }
  double span = plan.end - plan.start;

  // The solver and its step.
  std::optional<double> step = settings.step;
  if (!step && model.step_size != 0) step = model.step_size;
  std::optional<double> tolerance = settings.tolerance;
  if (!tolerance && model.tolerance != 0) tolerance = model.tolerance;
  if (step && !positive(*step)) return fail(fmt::format("a step of {} is no step: it must be positive", *step));
  if (tolerance && !positive(*tolerance))
    return fail(fmt::format("a tolerance of {} cannot be met: it must be positive", *tolerance));
  plan.solver = choose_solver(model.solver, model.step_size, model.tolerance, settings);
  plan.is_chosen = settings.solver.has_value() || model.solver >= 0;
  if (model.subsystem_count > 0) {
    plan.solver = static_cast<tactus_solver>(tactus_fixed_form(plan.solver));
    if (plan.adaptive())
      return fail(
          fmt::format("`{}` chooses its steps itself, and the rates of this model are steps of a given length: "
                      "--solver passive keeps the energy, rk4 needs none",
                      solver_name(plan.solver)));
    if (tactus_needs_structure(plan.solver))
      return fail(
          fmt::format("`{}` needs the form of the whole model, and this one has rates: --solver passive or "
                      "discrete_gradient keep the energy of each part",
                      solver_name(plan.solver)));
    if (step && *step != model.step_size)
      return fail(fmt::format("the rates of this model make its step {:g}: leave --step out, or change the rates",
                              model.step_size));
  }
  if (tactus_needs_energy(plan.solver) && model.ledger == 0) {
    return fail(
        fmt::format("`{}` keeps the balance of an energy, and the model declares none: write what it stores, "
                    "`energy H = p^2 / (2 * m) + k * q^2 / 2;`, or take another solver: --solver midpoint",
                    solver_name(plan.solver)));
  }
  const tactus_model& any = model.structure_count > 0 ? *model.structures[0] : model;
  if (tactus_needs_structure(plan.solver) && any.structure == nullptr) {
    return fail(
        fmt::format("`{}` asks for x' = (J - R) dH/dx + G u, and that form of the model is not known: `tactus explain "
                    "FILE --dump=energy` says why; give it by `storage (q, p) energy H = .. structure J = ..;`, or "
                    "take --solver discrete_gradient, which does without",
                    solver_name(plan.solver)));
  }
  if (tactus_is_stiff_solver(plan.solver) && plan.solver != TACTUS_CVODE && model.state_count > 0 &&
      model.layout.size == model.layout.linear) {
    return fail(
        fmt::format("`{}` has no room for the Jacobian of {} states that depend on one another in so many ways; "
                    "it keeps a full one for at most {}: --solver cvode takes any number",
                    solver_name(plan.solver), model.state_count, TACTUS_DENSE_STATES));
  }

  // Whether going on by `length` leaves the time where it is, at either end.
  auto lost = [&](double length) {
    return plan.start + length == plan.start || (span > 0 && plan.end - length == plan.end);
  };
  auto lost_step = [&] {
    return fmt::format("a step of {} is lost in rounding between t = {} and t = {}", plan.step, plan.start, plan.end);
  };
  if (plan.adaptive()) {
    plan.tolerance = tolerance.value_or(default_tolerance);
    if (plan.tolerance < least_tolerance)
      return fail(fmt::format("a tolerance of {} cannot be met: numbers hold 16 digits; {} is the least",
                              plan.tolerance, least_tolerance));
    // Newton's unknowns have no error estimate; short steps keep them on the solution that is continuous. Conditions without guards are
    // asked for at the ends of steps, and a table has corners that no error estimate sees before it meets them. Guards are looked
    // at inside steps as well, but not everywhere.
    const bool is_blind = model.warm_count > 0 || model.table_count > 0 || model.delay_count > 0 ||
                          (model.watch_count > 0 && model.relation_count == 0);
    const double longest = is_blind ? span / fewest_blind_steps : model.relation_count > 0 ? span / fewest_steps : span;
    plan.step = step.value_or(longest > 0 ? longest : 1);
    if (step && lost(plan.step)) return fail(lost_step());
  } else {
    if (!step)
      return fail(
          fmt::format("`{}` takes fixed steps and no step is given: say `simulation step_size = ..` or --step 0.001",
                      solver_name(plan.solver)));
    plan.step = *step;
    if (settings.tolerance)
      plan.notes.push_back(fmt::format("`{}` takes fixed steps: the tolerance is not used; --solver tsit5 uses it",
                                       solver_name(plan.solver)));
    double ratio = span / plan.step;
    if (ratio > 9e15 || lost(plan.step)) return fail(lost_step());
    if (ratio > most_steps)
      return fail(
          fmt::format("a step of {} makes {:.3g} steps between t = {} and t = {}, more than {:g}: take a longer one",
                      plan.step, ratio, plan.start, plan.end, most_steps));
    if (auto steps = whole(ratio)) {
      plan.full_steps = *steps;
    } else {
      plan.full_steps = static_cast<std::int64_t>(std::floor(ratio));
      // A rate has no shorter step: the run ends before it.
      if (model.subsystem_count == 0)
        plan.last_step = plan.end - (plan.start + static_cast<double>(plan.full_steps) * plan.step);
    }
  }

  for (std::uint32_t e = 0; e < model.event_count; ++e) {
    const tactus_event& event = model.events[e];
    if (event.kind != TACTUS_EVERY || !(span / event.period > most_steps)) continue;
    return fail(fmt::format("`{}` happens every {} s, {:.3g} times between t = {} and t = {}, more than {:g}",
                            event.name, event.period, span / event.period, plan.start, plan.end, most_steps));
  }

  if (settings.least_step && !(std::isfinite(*settings.least_step) && *settings.least_step >= 0))
    return fail(fmt::format("the least step cannot be {}", *settings.least_step));
  plan.least_step = plan.adaptive() ? settings.least_step.value_or(0) : 0;
  plan.most_changes = settings.most_changes.value_or(-1);

  // The record times.
  if (settings.every_step) {
    plan.is_every_step = true;
    plan.period = std::numeric_limits<double>::infinity();
    if (!plan.adaptive()) {
      plan.period_steps = 1;
      plan.period = plan.step;
    }
    return plan;
  }
  double every = settings.every.value_or(model.record_period);
  if (settings.every || every != 0) {
    if (!positive(every)) return fail(fmt::format("a record period of {} makes no rows: it must be positive", every));
    plan.period = every;
    if (settings.recording || settings.every) {
      if (lost(every))
        return fail(fmt::format("a record period of {} is lost in rounding between t = {} and t = {}", every,
                                plan.start, plan.end));
      if (span / every > most_rows * (1 + grid_slack))
        return fail(fmt::format("a record period of {} makes {:.3g} rows, more than {:g}: take a longer one", every,
                                span / every, most_rows));
    }
    if (!plan.adaptive()) plan.period_steps = whole(every / plan.step).value_or(0);
  } else if (plan.adaptive()) {
    plan.period = span > 0 ? span / default_rows : 1;
    if (span > 0 && lost(plan.period)) plan.period = span;
  } else {
    plan.period_steps = static_cast<std::int64_t>(std::ceil(span / plan.step / default_rows * (1 - grid_slack)));
    if (plan.period_steps < 1) plan.period_steps = 1;
    plan.period = static_cast<double>(plan.period_steps) * plan.step;
  }
  return plan;
}

}  // namespace sim
