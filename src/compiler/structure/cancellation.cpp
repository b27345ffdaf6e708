#include "compiler/structure/cancellation.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "compiler/symbolic/symbolic.h"

namespace structure {
namespace {

using expr::ExprId;
using expr::Op;

constexpr double rounding = 1e-12;  // of the largest factor: less is zero

// Adds `factor` times e's own factors of the unknowns to `row`. False when e is not linear in them with numbers as
// factors.
class LinearForm {
 public:
  LinearForm(const expr::Pool& pool, const std::unordered_map<ExprId, std::size_t>& column)
      : pool_(pool), column_(column) {}

  bool add(ExprId root, double factor, std::vector<double>& row) {
    std::vector<std::pair<ExprId, double>> open = {{root, factor}};
    while (!open.empty()) {
      auto [id, scale] = open.back();
      open.pop_back();
      if (!reads_unknown(id)) continue;
      const expr::Node& node = pool_[id];
      switch (node.op) {
        case Op::variable:
          row[column_.at(id)] += scale;
          break;
        case Op::add:
        case Op::subtract:
          open.push_back({node.a, scale});
          open.push_back({node.b, node.op == Op::add ? scale : -scale});
          break;
        case Op::negate:
          open.push_back({node.a, -scale});
          break;
        case Op::multiply:
          if (pool_.is_constant(node.a)) {
            open.push_back({node.b, scale * pool_[node.a].number});
          } else if (pool_.is_constant(node.b)) {
            open.push_back({node.a, scale * pool_[node.b].number});
          } else {
            return false;
          }
          break;
        case Op::divide:
          if (!pool_.is_constant(node.b)) return false;
          open.push_back({node.a, scale / pool_[node.b].number});
          break;
        default:
          return false;
      }
    }
    return true;
  }

 private:
  bool reads_unknown(ExprId root) {
    if (auto found = reads_.find(root); found != reads_.end()) return found->second;
    expr::visit_postorder(pool_, {root}, visited_, [&](ExprId id) {
      const expr::Node& node = pool_[id];
      const int operands = expr::operand_count(node.op);
      reads_[id] = column_.contains(id) || (operands >= 1 && reads_[node.a]) || (operands >= 2 && reads_[node.b]) ||
                   (operands >= 3 && reads_[node.c]);
    });
    return reads_[root];
  }

  const expr::Pool& pool_;
  const std::unordered_map<ExprId, std::size_t>& column_;
  std::unordered_map<ExprId, bool> reads_;
  std::vector<bool> visited_;
};

// A vector y, not zero, with y A = 0; empty when the rows of A are independent.
std::vector<double> left_null_vector(std::vector<std::vector<double>> a) {
  const std::size_t n = a.size();
  std::vector<std::vector<double>> made(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) made[i][i] = 1;
  double largest = 0;
  for (const auto& row : a) {
    for (double entry : row) largest = std::max(largest, std::abs(entry));
  }
  std::vector<bool> is_used(n);
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot_row = n, pivot_column = 0;
    double best = rounding * largest;
    for (std::size_t i = 0; i < n; ++i) {
      if (is_used[i]) continue;
      for (std::size_t j = 0; j < a[i].size(); ++j) {
        if (std::abs(a[i][j]) > best) {
          best = std::abs(a[i][j]);
          pivot_row = i;
          pivot_column = j;
        }
      }
    }
    if (pivot_row == n) {
      const std::size_t zero =
          static_cast<std::size_t>(std::find(is_used.begin(), is_used.end(), false) - is_used.begin());
      return made[zero];
    }
    is_used[pivot_row] = true;
    for (std::size_t i = 0; i < n; ++i) {
      if (is_used[i] || a[i][pivot_column] == 0) continue;
      const double factor = a[i][pivot_column] / a[pivot_row][pivot_column];
      for (std::size_t j = 0; j < a[i].size(); ++j) a[i][j] -= factor * a[pivot_row][j];
      for (std::size_t j = 0; j < n; ++j) made[i][j] -= factor * made[pivot_row][j];
      a[i][pivot_column] = 0;
    }
  }
  return {};
}

// Whether the rows, by these factors, add up to zero.
bool cancels(const std::vector<double>& factors, const std::vector<std::vector<double>>& rows) {
  constexpr double close = 1e-9;
  for (std::size_t j = 0; j < rows.front().size(); ++j) {
    double sum = 0, size = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      sum += factors[i] * rows[i][j];
      size += std::abs(factors[i] * rows[i][j]);
    }
    if (std::abs(sum) > close * size) return false;
  }
  return true;
}

}  // namespace

std::optional<Cancellation> find_cancellation(flat::Model& model, const std::vector<const flat::Equation*>& equations,
                                              const std::vector<ExprId>& unknowns) {
  expr::Pool& pool = model.pool;
  std::unordered_map<ExprId, std::size_t> column;
  for (std::size_t j = 0; j < unknowns.size(); ++j) column.emplace(unknowns[j], j);
  std::set<std::uint32_t> parameters;
  bool reads_time = false;
  for (const flat::Equation* equation : equations) {
    for (ExprId side : {equation->left, equation->right}) {
      for (ExprId leaf : symbolic::leaves(pool, side, Op::parameter)) parameters.insert(pool[leaf].index);
      reads_time = reads_time || !symbolic::leaves(pool, side, Op::time).empty();
    }
  }
  const bool are_numbers = parameters.empty() && !reads_time;
  // With the parameters' first values, but for those moved: to values that have nothing to do with each other; the time
  // too.
  const auto matrix_of = [&](const std::set<std::uint32_t>& moved) -> std::optional<std::vector<std::vector<double>>> {
    symbolic::Substitution numbers(pool, [&](ExprId leaf) {
      if (pool[leaf].op == Op::time) return pool.constant(moved.empty() ? 0.7548776662 : 1.3247179572);
      if (pool[leaf].op != Op::parameter) return ExprId();
      const std::uint32_t index = pool[leaf].index;
      const double first = model.parameters[index].initial;
      return pool.constant(moved.contains(index) ? 1.2360679775 * first + 0.6180339887 / (index + 1.7320508076)
                                                 : first);
    });
    LinearForm form(pool, column);
    std::vector<std::vector<double>> matrix;
    for (const flat::Equation* equation : equations) {
      std::vector<double> row(unknowns.size());
      const ExprId left = are_numbers ? equation->left : numbers(equation->left);
      const ExprId right = are_numbers ? equation->right : numbers(equation->right);
      if (!form.add(left, 1, row) || !form.add(right, -1, row)) return std::nullopt;
      if (!std::all_of(row.begin(), row.end(), [](double entry) { return std::isfinite(entry); })) return std::nullopt;
      matrix.push_back(std::move(row));
    }
    return matrix;
  };
  auto matrix = matrix_of({});
  if (!matrix) return std::nullopt;
  Cancellation found;
  found.factors = left_null_vector(std::move(*matrix));
  if (found.factors.empty()) return std::nullopt;
  double largest = 0;
  for (double factor : found.factors) {
    if (std::abs(factor) > std::abs(largest)) largest = factor;
  }
  for (double& factor : found.factors) {
    factor /= largest;
    if (std::abs(factor) < rounding) factor = 0;
  }
  if (!are_numbers) {
    const std::uint32_t time_alone = static_cast<std::uint32_t>(model.parameters.size());
    const auto later = matrix_of({time_alone});
    if (!later || !cancels(found.factors, *later))
      return std::nullopt;  // by factors that depend on time: the run will say when
    std::set<std::uint32_t> all = parameters;
    all.insert(time_alone);
    auto other = matrix_of(all);
    if (!other) return std::nullopt;
    if (!cancels(found.factors, *other)) {
      if (left_null_vector(std::move(*other)).empty()) return std::nullopt;  // these values alone make it so
      for (std::uint32_t each : parameters) {
        const auto moved = matrix_of({each});
        if (moved && !cancels(found.factors, *moved)) found.parameters.push_back(each);
      }
      if (found.parameters.empty()) found.parameters.assign(parameters.begin(), parameters.end());
      return found;
    }
  }
  symbolic::Substitution at_zero(pool,
                                 [&](ExprId leaf) { return column.contains(leaf) ? pool.constant(0) : ExprId(); });
  found.rest = pool.constant(0);
  for (std::size_t i = 0; i < equations.size(); ++i) {
    if (found.factors[i] == 0) continue;
    const ExprId left = at_zero(pool.subtract(equations[i]->left, equations[i]->right));
    found.rest = pool.add(found.rest, pool.multiply(pool.constant(found.factors[i]), left));
  }
  return found;
}

}  // namespace structure
