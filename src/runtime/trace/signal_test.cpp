#include "runtime/trace/signal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace trace {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Signal make(std::vector<std::vector<double>> columns) {
  std::string failure;
  auto signal = Signal::from_table({{}, std::move(columns)}, "hand.csv", failure);
  EXPECT_TRUE(signal) << failure;
  return *signal;
}

std::string refused(CsvTable table) {
  std::string failure;
  EXPECT_FALSE(Signal::from_table(std::move(table), "hand.csv", failure));
  return failure;
}

TEST(Signal, IsLinearBetweenSamplesAndHeldOutside) {
  Signal signal = make({{1, 2, 4}, {10, 30, -10}, {0, 0, 8}});
  EXPECT_EQ(signal.columns(), 2u);
  Signal::Cursor cursor;
  EXPECT_EQ(signal.value(-infinity, 0, cursor), 10);
  EXPECT_EQ(signal.value(0, 0, cursor), 10);
  EXPECT_EQ(signal.value(1, 0, cursor), 10);
  EXPECT_EQ(signal.value(1.25, 0, cursor), 15);
  EXPECT_EQ(signal.value(2, 0, cursor), 30);
  EXPECT_EQ(signal.value(3, 0, cursor), 10);
  EXPECT_EQ(signal.value(3, 1, cursor), 4);
  EXPECT_EQ(signal.value(4, 0, cursor), -10);
  EXPECT_EQ(signal.value(infinity, 0, cursor), -10);
}

TEST(Signal, RateIsTheChordAndZeroOutside) {
  Signal signal = make({{1, 2, 4}, {10, 30, -10}});
  Signal::Cursor cursor;
  EXPECT_EQ(signal.rate(0, 0.5, 0, cursor), 0);
  EXPECT_EQ(signal.rate(1, 0.5, 0, cursor), 20);
  EXPECT_EQ(signal.rate(1.5, 1, 0, cursor), 0);  // 20 at 1.5, 20 at 2.5
  EXPECT_EQ(signal.rate(4, 1, 0, cursor), 0);
  EXPECT_EQ(signal.rate(0.5, 0, 0, cursor), 0);
  EXPECT_EQ(signal.rate(1, 0, 0, cursor), 20);
  EXPECT_EQ(signal.rate(2, 0, 0, cursor), -20);
  EXPECT_EQ(signal.rate(4, 0, 0, cursor), 0);
}

TEST(Signal, NextKnot) {
  Signal signal = make({{1, 2, 4}, {0, 0, 0}});
  Signal::Cursor cursor;
  EXPECT_EQ(signal.next_knot(0, cursor), 1);
  EXPECT_EQ(signal.next_knot(1, cursor), 2);
  EXPECT_EQ(signal.next_knot(3.9, cursor), 4);
  EXPECT_EQ(signal.next_knot(4, cursor), infinity);
  EXPECT_EQ(signal.next_knot(-1, cursor), 1);
}

TEST(Signal, OneSampleIsAConstant) {
  Signal signal = make({{3}, {7}});
  Signal::Cursor cursor;
  for (double t : {-1.0, 3.0, 9.0}) {
    EXPECT_EQ(signal.value(t, 0, cursor), 7);
    EXPECT_EQ(signal.rate(t, 0.1, 0, cursor), 0);
    EXPECT_EQ(signal.rate(t, 0, 0, cursor), 0);
  }
  EXPECT_EQ(signal.next_knot(0, cursor), 3);
  EXPECT_EQ(signal.next_knot(3, cursor), infinity);
}

// Linear interpolation of sin on a grid of spacing d is within d^2 / 8 of it (the maximum of |sin''| is 1).
TEST(Signal, FollowsASineWithinTheInterpolationBound) {
  const double spacing = 0.01;
  std::vector<double> times, values;
  for (int i = 0; i <= 1000; ++i) {
    times.push_back(i * spacing);
    values.push_back(std::sin(times.back()));
  }
  Signal signal = make({times, values});
  Signal::Cursor cursor;
  double worst = 0;
  for (double t = 0; t <= 10; t += 0.00037) worst = std::max(worst, std::abs(signal.value(t, 0, cursor) - std::sin(t)));
  EXPECT_LE(worst, spacing * spacing / 8 * 1.000001);
  EXPECT_GE(worst, spacing * spacing / 8 * 0.9);
}

TEST(Signal, TheCursorNeverChangesTheAnswer) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> step(0.001, 1), any(-5, 300);
  std::vector<double> times, values;
  for (double t = 0; times.size() < 500; t += step(random)) {
    times.push_back(t);
    values.push_back(any(random));
  }
  Signal signal = make({times, values});
  Signal::Cursor cursor{123456};
  for (int i = 0; i < 20'000; ++i) {
    double t = i % 3 == 0 ? times[random() % times.size()] : any(random);
    Signal::Cursor fresh;
    ASSERT_EQ(signal.value(t, 0, cursor), signal.value(t, 0, fresh));
    auto next = std::upper_bound(times.begin(), times.end(), t);
    ASSERT_EQ(signal.next_knot(t, cursor), next == times.end() ? infinity : *next);
  }
}

TEST(Signal, RefusesWhatIsNoSignal) {
  EXPECT_EQ(refused({{}, {{1, 2}}}),
            "hand.csv: there is only one column; a signal needs a time column and at least one of values");
  EXPECT_EQ(refused({{}, {{}, {}}}), "hand.csv: a signal needs at least one row");
  EXPECT_EQ(refused({{}, {{0, 0}, {1, 2}}}), "hand.csv: the time does not increase: 0 comes after 0 in row 2");
  EXPECT_EQ(refused({{}, {{0, 1}, {1, NAN}}}), "hand.csv: row 2 of column 2 is nan; a signal needs finite numbers");
  std::string failure;
  EXPECT_FALSE(Signal::read("/no/such.csv", failure));
  EXPECT_EQ(failure, "cannot read `/no/such.csv`: there is no such file");
}

TEST(Signal, KeepsTheNamesOfItsValues) {
  std::string failure;
  auto signal = Signal::from_table({{"t", "x", "y"}, {{0}, {1}, {2}}}, "hand.csv", failure);
  ASSERT_TRUE(signal);
  EXPECT_EQ(signal->names(), (std::vector<std::string>{"x", "y"}));
}

}  // namespace
}  // namespace trace
