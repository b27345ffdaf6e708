#include "compiler/proof/intervals.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <deque>
#include <vector>

#include "compiler/proof/interval.h"

namespace proof {

using expr::Op;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr int most_rounds = 4;               // of narrowing one box
constexpr double worth_another_round = 0.8;  // of a leaf's width
constexpr double narrowest = 1e-10;          // relative to the size of the numbers in it: not halved further
constexpr Interval always = {1, 1}, never = {0, 0}, perhaps = {0, 1};

using Box = std::vector<Interval>;

class Narrowing {
 public:
  explicit Narrowing(const Tape& tape)
      : tape_(tape),
        claims_(tape.claims()),
        values_(tape.steps.size()),
        may_fail_(tape.steps.size()),
        is_needed_(tape.steps.size()) {}

  // False: no point of the box fulfils the goals. `is_certain` becomes whether all do.
  bool operator()(Box& box, bool& is_certain) {
    for (int round = 0; round < most_rounds; ++round) {
      forward(box);
      is_certain = true;
      for (const int goal : claims_) {
        if (values_[goal] == never) return false;
        is_certain = is_certain && values_[goal] == always;
      }
      if (is_certain) return true;
      if (!backward()) return false;
      bool is_worth_it = false;
      for (std::size_t i = 0; i < box.size(); ++i) {
        const Interval before = box[i];
        box[i] = intersect(before, values_[tape_.leaves[i].step]);
        const bool is_bounded_now = std::isinf(before.high - before.low) && !std::isinf(box[i].high - box[i].low);
        is_worth_it = is_worth_it || is_bounded_now ||
                      box[i].high - box[i].low < worth_another_round * (before.high - before.low);
      }
      if (!is_worth_it) return true;
    }
    return true;
  }

 private:
  const Interval& a(const Step& step) const { return values_[step.a]; }
  const Interval& b(const Step& step) const { return values_[step.b]; }
  bool operands_may_fail(const Step& step) const {
    for (const int operand : {step.a, step.b, step.c})
      if (operand >= 0 && may_fail_[operand]) return true;
    return false;
  }
  static std::optional<int> whole_exponent(const Step& exponent) {
    const double number = exponent.node.number;
    const bool is_whole =
        exponent.node.op == Op::constant && std::floor(number) == number && number >= 1 && number <= 64;
    return is_whole ? std::optional(static_cast<int>(number)) : std::nullopt;
  }

  void forward(const Box& box) {
    for (std::size_t i = 0; i < tape_.steps.size(); ++i) {
      const Step& step = tape_.steps[i];
      bool may_fail = operands_may_fail(step);
      values_[i] = step.leaf >= 0 ? box[step.leaf] : evaluate(step, may_fail);
      may_fail_[i] = may_fail;
      is_needed_[i] = false;
    }
  }

  static Interval decide(bool is_true, bool is_false) { return is_true ? always : is_false ? never : perhaps; }

  // `may_fail`: whether it is no number somewhere in the box, given whether an operand is.
  Interval evaluate(const Step& step, bool& may_fail) const {
    const bool is_compared = step.node.op >= Op::less && step.node.op <= Op::not_equal;
    if (is_compared) {
      const bool may_be_false = may_fail;
      may_fail = false;
      // What is no number is neither less nor equal.
      if (a(step).is_empty() || b(step).is_empty()) return step.node.op == Op::not_equal ? always : never;
      switch (step.node.op) {
        case Op::less:
          return decide(a(step).high < b(step).low && !may_be_false, a(step).low >= b(step).high);
        case Op::less_equal:
          return decide(a(step).high <= b(step).low && !may_be_false, a(step).low > b(step).high);
        default: {
          const bool is_same = step.a == step.b || (a(step).is_point() && a(step) == b(step));
          const bool is_apart = intersect(a(step), b(step)).is_empty();
          const Interval same = decide(is_same && !may_be_false, is_apart);
          return step.node.op == Op::equal ? same : Interval{1 - same.high, 1 - same.low};
        }
      }
    }
    switch (step.node.op) {
      case Op::constant:
        if (std::isfinite(step.node.number)) return Interval::point(step.node.number);
        may_fail = true;
        return std::isnan(step.node.number) ? Interval::empty() : Interval{};
      case Op::truth:
        return Interval::point(step.node.number);
      case Op::add:
        return a(step) + b(step);
      case Op::subtract:
        return step.a == step.b && !a(step).is_empty() ? Interval{0, 0} : a(step) - b(step);
      case Op::multiply:
        return step.a == step.b ? square(a(step)) : a(step) * b(step);
      case Op::divide:
        may_fail = may_fail || b(step).contains(0);
        return quotient(a(step), b(step));
      case Op::negate:
        return -a(step);
      case Op::square_root:
        may_fail = may_fail || a(step).low < 0;
        return square_root(a(step));
      case Op::absolute:
        return absolute(a(step));
      case Op::floor:
        return floor(a(step));
      case Op::ceil:
        return ceil(a(step));
      case Op::sin:
        return sin(a(step));
      case Op::cos:
        return cos(a(step));
      case Op::tan:
        return tan(a(step));
      case Op::asin:
        may_fail = may_fail || a(step).low < -1 || a(step).high > 1;
        return asin(a(step));
      case Op::acos:
        may_fail = may_fail || a(step).low < -1 || a(step).high > 1;
        return acos(a(step));
      case Op::atan:
        return atan(a(step));
      case Op::atan2:
        return atan2(a(step), b(step));
      case Op::exp:
        return exp(a(step));
      case Op::log:
        may_fail = may_fail || a(step).low <= 0;
        return log(a(step));
      case Op::power:
        may_fail = may_fail || (!whole_exponent(tape_.steps[step.b]) && a(step).low <= 0);
        return power(a(step), b(step));
      case Op::select:
        if (a(step) == always) {
          may_fail = may_fail_[step.b];
          return b(step);
        }
        if (a(step) == never) {
          may_fail = may_fail_[step.c];
          return values_[step.c];
        }
        may_fail = may_fail || b(step).is_empty() || values_[step.c].is_empty();
        return hull(b(step), values_[step.c]);
      case Op::logical_and:
        return {std::min(a(step).low, b(step).low), std::min(a(step).high, b(step).high)};
      case Op::logical_or:
        return {std::max(a(step).low, b(step).low), std::max(a(step).high, b(step).high)};
      case Op::logical_not:
        return {1 - a(step).high, 1 - a(step).low};
      default:  // sampled data and noise may be anything
        return {};
    }
  }

  // Every point that fulfils the goals has step `i` inside of `asked`; false when there is none.
  bool ask(int i, Interval asked) {
    values_[i] = intersect(values_[i], asked);
    is_needed_[i] = true;
    return !values_[i].is_empty();
  }

  bool backward() {
    for (const int goal : claims_)
      if (!ask(goal, always)) return false;
    for (int i = static_cast<int>(tape_.steps.size()) - 1; i >= 0; --i)
      if (is_needed_[i] && !carry_down(tape_.steps[i], values_[i])) return false;
    return true;
  }

  bool compare_down(const Step& step, Interval truth) {
    const Interval left = a(step), right = b(step);
    bool is_asked = truth == always;
    if (truth == perhaps || step.node.op == Op::not_equal) return true;
    const bool is_order = step.node.op != Op::equal;
    // It may be false because something is no number: nothing follows for the rest.
    if (!is_asked && (!is_order || may_fail_[step.a] || may_fail_[step.b])) return true;
    if (!is_order) return ask(step.a, right) && ask(step.b, left);
    const bool is_strict = (step.node.op == Op::less) == is_asked;
    return is_asked ? ask_below(step.a, right.high, is_strict) && ask_above(step.b, left.low, is_strict)
                    : ask_below(step.b, left.high, is_strict) && ask_above(step.a, right.low, is_strict);
  }

  // A leaf is a double: below a number it is at most the double before it. So x > 0 keeps 1 / x away from 0.
  bool ask_below(int i, double number, bool is_strict) {
    return ask(i, {-inf, is_strict && tape_.steps[i].leaf >= 0 ? std::nextafter(number, -inf) : number});
  }
  bool ask_above(int i, double number, bool is_strict) {
    return ask(i, {is_strict && tape_.steps[i].leaf >= 0 ? std::nextafter(number, inf) : number, inf});
  }

  // What is needed of a step is carried to its operands.
  bool carry_down(const Step& step, Interval y) {
    switch (step.node.op) {
      case Op::less:
      case Op::less_equal:
      case Op::equal:
      case Op::not_equal:
        return compare_down(step, y);
      case Op::logical_not:
        return ask(step.a, {1 - y.high, 1 - y.low});
      case Op::logical_and:
      case Op::logical_or: {
        const Interval strong = step.node.op == Op::logical_and ? always : never;
        if (y == strong) return ask(step.a, strong) && ask(step.b, strong);
        if (y == perhaps) return true;
        // One of the two has to be the other way.
        if (a(step) == strong) return ask(step.b, y);
        if (b(step) == strong) return ask(step.a, y);
        return true;
      }
      case Op::add:
        return ask(step.a, y - b(step)) && ask(step.b, y - a(step));
      case Op::subtract:
        return ask(step.a, y + b(step)) && ask(step.b, a(step) - y);
      case Op::multiply:
        if (step.a == step.b) return ask(step.a, whole_root(y, 2, a(step)));
        return factor_down(step.a, y, b(step)) && factor_down(step.b, y, a(step));
      case Op::divide:
        // Where the divisor is 0 and the quotient infinite, nothing follows for what was divided.
        return ((b(step).contains(0) && (std::isinf(y.low) || std::isinf(y.high))) || ask(step.a, y * b(step))) &&
               (y.contains(0) || ask(step.b, a(step) / y));
      case Op::negate:
        return ask(step.a, -y);
      case Op::square_root:
        return ask(step.a, square(intersect(y, {0, inf})));
      case Op::absolute:
        return ask(step.a, hull(intersect(a(step), y), intersect(a(step), -y)));
      case Op::floor:
        return ask(step.a, y + Interval{0, 1});
      case Op::ceil:
        return ask(step.a, y - Interval{0, 1});
      case Op::asin:
        return ask(step.a, intersect(sin(y), {-1, 1}));
      case Op::acos:
        return ask(step.a, intersect(cos(y), {-1, 1}));
      case Op::atan:
        return y.low <= -1.57 || y.high >= 1.57 || ask(step.a, tan(y));
      case Op::exp:
        return ask(step.a, log(y));
      case Op::log:
        return ask(step.a, exp(y));
      case Op::power:
        if (const auto exponent = whole_exponent(tape_.steps[step.b]))
          return ask(step.a, whole_root(y, *exponent, a(step)));
        return true;
      case Op::select:
        return select_down(step, y);
      default:
        return true;
    }
  }

  bool factor_down(int factor, Interval y, Interval other) {
    if (other.contains(0)) {
      // 0 times anything is 0; if that will not do, the sign of `other` may still say something.
      if (y.contains(0) || (other.low < 0 && other.high > 0)) return true;
    }
    return ask(factor, y / other);
  }

  bool select_down(const Step& step, Interval y) {
    if (a(step) == always) return ask(step.b, y);
    if (a(step) == never) return ask(step.c, y);
    const bool can_be_first = !intersect(b(step), y).is_empty();
    const bool can_be_second = !intersect(values_[step.c], y).is_empty();
    if (!can_be_first && !can_be_second) return false;
    if (!can_be_first) return ask(step.a, never) && ask(step.c, y);
    if (!can_be_second) return ask(step.a, always) && ask(step.b, y);
    return true;
  }

  const Tape& tape_;
  const std::vector<int> claims_;
  std::vector<Interval> values_;  // by step
  std::vector<char> may_fail_;    // by step: it may be no number
  std::vector<char> is_needed_;   // by step: the goals ask for a number in values_
};

// A finite number inside, near the middle as people count: the ends may be powers of ten apart, or infinite.
double middle(Interval a) {
  if (a.is_point()) return a.low;
  if (std::isinf(a.low) && std::isinf(a.high)) return 0;
  if (std::isinf(a.high)) return a.low < 8 ? std::max(8.0, a.low + 1) : a.low < 1e100 ? a.low * a.low : a.low * 2;
  if (std::isinf(a.low)) return -middle(-a);
  const double far = std::max(std::abs(a.low), std::abs(a.high));
  if (far > 100) {
    const double between = std::sinh((std::asinh(a.low) + std::asinh(a.high)) / 2);
    if (a.low < between && between < a.high) return between;
  }
  return a.low / 2 + a.high / 2;
}

// Where to look for a witness: not as far out as to cut.
double sample(Interval a) {
  const double reach = 4;
  if (std::isinf(a.high) && !std::isinf(a.low)) return a.low + std::max(reach, std::abs(a.low)) / 2;
  if (std::isinf(a.low) && !std::isinf(a.high)) return a.high - std::max(reach, std::abs(a.high)) / 2;
  return middle(a);
}

// How much a cut through it would tell; 0: too narrow to be cut.
double cut_worth(Interval a) {
  if (std::isinf(a.low) || std::isinf(a.high)) return 1e6;
  const double size = std::max({1e-3, std::abs(a.low), std::abs(a.high)});
  const double width = (a.high - a.low) / size;
  const double cut = middle(a);
  return width < narrowest || !(a.low < cut && cut < a.high) ? 0 : a.high - a.low > 1 ? width + 1 : width;
}

// Whether the goals hold at a point whatever rounding does: guards that only touch by rounding do not overlap.
bool is_certain_at(Narrowing& narrow, const std::vector<double>& point) {
  Box box;
  for (const double leaf : point) box.push_back(Interval::point(leaf));
  bool is_certain = false;
  return narrow(box, is_certain) && is_certain;
}

}  // namespace

std::optional<Verdict> decide_by_intervals(const Question& question, const Tape& tape, std::size_t boxes,
                                           double seconds, std::string& why) {
  using Clock = std::chrono::steady_clock;
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  Narrowing narrow(tape);
  Box all;
  for (const Leaf& leaf : tape.leaves) all.push_back({leaf.low, leaf.high});
  std::deque<Box> open = {all};
  std::size_t looked_at = 0;
  bool is_left_over = false;
  while (!open.empty()) {
    if (looked_at >= boxes || Clock::now() > deadline) {
      why = looked_at >= boxes ? fmt::format("{} boxes were not enough", boxes)
                               : fmt::format("{:g} s were not enough", seconds);
      return std::nullopt;
    }
    ++looked_at;
    Box box = std::move(open.front());
    open.pop_front();
    bool is_certain = false;
    if (!narrow(box, is_certain)) continue;
    // Its middle, and the corner next to 0: relations that only touch hold at ends.
    std::vector<double> point, corner;
    for (const Interval& leaf : box) {
      point.push_back(sample(leaf));
      corner.push_back(std::clamp(0.0, leaf.low, leaf.high));
    }
    for (const auto& each : {point, corner})
      if (holds(question, tape, each) && is_certain_at(narrow, each))
        return Verdict{Answer::overlap, Method::intervals, make_witness(question, tape, each), {}};
    std::size_t chosen = 0;
    double best = 0;
    for (std::size_t i = 0; i < box.size(); ++i) {
      const double worth = cut_worth(box[i]);
      if (worth > best) {
        best = worth;
        chosen = i;
      }
    }
    if (best == 0) {
      is_left_over = true;
      if (why.empty()) {
        std::string place;
        for (const Coordinate& at : make_witness(question, tape, point))
          place += fmt::format("{}{} = {:.6g}", place.empty() ? "" : ", ", at.name, at.value);
        why = place.empty() ? "what the guards read is not known" : fmt::format("too close to tell at {}", place);
      }
      continue;
    }
    const double cut = middle(box[chosen]);
    Box other = box;
    box[chosen].high = cut;
    other[chosen].low = cut;
    open.push_back(std::move(box));
    open.push_back(std::move(other));
  }
  if (is_left_over) return std::nullopt;
  return Verdict{Answer::exclusive, Method::intervals, {}, {}};
}

}  // namespace proof
