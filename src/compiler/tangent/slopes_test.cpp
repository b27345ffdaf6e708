// The Jacobian behind `balance` is the tangent's, its values are those of `balance` to the last bit, and it is left out
// where it should be.
#include "compiler/tangent/slopes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "compiler/tangent/tangent.h"
#include "compiler/tangent/testing/interpreter.h"

namespace tangent {
namespace {

using ir::Instruction;
using ir::Op;
using tangent_testing::Scene;

ir::Chunk chunk_of(const std::vector<Instruction>& instructions) {
  ir::Chunk chunk;
  chunk.instructions = instructions;
  return chunk;
}

// q' = p / m, p' = -sin(q) - sqrt(p), w' = p q, with H = p^2 - cos(q); m is a parameter, nothing reads w.
ir::Program pendulum() {
  ir::Program program;
  program.state_names = {"q", "w", "p"};
  program.parameters.emplace_back();
  program.parameters[0].name = "m";
  const std::vector<Instruction> motion = {{.op = Op::state},
                                           {.op = Op::state, .index = 2},
                                           {.op = Op::parameter},
                                           {.op = Op::divide, .a = 1, .b = 2},
                                           {.op = Op::sin, .a = 0},
                                           {.op = Op::negate, .a = 4},
                                           {.op = Op::square_root, .a = 1},
                                           {.op = Op::subtract, .a = 5, .b = 6},
                                           {.op = Op::multiply, .a = 1, .b = 0},
                                           {.op = Op::store_derivative, .a = 3},
                                           {.op = Op::store_derivative, .a = 8, .index = 1},
                                           {.op = Op::store_derivative, .a = 7, .index = 2}};
  program.derivative.chunks = {chunk_of(motion)};
  std::vector<Instruction> both = motion;
  const std::vector<Instruction> energy = {{.op = Op::constant},
                                           {.op = Op::constant, .number = 2},
                                           {.op = Op::multiply, .a = 13, .b = 1},
                                           {.op = Op::multiply, .a = 1, .b = 1},
                                           {.op = Op::cos, .a = 0},
                                           {.op = Op::subtract, .a = 15, .b = 16},
                                           {.op = Op::store_derivative, .a = 4, .index = 3},
                                           {.op = Op::store_derivative, .a = 12, .index = 4},
                                           {.op = Op::store_derivative, .a = 14, .index = 5},
                                           {.op = Op::store_derivative, .a = 17, .index = 6}};
  both.insert(both.end(), energy.begin(), energy.end());
  program.balance.chunks = {chunk_of(both)};
  program.has_balance = true;
  return program;
}

std::size_t count_of(const ir::Function& function, Op op) {
  std::size_t count = 0;
  for (const Instruction& i : function.chunks[0].instructions) count += i.op == op;
  return count;
}

TEST(Slopes, AreTheJacobianBehindTheBalance) {
  ir::Program program = pendulum();
  add_slopes(program);
  EXPECT_EQ(program.core, (std::vector<std::uint8_t>{0, 2}));
  for (const double q : {-2.0, 0.0, 0.7}) {
    for (const double p : {0.25, 3.0}) {
      Scene<double> scene;
      scene.x = {q, 5, p};
      scene.parameters = {2};
      scene.result.assign(7, NAN);
      ASSERT_TRUE(carry_out(program, program.balance, scene));
      const std::vector<double> values = scene.result;
      scene.result.assign(11, NAN);
      ASSERT_TRUE(carry_out(program, program.slopes, scene));
      for (std::size_t k = 0; k < values.size(); ++k) EXPECT_EQ(scene.result[k], values[k]) << k;
      const std::vector<double> wanted = {0, 1 / 2.0, -std::cos(q), -0.5 / std::sqrt(p)};
      for (std::size_t k = 0; k < wanted.size(); ++k) EXPECT_DOUBLE_EQ(scene.result[7 + k], wanted[k]) << k;
    }
  }
  // Sine, cosine and root are computed once; that the direction stands still is no question.
  EXPECT_EQ(count_of(program.slopes, Op::sin), 1u);
  EXPECT_EQ(count_of(program.slopes, Op::cos), 1u);
  EXPECT_EQ(count_of(program.slopes, Op::square_root), 1u);
  EXPECT_EQ(count_of(program.slopes, Op::select), 0u);
  EXPECT_EQ(count_of(program.slopes, Op::direction), 0u);
}

TEST(Slopes, AreLeftOut) {
  ir::Program without = pendulum();
  without.has_balance = false;
  add_slopes(without);
  EXPECT_TRUE(without.core.empty());

  ir::Program in_pieces = pendulum();
  in_pieces.derivative.chunks.push_back(chunk_of({}));
  add_slopes(in_pieces);
  EXPECT_TRUE(in_pieces.core.empty());

  ir::Program wide = pendulum();  // the energy reads more than there is room for
  std::vector<Instruction>& instructions = wide.balance.chunks[0].instructions;
  for (std::uint32_t k = 0; k < TACTUS_CORE; ++k) {
    wide.state_names.push_back("x" + std::to_string(k));
    instructions.push_back({.op = Op::state, .index = 3 + k});
  }
  add_slopes(wide);
  EXPECT_TRUE(wide.core.empty());
}

}  // namespace
}  // namespace tangent
