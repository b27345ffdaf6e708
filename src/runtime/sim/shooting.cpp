#include "runtime/sim/shooting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "kernel/kernel.h"
#include "runtime/sim/instance.h"
#include "runtime/sim/lifted.h"

namespace sim {
namespace {

constexpr double largest_growth = 1e4;  // of one segment; beyond it there are more ...
constexpr double wanted_growth = 1e3;   // ... none of which grows more than this
constexpr int most_segments = 64;
constexpr std::size_t most_unknowns = 1500;
constexpr double largest_step = 1e6;  // of Newton, for the size of the unknowns: the equations do not determine them
constexpr double met = 1e-6;  // of a condition's terms: the noise of adaptive steps, times what the flow makes of it
constexpr double noise = 1e-9;
constexpr double least_damping = 0x1p-12;
constexpr int most_iterations = 50;
constexpr int most_failures = 300;  // motions that do not get to their end, before the search is given up
constexpr double missed = 100;      // tolerances of the run, that it may be off a condition before it takes a finer one
constexpr double undetermined =
    1e-7;  // of a condition's terms, that an unknown moves as it changes by its own size: below `met`
constexpr double difference = 1e-6;  // of a state, where there are no sensitivities

using Vector = std::vector<double>;
using Point = std::vector<Vector>;  // the states at each node

double weight(double x) { return 1 + std::abs(x); }

// What one segment gives: where it ends, and what the conditions inside it leave over.
struct Row {
  std::uint32_t condition = 0;
  double value = 0;
  double scale = 0;  // of its terms
  Vector slopes;     // by seed
};
struct Flow {
  Vector end;
  std::vector<Vector> slopes;  // by seed: how fast `end` moves
  std::vector<Row> rows;
};

// How much the flow stretches: of states that act on each other the geometric mean, which no choice of units changes.
double growth_of(std::span<const std::uint32_t> seeds, const Flow& flow) {
  double growth = 0;
  for (std::size_t a = 0; a < seeds.size(); ++a) {
    for (std::size_t b = 0; b <= a; ++b)
      growth = std::max(growth, std::abs(flow.slopes[a][seeds[b]] * flow.slopes[b][seeds[a]]));
  }
  return std::sqrt(growth);
}

// The equations at a point: a u = left, u in units of `weights`.
struct Equations {
  std::size_t rows = 0;
  std::size_t columns = 0;
  Vector a;
  Vector left;
  Vector scale;
  Vector weights;
  std::vector<std::int32_t> condition;  // of each row; -1: none
  double growth = 0;

  // The row that is off most for its scale, and by how much.
  std::pair<std::size_t, double> worst() const {
    std::pair<std::size_t, double> found{0, 0};
    for (std::size_t i = 0; i < rows; ++i) {
      const double off = std::abs(left[i]) / (scale[i] > 0 ? scale[i] : 1);
      if (!(off <= found.second)) found = {i, off};
    }
    return found;
  }
};

class Shooting {
 public:
  explicit Shooting(const BoundaryProblem& problem)
      : problem_(problem),
        model_(problem.model),
        plan_(problem.plan),
        n_(problem.model.state_count),
        inputs_(problem.feeds),
        solver_(problem.plan.solver),
        plain_(problem.model) {
    const double start = model_.starting_time;
    for (std::uint32_t i = 0; i < model_.condition_count; ++i) {
      const double time = model_.conditions[i].time;
      (time > start ? later_ : at_start_).push_back(i);
      end_ = std::max(end_, time);
    }
    std::stable_sort(later_.begin(), later_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return model_.conditions[a].time < model_.conditions[b].time;
    });
    for (std::uint32_t i = 0; i < n_; ++i) {
      const std::uint32_t flag = model_.state_flags ? model_.state_flags[i] : std::uint32_t{TACTUS_STATE_GIVEN};
      const bool may_follow = flag == TACTUS_STATE_ASSUMED && model_.constraint_count > 0;
      if (flag == TACTUS_STATE_FREE || may_follow) free_.push_back(i);
    }
    tolerance_ = std::clamp(1e-3 * plan_.tolerance, 1e-13, 1e-10);
    is_different_ = tactus_is_stiff_solver(solver_) || !Lifted::obstacle(model_).empty();
    if (solver_ == TACTUS_CVODE) solver_ = TACTUS_ROSENBROCK;
  }

  BoundarySolution solve();

 private:
  // A model and its Instance at the start, ready to be sent from anywhere.
  struct Carrier {
    const tactus_model* model = nullptr;
    const Lifted* lifted = nullptr;
    std::span<const std::uint32_t> seeds = {};  // states
    tactus_instance* instance = nullptr;
    tactus_instance header = {};
    Vector data;

    void keep() {
      header = *instance;
      data.assign(tactus_data(instance), tactus_data(instance) + model->layout.snapshot);
    }
    double* states() const { return tactus_data(instance) + model->layout.states; }
  };
  struct Raised {
    Raised(const tactus_model& model, std::vector<Seed> seeds)
        : lifted(model, std::move(seeds)), instance(lifted.model()) {}
    Lifted lifted;
    Instance instance;
    Carrier carrier;
  };

  bool stop_asked() const { return problem_.stop && problem_.stop->load(std::memory_order_relaxed); }
  double from_of(std::size_t segment) const { return times_[segment]; }
  double to_of(std::size_t segment) const { return segment + 1 < times_.size() ? times_[segment + 1] : end_; }
  std::span<const std::uint32_t> seeds_of(std::size_t segment) const { return segment == 0 ? free_ : all_; }

  int set_up(Carrier& carrier);
  Raised* raised(std::size_t segment);
  int begin(const Carrier& carrier, double t, const Vector& x);
  int advance(const Carrier& carrier, double to);
  template <class At>
  int travel(const Carrier& carrier, std::size_t segment, const Vector& x, At at_condition);
  bool flow(std::size_t segment, const Vector& x, Flow& result);
  bool flow_by_sensitivities(std::size_t segment, const Vector& x, Flow& result);
  bool flow_by_differences(std::size_t segment, const Vector& x, Flow& result);
  bool find_scale(const Carrier& from, std::uint32_t condition, double& scale);

  bool evaluate(const Point& point, Equations& equations);
  bool gather(const Point& point, Equations& equations);
  bool add_start_rows(const Vector& x, Equations& equations);
  double newton_step(const Equations& equations, const Vector& left, Vector& step);
  Point moved(const Point& point, const Equations& equations, const Vector& step, double lambda);
  bool newton(Point& point, double share, const Vector& target);
  bool follow_path(Point& point);
  Point make_nodes(const Vector& start, int segments);
  bool can_have(int segments) const;
  bool search(Point& point);
  bool is_hopeless() const { return stop_asked() || failures_ > most_failures; }

  // How far off the conditions a run through these nodes is: at most, and at most for the size of their terms.
  struct Miss {
    double absolute = 0;
    double relative = 0;
  };
  std::optional<Miss> run_through(const Point& point, double tolerance);
  bool cut(Point& point);
  void tell_of_the_run(Point& point, BoundarySolution& solution);
  std::vector<std::uint32_t> undetermined_states(const Equations& equations) const;
  void tell_what_is_undetermined(const Point& point, const Equations& equations, BoundarySolution& solution) const;
  void remember(const Equations& equations);
  bool runs_away(const Vector& start) const;
  Failure describe();

  const BoundaryProblem& problem_;
  const tactus_model& model_;
  const Plan& plan_;
  std::uint32_t n_;
  Inputs inputs_;
  int solver_;
  double tolerance_ = 0;
  bool is_different_ = false;  // derivatives by differences: of a stiff method, or where there are no sensitivities
  double end_ = 0;
  std::vector<std::uint32_t> later_, at_start_;  // conditions; the later ones by time
  std::vector<std::uint32_t> free_, all_;        // states
  Instance plain_;
  Carrier plain_carrier_;
  std::unique_ptr<Raised> first_, rest_;  // by the free states; by all
  Vector times_;                          // of the nodes
  double size_ = 1;                       // of the states at the first guess
  Vector guess_;                          // of the start
  int iterations_ = 0;
  int failures_ = 0;  // of `evaluate`
  // The nearest that the search came, for its failure.
  double nearest_ = std::numeric_limits<double>::infinity();
  bool is_nearest_whole_ = false;
  std::uint32_t nearest_condition_ = 0;
  double nearest_left_ = 0;
  bool is_undetermined_ = false;
  std::optional<Failure> travel_failure_;
};

// --- The motion -------------------------------------------------------------------------------------------------------

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
    if (stop_asked()) return TACTUS_STEP_TOO_SMALL;
    if (!inputs_.empty() && instance->time >= knot) {
      knot = plan_.adaptive() ? inputs_.next_knot(instance->time + gap) : instance->time + plan_.step;
      if (to - knot < gap) knot = to;
      inputs_.set(*carrier.model, instance, instance->time, knot - instance->time);
      instance->first_stage_valid = 0;
    }
    const double end = inputs_.empty() ? to : std::min(knot, to);
    int status = tk_part(carrier.model, instance, solver_, plan_.step, tolerance_, end);
    if (status == TACTUS_OK)
      status = carrier.lifted ? carrier.lifted->fire(instance) : tk_fire(carrier.model, instance);
    if (status != TACTUS_OK) return status;
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
template <class At>
int Shooting::travel(const Carrier& carrier, std::size_t segment, const Vector& x, At at_condition) {
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

// --- The equations ----------------------------------------------------------------------------------------------------

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

// --- The search -------------------------------------------------------------------------------------------------------

void Shooting::remember(const Equations& equations) {
  const auto off = equations.worst().second;
  // In one piece a motion is off at its conditions alone.
  const bool is_whole = equations.columns == free_.size();
  if (is_nearest_whole_ && !is_whole) return;
  if (!(off < nearest_) && is_nearest_whole_ == is_whole) return;
  nearest_ = off;
  is_nearest_whole_ = is_whole;
  double most = -1;
  for (std::size_t i = 0; i < equations.rows; ++i) {
    if (equations.condition[i] < 0) continue;
    const double here = std::abs(equations.left[i]) / (equations.scale[i] > 0 ? equations.scale[i] : 1);
    if (!(here > most)) continue;
    most = here;
    nearest_condition_ = static_cast<std::uint32_t>(equations.condition[i]);
    nearest_left_ = std::abs(equations.left[i]);
  }
}

bool Shooting::runs_away(const Vector& start) const {
  return std::any_of(free_.begin(), free_.end(),
                     [&](std::uint32_t state) { return std::abs(start[state]) > largest_step * size_; });
}

// To equations(point) = share * target.
bool Shooting::newton(Point& point, double share, const Vector& target) {
  Equations now;
  if (!evaluate(point, now)) return false;
  double last = std::numeric_limits<double>::infinity();
  const auto shift = [&](const Equations& equations) {
    Vector left = equations.left;
    for (std::size_t i = 0; i < target.size(); ++i) left[i] += share * target[i];
    return left;
  };
  for (int k = 0; k < most_iterations; ++k) {
    if (runs_away(point[0])) {
      is_undetermined_ = true;
      return false;
    }
    if (share == 0) remember(now);
    Equations shifted = now;
    shifted.left = shift(now);
    const double off = shifted.worst().second;
    Vector step, again;
    const double size = newton_step(now, shifted.left, step);
    if (!(size < largest_step)) {
      is_undetermined_ = true;
      return false;
    }
    if (size <= 1e-13 || (size <= 1e-6 && size >= 0.5 * last)) return off <= met;
    // All that is left is the noise of the steps, and a long step would only follow that.
    if (off <= noise && size > 1e-3) return true;
    last = size;
    ++iterations_;
    double lambda = 1;
    Equations next;
    Point trial;
    for (;;) {
      trial = moved(point, now, step, lambda);
      if (evaluate(trial, next)) {
        const double after = newton_step(now, shift(next), again);
        if (after <= (1 - 0.25 * lambda) * size || size <= 1e-7) break;
      }
      if (is_hopeless()) return false;
      lambda *= 0.5;
      if (lambda < least_damping) return off <= met;
    }
    point = std::move(trial);
    now = std::move(next);
  }
  return false;
}

// equations(x) = (1 - s) equations(guess).
bool Shooting::follow_path(Point& point) {
  Equations first;
  if (!evaluate(point, first)) return false;
  Vector target = first.left;
  for (double& value : target) value = -value;
  double reached = 0;
  double stride = 0.25;
  while (reached < 1) {
    const double next = std::min(1.0, reached + stride);
    Point trial = point;
    if (newton(trial, 1 - next, target)) {
      point = std::move(trial);
      reached = next;
      stride *= 2;
    } else {
      stride *= 0.5;
      if (stride < 0.01 || is_hopeless()) return false;
    }
  }
  return true;
}

// The motion from a guess of the start, cut into equal pieces; where it cannot be followed, or runs away, its last sensible
// states.
Point Shooting::make_nodes(const Vector& start, int segments) {
  const double from = model_.starting_time;
  times_ = {from};
  for (int k = 1; k < segments; ++k) {
    double time = from + (end_ - from) * k / segments;
    if (!plan_.adaptive()) time = from + plan_.step * std::round((time - from) / plan_.step);
    if (time > times_.back() && time < end_) times_.push_back(time);
  }
  Point point = {start};
  bool is_sensible = true;
  for (std::size_t k = 1; k < times_.size(); ++k) {
    Vector next = point.back();
    if (is_sensible) {
      const int status = travel(plain_carrier_, k - 1, next, [](std::uint32_t) { return int{TACTUS_OK}; });
      const double* x = plain_carrier_.states();
      is_sensible = status == TACTUS_OK &&
                    std::all_of(x, x + n_, [&](double value) { return std::abs(value) <= wanted_growth * size_; });
      if (is_sensible) next.assign(x, x + n_);
    }
    point.push_back(std::move(next));
  }
  return point;
}

bool Shooting::can_have(int segments) const {
  const bool may_cut = model_.event_count == 0;
  return segments == 1 || (may_cut && segments <= most_segments && std::size_t{n_} * segments <= most_unknowns);
}

bool Shooting::search(Point& point) {
  const Vector guess = guess_ = point[0];
  for (double x : guess) size_ = std::max(size_, weight(x));
  int segments = 1;
  Equations equations;
  for (; can_have(2 * segments); segments *= 2) {
    point = make_nodes(guess, segments);
    if (evaluate(point, equations) && equations.growth <= (segments == 1 ? largest_growth : wanted_growth)) break;
    if (is_hopeless()) return false;
  }
  for (int more = segments; can_have(more) && more <= std::max(4 * segments, 8); more *= 2) {
    point = make_nodes(guess, more);
    const Point nodes = point;
    if (newton(point, 0, {})) return true;
    point = nodes;
    if (follow_path(point)) return true;
    if (is_hopeless()) return false;
  }
  // Around the guess: 0.618.. is the number whose multiples are spread most evenly.
  for (int attempt = 0; attempt < 8; ++attempt) {
    Vector other = guess;
    double spread = 0;
    for (std::uint32_t state : free_) {
      spread += 0.6180339887498949;
      spread -= std::floor(spread);
      const double far = (0.5 + spread) * (attempt >= 4 ? 4.0 : 1.0) * weight(guess[state]);
      other[state] += attempt % 2 == 0 ? far : -far;
    }
    point = make_nodes(other, segments);
    if (newton(point, 0, {})) return true;
    if (is_hopeless()) return false;
  }
  return false;
}

// --- What is found ----------------------------------------------------------------------------------------------------

std::optional<Shooting::Miss> Shooting::run_through(const Point& point, double tolerance) {
  const double own = std::exchange(tolerance_, tolerance);
  Miss miss;
  Vector values(model_.condition_count);
  int status = TACTUS_OK;
  for (std::size_t k = 0; k < point.size() && status == TACTUS_OK; ++k) {
    status = travel(plain_carrier_, k, point[k], [&](std::uint32_t condition) {
      tactus_instance* instance = plain_.get();
      if (int bad = model_.condition(&model_, instance, instance->time, plain_carrier_.states(), values.data()))
        return bad;
      double scale = 0;
      if (!find_scale(plain_carrier_, condition, scale)) return int{TACTUS_NOT_FINITE};
      const double off = std::abs(values[condition]);
      miss.absolute = std::max(miss.absolute, off);
      miss.relative = std::max(miss.relative, off / (scale > 0 ? scale : 1));
      return int{TACTUS_OK};
    });
  }
  tolerance_ = own;
  if (status != TACTUS_OK) return std::nullopt;
  return miss;
}

// A motion in one piece that even fine steps do not follow, in as many as it takes.
bool Shooting::cut(Point& point) {
  const Vector start = point[0];
  for (int segments = 2; can_have(segments) && !is_hopeless(); segments *= 2) {
    Point nodes = make_nodes(start, segments);
    if (!newton(nodes, 0, {})) continue;
    const auto miss = run_through(nodes, tolerance_);
    if (!miss || miss->relative > met) continue;
    point = std::move(nodes);
    return true;
  }
  make_nodes(start, 1);
  return false;
}

// What a run at the plan's tolerance makes of the start; a finer tolerance, or more nodes, where that is too little.
void Shooting::tell_of_the_run(Point& point, BoundarySolution& solution) {
  solution.tolerance = point.size() > 1 ? tolerance_ : plan_.tolerance;
  if (!plan_.adaptive()) return;
  auto miss = run_through(point, solution.tolerance);
  const double allowed = std::max(missed * plan_.tolerance, met);
  if (point.size() == 1 && !(miss && miss->relative <= allowed)) {
    const std::string off = miss ? fmt::format("be off by {:.2g}", miss->absolute) : "not get there";
    solution.tolerance = tolerance_;
    miss = run_through(point, tolerance_);
    if (!(miss && miss->relative <= allowed) && cut(point)) {
      miss = run_through(point, tolerance_);
    } else {
      solution.why_finer =
          fmt::format("at the tolerance of {:g} the run would {}, small errors grow so much: it goes at {:g}",
                      plan_.tolerance, off, tolerance_);
    }
  }
  if (miss) solution.residual = miss->absolute;
}

// The free states of the start that may move, others with them, by their own size while no condition does: the null space by
// elimination with complete pivoting.
std::vector<std::uint32_t> Shooting::undetermined_states(const Equations& equations) const {
  const std::size_t rows = equations.rows, columns = equations.columns;
  Vector a = equations.a;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) a[i * columns + j] /= equations.scale[i] > 0 ? equations.scale[i] : 1;
  }
  std::vector<std::size_t> order(columns);  // of the columns
  for (std::size_t j = 0; j < columns; ++j) order[j] = j;
  std::size_t rank = 0;
  for (; rank < std::min(rows, columns); ++rank) {
    std::size_t row = rank, column = rank;
    for (std::size_t i = rank; i < rows; ++i) {
      for (std::size_t j = rank; j < columns; ++j) {
        if (std::abs(a[i * columns + j]) > std::abs(a[row * columns + column])) row = i, column = j;
      }
    }
    if (std::abs(a[row * columns + column]) <= undetermined) break;
    std::swap_ranges(a.begin() + static_cast<std::ptrdiff_t>(row * columns),
                     a.begin() + static_cast<std::ptrdiff_t>((row + 1) * columns),
                     a.begin() + static_cast<std::ptrdiff_t>(rank * columns));
    for (std::size_t i = 0; i < rows; ++i) std::swap(a[i * columns + column], a[i * columns + rank]);
    std::swap(order[column], order[rank]);
    for (std::size_t i = rank + 1; i < rows; ++i) {
      const double factor = a[i * columns + rank] / a[rank * columns + rank];
      if (factor == 0) continue;
      for (std::size_t j = rank; j < columns; ++j) a[i * columns + j] -= factor * a[rank * columns + j];
    }
  }
  std::vector<bool> moves(columns);
  for (std::size_t free = rank; free < columns; ++free) {
    Vector v(columns);
    v[free] = 1;
    double size = 1;
    for (std::size_t i = rank; i-- > 0;) {
      for (std::size_t j = i + 1; j < columns; ++j) v[i] -= a[i * columns + j] * v[j];
      v[i] /= a[i * columns + i];
      size = std::max(size, std::abs(v[i]));
    }
    for (std::size_t j = 0; j < columns; ++j) {
      if (std::abs(v[j]) > 1e-3 * size) moves[order[j]] = true;
    }
  }
  std::vector<std::uint32_t> states;
  for (std::size_t k = 0; k < free_.size(); ++k) {
    const bool is_sought = model_.state_flags && model_.state_flags[free_[k]] == TACTUS_STATE_FREE;
    if (moves[k] && is_sought) states.push_back(free_[k]);
  }
  return states;
}

void Shooting::tell_what_is_undetermined(const Point& point, const Equations& equations,
                                         BoundarySolution& solution) const {
  std::vector<std::string> names, grown;
  for (const std::uint32_t state : undetermined_states(equations)) {
    const std::string name =
        fmt::format("`{}({:g}) = {:.6g}`", model_.state_names[state], model_.starting_time, point[0][state]);
    if (names.size() < 6) names.push_back(name);
    if (std::abs(point[0][state]) > 10 * weight(guess_[state])) grown.push_back(name);
  }
  if (names.empty()) return;
  solution.notes.push_back(fmt::format(
      "the boundary values do not determine {}: {} is one of many values that meet them, the one found from its guess",
      fmt::join(names, ", "), names.size() == 1 ? "it" : "each"));
  if (!grown.empty())
    solution.notes.back() +=
        fmt::format("; {} grew far beyond it, and may meet them only in the limit", fmt::join(grown, ", "));
}

Failure Shooting::describe() {
  Failure failure;
  failure.status = TACTUS_NO_START;
  failure.kind = "no_boundary_values";
  failure.time = model_.starting_time;
  std::vector<std::string> found;
  for (std::uint32_t state : free_) {
    if (found.size() == 6) {
      found.back() = "..";
      break;
    }
    found.push_back(fmt::format("`{}`", model_.state_names[state]));
  }
  const double* x = plain_carrier_.data.data() + model_.layout.states;
  for (std::uint32_t i = 0; i < n_; ++i) failure.states.push_back({model_.state_names[i], x[i]});
  const std::string first = free_.empty() ? "x" : model_.state_names[free_.front()];
  const std::string hint = fmt::format("give a better guess of what is to be found, {}: `{}({}) ~ ..` under `boundary`",
                                       fmt::join(found, ", "), first.substr(0, first.find('[')), model_.starting_time);
  if (!std::isfinite(nearest_)) {
    failure.text =
        "no start was found for the boundary values at other times: from the guess the motion does not get there";
    if (travel_failure_) failure.text += "\n  " + travel_failure_->text;
    failure.hint = hint;
    return failure;
  }
  const tactus_condition& condition = model_.conditions[nearest_condition_];
  failure.line = condition.line;
  failure.equations = condition.text;
  failure.text =
      fmt::format("no start was found from which `{}`{} comes true: the nearest is off by {:.3g}", condition.text,
                  condition.line ? fmt::format(" (line {})", condition.line) : "", nearest_left_);
  if (is_undetermined_) failure.text += fmt::format("\n  it hardly depends on {}", fmt::join(found, ", "));
  failure.hint = hint + "; or there is no such start";
  return failure;
}

BoundarySolution Shooting::solve() {
  BoundarySolution solution;
  solution.until = end_;
  solution.tolerance = tolerance_;
  for (std::uint32_t i = 0; i < n_; ++i) all_.push_back(i);
  plain_carrier_.model = &model_;
  plain_carrier_.instance = plain_.get();
  if (int status = set_up(plain_carrier_)) {
    solution.failure = describe_failure(model_, *plain_.get(), static_cast<tactus_status>(status), true);
    return solution;
  }
  Point point = {Vector(plain_.states().begin(), plain_.states().end())};
  const bool is_found = search(point);
  solution.iterations = iterations_;
  solution.is_interrupted = stop_asked();
  if (solution.is_interrupted) return solution;
  if (!is_found) {
    solution.failure = describe();
    return solution;
  }
  Equations equations;
  if (evaluate(point, equations)) {
    for (std::size_t i = 0; i < equations.rows; ++i) {
      if (equations.condition[i] >= 0) solution.residual = std::max(solution.residual, std::abs(equations.left[i]));
    }
    tell_what_is_undetermined(point, equations, solution);
  }
  tell_of_the_run(point, solution);
  for (std::size_t k = 0; k < point.size(); ++k) solution.nodes.push_back({times_[k], point[k]});
  return solution;
}

}  // namespace

bool has_later_conditions(const tactus_model& model) {
  return std::any_of(model.conditions, model.conditions + model.condition_count,
                     [&](const tactus_condition& condition) { return condition.time > model.starting_time; });
}

std::string BoundarySolution::note() const {
  return fmt::format("boundary values up to t = {:.6g} met: {} iteration{}, {} segment{}, off by at most {:.2g}", until,
                     iterations, iterations == 1 ? "" : "s", nodes.size(), nodes.size() == 1 ? "" : "s", residual);
}

BoundarySolution solve_boundary(const BoundaryProblem& problem) { return Shooting(problem).solve(); }

}  // namespace sim
