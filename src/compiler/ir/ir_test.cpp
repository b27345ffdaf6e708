#include "compiler/ir/ir.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "compiler/ir/uses.h"

namespace ir {
namespace {

TEST(Ir, EveryOperationHasItsOwnName) {
  std::set<std::string> names;
  for (int op = 0; op <= static_cast<int>(Op::store_jacobian); ++op) names.insert(name(static_cast<Op>(op)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Op::store_jacobian) + 1);
}

TEST(Ir, ComparisonsAndLogicAreTruthValues) {
  EXPECT_TRUE(is_truth(Op::less));
  EXPECT_TRUE(is_truth(Op::logical_not));
  EXPECT_FALSE(is_truth(Op::select));
  EXPECT_FALSE(is_truth(Op::add));
}

TEST(Ir, DumpHasOneInstructionALine) {
  Program program;
  program.name = "m";
  program.state_names = {"x"};
  program.blocks.push_back({"2 a = x", "a", 3, 1, no_value});
  Chunk chunk;
  chunk.instructions = {{.op = Op::state},
                        {.op = Op::constant, .number = 2},
                        {.op = Op::linear_solve, .size = 1, .first = 0, .count = 2},
                        {.op = Op::solution, .a = 2},
                        {.op = Op::less, .a = 3, .b = 0},
                        {.op = Op::select, .a = 4, .b = 3, .c = 1},
                        {.op = Op::store_derivative, .a = 5}};
  chunk.operands = {1, 0};
  program.derivative.chunks = {chunk};
  EXPECT_EQ(dump(program), R"(model m: 1 states, 0 inputs, 0 parameters, 0 derived, 0 outputs, 0 warm, 0 work
derivative chunk 0
  v0 = state[0]
  v1 = constant 2
  v2 = linear_solve size 1 block 0 work 0 (v1; v0)
  v3 = solution[0] v2
  v4 = less v3 v0
  v5 = select v4 v3 v1
  store_derivative[0] v5
block 0: line 3: solve {2 a = x} for {a}
)");
}

TEST(Uses, PairsSinesAndDropsTheDead) {
  Chunk chunk;
  chunk.instructions = {{.op = Op::state},       {.op = Op::sin, .a = 0},         {.op = Op::exp, .a = 0},  // dead
                        {.op = Op::cos, .a = 0}, {.op = Op::add, .a = 1, .b = 3}, {.op = Op::store_output, .a = 4}};
  const Uses uses = find_uses(chunk);
  EXPECT_EQ(uses.partner(1), 3u);
  EXPECT_EQ(uses.partner(3), 1u);
  EXPECT_EQ(uses.partner(2), no_value);
  EXPECT_FALSE(uses.live[2]);
  EXPECT_TRUE(uses.live[4]);
}

}  // namespace
}  // namespace ir
