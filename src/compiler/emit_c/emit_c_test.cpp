#include "compiler/emit_c/emit_c.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

namespace emit_c {
namespace {

using ir::Op;

ir::Program one_state() {
  ir::Program program;
  program.name = "m";
  program.state_names = {"x"};
  return program;
}

TEST(EmitC, NumbersReadBackAsTheSameBits) {
  for (double value :
       {0.0, 1.0, -2.5, 0.1, 1e22, 1e23, 1e-7, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1.0 / 3}) {
    std::string text = number(value);
    if (text.front() == '(') text = text.substr(1);
    EXPECT_EQ(std::strtod(text.c_str(), nullptr), value) << text;
    EXPECT_NE(text.find_first_of(".e"), std::string::npos) << text << " would be an integer in C";
  }
  EXPECT_EQ(number(-0.0), "(-0.0)");
  EXPECT_EQ(number(std::numeric_limits<double>::infinity()), "(1.0 / 0.0)");
  EXPECT_EQ(number(-std::numeric_limits<double>::infinity()), "(-1.0 / 0.0)");
}

TEST(EmitC, StringsAreEscaped) {
  EXPECT_EQ(string_literal("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(string_literal("?\?="), R"("\?\?=")");
  EXPECT_EQ(string_literal("\xc3\xa9\n"), R"("\303\251\012")");
}

TEST(EmitC, OneStatementForEachLiveInstruction) {
  ir::Program program = one_state();
  ir::Chunk chunk;
  chunk.instructions = {{.op = Op::state},
                        {.op = Op::constant, .number = 2},
                        {.op = Op::multiply, .a = 0, .b = 1},
                        {.op = Op::add, .a = 0, .b = 0},  // dead
                        {.op = Op::sin, .a = 2},
                        {.op = Op::cos, .a = 2},
                        {.op = Op::subtract, .a = 4, .b = 5},
                        {.op = Op::store_derivative, .a = 6}};
  program.derivative.chunks = {chunk};
  const std::string text = emit_model(program, "p");
  EXPECT_NE(
      text.find(
          R"(static int p_derivative(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* dx) {
  (void)model;
  (void)t;
  (void)instance;
  const double v0 = x[0];
  const double v1 = 2.0;
  const double v2 = v0 * v1;
  double v4, v5;
  tk_sincos(v2, &v4, &v5);
  const double v6 = v4 - v5;
  dx[0] = v6;
  return TACTUS_OK;
}
)"),
      std::string::npos)
      << text;
}

TEST(EmitC, ChunksAreFunctionsAndOnlyThoseThatCanFailAreChecked) {
  ir::Program program = one_state();
  program.work_count = 3;
  program.blocks.push_back({"2 a = 1", "a", 1, 1, 0xffffffffu});
  ir::Chunk first;
  first.instructions = {{.op = Op::constant, .number = 2},
                        {.op = Op::constant, .number = 1},
                        {.op = Op::linear_solve, .index = 1, .size = 1, .first = 0, .count = 2},
                        {.op = Op::solution, .a = 2},
                        {.op = Op::store_work, .a = 3}};
  first.operands = {0, 1};
  ir::Chunk second;
  second.instructions = {{.op = Op::load_work}, {.op = Op::store_derivative, .a = 0}};
  program.derivative.chunks = {first, second};
  const std::string text = emit_model(program, "p");
  EXPECT_NE(text.find("  status = p_derivative_0(instance, t, x, dx);\n  if (status != TACTUS_OK) return status;\n"
                      "  status = p_derivative_1(instance, t, x, dx);\n  return status;\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  status = tk_lu_solve(1, work + 1, work + 2);\n"), std::string::npos) << text;
  EXPECT_NE(text.find("    instance->failed_block = 0;\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace emit_c
