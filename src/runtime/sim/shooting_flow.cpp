#include <algorithm>

#include "runtime/sim/multiple_shooting.h"

namespace sim::shooting {

namespace {

constexpr double difference = 1e-6;  // of a state, where there are no sensitivities

// How much the flow stretches: of states that act on each other the geometric mean, which no choice of units changes.
double growth_of(std::span<const std::uint32_t> seeds, const Flow& flow) {
  double growth = 0;
  for (std::size_t a = 0; a < seeds.size(); ++a) {
    for (std::size_t b = 0; b <= a; ++b)
      growth = std::max(growth, std::abs(flow.slopes[a][seeds[b]] * flow.slopes[b][seeds[a]]));
  }
  return std::sqrt(growth);
}

}  // namespace

// --- The motion
// -------------------------------------------------------------------------------------------------------

int Shooting::set_up(Carrier& carrier) {
  const tactus_model& model = *carrier.model;
  if (int status = tk_reset(&model, carrier.instance)) return status;
  for (const ParameterValue& parameter : problem_.parameters)
    tactus_data(carrier.instance)[model.layout.parameters + parameter.index] = parameter.value;
  inputs_.set(model, carrier.instance, model.starting_time, plan_.adaptive() ? 0 : plan_.step);
  // A lifted model's start is set by whoever sends it: only its discrete values are taken.
  int status = TACTUS_OK;
  if (!carrier.lifted) {
    status = tk_start(&model, carrier.instance);
  } else {
    status = model.prepare(&model, carrier.instance);
    if (status == TACTUS_OK) status = model.initialize(&model, carrier.instance);
  }
  carrier.keep();
  return status;
}

Shooting::Raised* Shooting::raised(std::size_t segment) {
  std::unique_ptr<Raised>& place = segment == 0 ? first_ : rest_;
  if (place) return place.get();
  std::vector<Seed> seeds;
  for (std::uint32_t state : seeds_of(segment)) seeds.push_back({Seed::start_of_state, state});
  place = std::make_unique<Raised>(model_, std::move(seeds));
  place->carrier.model = &place->lifted.model();
  place->carrier.lifted = &place->lifted;
  place->carrier.seeds = seeds_of(segment);
  place->carrier.instance = place->instance.get();
  if (set_up(place->carrier) != TACTUS_OK) place.reset();
  return place.get();
}

// At (t, x), sensitivities being those of the seeds themselves.
int Shooting::begin(const Carrier& carrier, double t, const Vector& x) {
  const tactus_model& model = *carrier.model;
  tactus_instance* instance = carrier.instance;
  *instance = carrier.header;
  std::copy(carrier.data.begin(), carrier.data.end(), tactus_data(instance));
  instance->time = t;
  instance->start_time = model.starting_time;
  instance->steps = plan_.adaptive() ? 0 : std::llround((t - model.starting_time) / plan_.step);
  instance->first_stage_valid = 0;
  instance->dense_from = t;
  double* states = carrier.states();
  std::fill_n(states, model.state_count, 0.0);
  std::copy(x.begin(), x.end(), states);
  if (carrier.lifted) {
    for (std::size_t k = 0; k < carrier.seeds.size(); ++k) states[n_ * (1 + k) + carrier.seeds[k]] = 1;
  }
  inputs_.set(model, instance, t, plan_.adaptive() ? 0 : plan_.step);
  return tk_begin_events(&model, instance);
}

int Shooting::advance(const Carrier& carrier, double to) {
  tactus_instance* instance = carrier.instance;
  const double gap = 1e-12 * std::max(end_ - plan_.start, std::abs(end_));
  double knot = instance->time;
  while (instance->time < to) {
    ++parts_;
    if (stop_asked()) return TACTUS_STEP_TOO_SMALL;
    if (!inputs_.empty() && instance->time >= knot) {
      knot = plan_.adaptive() ? inputs_.next_knot(instance->time + gap) : instance->time + plan_.step;
      if (to - knot < gap) knot = to;
      inputs_.set(*carrier.model, instance, instance->time, knot - instance->time);
      instance->first_stage_valid = 0;
    }
    // A motion that rests or slides has no sensitivities (lifted.h): by differences.
    if (carrier.lifted && instance->tie_count > 0) {
      is_different_ = true;
      return TACTUS_NO_SOLVER;
    }
    const double end = inputs_.empty() ? to : std::min(knot, to);
    int status = tk_part(carrier.model, instance, solver_, plan_.step, tolerance_, end);
    if (status == TACTUS_OK)
      status = carrier.lifted ? carrier.lifted->fire(instance) : tk_fire(carrier.model, instance);
    if (status != TACTUS_OK && !(carrier.lifted && instance->tie_count > 0)) return status;
    const double* x = carrier.states();
    if (std::any_of(x, x + n_, [](double value) { return !(std::abs(value) < 1e150); })) return TACTUS_NOT_FINITE;
    // The whole search goes on with a stiff method, by differences.
    const bool may_switch = !plan_.is_chosen && model_.layout.size > model_.layout.linear;
    if (instance->stiff_steps >= TACTUS_STIFF && may_switch && !tactus_is_stiff_solver(solver_)) {
      solver_ = TACTUS_ROSENBROCK;
      is_different_ = true;
      return TACTUS_NO_SOLVER;
    }
  }
  return TACTUS_OK;
}

// Through one segment; at_condition(condition) is called at the time of each inside it.
int Shooting::travel(const Carrier& carrier, std::size_t segment, const Vector& x,
                     const std::function<int(std::uint32_t)>& at_condition) {
  const double from = from_of(segment);
  const double to = to_of(segment);
  int status = begin(carrier, from, x);
  for (std::uint32_t condition : later_) {
    const double time = model_.conditions[condition].time;
    if (time <= from || time > to || status != TACTUS_OK) continue;
    status = advance(carrier, time);
    if (status == TACTUS_OK) status = at_condition(condition);
  }
  if (status == TACTUS_OK) status = advance(carrier, to);
  if (status != TACTUS_OK && status != TACTUS_NO_SOLVER && !carrier.lifted && !travel_failure_)
    travel_failure_ = describe_failure(model_, *carrier.instance, static_cast<tactus_status>(status), false);
  return status;
}

// The size of a condition's terms where `from` stands.
bool Shooting::find_scale(const Carrier& from, std::uint32_t condition, double& scale) {
  tactus_instance* instance = plain_.get();
  if (from.instance != instance) {
    *instance = *from.instance;
    const auto copy = [&](std::uint32_t tactus_layout::* section, std::uint32_t count) {
      std::copy_n(tactus_data(from.instance) + from.model->layout.*section, count,
                  tactus_data(instance) + model_.layout.*section);
    };
    copy(&tactus_layout::inputs, model_.input_count);
    copy(&tactus_layout::input_rates, model_.input_count);
    copy(&tactus_layout::parameters, model_.parameter_count);
    copy(&tactus_layout::derived, model_.derived_count);
    copy(&tactus_layout::warm, model_.warm_count);
    copy(&tactus_layout::discrete, model_.discrete_count);
  }
  const double* x = from.states();
  Vector direction(tactus_direction_size(&model_)), slopes(model_.condition_count);
  scale = 0;
  for (std::uint32_t j = 0; j < n_; ++j) {
    double& along = direction[tactus_direction_states(&model_) + j];
    along = 1;
    if (model_.tangent(&model_, instance, TACTUS_OF_CONDITIONS, instance->time, x, direction.data(), slopes.data()))
      return false;
    along = 0;
    scale += std::abs(slopes[condition]) * weight(x[j]);
  }
  return std::isfinite(scale);
}

bool Shooting::flow_by_sensitivities(std::size_t segment, const Vector& x, Flow& result) {
  Raised* raised = this->raised(segment);
  if (!raised) return false;
  const Carrier& carrier = raised->carrier;
  const std::size_t seeds = seeds_of(segment).size();
  Vector values(model_.condition_count);
  const int status = travel(carrier, segment, x, [&](std::uint32_t condition) {
    Row row{condition, 0, 0, Vector(seeds)};
    if (int bad = raised->lifted.conditions(carrier.instance, values)) return bad;
    row.value = values[condition];
    for (std::size_t k = 0; k < seeds; ++k) {
      if (int bad = raised->lifted.condition_sensitivity(carrier.instance, k, values)) return bad;
      row.slopes[k] = values[condition];
    }
    if (!find_scale(carrier, condition, row.scale)) return int{TACTUS_NOT_FINITE};
    result.rows.push_back(std::move(row));
    return int{TACTUS_OK};
  });
  if (status != TACTUS_OK) {
    // The motion alone says more clearly what is wrong.
    if (status != TACTUS_NO_SOLVER) travel(plain_carrier_, segment, x, [](std::uint32_t) { return int{TACTUS_OK}; });
    return false;
  }
  result.end.assign(carrier.states(), carrier.states() + n_);
  for (std::size_t k = 0; k < seeds; ++k) {
    const auto moved = raised->lifted.sensitivity(carrier.instance, k);
    result.slopes.emplace_back(moved.begin(), moved.end());
  }
  return true;
}

bool Shooting::flow_by_differences(std::size_t segment, const Vector& x, Flow& result) {
  const Carrier& carrier = plain_carrier_;
  Vector values(model_.condition_count);
  const auto go = [&](const Vector& from, bool with_scale, Flow& to) {
    const int status = travel(carrier, segment, from, [&](std::uint32_t condition) {
      Row row{condition, 0, 0, {}};
      const double* at = carrier.states();
      if (int bad = model_.condition(&model_, carrier.instance, carrier.instance->time, at, values.data())) return bad;
      row.value = values[condition];
      if (with_scale && !find_scale(carrier, condition, row.scale)) return int{TACTUS_NOT_FINITE};
      to.rows.push_back(std::move(row));
      return int{TACTUS_OK};
    });
    to.end.assign(carrier.states(), carrier.states() + n_);
    return status == TACTUS_OK;
  };
  if (!go(x, true, result)) return false;
  for (std::uint32_t state : seeds_of(segment)) {
    Vector beside = x;
    const double by = difference * weight(x[state]);
    beside[state] += by;
    Flow other;
    if (!go(beside, false, other)) return false;
    Vector& slopes = result.slopes.emplace_back(n_);
    for (std::uint32_t i = 0; i < n_; ++i) slopes[i] = (other.end[i] - result.end[i]) / by;
    for (std::size_t r = 0; r < result.rows.size(); ++r)
      result.rows[r].slopes.push_back((other.rows[r].value - result.rows[r].value) / by);
  }
  return true;
}

bool Shooting::flow(std::size_t segment, const Vector& x, Flow& result) {
  const bool was_different = is_different_;
  if (!is_different_ && flow_by_sensitivities(segment, x, result)) return true;
  if (!is_different_ || stop_asked()) return false;
  if (!was_different) result = {};
  return flow_by_differences(segment, x, result);
}

// --- The equations
// ----------------------------------------------------------------------------------------------------

// Constraints and conditions of the start, by the free states.
bool Shooting::add_start_rows(const Vector& x, Equations& equations) {
  Carrier& carrier = plain_carrier_;
  tactus_instance* instance = carrier.instance;
  *instance = carrier.header;
  std::copy(carrier.data.begin(), carrier.data.end(), tactus_data(instance));
  const double t = model_.starting_time;
  const auto add = [&](double value, double scale, const Vector& slopes, std::int32_t condition) {
    const std::size_t first = equations.a.size();
    equations.a.resize(first + equations.columns);
    for (std::size_t k = 0; k < free_.size(); ++k) equations.a[first + k] = slopes[free_[k]] * equations.weights[k];
    equations.left.push_back(-value);
    equations.scale.push_back(scale);
    equations.condition.push_back(condition);
  };
  if (model_.constraint_count > 0) {
    const tactus_pattern& pattern = model_.constraint_jacobian;
    Vector made(model_.constraint_count + pattern.start[model_.constraint_count]);
    if (model_.constrain(&model_, instance, t, x.data(), made.data())) return false;
    for (std::uint32_t i = 0; i < model_.constraint_count; ++i) {
      Vector slopes(n_);
      double scale = 0;
      for (std::uint32_t k = pattern.start[i]; k < pattern.start[i + 1]; ++k) {
        slopes[pattern.index[k]] = made[model_.constraint_count + k];
        scale += std::abs(made[model_.constraint_count + k]) * weight(x[pattern.index[k]]);
      }
      add(made[i], scale, slopes, -1);
    }
  }
  if (at_start_.empty()) return true;
  Vector values(model_.condition_count), made(model_.condition_count), direction(tactus_direction_size(&model_));
  if (model_.condition(&model_, instance, t, x.data(), values.data())) return false;
  std::vector<Vector> slopes(model_.condition_count, Vector(n_));
  for (std::uint32_t j = 0; j < n_; ++j) {
    double& along = direction[tactus_direction_states(&model_) + j];
    along = 1;
    if (model_.tangent(&model_, instance, TACTUS_OF_CONDITIONS, t, x.data(), direction.data(), made.data()))
      return false;
    along = 0;
    for (std::uint32_t i : at_start_) slopes[i][j] = made[i];
  }
  for (std::uint32_t i : at_start_) {
    double scale = 0;
    for (std::uint32_t j = 0; j < n_; ++j) scale += std::abs(slopes[i][j]) * weight(x[j]);
    add(values[i], scale, slopes[i], static_cast<std::int32_t>(i));
  }
  return true;
}

bool Shooting::evaluate(const Point& point, Equations& equations) {
  const bool is_good = gather(point, equations);
  if (!is_good) ++failures_;
  return is_good;
}

bool Shooting::gather(const Point& point, Equations& equations) {
  equations = {};
  const std::size_t segments = point.size();
  equations.columns = free_.size() + (segments - 1) * n_;
  for (std::uint32_t state : free_) equations.weights.push_back(weight(point[0][state]));
  for (std::size_t k = 1; k < segments; ++k) {
    for (double x : point[k]) equations.weights.push_back(weight(x));
  }
  if (!add_start_rows(point[0], equations)) return false;
  std::size_t column = 0;
  for (std::size_t k = 0; k < segments; ++k) {
    Flow flow;
    if (!this->flow(k, point[k], flow)) return false;
    const std::size_t seeds = seeds_of(k).size();
    equations.growth = std::max(equations.growth, growth_of(seeds_of(k), flow));
    const auto add = [&](double value, double scale, std::int32_t condition) {
      const std::size_t first = equations.a.size();
      equations.a.resize(first + equations.columns);
      equations.left.push_back(-value);
      equations.scale.push_back(scale);
      equations.condition.push_back(condition);
      return equations.a.data() + first;
    };
    const std::size_t next = column + seeds;
    if (k + 1 < segments) {
      for (std::uint32_t i = 0; i < n_; ++i) {
        double* row = add(flow.end[i] - point[k + 1][i], weight(point[k + 1][i]), -1);
        for (std::size_t s = 0; s < seeds; ++s) row[column + s] = flow.slopes[s][i] * equations.weights[column + s];
        row[next + i] = -equations.weights[next + i];
      }
    }
    for (const Row& condition : flow.rows) {
      double* row = add(condition.value, condition.scale, static_cast<std::int32_t>(condition.condition));
      for (std::size_t s = 0; s < seeds; ++s) row[column + s] = condition.slopes[s] * equations.weights[column + s];
    }
    column = next;
  }
  equations.rows = equations.left.size();
  const auto is_finite = [](double value) { return std::isfinite(value); };
  return std::all_of(equations.a.begin(), equations.a.end(), is_finite) &&
         std::all_of(equations.left.begin(), equations.left.end(), is_finite);
}

// The shortest step that makes the linear equations hold; returns its largest part.
double Shooting::newton_step(const Equations& equations, const Vector& left, Vector& step) {
  Vector a = equations.a;
  Vector b = left;
  const auto rows = static_cast<std::uint32_t>(equations.rows);
  Vector work(std::size_t{rows} * rows + 3 * std::size_t{rows});
  step.assign(equations.columns, 0);
  tk_least_norm(rows, static_cast<std::uint32_t>(equations.columns), a.data(), b.data(), step.data(), work.data());
  double size = 0;
  for (double part : step) {
    if (!(std::abs(part) <= size)) size = std::abs(part);
  }
  return size;
}

Point Shooting::moved(const Point& point, const Equations& equations, const Vector& step, double lambda) {
  Point result = point;
  std::size_t column = 0;
  for (std::uint32_t state : free_) {
    result[0][state] += lambda * equations.weights[column] * step[column];
    ++column;
  }
  for (std::size_t k = 1; k < point.size(); ++k) {
    for (double& x : result[k]) {
      x += lambda * equations.weights[column] * step[column];
      ++column;
    }
    // A state off the constraints moves in a way that means nothing; where it cannot be put back, Newton finds the way.
    if (model_.constraint_count > 0) {
      Vector trial = result[k];
      begin(plain_carrier_, times_[k], trial);
      if (tk_project(&model_, plain_.get(), times_[k], trial.data(), 5, 0) == TACTUS_OK) result[k] = std::move(trial);
    }
  }
  return result;
}

}  // namespace sim::shooting
