// LU: known solutions, pivoting, scaling, ill-conditioned and singular matrices.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernel/kernel.h"

namespace {

using Vector = std::vector<double>;

int solve(Vector a, Vector& b) { return tk_lu_solve(static_cast<int>(b.size()), a.data(), b.data()); }

Vector times(const Vector& a, const Vector& x) {
  const std::size_t n = x.size();
  Vector b(n);
  for (std::size_t i = 0; i < n; i++) {
    for (std::size_t j = 0; j < n; j++) b[i] += a[i * n + j] * x[j];
  }
  return b;
}

TEST(Lu, SolvesByHand) {
  // 2x + y = 5, x - 3y = -1: x = 2, y = 1
  Vector b = {5.0, -1.0};
  ASSERT_EQ(solve({2.0, 1.0, 1.0, -3.0}, b), TACTUS_OK);
  EXPECT_EQ(b, (Vector{2.0, 1.0}));
}

TEST(Lu, FactorsKeptForSeveralRightSidesGiveTheSameBits) {
  const Vector a = {0.5, -3, 2, 1e3, 4, 1, 0, -7, 6, 1e-3, 2, 5, -1, 8, 0.25, 3};
  Vector factors = a;
  Vector kept(8);
  ASSERT_EQ(tk_lu_factor(4, factors.data(), kept.data()), TACTUS_OK);
  for (const Vector& right : {Vector{1, 2, 3, 4}, Vector{0, 0, 1, 0}, Vector{-1e9, 1e-9, 0.1, 7}}) {
    Vector once = right;
    ASSERT_EQ(solve(a, once), TACTUS_OK);
    Vector again = right;
    tk_lu_substitute(4, factors.data(), kept.data(), again.data());
    EXPECT_EQ(once, again);
  }
}

TEST(Lu, ZeroDiagonalNeedsRowExchanges) {
  // A cyclic permutation has no pivot on its diagonal at all.
  Vector b = {10.0, 20.0, 30.0, 40.0};
  ASSERT_EQ(solve({0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0}, b), TACTUS_OK);
  EXPECT_EQ(b, (Vector{40.0, 10.0, 20.0, 30.0}));
}

TEST(Lu, TinyPivotIsNotUsed) {
  // Golub and Van Loan 3.4: without exchange x[0] comes out as 0.
  Vector b = {1.0, 2.0};
  ASSERT_EQ(solve({1e-20, 1.0, 1.0, 1.0}, b), TACTUS_OK);
  EXPECT_NEAR(b[0], 1.0, 1e-15);
  EXPECT_NEAR(b[1], 1.0, 1e-15);
}

TEST(Lu, UnitsOfRowsAndColumnsDoNotMatter) {
  // Row scales 1e-30..1e30, column scales 1e25..1e-25, around a well-conditioned matrix.
  const Vector row = {1e-30, 1.0, 1e30};
  const Vector column = {1e25, 1.0, 1e-25};
  Vector a = {4, 1, -1, 2, 5, 1, 1, -2, 6};
  Vector x = {1, 2, 3};
  Vector b = times(a, x);
  for (std::size_t i = 0; i < 3; i++) {
    b[i] *= row[i];
    for (std::size_t j = 0; j < 3; j++) a[3 * i + j] *= row[i] * column[j];
  }
  ASSERT_EQ(solve(a, b), TACTUS_OK);
  for (std::size_t i = 0; i < 3; i++) EXPECT_NEAR(b[i] * column[i], x[i], 1e-14);
}

TEST(Lu, HilbertMatricesLoseNoMoreThanTheirCondition) {
  // Condition numbers: Higham, Accuracy and Stability, 2nd ed., table 28.1. The error is at most about n eps cond.
  const double condition[] = {1, 1.9e1, 5.2e2, 1.6e4, 4.8e5, 1.5e7, 4.8e8, 1.5e10, 4.9e11, 1.6e13};
  for (std::size_t n = 1; n <= 10; n++) {
    Vector a(n * n);
    for (std::size_t i = 0; i < n; i++) {
      for (std::size_t j = 0; j < n; j++) a[i * n + j] = 1.0 / static_cast<double>(i + j + 1);
    }
    const Vector ones(n, 1.0);
    Vector b = times(a, ones);
    ASSERT_EQ(solve(a, b), TACTUS_OK) << n;
    for (double value : b) EXPECT_NEAR(value, 1.0, 2.2e-16 * static_cast<double>(n) * condition[n - 1]) << n;
  }
}

TEST(Lu, ManyUnknownsHaveResidualsAtRounding) {
  constexpr std::size_t n = 60;
  Vector a(n * n);
  std::uint64_t seed = 1;
  for (double& value : a) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<double>(static_cast<std::int64_t>(seed)) * 0x1p-63;
  }
  Vector x(n, 1.0);
  const Vector b = times(a, x);
  x = b;
  ASSERT_EQ(solve(a, x), TACTUS_OK);
  const Vector back = times(a, x);
  // Wilkinson: backward error of a few n eps for anything but contrived growth.
  for (std::size_t i = 0; i < n; i++) EXPECT_NEAR(back[i], b[i], 1e-13);
}

TEST(Lu, SaysSingular) {
  Vector b = {1.0, 2.0};
  EXPECT_EQ(solve({0, 0, 0, 0}, b), TACTUS_SINGULAR);
  EXPECT_EQ(solve({1, 2, 2, 4}, b), TACTUS_SINGULAR);
  EXPECT_EQ(solve({1, 0, 2, 0}, b), TACTUS_SINGULAR);
  // Dependent but for rounding: 0.1 * 3 is not 0.3.
  EXPECT_EQ(solve({0.1, 0.3, 0.3, 0.3 * 3}, b), TACTUS_SINGULAR);
  Vector c = {1, 2, 3};
  EXPECT_EQ(solve({1, 2, 3, 4, 5, 6, 7, 8, 9}, c), TACTUS_SINGULAR);
}

TEST(Lu, SaysNotFinite) {
  Vector b = {1.0, 2.0};
  EXPECT_EQ(solve({1, NAN, 2, 4}, b), TACTUS_NOT_FINITE);
  EXPECT_EQ(solve({1, 2, INFINITY, 4}, b), TACTUS_NOT_FINITE);
}

TEST(Lu, NothingToSolve) { EXPECT_EQ(tk_lu_solve(0, nullptr, nullptr), TACTUS_OK); }

}  // namespace
