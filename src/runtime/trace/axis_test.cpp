#include "runtime/trace/axis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace trace {
namespace {

using Labels = std::vector<std::string>;

TEST(Axis, StepsAreOneTwoOrFive) {
  EXPECT_EQ(choose_axis(0, 10, 5).labels, (Labels{"0", "2", "4", "6", "8", "10"}));
  EXPECT_EQ(choose_axis(0, 1, 5).labels, (Labels{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(choose_axis(0, 22, 5).labels, (Labels{"0", "5", "10", "15", "20"}));
  EXPECT_EQ(choose_axis(-1.1, 1.1, 4).labels, (Labels{"\u22121.0", "\u22120.5", "0.0", "0.5", "1.0"}));
  EXPECT_EQ(choose_axis(950, 1250, 3).labels, (Labels{"1000", "1100", "1200"}));
}

TEST(Axis, TicksAreTheNearestDoublesOfTheirLabels) {
  Axis axis = choose_axis(0, 1, 10);
  ASSERT_EQ(axis.major.size(), 11u);
  EXPECT_EQ(axis.major[3], 0.3);
  EXPECT_EQ(axis.major[7], 0.7);
}

TEST(Axis, MinorTicksLieBetween) {
  Axis axis = choose_axis(0, 10, 5);
  EXPECT_EQ(axis.minor.size(), 15u);  // three inside each of five steps of 2
  EXPECT_DOUBLE_EQ(axis.minor[0], 0.5);
}

TEST(Axis, LargeAndSmallNumbersShareAFactor) {
  Axis tiny = choose_axis(1e-9, 5e-9, 5);
  EXPECT_EQ(tiny.exponent, -9);
  EXPECT_EQ(tiny.labels, (Labels{"1", "2", "3", "4", "5"}));
  Axis large = choose_axis(0, 3e6, 3);
  EXPECT_EQ(large.exponent, 6);
  EXPECT_EQ(large.labels, (Labels{"0", "1", "2", "3"}));
  EXPECT_EQ(choose_axis(0, 20000, 2).exponent, 0);
  EXPECT_EQ(choose_axis(0, 0.002, 2).exponent, 0);
}

TEST(Axis, ManyCommonDigitsBecomeAnOffset) {
  Axis axis = choose_axis(1234566.9969, 1234567.0031, 6);
  EXPECT_EQ(axis.offset, 1234567);
  EXPECT_EQ(axis.offset_label, "+ 1234567");
  EXPECT_EQ(axis.labels.front(), "\u22120.003");
  EXPECT_EQ(axis.labels.back(), "0.003");
  Axis negative = choose_axis(-1000000.3, -999999.8, 5);
  EXPECT_EQ(negative.offset, -1000000);
  EXPECT_EQ(negative.offset_label, "\u2212 1e+06");
}

TEST(Axis, AnyRangeHasTicksInside) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> order(-280, 280), mantissa(-1, 1);
  for (int round = 0; round < 20'000; ++round) {
    double scale = std::pow(10.0, order(random)), a = mantissa(random) * scale, b = mantissa(random) * scale;
    if (round % 4 == 0) b = a * (1 + std::pow(10.0, -12 * std::abs(mantissa(random))));
    Range range = padded_range(std::min(a, b), std::max(a, b), 0.06);
    ASSERT_LT(range.low, range.high);
    int target = 2 + round % 6;
    Axis axis = choose_axis(range.low, range.high, target);
    ASSERT_GE(axis.major.size(), 2u);
    ASSERT_LE(static_cast<double>(axis.major.size()), 2.5 * target);
    ASSERT_EQ(axis.labels.size(), axis.major.size());
    double length = range.high - range.low;
    for (std::size_t i = 0; i < axis.major.size(); ++i) {
      ASSERT_GE(axis.major[i], range.low - 1e-6 * length);
      ASSERT_LE(axis.major[i], range.high + 1e-6 * length);
      ASSERT_LE(axis.labels[i].size(), 10u) << range.low << " " << range.high;
      if (i > 0) {
        ASSERT_NE(axis.labels[i], axis.labels[i - 1]);
      }
    }
  }
}

TEST(Axis, RangesOfConstantsAndOfNothing) {
  EXPECT_EQ(padded_range(5, 5, 0.06).low, 4.5);
  EXPECT_EQ(padded_range(5, 5, 0.06).high, 5.5);
  EXPECT_EQ(padded_range(-5, -5, 0.06).low, -5.5);
  EXPECT_EQ(padded_range(0, 0, 0.06).low, -1);
  EXPECT_EQ(padded_range(5, std::nextafter(5, 6), 0.06).high, 5.5);  // rounding is not a signal
  EXPECT_EQ(padded_range(INFINITY, -INFINITY, 0.06).high, 1);
  EXPECT_DOUBLE_EQ(padded_range(0, 10, 0.1).low, -1);
  EXPECT_DOUBLE_EQ(padded_range(0, 10, 0.1).high, 11);
}

TEST(LogarithmicAxis, PowersOfTen) {
  const Axis axis = choose_logarithmic_axis(0.01, 1e5, 8);
  EXPECT_EQ(axis.labels, (Labels{"0.01", "0.1", "1", "10", "100", "1000", "10^4", "10^5"}));
  EXPECT_EQ(axis.major[2], 1);
  EXPECT_EQ(axis.minor.size(), 7u * 8);
  EXPECT_EQ(axis.minor[0], 0.02);
}

TEST(LogarithmicAxis, ManyDecadesAreThinned) {
  const Axis axis = choose_logarithmic_axis(1e-6, 1e6, 6);
  EXPECT_EQ(axis.labels, (Labels{"10^-6", "10^-4", "0.01", "1", "100", "10^4", "10^6"}));
}

TEST(LogarithmicAxis, LittleMoreThanADecade) {
  EXPECT_EQ(choose_logarithmic_axis(1.5, 25, 6).labels, (Labels{"2", "5", "10", "20"}));
  // Nothing round inside: as any other axis.
  EXPECT_GE(choose_logarithmic_axis(2.1, 2.4, 5).major.size(), 2u);
}

TEST(AxisOfMultiples, Degrees) {
  EXPECT_EQ(choose_axis_of_multiples(-190, 10, 4, 45).labels,
            (Labels{"\u2212180", "\u2212135", "\u221290", "\u221245", "0"}));
  EXPECT_EQ(choose_axis_of_multiples(-380, 10, 4, 45).labels,
            (Labels{"\u2212360", "\u2212270", "\u2212180", "\u221290", "0"}));
  // Too little for two of them.
  EXPECT_GE(choose_axis_of_multiples(-100, -80, 4, 45).major.size(), 2u);
}

}  // namespace
}  // namespace trace
