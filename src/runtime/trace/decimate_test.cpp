#include "runtime/trace/decimate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace trace {
namespace {

constexpr AxisMap as_it_is{};

std::vector<double> line(std::size_t count, double last) {
  std::vector<double> xs;
  for (std::size_t i = 0; i < count; ++i) xs.push_back(last * static_cast<double>(i) / static_cast<double>(count - 1));
  return xs;
}

TEST(Decimate, EveryColumnKeepsItsExtremes) {
  std::vector<double> xs = line(1'000'000, 400), ys;
  std::mt19937 random(1);
  std::normal_distribution<double> noise;
  for (std::size_t i = 0; i < xs.size(); ++i) ys.push_back(noise(random));
  Strokes strokes = decimate(xs, ys, as_it_is, as_it_is, 0.5, 0);
  ASSERT_EQ(strokes.size(), 1u);
  EXPECT_LE(count_points(strokes), 4u * 801);
  std::vector<double> least(801, INFINITY), greatest(801, -INFINITY), kept_least = least, kept_greatest = greatest;
  auto include = [](std::vector<double>& low, std::vector<double>& high, double x, double y) {
    std::size_t column = static_cast<std::size_t>(x / 0.5);
    low[column] = std::min(low[column], y);
    high[column] = std::max(high[column], y);
  };
  for (std::size_t i = 0; i < xs.size(); ++i) include(least, greatest, xs[i], ys[i]);
  for (Point point : strokes[0]) include(kept_least, kept_greatest, point.x, point.y);
  EXPECT_EQ(least, kept_least);
  EXPECT_EQ(greatest, kept_greatest);
  EXPECT_TRUE(std::is_sorted(strokes[0].begin(), strokes[0].end(), [](Point a, Point b) { return a.x < b.x; }));
}

TEST(Decimate, AStraightLineIsTwoPoints) {
  std::vector<double> xs = line(10'000, 400);
  Strokes strokes = decimate(xs, xs, as_it_is, {.origin = 3, .scale = -0.5}, 0.3, 0.01);
  ASSERT_EQ(count_points(strokes), 2u);
  EXPECT_EQ(strokes[0][1].y, 3 - 200);
}

// The distance of the dropped points to the polyline, measured along y, where slopes stay below 1.
TEST(Decimate, ASmoothCurveStaysWithinTheTolerance) {
  std::vector<double> xs = line(20'000, 400), ys;
  for (double x : xs) ys.push_back(20 * std::sin(x / 20));
  const double tolerance = 0.02;
  Strokes strokes = decimate(xs, ys, as_it_is, as_it_is, 0.01, tolerance);
  ASSERT_EQ(strokes.size(), 1u);
  EXPECT_LT(strokes[0].size(), 400u);
  std::size_t piece = 0;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    while (piece + 2 < strokes[0].size() && strokes[0][piece + 1].x < xs[i]) ++piece;
    Point a = strokes[0][piece], b = strokes[0][piece + 1];
    double y = a.y + (b.y - a.y) * (xs[i] - a.x) / (b.x - a.x);
    ASSERT_NEAR(y, ys[i], tolerance * std::sqrt(2.0) * 1.01);
  }
}

TEST(Decimate, ASpikeThatTurnsBackOnItselfStays) {
  std::vector<double> xs = {0, 1, 1, 1, 2}, ys = {0, 0, 50, 0, 0};
  Strokes strokes = decimate(xs, ys, as_it_is, as_it_is, 0.3, 0.05);
  ASSERT_EQ(strokes.size(), 1u);
  EXPECT_TRUE(std::any_of(strokes[0].begin(), strokes[0].end(), [](Point point) { return point.y == 50; }));
}

TEST(Decimate, WhatIsNotFiniteBreaksTheCurve) {
  std::vector<double> xs = {0, 10, 20, 30, 40, 50, NAN, 70}, ys = {0, 1, NAN, 3, INFINITY, 5, 6, 1e301};
  Strokes strokes = decimate(xs, ys, as_it_is, as_it_is, 1, 0);
  ASSERT_EQ(strokes.size(), 3u);
  EXPECT_EQ(strokes[0].size(), 2u);
  EXPECT_EQ(strokes[1].size(), 1u);
  EXPECT_EQ(strokes[2].size(), 1u);
}

TEST(Decimate, NothingGivesNothing) { EXPECT_TRUE(decimate({}, {}, as_it_is, as_it_is, 1, 0).empty()); }

}  // namespace
}  // namespace trace
