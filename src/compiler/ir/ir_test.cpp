#include "compiler/ir/ir.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "compiler/ir/layout.h"
#include "compiler/ir/uses.h"

namespace ir {
namespace {

TEST(Ir, EveryOperationHasItsOwnName) {
  std::set<std::string> names;
  for (int op = 0; op <= static_cast<int>(Op::need_determinant); ++op) names.insert(name(static_cast<Op>(op)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Op::need_determinant) + 1);
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

TEST(Ir, DumpShowsEventsDelaysAndTables) {
  Program program;
  program.name = "m";
  program.discrete_count = 1;
  program.watch_count = 2;
  program.events.push_back({.name = "clock", .period = 0.5, .from = 1});
  program.events.push_back({.name = "kicks", .kind = TACTUS_AT, .times = {5, 7}});
  program.events.push_back({.name = "low", .kind = TACTUS_WHEN, .watched = 1});
  program.delays.push_back({.source = 0, .duration = 2, .capacity = 64});
  program.delays.push_back({.source = 1, .duration = 2, .capacity = 64, .is_rate = true});
  program.tables.push_back({.method = TACTUS_CUBIC, .x = {0, 1}, .values = {2, 3}, .slopes = {1, 1}});
  program.tables.push_back({.method = TACTUS_HOLD, .x = {0, 1}, .y = {0, 1, 2}, .values = {1, 2, 3, 4, 5, 6}});
  Chunk handler;
  handler.instructions = {{.op = Op::discrete},
                          {.op = Op::delayed},
                          {.op = Op::table, .a = 0, .size = 1},
                          {.op = Op::table, .a = 0, .b = 1, .index = 1},
                          {.op = Op::noise, .a = 3, .number = 42},
                          {.op = Op::store_discrete, .a = 4}};
  program.handlers.resize(2);
  program.handlers[1].chunks = {handler};
  Chunk watch;
  watch.instructions = {{.op = Op::time}, {.op = Op::store_watched, .a = 0, .index = 1}};
  program.watch.chunks = {watch};
  EXPECT_EQ(dump(program), R"(model m: 0 states, 0 inputs, 0 parameters, 0 derived, 0 outputs, 0 warm, 0 work
1 discrete
2 watched
event 0 clock: every 0.5 from 1
event 1 kicks: at 5, 7
event 2 low: when watched 1
delay 0: watched 0, duration derived 2, 64 samples
delay 1: watched 1, duration derived 2, 64 samples, a rate
table 0: cubic 2
table 1: hold 2 x 3
watch chunk 0
  v0 = time
  store_watched[1] v0
handler 1 chunk 0
  v0 = discrete[0]
  v1 = delayed[0]
  v2 = table[0] v0 differentiated 1 0
  v3 = table[1] v0 v1
  v4 = noise 42 v3
  store_discrete[0] v4
)");
}

TEST(Layout, EventTimesAndRingsLieOneBehindAnother) {
  Program program;
  program.state_names = {"x", "y"};
  program.discrete_count = 3;
  program.watch_count = 4;
  program.events.push_back({.name = "a", .kind = TACTUS_AT, .times = {1, 2}});
  program.events.push_back({.name = "w", .kind = TACTUS_WHEN, .watched = 3});
  program.events.push_back({.name = "b", .kind = TACTUS_AT, .times = {5}});
  program.delays.push_back({.source = 1, .duration = 0, .capacity = 8});
  program.delays.push_back({.source = 2, .duration = 1, .capacity = 4});
  const EventTable events = event_table(program);
  EXPECT_EQ(events.times, (std::vector<double>{1, 2, 5}));
  EXPECT_EQ(events.events[1].first, 3u);
  EXPECT_EQ(events.events[2].first, 2u);
  EXPECT_EQ(events.events[2].count, 1u);
  const auto delays = delay_table(program);
  EXPECT_EQ(delays[0].history, 0u);
  EXPECT_EQ(delays[1].history, 18u);
  EXPECT_EQ(history_count(program), 28u);
  const tactus_layout layout = layout_of(program);
  EXPECT_EQ(layout.clocks - layout.discrete, 3u);
  EXPECT_EQ(layout.history - layout.clocks, 3u);
  EXPECT_EQ(layout.snapshot - layout.history, 28u + 2u);  // and the kept derivative
  EXPECT_EQ(layout.work - layout.watched, 4u);
}

TEST(Uses, WarmStartsOfAFunctionAreNamedOnce) {
  Function function;
  Chunk chunk;
  chunk.instructions = {{.op = Op::newton_solve, .size = 2, .warm = 5}, {.op = Op::newton_solve, .size = 2, .warm = 4}};
  function.chunks = {chunk, chunk};
  EXPECT_EQ(warm_starts(function), (std::vector<std::uint32_t>{4, 5, 6}));
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
