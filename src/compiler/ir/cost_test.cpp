// Bounds on operations, against counts by hand.
#include "compiler/ir/cost.h"

#include <gtest/gtest.h>

namespace ir {
namespace {

Chunk chunk_of(std::vector<Instruction> instructions) {
  Chunk chunk;
  chunk.instructions = std::move(instructions);
  return chunk;
}

TEST(Cost, EveryInstructionCountsOnceATurn) {
  Program program;
  Function function;
  function.chunks = {
      chunk_of({{.op = Op::state}, {.op = Op::multiply, .a = 0, .b = 0}, {.op = Op::store_derivative, .a = 1}})};
  EXPECT_EQ(cost_of(program, function).usual, 3);
  EXPECT_EQ(cost_of(program, function).most, 3);
  function.chunks[0].turns = 9000;
  EXPECT_EQ(cost_of(program, function).most, 27000);
}

// Of two unknowns: 2/3 * 8 multiplications and additions, 3 * 4 for the substitutions, 4 to fill the matrix.
TEST(Cost, ALinearBlockCostsItsElimination) {
  Program program;
  Function function;
  function.chunks = {chunk_of({{.op = Op::linear_solve, .size = 2}})};
  EXPECT_NEAR(cost_of(program, function).most, 16.0 / 3 + 12 + 4, 1e-12);
}

TEST(Cost, ANewtonBlockIsBoundedByItsIterationsAndHalvings) {
  Program program;
  program.residuals = {chunk_of({{.op = Op::unknown}, {.op = Op::store_residual, .a = 0}})};
  Function function;
  function.chunks = {chunk_of({{.op = Op::newton_solve, .size = 1}})};
  const Cost cost = cost_of(program, function);
  const double elimination = 2.0 / 3 + 3;
  EXPECT_NEAR(cost.usual, 3 * 2 + 2 * elimination, 1e-12);
  EXPECT_NEAR(cost.most, (1 + 50 * 31) * 2 + 50 * elimination, 1e-9);
  EXPECT_EQ(cost.newton_blocks, 1u);
  EXPECT_EQ(cost.largest_newton, 1u);
}

}  // namespace
}  // namespace ir
