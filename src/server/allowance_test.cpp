#include "server/allowance.h"

#include <gtest/gtest.h>

#include "server/server.h"

namespace server {
namespace {

using std::chrono::microseconds;

TEST(Allowance, AMouseNeverReachesIt) {
  Allowance::Time now{};
  Allowance allowance(Rate().per_second, Rate().at_once, now);
  // An hour at 1000 a second, of 150 bytes each.
  for (int i = 0; i < 3'600'000; ++i) ASSERT_TRUE(allowance.take(1 + 150.0 / 4096, now += microseconds(1000)));
}

TEST(Allowance, WhatAMouseSentInSevenSecondsMayComeAtOnce) {
  const Allowance::Time now{};
  Allowance allowance(Rate().per_second, Rate().at_once, now);
  for (int i = 0; i < 7000; ++i) ASSERT_TRUE(allowance.take(1 + 150.0 / 4096, now));
}

TEST(Allowance, RefusesWhatIsFaster) {
  Allowance::Time now{};
  Allowance allowance(1000, 10, now);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(allowance.take(1, now));
  EXPECT_FALSE(allowance.take(1, now));
  EXPECT_TRUE(allowance.take(1, now += microseconds(1000)));
  EXPECT_FALSE(allowance.take(1, now += microseconds(500)));
  EXPECT_TRUE(allowance.take(1, now += microseconds(500)));
}

TEST(Allowance, DoesNotGrowBeyondItsBound) {
  Allowance::Time now{};
  Allowance allowance(1000, 10, now);
  now += std::chrono::hours(1);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(allowance.take(1, now));
  EXPECT_FALSE(allowance.take(1, now));
}

}  // namespace
}  // namespace server
