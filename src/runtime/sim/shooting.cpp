#include "runtime/sim/shooting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "runtime/sim/multiple_shooting.h"

namespace sim {
namespace shooting {

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
constexpr double missed = 100;  // tolerances of the run, that it may be off a condition before it takes a finer one
constexpr double undetermined =
    1e-7;  // of a condition's terms, that an unknown moves as it changes by its own size: below `met`

}  // namespace

// --- The search
// -------------------------------------------------------------------------------------------------------

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

// The motion from a guess of the start, cut into equal pieces; where it cannot be followed, or runs away, its last
// sensible states.
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

// --- What is found
// ----------------------------------------------------------------------------------------------------

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

// The free states of the start that may move, others with them, by their own size while no condition does: the null
// space by elimination with complete pivoting.
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
  if (parts_ > most_parts) {
    failure.text = fmt::format(
        "no start was found for the boundary values at other times: the motion up to t = {:g} takes too many steps, "
        "and the "
        "search was given up after {} of them",
        end_, most_parts);
    failure.hint = "ask for values at nearer times, or take a longer step or a wider tolerance";
    return failure;
  }
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
  solution.is_interrupted = is_interrupted();
  if (solution.is_interrupted) return solution;
  if (!is_found || stop_asked()) {
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

}  // namespace shooting

bool has_later_conditions(const tactus_model& model) {
  return std::any_of(model.conditions, model.conditions + model.condition_count,
                     [&](const tactus_condition& condition) { return condition.time > model.starting_time; });
}

std::string BoundarySolution::note() const {
  return fmt::format("boundary values up to t = {:.6g} met: {} iteration{}, {} segment{}, off by at most {:.2g}", until,
                     iterations, iterations == 1 ? "" : "s", nodes.size(), nodes.size() == 1 ? "" : "s", residual);
}

BoundarySolution solve_boundary(const BoundaryProblem& problem) { return shooting::Shooting(problem).solve(); }

}  // namespace sim
