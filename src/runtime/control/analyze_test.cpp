#include "runtime/control/analyze.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "runtime/control/response.h"

namespace control {
namespace {

using Rows = std::vector<std::vector<double>>;

Matrix matrix(const Rows& rows, std::size_t columns) {
  Matrix result(rows.size(), columns);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < columns; ++j) result(i, j) = rows[i][j];
  }
  return result;
}

LinearSystem make(const Rows& a, const Rows& b, const Rows& c, const Rows& d) {
  const std::size_t n = a.size(), m = d[0].size(), p = d.size();
  LinearSystem system{matrix(a, n), matrix(b, m), matrix(c, n), matrix(d, m), {}, {}, {}};
  for (std::size_t i = 0; i < n; ++i) system.states.push_back("x" + std::to_string(i + 1));
  for (std::size_t i = 0; i < m; ++i) system.inputs.push_back("u" + std::to_string(i + 1));
  for (std::size_t i = 0; i < p; ++i) system.outputs.push_back("y" + std::to_string(i + 1));
  return system;
}

// numerator / (s^n + denominator[n - 1] s^(n - 1) + ..), coefficients by rising powers, in controllable form.
LinearSystem from_polynomials(const std::vector<double>& numerator, const std::vector<double>& denominator) {
  const std::size_t n = denominator.size();
  Rows a(n, std::vector<double>(n)), b(n, {0.0}), c(1, std::vector<double>(n));
  for (std::size_t i = 0; i + 1 < n; ++i) a[i][i + 1] = 1;
  for (std::size_t j = 0; j < n; ++j) a[n - 1][j] = -denominator[j];
  for (std::size_t j = 0; j < numerator.size(); ++j) c[0][j] = numerator[j];
  b[n - 1][0] = 1;
  return make(a, b, c, {{0}});
}

// The same system with states that differ by factors of 10^spread.
LinearSystem with_other_units(LinearSystem system, double spread) {
  for (std::size_t k = 0; k < system.a.rows; ++k) {
    const double factor = std::pow(10, spread * (k % 2 == 0 ? 1 : -1) * static_cast<double>(k + 1));
    for (std::size_t j = 0; j < system.a.columns; ++j) {
      system.a(k, j) *= factor;
      system.a(j, k) /= factor;
    }
    for (std::size_t j = 0; j < system.b.columns; ++j) system.b(k, j) *= factor;
    for (std::size_t i = 0; i < system.c.rows; ++i) system.c(i, k) /= factor;
  }
  return system;
}

void expect_near(Complex got, Complex expected, double tolerance) {
  EXPECT_LE(std::abs(got - expected), tolerance * std::max(1.0, std::abs(expected))) << got << " for " << expected;
}

TEST(Analyze, PolesOfAnOscillator) {
  const Analysis analysis = analyze(from_polynomials({1}, {25, 2}));
  ASSERT_EQ(analysis.poles.size(), 2u);
  expect_near(analysis.poles[0].value, {-1, std::sqrt(24.0)}, 1e-13);
  expect_near(analysis.poles[1].value, {-1, -std::sqrt(24.0)}, 1e-13);
  EXPECT_NEAR(analysis.poles[0].frequency, 5, 1e-13);
  EXPECT_NEAR(analysis.poles[0].damping, 0.2, 1e-13);
  EXPECT_NEAR(analysis.poles[0].time_constant, 1, 1e-13);
  EXPECT_EQ(analysis.stability, Stability::stable);
}

TEST(Analyze, StabilityInWords) {
  EXPECT_EQ(analyze(from_polynomials({1}, {0, 1})).stability, Stability::marginal);     // 1 / (s (s + 1))
  EXPECT_EQ(analyze(from_polynomials({1}, {0, 0, 1})).stability, Stability::drifting);  // 1 / (s^2 (s + 1))
  EXPECT_EQ(analyze(from_polynomials({1}, {4, 0})).stability, Stability::marginal);
  EXPECT_EQ(analyze(from_polynomials({1}, {-4, 0})).stability, Stability::unstable);
  // Two integrators side by side are not one behind another.
  EXPECT_EQ(analyze(make({{0, 0}, {0, 0}}, {{1}, {2}}, {{1, 0}}, {{0}})).stability, Stability::marginal);
}

// In a basis that is not triangular, eigenvalues alone would put a double pole at 0 to +-1e-8.
TEST(Analyze, IntegratorsStayAtZeroInAnyBasis) {
  const double c = std::cos(0.7), s = std::sin(0.7);
  const LinearSystem system = make({{-c * s, c * c}, {-s * s, c * s}}, {{0}, {1}}, {{1, 0}}, {{0}});
  for (const Pole& pole : analyze(system).poles) EXPECT_EQ(pole.value, Complex(0, 0));
}

TEST(Analyze, UnitsDoNotMatter) {
  // (s + 1) (s + 2) (s + 3) (s + 4)
  const LinearSystem system = with_other_units(from_polynomials({1}, {24, 50, 35, 10}), 2);
  const Analysis analysis = analyze(system);
  for (std::size_t k = 0; k < 4; ++k) expect_near(analysis.poles[k].value, -static_cast<double>(k + 1), 1e-10);
  EXPECT_EQ(analysis.controllable, 4u);
  EXPECT_EQ(analysis.observable, 4u);
}

TEST(Analyze, WhatNoInputMovesAndNoOutputShows) {
  // Poles -1 (moved and shown), -2 (not moved), -3 (not shown), -4 (neither), mixed by a rotation of states 1 to 4.
  Rows a = {{-1, 0, 0, 0}, {0, -2, 0, 0}, {0, 0, -3, 0}, {0, 0, 0, -4}};
  Rows b = {{1}, {0}, {1}, {0}}, c = {{1, 1, 0, 0}};
  const double k = std::cos(0.4), s = std::sin(0.4);
  const auto rotate = [&](std::size_t p, std::size_t q) {
    for (Rows* rows : {&a, &b}) {
      for (std::size_t j = 0; j < (*rows)[0].size(); ++j) {
        const double x = (*rows)[p][j], y = (*rows)[q][j];
        (*rows)[p][j] = k * x - s * y;
        (*rows)[q][j] = s * x + k * y;
      }
    }
    for (Rows* rows : {&a, &c}) {
      for (auto& row : *rows) {
        const double x = row[p], y = row[q];
        row[p] = k * x - s * y;
        row[q] = s * x + k * y;
      }
    }
  };
  for (auto [p, q] : {std::pair{0u, 1u}, {1u, 2u}, {2u, 3u}, {0u, 3u}}) rotate(p, q);
  const LinearSystem system = make(a, b, c, {{0}});
  const Analysis analysis = analyze(system);
  EXPECT_EQ(analysis.controllable, 2u);
  EXPECT_EQ(analysis.observable, 2u);
  const bool moved[] = {true, false, true, false}, shown[] = {true, true, false, false};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(analysis.poles[i].is_controllable, moved[i]) << i;
    EXPECT_EQ(analysis.poles[i].is_observable, shown[i]) << i;
  }
  const Transfer transfer = analyze_transfer(system, 0, 0);
  ASSERT_EQ(transfer.poles.size(), 1u);
  expect_near(transfer.poles[0], -1, 1e-12);
  EXPECT_TRUE(transfer.zeros.empty());
  EXPECT_NEAR(transfer.gain_at_rest, 1, 1e-12);
}

TEST(Transfer, ZerosOfPolynomials) {
  // (s - 2) (s^2 + 2 s + 10) / ((s + 1) (s + 2) (s + 3) (s + 4) (s + 5)), in units far apart
  const LinearSystem system = with_other_units(from_polynomials({-20, 6, 0, 1}, {120, 274, 225, 85, 15}), 1.5);
  const Transfer transfer = analyze_transfer(system, 0, 0);
  ASSERT_EQ(transfer.zeros.size(), 3u);
  expect_near(transfer.zeros[0], 2, 1e-9);
  expect_near(transfer.zeros[1], {-1, 3}, 1e-9);
  expect_near(transfer.zeros[2], {-1, -3}, 1e-9);
  EXPECT_NEAR(transfer.gain_at_rest, -20.0 / 120, 1e-12);
}

TEST(Transfer, WithoutStates) {
  const Transfer transfer = analyze_transfer(make({}, {}, {{}}, {{3}}), 0, 0);
  EXPECT_EQ(transfer.gain_at_rest, 3);
  EXPECT_FALSE(transfer.is_zero);
  EXPECT_TRUE(analyze_transfer(make({}, {}, {{}}, {{0}}), 0, 0).is_zero);
}

TEST(Transfer, InfiniteGainHasASign) {
  EXPECT_EQ(analyze_transfer(from_polynomials({-2}, {0, 3}), 0, 0).gain_at_rest, -INFINITY);
  // s / s: the integrator cannot be seen.
  const Transfer same = analyze_transfer(from_polynomials({0, 1}, {0, 3}), 0, 0);
  EXPECT_NEAR(same.gain_at_rest, 1.0 / 3, 1e-12);
}

// G = K / (s (s + 1) (s + 2)): -180 degrees at sqrt(2), where |G| = K / 6.
TEST(Transfer, Margins) {
  const Transfer tame = analyze_transfer(from_polynomials({2}, {0, 2, 3}), 0, 0);
  ASSERT_TRUE(tame.gain_margin && tame.phase_margin);
  EXPECT_NEAR(tame.gain_margin->frequency, std::sqrt(2.0), 1e-9);
  EXPECT_NEAR(tame.gain_margin->value, 20 * std::log10(3.0), 1e-9);
  const double w = tame.phase_margin->frequency;
  const Complex value = 2.0 / (Complex(0, w) * Complex(1, w) * Complex(2, w));
  EXPECT_NEAR(std::abs(value), 1, 1e-9);
  EXPECT_NEAR(tame.phase_margin->value, 180 + std::arg(value) * 180 / std::numbers::pi, 1e-7);
  EXPECT_TRUE(tame.is_stable_closed);
  const Transfer wild = analyze_transfer(from_polynomials({7}, {0, 2, 3}), 0, 0);
  EXPECT_NEAR(wild.gain_margin->value, 20 * std::log10(6.0 / 7), 1e-9);
  EXPECT_FALSE(wild.is_stable_closed);
  EXPECT_FALSE(analyze_transfer(from_polynomials({1}, {2}), 0, 0).gain_margin);
}

// A gain that makes 1 + k G(0) = 0 puts a pole of the loop at 0; 1 + k G(infinity) = 0 sends one to infinity.
TEST(Transfer, GainMarginsAtTheEndsOfTheAxis) {
  const Transfer low = analyze_transfer(from_polynomials({-0.5}, {1}), 0, 0);  // -0.5 / (s + 1)
  ASSERT_TRUE(low.gain_margin && low.is_stable_closed);
  EXPECT_NEAR(low.gain_margin->value, 20 * std::log10(2.0), 1e-12);
  EXPECT_EQ(low.gain_margin->frequency, 0);
  const Transfer held =
      analyze_transfer(from_polynomials({2}, {-1}), 0, 0);  // 2 / (s - 1): half the gain is too little
  ASSERT_TRUE(held.gain_margin && held.is_stable_closed);
  EXPECT_NEAR(held.gain_margin->value, -20 * std::log10(2.0), 1e-12);
  const Transfer high =
      analyze_transfer(make({{-1}}, {{1}}, {{0.5}}, {{-0.25}}), 0, 0);  // G(0) = 0.25, G(infinity) = -0.25
  ASSERT_TRUE(high.gain_margin && high.is_stable_closed);
  EXPECT_NEAR(high.gain_margin->value, 20 * std::log10(4.0), 1e-12);
  EXPECT_EQ(high.gain_margin->frequency, INFINITY);
  // Behind an integrator, and through a zero at 0, G(0) bounds nothing.
  EXPECT_FALSE(analyze_transfer(from_polynomials({1}, {0}), 0, 0).gain_margin);
  EXPECT_FALSE(analyze_transfer(from_polynomials({0, 0.5}, {1, 2}), 0, 0).gain_margin);
}

TEST(Response, PhaseGoesOnWithoutJumps) {
  // (s + 1)^-6: down to -540 degrees.
  const LinearSystem system = from_polynomials({1}, {1, 6, 15, 20, 15, 6});
  const Transfer transfer = analyze_transfer(system, 0, 0);
  const Bode curves = bode(system, {&transfer, 1});
  for (std::size_t i = 0; i < curves.frequencies.size(); ++i) {
    const double w = curves.frequencies[i];
    EXPECT_NEAR(curves.curves[0].degrees[i], -6 * std::atan(w) * 180 / std::numbers::pi, 1e-6) << w;
    EXPECT_NEAR(curves.curves[0].decibels[i], -60 * std::log10(1 + w * w), 1e-6) << w;
  }
}

TEST(Response, UndampedPolesGoDownAndZerosUp) {
  // (s^2 + 4) / ((s^2 + 1) (s^2 + 9)): 0, -180 between 1 and 2, 0 to 3, -180 beyond.
  const LinearSystem system = from_polynomials({4, 0, 1}, {9, 0, 10, 0});
  const Transfer transfer = analyze_transfer(system, 0, 0);
  const Bode curves = bode(system, {&transfer, 1});
  for (std::size_t i = 0; i < curves.frequencies.size(); ++i) {
    const double w = curves.frequencies[i];
    EXPECT_NEAR(curves.curves[0].degrees[i], (w > 1 && w < 2) || w > 3 ? -180 : 0, 1e-6) << w;
  }
}

TEST(Response, StepOfTwoPoles) {
  // 6 / ((s + 2) (s + 3)) : 1 - 3 e^-2t + 2 e^-3t
  const LinearSystem system = from_polynomials({6}, {6, 5});
  const Transfer transfer = analyze_transfer(system, 0, 0);
  const StepResponse response = step_response(system, {&transfer, 1});
  EXPECT_NEAR(response.times.back(), 3, 1e-12);
  const auto exact = [](double t) { return 1 - 3 * std::exp(-2 * t) + 2 * std::exp(-3 * t); };
  for (std::size_t i = 0; i < response.times.size(); ++i)
    EXPECT_NEAR(response.curves[0][i], exact(response.times[i]), 1e-12);
  const auto figures = step_figures(system, transfer);
  ASSERT_TRUE(figures);
  EXPECT_EQ(figures->overshoot, 0);
  EXPECT_NEAR(exact(figures->settled), 0.98, 1e-9);
  double low = 0, high = 0;
  while (exact(low) < 0.1) low += 1e-5;
  while (exact(high) < 0.9) high += 1e-5;
  EXPECT_NEAR(figures->rise, high - low, 3e-5);
}

// The last time at which `exact`, from 0 to `end`, is off 1 by more than 0.02.
template <class Function>
double settling_time(double end, const Function& exact) {
  const int count = 400000;
  int last = 0;
  for (int i = 0; i <= count; ++i) {
    if (std::abs(exact(end * i / count) - 1) > 0.02) last = i;
  }
  double low = end * last / count, high = end * (last + 1) / count;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (std::abs(exact(middle) - 1) > 0.02 ? low : high) = middle;
  }
  return low;
}

// On a cubic between samples, 40 a swing, errors are below 2e-6 of the swing.
TEST(Response, SettlingTimes) {
  const auto expect_settled = [](const LinearSystem& system, double end, const auto& exact) {
    const Transfer transfer = analyze_transfer(system, 0, 0);
    const auto figures = step_figures(system, transfer);
    ASSERT_TRUE(figures);
    const double expected = settling_time(end, exact);
    EXPECT_NEAR(figures->settled, expected, 1e-6 * expected);
    // The picture ends at rest.
    const StepResponse response = step_response(system, {&transfer, 1});
    if (end < 100) {
      EXPECT_GT(response.times.back(), expected);
      EXPECT_LE(std::abs(response.curves[0].back() - 1), 0.02);
    }
  };
  expect_settled(from_polynomials({3}, {3}), 5, [](double t) { return 1 - std::exp(-3 * t); });
  expect_settled(from_polynomials({1}, {1, 2}), 12, [](double t) { return 1 - std::exp(-t) * (1 + t); });
  expect_settled(from_polynomials({1}, {1, 3, 3}), 20, [](double t) { return 1 - std::exp(-t) * (1 + t + t * t / 2); });
  expect_settled(from_polynomials({1}, {1, 5, 10, 10, 5}), 30,
                 [](double t) { return 1 - std::exp(-t) * (1 + t + t * t / 2 + t * t * t / 6 + t * t * t * t / 24); });
  // (s + 1) (s + 100)
  expect_settled(from_polynomials({100}, {100, 101}), 10,
                 [](double t) { return 1 - (100 * std::exp(-t) - std::exp(-100 * t)) / 99; });
  for (const double z : {0.9, 0.5, 0.1, 0.01, 1e-4}) {
    const double w = std::sqrt(1 - z * z);
    expect_settled(from_polynomials({1}, {1, 2 * z}), 6 / z,
                   [=](double t) { return 1 - std::exp(-z * t) * (std::cos(w * t) + z / w * std::sin(w * t)); });
  }
  // (2 s + 1) / (s + 1)^2 overshoots and comes back: 1 + (t - 1) e^-t
  expect_settled(from_polynomials({1, 2}, {1, 2}), 20, [](double t) { return 1 + (t - 1) * std::exp(-t); });
}

// The fast part is over before the first point of a grid that shows the slow one.
TEST(Response, FarApart) {
  // 0.97 / (1e-4 s + 1) + 0.03 / (100 s + 1)
  const LinearSystem system = make({{-1e4, 0}, {0, -0.01}}, {{9700}, {0.0003}}, {{1, 1}}, {{0}});
  const auto figures = step_figures(system, analyze_transfer(system, 0, 0));
  ASSERT_TRUE(figures);
  EXPECT_NEAR(figures->settled, 100 * std::log(1.5), 1e-3);
  EXPECT_NEAR(figures->rise, 1e-4 * (std::log(0.97 / 0.07) - std::log(0.97 / 0.87)), 1e-9);
}

// 6e6 swings are not followed: the envelope of 1 - e^-zt cos(t) is 0.02 at ln(50) / z, and peaks are known to 1e-6.
TEST(Response, SettlingOfWhatHardlyDies) {
  const LinearSystem system = from_polynomials({1}, {1, 2e-7});
  const auto figures = step_figures(system, analyze_transfer(system, 0, 0));
  ASSERT_TRUE(figures);
  EXPECT_NEAR(figures->settled, std::log(50.0) / 1e-7, 1e-6 * std::log(50.0) / 1e-7);
}

TEST(Response, NoFiguresWithoutRest) {
  const LinearSystem integrator = from_polynomials({1}, {0});
  EXPECT_FALSE(step_figures(integrator, analyze_transfer(integrator, 0, 0)));
  const LinearSystem swings = from_polynomials({1}, {1, 0});
  EXPECT_FALSE(step_figures(swings, analyze_transfer(swings, 0, 0)));
}

}  // namespace
}  // namespace control
