// Derivatives against central differences, solutions by putting them back.
#include "compiler/symbolic/symbolic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace symbolic {
namespace {

using expr::Op;
using expr::Pool;

// Plain evaluation by the standard library, sharing nothing with the compiler's folding.
double value(const Pool& pool, ExprId id, const std::vector<double>& x, const std::vector<double>& rate = {}) {
  const expr::Node& n = pool[id];
  auto a = [&] { return value(pool, n.a, x, rate); };
  auto b = [&] { return value(pool, n.b, x, rate); };
  switch (n.op) {
    case Op::constant:
    case Op::truth:
      return n.number;
    case Op::time:
      return x[0];
    case Op::variable:
      return n.order == 0 ? x[n.index] : rate[n.index];
    case Op::add:
      return a() + b();
    case Op::subtract:
      return a() - b();
    case Op::multiply:
      return a() * b();
    case Op::divide:
      return a() / b();
    case Op::negate:
      return -a();
    case Op::square_root:
      return std::sqrt(a());
    case Op::absolute:
      return std::abs(a());
    case Op::floor:
      return std::floor(a());
    case Op::ceil:
      return std::ceil(a());
    case Op::sin:
      return std::sin(a());
    case Op::cos:
      return std::cos(a());
    case Op::tan:
      return std::tan(a());
    case Op::asin:
      return std::asin(a());
    case Op::acos:
      return std::acos(a());
    case Op::atan:
      return std::atan(a());
    case Op::atan2:
      return std::atan2(a(), b());
    case Op::exp:
      return std::exp(a());
    case Op::log:
      return std::log(a());
    case Op::power:
      return std::pow(a(), b());
    case Op::table:  // sampled data 0: sin, differentiated `order` times
      return std::sin(a() + n.order * std::acos(0.0));
    case Op::table_2:  // sampled data 0: sin(x) exp(2 y)
      return std::sin(a() + n.order * std::acos(0.0)) * std::pow(2, n.order_b) * std::exp(2 * b());
    case Op::select:
      return a() != 0 ? b() : value(pool, n.c, x, rate);
    case Op::less:
      return a() < b();
    case Op::less_equal:
      return a() <= b();
    case Op::equal:
      return a() == b();
    case Op::not_equal:
      return a() != b();
    case Op::logical_and:
      return a() != 0 && b() != 0;
    case Op::logical_or:
      return a() != 0 || b() != 0;
    case Op::logical_not:
      return a() == 0;
    default:
      ADD_FAILURE();
      return 0;
  }
}

TEST(Differentiate, EveryOperationAgreesWithCentralDifferences) {
  Pool pool;
  ExprId x = pool.variable(0, 0);
  ExprId y = pool.variable(1, 0);
  ExprId u =
      pool.add(pool.multiply(x, pool.constant(0.5)), pool.multiply(y, pool.constant(0.25)));  // in (0, 1) at the point
  std::vector<ExprId> all = {pool.add(x, u),
                             pool.subtract(u, x),
                             pool.multiply(x, u),
                             pool.divide(y, u),
                             pool.negate(u),
                             pool.make(Op::power, u, y),
                             pool.make(Op::power, x, pool.constant(5)),
                             pool.make(Op::atan2, x, u),
                             pool.make(Op::select, pool.make(Op::less, x, y), pool.multiply(x, x), y),
                             pool.sign(x),
                             pool.table(0, u),
                             pool.table(0, pool.multiply(x, y), 2),
                             pool.table_2(0, u, pool.multiply(x, y)),
                             pool.table_2(0, y, x, 1, 3),
                             pool.minimum(x, u),
                             pool.maximum(x, u)};
  for (Op op : {Op::square_root, Op::absolute, Op::sin, Op::cos, Op::tan, Op::asin, Op::acos, Op::atan, Op::exp,
                Op::log, Op::floor, Op::ceil})
    all.push_back(pool.make(op, u));
  for (ExprId e : all) {
    for (std::uint32_t k = 0; k < 2; ++k) {
      std::vector<double> at = {0.3, 0.7};
      const auto derivative = differentiate(pool, e, pool.variable(k, 0));
      ASSERT_TRUE(derivative.has_value());
      double exact = value(pool, *derivative, at);
      const double h = 1e-5;  // error of a central difference: h^2/6 |f'''|, here below 1e-8, and rounding/h, 1e-11
      std::vector<double> up = at, down = at;
      up[k] += h;
      down[k] -= h;
      double difference = (value(pool, e, up) - value(pool, e, down)) / (2 * h);
      EXPECT_NEAR(exact, difference, 1e-8 * (1 + std::abs(exact)))
          << expr::print(pool, e, [](const expr::Node& n) { return n.index ? "y" : "x"; });
    }
  }
}

TEST(DifferentiateInTime, IsTheChainRule) {
  Pool pool;
  ExprId x = pool.variable(0, 0);
  ExprId y = pool.variable(1, 0);
  ExprId e = pool.multiply(pool.make(Op::sin, x), pool.make(Op::exp, y));
  auto d = differentiate_in_time(pool, e);
  ASSERT_TRUE(d.has_value());
  double x0 = 0.3, y0 = 0.7, vx = 2, vy = -1;
  EXPECT_NEAR(value(pool, *d, {x0, y0}, {vx, vy}), (std::cos(x0) * vx + std::sin(x0) * vy) * std::exp(y0), 1e-14);
}

TEST(DifferentiateInTime, RefusesTheSecondDerivativeOfAnInput) {
  Pool pool;
  auto first = differentiate_in_time(pool, pool.input(0));
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(pool[*first].op, Op::input_rate);
  ExprId obstacle;
  EXPECT_FALSE(differentiate_in_time(pool, *first, &obstacle).has_value());
  EXPECT_EQ(obstacle, *first);
}

TEST(DifferentiateInTime, DiscreteValuesAreConstantBetweenEvents) {
  Pool pool;
  ExprId d = pool.discrete(3);
  auto alone = differentiate_in_time(pool, pool.multiply(d, d));
  ASSERT_TRUE(alone.has_value());
  EXPECT_TRUE(pool.is_constant(*alone, 0));
  auto product = differentiate_in_time(pool, pool.multiply(d, pool.variable(0, 0)));
  ASSERT_TRUE(product.has_value());
  EXPECT_EQ(*product, pool.multiply(d, pool.variable(0, 1)));
}

TEST(DifferentiateInTime, NamesTheDelayOrTheNoiseThatHasNoDerivative) {
  Pool pool;
  ExprId x = pool.variable(0, 0);
  ExprId late = pool.delayed(1);
  ExprId noise = pool.noise(7, pool.multiply(pool.time(), pool.constant(100)));
  ExprId obstacle;
  EXPECT_FALSE(differentiate_in_time(pool, pool.add(x, pool.make(Op::sin, late)), &obstacle).has_value());
  EXPECT_EQ(obstacle, late);
  EXPECT_FALSE(differentiate_in_time(pool, pool.multiply(x, pool.make(Op::exp, noise)), &obstacle).has_value());
  EXPECT_EQ(obstacle, noise);
  EXPECT_FALSE(differentiate(pool, noise, pool.time(), &obstacle).has_value());
  EXPECT_EQ(obstacle, noise);
}

TEST(DifferentiateInTime, TakesTheRatesOfDelaysFromOutside) {
  Pool pool;
  ExprId late = pool.delayed(3);
  auto d = differentiate_in_time(pool, pool.multiply(late, pool.time()), nullptr,
                                 [&](std::uint32_t k) { return pool.delayed(k + 10); });
  ASSERT_TRUE(d.has_value());
  EXPECT_EQ(*d, pool.add(pool.multiply(pool.delayed(13), pool.time()), late));
}

TEST(DifferentiateInTime, ConditionsAndRoundingNeedNoDerivative) {
  Pool pool;
  ExprId x = pool.variable(0, 0);
  ExprId late = pool.delayed(0);
  ExprId chosen = pool.make(Op::select, pool.make(Op::less, late, x), pool.multiply(x, x), x);
  auto d = differentiate_in_time(pool, pool.add(chosen, pool.make(Op::floor, late)));
  ASSERT_TRUE(d.has_value());
  double x0 = 0.5;
  Substitution late_is(pool, [&](ExprId leaf) { return leaf == late ? pool.constant(0) : ExprId(); });
  EXPECT_EQ(value(pool, late_is(*d), {x0}, {3}), 2 * x0 * 3);
}

TEST(Differentiate, ByOtherLeavesDiscreteDelayedAndNoiseAreConstant) {
  Pool pool;
  ExprId x = pool.variable(0, 0);
  ExprId e = pool.add(pool.multiply(x, pool.discrete(0)), pool.multiply(pool.delayed(0), pool.noise(1, pool.time())));
  auto d = differentiate(pool, e, x);
  ASSERT_TRUE(d.has_value());
  EXPECT_EQ(*d, pool.discrete(0));
  auto by_delayed = differentiate(pool, e, pool.delayed(0));
  ASSERT_TRUE(by_delayed.has_value());
  EXPECT_EQ(*by_delayed, pool.noise(1, pool.time()));
}

TEST(Solve, IsolatesThroughArithmetic) {
  Pool pool;
  ExprId z = pool.variable(0, 0);
  ExprId y = pool.variable(1, 0);
  // (3 - 2 z) / y = 5
  auto solution = solve(pool, pool.divide(pool.subtract(pool.constant(3), pool.multiply(pool.constant(2), z)), y),
                        pool.constant(5), z);
  ASSERT_TRUE(solution.has_value());
  EXPECT_DOUBLE_EQ(value(pool, *solution, {0, 0.5}), (3 - 5 * 0.5) / 2);
}

TEST(Solve, TakesALinearEquationWithTheUnknownInSeveralPlaces) {
  Pool pool;
  ExprId z = pool.variable(0, 0);
  ExprId y = pool.variable(1, 0);
  // 2 z + y z = 7 - z
  auto solution = solve(pool, pool.add(pool.multiply(pool.constant(2), z), pool.multiply(y, z)),
                        pool.subtract(pool.constant(7), z), z);
  ASSERT_TRUE(solution.has_value());
  EXPECT_NEAR(value(pool, *solution, {0, 4}), 1, 1e-15);
}

TEST(Solve, LeavesNonlinearAndVanishingUnknownsAlone) {
  Pool pool;
  ExprId z = pool.variable(0, 0);
  EXPECT_FALSE(solve(pool, pool.multiply(z, z), pool.constant(2), z).has_value());
  EXPECT_FALSE(solve(pool, pool.make(Op::sin, z), pool.constant(0.5), z).has_value());
  ExprId y = pool.variable(1, 0);
  EXPECT_FALSE(solve(pool, pool.add(y, z), pool.add(z, pool.constant(1)), z).has_value());
}

TEST(Solve, LeavesNoiseOfTheUnknownAlone) {
  Pool pool;
  ExprId z = pool.variable(0, 0);
  EXPECT_FALSE(solve(pool, pool.add(z, pool.noise(1, z)), pool.constant(2), z).has_value());
  auto outside = solve(pool, pool.add(z, pool.noise(1, pool.time())), pool.constant(2), z);
  ASSERT_TRUE(outside.has_value());
  EXPECT_EQ(*outside, pool.subtract(pool.constant(2), pool.noise(1, pool.time())));
}

TEST(Substitution, KeepsWhatBelongsToTablesAndNoise) {
  Pool pool;
  ExprId x = pool.variable(0, 0);
  ExprId y = pool.variable(1, 0);
  Substitution put(pool, [&](ExprId leaf) { return leaf == x ? y : ExprId(); });
  EXPECT_EQ(put(pool.table(4, x, 2)), pool.table(4, y, 2));
  EXPECT_EQ(put(pool.table_2(5, y, x, 1, 3)), pool.table_2(5, y, y, 1, 3));
  EXPECT_EQ(put(pool.noise(9.5, x)), pool.noise(9.5, y));
  EXPECT_EQ(put(pool.add(pool.discrete(2), pool.delayed(3))), pool.add(pool.discrete(2), pool.delayed(3)));
}

TEST(Substitution, KeepsSharingAndFolds) {
  Pool pool;
  ExprId x = pool.variable(0, 0);
  ExprId e = x;
  for (int i = 0; i < 60; ++i) e = pool.add(e, e);  // 2^60 x: exponential without sharing
  Substitution put(pool, [&](ExprId leaf) { return leaf == x ? pool.constant(1) : ExprId(); });
  ExprId result = put(e);
  ASSERT_TRUE(pool.is_constant(result));
  EXPECT_EQ(pool[result].number, std::ldexp(1.0, 60));
}

}  // namespace
}  // namespace symbolic
