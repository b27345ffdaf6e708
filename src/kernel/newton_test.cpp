// Newton: quadratic convergence, damping, and every way to fail.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernel/kernel.h"

namespace {

int evaluations = 0;

int newton(tk_residual* residual, std::vector<double>& z, const std::vector<double>& captured = {}) {
  const std::size_t n = z.size();
  std::vector<double> work(n * n + 3 * n + 1, NAN);
  work.back() = 12345.0;
  evaluations = 0;
  const int status = tk_newton(static_cast<int>(n), residual, captured.data(), z.data(), work.data());
  EXPECT_EQ(work.back(), 12345.0) << "wrote beyond n * n + 3 * n";
  return status;
}

void square_root(const double* captured, const double* z, double* r, double* j) {
  evaluations++;
  r[0] = z[0] * z[0] - captured[0];
  j[0] = 2.0 * z[0];
}

TEST(Newton, FindsASquareRootToTheLastBitsInFewIterations) {
  std::vector<double> z = {1.0};
  ASSERT_EQ(newton(square_root, z, {2.0}), TACTUS_OK);
  EXPECT_NEAR(z[0], std::sqrt(2.0), 3e-16);
  // From 1 the error is 4e-1, 9e-2, 2e-3, 2e-6, 2e-12, 0.
  EXPECT_LE(evaluations, 7);
}

TEST(Newton, RelativeToTheSizeOfTheSolution) {
  for (double size : {1e-24, 1e-8, 1e8, 1e24}) {
    std::vector<double> z = {0.7 * size};
    ASSERT_EQ(newton(square_root, z, {size * size}), TACTUS_OK);
    EXPECT_NEAR(z[0] / size, 1.0, 3e-16);
  }
}

TEST(Newton, ConvergesQuadratically) {
  // x^2 + y^2 = 4, exp(x) + y = 1 (Burden and Faires, exercise 10.2): (-1.8162640688, .8373677998)
  static std::vector<double> errors;
  errors.clear();
  auto residual = [](const double*, const double* z, double* r, double* j) {
    errors.push_back(std::fabs(z[0] + 1.8162640688251505));
    r[0] = z[0] * z[0] + z[1] * z[1] - 4.0;
    r[1] = std::exp(z[0]) + z[1] - 1.0;
    j[0] = 2.0 * z[0], j[1] = 2.0 * z[1], j[2] = std::exp(z[0]), j[3] = 1.0;
  };
  std::vector<double> z = {-1.5, 1.0};
  ASSERT_EQ(newton(residual, z), TACTUS_OK);
  EXPECT_NEAR(z[0], -1.8162640688251505, 1e-15);
  EXPECT_NEAR(z[1], 0.8373677998912475, 1e-15);
  for (std::size_t i = 0; i + 1 < errors.size(); i++) {
    if (errors[i] < 0.1) {
      EXPECT_LE(errors[i + 1], 2.0 * errors[i] * errors[i] + 1e-15);
    }
  }
}

TEST(Newton, DampingSavesWhatAFullStepLoses) {
  // atan: a full step from |z| > 1.39 goes ever farther away.
  std::vector<double> z = {20.0};
  auto residual = [](const double*, const double* at, double* r, double* j) {
    r[0] = std::atan(at[0]);
    j[0] = 1.0 / (1.0 + at[0] * at[0]);
  };
  ASSERT_EQ(newton(residual, z), TACTUS_OK);
  EXPECT_NEAR(z[0], 0.0, 1e-15);
}

TEST(Newton, ResidualThatIsNotFiniteHalvesTheStep) {
  // log z = -1 from 4: the full step leads to 4 - 4 (log 4 + 1) < 0, where log is NaN.
  std::vector<double> z = {4.0};
  auto residual = [](const double*, const double* at, double* r, double* j) {
    r[0] = std::log(at[0]) + 1.0;
    j[0] = 1.0 / at[0];
  };
  ASSERT_EQ(newton(residual, z), TACTUS_OK);
  EXPECT_NEAR(z[0], std::exp(-1.0), 1e-15);
}

TEST(Newton, UnknownNearZeroAmongLargeTerms) {
  // (z + 1e6) - 1e6 - 1e-9: rounding of 1e6 hides the solution beyond 1e-10; not a reason to fail.
  std::vector<double> z = {1.0};
  auto residual = [](const double*, const double* at, double* r, double* j) {
    r[0] = (at[0] + 1e6) - 1e6 - 1e-9;
    j[0] = 1.0;
  };
  ASSERT_EQ(newton(residual, z), TACTUS_OK);
  EXPECT_NEAR(z[0], 1e-9, 2e-10);
}

TEST(Newton, StartAtTheSolutionStaysThere) {
  std::vector<double> z = {3.0};
  ASSERT_EQ(newton(square_root, z, {9.0}), TACTUS_OK);
  EXPECT_EQ(z[0], 3.0);
  EXPECT_EQ(evaluations, 1);
}

TEST(Newton, SaysSingular) {
  std::vector<double> z = {0.0};
  EXPECT_EQ(newton(square_root, z, {2.0}), TACTUS_SINGULAR);
  // x + y = 1 twice
  std::vector<double> two = {0.0, 0.0};
  EXPECT_EQ(newton(
                [](const double*, const double* at, double* r, double* j) {
                  r[0] = r[1] = at[0] + at[1] - 1.0;
                  j[0] = j[1] = j[2] = j[3] = 1.0;
                },
                two),
            TACTUS_SINGULAR);
}

TEST(Newton, SaysDivergedWhenThereIsNoSolution) {
  std::vector<double> z = {1.0};
  const int status = newton(square_root, z, {-1.0});
  EXPECT_TRUE(status == TACTUS_DIVERGED || status == TACTUS_SINGULAR) << status;
  EXPECT_TRUE(std::isfinite(z[0]));
  std::vector<double> e = {0.0};
  EXPECT_EQ(newton([](const double*, const double* at, double* r, double* j) { r[0] = j[0] = std::exp(at[0]); }, e),
            TACTUS_DIVERGED);
}

TEST(Newton, SaysDivergedWhenTheStartIsNotFinite) {
  std::vector<double> z = {NAN};
  EXPECT_EQ(newton(square_root, z, {2.0}), TACTUS_DIVERGED);
  z = {1.0};
  EXPECT_EQ(newton(square_root, z, {NAN}), TACTUS_DIVERGED);
}

}  // namespace
