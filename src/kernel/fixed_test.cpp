// Fixed steps: order, exactness, time without drift, and what a failure leaves behind.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "kernel/trial.h"

namespace {

using kernel_test::bell_and_wave;
using kernel_test::bell_and_wave_at;
using kernel_test::largest_difference;
using kernel_test::Trial;

struct Named {
  int solver;
  int order;
};
constexpr Named kMethods[] = {{TACTUS_EULER, 1}, {TACTUS_BS3_FIXED, 3}, {TACTUS_RK4, 4}};

double error_at_two(int solver, int steps) {
  Trial run(bell_and_wave, {1.0, 1.0});
  EXPECT_EQ(run.fixed(solver, 2.0 / steps, steps), TACTUS_OK);
  return largest_difference(run.states(), bell_and_wave_at(2.0));
}

TEST(FixedSteps, ErrorFallsByTwoToTheOrderWhenTheStepHalves) {
  for (const Named& method : kMethods) {
    const double slope = std::log2(error_at_two(method.solver, 128) / error_at_two(method.solver, 256));
    // At 128 steps the next term of the error expansion is a few per cent of the first.
    EXPECT_NEAR(slope, method.order, 0.1) << "solver " << method.solver;
  }
}

TEST(FixedSteps, ExactOnPolynomialsOfTimeBelowTheOrder) {
  for (const Named& method : kMethods) {
    for (int degree = 0; degree < 6; degree++) {
      // x' = (degree + 1) t^degree, from x(1) = 1: x = t^(degree + 1)
      Trial run(
          [](const tactus_model*, tactus_instance* instance, double t, const double*, double* dx) {
            const int d = static_cast<int>(instance->input_time);
            dx[0] = (d + 1) * std::pow(t, d);
            return 0;
          },
          {1.0}, 1.0);
      run->input_time = degree;
      run.fixed(method.solver, 0.125, 8);
      const double error = std::fabs(run.x()[0] - std::pow(2.0, degree + 1)) / std::pow(2.0, degree + 1);
      // Simpson's rule and its like are exact below the order; 8 steps round at most 8 times.
      if (degree < method.order) {
        EXPECT_LT(error, 2e-15) << "solver " << method.solver << " degree " << degree;
      } else {
        EXPECT_GT(error, 1e-9) << "solver " << method.solver << " degree " << degree;
      }
    }
  }
}

TEST(FixedSteps, TimeIsStartPlusStepsTimesH) {
  Trial run(
      [](const tactus_model*, tactus_instance*, double, const double*, double* dx) {
        dx[0] = 0.0;
        return 0;
      },
      {1.0}, 3.0);
  for (int chunk = 0; chunk < 1000; chunk++) run.fixed(TACTUS_EULER, 0.1, 10000);
  EXPECT_EQ(run->steps, 10000000);
  EXPECT_EQ(run->time, 3.0 + 1e7 * 0.1);
}

TEST(FixedSteps, LastStageOfAStepAndFirstOfTheNextAreAtTheSameInstant) {
  static std::vector<double> times;
  times.clear();
  Trial run(
      [](const tactus_model*, tactus_instance*, double t, const double*, double* dx) {
        times.push_back(t);
        dx[0] = 0.0;
        return 0;
      },
      {1.0}, 0.7);
  run.fixed(TACTUS_RK4, 0.1, 1000);
  ASSERT_EQ(times.size(), 4000u);
  for (std::size_t step = 0; step + 1 < 1000; step++) {
    EXPECT_EQ(times[4 * step], 0.7 + static_cast<double>(step) * 0.1);
    EXPECT_EQ(times[4 * step + 1], 0.7 + (static_cast<double>(step) + 0.5) * 0.1);
    EXPECT_EQ(times[4 * step + 1], times[4 * step + 2]);
    EXPECT_EQ(times[4 * step + 3], times[4 * step + 4]);
  }
}

TEST(FixedSteps, ChunksDoNotChangeTheBits) {
  for (const Named& method : kMethods) {
    Trial whole(bell_and_wave, {1.0, 1.0});
    Trial pieces(bell_and_wave, {1.0, 1.0});
    whole.fixed(method.solver, 0.01, 300);
    for (int count : {1, 2, 3, 94, 200}) pieces.fixed(method.solver, 0.01, count);
    EXPECT_EQ(whole.states(), pieces.states());
    EXPECT_EQ(whole->time, pieces->time);
    EXPECT_EQ(whole->steps, pieces->steps);
  }
}

TEST(FixedSteps, AnotherStepLengthCountsFromThere) {
  Trial run(bell_and_wave, {1.0, 1.0});
  run.fixed(TACTUS_RK4, 0.01, 100);
  run.fixed(TACTUS_RK4, 0.001, 500);
  EXPECT_EQ(run->start_time, 1.0);
  EXPECT_EQ(run->steps, 500);
  EXPECT_EQ(run->time, 1.0 + 500 * 0.001);
  EXPECT_LT(largest_difference(run.states(), bell_and_wave_at(1.5)), 1e-8);
}

TEST(FixedSteps, NoStatesNoTrouble) {
  Trial run([](const tactus_model*, tactus_instance*, double, const double*, double*) { return 0; }, {});
  EXPECT_EQ(run.fixed(TACTUS_RK4, 0.5, 4), TACTUS_OK);
  EXPECT_EQ(run->time, 2.0);
}

// x0' = 0; x1' = x1^2 from 1 is 1 / (1 - t): infinite at t = 1.
int blow_up(const tactus_model*, tactus_instance*, double, const double* x, double* dx) {
  dx[0] = 0.0;
  dx[1] = x[1] * x[1];
  return TACTUS_OK;
}

TEST(FixedSteps, BlowUpKeepsTheLastFiniteState) {
  for (const Named& method : kMethods) {
    Trial run(blow_up, {5.0, 1.0});
    EXPECT_EQ(run.fixed(method.solver, 0.01, 1000), TACTUS_NOT_FINITE);
    EXPECT_EQ(run->status, TACTUS_NOT_FINITE);
    EXPECT_EQ(run->failed_index, 1);
    EXPECT_EQ(run->failed_block, -1);
    EXPECT_GT(run->steps, 99);
    EXPECT_LT(run->steps, 130);
    EXPECT_EQ(run->time, static_cast<double>(run->steps) * 0.01);
    EXPECT_TRUE(std::isfinite(run.x()[1]));
    // Exactly the state after that many steps, and the next one fails again.
    Trial again(blow_up, {5.0, 1.0});
    EXPECT_EQ(again.fixed(method.solver, 0.01, run->steps), TACTUS_OK);
    EXPECT_EQ(again.states(), run.states());
    EXPECT_EQ(run.fixed(method.solver, 0.01, 1), TACTUS_NOT_FINITE);
    EXPECT_EQ(again.states(), run.states());
  }
}

TEST(FixedSteps, LargeFiniteStatesWhoseSumOverflowsAreNotAFailure) {
  Trial run(
      [](const tactus_model*, tactus_instance*, double, const double*, double* dx) {
        dx[0] = dx[1] = 0.0;
        return 0;
      },
      {1.7e308, 1.7e308});
  EXPECT_EQ(run.fixed(TACTUS_RK4, 0.1, 10), TACTUS_OK);
  EXPECT_EQ(run->steps, 10);
}

TEST(FixedSteps, AFailingModelStopsAtTheLastGoodStep) {
  Trial run(
      [](const tactus_model*, tactus_instance* instance, double t, const double*, double* dx) {
        dx[0] = 1.0;
        if (t < 0.55) return static_cast<int>(TACTUS_OK);
        instance->failed_block = 7;
        return static_cast<int>(TACTUS_DIVERGED);
      },
      {0.0});
  EXPECT_EQ(run.fixed(TACTUS_RK4, 0.1, 100), TACTUS_DIVERGED);
  EXPECT_EQ(run->status, TACTUS_DIVERGED);
  EXPECT_EQ(run->failed_block, 7);
  EXPECT_EQ(run->failed_index, -1);
  EXPECT_EQ(run->steps, 5);
  EXPECT_EQ(run->time, 5 * 0.1);
  EXPECT_NEAR(run.x()[0], 0.5, 1e-15);
}

}  // namespace
