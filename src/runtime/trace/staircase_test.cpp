#include "runtime/trace/staircase.h"

#include <gtest/gtest.h>

#include <limits>

namespace trace {
namespace {

TEST(Staircase, EveryChangeIsACorner) {
  std::vector<double> xs = {0, 1, 2, 3}, ys = {5, 5, 7, 6};
  Staircase made = make_staircase(xs, ys);
  EXPECT_EQ(made.xs, (std::vector<double>{0, 1, 2, 2, 3, 3}));
  EXPECT_EQ(made.ys, (std::vector<double>{5, 5, 5, 7, 7, 6}));
  EXPECT_TRUE(make_staircase({}, {}).xs.empty());
}

TEST(Staircase, AGapStaysAGap) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> xs = {0, 1, 2}, ys = {1, nan, 2};
  EXPECT_EQ(make_staircase(xs, ys).xs, xs);
}

TEST(Staircase, AColumnIsOneWhenItsChangesStandAlone) {
  EXPECT_TRUE(looks_like_staircase(std::vector<double>{0, 0, 1, 1, 2, 2, 2}));
  EXPECT_FALSE(looks_like_staircase(std::vector<double>{0, 0, 0, 0}));        // a constant
  EXPECT_FALSE(looks_like_staircase(std::vector<double>{0, 0, 1, 2, 2, 2}));  // a clamped ramp
  EXPECT_FALSE(looks_like_staircase(std::vector<double>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace trace
