// Noise against what theory says of it. N values a unit of phase apart are independent to the filter's leakage, so a
// mean of them has the standard deviation 1 / sqrt(N) (widened by correlation), and the bounds below are five of those.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <vector>

#include "kernel/kernel.h"

namespace {

TEST(Noise, MeanAndVarianceAreRightAtEveryPhase) {
  const int count = 20000;
  for (double offset : {0.0, 0.25, 0.5, 0.9}) {
    double sum = 0, squares = 0, fourth = 0;
    for (int k = 0; k < count; k++) {
      double value = tk_noise(7, k + offset);
      sum += value;
      squares += value * value;
      fourth += value * value * value * value;
    }
    EXPECT_NEAR(sum / count, 0, 5 / std::sqrt(count)) << offset;
    EXPECT_NEAR(squares / count, 1, 5 * 1.6 / std::sqrt(count)) << offset;
    EXPECT_NEAR(fourth / count, 3, 5 * 12 / std::sqrt(count)) << offset;  // normal: kurtosis 3
  }
}

// Of a flat spectrum up to f and nothing above: sin(2 pi f d) / (2 pi f d), f = 0.435.
TEST(Noise, TheAutocorrelationIsThatOfABand) {
  const int count = 20000;
  for (double distance : {0.5, 1.0, 1.15, 2.5, 5.0, 40.0}) {
    double sum = 0;
    for (int k = 0; k < count; k++) sum += tk_noise(3, k * 1.37) * tk_noise(3, k * 1.37 + distance);
    double angle = 2 * std::acos(-1.0) * 0.435 * distance;
    // The filter's slope and window take some hundredths off the ideal curve.
    EXPECT_NEAR(sum / count, std::sin(angle) / angle, 0.03 + 5 / std::sqrt(count)) << distance;
  }
}

TEST(Noise, TheSpectrumIsFlatInItsBandAndEmptyAbove) {
  // Averaged periodograms of 8 samples a unit, Hann's window over 256 units: side lobes far below 40 dB.
  const int per_unit = 8, units = 256, runs = 40;
  const int n = per_unit * units;
  const double pi = std::acos(-1.0);
  std::vector<double> values;
  for (int run = 0; run < runs; run++) {
    for (int k = 0; k < n; k++)
      values.push_back(tk_noise(11, run * 300.0 + static_cast<double>(k) / per_unit) *
                       (1 - std::cos(2 * pi * (k + 0.5) / n)));
  }
  auto power = [&](double frequency) {
    double sum = 0;
    for (int run = 0; run < runs; run++) {
      std::complex<double> amplitude = 0;
      const std::complex<double> turn = std::polar(1.0, -2 * pi * frequency / per_unit);
      std::complex<double> wave = 1;
      for (int k = 0; k < n; k++, wave *= turn) amplitude += values[static_cast<std::size_t>(run * n + k)] * wave;
      sum += std::norm(amplitude);
    }
    return sum / runs;
  };
  double inside = 0;
  for (double f : {0.05, 0.1, 0.15, 0.2, 0.25, 0.3}) inside += power(f) / 6;
  // Forty runs: each power has a relative standard deviation of 0.16.
  for (double f : {0.05, 0.2, 0.33}) EXPECT_NEAR(power(f) / inside, 1, 0.7) << f;
  for (double f : {0.5, 0.53, 0.6, 0.75, 1.0, 1.5, 2.5}) EXPECT_LT(power(f) / inside, 1e-4) << f;
}

TEST(Noise, SeedsAreIndependent) {
  const int count = 10000;
  for (double other : {0.0, 2.0, -1.0, 1.5, 1e300}) {
    for (double shift : {0.0, 1.0, 2.0}) {
      double sum = 0;
      for (int k = 0; k < count; k++) sum += tk_noise(1, k) * tk_noise(other, k + shift);
      EXPECT_NEAR(sum / count, 0, 6 / std::sqrt(count)) << other << ' ' << shift;
    }
  }
}

TEST(Noise, ItIsContinuousWhereTheSamplesChange) {
  for (int k = -50; k < 50; k++) EXPECT_NEAR(tk_noise(5, k - 1e-9), tk_noise(5, k), 1e-7);
}

TEST(Noise, TheSameArgumentsGiveTheSameBits) {
  std::uint64_t hash = 14695981039346656037u;
  for (int k = -2000; k < 2000; k++) {
    double value = tk_noise(k % 17, k * 0.73);
    std::uint64_t bits;
    std::memcpy(&bits, &value, 8);
    hash = (hash ^ bits) * 1099511628211u;
  }
  EXPECT_EQ(hash, 6862135528121959429u);
}

TEST(Noise, AnyArgumentIsGood) {
  EXPECT_EQ(tk_noise(0.0, 1.5), tk_noise(-0.0, 1.5));
  EXPECT_EQ(tk_noise(1, 0.0), tk_noise(1, -0.0));
  for (double phase : {1e15, -1e15, 1e300, -1e300}) EXPECT_LT(std::fabs(tk_noise(1, phase)), 10);
  EXPECT_TRUE(std::isnan(tk_noise(1, std::numeric_limits<double>::infinity())));
  EXPECT_TRUE(std::isnan(tk_noise(std::numeric_limits<double>::quiet_NaN(), 1)));
}

}  // namespace
