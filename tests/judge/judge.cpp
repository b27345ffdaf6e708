#include "judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include "dense.h"

namespace judge {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// Two things closer together in time than this happen at one instant.
constexpr double together = 1e-9;
// Around what is to be located, steps of this length: on them the interpolation is exact to rounding.
constexpr double close_step = 4e-6;
// Behind a crossing by this much, so that its relation has changed beyond rounding.
constexpr double behind = 1e-12;
// A corner that a delay repeats is smoother each time; that often it is still the end of a step.
constexpr int most_repeats = 4;

struct Trouble : std::runtime_error {
  using std::runtime_error::runtime_error;
};

double largest(const std::vector<double>& v) {
  double size = 0;
  for (double x : v) size = std::isfinite(x) ? std::max(size, std::fabs(x)) : infinity;
  return size;
}

// What F is to be solved beside: a state that is given, by an expression (at the start) or a number.
struct Want {
  std::uint32_t leaf = 0;
  ExprId expression = {};
  double number = 0;
};

class Run {
 public:
  Run(const flat::Model& model, const Request& request)
      : model_(model), request_(request), evaluator_(model, extra_expressions(model)), leaves_(evaluator_.leaves()) {}

  Opinion run() {
    opinion_.leaves = leaves_;
    try {
      if (largest_order() >= tableau_.power.size()) throw Trouble("derivatives of too high an order");
      begin();
      go();
    } catch (const Trouble& trouble) {
      opinion_.trouble = fmt::format("{} at t = {}", trouble.what(), now_.t);
    }
    return std::move(opinion_);
  }

 private:
  static std::vector<ExprId> extra_expressions(const flat::Model& model) {
    std::vector<ExprId> extra;
    for (const flat::Condition& condition : model.conditions) extra.push_back(condition.value);
    for (const flat::Delay& delay : model.delays) extra.push_back(delay.duration);
    for (const flat::Discrete& discrete : model.discrete)
      extra.insert(extra.end(), discrete.start.begin(), discrete.start.end());
    return extra;
  }

  std::uint32_t largest_order() const {
    return leaves_.order.empty() ? 0 : *std::max_element(leaves_.order.begin(), leaves_.order.end());
  }
  std::size_t variable_count() const { return model_.variables.size(); }

  // --- What stands in F besides the variables
  // ---------------------------------------------------------------------------

  enum class Side { before, after };

  void place_at(Point& point, double t, Side side) {
    point.t = t;
    for (std::size_t i = 0; i < model_.input_count; ++i) {
      point.inputs[i] = point.input_rates[i] = 0;
      if (i >= request_.inputs.size() || request_.inputs[i].times.empty()) continue;
      const Signal& signal = request_.inputs[i];
      const double look = side == Side::before ? t - together : t + together;
      const auto above = std::upper_bound(signal.times.begin(), signal.times.end(), look) - signal.times.begin();
      if (above == 0 || above == static_cast<std::ptrdiff_t>(signal.times.size())) {
        point.inputs[i] = above == 0 ? signal.values.front() : signal.values.back();
        continue;
      }
      const std::size_t k = static_cast<std::size_t>(above) - 1;
      point.input_rates[i] = (signal.values[k + 1] - signal.values[k]) / (signal.times[k + 1] - signal.times[k]);
      point.inputs[i] = signal.values[k] + point.input_rates[i] * (t - signal.times[k]);
    }
    for (std::size_t k = 0; k < model_.delays.size(); ++k) point.delayed[k] = delayed(point, k, t, side);
  }

  // A piece of the past without corners: what the delays' sources were at the ends of its steps.
  struct Past {
    std::vector<double> times;
    std::vector<std::vector<double>> values;  // by time, by delay
  };

  std::uint32_t source(std::size_t delay) const {
    return leaves_.at(model_.delays[delay].source.value, model_.delays[delay].order);
  }

  double delayed(const Point& point, std::size_t delay, double t, Side side) {
    // At the start itself: what it is there.
    if (past_.empty()) return model_.delays[delay].is_rate ? 0 : point.leaves[source(delay)];
    const double at = t - durations_[delay];
    const double slack = 0.1 * together;
    const double look = side == Side::before ? at - slack : at + slack;
    if (look < model_.settings.starting_time) return before_start_[delay];
    std::size_t k = past_.size();
    while (k > 1 && past_[k - 1].times.front() > look) --k;
    const Past& past = past_[k - 1];
    // Neville's scheme through the four samples around.
    const std::size_t count = past.times.size();
    const std::size_t points = std::min<std::size_t>(4, count);
    const auto above =
        static_cast<std::size_t>(std::upper_bound(past.times.begin(), past.times.end(), at) - past.times.begin());
    const std::size_t first = std::min(above > 2 ? above - 2 : 0, count - points);
    std::array<double, 4> value{};
    for (std::size_t i = 0; i < points; ++i) value[i] = past.values[first + i][delay];
    for (std::size_t level = 1; level < points; ++level) {
      for (std::size_t i = 0; i + level < points; ++i) {
        const double left = past.times[first + i], right = past.times[first + i + level];
        value[i] = ((right - at) * value[i] + (at - left) * value[i + 1]) / (right - left);
      }
    }
    return value[0];
  }

  void remember(bool is_corner) {
    if (model_.delays.empty()) return;
    if (is_corner || past_.empty()) past_.emplace_back();
    Past& past = past_.back();
    if (!past.times.empty() && now_.t < past.times.back() + together) return;
    past.times.push_back(now_.t);
    std::vector<double> values;
    for (std::size_t k = 0; k < model_.delays.size(); ++k) values.push_back(now_.leaves[source(k)]);
    past.values.push_back(std::move(values));
  }

  // --- Solving F at one time
  // --------------------------------------------------------------------------------------------

  void residuals(std::vector<double>& r) const {
    r.resize(variable_count());
    for (std::size_t e = 0; e < r.size(); ++e) r[e] = evaluator_.residual(e);
  }

  void refresh_tops(const Point& point, const Pieces& held) {
    const std::size_t n = variable_count();
    evaluator_.jacobian(point, held, jacobian_);
    std::vector<double> matrix(n * n);
    for (std::size_t e = 0; e < n; ++e) {
      for (std::size_t v = 0; v < n; ++v)
        matrix[e * n + v] = jacobian_[e * leaves_.count + leaves_.top(static_cast<std::uint32_t>(v))];
    }
    if (!tops_.factor(n, std::move(matrix))) throw Trouble("the equations do not determine their unknowns");
  }

  // The highest derivatives from the states, on these pieces. False: Newton's method did not come to an end.
  bool solve_tops(Point& point, const Pieces& held) {
    const std::size_t n = variable_count();
    std::vector<double> r, step, tried;
    bool fresh = false;
    double last = infinity;
    evaluator_.evaluate(point, &held);
    residuals(r);
    for (int turn = 0; turn < 100; ++turn) {
      if (!std::isfinite(largest(r))) return false;
      if (!tops_.usable()) {
        refresh_tops(point, held);
        fresh = true;
        evaluator_.evaluate(point, &held);
      }
      step = r;
      tops_.solve(step);
      const Point before = point;
      const auto size_of = [&](const std::vector<double>& change) {
        double most = 0;
        for (std::size_t v = 0; v < n; ++v) {
          const double u = before.leaves[leaves_.top(static_cast<std::uint32_t>(v))];
          most = std::isfinite(change[v]) ? std::max(most, std::fabs(change[v]) / (1 + std::fabs(u))) : infinity;
        }
        return most;
      };
      const double size = size_of(step);
      if (size > 0.3 * last && size > 1e-11 && !fresh) {
        refresh_tops(point, held);
        fresh = true;
        evaluator_.evaluate(point, &held);
        last = infinity;
        continue;
      }
      for (double part = 1;; part /= 2) {
        for (std::size_t v = 0; v < n; ++v) {
          const std::uint32_t top = leaves_.top(static_cast<std::uint32_t>(v));
          point.leaves[top] = before.leaves[top] - part * step[v];
        }
        evaluator_.evaluate(point, &held);
        residuals(tried);
        if (size < 1e-8 || part < 1e-3) break;
        // Deuflhard's natural test: the next correction by the same matrix, which no scaling of equations can fool.
        std::vector<double> next = tried;
        tops_.solve(next);
        if (size_of(next) <= (1 - part / 4) * size) break;
      }
      r = tried;
      // Another turn would move by rounding only: it has just been as good as the matrix allows.
      if (size < 1e-13 || (size < 1e-11 && size > 0.3 * last)) return std::isfinite(largest(r));
      last = size;
      fresh = false;
      if (turn > 8) tops_ = {};  // every turn its own matrix
    }
    return false;
  }

  // d/dt of the constraints where the states follow their derivatives: forward differences of order 4, for what lies
  // before may be on another side of a jump.
  void constraints_along_the_motion(const Point& point, const Pieces& pieces, std::vector<double>& out) {
    constexpr double h = 1e-3;
    constexpr double weights[] = {-25.0 / 12, 4, -3, 4.0 / 3, -0.25};
    const std::size_t first = out.size();
    out.resize(first + constraints_.size());
    for (int i = 0; i < 5 && !constraints_.empty(); ++i) {
      Point moved = point;
      if (i > 0) place_at(moved, point.t + i * h, Side::after);
      for (std::uint32_t leaf : states_) {
        double value = 0, factor = 1;
        for (std::uint32_t k = 0; leaf + k <= top_of_[leaf]; factor *= i * h / ++k)
          value += factor * point.leaves[leaf + k];
        moved.leaves[leaf] = value;
      }
      evaluator_.evaluate(moved, &pieces);
      for (std::size_t c = 0; c < constraints_.size(); ++c)
        out[first + c] += weights[i] / h * evaluator_.residual(constraints_[c]);
    }
  }

  // F, the derivatives of its constraints, and as many of `wants` as these leave free, the first ones first; the
  // smallest change of all leaves. Pieces as they come out.
  void settle(Point& point, const std::vector<Want>& wants) {
    const std::size_t all = leaves_.count;
    std::vector<double> r, matrix;
    std::vector<std::size_t> kept;
    double last = infinity;
    const auto wanted = [&](const Want& want) {
      return want.expression.valid() ? evaluator_.value(want.expression) : want.number;
    };
    // Residuals of everything, `wants` last.
    const auto everything = [&](const Point& at, const Pieces& pieces, std::vector<double>& out) {
      evaluator_.evaluate(at, &pieces);
      residuals(out);
      std::vector<double> missed;
      for (const Want& want : wants) missed.push_back(at.leaves[want.leaf] - wanted(want));
      constraints_along_the_motion(at, pieces, out);
      out.insert(out.end(), missed.begin(), missed.end());
    };
    const std::size_t equations = variable_count() + constraints_.size();
    for (int turn = 0; turn < 100; ++turn) {
      for (std::size_t k = 0; past_.empty() && k < model_.delays.size(); ++k)
        point.delayed[k] = delayed(point, k, point.t, Side::after);
      evaluator_.evaluate(point, nullptr);
      const Pieces pieces = evaluator_.pieces();
      std::vector<double> whole, moved;
      everything(point, pieces, whole);
      std::vector<std::vector<double>> rows(whole.size(), std::vector<double>(all));
      for (std::size_t leaf = 0; leaf < all; ++leaf) {
        Point other = point;
        const double delta = 3e-5 * std::max(1.0, std::fabs(point.leaves[leaf]));
        for (double side : {1.0, -1.0}) {
          other.leaves[leaf] = point.leaves[leaf] + side * delta;
          everything(other, pieces, moved);
          for (std::size_t i = 0; i < whole.size(); ++i) rows[i][leaf] += side * moved[i] / (2 * delta);
        }
      }
      if (turn < 6) {
        IndependentRows independent;
        for (std::size_t i = 0; i < equations; ++i) independent.offer(rows[i]);
        kept.clear();
        for (std::size_t w = 0; w < wants.size(); ++w)
          if (independent.offer(rows[equations + w])) kept.push_back(w);
      }
      const auto chosen = [&](const std::vector<double>& from) {
        std::vector<double> part(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(equations));
        for (std::size_t w : kept) part.push_back(from[equations + w]);
        return part;
      };
      matrix.clear();
      for (std::size_t i = 0; i < equations; ++i) matrix.insert(matrix.end(), rows[i].begin(), rows[i].end());
      for (std::size_t w : kept) matrix.insert(matrix.end(), rows[equations + w].begin(), rows[equations + w].end());
      r = chosen(whole);
      std::vector<double> step = r;
      Factors factors;
      if (r.size() == all && factors.factor(all, matrix)) {
        factors.solve(step);
      } else {
        step = least_solution(r.size(), all, matrix, r);
      }
      double size = 0;
      for (std::size_t i = 0; i < all; ++i)
        size =
            std::isfinite(step[i]) ? std::max(size, std::fabs(step[i]) / (1 + std::fabs(point.leaves[i]))) : infinity;
      if (!std::isfinite(size)) throw Trouble("no consistent values: not finite");
      const Point before = point;
      const double norm = largest(r);
      for (double part = 1;; part /= 2) {
        for (std::size_t i = 0; i < all; ++i) point.leaves[i] = before.leaves[i] - part * step[i];
        // Numbers to the bit, for a relation may stand on its very edge.
        for (std::size_t w : kept)
          if (part == 1 && !wants[w].expression.valid()) point.leaves[wants[w].leaf] = wants[w].number;
        evaluator_.evaluate(point, nullptr);
        everything(point, Pieces(evaluator_.pieces()), whole);
        r = chosen(whole);
        if (size < 1e-6 || largest(r) <= (1 - 0.1 * part) * norm || part < 1e-3) break;
      }
      // With differences along the motion there is nothing beyond 1e-9.
      const double rounding = constraints_.empty() ? 1e-13 : 1e-9;
      if (size < rounding || (size < 1e-8 && size > 0.3 * last)) {
        r.resize(variable_count());
        // Highest derivatives of hidden constraints may be anything behind a short step.
        if (largest(r) > 1e-7 + 1e-12 * largest(point.leaves))
          throw Trouble("no consistent values: the equations contradict each other");
        return;
      }
      last = size;
    }
    throw Trouble("no consistent values: Newton's method does not come to an end");
  }

  // The highest derivatives, or what F determines, at `now_`, on the pieces that hold there. At the start delays give
  // what their sources are, and these may read them.
  void solve_now() {
    solve_now_once();
    for (int turn = 0; past_.empty() && turn < 50; ++turn) {
      const std::vector<double> before = now_.delayed;
      place_at(now_, now_.t, Side::after);
      if (before == now_.delayed) return;
      solve_now_once();
    }
  }

  void solve_now_once() {
    if (!opinion_.regular) {
      std::vector<Want> wants;
      for (std::uint32_t leaf : states_) wants.push_back({leaf, {}, now_.leaves[leaf]});
      settle(now_, wants);
      evaluator_.evaluate(now_, nullptr);
      held_ = evaluator_.pieces();
      return;
    }
    evaluator_.evaluate(now_, nullptr);
    Pieces pieces = evaluator_.pieces();
    for (int turn = 0; turn < 50; ++turn) {
      tops_ = {};
      if (!solve_tops(now_, pieces)) throw Trouble("Newton's method does not come to an end");
      evaluator_.evaluate(now_, nullptr);
      if (evaluator_.pieces() == pieces) {
        held_ = std::move(pieces);
        return;
      }
      pieces = evaluator_.pieces();
    }
    throw Trouble("relations that contradict themselves");
  }

  // --- The start
  // --------------------------------------------------------------------------------------------------------

  void begin() {
    now_.leaves.assign(leaves_.count, 0.0);
    now_.inputs.assign(model_.input_count, 0.0);
    now_.input_rates.assign(model_.input_count, 0.0);
    now_.delayed.assign(model_.delays.size(), 0.0);
    now_.discrete.assign(model_.discrete_count, 0.0);
    for (const flat::Parameter& parameter : model_.parameters) now_.parameters.push_back(parameter.initial);
    now_.t = model_.settings.starting_time;
    if (std::any_of(model_.conditions.begin(), model_.conditions.end(),
                    [](const flat::Condition& condition) { return condition.later.has_value(); }))
      throw Trouble("boundary values at other times");
    evaluator_.evaluate(now_, nullptr);
    for (const flat::Discrete& discrete : model_.discrete) {
      for (std::uint32_t i = 0; i < discrete.start.size(); ++i)
        now_.discrete[discrete.first + i] = evaluator_.value(discrete.start[i]);
    }
    for (const flat::Delay& delay : model_.delays) {
      durations_.push_back(evaluator_.value(delay.duration));
      shortest_delay_ = std::min(shortest_delay_, durations_.back());
    }
    place_at(now_, now_.t, Side::after);

    // States: those with a start first, in the order of the text.
    std::vector<bool> is_wanted(leaves_.count);
    std::vector<Want> wants;
    for (const flat::Condition& condition : model_.conditions) {
      if (condition.guess || condition.order >= leaves_.order[condition.variable.value]) continue;
      const std::uint32_t leaf = leaves_.at(condition.variable.value, condition.order);
      wants.push_back({leaf, condition.value, 0});
      is_wanted[leaf] = true;
    }
    guess(is_wanted);
    for (std::uint32_t v = 0; v < variable_count(); ++v) {
      for (std::uint32_t k = 0; k < leaves_.order[v]; ++k)
        if (!is_wanted[leaves_.at(v, k)]) wants.push_back({leaves_.at(v, k), {}, 0});
    }
    for (const Want& want : wants) states_.push_back(want.leaf);
    find_constraints();
    settle(now_, wants);
    evaluator_.evaluate(now_, nullptr);
    held_ = evaluator_.pieces();

    evaluator_.jacobian(now_, held_, jacobian_);
    IndependentRows independent;
    for (std::size_t e = 0; e < variable_count(); ++e) {
      std::vector<double> row(variable_count());
      for (std::uint32_t v = 0; v < row.size(); ++v) row[v] = jacobian_[e * leaves_.count + leaves_.top(v)];
      independent.offer(std::move(row));
    }
    opinion_.regular = independent.count() == variable_count();

    for (const flat::Event& event : model_.events) {
      clocks_.push_back(event.kind == TACTUS_WHEN ? holds(event) : 0.0);
    }
    for (const Signal& signal : request_.inputs)
      for (double t : signal.times) add_corner(t, most_repeats);
    happen(true);
    // Again with what the handlers made.
    past_.clear();
    for (std::size_t k = 0; k < model_.delays.size(); ++k)
      before_start_.push_back(model_.delays[k].is_rate ? 0 : now_.leaves[source(k)]);
    remember(true);
    repeat_corner(0);
  }

  // Equations that read no highest derivative.
  void find_constraints() {
    top_of_.resize(leaves_.count);
    std::vector<bool> has_top(variable_count());
    for (std::uint32_t v = 0; v < variable_count(); ++v) {
      for (std::uint32_t k = 0; k <= leaves_.order[v]; ++k) {
        const std::uint32_t leaf = leaves_.at(v, k), top = leaves_.top(v);
        top_of_[leaf] = top;
        for (std::uint32_t e : evaluator_.equations_that_read(leaf)) has_top[e] = has_top[e] || leaf == top;
      }
    }
    for (std::size_t e = 0; e < has_top.size(); ++e)
      if (!has_top[e]) constraints_.push_back(e);
  }

  // A place for Newton's method to begin: starts and definitions put in one behind another, a few times.
  void guess(const std::vector<bool>& is_wanted) {
    for (int turn = 0; turn < 40; ++turn) {
      evaluator_.evaluate(now_, nullptr);
      const std::vector<double> before = now_.leaves;
      const auto put = [&](std::uint32_t leaf, double value) {
        if (std::isfinite(value) && std::fabs(value) < 1e6) now_.leaves[leaf] = value;
      };
      if (turn < 20) {
        for (const flat::Equation& equation : model_.equations) {
          const expr::Node& left = model_.pool[equation.left];
          if (left.op != Op::variable) continue;
          const std::uint32_t leaf = leaves_.at(left.index, left.order);
          if (!is_wanted[leaf]) put(leaf, evaluator_.value(equation.right));
        }
      }
      for (const flat::Condition& condition : model_.conditions) {
        if (condition.order > leaves_.order[condition.variable.value]) continue;
        put(leaves_.at(condition.variable.value, condition.order), evaluator_.value(condition.value));
      }
      if (before == now_.leaves) return;
    }
  }

  // --- Events
  // -----------------------------------------------------------------------------------------------------------

  bool holds(const flat::Event& event) const { return now_.leaves[leaves_.at(event.condition.value, 0)] > 0.5; }

  double next_time(std::size_t e) const {
    const flat::Event& event = model_.events[e];
    if (event.kind == TACTUS_EVERY) return model_.settings.starting_time + event.from + clocks_[e] * event.period;
    if (event.kind == TACTUS_AT && clocks_[e] < static_cast<double>(event.times.size()))
      return event.times[static_cast<std::size_t>(clocks_[e])];
    return infinity;
  }

  // Everything that is due at now_.t; afterwards now_ are the values behind it.
  void happen(bool is_start) {
    std::vector<bool> due(model_.events.size());
    const auto watch = [&] {
      for (std::size_t e = 0; e < due.size(); ++e) {
        if (model_.events[e].kind != TACTUS_WHEN) continue;
        const bool is_held = holds(model_.events[e]);
        if (is_held && clocks_[e] == 0) due[e] = true;
        if (!is_held) clocks_[e] = 0;
      }
    };
    for (std::size_t e = 0; e < due.size(); ++e) {
      if (model_.events[e].kind == TACTUS_AT)
        while (is_start && next_time(e) < now_.t - together) ++clocks_[e];
      due[e] = next_time(e) <= now_.t + together;
    }
    watch();
    bool any = false;
    for (int round = 0; std::find(due.begin(), due.end(), true) != due.end(); ++round) {
      if (round == 1000) throw Trouble("events without end");
      any = true;
      for (std::size_t e = 0; e < due.size(); ++e) {
        if (!due[e]) continue;
        due[e] = false;
        ++clocks_[e];
        std::vector<double> values;
        for (const flat::Update& update : model_.events[e].updates)
          values.push_back(now_.leaves[leaves_.at(update.value.value, 0)]);
        for (std::size_t i = 0; i < values.size(); ++i) now_.discrete[model_.events[e].updates[i].discrete] = values[i];
        if (!values.empty()) solve_now();
      }
      watch();
    }
    if (any) opinion_.happenings.push_back(now_.t);
  }

  // --- Steps
  // ------------------------------------------------------------------------------------------------------------

  // From now_ over h on the held pieces: its end, and what interpolation needs. False: not solvable.
  bool take(double h) {
    length_ = h;
    return opinion_.regular ? take_runge_kutta(h) : take_radau(h);
  }

  // states += h * rates, where rates are those of `from`.
  void move_states(Point& point, const Point& from, double h) const {
    for (std::uint32_t leaf : states_) point.leaves[leaf] += h * from.leaves[leaf + 1];
  }

  bool take_runge_kutta(double h) {
    Point second = now_, third = now_, fourth = now_;
    place_at(second, now_.t + h / 2, Side::before);
    move_states(second, now_, h / 2);
    if (!solve_tops(second, held_)) return false;
    third = second;
    for (std::uint32_t leaf : states_) third.leaves[leaf] = now_.leaves[leaf];
    move_states(third, second, h / 2);
    if (!solve_tops(third, held_)) return false;
    fourth = third;
    place_at(fourth, now_.t + h, Side::before);
    for (std::uint32_t leaf : states_) fourth.leaves[leaf] = now_.leaves[leaf];
    move_states(fourth, third, h);
    if (!solve_tops(fourth, held_)) return false;
    end_ = fourth;
    for (std::uint32_t leaf : states_) {
      end_.leaves[leaf] = now_.leaves[leaf] + h / 6 *
                                                  (now_.leaves[leaf + 1] + 2 * second.leaves[leaf + 1] +
                                                   2 * third.leaves[leaf + 1] + fourth.leaves[leaf + 1]);
    }
    return solve_tops(end_, held_);
  }

  // Radau IIA, order 5: c, and the powers of the matrix A, for variables of several orders: a state that lies d orders
  // below the highest derivative is h^d A^d of it, and a polynomial of what the step began with.
  struct Tableau {
    std::array<double, 3> c;
    std::array<std::array<double, 9>, 4> power;  // A^0 .. A^3
    Tableau() {
      const double root = std::sqrt(6.0);
      c = {(4 - root) / 10, (4 + root) / 10, 1};
      power[0] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
      power[1] = {(88 - 7 * root) / 360,     (296 - 169 * root) / 1800, (-2 + 3 * root) / 225,
                  (296 + 169 * root) / 1800, (88 + 7 * root) / 360,     (-2 - 3 * root) / 225,
                  (16 - root) / 36,          (16 + root) / 36,          1.0 / 9};
      for (std::size_t p = 2; p < power.size(); ++p) {
        power[p].fill(0);
        for (std::size_t i = 0; i < 3; ++i)
          for (std::size_t j = 0; j < 3; ++j)
            for (std::size_t k = 0; k < 3; ++k) power[p][i * 3 + j] += power[p - 1][i * 3 + k] * power[1][k * 3 + j];
      }
    }
  };

  void spread_stages(double h) {
    for (std::uint32_t v = 0; v < variable_count(); ++v) {
      for (std::uint32_t k = leaves_.order[v]; k-- > 0;) {
        const std::uint32_t leaf = leaves_.at(v, k);
        for (std::size_t i = 0; i < 3; ++i) {
          double sum = 0;
          for (std::size_t j = 0; j < 3; ++j) sum += tableau_.power[1][i * 3 + j] * stage_[j].leaves[leaf + 1];
          stage_[i].leaves[leaf] = now_.leaves[leaf] + h * sum;
        }
      }
    }
  }

  void stage_residuals(std::vector<double>& r) {
    r.clear();
    for (const Point& stage : stage_) {
      evaluator_.evaluate(stage, &held_);
      for (std::size_t e = 0; e < variable_count(); ++e) r.push_back(evaluator_.residual(e));
    }
  }

  bool refresh_stages(double h) {
    const std::size_t n = variable_count(), all = 3 * n;
    std::vector<double> matrix(all * all);
    for (std::size_t i = 0; i < 3; ++i) {
      evaluator_.jacobian(stage_[i], held_, jacobian_);
      for (std::size_t e = 0; e < n; ++e) {
        for (std::uint32_t v = 0; v < n; ++v) {
          double scale = 1;
          for (std::uint32_t d = 0; d <= leaves_.order[v]; ++d, scale *= h) {
            const double slope = jacobian_[e * leaves_.count + leaves_.top(v) - d];
            if (slope == 0) continue;
            for (std::size_t j = 0; j < 3; ++j)
              matrix[(i * n + e) * all + j * n + v] += slope * scale * tableau_.power[d][i * 3 + j];
          }
        }
      }
    }
    stages_step_ = h;
    return stages_.factor(all, std::move(matrix));
  }

  bool take_radau(double h) {
    const std::size_t n = variable_count();
    for (std::size_t i = 0; i < 3; ++i) {
      stage_[i] = now_;
      place_at(stage_[i], now_.t + tableau_.c[i] * h, Side::before);
    }
    spread_stages(h);
    std::vector<double> r, step;
    bool fresh = false;
    double last = infinity;
    stage_residuals(r);
    for (int turn = 0; turn < 60; ++turn) {
      if (!std::isfinite(largest(r))) return false;
      if (!stages_.usable() || stages_step_ != h) {
        if (!refresh_stages(h)) return false;
        fresh = true;
      }
      step = r;
      stages_.solve(step);
      double size = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        for (std::uint32_t v = 0; v < n; ++v) {
          const double s = step[i * n + v];
          const double u = stage_[i].leaves[leaves_.top(v)];
          size = std::isfinite(s) ? std::max(size, std::fabs(s) / (1 + std::fabs(u))) : infinity;
        }
      }
      if (!std::isfinite(size)) return false;
      // Constraints of position are met to rounding, and so accelerations to rounding / h^2.
      const double rounding = std::max(1e-12, 2e-14 / (h * h));
      if (size > 0.3 * last && size > rounding && !fresh) {
        if (!refresh_stages(h)) return false;
        fresh = true;
        last = infinity;
        continue;
      }
      for (std::size_t i = 0; i < 3; ++i)
        for (std::uint32_t v = 0; v < n; ++v) stage_[i].leaves[leaves_.top(v)] -= step[i * n + v];
      spread_stages(h);
      if (size < 1e-13 || (size < rounding && size > 0.3 * last)) {
        end_ = stage_[2];
        return true;
      }
      stage_residuals(r);
      last = size;
      fresh = false;
    }
    return false;
  }

  // Inside the step that was taken last: which pieces hold there?
  bool leaves_pieces(double part) {
    Point point = end_;
    place_at(point, now_.t + part * length_, Side::before);
    if (opinion_.regular) {
      const double p = part, q = 1 - part, h = length_;
      for (std::uint32_t leaf : states_) {  // Hermite's cubic
        point.leaves[leaf] = q * q * ((1 + 2 * p) * now_.leaves[leaf] + p * h * now_.leaves[leaf + 1]) +
                             p * p * ((1 + 2 * q) * end_.leaves[leaf] - q * h * end_.leaves[leaf + 1]);
      }
      if (!solve_tops(point, held_)) throw Trouble("Newton's method does not come to an end inside a step");
    } else {
      const auto& c = tableau_.c;
      for (std::uint32_t leaf = 0; leaf < leaves_.count; ++leaf) {
        double sum = 0;
        for (std::size_t i = 0; i < 3; ++i) {
          double weight = 1;
          for (std::size_t j = 0; j < 3; ++j)
            if (j != i) weight *= (part - c[j]) / (c[i] - c[j]);
          sum += weight * stage_[i].leaves[leaf];
        }
        point.leaves[leaf] = sum;
      }
    }
    evaluator_.evaluate(point, nullptr);
    return evaluator_.pieces() != held_;
  }

  void accept() {
    whole_steps_ = end_.t - now_.t > 0.25 * request_.step ? whole_steps_ + 1 : 0;
    now_ = end_;
    remember(false);
  }

  // One step of at most h towards `target`; shorter when a piece ends on it, and then `crossed_`.
  void advance(double h, double target) {
    int halvings = 0;
    while (!take(h)) {
      h /= 2;
      if (++halvings > 8) throw Trouble("a step cannot be solved");
    }
    double low = 0, high = 0;
    for (double part : {0.5, 1.0}) {
      if (leaves_pieces(part)) {
        high = part;
        break;
      }
      low = part;
    }
    if (high == 0) return accept();
    while ((high - low) * h > 1e-15 && high - low > 1e-15) {
      const double middle = (low + high) / 2;
      (leaves_pieces(middle) ? high : low) = middle;
    }
    const double until = high * h;
    // With what is due there anyway, it is one instant.
    if (now_.t + h >= target - together && now_.t + until >= target - together) {
      crossed_ = true;
      return accept();
    }
    if (h <= close_step) {
      const double beyond = std::min(until + behind, target - now_.t);
      if (!take(beyond)) throw Trouble("a step cannot be solved");
      crossed_ = true;
      return accept();
    }
    if (until > close_step / 2) return advance(until - close_step / 4, target);
    advance(close_step, target);
  }

  void add_corner(double t, int repeats) {
    auto [at, is_new] = corners_.try_emplace(t, repeats);
    if (!is_new) at->second = std::min(at->second, repeats);
  }

  // What happens now comes back through every delay.
  void repeat_corner(int repeats) {
    if (repeats >= most_repeats) return;
    for (double duration : durations_)
      if (now_.t + duration < request_.end) add_corner(now_.t + duration, repeats + 1);
  }

  void go() {
    std::size_t sample = 0;
    double target = now_.t;
    bool is_close = false;
    int left = 0;  // steps to the target
    for (int switches = 0;;) {
      while (sample < request_.samples.size() && request_.samples[sample] <= now_.t + 1e-13) {
        opinion_.rows.push_back({now_.t, now_.leaves, now_.discrete, opinion_.regular || whole_steps_ >= 3});
        ++sample;
      }
      if (sample == request_.samples.size() || now_.t >= request_.end - 1e-13) return;

      if (now_.t >= target - 1e-13 || left == 0) {
        target = std::min(request_.end, request_.samples[sample]);
        while (!corners_.empty() && corners_.begin()->first <= now_.t + 1e-13) corners_.erase(corners_.begin());
        if (!corners_.empty()) target = std::min(target, corners_.begin()->first);
        for (std::size_t e = 0; e < clocks_.size(); ++e) target = std::min(target, next_time(e));
        const double step = std::min(request_.step, 0.9 * shortest_delay_);
        left = std::max(model_.delays.empty() ? 1 : 3, static_cast<int>(std::ceil((target - now_.t) / step - 1e-6)));
      }
      if (target - now_.t > 1e-13) {
        const double whole = (target - now_.t) / left;
        crossed_ = false;
        const double before = now_.t;
        const double h = is_close ? std::min(close_step, whole) : whole;
        advance(h, target);
        is_close = !crossed_ && now_.t < before + 0.999999 * whole && !is_close;
        if (now_.t >= before + 0.999999 * whole) --left;
      }
      const bool is_there = now_.t >= target - (crossed_ ? together : 1e-13);
      if (!is_there && !crossed_) {
        if (left == 0) left = 1;
        continue;
      }
      if (is_there) now_.t = target;
      int repeats = crossed_ ? 0 : most_repeats + 1;
      for (auto at = corners_.begin(); at != corners_.end() && at->first <= now_.t + together;) {
        repeats = std::min(repeats, at->second);
        at = corners_.erase(at);
      }
      bool is_due = false;
      for (std::size_t e = 0; e < clocks_.size(); ++e) is_due = is_due || next_time(e) <= now_.t + together;
      if (is_due) repeats = 0;
      left = 0;
      is_close = false;
      if (repeats > most_repeats) continue;  // only a sample
      if (++switches > 20000) throw Trouble("too much happens");
      opinion_.happenings.push_back(now_.t);
      whole_steps_ = 0;
      place_at(now_, now_.t, Side::after);
      solve_now();
      happen(false);
      remember(true);
      repeat_corner(repeats);
    }
  }

  const flat::Model& model_;
  const Request& request_;
  Evaluator evaluator_;
  const Leaves& leaves_;
  Opinion opinion_;

  Point now_;
  Pieces held_;
  std::vector<std::uint32_t> states_;  // leaves below the highest of their variable
  std::vector<std::uint32_t> top_of_;  // by leaf: the highest of its variable
  std::vector<std::size_t> constraints_;
  std::vector<double> clocks_;     // every, at: how often; when: 1 while it holds
  std::map<double, int> corners_;  // and how often a delay repeated each
  std::vector<Past> past_;
  std::vector<double> durations_, before_start_;
  double shortest_delay_ = infinity;

  Point end_;
  double length_ = 0;
  bool crossed_ = false;
  int whole_steps_ = 0;  // since something happened
  Factors tops_, stages_;
  std::vector<double> jacobian_;
  const Tableau tableau_;
  std::array<Point, 3> stage_;
  double stages_step_ = 0;
};

}  // namespace

Opinion simulate(const flat::Model& model, const Request& request) { return Run(model, request).run(); }

}  // namespace judge
