// Algorithm 1 of seed 001, the discrete gradient and the midpoint rule: the figures of reference/passivity.md, balances
// to rounding, orders.
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

// A spring and a mass as two systems of one state, which exchange samples: u of each is held. From the paper's start, q
// = 0, the spring must leave its minimum once.
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
    const double total = stored(spring) + stored(mass);
    least = std::min(least, total);
    most = std::max(most, total);
    ASSERT_NEAR(total - booked(spring) - booked(mass), 1.0, 1e-9);
  }
  EXPECT_GE(least, 1.0 - 1e-9);
  EXPECT_NEAR(most, 1.0196, 1e-4);
  EXPECT_NEAR(spring.discrete()[TACTUS_LEDGER_LEAPS], 2300, 10);
  EXPECT_NEAR(mass.discrete()[TACTUS_LEDGER_LEAPS], 2300, 10);
  EXPECT_EQ(spring.discrete()[TACTUS_LEDGER_ESCAPES], 1.0);
  EXPECT_EQ(mass.discrete()[TACTUS_LEDGER_ESCAPES], 0.0);
}

// Spring fast, mass slow, 1 ms and 50 ms: what they store and what the hold keeps.
struct Multirate {
  double least_slow = 1e9, most_slow = 0, least_fast = 1e9, most_fast = 0, least_kept = 0, most_kept = 0, last = 0;
  double off = 0;  // of H + E - booked from 1, at slow samples
};

Multirate multirate(double slow_period, double end, bool is_passive_hold, int solver) {
  const double fast_period = 0.001;
  const int ratio = static_cast<int>(std::lround(slow_period / fast_period));
  Trial spring = balanced(stretch, spring_energy, nullptr, {0.0}, 1);
  Trial mass = balanced(stretch, mass_energy, nullptr, {2.0}, 1);
  std::vector<double> hold(TK_HOLD_SIZE);
  Multirate seen;
  for (int n = 0; n < static_cast<int>(std::lround(end / slow_period)); ++n) {
    const double y = mass.x()[0] / 2.0;
    const double force =
        is_passive_hold ? tk_hold_slow_sample(hold.data(), slow_period, y, -spring.x()[0]) : -spring.x()[0];
    const double total = stored(spring) + stored(mass);
    seen.least_slow = std::min(seen.least_slow, total);
    seen.most_slow = std::max(seen.most_slow, total);
    seen.least_kept = std::min(seen.least_kept, hold[TK_HOLD_ENERGY]);
    seen.most_kept = std::max(seen.most_kept, hold[TK_HOLD_ENERGY]);
    seen.off = std::max(seen.off, std::abs(total + hold[TK_HOLD_ENERGY] - booked(spring) - booked(mass) - 1.0));
    spring.discrete()[TACTUS_LEDGER] = y;
    mass.discrete()[TACTUS_LEDGER] = force;
    for (int k = 0; k < ratio; ++k) {
      tk_hold_fast_sample(hold.data(), -spring.x()[0]);
      EXPECT_EQ(spring.fixed(solver, fast_period, 1), TACTUS_OK);
      const double now = stored(spring) + stored(mass);
      seen.least_fast = std::min(seen.least_fast, now);
      seen.most_fast = std::max(seen.most_fast, now);
    }
    EXPECT_EQ(mass.fixed(solver, slow_period, 1), TACTUS_OK);
  }
  seen.last = stored(spring) + stored(mass);
  return seen;
}

TEST(SampleAndHold, KeepsThePairBounded) {
  const Multirate seen = multirate(0.05, 5000, true, TACTUS_PASSIVE);
  EXPECT_NEAR(seen.least_slow, 1.0, 1e-4);
  EXPECT_NEAR(seen.most_slow, 1.00502, 1e-4);
  EXPECT_NEAR(seen.least_fast, 0.966, 1e-3);
  EXPECT_NEAR(seen.most_fast, 1.037, 1e-3);
  EXPECT_NEAR(seen.least_kept, -0.00131, 1e-5);
  EXPECT_LT(seen.most_kept, 1e-12);
  EXPECT_LT(seen.off, 1e-8);
}

TEST(SampleAndHold, WithoutItThePairDiverges) {
  EXPECT_NEAR(multirate(0.05, 100, false, TACTUS_PASSIVE).last, 3.41, 0.01);
  EXPECT_NEAR(multirate(0.05, 100, false, TACTUS_EULER).last, 12.16, 0.01);
}

TEST(SampleAndHold, KeepsLessTheFasterTheSlowOneIs) {
  EXPECT_NEAR(multirate(0.02, 1000, true, TACTUS_PASSIVE).least_kept, -0.00022, 2e-5);
  EXPECT_NEAR(multirate(0.1, 1000, true, TACTUS_PASSIVE).least_kept, -0.00513, 1e-4);
  EXPECT_NEAR(multirate(0.2, 1000, true, TACTUS_PASSIVE).least_kept, -0.0206, 4e-4);
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

// A pendulum over the top, whose field lines end at saddles and maxima: the search must not hang, and the ledger
// balances.
TEST(Passive, OverTheTopOfAPendulum) {
  Trial run = balanced(pendulum, pendulum_energy, pendulum_tangent, {0.0, 2.0 + 1e-3});
  const double start = stored(run);
  for (int k = 0; k < 1000; ++k) {
    ASSERT_EQ(run.fixed(TACTUS_PASSIVE, 0.1, 100), TACTUS_OK);
    EXPECT_NEAR(stored(run) - booked(run), start, 1e-11);
  }
}

// A pendulum with friction and a motor, whose book is two more states: supplied, dissipated. (q, p, supplied,
// dissipated).
constexpr double friction = 0.3;
double motor(double t) { return 0.4 * std::cos(1.3 * t); }
int driven(const tactus_model*, tactus_instance*, double t, const double* x, double* dx) {
  dx[0] = x[1];
  dx[1] = -std::sin(x[0]) - friction * x[1] + motor(t);
  dx[2] = motor(t) * x[1];
  dx[3] = dx[2] - (std::sin(x[0]) * dx[0] + x[1] * dx[1]);
  return TACTUS_OK;
}
int driven_energy(const tactus_model*, tactus_instance*, double, const double* x, double* result) {
  result[0] = std::sin(x[0]);
  result[1] = x[1];
  result[2] = result[3] = 0.0;
  result[4] = x[1] * x[1] / 2.0 - std::cos(x[0]);
  return TACTUS_OK;
}
int driven_tangent(const tactus_model*, tactus_instance*, std::uint32_t, double t, const double* x, const double* d,
                   double* result) {
  const double rate = -std::sin(x[0]) - friction * x[1] + motor(t);
  result[0] = d[2];
  result[1] = -std::cos(x[0]) * d[1] - friction * d[2];
  result[2] = motor(t) * d[2];
  result[3] = result[2] - (std::cos(x[0]) * d[1] * x[1] + std::sin(x[0]) * d[2] + d[2] * rate + x[1] * result[1]);
  return TACTUS_OK;
}
int driven_structure(const tactus_model*, tactus_instance*, double, const double*, double* result) {
  for (int i = 0; i < 20; ++i) result[i] = 0.0;
  result[1] = 1.0;
  result[4] = -1.0;
  result[5] = -friction;
  result[16] = result[17] = 1.0;
  return TACTUS_OK;
}
Trial structured(Derivative derivative, Energy energy, Tangent tangent, Energy structure,
                 const std::vector<double>& start) {
  Trial trial(derivative, start, 0.0, 0, TACTUS_LEDGER, structure);
  trial.model.energy = energy;
  trial.model.tangent = tangent;
  trial.model.ledger = 1;
  return trial;
}
Trial driven_pendulum() {
  Trial trial = structured(driven, driven_energy, driven_tangent, driven_structure, {1.0, 0.5, 0.0, 0.0});
  trial.model.book_supplied = 3;
  trial.model.book_dissipated = 4;
  return trial;
}

// stored - start - supplied + dissipated - booked is zero but for rounding, whatever the method's own error.
TEST(Balanced, TheBookOfEveryMethodIsExact) {
  for (const int solver : {TACTUS_PASSIVE, TACTUS_PASSIVE_BS3, TACTUS_PASSIVE_RK4, TACTUS_DISCRETE_GRADIENT,
                           TACTUS_GONZALEZ, TACTUS_MEAN_VALUE}) {
    Trial run = driven_pendulum();
    const double start = stored(run);
    double last = 0.0;
    for (int k = 0; k < 100; ++k) {
      ASSERT_EQ(run.fixed(solver, 0.05, 100), TACTUS_OK) << solver;
      const double invented = stored(run) - start - run.x()[2] + run.x()[3] - booked(run);
      // The mean value is as exact as its quadrature, which errs with the eighth power of the step.
      EXPECT_NEAR(invented, 0.0, 1e-11) << solver << " after " << k;
      if (solver == TACTUS_GONZALEZ || solver == TACTUS_MEAN_VALUE) {
        EXPECT_GT(run.x()[3], last);  // friction takes, and never gives
        last = run.x()[3];
      }
    }
  }
}

TEST(Balanced, EachIsOfItsOrder) {
  const auto error = [](int solver, int steps) {
    Trial exact = driven_pendulum();
    EXPECT_EQ(exact.adaptive(TACTUS_DOP853, 5.0, 1e-14), TACTUS_OK);
    Trial run = driven_pendulum();
    EXPECT_EQ(run.fixed(solver, 5.0 / steps, steps), TACTUS_OK);
    return std::max(std::abs(run.x()[0] - exact.x()[0]), std::abs(run.x()[1] - exact.x()[1]));
  };
  const struct {
    int solver;
    double order;
  } methods[] = {{TACTUS_PASSIVE, 1},  {TACTUS_PASSIVE_BS3, 3}, {TACTUS_PASSIVE_RK4, 4},
                 {TACTUS_GONZALEZ, 2}, {TACTUS_MEAN_VALUE, 2},  {TACTUS_DISCRETE_GRADIENT, 2}};
  for (const auto& method : methods)
    EXPECT_NEAR(std::log2(error(method.solver, 200) / error(method.solver, 400)), method.order, 0.15) << method.solver;
}

// H = p^2/2 + q^4/4: of degree 4, so that Gauss's quadrature with four points has no error.
int quartic(const tactus_model*, tactus_instance*, double, const double* x, double* dx) {
  dx[0] = x[1];
  dx[1] = -x[0] * x[0] * x[0];
  return TACTUS_OK;
}
int quartic_energy(const tactus_model*, tactus_instance*, double, const double* x, double* result) {
  result[0] = x[0] * x[0] * x[0];
  result[1] = x[1];
  result[2] = x[1] * x[1] / 2.0 + x[0] * x[0] * x[0] * x[0] / 4.0;
  return TACTUS_OK;
}
int quartic_tangent(const tactus_model*, tactus_instance*, std::uint32_t, double, const double* x, const double* d,
                    double* result) {
  result[0] = d[2];
  result[1] = -3.0 * x[0] * x[0] * d[1];
  return TACTUS_OK;
}
int canonical(const tactus_model*, tactus_instance*, double, const double*, double* result) {
  const double entries[] = {0.0, 1.0, -1.0, 0.0, 1.0, 1.0};
  std::copy(std::begin(entries), std::end(entries), result);
  return TACTUS_OK;
}

// In long steps, h = 0.5, where the midpoint rule is off by a percent.
TEST(Balanced, AQuarticEnergyIsKeptToRounding) {
  for (const int solver : {TACTUS_GONZALEZ, TACTUS_MEAN_VALUE, TACTUS_MIDPOINT}) {
    Trial run = structured(quartic, quartic_energy, quartic_tangent, canonical, {1.0, 0.0});
    double furthest = 0.0;
    for (int k = 0; k < 1000; ++k) {
      ASSERT_EQ(run.fixed(solver, 0.5, 10), TACTUS_OK) << solver;
      furthest = std::max(furthest, std::abs(stored(run) - 0.25));
    }
    if (solver == TACTUS_MIDPOINT)
      EXPECT_GT(furthest, 1e-3);
    else
      EXPECT_LT(furthest, 1e-11) << solver;  // 10^4 steps, a rounding of H each
  }
}

// x' = J(x) g, J = -skew(x): a free body's angular momentum, Euler's equations with moments 1, 2, 3. Both H and |x|^2
// are kept by the exact motion.
constexpr double moments[] = {1.0, 2.0, 3.0};
int body(const tactus_model*, tactus_instance*, double, const double* x, double* dx) {
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3;
    const int k = (i + 2) % 3;
    dx[i] = x[j] * x[k] / moments[k] - x[k] * x[j] / moments[j];
  }
  return TACTUS_OK;
}
int body_energy(const tactus_model*, tactus_instance*, double, const double* x, double* result) {
  result[3] = 0.0;
  for (int i = 0; i < 3; ++i) {
    result[i] = x[i] / moments[i];
    result[3] += x[i] * x[i] / moments[i] / 2.0;
  }
  return TACTUS_OK;
}
int body_tangent(const tactus_model*, tactus_instance*, std::uint32_t, double, const double* x, const double* d,
                 double* result) {
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3;
    const int k = (i + 2) % 3;
    result[i] = (1.0 / moments[k] - 1.0 / moments[j]) * (d[1 + j] * x[k] + x[j] * d[1 + k]);
  }
  return TACTUS_OK;
}
int body_structure(const tactus_model*, tactus_instance*, double, const double* x, double* result) {
  const double entries[] = {0.0, -x[2], x[1], x[2], 0.0, -x[0], -x[1], x[0], 0.0, 1.0, 1.0, 1.0};
  std::copy(std::begin(entries), std::end(entries), result);
  return TACTUS_OK;
}

TEST(Balanced, AStructureThatChangesWithTheState) {
  for (const int solver : {TACTUS_GONZALEZ, TACTUS_MEAN_VALUE}) {
    Trial run = structured(body, body_energy, body_tangent, body_structure, {0.3, 1.0, 0.2});
    const double start = stored(run);
    for (int k = 0; k < 100; ++k) {
      ASSERT_EQ(run.fixed(solver, 0.1, 100), TACTUS_OK) << solver;
      EXPECT_NEAR(stored(run), start, 1e-12) << solver;
      const double* x = run.x();
      // J(m) d = 0 for d along m, and m.(z - x) = 0 then: the length is kept, too.
      EXPECT_NEAR(x[0] * x[0] + x[1] * x[1] + x[2] * x[2], 1.13, 1e-11) << solver;
    }
  }
}

// What is carried from step to step is no part of the state: many calls give the bits of one.
TEST(DiscreteGradient, ManyCallsGiveTheBitsOfOne) {
  Trial one = balanced(pendulum, pendulum_energy, pendulum_tangent, {1.0, 0.5});
  Trial many = balanced(pendulum, pendulum_energy, pendulum_tangent, {1.0, 0.5});
  ASSERT_EQ(one.fixed(TACTUS_DISCRETE_GRADIENT, 0.1, 1000), TACTUS_OK);
  for (int k = 0; k < 1000; ++k) ASSERT_EQ(many.fixed(TACTUS_DISCRETE_GRADIENT, 0.1, 1), TACTUS_OK);
  EXPECT_EQ(one.states(), many.states());
  EXPECT_EQ(booked(one), booked(many));
}

// `slopes` of a table, put together from its other functions: the flow, the energy, the Jacobian over the states that
// anything reads.
int all_slopes(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* result) {
  const std::uint32_t n = model->state_count;
  EXPECT_EQ(model->derivative(model, instance, t, x, result), TACTUS_OK);
  EXPECT_EQ(model->energy(model, instance, t, x, result + n), TACTUS_OK);
  for (std::uint32_t c = 0; c < model->core_count; ++c) {
    double direction[16] = {};
    double column[16];
    direction[1 + model->core[c]] = 1.0;
    EXPECT_EQ(model->tangent(model, instance, TACTUS_OF_DERIVATIVE, t, x, direction, column), TACTUS_OK);
    for (std::uint32_t r = 0; r < model->core_count; ++r)
      result[2 * n + 1 + r * model->core_count + c] = column[model->core[r]];
  }
  return TACTUS_OK;
}
Trial with_slopes(Trial trial, std::initializer_list<std::uint8_t> core) {
  trial.model.slopes = all_slopes;
  trial.model.core_count = static_cast<std::uint32_t>(core.size());
  std::copy(core.begin(), core.end(), trial.model.core);
  return trial;
}

// Two of four states iterate, all three of a body do: the motion is the same as without, as nearly as the iteration is
// settled; the book is exact.
TEST(DiscreteGradient, SlopesOfTheTableTakeTheSameSteps) {
  Trial run = with_slopes(driven_pendulum(), {0, 1});
  Trial plain = driven_pendulum();
  const double start = stored(run);
  for (int k = 0; k < 100; ++k) {
    ASSERT_EQ(run.fixed(TACTUS_DISCRETE_GRADIENT, 0.05, 100), TACTUS_OK);
    ASSERT_EQ(plain.fixed(TACTUS_DISCRETE_GRADIENT, 0.05, 100), TACTUS_OK);
    EXPECT_NEAR(stored(run) - start - run.x()[2] + run.x()[3] - booked(run), 0.0, 1e-11) << k;
  }
  // 10^4 steps of 1e-8 at most, which friction forgets.
  EXPECT_LT(kernel_test::largest_difference(run.states(), plain.states()), 1e-6);
  EXPECT_EQ(run.discrete()[TACTUS_LEDGER_ESCAPES], 0.0);

  for (const int solver : {TACTUS_DISCRETE_GRADIENT, TACTUS_MIDPOINT}) {
    Trial turning = with_slopes(balanced(body, body_energy, body_tangent, {0.3, 1.0, 0.2}), {0, 1, 2});
    Trial as_well = balanced(body, body_energy, body_tangent, {0.3, 1.0, 0.2});
    const double before = stored(turning);
    ASSERT_EQ(turning.fixed(solver, 0.1, 1000), TACTUS_OK);
    ASSERT_EQ(as_well.fixed(solver, 0.1, 1000), TACTUS_OK);
    EXPECT_LT(kernel_test::largest_difference(turning.states(), as_well.states()), 1e-5) << solver;
    // The midpoint rule keeps a quadratic energy as far as it is settled: 10^3 steps of 1e-8 at most.
    EXPECT_NEAR(stored(turning), before, solver == TACTUS_MIDPOINT ? 1e-5 : 1e-12) << solver;
  }
}

TEST(DiscreteGradient, SlopesOfTheTableAreOfSecondOrderAndCarryNothing) {
  const auto fresh = [] {
    return with_slopes(balanced(pendulum, pendulum_energy, pendulum_tangent, {1.0, 0.5}), {0, 1});
  };
  Trial exact = fresh();
  ASSERT_EQ(exact.adaptive(TACTUS_DOP853, 5.0, 1e-14), TACTUS_OK);
  const auto error = [&](int steps) {
    Trial run = fresh();
    EXPECT_EQ(run.fixed(TACTUS_DISCRETE_GRADIENT, 5.0 / steps, steps), TACTUS_OK);
    return kernel_test::largest_difference(run.states(), exact.states());
  };
  EXPECT_NEAR(std::log2(error(200) / error(400)), 2.0, 0.05);
  // Long steps, too: where Newton's method has to begin far off.
  for (const double h : {0.1, 0.7, 1.5}) {
    Trial one = fresh();
    Trial many = fresh();
    const double start = stored(one);
    ASSERT_EQ(one.fixed(TACTUS_DISCRETE_GRADIENT, h, 1000), TACTUS_OK);
    for (int k = 0; k < 1000; ++k) ASSERT_EQ(many.fixed(TACTUS_DISCRETE_GRADIENT, h, 1), TACTUS_OK);
    EXPECT_EQ(one.states(), many.states());
    EXPECT_NEAR(stored(one) - booked(one), start, 1e-12) << h;
  }
}

TEST(Balanced, NeedAnEnergy) {
  Trial run(swing, {0.0, 2.0});
  EXPECT_EQ(run.fixed(TACTUS_PASSIVE, 0.1, 1), TACTUS_NO_SOLVER);
  EXPECT_EQ(run.fixed(TACTUS_DISCRETE_GRADIENT, 0.1, 1), TACTUS_NO_SOLVER);
  Trial without = balanced(swing, swing_energy, swing_tangent, {0.0, 2.0});
  EXPECT_EQ(without.fixed(TACTUS_GONZALEZ, 0.1, 1), TACTUS_NO_SOLVER);
}

}  // namespace
