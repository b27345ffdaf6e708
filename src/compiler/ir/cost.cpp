#include "compiler/ir/cost.h"

#include <algorithm>
#include <cmath>

namespace ir {
namespace {

// Gauss with partial pivoting, and the two substitutions.
double elimination(double n) { return 2 * n * n * n / 3 + 3 * n * n; }

double search(std::size_t count) { return 10 + 4 * std::ceil(std::log2(static_cast<double>(count) + 1)); }

struct Work {
  double usual = 1;
  double most = 1;
};
Work same(double work) { return {work, work}; }

// Elementary functions: instructions of the kernel's own, counted by callgrind over arguments of every size (gcc 12 -O2, x86-64); sines
// take the most for arguments beyond 1e9.
Work work_of(const Program& program, const Instruction& i) {
  switch (i.op) {
    case Op::floor:
    case Op::ceil:
      return same(4);
    case Op::sin:
    case Op::cos:
      return {82, 440};
    case Op::tan:
      return {137, 490};
    case Op::asin:
    case Op::acos:
      return {72, 100};
    case Op::atan:
      return {110, 115};
    case Op::atan2:
      return {128, 140};
    case Op::exp:
      return same(60);
    case Op::log:
      return {70, 90};
    case Op::power:
      return {155, 160};
    case Op::noise:
      return {5600, 5700};
    case Op::table:
      return same(i.index < program.tables.size() ? search(program.tables[i.index].x.size()) + 20 : 40);
    case Op::delayed:
      return same(i.index < program.delays.size() ? search(program.delays[i.index].capacity) + 20 : 40);
    default:
      return {};
  }
}

Cost chunk_cost(const Program& program, const Chunk& chunk) {
  Cost cost;
  for (const Instruction& i : chunk.instructions) {
    auto [usual, most] = work_of(program, i);
    const double n = i.size;
    if (i.op == Op::linear_solve) {
      usual = elimination(n) + n * n;
      // Dependent equations: orthogonalised rows as well, twice.
      most = i.warm > 0 ? usual + 8 * n * n * n : usual;
    } else if (i.op == Op::newton_solve) {
      const Cost residual =
          i.residual < program.residuals.size() ? chunk_cost(program, program.residuals[i.residual]) : Cost{};
      usual = 3 * residual.usual + 2 * elimination(n);
      most = (1 + newton_iterations * (1 + newton_halvings)) * residual.most + newton_iterations * elimination(n);
      cost.newton_blocks += chunk.turns;
      cost.largest_newton = std::max(cost.largest_newton, i.size);
    } else if (i.op == Op::newton_tangent) {
      const bool is_known = program.tangents && i.residual < program.tangents->residuals.size();
      const Cost residual = is_known ? chunk_cost(program, program.tangents->residuals[i.residual]) : Cost{};
      usual = residual.usual + elimination(n);
      most = residual.most + elimination(n);
    }
    cost.usual += usual * chunk.turns;
    cost.most += most * chunk.turns;
  }
  return cost;
}

}  // namespace

Cost cost_of(const Program& program, const Function& function) {
  Cost sum;
  for (const Chunk& chunk : function.chunks) {
    const Cost part = chunk_cost(program, chunk);
    sum.usual += part.usual;
    sum.most += part.most;
    sum.newton_blocks += part.newton_blocks;
    sum.largest_newton = std::max(sum.largest_newton, part.largest_newton);
  }
  return sum;
}

}  // namespace ir
