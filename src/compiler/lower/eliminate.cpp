#include "compiler/lower/eliminate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace lower {
namespace {

constexpr double smallest_share = 1e-3;  // of the largest number in its row: a smaller factor is not divided by
constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();

class Table {
 public:
  Table(expr::Pool& pool, const std::vector<ExprId>& unknowns, const std::vector<ExprId>& matrix,
        const std::vector<ExprId>& right, const std::function<bool(ExprId)>& never_zero, std::size_t essential)
      : pool_(pool),
        unknowns_(unknowns),
        never_zero_(never_zero),
        essential_(essential),
        rows_(right.size()),
        right_(right),
        in_column_(right.size()),
        is_changed_(right.size()),
        is_done_(right.size()) {
    const std::size_t n = right.size();
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        if (!pool_.is_constant(matrix[i * n + j], 0)) put(i, j, matrix[i * n + j]);
      }
    }
    room_ = 4 * n * n;
  }

  Elimination run() {
    Elimination made;
    for (;;) {
      const auto [row, column, cost] = next();
      if (row == none || cost > room_) break;
      room_ -= cost;
      made.steps.push_back(take(row, column));
    }
    const std::size_t n = rows_.size();
    std::vector<bool> is_gone(n);
    for (const Eliminated& step : made.steps) is_gone[step.column] = true;
    for (std::size_t i = 0; i < n; ++i) {
      if (!is_done_[i]) made.rows.push_back(i);
      if (!is_gone[i]) made.columns.push_back(i);
    }
    for (std::size_t i : made.rows) {
      for (std::size_t j : made.columns) {
        auto found = rows_[i].find(j);
        made.matrix.push_back(found == rows_[i].end() ? pool_.constant(0) : found->second);
      }
      made.right.push_back(right_[i]);
    }
    return made;
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  struct Choice {
    std::size_t row = none;
    std::size_t column = none;
    std::size_t cost = none;
  };

  void put(std::size_t row, std::size_t column, ExprId value) {
    if (pool_.is_constant(value, 0)) {
      if (rows_[row].erase(column) > 0) --in_column_[column];
      return;
    }
    const auto [place, fresh] = rows_[row].insert_or_assign(column, value);
    if (fresh) ++in_column_[column];
  }

  Choice next() const {
    Choice best;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (is_done_[i]) continue;
      double largest = 0;
      for (const auto& [column, factor] : rows_[i]) {
        if (pool_.is_constant(factor)) largest = std::max(largest, std::abs(pool_[factor].number));
      }
      for (const auto& [column, factor] : rows_[i]) {
        const std::size_t cost = (rows_[i].size() - 1) * (in_column_[column] - 1);
        if (cost < best.cost && is_safe(factor, largest) && leaves_as_much(i, column)) best = {i, column, cost};
      }
    }
    return best;
  }

  bool is_safe(ExprId factor, double largest) const {
    if (!pool_.is_constant(factor)) return never_zero_(factor);
    const double size = std::abs(pool_[factor].number);
    return std::isfinite(size) && size > 0 && size >= smallest_share * largest;
  }

  bool leaves_as_much(std::size_t row, std::size_t column) const {
    if (essential_ == 0) return true;
    const auto& entries = rows_[row];
    if (entries.size() > 2) return false;
    return std::all_of(entries.begin(), entries.end(), [&](const auto& entry) {
      return entry.first == column ||
             (pool_.is_constant(entry.second) && (column >= essential_ || entry.first < essential_));
    });
  }

  Eliminated take(std::size_t row, std::size_t column) {
    const ExprId factor = rows_[row].at(column);
    ExprId sum = right_[row];
    for (const auto& [other, entry] : rows_[row]) {
      if (other != column) sum = pool_.subtract(sum, pool_.multiply(entry, unknowns_[other]));
    }
    const Eliminated made{row, column, pool_.divide(sum, factor), !is_changed_[row]};
    is_done_[row] = true;
    for (const auto& entry : rows_[row]) --in_column_[entry.first];
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (is_done_[i]) continue;
      auto found = rows_[i].find(column);
      if (found == rows_[i].end()) continue;
      const ExprId times = pool_.divide(found->second, factor);
      put(i, column, pool_.constant(0));
      for (const auto& [other, entry] : rows_[row]) {
        if (other == column) continue;
        auto old = rows_[i].find(other);
        put(i, other, minus(old == rows_[i].end() ? pool_.constant(0) : old->second, pool_.multiply(times, entry)));
      }
      right_[i] = pool_.subtract(right_[i], pool_.multiply(times, right_[row]));
      is_changed_[i] = true;
    }
    return made;
  }

  // Numbers that differ by rounding alone cancel.
  ExprId minus(ExprId a, ExprId b) {
    const ExprId difference = pool_.subtract(a, b);
    if (pool_.is_constant(a) && pool_.is_constant(b) &&
        std::abs(pool_[difference].number) <= rounding * std::abs(pool_[a].number))
      return pool_.constant(0);
    return difference;
  }

  expr::Pool& pool_;
  const std::vector<ExprId>& unknowns_;
  const std::function<bool(ExprId)>& never_zero_;
  std::size_t essential_;
  std::vector<std::map<std::size_t, ExprId>> rows_;
  std::vector<ExprId> right_;
  std::vector<std::size_t> in_column_;  // entries, of rows that are left
  std::vector<bool> is_changed_;        // by row
  std::vector<bool> is_done_;           // by row
  std::size_t room_ = 0;
};

}  // namespace

Elimination eliminate(expr::Pool& pool, const std::vector<ExprId>& unknowns, const std::vector<ExprId>& matrix,
                      const std::vector<ExprId>& right, const std::function<bool(ExprId)>& never_zero,
                      std::size_t essential) {
  return Table(pool, unknowns, matrix, right, never_zero, essential).run();
}

bool are_independent(const expr::Pool& pool, const std::vector<ExprId>& matrix, const std::vector<bool>& among) {
  const std::size_t n = among.size();
  std::vector<bool> is_left = among;
  std::vector<std::size_t> in_column(n);
  const auto is_zero = [&](std::size_t i, std::size_t j) { return pool.is_constant(matrix[i * n + j], 0); };
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n && is_left[i]; ++j) in_column[j] += !is_zero(i, j);
  }
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n && is_left[i]; ++j) {
        if (is_zero(i, j) || !pool.is_constant(matrix[i * n + j]) || in_column[j] > 1) continue;
        is_left[i] = false;
        has_changed = true;
        for (std::size_t k = 0; k < n; ++k) in_column[k] -= !is_zero(i, k);
      }
    }
  }
  return std::count(is_left.begin(), is_left.end(), true) <= 1;
}

}  // namespace lower
