// Dense output: order inside a step, both ends met, continuity from step to step.
#include <gtest/gtest.h>

#include <cmath>

#include "kernel/trial.h"

namespace {

using kernel_test::bell_and_wave;
using kernel_test::bell_and_wave_at;
using kernel_test::largest_difference;
using kernel_test::Trial;

constexpr int kSolvers[] = {TACTUS_BS3, TACTUS_TSIT5, TACTUS_DOP853};

// The largest error inside one step of length h from the exact solution at t = .3.
double error_inside(int solver, double h) {
  Trial run(bell_and_wave, bell_and_wave_at(0.3), 0.3);
  run->next_step = h;
  EXPECT_EQ(run.step(solver, 10.0, h, 1e6), TACTUS_OK);
  double worst = 0.0;
  for (double theta : {0.1, 0.3, 0.5, 0.7, 0.9}) {
    const double t = 0.3 + theta * h;
    worst = std::fmax(worst, largest_difference(run.dense(solver, t), bell_and_wave_at(t)));
  }
  return worst;
}

TEST(Dense, ErrorInsideAStepFallsByTwoToTheOrderPlusOne) {
  for (int solver : kSolvers) {
    const int order = solver == TACTUS_BS3 ? 3 : solver == TACTUS_TSIT5 ? 4 : 7;
    const double h = solver == TACTUS_DOP853 ? 0.125 : 0.05;
    const double slope = std::log2(error_inside(solver, h) / error_inside(solver, 0.5 * h));
    // Never less; rounding forbids dop853 steps so short that its next term, h^9, is gone.
    EXPECT_GT(slope, order + 0.8) << "solver " << solver;
    EXPECT_LT(slope, order + 1.6) << "solver " << solver;
  }
}

TEST(Dense, MeetsBothEndsBitForBit) {
  for (int solver : kSolvers) {
    Trial run(bell_and_wave, {1.0, 1.0});
    for (int i = 0; i < 30; i++) {
      const std::vector<double> before = run.states();
      const double t = run->time;
      ASSERT_EQ(run.step(solver, 7.0, 0.0, 1e-6), TACTUS_OK);
      if (run->time == t) break;
      EXPECT_EQ(run.dense(solver, t), before);
      EXPECT_EQ(run.dense(solver, run->time), run.states());
      // Just inside, it is not far: the formula itself meets the ends to rounding.
      const double h = run->dense_step;
      EXPECT_LT(largest_difference(run.dense(solver, t + 1e-12 * h), before), 1e-11);
      EXPECT_LT(largest_difference(run.dense(solver, run->time - 1e-12 * h), run.states()), 1e-11);
    }
  }
}

TEST(Dense, SlopeIsContinuousFromStepToStep) {
  for (int solver : kSolvers) {
    Trial run(bell_and_wave, {1.0, 1.0});
    run.step(solver, 7.0, 0.0, 1e-9);
    for (int i = 0; i < 10; i++) {
      // One-sided differences at the joint; second order by a parabola through three points.
      const double t = run->time;
      auto slope = [&](double d) {
        const std::vector<double> near = run.dense(solver, t + d);
        const std::vector<double> far = run.dense(solver, t + 2.0 * d);
        const std::vector<double> at = run.dense(solver, t);
        return (4.0 * near[1] - far[1] - 3.0 * at[1]) / (2.0 * d);
      };
      const double d = 1e-3 * run->dense_step;
      const double left = slope(-d);
      run.step(solver, 7.0, 0.0, 1e-9);
      const double right = slope(1e-3 * run->dense_step);
      // tsit5's interpolant joins with the error of its slope, h^4; the others with the exact one.
      EXPECT_NEAR(left, right, 1e-5) << "solver " << solver;
    }
  }
}

TEST(Dense, WorksWhereTheStateWasChangedAfterTheStep) {
  for (int solver : kSolvers) {
    Trial run(bell_and_wave, {1.0, 1.0});
    run.adaptive(solver, 1.0, 1e-9);
    const double t = run->dense_from + 0.5 * run->dense_step;
    run.set_states({-100.0, 100.0});
    EXPECT_LT(largest_difference(run.dense(solver, t), bell_and_wave_at(t)), 1e-6);
  }
}

TEST(Dense, BeforeAnyStepItIsTheState) {
  Trial run(bell_and_wave, {3.0, 4.0});
  EXPECT_EQ(run.dense(TACTUS_DOP853, 0.0), (std::vector<double>{3.0, 4.0}));
  run.fixed(TACTUS_RK4, 0.1, 3);
  EXPECT_EQ(run.dense(TACTUS_TSIT5, run->time), run.states());
}

TEST(Dense, ExtraStagesThatFailFallBackToBothEnds) {
  // The equation cannot be evaluated once the step is done.
  static bool is_closed;
  is_closed = false;
  Trial run(
      [](const tactus_model*, tactus_instance* instance, double t, const double* x, double* dx) {
        if (is_closed) {
          instance->failed_block = 1;
          return static_cast<int>(TACTUS_DIVERGED);
        }
        return bell_and_wave(nullptr, nullptr, t, x, dx);
      },
      {1.0, 1.0});
  run.adaptive(TACTUS_DOP853, 0.3, 1e-9);
  is_closed = true;
  const double t = run->dense_from + 0.5 * run->dense_step;
  EXPECT_LT(largest_difference(run.dense(TACTUS_DOP853, t), bell_and_wave_at(t)), 1e-4);
  EXPECT_EQ(run->status, TACTUS_OK);
  EXPECT_EQ(run->failed_block, -1);
}

}  // namespace
