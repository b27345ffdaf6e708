#include "compiler/structure/cancellation.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "compiler/symbolic/symbolic.h"

namespace structure {
namespace {

using expr::ExprId;
using expr::Op;

constexpr double rounding = 1e-12;  // of the largest factor: less is zero

// Adds `factor` times e's own factors of the unknowns to `row`. False when e is not linear in them with numbers as factors.
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

// A vector y, not zero, with y A = 0; empty when A is regular.
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
      for (std::size_t j = 0; j < n; ++j) {
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
      for (std::size_t j = 0; j < n; ++j) {
        a[i][j] -= factor * a[pivot_row][j];
        made[i][j] -= factor * made[pivot_row][j];
      }
      a[i][pivot_column] = 0;
    }
  }
  return {};
}

}  // namespace

std::optional<Cancellation> find_cancellation(expr::Pool& pool, const std::vector<const flat::Equation*>& equations,
                                              const std::vector<ExprId>& unknowns) {
  std::unordered_map<ExprId, std::size_t> column;
  for (std::size_t j = 0; j < unknowns.size(); ++j) column.emplace(unknowns[j], j);
  LinearForm form(pool, column);
  std::vector<std::vector<double>> matrix;
  for (const flat::Equation* equation : equations) {
    std::vector<double> row(unknowns.size());
    if (!form.add(equation->left, 1, row) || !form.add(equation->right, -1, row)) return std::nullopt;
    matrix.push_back(std::move(row));
  }
  Cancellation found;
  found.factors = left_null_vector(std::move(matrix));
  if (found.factors.empty()) return std::nullopt;
  double largest = 0;
  for (double factor : found.factors) {
    if (std::abs(factor) > std::abs(largest)) largest = factor;
  }
  symbolic::Substitution at_zero(pool,
                                 [&](ExprId leaf) { return column.contains(leaf) ? pool.constant(0) : ExprId(); });
  found.rest = pool.constant(0);
  for (std::size_t i = 0; i < equations.size(); ++i) {
    double& factor = found.factors[i];
    factor /= largest;
    if (std::abs(factor) < rounding) factor = 0;
    if (factor == 0) continue;
    const ExprId left = at_zero(pool.subtract(equations[i]->left, equations[i]->right));
    found.rest = pool.add(found.rest, pool.multiply(pool.constant(factor), left));
  }
  return found;
}

}  // namespace structure
