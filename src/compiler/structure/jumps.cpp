#include "compiler/structure/jumps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <vector>

#include "compiler/symbolic/symbolic.h"

namespace structure {
namespace {

using expr::ExprId;
using expr::Op;

class Witness {
 public:
  Witness(expr::Pool& pool, ExprId whole) : pool_(pool), whole_(whole) {
    for (Op op : {Op::variable, Op::time, Op::input, Op::input_rate, Op::delayed}) {
      for (ExprId leaf : symbolic::leaves(pool_, whole_, op)) moving_.push_back(leaf);
    }
    fixed_ = symbolic::leaves(pool_, whole_, Op::parameter);
    for (ExprId leaf : symbolic::leaves(pool_, whole_, Op::discrete)) fixed_.push_back(leaf);
  }

  // `surface`: what passes zero, or with `is_whole` a whole number, where something changes.
  bool jumps_at(ExprId surface, bool is_whole) {
    int tried = 0;
    for (ExprId leaf : moving_) {
      if (!symbolic::contains(pool_, surface, leaf)) continue;
      if (tried++ == most_names) return false;
      for (int attempt = 0; attempt < attempts; ++attempt) {
        choose_numbers();
        if (jumps_along(leaf, surface, is_whole)) return true;
      }
    }
    return false;
  }

 private:
  static constexpr int most_names = 3;
  static constexpr int attempts = 3;

  void choose_numbers() {
    for (ExprId leaf : moving_) numbers_[leaf] = 6 * next() - 3;
    for (ExprId leaf : fixed_) numbers_[leaf] = 0.5 + 2 * next();
  }

  // Multiples of the golden ratio, spread evenly over 0..1.
  double next() {
    spread_ += 0.6180339887498949;
    spread_ -= std::floor(spread_);
    return spread_;
  }

  double value(ExprId e, ExprId leaf, double at) {
    symbolic::Substitution numbers(pool_, [&](ExprId other) {
      if (other == leaf) return pool_.constant(at);
      auto found = numbers_.find(other);
      return found == numbers_.end() ? ExprId() : pool_.constant(found->second);
    });
    const ExprId folded = numbers(e);
    return pool_.is_constant(folded) ? pool_[folded].number : std::numeric_limits<double>::quiet_NaN();
  }

  bool jumps_along(ExprId leaf, ExprId surface, bool is_whole) {
    constexpr double reach = 12;
    constexpr int samples = 40;
    double low = -reach + next() / samples;
    const auto side = [&](double at, double offset) { return value(surface, leaf, at) - offset; };
    const double first = value(surface, leaf, low);
    double before = first;
    for (int i = 0; i < samples; ++i) {
      double high = low + 2 * reach / samples;
      const double after = value(surface, leaf, high);
      const double offset = is_whole ? std::floor(std::max(before, after)) : 0;
      if ((before - offset) * (after - offset) < 0) {
        const double sign = before < offset ? -1 : 1;
        for (int k = 0; k < 60; ++k) {
          const double middle = (low + high) / 2;
          (sign * side(middle, offset) > 0 ? low : high) = middle;
        }
        // What is only steep falls with the distance; a jump stays.
        const auto across = [&](double beside) {
          const double left = value(whole_, leaf, low - beside), right = value(whole_, leaf, high + beside);
          return std::abs(right - left) / (1 + std::abs(left) + std::abs(right));
        };
        const double near = across(1e-10 * reach);
        return near > 1e-6 && near > 0.5 * across(1e-7 * reach);
      }
      low = high;
      before = after;
    }
    return false;
  }

  expr::Pool& pool_;
  ExprId whole_;
  std::vector<ExprId> moving_;
  std::vector<ExprId> fixed_;
  std::unordered_map<ExprId, double> numbers_;
  double spread_ = 0;
};

}  // namespace

bool can_jump(expr::Pool& pool, ExprId e) {
  constexpr std::size_t most_surfaces = 8;
  struct Surface {
    ExprId e;
    bool is_whole;
  };
  std::vector<Surface> surfaces;
  std::vector<bool> visited;
  std::vector<std::pair<ExprId, ExprId>> compared;
  expr::visit_postorder(pool, {e}, visited, [&](ExprId id) {
    const expr::Node& node = pool[id];
    if (node.op == Op::less || node.op == Op::less_equal) compared.emplace_back(node.a, node.b);
    if (node.op == Op::floor || node.op == Op::ceil) surfaces.push_back({node.a, true});
  });
  for (const auto& [a, b] : compared) surfaces.push_back({pool.subtract(a, b), false});
  if (surfaces.empty()) return false;
  Witness witness(pool, e);
  for (std::size_t i = 0; i < surfaces.size() && i < most_surfaces; ++i) {
    if (witness.jumps_at(surfaces[i].e, surfaces[i].is_whole)) return true;
  }
  return false;
}

}  // namespace structure
