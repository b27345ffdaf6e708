// Delays against the method of steps: closed forms, orders, jumps, memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernel/hybrid_trial.h"

namespace kernel_test {
namespace {

// x' = -x(t - d), x = 1 up to t = 0: x = sum over k of (-1)^k (t - (k - 1) d)^k / k!, as long as t > (k - 1) d.
struct Feedback : Hybrid {
  explicit Feedback(double duration = 1.0) {
    start = {1.0};
    durations = {duration};
    capacity = 4096;
    derivative = [this](double t, const double*, double* dx) { dx[0] = -delayed(0, t); };
    watch = [](double, const double* s, double* watched) { watched[0] = s[0]; };
  }
  double exact(double t) const {
    double sum = 1.0, factorial = 1.0;
    for (int k = 1; t > (k - 1) * durations[0]; k++) {
      factorial *= -k;
      sum += std::pow(t - (k - 1) * durations[0], k) / factorial;
    }
    return sum;
  }
};

TEST(Delays, FixedStepsHaveOrderFour) {
  for (double duration : {1.0, 0.93}) {  // on the grid and off it
    double previous = 0.0;
    for (double h : {0.1, 0.05, 0.025, 0.0125}) {
      Feedback model(duration);
      model.begin();
      double error = 0.0;
      for (int k = 1; k <= std::lround(6.0 / h); k++) {
        ASSERT_EQ(model.steps(TACTUS_RK4, h, 1), TACTUS_OK);
        EXPECT_EQ(model->time, k * h);
        error = std::max(error, std::fabs(model.x()[0] - model.exact(model->time)));
      }
      if (previous > 0.0) {
        EXPECT_GT(previous / error, 10.0) << duration << " " << h << " " << error;
      }
      previous = error;
    }
    EXPECT_LT(previous, 1e-8);
  }
}

TEST(Delays, AdaptiveStepsFollowTheTolerance) {
  for (double duration : {1.0, 0.7}) {
    for (int solver : {TACTUS_BS3, TACTUS_TSIT5, TACTUS_DOP853}) {
      for (double tolerance : {1e-4, 1e-6, 1e-8, 1e-10}) {
        Feedback model(duration);
        model.begin();
        ASSERT_EQ(model.run(solver, 0.0, 6.0, tolerance), TACTUS_OK);
        EXPECT_NEAR(model.x()[0], model.exact(6.0), 20 * tolerance) << solver << ' ' << tolerance;
      }
    }
  }
}

TEST(Delays, ThinnedHistoriesStayAccurate) {
  // 248 samples over one unit of time, taken at 10000 steps a unit: (1 / 248)^4 * 3 / 128 * |x''''| is below 1e-11.
  Feedback model;
  model.capacity = 256;
  model.begin();
  ASSERT_EQ(model.steps(TACTUS_RK4, 1e-4, 60000), TACTUS_OK);
  EXPECT_NEAR(model.x()[0], model.exact(6.0), 1e-10);
}

TEST(Delays, BeforeTheStartTheFirstValueHolds) {
  Feedback model;
  model.begin();
  EXPECT_EQ(model.delayed(0, 0.0), 1.0);
  EXPECT_EQ(model.delayed(0, 0.5), 1.0);
  ASSERT_EQ(model.steps(TACTUS_RK4, 0.1, 15), TACTUS_OK);
  EXPECT_EQ(model.delayed(0, 0.9), 1.0);
  EXPECT_NEAR(model.delayed(0, 1.25), 0.75, 1e-14);
}

TEST(Delays, BeforeTheStartARateIsZero) {
  // x' = r(t - 1), r being the derivative of t^2 + 2 t: x is 0 until 1, then (t - 1)^2 + 2 (t - 1), which RK4 finds
  // exactly.
  for (double h : {0.1, 0.07}) {
    Hybrid model;
    model.start = {0.0};
    model.durations = {1.0};
    model.are_rates = true;
    model.derivative = [&](double t, const double*, double* dx) { dx[0] = model.delayed(0, t); };
    model.watch = [](double t, const double*, double* watched) { watched[0] = 2.0 * t + 2.0; };
    model.begin();
    EXPECT_EQ(model.delayed(0, 0.0), 0.0);
    EXPECT_EQ(model.delayed(0, 0.99), 0.0);
    ASSERT_EQ(model.steps(TACTUS_RK4, h, std::lround(2.1 / h)), TACTUS_OK);
    const double since = model->time - 1.0;
    EXPECT_NEAR(model.x()[0], since * since + 2.0 * since, 1e-13) << h;
  }
}

// u jumps by 1 at every tick; x' = u(t - d): x is a polygon, exactly.
struct Staircase : Hybrid {
  Staircase(double period, double duration) {
    start = {0.0};
    discrete_start = {0.0};
    events = {every(period, period)};
    durations = {duration};
    derivative = [this](double t, const double*, double* dx) { dx[0] = delayed(0, t); };
    watch = [this](double, const double*, double* watched) { watched[0] = discrete()[0]; };
    fire = [this](std::uint32_t) { discrete()[0] += 1.0; };
  }
  double exact(double t) const {
    double sum = 0.0;
    for (int k = 1; t > k * events[0].period + durations[0]; k++) sum += t - k * events[0].period - durations[0];
    return sum;
  }
};

TEST(Delays, JumpsArriveSharp) {
  for (double period : {0.1, 0.0731}) {
    for (double duration : {0.25, 0.2371}) {
      Staircase fixed(period, duration);
      fixed.begin();
      ASSERT_EQ(fixed.steps(TACTUS_RK4, 0.01, 400), TACTUS_OK);
      EXPECT_NEAR(fixed.x()[0], fixed.exact(4.0), 1e-11) << period << ' ' << duration;
      for (int solver : {TACTUS_TSIT5, TACTUS_DOP853}) {
        Staircase adaptive(period, duration);
        adaptive.begin();
        ASSERT_EQ(adaptive.run(solver, 0.0, 4.0), TACTUS_OK);
        EXPECT_NEAR(adaptive.x()[0], adaptive.exact(4.0), 1e-11) << period << ' ' << duration;
        // A jump is a step's end, so none is rejected for it.
        EXPECT_LT(adaptive->rejected, 5);
      }
    }
  }
}

TEST(Delays, TwoJumpsAtNearlyOneTimeAreOne) {
  // A condition that an event makes true is located just behind it. Together they jump by 2 at 0.5, 1, ..; x' = u(t -
  // 0.25).
  const double apart = 1e-9;
  Staircase model(0.5, 0.25);
  model.events.push_back(Hybrid::every(0.5, 0.5 + apart));
  model.begin();
  ASSERT_EQ(model.run(TACTUS_DOP853, 0.0, 2.0), TACTUS_OK);
  double exact = 0.0;
  for (double jump : {0.5, 1.0, 1.5}) exact += 2.0 * (2.0 - jump - 0.25);
  EXPECT_NEAR(model.x()[0], exact, 10 * apart);
}

TEST(Delays, JumpsTooManyForTheRingAreSmoothed) {
  // A thousand jumps within one duration, in a ring of 64: the ramp that they make is what remains.
  Staircase model(0.001, 1.0);
  model.capacity = 64;
  model.begin();
  ASSERT_EQ(model.steps(TACTUS_RK4, 0.001, 3000), TACTUS_OK);
  EXPECT_NEAR(model.x()[0], model.exact(3.0), 0.04 * model.exact(3.0));
  EXPECT_NEAR(model.delayed(0, 3.0), 2000.0, 40.0);
}

TEST(Delays, DelaysInARowAdd) {
  // y(t) = sin(t - 0.3), z(t) = y(t - 0.45), in one watch.
  for (int solver : {TACTUS_RK4, TACTUS_TSIT5}) {
    Hybrid model;
    model.start = {0.0};
    model.durations = {0.3, 0.45};
    model.derivative = [&](double t, const double*, double* dx) { dx[0] = model.delayed(1, t); };
    model.watch = [&](double t, const double*, double* watched) {
      watched[0] = 2.0 + std::sin(t);
      watched[1] = model.delayed(0, t);
    };
    model.begin();
    EXPECT_EQ(model.delayed(1, 0.0), 2.0);
    ASSERT_EQ(model.run(solver, 0.01, 3.0, 1e-9), TACTUS_OK);
    // 2 up to 0.75, then 2 + sin(t - 0.75).
    EXPECT_NEAR(model.x()[0], 6.0 + 1.0 - std::cos(2.25), 1e-7);
    EXPECT_NEAR(model.delayed(1, 3.0), 2.0 + std::sin(2.25), 1e-7);
  }
}

TEST(Delays, AConditionMayReadTheirPast) {
  // Holds while u(t - 0.25) > 2.5, u counting ticks every 0.1: it rises at 0.3 + 0.25, with the jump.
  Staircase model(0.1, 0.25);
  model.conditions = 1;
  model.events.push_back(Hybrid::when(0));
  std::vector<double> fired;
  model.fire = [&](std::uint32_t event) {
    if (event == 0) model.discrete()[0] += 1.0;
    if (event == 1) fired.push_back(model->time);
  };
  model.watch = [&](double t, const double*, double* watched) {
    watched[0] = model.delayed(0, t) > 2.5;
    watched[1] = model.discrete()[0];
  };
  for (int solver : {TACTUS_RK4, TACTUS_TSIT5}) {
    fired.clear();
    model.begin();
    ASSERT_EQ(model.run(solver, 0.02, 1.0), TACTUS_OK);
    ASSERT_EQ(fired.size(), 1u);
    EXPECT_NEAR(fired[0], 0.55, 1e-14);
  }
}

TEST(Delays, ASnapshotHoldsThePast) {
  for (int solver : {TACTUS_RK4, TACTUS_DOP853}) {
    Feedback model(0.37);
    model.begin();
    ASSERT_EQ(model.run(solver, 0.05, 2.0), TACTUS_OK);
    auto saved = model.snapshot();
    ASSERT_EQ(model.run(solver, 0.05, 4.0), TACTUS_OK);
    double end = model.x()[0];
    model.restore(saved);
    ASSERT_EQ(model.run(solver, 0.05, 4.0), TACTUS_OK);
    EXPECT_EQ(model.x()[0], end);
  }
}

TEST(Delays, AStepLongerThanADelayIsCut) {
  Feedback model(0.01);
  model.begin();
  ASSERT_EQ(model.steps(TACTUS_RK4, 0.1, 10), TACTUS_OK);
  EXPECT_EQ(model->time, 1.0);
  // Two samples at first: a straight line between them is off by d^2 / 8, for the time of one d.
  EXPECT_NEAR(model.x()[0], model.exact(1.0), 0.01 * 0.01 * 0.01 / 8);
}

}  // namespace
}  // namespace kernel_test
