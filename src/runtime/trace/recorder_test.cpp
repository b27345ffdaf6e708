#include "runtime/trace/recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace trace {
namespace {

TEST(Recorder, KeepsAllRowsUpToItsCapacity) {
  Recorder recorder(1, 100);
  for (int i = 0; i < 100; ++i) recorder.add(i, std::vector<double>{i * 0.5});
  ASSERT_EQ(recorder.rows(), 100u);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(recorder.times()[i], static_cast<double>(i));
    EXPECT_EQ(recorder.channel(0)[i], static_cast<double>(i) * 0.5);
  }
}

TEST(Recorder, MemoryIsConstantAndTimesStayInOrder) {
  Recorder recorder(2, 1000);
  for (int i = 0; i < 1'000'000; ++i) {
    double t = i * 1e-3;
    recorder.add(t, std::vector<double>{std::sin(t), t});
    ASSERT_LE(recorder.rows(), 1000u);
  }
  EXPECT_EQ(recorder.rows_seen(), 1'000'000u);
  EXPECT_GE(recorder.rows(), 125u);
  EXPECT_TRUE(std::is_sorted(recorder.times().begin(), recorder.times().end()));
  EXPECT_EQ(recorder.times().front(), 0);
  EXPECT_EQ(recorder.times().back(), 999'999 * 1e-3);
}

// At least capacity / 8 bins span the run: a line of slope 1 is off by no more than 8 / capacity of the span.
TEST(Recorder, TimesAreRightToWithinABin) {
  Recorder recorder(1, 1000);
  const int rows = 777'777;
  for (int i = 0; i < rows; ++i) recorder.add(i, std::vector<double>{static_cast<double>(i)});
  for (std::size_t i = 0; i < recorder.rows(); ++i) {
    ASSERT_NEAR(recorder.channel(0)[i], recorder.times()[i], rows * 8.0 / 1000);
  }
}

TEST(Recorder, ExtremesSurvive) {
  Recorder recorder(2, 1000);
  for (int i = 0; i < 500'000; ++i) {
    double spike = i == 123'457 ? 1000 : i == 123'458 ? -2000 : 0;
    recorder.add(i * 0.01, std::vector<double>{std::sin(i * 0.1), spike});
  }
  auto [low, high] = std::minmax_element(recorder.channel(1).begin(), recorder.channel(1).end());
  EXPECT_EQ(*high, 1000);
  EXPECT_EQ(*low, -2000);
  EXPECT_LT(high, low);  // in their order
  std::size_t at = static_cast<std::size_t>(high - recorder.channel(1).begin());
  EXPECT_NEAR(recorder.times()[at], 1234.57, 5000 * 8.0 / 1000);
}

// Nearly all rows lie in a short transient; the long slow rest keeps every one of its own.
TEST(Recorder, SparseRowsAreNotSacrificedToDenseOnes) {
  Recorder recorder(1, 1000);
  for (int i = 0; i < 50'000; ++i) recorder.add(i * 1e-6, std::vector<double>{std::sin(i * 1.0)});
  for (int i = 1; i <= 100; ++i) recorder.add(i, std::vector<double>{static_cast<double>(i)});
  for (int i = 1; i < 50'000; ++i) recorder.add(100 + i * 1e-6, std::vector<double>{0});
  for (int i = 1; i < 100; ++i) {
    auto at = std::lower_bound(recorder.times().begin(), recorder.times().end(), i);
    ASSERT_EQ(*at, i);
    EXPECT_EQ(recorder.channel(0)[static_cast<std::size_t>(at - recorder.times().begin())], i);
  }
}

TEST(Recorder, GapsAndOddTimesAreHarmless) {
  Recorder recorder(1, 64);
  for (int i = 0; i < 10'000; ++i) recorder.add(5, std::vector<double>{static_cast<double>(i % 7)});
  EXPECT_LE(recorder.rows(), 64u);
  recorder.add(NAN, std::vector<double>{99});
  EXPECT_EQ(recorder.rows_seen(), 10'000u);
  for (int i = 0; i < 10'000; ++i) recorder.add(6 + i, std::vector<double>{i % 2 == 0 ? NAN : 3.0});
  EXPECT_LE(recorder.rows(), 64u);
  EXPECT_TRUE(std::any_of(recorder.channel(0).begin(), recorder.channel(0).end(), [](double y) { return y == 3; }));
  Recorder backwards(1, 64);
  for (int i = 0; i < 10'000; ++i) backwards.add((i * 7919) % 1000, std::vector<double>{1});
  EXPECT_LE(backwards.rows(), 64u);
}

TEST(Recorder, AllGapsStayAGap) {
  Recorder recorder(1, 64);
  for (int i = 0; i < 1000; ++i) recorder.add(i, std::vector<double>{i < 500 ? NAN : 1.0});
  EXPECT_TRUE(std::isnan(recorder.channel(0)[0]));
  EXPECT_EQ(recorder.channel(0).back(), 1);
}

}  // namespace
}  // namespace trace
