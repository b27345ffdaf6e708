#include "compiler/emit_c/emit_c.h"

#include <gtest/gtest.h>

#include <algorithm>
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

TEST(EmitC, FireIsAChoiceOfHandlers) {
  ir::Program program = one_state();
  program.discrete_count = 1;
  program.events.resize(2);
  program.events[0].name = "tick";
  program.events[1].name = "empty";
  program.handlers.resize(2);
  ir::Chunk chunk;
  chunk.instructions = {
      {.op = Op::state}, {.op = Op::discrete}, {.op = Op::add, .a = 0, .b = 1}, {.op = Op::store_discrete, .a = 2}};
  program.handlers[0].chunks = {chunk};
  const std::string text = emit_model(program, "p");
  EXPECT_NE(text.find(R"(/* tick */
static int p_handler_0(const tactus_model* model, tactus_instance* instance) {
  (void)model;
  const double* const x = tactus_data(instance) + 0;
  double* const discrete = tactus_data(instance) + 1;
  const double v0 = x[0];
  const double v1 = discrete[0];
  const double v2 = v0 + v1;
  discrete[0] = v2;
  return TACTUS_OK;
}

static int p_fire(const tactus_model* model, tactus_instance* instance, uint32_t event) {
  switch (event) {
    case 0:
      return p_handler_0(model, instance);
    default:
      return TACTUS_OK;
  }
}
)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("    .fire = p_fire,\n    .watch = 0,\n"), std::string::npos) << text;
}

TEST(EmitC, NewtonInWatchPutsItsWarmStartsBack) {
  ir::Program program = one_state();
  program.watch_count = 1;
  program.warm_count = 3;
  program.work_count = 5;
  program.residuals.resize(1);
  ir::Chunk chunk;
  chunk.instructions = {{.op = Op::state},
                        {.op = Op::newton_solve, .size = 1, .first = 0, .count = 1, .warm = 2},
                        {.op = Op::solution, .a = 1},
                        {.op = Op::store_watched, .a = 2}};
  chunk.operands = {0};
  program.watch.chunks = {chunk};
  const std::string text = emit_model(program, "p");
  const std::size_t kept = text.find("  const double kept_2 = warm[2];\n");
  const std::size_t solved = text.find("  status = tk_newton(1, p_residual_0, work + 0, warm + 2, work + 1);\n");
  const std::size_t restored = text.find("  watched[0] = v2;\n  warm[2] = kept_2;\n  return TACTUS_OK;\n");
  ASSERT_NE(restored, std::string::npos) << text;
  EXPECT_LT(kept, solved);
  EXPECT_LT(solved, restored);
}

TEST(EmitC, TablesDelaysAndNoiseAreCallsOfTheKernel) {
  ir::Program program = one_state();
  program.derived_count = 1;
  program.watch_count = 1;
  program.tables.push_back({.method = TACTUS_CUBIC, .x = {0, 1}, .values = {2, 3}, .slopes = {1, 1}});
  program.tables.push_back({.method = TACTUS_LINEAR, .x = {0, 1}, .y = {0, 0.5}, .values = {1, 2, 3, -4}});
  program.delays.push_back({.source = 0, .duration = 0, .capacity = 16});
  ir::Chunk chunk;
  chunk.instructions = {{.op = Op::state},
                        {.op = Op::delayed},
                        {.op = Op::table, .a = 0, .size = 2},
                        {.op = Op::table, .a = 1, .b = 2, .index = 1, .count = 1},
                        {.op = Op::noise, .a = 3, .number = 42},
                        {.op = Op::store_derivative, .a = 4}};
  program.derivative.chunks = {chunk};
  const std::string text = emit_model(program, "p");
  EXPECT_NE(text.find(R"(extern const tactus_model p_model;

static const double p_table_0_x[] = {
    0.0, 1.0,
};
)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"(static const tactus_table p_tables[] = {
    {TACTUS_CUBIC, 2, 0, p_table_0_x, 0, p_table_0_values, p_table_0_slopes},
    {TACTUS_LINEAR, 2, 2, p_table_1_x, p_table_1_y, p_table_1_values, 0},
};
)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"(  const double v0 = x[0];
  const double v1 = tk_delayed(&p_model, instance, 0, t);
  const double v2 = tk_table(&p_tables[0], 2, v0);
  const double v3 = tk_table_2(&p_tables[1], 0, 1, v1, v2);
  const double v4 = tk_noise(42.0, v3);
  dx[0] = v4;
)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("static const tactus_delay p_delays[] = {\n    {0, 0, 0, 16, 0},\n};\n"), std::string::npos)
      << text;
}

// A table that is printed is read back by a C compiler: 10^5 rows, no line beyond 120 columns.
TEST(EmitC, LargeTablesFillTheirLines) {
  ir::Program program = one_state();
  ir::Table& table = program.tables.emplace_back();
  for (int k = 0; k < 100000; ++k) {
    table.x.push_back(0.001 * k);
    table.values.push_back(1.0 / (3 + k));
  }
  const std::string text = emit_model(program, "p");
  std::size_t longest = 0;
  std::size_t lines = 0;
  for (std::size_t at = text.find("static const double p_table_0_x"), end = 0; at < text.size(); at = end + 1) {
    end = text.find('\n', at);
    if (end == std::string::npos || text.compare(at, 22, "static const tactus_ta") == 0) break;
    longest = std::max(longest, end - at);
    ++lines;
  }
  EXPECT_LE(longest, 120u);
  EXPECT_GT(longest, 100u);
  EXPECT_LT(lines, 50000u);
}

}  // namespace
}  // namespace emit_c
