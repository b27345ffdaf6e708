// What is special about discrete values, delays, tables and noise: equal ones are one, different ones are two, and how they read.
#include "compiler/expr/pool.h"

#include <gtest/gtest.h>

#include <set>

#include "compiler/expr/budget.h"

namespace expr {
namespace {

TEST(Pool, TablesAndNoiseDifferByAllThatBelongsToThem) {
  Pool pool;
  const ExprId x = pool.variable(0, 0);
  const ExprId y = pool.variable(1, 0);
  const std::vector<ExprId> different = {pool.discrete(0),
                                         pool.discrete(1),
                                         pool.delayed(0),
                                         pool.delayed(1),
                                         pool.table(0, x),
                                         pool.table(1, x),
                                         pool.table(0, y),
                                         pool.table(0, x, 1),
                                         pool.table_2(0, x, y),
                                         pool.table_2(0, y, x),
                                         pool.table_2(0, x, y, 1, 0),
                                         pool.table_2(0, x, y, 0, 1),
                                         pool.noise(1, x),
                                         pool.noise(2, x),
                                         pool.noise(1, y)};
  EXPECT_EQ(std::set<ExprId>(different.begin(), different.end()).size(), different.size());
  EXPECT_EQ(pool.discrete(1), different[1]);
  EXPECT_EQ(pool.table(0, x, 1), different[7]);
  EXPECT_EQ(pool.table_2(0, x, y, 0, 1), different[11]);
  EXPECT_EQ(pool.noise(2, x), different[13]);
}

TEST(Pool, TablesAndNoiseAreNumbersWithOperands) {
  EXPECT_TRUE(is_leaf(Op::discrete));
  EXPECT_TRUE(is_leaf(Op::delayed));
  EXPECT_FALSE(is_leaf(Op::table));
  EXPECT_EQ(operand_count(Op::discrete), 0);
  EXPECT_EQ(operand_count(Op::table), 1);
  EXPECT_EQ(operand_count(Op::table_2), 2);
  EXPECT_EQ(operand_count(Op::noise), 1);
  Pool pool;
  EXPECT_FALSE(pool.is_truth(pool.noise(1, pool.table(0, pool.discrete(0)))));
  EXPECT_FALSE(pool.is_constant(pool.table(0, pool.constant(2))));
}

TEST(Pool, VisitsTheOperandsOfTables) {
  Pool pool;
  const ExprId root = pool.table_2(0, pool.discrete(0), pool.noise(1, pool.delayed(0)));
  std::vector<Op> seen;
  std::vector<bool> visited;
  visit_postorder(pool, {root}, visited, [&](ExprId id) { seen.push_back(pool[id].op); });
  EXPECT_EQ(seen, (std::vector<Op>{Op::discrete, Op::delayed, Op::noise, Op::table_2}));
}

TEST(Budget, SaysWhereItWasSpent) {
  Budget budget;
  Budget::work_on({1, 20, 30});
  EXPECT_TRUE(Budget::has_room(most_expressions));
  EXPECT_FALSE(Budget::has_room(most_expressions + 1));
  Budget::spend(most_expressions - 1);
  Pool pool;
  const ExprId x = pool.variable(0, 0);
  EXPECT_EQ(pool.variable(0, 0), x);  // an expression that is there costs nothing
  try {
    pool.variable(1, 0);
    FAIL();
  } catch (const Outgrown& outgrown) {
    EXPECT_EQ(outgrown.place.begin, 20u);
  }
}

TEST(Budget, CountsRequestsOfWhatIsThere) {
  Budget budget;
  Pool pool;
  const auto ask_for_ever = [&] {
    for (;;) pool.time();
  };
  EXPECT_THROW(ask_for_ever(), Outgrown);
}

TEST(Budget, EndsWithItsScope) {
  Pool pool;
  {
    Budget budget;
    Budget::spend(most_expressions);
    EXPECT_THROW(pool.time(), Outgrown);
  }
  EXPECT_NO_THROW(pool.time());
}

TEST(Print, NumbersWhatHasNoName) {
  Pool pool;
  const ExprId x = pool.variable(0, 0);
  const auto names = [](const Node& node) -> std::string { return node.op == Op::variable ? "x" : ""; };
  EXPECT_EQ(print(pool, pool.add(pool.discrete(0), pool.delayed(1)), names), "discrete1 + delayed2");
  EXPECT_EQ(print(pool, pool.table(0, pool.add(x, x)), names), "table1(x + x)");
  EXPECT_EQ(print(pool, pool.table(2, x, 2), names), "table3''(x)");
  EXPECT_EQ(print(pool, pool.table_2(0, x, pool.time()), names), "table1(x, t)");
  EXPECT_EQ(print(pool, pool.table_2(0, x, pool.time(), 1, 2), names), "table1^(1,2)(x, t)");
  EXPECT_EQ(print(pool, pool.multiply(x, pool.noise(3, pool.time())), names), "x * noise(3, t)");
  const auto all = [](const Node& node) -> std::string { return node.op == Op::table ? "torque" : "a"; };
  EXPECT_EQ(print(pool, pool.table(0, pool.discrete(4), 1), all), "torque'(a)");
}

}  // namespace
}  // namespace expr
