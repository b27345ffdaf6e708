// Tables: exact where the method can be, monotone where the data are, derivatives beside differences.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "kernel/kernel.h"

namespace {

// Fritsch and Butland's slopes, written independently of the kernel: as harmonic means.
std::vector<double> slopes_of(const std::vector<double>& x, const std::vector<double>& v) {
  const std::size_t n = x.size();
  std::vector<double> h, d, s(n);
  for (std::size_t k = 0; k + 1 < n; k++) {
    h.push_back(x[k + 1] - x[k]);
    d.push_back((v[k + 1] - v[k]) / h[k]);
  }
  if (n == 2) return {d[0], d[0]};
  for (std::size_t k = 1; k + 1 < n; k++) {
    double a = 2 * h[k] + h[k - 1], b = h[k] + 2 * h[k - 1];
    s[k] = d[k - 1] * d[k] > 0 ? (a + b) / (a / d[k - 1] + b / d[k]) : 0;
  }
  auto end = [](double h0, double h1, double d0, double d1) {
    double slope = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
    if (slope * d0 <= 0) return 0.0;
    if (d0 * d1 < 0 && std::fabs(slope) > 3 * std::fabs(d0)) return 3 * d0;
    return slope;
  };
  s[0] = end(h[0], h[1], d[0], d[1]);
  s[n - 1] = end(h[n - 2], h[n - 3], d[n - 2], d[n - 3]);
  return s;
}

struct Line {
  std::vector<double> x, values, slopes;
  tactus_table table{};
  Line(tactus_table_method method, std::vector<double> at, std::vector<double> v)
      : x(std::move(at)), values(std::move(v)), slopes(slopes_of(x, values)) {
    table = {static_cast<std::uint32_t>(method),
             static_cast<std::uint32_t>(x.size()),
             0,
             x.data(),
             nullptr,
             values.data(),
             slopes.data()};
  }
  double operator()(double at, int order = 0) const { return tk_table(&table, order, at); }
};

struct Sheet {
  std::vector<double> x, y, values, slopes;
  tactus_table table{};
  Sheet(tactus_table_method method, std::vector<double> xs, std::vector<double> ys,
        const std::function<double(double, double)>& f)
      : x(std::move(xs)), y(std::move(ys)) {
    for (double a : x) {
      std::vector<double> row;
      for (double b : y) row.push_back(f(a, b));
      auto s = slopes_of(y, row);
      values.insert(values.end(), row.begin(), row.end());
      slopes.insert(slopes.end(), s.begin(), s.end());
    }
    table = {static_cast<std::uint32_t>(method),
             static_cast<std::uint32_t>(x.size()),
             static_cast<std::uint32_t>(y.size()),
             x.data(),
             y.data(),
             values.data(),
             slopes.data()};
  }
  double operator()(double a, double b, int order_x = 0, int order_y = 0) const {
    return tk_table_2(&table, order_x, order_y, a, b);
  }
};

const double nan = std::numeric_limits<double>::quiet_NaN();
const std::vector<double> uneven = {-1, 0, 0.5, 2, 2.25, 4};

TEST(Table, StraightLinesAreMetByLinearAndCubic) {
  for (auto method : {TACTUS_LINEAR, TACTUS_CUBIC}) {
    std::vector<double> v;
    for (double x : uneven) v.push_back(3 - 2 * x);
    Line line(method, uneven, v);
    for (double x = -1; x <= 4; x += 0.01) {
      EXPECT_NEAR(line(x), 3 - 2 * x, 2e-14);
      EXPECT_NEAR(line(x, 1), -2, 1e-13);
      EXPECT_NEAR(line(x, 2), 0, 1e-12);
      EXPECT_NEAR(line(x, 3), 0, 1e-11);
    }
  }
}

TEST(Table, SamplesAreMetExactlyAndEndsAreHeld) {
  std::vector<double> v = {1, 4, 4.1, 3, -7, 0.3};
  for (auto method : {TACTUS_HOLD, TACTUS_LINEAR, TACTUS_CUBIC}) {
    Line line(method, uneven, v);
    for (std::size_t k = 0; k < v.size(); k++) EXPECT_EQ(line(uneven[k]), v[k]);
    for (int order : {0, 1, 2, 3, 4}) {
      EXPECT_EQ(line(-1.5, order), order == 0 ? v.front() : 0);
      EXPECT_EQ(line(1e300, order), order == 0 ? v.back() : 0);
      EXPECT_TRUE(std::isnan(line(nan, order)));
    }
    EXPECT_EQ(line(1, 4), 0);
  }
}

TEST(Table, HoldGivesTheSampleBefore) {
  Line line(TACTUS_HOLD, {0, 1, 2}, {5, 6, 7});
  EXPECT_EQ(line(0.999), 5);
  EXPECT_EQ(line(1), 6);
  EXPECT_EQ(line(1.5), 6);
  EXPECT_EQ(line(2), 7);
  EXPECT_EQ(line(1.5, 1), 0);
}

TEST(Table, ASingleSampleIsAConstant) {
  double x = 2, v = 9;
  for (std::uint32_t method : {0u, 1u, 2u}) {
    tactus_table table = {method, 1, 0, &x, nullptr, &v, &v};
    EXPECT_EQ(tk_table(&table, 0, -5), 9);
    EXPECT_EQ(tk_table(&table, 0, 2), 9);
    EXPECT_EQ(tk_table(&table, 1, 2), 0);
  }
}

TEST(Table, TheCubicIsMonotoneWhereTheDataAre) {
  std::vector<double> v = {0, 0, 0.01, 5, 5.001, 12};
  Line line(TACTUS_CUBIC, uneven, v);
  double last = line(-1);
  for (int k = 1; k <= 50000; k++) {
    double value = line(-1 + k * 1e-4);
    EXPECT_GE(value, last - 1e-14);
    last = value;
  }
  EXPECT_EQ(line(-0.5), 0);
}

TEST(Table, TheCubicOfASmoothFunctionHasOrderThreeAtLeast) {
  auto worst = [](int n) {
    std::vector<double> x, v;
    for (int k = 0; k <= n; k++) {
      x.push_back(static_cast<double>(k) / n);
      v.push_back(std::exp(x.back()));
    }
    Line line(TACTUS_CUBIC, x, v);
    double error = 0;
    for (double at = 0.2; at < 0.8; at += 0.0007) error = std::max(error, std::fabs(line(at) - std::exp(at)));
    return error;
  };
  EXPECT_GT(worst(10) / worst(20), 7);
  EXPECT_GT(worst(20) / worst(40), 7);
}

TEST(Table, DerivativesAreThoseOfTheValues) {
  Line line(TACTUS_CUBIC, uneven, {1, 4, 4.1, 3, -7, 0.3});
  for (double x : {-0.7, 0.2, 1.1, 2.1, 3.3}) {
    for (int order : {0, 1, 2}) {
      const double e = 1e-5;
      EXPECT_NEAR(line(x, order + 1), (line(x + e, order) - line(x - e, order)) / (2 * e),
                  1e-5 * (1 + std::fabs(line(x, order + 1))));
    }
  }
}

TEST(Table, PlanesAreMetInTwoDimensions) {
  auto plane = [](double a, double b) { return 2 + 3 * a - b; };
  for (auto method : {TACTUS_LINEAR, TACTUS_CUBIC}) {
    Sheet sheet(method, uneven, {0, 1, 3}, plane);
    for (double a = -1; a <= 4; a += 0.13) {
      for (double b = 0; b <= 3; b += 0.11) {
        EXPECT_NEAR(sheet(a, b), plane(a, b), 3e-14);
        EXPECT_NEAR(sheet(a, b, 1, 0), 3, 1e-12);
        EXPECT_NEAR(sheet(a, b, 0, 1), -1, 1e-12);
        EXPECT_NEAR(sheet(a, b, 1, 1), 0, 1e-11);
      }
    }
    EXPECT_NEAR(sheet(-9, 99), plane(-1, 3), 1e-14);
    EXPECT_EQ(sheet(-9, 1.5, 1, 0), 0);
    EXPECT_NEAR(sheet(-9, 1.5, 0, 1), -1, 1e-12);
    EXPECT_EQ(sheet(1, 99, 0, 1), 0);
    EXPECT_TRUE(std::isnan(sheet(nan, 1)));
    EXPECT_TRUE(std::isnan(sheet(1, nan)));
  }
}

TEST(Table, LinearIsBilinear) {
  Sheet sheet(TACTUS_LINEAR, {0, 2}, {0, 1}, [](double a, double b) { return 1 + a + b + 4 * a * b; });
  EXPECT_NEAR(sheet(0.5, 0.25), 1 + 0.5 + 0.25 + 0.5, 1e-15);
  EXPECT_NEAR(sheet(0.5, 0.25, 1, 1), 4, 1e-14);
  Sheet hold(TACTUS_HOLD, {0, 2}, {0, 1}, [](double a, double b) { return 10 * a + b; });
  EXPECT_EQ(hold(1.9, 0.9), 0);
  EXPECT_EQ(hold(2, 0.9), 20);
  EXPECT_EQ(hold(1.9, 1), 1);
}

TEST(Table, TheCubicSheetIsTheCurveThroughItsRows) {
  auto bumpy = [](double a, double b) { return std::sin(a) * (1 + b * b) + 0.3 * a * b; };
  const std::vector<double> ys = {-1, -0.2, 0.5, 1, 2};
  Sheet sheet(TACTUS_CUBIC, uneven, ys, bumpy);
  for (double b : {-0.6, 0.1, 0.77, 1.9}) {
    std::vector<double> row_values;
    for (double a : uneven) {
      std::vector<double> row;
      for (double y : ys) row.push_back(bumpy(a, y));
      row_values.push_back(Line(TACTUS_CUBIC, ys, row)(b));
    }
    Line across(TACTUS_CUBIC, uneven, row_values);
    for (double a = -1; a <= 4; a += 0.07) {
      for (int order : {0, 1, 2, 3}) EXPECT_NEAR(sheet(a, b, order, 0), across(a, order), 2e-11) << a << ' ' << b;
    }
  }
  // Along y, differences: through the harmonic means of the slopes.
  for (double a : {-0.5, 0.3, 1.2, 2.1, 3.5}) {
    for (double b : {-0.6, 0.1, 0.77, 1.9}) {
      for (int order_x : {0, 1, 2}) {
        for (int order_y : {0, 1, 2}) {
          const double e = 1e-5;
          double exact = sheet(a, b, order_x, order_y + 1);
          double difference = (sheet(a, b + e, order_x, order_y) - sheet(a, b - e, order_x, order_y)) / (2 * e);
          EXPECT_NEAR(exact, difference, 3e-5 * (1 + std::fabs(exact))) << a << ' ' << b << order_x << order_y;
        }
      }
    }
  }
}

}  // namespace
