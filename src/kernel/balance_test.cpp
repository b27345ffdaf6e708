// Algorithm 1 of seed 001, the discrete gradient and the midpoint rule: the figures of reference/passivity.md, balances to rounding, orders.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "kernel/trial.h"

namespace {

using kernel_test::Derivative;
using kernel_test::Trial;

using Energy = decltype(tactus_model::energy);
using Tangent = decltype(tactus_model::tangent);

// The ledger, then values that the motion reads.
Trial balanced(Derivative derivative, Energy energy, Tangent tangent, const std::vector<double>& start,
               std::uint32_t held = 0) {
  Trial trial(derivative, start, 0.0, 0, TACTUS_LEDGER + held);
  trial.model.energy = energy;
  trial.model.tangent = tangent;
  trial.model.ledger = 1;
  return trial;
}

double stored(Trial& trial) {
  std::vector<double> result(trial.model.state_count + 1);
  EXPECT_EQ(trial.model.energy(&trial.model, trial.instance(), trial->time, trial.x(), result.data()), TACTUS_OK);
  return result.back();
}
double booked(Trial& trial) { return trial.discrete()[TACTUS_LEDGER_BOOKED]; }

// Mass and spring, k = 1, m = 2: (q, p).
int swing(const tactus_model*, tactus_instance*, double, const double* x, double* dx) {
  dx[0] = x[1] / 2.0;
  dx[1] = -x[0];
  return TACTUS_OK;
}
int swing_energy(const tactus_model*, tactus_instance*, double, const double* x, double* result) {
  result[0] = x[0];
  result[1] = x[1] / 2.0;
  result[2] = x[0] * x[0] / 2.0 + x[1] * x[1] / 4.0;
  return TACTUS_OK;
}
int swing_tangent(const tactus_model*, tactus_instance*, std::uint32_t, double, const double*, const double* d,
                  double* result) {
  result[0] = d[2] / 2.0;
  result[1] = -d[1];
  return TACTUS_OK;
}
Trial mass_and_spring() { return balanced(swing, swing_energy, swing_tangent, {0.0, 2.0}); }

// How far behind the exact motion, q = sqrt(2) sin(w t), p = 2 cos(w t), w = sqrt(1/2).
double lag_after(int solver, double periods) {
  const double h = 0.1;
  const double w = std::sqrt(0.5);
  const double end = periods * 2.0 * std::numbers::pi / w;
  Trial run = mass_and_spring();
  EXPECT_EQ(run.fixed(solver, h, static_cast<std::int64_t>(std::llround(end / h))), TACTUS_OK);
  const double phase = std::atan2(run.x()[0] / std::sqrt(2.0), run.x()[1] / 2.0);
  return std::remainder(w * run->time - phase, 2.0 * std::numbers::pi);
}

TEST(Passive, KeepsTheEnergyOfMassAndSpring) {
  Trial run = mass_and_spring();
  double furthest = 0.0;
  for (int k = 0; k < 100; ++k) {
    ASSERT_EQ(run.fixed(TACTUS_PASSIVE, 0.1, 1000), TACTUS_OK);
    furthest = std::max(furthest, std::abs(stored(run) - 1.0));
    EXPECT_NEAR(stored(run) - booked(run), 1.0, 1e-13);
  }
  EXPECT_LT(furthest, 1e-13);
  EXPECT_EQ(run.discrete()[TACTUS_LEDGER_LEAPS], 0.0);
}

// Without bookkeeping the error of each search would add up; with it H is never off by more than one search's.
TEST(Passive, AToleranceDoesNotAddUp) {
  Trial run = mass_and_spring();
  run.model.tolerance = 1e-5;
  for (int k = 0; k < 100; ++k) {
    ASSERT_EQ(run.fixed(TACTUS_PASSIVE, 0.1, 1000), TACTUS_OK);
    EXPECT_NEAR(stored(run), 1.0, 1e-5);
    EXPECT_NEAR(stored(run) - booked(run), 1.0, 1e-12);
  }
  EXPECT_GT(std::abs(booked(run)), 0.0);
}

TEST(Passive, LagsAsTheReferenceSays) {
  EXPECT_NEAR(lag_after(TACTUS_PASSIVE, 10), 0.1092, 1e-3);
  EXPECT_NEAR(lag_after(TACTUS_PASSIVE, 100), 1.1014, 2e-3);
  EXPECT_NEAR(lag_after(TACTUS_MIDPOINT, 10), 0.0262, 1e-4);
  EXPECT_NEAR(lag_after(TACTUS_MIDPOINT, 100), 0.2616, 1e-4);
}

// A spring and a mass as two systems of one state, which exchange samples: u of each is held.
int stretch(const tactus_model* model, tactus_instance* instance, double, const double*, double* dx) {
  dx[0] = tactus_data(instance)[model->layout.discrete + TACTUS_LEDGER];
  return TACTUS_OK;
}
int spring_energy(const tactus_model*, tactus_instance*, double, const double* x, double* result) {
  result[0] = x[0];
  result[1] = x[0] * x[0] / 2.0;
  return TACTUS_OK;
}
int mass_energy(const tactus_model*, tactus_instance*, double, const double* x, double* result) {
  result[0] = x[0] / 2.0;
  result[1] = x[0] * x[0] / 4.0;
  return TACTUS_OK;
}

TEST(Passive, TwoSystemsLeapAndStayBounded) {
  Trial spring = balanced(stretch, spring_energy, nullptr, {0.0}, 1);
  Trial mass = balanced(stretch, mass_energy, nullptr, {2.0}, 1);
  double least = 1e9;
  double most = 0.0;
  for (int k = 0; k < 100000; ++k) {
    const double force = spring.x()[0];
    const double velocity = mass.x()[0] / 2.0;
    spring.discrete()[TACTUS_LEDGER] = velocity;
    mass.discrete()[TACTUS_LEDGER] = -force;
    ASSERT_EQ(spring.fixed(TACTUS_PASSIVE, 0.1, 1), TACTUS_OK);
    ASSERT_EQ(mass.fixed(TACTUS_PASSIVE, 0.1, 1), TACTUS_OK);
    if (k == 0) {
      EXPECT_EQ(spring.discrete()[TACTUS_LEDGER_ESCAPES], 1.0);
    }  // from the paper's start, q = 0
    const double total = stored(spring) + stored(mass);
    least = std::min(least, total);
    most = std::max(most, total);
    ASSERT_NEAR(total - booked(spring) - booked(mass), 1.0, 1e-9);
  }
  EXPECT_GE(least, 1.0 - 1e-9);
  EXPECT_LE(most, 1.0196 + 1e-3);
  std::printf("H in [%.6f, %.6f], leaps %g and %g, escapes %g and %g\n", least, most,
              spring.discrete()[TACTUS_LEDGER_LEAPS], mass.discrete()[TACTUS_LEDGER_LEAPS],
              spring.discrete()[TACTUS_LEDGER_ESCAPES], mass.discrete()[TACTUS_LEDGER_ESCAPES]);
}

// The pendulum, (q, p) with H = p^2/2 - cos q.
int pendulum(const tactus_model*, tactus_instance*, double, const double* x, double* dx) {
  dx[0] = x[1];
  dx[1] = -std::sin(x[0]);
  return TACTUS_OK;
}
int pendulum_energy(const tactus_model*, tactus_instance*, double, const double* x, double* result) {
  result[0] = std::sin(x[0]);
  result[1] = x[1];
  result[2] = x[1] * x[1] / 2.0 - std::cos(x[0]);
  return TACTUS_OK;
}
int pendulum_tangent(const tactus_model*, tactus_instance*, std::uint32_t, double, const double* x, const double* d,
                     double* result) {
  result[0] = d[2];
  result[1] = -std::cos(x[0]) * d[1];
  return TACTUS_OK;
}

double furthest_energy(int solver, int thousands) {
  Trial run = balanced(pendulum, pendulum_energy, pendulum_tangent, {1.0, 0.5});
  const double start = stored(run);
  double furthest = 0.0;
  for (int k = 0; k < thousands; ++k) {
    EXPECT_EQ(run.fixed(solver, 0.1, 1000), TACTUS_OK);
    furthest = std::max(furthest, std::abs(stored(run) - start));
  }
  return furthest;
}

TEST(DiscreteGradient, KeepsThePendulumsEnergy) {
  EXPECT_LT(furthest_energy(TACTUS_DISCRETE_GRADIENT, 1000), 1e-13);
  EXPECT_LT(furthest_energy(TACTUS_PASSIVE, 1000), 1e-13);
  EXPECT_GT(furthest_energy(TACTUS_MIDPOINT, 100), 1e-4);
}

TEST(DiscreteGradient, IsOfSecondOrder) {
  Trial exact = balanced(pendulum, pendulum_energy, pendulum_tangent, {1.0, 0.5});
  ASSERT_EQ(exact.adaptive(TACTUS_DOP853, 5.0, 1e-14), TACTUS_OK);
  for (const int solver : {TACTUS_DISCRETE_GRADIENT, TACTUS_MIDPOINT}) {
    const auto error = [&](int steps) {
      Trial run = balanced(pendulum, pendulum_energy, pendulum_tangent, {1.0, 0.5});
      EXPECT_EQ(run.fixed(solver, 5.0 / steps, steps), TACTUS_OK);
      return kernel_test::largest_difference(run.states(), exact.states());
    };
    EXPECT_NEAR(std::log2(error(200) / error(400)), 2.0, 0.05);
  }
}

// A pendulum over the top, whose field lines end at saddles and maxima: the search must not hang, and the ledger balances.
TEST(Passive, OverTheTopOfAPendulum) {
  Trial run = balanced(pendulum, pendulum_energy, pendulum_tangent, {0.0, 2.0 + 1e-3});
  const double start = stored(run);
  for (int k = 0; k < 1000; ++k) {
    ASSERT_EQ(run.fixed(TACTUS_PASSIVE, 0.1, 100), TACTUS_OK);
    EXPECT_NEAR(stored(run) - booked(run), start, 1e-11);
  }
}

TEST(Balanced, NeedAnEnergy) {
  Trial run(swing, {0.0, 2.0});
  EXPECT_EQ(run.fixed(TACTUS_PASSIVE, 0.1, 1), TACTUS_NO_SOLVER);
  EXPECT_EQ(run.fixed(TACTUS_DISCRETE_GRADIENT, 0.1, 1), TACTUS_NO_SOLVER);
}

}  // namespace
