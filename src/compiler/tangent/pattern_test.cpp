#include "compiler/tangent/pattern.h"

#include <gtest/gtest.h>

#include <vector>

#include "compiler/tangent/tangent.h"

namespace tangent {
namespace {

using ir::Op;

// A chain of cells: x_k' = x_(k-1) - 2 x_k + x_(k+1).
ir::Program chain(std::uint32_t cells) {
  ir::Program program;
  program.state_names.assign(cells, "x");
  ir::Chunk chunk;
  const auto emit = [&](ir::Instruction i) {
    chunk.instructions.push_back(i);
    return static_cast<ir::Value>(chunk.instructions.size() - 1);
  };
  for (std::uint32_t k = 0; k < cells; ++k) {
    const ir::Value x = emit({.op = Op::state, .index = k});
    ir::Value sum = emit({.op = Op::multiply, .a = emit({.op = Op::constant, .number = -2}), .b = x});
    if (k > 0) sum = emit({.op = Op::add, .a = sum, .b = emit({.op = Op::state, .index = k - 1})});
    if (k + 1 < cells) sum = emit({.op = Op::add, .a = sum, .b = emit({.op = Op::state, .index = k + 1})});
    emit({.op = Op::store_derivative, .a = sum, .index = k});
    if (chunk.instructions.size() > 500) program.derivative.chunks.push_back(std::exchange(chunk, {}));
  }
  program.derivative.chunks.push_back(chunk);
  return program;
}

TEST(Pattern, OfAChainIsThreeDiagonalsInThreeColours) {
  const ir::Tangents tangents = make(chain(200), only(TACTUS_OF_DERIVATIVE));
  EXPECT_EQ(tangents.colour_count, 3u);
  for (std::uint32_t column = 0; column < 200; ++column) {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = column == 0 ? 0 : column - 1; row <= std::min(column + 1, 199u); ++row)
      rows.push_back(row);
    EXPECT_EQ(std::vector(tangents.jacobian.index.begin() + tangents.jacobian.start[column],
                          tangents.jacobian.index.begin() + tangents.jacobian.start[column + 1]),
              rows);
    EXPECT_EQ(tangents.colours[column], column % 3);
  }
}

// x' = floor(y) + select(y < 0, x, 1), y' = t: what only steps or chooses is no entry.
TEST(Pattern, HoldsNothingThatCannotMove) {
  ir::Program program;
  program.state_names = {"x", "y"};
  program.derivative.chunks = {{{{.op = Op::state},
                                 {.op = Op::state, .index = 1},
                                 {.op = Op::floor, .a = 1},
                                 {.op = Op::constant, .number = 1},
                                 {.op = Op::less, .a = 1, .b = 3},
                                 {.op = Op::select, .a = 4, .b = 0, .c = 3},
                                 {.op = Op::add, .a = 2, .b = 5},
                                 {.op = Op::store_derivative, .a = 6},
                                 {.op = Op::time},
                                 {.op = Op::store_derivative, .a = 8, .index = 1}},
                                {}}};
  const ir::Tangents tangents = make(program, only(TACTUS_OF_DERIVATIVE));
  EXPECT_EQ(tangents.jacobian.start, (std::vector<std::uint32_t>{0, 1, 1}));
  EXPECT_EQ(tangents.jacobian.index, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(tangents.colour_count, 1u);
}

TEST(Pattern, GoesThroughWorkAndBlocks) {
  ir::Program program;
  program.state_names = {"x", "y", "z"};
  program.work_count = 4;
  // z' = solution of (2 1; 1 2) s = (x, y); through work into the next chunk. x' = 3 of the same solution. y' = z.
  ir::Chunk first;
  first.instructions = {{.op = Op::state},
                        {.op = Op::state, .index = 1},
                        {.op = Op::constant, .number = 2},
                        {.op = Op::constant, .number = 1},
                        {.op = Op::linear_solve, .index = 1, .size = 2, .first = 0, .count = 6},
                        {.op = Op::solution, .a = 4},
                        {.op = Op::store_work, .a = 5},
                        {.op = Op::store_derivative, .a = 5, .index = 2}};
  first.operands = {2, 3, 3, 2, 0, 1};
  ir::Chunk second;
  second.instructions = {{.op = Op::load_work},
                         {.op = Op::store_derivative, .a = 0},
                         {.op = Op::state, .index = 2},
                         {.op = Op::store_derivative, .a = 2, .index = 1}};
  program.derivative.chunks = {first, second};
  program.work_count = 7;
  const ir::Tangents tangents = make(program, only(TACTUS_OF_DERIVATIVE));
  EXPECT_EQ(tangents.jacobian.start, (std::vector<std::uint32_t>{0, 2, 4, 5}));
  EXPECT_EQ(tangents.jacobian.index, (std::vector<std::uint32_t>{0, 2, 0, 2, 1}));
  EXPECT_EQ(tangents.colours, (std::vector<std::uint32_t>{0, 1, 0}));
}

// No two columns of one colour share a row, whatever the pattern; more than 64 colours too.
TEST(Colours, ShareNoRow) {
  std::uint32_t dice = 12345;
  const auto below = [&](std::uint32_t n) { return (dice = dice * 1664525u + 1013904223u) / 65536 % n; };
  for (std::uint32_t density : {2u, 10u, 60u, 150u}) {
    const std::uint32_t n = 150;
    ir::Pattern pattern;
    pattern.start.push_back(0);
    for (std::uint32_t column = 0; column < n; ++column) {
      for (std::uint32_t row = 0; row < n; ++row) {
        if (below(n) < density) pattern.index.push_back(row);
      }
      pattern.start.push_back(static_cast<std::uint32_t>(pattern.index.size()));
    }
    const Colouring colouring = colour_columns(pattern, n);
    std::vector<std::vector<bool>> taken(n, std::vector<bool>(colouring.count, false));
    for (std::uint32_t column = 0; column < n; ++column) {
      for (std::uint32_t k = pattern.start[column]; k < pattern.start[column + 1]; ++k) {
        EXPECT_FALSE(taken[pattern.index[k]][colouring.colours[column]]);
        taken[pattern.index[k]][colouring.colours[column]] = true;
      }
    }
    EXPECT_LE(colouring.count, n);
  }
}

}  // namespace
}  // namespace tangent
