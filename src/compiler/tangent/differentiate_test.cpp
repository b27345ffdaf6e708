// Every rule against complex steps and central differences; what is known to be zero; what a function leaves alone.
#include "compiler/tangent/differentiate.h"

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

// Two states and whatever `instructions` make of them.
ir::Program program_of(const std::vector<Instruction>& instructions) {
  ir::Program program;
  program.state_names = {"x", "y"};
  ir::Chunk chunk;
  chunk.instructions = instructions;
  program.derivative.chunks = {chunk};
  return program;
}

ir::Program unary(Op op) {
  return program_of({{.op = Op::state}, {.op = op, .a = 0}, {.op = Op::store_derivative, .a = 1}});
}
ir::Program binary(Op op) {
  return program_of({{.op = Op::state},
                     {.op = Op::state, .index = 1},
                     {.op = op, .a = 0, .b = 1},
                     {.op = Op::store_derivative, .a = 2}});
}

std::vector<double> tangent_at(ir::Program program, const Scene<double>& scene, const std::vector<double>& direction) {
  add(program, all);
  Scene<double> at = scene;
  at.direction = direction;
  at.work.assign(program.work_count + program.tangent_work_count, NAN);
  at.result.assign(program.state_names.size(), NAN);
  EXPECT_TRUE(carry_out(program, program.tangents->derivative, at));
  return at.result;
}

void expect_rule(const ir::Program& program, const Scene<double>& scene, const std::vector<double>& direction) {
  const std::vector<double> tangent = tangent_at(program, scene, direction);
  bool ok = true;
  const auto complex = tangent_testing::complex_step(program, TACTUS_OF_DERIVATIVE, scene, direction, ok);
  ASSERT_TRUE(ok);
  const double h = 1e-5;
  const auto after = tangent_testing::moved(program, TACTUS_OF_DERIVATIVE, scene, direction, h, ok);
  const auto before = tangent_testing::moved(program, TACTUS_OF_DERIVATIVE, scene, direction, -h, ok);
  for (std::size_t k = 0; k < tangent.size(); ++k) {
    const double scale = 1 + std::abs(tangent[k]);
    EXPECT_NEAR(tangent[k], complex[k], 1e-13 * scale) << "x = " << scene.x[0] << ", y = " << scene.x[1];
    // Third derivatives below 100, rounding 1e-16 / h.
    EXPECT_NEAR(tangent[k], (after[k] - before[k]) / (2 * h), 2e-8 * scale)
        << "x = " << scene.x[0] << ", y = " << scene.x[1];
  }
}

void expect_rule(const ir::Program& program, double x, double y, double dx = 0.7, double dy = -1.3) {
  Scene<double> scene = tangent_testing::scene_of(program);
  scene.x = scene.states = {x, y};
  expect_rule(program, scene, {0, dx, dy});
}

TEST(Rules, OfOneOperand) {
  for (Op op : {Op::negate, Op::absolute, Op::floor, Op::ceil, Op::sin, Op::cos, Op::tan, Op::asin, Op::acos, Op::atan,
                Op::exp}) {
    SCOPED_TRACE(ir::name(op));
    for (double x : {-0.9, -0.4, 0.3, 0.75}) expect_rule(unary(op), x, 0);
  }
  for (Op op : {Op::square_root, Op::log}) {
    SCOPED_TRACE(ir::name(op));
    for (double x : {0.2, 1.0, 7.0}) expect_rule(unary(op), x, 0);
  }
}

TEST(Rules, OfTwoOperands) {
  for (Op op : {Op::add, Op::subtract, Op::multiply, Op::divide, Op::atan2}) {
    SCOPED_TRACE(ir::name(op));
    for (double x : {-2.0, 0.4, 3.0}) {
      for (double y : {-1.5, 0.6}) expect_rule(binary(op), x, y);
    }
  }
  for (double x : {0.3, 1.0, 2.5}) {
    for (double y : {-1.5, 0.0, 2.0}) expect_rule(binary(Op::power), x, y);
  }
  // A value with itself.
  expect_rule(
      program_of({{.op = Op::state}, {.op = Op::multiply, .a = 0, .b = 0}, {.op = Op::store_derivative, .a = 1}}), -1.7,
      0);
}

// x^n with n known, also at 0 and below it.
TEST(Rules, OfConstantPowers) {
  for (double n : {-2.0, -1.0, 0.5, 1.0, 2.0, 3.0, 4.0, 2.5}) {
    const ir::Program program = program_of({{.op = Op::state},
                                            {.op = Op::constant, .number = n},
                                            {.op = Op::power, .a = 0, .b = 1},
                                            {.op = Op::store_derivative, .a = 2}});
    SCOPED_TRACE(n);
    for (double x : {0.5, 2.0}) expect_rule(program, x, 0);
    if (n == std::floor(n)) expect_rule(program, -1.5, 0);
    if (n >= 1) {
      Scene<double> scene = tangent_testing::scene_of(program);
      EXPECT_EQ(tangent_at(program, scene, {0, 2, 0})[0], n == 1 ? 2 : 0);
    }
  }
}

// x^y where y does not move: no logarithm of what has none.
TEST(Rules, OfPowersWithAnExponentAtRest) {
  const ir::Program program = binary(Op::power);
  Scene<double> scene = tangent_testing::scene_of(program);
  for (auto [x, y, slope] : {std::array{-2.0, 3.0, 12.0}, {0.0, 2.0, 0.0}, {0.0, 1.0, 1.0}, {0.0, 0.0, 0.0}}) {
    scene.x = {x, y};
    EXPECT_EQ(tangent_at(program, scene, {0, 1, 0})[0], slope) << x << "^" << y;
  }
  scene.x = {0, 2};
  EXPECT_EQ(tangent_at(program, scene, {0, 0, 1})[0], 0);
}

TEST(Rules, OfKinksAreThoseOfTheSideTaken) {
  Scene<double> scene = tangent_testing::scene_of(unary(Op::absolute));
  scene.x = {0, 0};
  EXPECT_EQ(tangent_at(unary(Op::absolute), scene, {0, 1, 0})[0], 1);
  // x < y ? x * y : 3
  const ir::Program chosen = program_of({{.op = Op::state},
                                         {.op = Op::state, .index = 1},
                                         {.op = Op::less, .a = 0, .b = 1},
                                         {.op = Op::multiply, .a = 0, .b = 1},
                                         {.op = Op::constant, .number = 3},
                                         {.op = Op::select, .a = 2, .b = 3, .c = 4},
                                         {.op = Op::store_derivative, .a = 5}});
  scene.x = {2, 5};
  EXPECT_EQ(tangent_at(chosen, scene, {0, 1, 1})[0], 7);
  scene.x = {5, 2};
  EXPECT_EQ(tangent_at(chosen, scene, {0, 1, 1})[0], 0);
}

TEST(Rules, OfTables) {
  ir::Program one = unary(Op::table);
  one.tables.push_back({.method = TACTUS_CUBIC, .x = {-2, 0, 1, 3}, .values = {1, 0, 2, 5}, .slopes = {-1, 0, 2, 1}});
  for (double x : {-1.3, 0.4, 2.2, 5.0}) expect_rule(one, x, 0);
  one.tables[0].method = TACTUS_LINEAR;
  for (double x : {-1.3, 0.4, 2.2, 5.0}) expect_rule(one, x, 0);
  one.tables[0].method = TACTUS_HOLD;
  for (double x : {-1.3, 0.4}) expect_rule(one, x, 0);
  ir::Program two = binary(Op::table);
  two.tables.push_back({.method = TACTUS_LINEAR, .x = {-2, 0, 3}, .y = {0, 2}, .values = {1, 4, 0, 2, -3, 7}});
  for (double x : {-1.3, 2.2}) expect_rule(two, x, 0.7);
}

// input + rate (t - input_time): by each of the three, and by time.
TEST(Rules, OfInputs) {
  ir::Program program = program_of({{.op = Op::input, .index = 1}, {.op = Op::store_derivative, .a = 0}});
  program.input_count = 2;
  Scene<double> scene = tangent_testing::scene_of(program);
  scene.t = 3;
  scene.input_time = 2.5;
  scene.inputs = {0, 5};
  scene.input_rates = {0, 2};
  // t, x, y, inputs, rates
  EXPECT_EQ(tangent_at(program, scene, {1, 0, 0, 0, 0, 0, 0})[0], 2);
  EXPECT_EQ(tangent_at(program, scene, {0, 0, 0, 0, 1, 0, 0})[0], 1);
  EXPECT_EQ(tangent_at(program, scene, {0, 0, 0, 0, 0, 0, 1})[0], 0.5);
  EXPECT_EQ(tangent_at(program, scene, {0, 1, 1, 1, 0, 1, 0})[0], 0);
  expect_rule(program, scene, {0.3, 0, 0, 0.1, 0.2, 0.4, -0.5});
}

TEST(Rules, OfEverythingElseThatMoves) {
  ir::Program program = program_of({{.op = Op::time},
                                    {.op = Op::parameter},
                                    {.op = Op::derived},
                                    {.op = Op::discrete},
                                    {.op = Op::input_rate},
                                    {.op = Op::delayed},
                                    {.op = Op::noise, .a = 0, .number = 3},
                                    {.op = Op::multiply, .a = 0, .b = 1},
                                    {.op = Op::multiply, .a = 7, .b = 2},
                                    {.op = Op::multiply, .a = 8, .b = 3},
                                    {.op = Op::multiply, .a = 9, .b = 4},
                                    {.op = Op::add, .a = 10, .b = 5},
                                    {.op = Op::store_derivative, .a = 11},
                                    {.op = Op::store_derivative, .a = 6, .index = 1}});
  program.parameters = {{.name = "p", .unit = ""}};
  program.derived_count = program.discrete_count = program.input_count = 1;
  Scene<double> scene = tangent_testing::scene_of(program);
  scene.t = 2;
  scene.parameters = {3};
  scene.derived = {5};
  scene.discrete = {7};
  scene.input_rates = {11};
  // t, x, y, input, rate, parameter, derived, discrete
  const double product = 2 * 3 * 5 * 7 * 11;
  EXPECT_EQ(tangent_at(program, scene, {1, 9, 9, 9, 0, 0, 0, 0}), (std::vector{product / 2, 0.0}));
  EXPECT_EQ(tangent_at(program, scene, {0, 9, 9, 9, 1, 0, 0, 0}), (std::vector{product / 11, 0.0}));
  EXPECT_EQ(tangent_at(program, scene, {0, 9, 9, 9, 0, 1, 0, 0}), (std::vector{product / 3, 0.0}));
  EXPECT_EQ(tangent_at(program, scene, {0, 9, 9, 9, 0, 0, 1, 0}), (std::vector{product / 5, 0.0}));
  EXPECT_EQ(tangent_at(program, scene, {0, 9, 9, 9, 0, 0, 0, 1}), (std::vector{product / 7, 0.0}));
}

// (x 1; 1 y) z = (y; x), 2 x 2
TEST(Rules, OfLinearBlocks) {
  ir::Program program = program_of({{.op = Op::state},
                                    {.op = Op::state, .index = 1},
                                    {.op = Op::constant, .number = 1},
                                    {.op = Op::linear_solve, .size = 2, .first = 0, .count = 6},
                                    {.op = Op::solution, .a = 3},
                                    {.op = Op::solution, .a = 3, .index = 1},
                                    {.op = Op::store_derivative, .a = 4},
                                    {.op = Op::store_derivative, .a = 5, .index = 1}});
  program.derivative.chunks[0].operands = {0, 2, 2, 1, 1, 0};
  program.work_count = 6;
  expect_rule(program, 3, 2);
  expect_rule(program, -1.5, 0.25);
}

// z + z^3 = x y
TEST(Rules, OfNewtonBlocks) {
  ir::Program program = program_of({{.op = Op::state},
                                    {.op = Op::state, .index = 1},
                                    {.op = Op::multiply, .a = 0, .b = 1},
                                    {.op = Op::newton_solve, .size = 1, .first = 0, .count = 1},
                                    {.op = Op::solution, .a = 3},
                                    {.op = Op::store_derivative, .a = 4}});
  program.derivative.chunks[0].operands = {2};
  program.work_count = 1 + 1 + 3;
  program.warm_count = 1;
  ir::Chunk residual;
  residual.instructions = {{.op = Op::unknown},
                           {.op = Op::multiply, .a = 0, .b = 0},
                           {.op = Op::multiply, .a = 1, .b = 0},
                           {.op = Op::add, .a = 0, .b = 2},
                           {.op = Op::captured},
                           {.op = Op::subtract, .a = 3, .b = 4},
                           {.op = Op::store_residual, .a = 5},
                           {.op = Op::constant, .number = 3},
                           {.op = Op::multiply, .a = 7, .b = 1},
                           {.op = Op::constant, .number = 1},
                           {.op = Op::add, .a = 9, .b = 8},
                           {.op = Op::store_jacobian, .a = 10}};
  program.residuals = {residual};
  expect_rule(program, 3, 2);
  expect_rule(program, -1.5, 0.25);
}

// What cannot move costs nothing: no instruction for the tangent of what constants make, and one store.
TEST(Zeros, AreNotComputed) {
  ir::Program program = program_of({{.op = Op::constant, .number = 2},
                                    {.op = Op::exp, .a = 0},
                                    {.op = Op::state},
                                    {.op = Op::floor, .a = 2},
                                    {.op = Op::multiply, .a = 1, .b = 3},
                                    {.op = Op::store_derivative, .a = 4},
                                    {.op = Op::multiply, .a = 1, .b = 2},
                                    {.op = Op::store_derivative, .a = 6, .index = 1}});
  add(program, only(TACTUS_OF_DERIVATIVE));
  std::vector<Op> ops;
  for (const Instruction& i : program.tangents->derivative.chunks.at(0).instructions) ops.push_back(i.op);
  // exp(2) dx, and 0
  EXPECT_EQ(ops, (std::vector{Op::constant, Op::exp, Op::direction, Op::constant, Op::store_derivative, Op::multiply,
                              Op::store_derivative}));
}

// A value that crosses chunks and that no tangent needs is neither stored nor computed.
TEST(Zeros, DeadStoresBetweenChunksVanish) {
  ir::Program program = program_of({{.op = Op::state},
                                    {.op = Op::sin, .a = 0},
                                    {.op = Op::store_work, .a = 1},
                                    {.op = Op::store_derivative, .a = 1}});
  ir::Chunk second;
  second.instructions = {{.op = Op::load_work},
                         {.op = Op::constant, .number = 3},
                         {.op = Op::multiply, .a = 0, .b = 1},
                         {.op = Op::store_derivative, .a = 2, .index = 1}};
  program.derivative.chunks.push_back(second);
  program.work_count = 1;
  add(program, only(TACTUS_OF_DERIVATIVE));
  for (const ir::Chunk& chunk : program.tangents->derivative.chunks) {
    for (const Instruction& i : chunk.instructions) {
      EXPECT_NE(i.op, Op::sin);
      const bool is_crossing = i.op == Op::store_work || i.op == Op::load_work;
      EXPECT_TRUE(!is_crossing || i.index == 1);  // the tangent's place
    }
  }
  expect_rule(program, 0.4, 0);
}

TEST(Functions, ThatWereNotAskedForHaveNoChunks) {
  ir::Program program = unary(Op::sin);
  add(program, only(TACTUS_OF_OUTPUTS));
  EXPECT_TRUE(program.tangents->derivative.chunks.empty());
  EXPECT_FALSE(program.tangents->outputs.chunks.empty());
  EXPECT_TRUE(program.tangents->colours.empty());
  EXPECT_FALSE(program.tangents->fire);
}

// d0 := x d1; d1 := d0 d0, which reads what was just stored, in the same chunk and in the next one.
TEST(Functions, HandlersReadWhatTheyStored) {
  for (const bool in_two_chunks : {false, true}) {
    ir::Program program;
    program.state_names = {"x"};
    program.discrete_count = 2;
    program.events.push_back({.name = "e", .period = 1});
    ir::Chunk first;
    first.instructions = {{.op = Op::state},
                          {.op = Op::discrete, .index = 1},
                          {.op = Op::multiply, .a = 0, .b = 1},
                          {.op = Op::store_discrete, .a = 2}};
    ir::Chunk second;
    second.instructions = {
        {.op = Op::discrete}, {.op = Op::multiply, .a = 0, .b = 0}, {.op = Op::store_discrete, .a = 1, .index = 1}};
    program.handlers.resize(1);
    program.handlers[0].chunks = {first, second};
    if (!in_two_chunks) {
      for (Instruction i : second.instructions) {
        if (i.a != ir::no_value) i.a += 4;
        if (i.b != ir::no_value) i.b += 4;
        first.instructions.push_back(i);
      }
      program.handlers[0].chunks = {first};
    }
    add(program, all);
    Scene<double> scene = tangent_testing::scene_of(program);
    scene.x = scene.states = {3};
    scene.discrete = {100, 5};
    scene.direction = {0, 0.5, 100, 2};  // t, x, d0, d1
    scene.result.assign(2, NAN);
    ASSERT_TRUE(carry_out(program, program.tangents->handlers[0], scene));
    const double d0 = 15, moved = 3 * 2 + 0.5 * 5;
    EXPECT_EQ(scene.result, (std::vector{moved, 2 * d0 * moved}));
    EXPECT_EQ(scene.discrete, (std::vector{100.0, 5.0}));
  }
}

// Behind the constraints stand entries of their Jacobian: these have no tangent.
TEST(Functions, OfConstraintsLeaveTheirJacobianOut) {
  ir::Program program = program_of({});
  program.constrain.chunks = {{{{.op = Op::state},
                                {.op = Op::multiply, .a = 0, .b = 0},
                                {.op = Op::store_derivative, .a = 1},
                                {.op = Op::constant, .number = 2},
                                {.op = Op::multiply, .a = 3, .b = 0},
                                {.op = Op::store_derivative, .a = 4, .index = 1}},
                               {}}};
  program.constraints = {{.text = "x^2", .line = 1, .order = 0}};
  program.constraint_jacobian = {.start = {0, 1}, .index = {0}};
  add(program, all);
  Scene<double> scene = tangent_testing::scene_of(program);
  scene.x = {3, 0};
  scene.direction = {0, 1, 0};
  scene.result.assign(1, NAN);
  ASSERT_TRUE(carry_out(program, program.tangents->constraints, scene));
  EXPECT_EQ(scene.result[0], 6);
}

}  // namespace
}  // namespace tangent
