#include "compiler/proof/contradiction.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

namespace proof {

using expr::Op;

namespace {

constexpr std::size_t longest_sum = 64;
constexpr int most_cases = 256;

std::optional<double> exact_sum(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return std::nullopt;
  const double b_seen = sum - a;  // Knuth's two-sum: the error of the addition
  const double error = (a - (sum - b_seen)) + (b - b_seen);
  return error == 0 ? std::optional(sum) : std::nullopt;
}

std::optional<double> exact_product(double a, double b) {
  const double product = a * b;
  if (product == 0) return a == 0 || b == 0 ? std::optional(0.0) : std::nullopt;
  if (!std::isfinite(product) || std::abs(product) < 1e-250) return std::nullopt;
  return std::fma(a, b, -product) == 0 ? std::optional(product) : std::nullopt;
}

// A sum of atoms with factors, and a number. Atoms ascend, no factor is 0.
struct Sum {
  std::vector<std::pair<int, double>> terms;
  double number = 0;
  auto operator<=>(const Sum&) const = default;
};

// What is not a sum: a leaf, a product of atoms, an operation on sums. Equal atoms have equal numbers.
struct Atom {
  Op op;
  std::uint32_t index = 0, order = 0, order_b = 0;
  std::uint64_t number = 0;  // its bits
  std::vector<int> parts;    // of a product: atoms, ascending; otherwise sums
  auto operator<=>(const Atom&) const = default;
};

class Sums {
  static constexpr std::uint64_t is_of_sums = 0, is_product = 1;

 public:
  explicit Sums(const Tape& tape) : tape_(tape) {
    sums_.reserve(tape.steps.size());
    for (const Step& step : tape.steps) {
      sums_.push_back(sum_of(step));
      if (step.leaf >= 0) leaf_atoms_[sums_.back().terms.front().first] = step.leaf;
    }
  }
  const Sum& of(int step) const { return sums_[step]; }
  // left - right; empty when its numbers would have to be rounded.
  std::optional<Sum> difference(int left, int right) const { return combine(sums_[left], sums_[right], -1); }
  // The leaf that is atom `atom`, or null.
  const Leaf* leaf(int atom) const {
    const auto found = leaf_atoms_.find(atom);
    return found == leaf_atoms_.end() ? nullptr : &tape_.leaves[found->second];
  }

 private:
  int atom(Atom made) { return atoms_.try_emplace(std::move(made), static_cast<int>(atoms_.size())).first->second; }
  int number_of(const Sum& sum) { return numbers_.try_emplace(sum, static_cast<int>(numbers_.size())).first->second; }
  static Sum single(int atom, double factor = 1) { return {{{atom, factor}}, 0}; }

  static std::optional<Sum> combine(const Sum& a, const Sum& b, double sign) {
    Sum sum;
    const auto number = exact_sum(a.number, sign * b.number);
    if (!number || a.terms.size() + b.terms.size() > longest_sum) return std::nullopt;
    sum.number = *number;
    auto i = a.terms.begin();
    auto j = b.terms.begin();
    while (i != a.terms.end() || j != b.terms.end()) {
      if (j == b.terms.end() || (i != a.terms.end() && i->first < j->first)) {
        sum.terms.push_back(*i++);
      } else if (i == a.terms.end() || j->first < i->first) {
        sum.terms.push_back({j->first, sign * j->second});
        ++j;
      } else {
        const auto factor = exact_sum(i->second, sign * j->second);
        if (!factor) return std::nullopt;
        if (*factor != 0) sum.terms.push_back({i->first, *factor});
        ++i;
        ++j;
      }
    }
    return sum;
  }

  static std::optional<Sum> scale(const Sum& a, double factor) {
    Sum sum;
    for (const auto& [atom, old] : a.terms) {
      const auto made = exact_product(old, factor);
      if (!made || *made == 0) return std::nullopt;
      sum.terms.push_back({atom, *made});
    }
    const auto number = exact_product(a.number, factor);
    if (!number) return std::nullopt;
    sum.number = *number;
    return sum;
  }

  // The atoms of a product, when the sum is one atom, plain or negated.
  std::optional<std::vector<int>> factors(const Sum& sum, double& sign) const {
    if (sum.number != 0 || sum.terms.size() != 1 || std::abs(sum.terms[0].second) != 1) return std::nullopt;
    sign *= sum.terms[0].second;
    const auto found = products_.find(sum.terms[0].first);
    return found != products_.end() ? found->second : std::vector<int>{sum.terms[0].first};
  }

  Sum product(const Sum& a, const Sum& b) {
    if (a.terms.empty()) {
      if (auto scaled = scale(b, a.number)) return *scaled;
    }
    if (b.terms.empty()) {
      if (auto scaled = scale(a, b.number)) return *scaled;
    }
    double sign = 1;
    auto left = factors(a, sign);
    const auto right = factors(b, sign);
    if (left && right && left->size() + right->size() <= longest_sum) {
      left->insert(left->end(), right->begin(), right->end());
      std::sort(left->begin(), left->end());
      const int made = atom({Op::multiply, 0, 0, 0, is_product, *left});
      products_[made] = *left;
      return single(made, sign);
    }
    std::vector<int> parts = {number_of(a), number_of(b)};
    std::sort(parts.begin(), parts.end());
    return single(atom({Op::multiply, 0, 0, 0, is_of_sums, parts}));
  }

  Sum sum_of(const Step& step) {
    const expr::Node& node = step.node;
    switch (node.op) {
      case Op::constant:
        if (std::isfinite(node.number)) return {{}, node.number + 0.0};
        break;
      case Op::add:
      case Op::subtract:
        if (auto sum = combine(sums_[step.a], sums_[step.b], node.op == Op::add ? 1 : -1)) return *sum;
        break;
      case Op::negate:
        if (auto sum = scale(sums_[step.a], -1)) return *sum;
        break;
      case Op::multiply:
        return product(sums_[step.a], sums_[step.b]);
      default:
        break;
    }
    Atom made{node.op, node.index, node.order, node.order_b, std::bit_cast<std::uint64_t>(node.number), {}};
    if (expr::has_kink(node.op)) made.order = 0;  // evaluated or held, the value is the same
    for (const int operand : {step.a, step.b, step.c})
      if (operand >= 0) made.parts.push_back(number_of(sums_[operand]));
    return single(atom(std::move(made)));
  }

  const Tape& tape_;
  std::vector<Sum> sums_;
  std::map<Atom, int> atoms_;
  std::map<Sum, int> numbers_;
  std::map<int, std::vector<int>> products_;
  std::map<int, int> leaf_atoms_;
};

// What is said of one sum.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  bool is_low_open = false, is_high_open = false;
  std::vector<double> excluded;

  void below(double number, bool is_open) {
    if (number < high) is_high_open = is_open;
    if (number == high) is_high_open = is_high_open || is_open;
    high = std::min(high, number);
  }
  void above(double number, bool is_open) {
    if (number > low) is_low_open = is_open;
    if (number == low) is_low_open = is_low_open || is_open;
    low = std::max(low, number);
  }
  bool is_empty() const {
    if (low > high) return true;
    if (low < high) return false;
    return is_low_open || is_high_open || std::find(excluded.begin(), excluded.end(), low) != excluded.end();
  }
};

class Cases {
 public:
  explicit Cases(const Tape& tape) : tape_(tape), sums_(tape), is_total_(tape.steps.size()) {
    for (std::size_t i = 0; i < tape.steps.size(); ++i) is_total_[i] = is_total(tape.steps[i]);
  }

  bool all_closed() {
    std::vector<Claim> open;
    for (const int claim : tape_.claims()) open.push_back({claim, true});
    std::reverse(open.begin(), open.end());
    return closes(std::move(open), {});
  }

 private:
  struct Claim {
    int step;
    bool is_true;
  };
  using Known = std::map<std::vector<std::pair<int, double>>, Bounds>;

  // Whether it is a number for every value of its leaves.
  bool is_total(const Step& step) const {
    switch (step.node.op) {
      case Op::divide:
      case Op::square_root:
      case Op::asin:
      case Op::acos:
      case Op::log:
      case Op::power:
      case Op::tan:
      case Op::table:
      case Op::table_2:
      case Op::noise:
        return false;
      case Op::constant:
        return std::isfinite(step.node.number);
      default:
        break;
    }
    for (const int operand : {step.a, step.b, step.c})
      if (operand >= 0 && !is_total_[operand]) return false;
    return true;
  }

  // Whether every case of the claims contradicts itself or what is known.
  bool closes(std::vector<Claim> open, Known known) {
    while (!open.empty()) {
      const Claim claim = open.back();
      open.pop_back();
      const Step& step = tape_.steps[claim.step];
      switch (step.node.op) {
        case Op::truth:
          if ((step.node.number != 0) != claim.is_true) return true;
          break;
        case Op::logical_not:
          open.push_back({step.a, !claim.is_true});
          break;
        case Op::logical_and:
        case Op::logical_or:
          if ((step.node.op == Op::logical_and) == claim.is_true) {
            open.push_back({step.b, claim.is_true});
            open.push_back({step.a, claim.is_true});
            break;
          }
          // Relations that stand apart may close the case without looking at this one's parts.
          if (const bool is_last =
                  std::all_of(open.begin(), open.end(), [&](const Claim& other) { return is_choice(other); });
              !is_last) {
            open.insert(open.begin(), claim);
            break;
          }
          if (++cases_ > most_cases) return false;
          {
            std::vector<Claim> other = open;
            other.push_back({step.b, claim.is_true});
            open.push_back({step.a, claim.is_true});
            return closes(std::move(open), known) && closes(std::move(other), std::move(known));
          }
        default:
          if (note(step, claim.is_true, known)) return true;
          break;
      }
    }
    return false;
  }

  bool is_choice(const Claim& claim) const {
    const Op op = tape_.steps[claim.step].node.op;
    return (op == Op::logical_and && !claim.is_true) || (op == Op::logical_or && claim.is_true);
  }

  // Adds what a relation says to what is known; true when that cannot be.
  bool note(const Step& step, bool is_true, Known& known) {
    Op op = step.node.op;
    bool is_swapped = false;
    if (!is_true) {
      const bool may_be_undefined = !is_total_[step.a] || !is_total_[step.b];
      if (op == Op::less || op == Op::less_equal) {
        if (may_be_undefined) return false;
        op = op == Op::less ? Op::less_equal : Op::less;
        is_swapped = true;
      } else {
        op = op == Op::equal ? Op::not_equal : Op::equal;
      }
    }
    if (step.a == step.b && op == Op::less) return true;
    auto sum = is_swapped ? sums_.difference(step.b, step.a) : sums_.difference(step.a, step.b);
    if (!sum) return false;
    const double number = -sum->number;  // terms REL number
    if (sum->terms.empty()) {
      switch (op) {
        case Op::less:
          return !(0 < number);
        case Op::less_equal:
          return !(0 <= number);
        case Op::equal:
          return number != 0;
        default:
          return op == Op::not_equal && number == 0;
      }
    }
    // One sign, and the first factor between 1 and 2: a power of two divides exactly.
    int exponent = 0;
    std::frexp(sum->terms.front().second, &exponent);
    const double factor = std::copysign(std::ldexp(1.0, 1 - exponent), sum->terms.front().second);
    double bound = number * factor;
    if (exact_product(number, factor) != bound) return false;
    for (auto& term : sum->terms) {
      const auto scaled = exact_product(term.second, factor);
      if (!scaled) return false;
      term.second = *scaled;
    }
    auto [place, is_new] = known.try_emplace(sum->terms);
    Bounds& bounds = place->second;
    if (is_new && sum->terms.size() == 1 && sum->terms[0].second == 1) {
      if (const Leaf* leaf = sums_.leaf(sum->terms[0].first)) {
        bounds.low = leaf->low;
        bounds.high = leaf->high;
      }
    }
    const bool is_upper = factor > 0;
    if (op == Op::less || op == Op::less_equal) {
      is_upper ? bounds.below(bound, op == Op::less) : bounds.above(bound, op == Op::less);
    } else if (op == Op::equal) {
      bounds.below(bound, false);
      bounds.above(bound, false);
    } else {
      bounds.excluded.push_back(bound);
    }
    return bounds.is_empty();
  }

  const Tape& tape_;
  Sums sums_;
  std::vector<bool> is_total_;
  int cases_ = 0;
};

}  // namespace

bool is_contradictory(const Tape& tape) { return Cases(tape).all_closed(); }

}  // namespace proof
