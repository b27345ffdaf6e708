#include "compiler/lower/solve_block.h"

#include <algorithm>
#include <unordered_map>

#include "base/check.h"
#include "compiler/lower/eliminate.h"
#include "compiler/symbolic/symbolic.h"

namespace lower {
namespace {

constexpr std::size_t many_leaves = 64;  // of an equation: all its derivatives are then worked out at once

// Cramer's rule for up to 3 unknowns; sets the solution's values and determinant.
void cramer(expr::Pool& pool, Solution& solution) {
  const std::vector<ExprId>& a = solution.matrix;
  const std::vector<ExprId>& b = solution.right;
  if (b.size() == 1) {
    solution.determinant = a[0];
    solution.values = {pool.divide(b[0], a[0])};
    return;
  }
  auto det2 = [&](ExprId p, ExprId q, ExprId r, ExprId s) {
    return pool.subtract(pool.multiply(p, s), pool.multiply(q, r));
  };
  if (b.size() == 2) {
    ExprId det = det2(a[0], a[1], a[2], a[3]);
    solution.determinant = det;
    solution.values = {pool.divide(det2(b[0], a[1], b[1], a[3]), det), pool.divide(det2(a[0], b[0], a[2], b[1]), det)};
    return;
  }
  auto det3 = [&](const std::vector<ExprId>& m) {
    ExprId first = pool.multiply(m[0], det2(m[4], m[5], m[7], m[8]));
    ExprId second = pool.multiply(m[1], det2(m[3], m[5], m[6], m[8]));
    ExprId third = pool.multiply(m[2], det2(m[3], m[4], m[6], m[7]));
    return pool.add(pool.subtract(first, second), third);
  };
  ExprId det = det3(a);
  solution.determinant = det;
  for (std::size_t column = 0; column < 3; ++column) {
    std::vector<ExprId> replaced = a;
    for (std::size_t row = 0; row < 3; ++row) replaced[row * 3 + column] = b[row];
    solution.values.push_back(pool.divide(det3(replaced), det));
  }
}

// Whether `e` reads nothing of `unknowns` that `other` does not read: x in `x = x - y + t` falls out when it is solved
// for y by sums, and stays when it is isolated.
bool reads_no_more(const expr::Pool& pool, ExprId e, ExprId other, const std::vector<ExprId>& unknowns) {
  const auto read = symbolic::leaves(pool, e, expr::Op::variable);
  return std::all_of(read.begin(), read.end(), [&](ExprId leaf) {
    return std::find(unknowns.begin(), unknowns.end(), leaf) == unknowns.end() || symbolic::contains(pool, other, leaf);
  });
}

// What is left of a linear block, then the unknowns that were written out, the last one first.
std::vector<Solution> make_smaller(expr::Pool& pool, const structure::System& system, const structure::Block& block,
                                   Solution whole, const Facts& facts) {
  const Elimination made =
      eliminate(pool, whole.unknowns, whole.matrix, whole.right, facts.never_zero, whole.essential);
  std::vector<Solution> solutions;
  if (whole.essential > 0 && (made.columns.empty() || made.columns.front() >= whole.essential)) {
    whole.kind = Solution::linear;
    return {std::move(whole)};
  }
  if (!made.columns.empty()) {
    Solution rest;
    rest.block = whole.block;
    for (std::size_t column : made.columns) rest.unknowns.push_back(whole.unknowns[column]);
    rest.matrix = made.matrix;
    rest.right = made.right;
    rest.essential = static_cast<std::uint32_t>(std::count_if(
        made.columns.begin(), made.columns.end(), [&](std::size_t column) { return column < whole.essential; }));
    if (made.columns.size() <= 3 && whole.essential == 0)
      cramer(pool, rest);
    else
      rest.kind = Solution::linear;
    solutions.push_back(std::move(rest));
  }
  for (auto step = made.steps.rbegin(); step != made.steps.rend(); ++step) {
    Solution one;
    one.block = whole.block;
    one.unknowns = {whole.unknowns[step->column]};
    one.values = {step->value};
    if (step->is_as_written) {
      const flat::Equation& equation = system.equations[block.equations[step->row]];
      const auto value = symbolic::solve(pool, equation.left, equation.right, one.unknowns[0]);
      if (value && reads_no_more(pool, *value, step->value, whole.unknowns)) one.values = {*value};
    }
    solutions.push_back(std::move(one));
  }
  return solutions;
}

}  // namespace

std::vector<Solution> solve_block(expr::Pool& pool, const structure::System& system, std::uint32_t number,
                                  const Facts& facts) {
  const structure::Block& block = system.blocks[number];
  Solution solution;
  solution.block = number;
  const std::size_t n = block.equations.size();
  for (std::uint32_t u : block.unknowns) solution.unknowns.push_back(system.unknowns[u]);
  const auto constraints = std::count_if(block.equations.begin(), block.equations.end(),
                                         [&](std::uint32_t e) { return system.equations[e].times > 0; });
  if (constraints > 1) {
    auto rest = std::stable_partition(solution.unknowns.begin(), solution.unknowns.end(), facts.moves);
    solution.essential =
        rest == solution.unknowns.end() ? 0 : static_cast<std::uint32_t>(rest - solution.unknowns.begin());
  }
  if (n == 1) {
    const flat::Equation& equation = system.equations[block.equations[0]];
    if (auto value = symbolic::solve(pool, equation.left, equation.right, solution.unknowns[0])) {
      solution.values = {*value};
      return {std::move(solution)};
    }
  }
  // Residuals and their exact Jacobian; only entries whose unknown stands in the equation can differ from zero.
  std::vector<ExprId> residuals;
  solution.matrix.assign(n * n, pool.constant(0));
  bool linear = true;
  auto is_unknown = [&](ExprId leaf) {
    return std::find(solution.unknowns.begin(), solution.unknowns.end(), leaf) != solution.unknowns.end();
  };
  for (std::size_t i = 0; i < n; ++i) {
    const flat::Equation& equation = system.equations[block.equations[i]];
    residuals.push_back(pool.subtract(equation.left, equation.right));
    const std::vector<ExprId> leaves = symbolic::leaves(pool, residuals[i], expr::Op::variable);
    const std::unordered_map<ExprId, ExprId> slopes =
        leaves.size() > many_leaves ? symbolic::gradient(pool, residuals[i]) : std::unordered_map<ExprId, ExprId>();
    for (ExprId leaf : leaves) {
      auto at = std::find(solution.unknowns.begin(), solution.unknowns.end(), leaf);
      if (at == solution.unknowns.end()) continue;
      ExprId slope = pool.constant(0);
      if (leaves.size() <= many_leaves) {
        const auto alone = symbolic::differentiate(pool, residuals[i], leaf);
        TACTUS_CHECK(alone.has_value());  // the phase of noise depends on no unknown
        slope = *alone;
      } else if (auto found = slopes.find(leaf); found != slopes.end()) {
        slope = found->second;
      }
      solution.matrix[i * n + static_cast<std::size_t>(at - solution.unknowns.begin())] = slope;
      auto read = symbolic::leaves(pool, slope, expr::Op::variable);
      if (std::any_of(read.begin(), read.end(), is_unknown)) linear = false;
    }
  }
  if (!linear) {
    solution.kind = Solution::newton;
    solution.right = std::move(residuals);
    return {std::move(solution)};
  }
  // A z = b with b = -residual(0).
  symbolic::Substitution at_zero(pool, [&](ExprId leaf) { return is_unknown(leaf) ? pool.constant(0) : ExprId(); });
  for (ExprId residual : residuals) solution.right.push_back(pool.negate(at_zero(residual)));
  if (solution.essential > 0) {
    std::vector<bool> is_constraint;
    for (std::uint32_t e : block.equations) is_constraint.push_back(system.equations[e].times > 0);
    if (are_independent(pool, solution.matrix, is_constraint)) solution.essential = 0;
  }
  return make_smaller(pool, system, block, std::move(solution), facts);
}

}  // namespace lower
