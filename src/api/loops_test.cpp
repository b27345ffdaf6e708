// Models with many equations of few forms: loops compute the bits of straight-line code on every backend, tangents too,
// and code does not grow with the number of equations.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/load.h"
#include "compiler/emit_llvm/jit.h"
#include "compiler/emit_llvm/testing/agreement.h"
#include "compiler/ir/uses.h"
#include "compiler/reroll/reroll.h"
#include "compiler/tangent/tangent.h"

namespace {

using backend_testing::Plan;

struct Model {
  std::string name;
  std::string text;
};

// A block for Newton, one for LU and one for Cramer in every cell.
Model blocks(int n) {
  return {"blocks", fmt::format(R"(constant n = {};
module Cell = (
  ports before, x;
  parameter k = 1;
  boundary x(0) = 1;
  system
    x' = w - k * x + p1 / 9;
    y + z / 2 = x;  z - y / 4 = before;
    w + w^3 / 10 = z;
    p1 + p2 * x = 1;  p2 + p3 / 3 = x;  p3 - p4 = 2;  p4 + p5 = before;  p5 - p1 / 5 = y;
)
system
  cell[k in 1..n] = Cell();
  cell[1].before = sin(t);
  for k in 2..n {{ cell[k].before = cell[k - 1].x; }}
)",
                                n)};
}

// Five points of a plate: places that no single step leads to.
Model plate(int n) {
  return {"plate", fmt::format(R"(constant n = {};
boundary for i in 1..n {{ for j in 1..n {{ u[n * i + j - n](0) = sin(i) * j; }} }}
system
  for i in 1..n {{ for j in 1..n {{
    u[n * i + j - n]' = (if i = 1 then 0 else u[n * i + j - 2 * n]) + (if i = n then 1 else u[n * i + j])
      + (if j = 1 then 0 else u[n * i + j - n - 1]) + (if j = n then t else u[n * i + j - n + 1]) - 4 * u[n * i + j - n];
  }} }}
)",
                               n)};
}

// Two values that need each other's neighbour: a loop whose turns hang on the turns before. A sum, and constants that
// differ.
Model recurrence(int n) {
  return {"recurrence", fmt::format(R"(constant n = {};
boundary for k in 1..n {{ x[k](0) = cos(k); }}
system
  y[1] = x[1];  z[1] = 0;
  for k in 2..n {{
    y[k] = z[k - 1] / 2 + sin(x[k]) * cos(x[k]);
    z[k] = y[k - 1] / 3 + y[k]^2 / (1 + y[k]^2);
  }}
  for k in 1..n {{ x[k]' = (z[k] - x[k]) / (1 + sqrt(k)) + E / 1000; }}
  E = sum(k in 1..n: k * x[k]^2);
)",
                                    n)};
}

// Comparisons that are located and held, delays, inputs.
Model switches(int n) {
  return {"switches", fmt::format(R"(constant n = {};
external hand reads u
boundary for k in 1..n {{ x[k](0) = k / n; }}
system
  for k in 1..n {{
    x[k]' = (if x[k] > 0.5 + k / 1000 && t < 3 then -1 else 1) + abs(delay(x[k], 0.1)) * u[1] / 10;
  }}
)",
                                  n)};
}

ir::Program program_of(api::Compiled result) {
  if (!result.program) ADD_FAILURE() << diag::render_text(result.diags, result.sources, false);
  return result.program ? std::move(*result.program) : ir::Program();
}

ir::Program compiled(const Model& model) { return program_of(api::compile_text(model.name + ".tact", model.text, {})); }

// Currents are shared by two cells, ends differ from the rest.
ir::Program rc_chain(double n) {
  return program_of(
      api::compile_files({TACTUS_SOURCE_DIR "/examples/rc_chain.tact"}, {.overrides = {{"n", n}}}, false));
}

TEST(Loops, ComputeTheBitsOfStraightLineCode) {
  std::vector<ir::Program> programs;
  std::vector<Plan> plans;
  for (const ir::Program& program :
       {rc_chain(250), compiled(blocks(60)), compiled(plate(16)), compiled(recurrence(120)), compiled(switches(200))}) {
    EXPECT_GT(program.loop_work_count, 0u) << program.name;
    EXPECT_LT(ir::instruction_count(reroll::with_loops(program)), ir::instruction_count(program)) << program.name;
    for (int solver : {TACTUS_RK4, TACTUS_TSIT5, TACTUS_ROSENBROCK}) {
      Plan plan;
      plan.solver = solver;
      plan.records = 10;
      plan.t_end = 2;
      plan.tangents = solver == TACTUS_RK4;
      ir::Program with_tangents = program;
      if (plan.tangents) tangent::add(with_tangents, tangent::all);
      if (tactus_is_stiff_solver(solver)) tangent::add(with_tangents, tangent::only(TACTUS_OF_DERIVATIVE));
      ir::Program straight = with_tangents;
      straight.loop_work_count = 0;
      const emit_llvm::CompiledModel one(with_tangents, {.optimise = false});
      const emit_llvm::CompiledModel other(straight, {.optimise = false});
      EXPECT_EQ(backend_testing::first_difference(run_table(one.quick(), plan), run_table(other.quick(), plan)), "")
          << program.name << ", solver " << solver;
      programs.push_back(std::move(with_tangents));
      plans.push_back(plan);
    }
  }
  const auto agreement = backend_testing::compare_all_backends(programs, plans);
  EXPECT_EQ(agreement.difference, "");
  EXPECT_EQ(agreement.finite_values, agreement.values);
}

TEST(Loops, CodeFollowsTheNumberOfDifferentEquations) {
  const auto size = [](ir::Program program) {
    tangent::add(program, tangent::only(TACTUS_OF_DERIVATIVE));
    return ir::instruction_count(reroll::with_loops(program));
  };
  EXPECT_EQ(size(rc_chain(1600)), size(rc_chain(3200)));
  EXPECT_EQ(size(compiled(blocks(800))), size(compiled(blocks(1200))));
  EXPECT_EQ(size(compiled(plate(28))), size(compiled(plate(31))));
}

}  // namespace
