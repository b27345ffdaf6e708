#include "compiler/ir/cost.h"

#include <algorithm>
#include <cmath>

namespace ir {
namespace {

// Gauss with partial pivoting, and the two substitutions.
double elimination(double n) { return 2 * n * n * n / 3 + 3 * n * n; }

double search(std::size_t count) { return 10 + 4 * std::ceil(std::log2(static_cast<double>(count) + 1)); }

double operations(const Program& program, const Instruction& i) {
  switch (i.op) {
    case Op::floor:
    case Op::ceil:
      return 4;
    case Op::sin:
    case Op::cos:
      return 45;
    case Op::tan:
      return 60;
    case Op::asin:
    case Op::acos:
      return 60;
    case Op::atan:
      return 45;
    case Op::atan2:
      return 60;
    case Op::exp:
      return 35;
    case Op::log:
      return 45;
    case Op::power:
      return 120;
    case Op::noise:
      return 900;
    case Op::table:
      return i.index < program.tables.size() ? search(program.tables[i.index].x.size()) + 20 : 40;
    case Op::delayed:
      return i.index < program.delays.size() ? search(program.delays[i.index].capacity) + 20 : 40;
    default:
      return 1;
  }
}

Cost chunk_cost(const Program& program, const Chunk& chunk) {
  Cost cost;
  for (const Instruction& i : chunk.instructions) {
    double usual = operations(program, i), most = usual;
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
