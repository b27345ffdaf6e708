// Multiple shooting for boundary values at other times than the start: the states at some nodes are the unknowns, and
// the motion from each must end at the next. shooting_flow.cpp has the motion and the equations that it gives,
// shooting.cpp the search.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kernel/kernel.h"
#include "runtime/sim/instance.h"
#include "runtime/sim/lifted.h"
#include "runtime/sim/shooting.h"

namespace sim::shooting {

constexpr std::int64_t most_parts = 20'000'000;  // steps of all motions together, before the search is given up
constexpr int most_failures = 300;               // motions that do not get to their end, before the search is given up

using Vector = std::vector<double>;
using Point = std::vector<Vector>;  // the states at each node

inline double weight(double x) { return 1 + std::abs(x); }

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

  bool is_interrupted() const { return problem_.stop && problem_.stop->load(std::memory_order_relaxed); }
  bool stop_asked() const { return is_interrupted() || parts_ > most_parts; }
  double from_of(std::size_t segment) const { return times_[segment]; }
  double to_of(std::size_t segment) const { return segment + 1 < times_.size() ? times_[segment + 1] : end_; }
  std::span<const std::uint32_t> seeds_of(std::size_t segment) const { return segment == 0 ? free_ : all_; }

  int set_up(Carrier& carrier);
  Raised* raised(std::size_t segment);
  int begin(const Carrier& carrier, double t, const Vector& x);
  int advance(const Carrier& carrier, double to);
  int travel(const Carrier& carrier, std::size_t segment, const Vector& x,
             const std::function<int(std::uint32_t)>& at_condition);
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
  int failures_ = 0;        // of `evaluate`
  std::int64_t parts_ = 0;  // of all motions
  // The nearest that the search came, for its failure.
  double nearest_ = std::numeric_limits<double>::infinity();
  bool is_nearest_whole_ = false;
  std::uint32_t nearest_condition_ = 0;
  double nearest_left_ = 0;
  bool is_undetermined_ = false;
  std::optional<Failure> travel_failure_;
};

}  // namespace sim::shooting
