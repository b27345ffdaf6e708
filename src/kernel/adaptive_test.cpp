// Adaptive steps: error against tolerance, order, published orbits, the end of an interval, failures, replay.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernel/trial.h"

namespace {

using kernel_test::bell_and_wave;
using kernel_test::bell_and_wave_at;
using kernel_test::largest_difference;
using kernel_test::Trial;

constexpr int kSolvers[] = {TACTUS_BS3, TACTUS_TSIT5, TACTUS_DOP853};

// The plane Kepler problem with eccentricity .5 from its pericentre; period 2 pi.
int kepler(const tactus_model*, tactus_instance*, double, const double* x, double* dx) {
  const double r2 = x[0] * x[0] + x[1] * x[1];
  const double r3 = r2 * std::sqrt(r2);
  dx[0] = x[2];
  dx[1] = x[3];
  dx[2] = -x[0] / r3;
  dx[3] = -x[1] / r3;
  return TACTUS_OK;
}
const std::vector<double> kPericentre = {0.5, 0.0, 0.0, std::sqrt(3.0)};
const double kPeriod = 2.0 * std::acos(-1.0);

TEST(AdaptiveStep, GlobalErrorIsProportionalToTheTolerance) {
  for (int solver : kSolvers) {
    // The line through log error over log tolerance, 1e-7 to 1e-12 by half decades: few and unequal steps scatter about
    // it by a factor of three.
    const int count = 11;
    double sums[4] = {};
    for (int i = 0; i < count; i++) {
      const double tolerance = std::pow(10.0, -7.0 - 0.5 * i);
      Trial run(kepler, kPericentre);
      ASSERT_EQ(run.adaptive(solver, 3.0 * kPeriod, tolerance), TACTUS_OK);
      const double error = largest_difference(run.states(), kPericentre);
      // Three orbits amplify local errors about a hundredfold.
      EXPECT_LT(error, 3e3 * tolerance) << "solver " << solver;
      EXPECT_GT(error, tolerance) << "solver " << solver << " works harder than asked";
      const double u = std::log(tolerance);
      const double v = std::log(error);
      sums[0] += u, sums[1] += v, sums[2] += u * u, sums[3] += u * v;
    }
    const double slope = (count * sums[3] - sums[0] * sums[1]) / (count * sums[2] - sums[0] * sums[0]);
    EXPECT_NEAR(slope, 1.0, 0.25) << "solver " << solver;
  }
}

TEST(AdaptiveStep, OrderShowsWhenOnlyTheLongestStepLimits) {
  for (int solver : kSolvers) {
    const int order = solver == TACTUS_BS3 ? 3 : solver == TACTUS_TSIT5 ? 5 : 8;
    const int coarse = solver == TACTUS_DOP853 ? 12 : 64;
    double errors[2];
    for (int i = 0; i < 2; i++) {
      const int steps = coarse << i;
      Trial run(bell_and_wave, {1.0, 1.0});
      run->next_step = 1.0;
      ASSERT_EQ(run.adaptive(solver, 2.0, 1e6, 2.0 / steps), TACTUS_OK);
      EXPECT_EQ(run->steps, steps);
      EXPECT_EQ(run->rejected, 0);
      errors[i] = largest_difference(run.states(), bell_and_wave_at(2.0));
    }
    EXPECT_NEAR(std::log2(errors[0] / errors[1]), order, 0.4) << "solver " << solver;
  }
}

TEST(AdaptiveStep, ArenstorfOrbitCloses) {
  // HNW p. 129-130: the restricted three-body problem; start, period and closure to the digits given there.
  auto derivative = [](const tactus_model*, tactus_instance*, double, const double* x, double* dx) {
    const double mu = 0.012277471;
    const double nu = 1.0 - mu;
    const double d1 = std::pow((x[0] + mu) * (x[0] + mu) + x[1] * x[1], 1.5);
    const double d2 = std::pow((x[0] - nu) * (x[0] - nu) + x[1] * x[1], 1.5);
    dx[0] = x[2];
    dx[1] = x[3];
    dx[2] = x[0] + 2.0 * x[3] - nu * (x[0] + mu) / d1 - mu * (x[0] - nu) / d2;
    dx[3] = x[1] - 2.0 * x[2] - nu * x[1] / d1 - mu * x[1] / d2;
    return static_cast<int>(TACTUS_OK);
  };
  const std::vector<double> start = {0.994, 0.0, 0.0, -2.00158510637908252240537862224};
  const double period = 17.0652165601579625588917206249;
  for (int solver : {TACTUS_TSIT5, TACTUS_DOP853}) {
    Trial run(derivative, start);
    ASSERT_EQ(run.adaptive(solver, period, 1e-13), TACTUS_OK);
    EXPECT_EQ(run->time, period);
    // The orbit magnifies a disturbance of its start about 1e7-fold in velocity (close encounter at .994).
    EXPECT_NEAR(run.x()[0], start[0], 1e-7) << solver;
    EXPECT_NEAR(run.x()[1], start[1], 1e-7) << solver;
  }
}

int pleiades(const tactus_model*, tactus_instance*, double, const double* s, double* ds) {
  const double* x = s;
  const double* y = s + 7;
  for (int i = 0; i < 7; i++) {
    double ax = 0.0;
    double ay = 0.0;
    for (int j = 0; j < 7; j++) {
      if (i == j) continue;
      const double dx = x[j] - x[i];
      const double dy = y[j] - y[i];
      const double r2 = dx * dx + dy * dy;
      const double factor = (j + 1) / (r2 * std::sqrt(r2));
      ax += factor * dx;
      ay += factor * dy;
    }
    ds[i] = s[14 + i];
    ds[7 + i] = s[21 + i];
    ds[14 + i] = ax;
    ds[21 + i] = ay;
  }
  return TACTUS_OK;
}

TEST(AdaptiveStep, PleiadesToThePublishedDigits) {
  // IVP test set; ten digits of x(3). Close encounters magnify local errors about 1e3-fold.
  const double published[7] = {.3706139144, 3.237284092, -3.222559032, .6597091456,
                               .3425581707, 1.562172101, -.7003092922};
  Trial run(pleiades,
            {3, 3, -1, -3, 2, -2, 2, 3, -3, 2, 0, 0, -4, 4, 0, 0, 0, 0, 0, 1.75, -1.5, 0, 0, 0, -1.25, 1, 0, 0});
  ASSERT_EQ(run.adaptive(TACTUS_DOP853, 3.0, 1e-13), TACTUS_OK);
  for (int i = 0; i < 7; i++) EXPECT_NEAR(run.x()[i], published[i], 1e-9) << "body " << i + 1;
}

TEST(AdaptiveStep, HitsTheEndExactlyAndLeavesNoTinyStep) {
  for (int solver : kSolvers) {
    Trial run(bell_and_wave, {1.0, 1.0});
    double shortest = 1.0;
    // Ends that are no sums of steps, one after the other, as sampled outputs ask for.
    for (double end : {0.1, 1.0 / 3.0, 0.7, 1.9, std::sqrt(7.0)}) {
      while (run->time < end) {
        ASSERT_EQ(run.step(solver, end, 0.0, 1e-7), TACTUS_OK);
        if (run->steps > 1) shortest = std::min(shortest, run->dense_step);
      }
      EXPECT_EQ(run->time, end);
    }
    EXPECT_LT(largest_difference(run.states(), bell_and_wave_at(std::sqrt(7.0))), 1e-5);
    EXPECT_GT(shortest, 1e-3) << "solver " << solver;
    // Nothing left to do is no step.
    const std::int64_t steps = run->steps;
    EXPECT_EQ(run.step(solver, run->time, 0.0, 1e-7), TACTUS_OK);
    EXPECT_EQ(run->steps, steps);
  }
}

TEST(AdaptiveStep, NeverLongerThanAllowed) {
  Trial run(bell_and_wave, {1.0, 1.0});
  while (run->time < 5.0) {
    ASSERT_EQ(run.step(TACTUS_TSIT5, 5.0, 0.03, 1.0), TACTUS_OK);
    EXPECT_LE(run->dense_step, 0.03 * (1.0 + 1e-14));
  }
}

TEST(AdaptiveStep, AStepCutShortDoesNotShrinkTheNext) {
  Trial run(bell_and_wave, {1.0, 1.0});
  run.adaptive(TACTUS_TSIT5, 1.0, 1e-6);
  const double wanted = run->next_step;
  run.step(TACTUS_TSIT5, run->time + 1e-6 * wanted, 0.0, 1e-6);
  EXPECT_GE(run->next_step, wanted);
}

TEST(AdaptiveStep, EvaluatesNothingTwice) {
  static int count;
  auto derivative = [](const tactus_model*, tactus_instance*, double t, const double* x, double* dx) {
    count++;
    return bell_and_wave(nullptr, nullptr, t, x, dx);
  };
  for (int solver : kSolvers) {
    Trial run(derivative, {1.0, 1.0});
    count = 0;
    run.adaptive(solver, 2.0, 1e-6);
    const int stages = solver == TACTUS_BS3 ? 3 : solver == TACTUS_TSIT5 ? 6 : 12;
    // Two more for the first slope and the guess at the first step.
    EXPECT_EQ(count, stages * (run->steps + run->rejected) + 2);
  }
}

TEST(AdaptiveStep, ChangedFromOutsideTheFirstSlopeIsComputedAnew) {
  // x' = p (an input): after the change the host clears first_stage_valid.
  auto derivative = [](const tactus_model*, tactus_instance* instance, double, const double*, double* dx) {
    dx[0] = instance->input_time;
    return 0;
  };
  Trial run(derivative, {0.0});
  run->input_time = 1.0;
  run.adaptive(TACTUS_TSIT5, 1.0, 1e-6);
  run->input_time = -1.0;
  run->first_stage_valid = 0;
  run.adaptive(TACTUS_TSIT5, 2.0, 1e-6);
  EXPECT_NEAR(run.x()[0], 0.0, 1e-14);
}

TEST(AdaptiveStep, BlowUpEndsWithAStepTooSmall) {
  for (int solver : kSolvers) {
    Trial run(
        [](const tactus_model*, tactus_instance*, double, const double* x, double* dx) {
          dx[0] = 0.0;
          dx[1] = x[1] * x[1];
          return 0;
        },
        {5.0, 1.0});
    EXPECT_EQ(run.adaptive(solver, 2.0, 1e-8), TACTUS_STEP_TOO_SMALL);
    EXPECT_EQ(run->status, TACTUS_STEP_TOO_SMALL);
    EXPECT_EQ(run->failed_index, 1);
    EXPECT_NEAR(run->time, 1.0, 1e-6);
    EXPECT_TRUE(std::isfinite(run.x()[1]));
    EXPECT_GT(run.x()[1], 1e6);
  }
}

TEST(AdaptiveStep, ATrialThatIsNotFiniteIsRejected) {
  // x' = -sqrt(x) from 1: x = (1 - t/2)^2. A long first step makes a stage negative.
  for (int solver : kSolvers) {
    Trial run(
        [](const tactus_model*, tactus_instance*, double, const double* x, double* dx) {
          dx[0] = -std::sqrt(x[0]);
          return 0;
        },
        {1.0});
    run->next_step = 100.0;
    ASSERT_EQ(run.adaptive(solver, 1.5, 1e-6, 100.0), TACTUS_OK);
    EXPECT_GT(run->rejected, 0);
    EXPECT_NEAR(run.x()[0], 0.0625, 1e-4);
  }
}

TEST(AdaptiveStep, AnInfiniteSlopeAtTheStartIsNotFinite) {
  Trial run(
      [](const tactus_model*, tactus_instance*, double, const double* x, double* dx) {
        dx[0] = 1.0;
        dx[1] = 1.0 / x[1];
        return 0;
      },
      {1.0, 0.0});
  EXPECT_EQ(run.step(TACTUS_TSIT5, 1.0, 0.0, 1e-6), TACTUS_NOT_FINITE);
  EXPECT_EQ(run->failed_index, 1);
  EXPECT_EQ(run->time, 0.0);
  EXPECT_EQ(run->steps, 0);
}

TEST(AdaptiveStep, AFailingModelIsApproachedAndNamed) {
  for (int solver : kSolvers) {
    Trial run(
        [](const tactus_model*, tactus_instance* instance, double t, const double*, double* dx) {
          dx[0] = 1.0;
          if (t <= 0.5) return static_cast<int>(TACTUS_OK);
          instance->failed_block = 3;
          return static_cast<int>(TACTUS_SINGULAR);
        },
        {0.0});
    EXPECT_EQ(run.adaptive(solver, 1.0, 1e-6), TACTUS_SINGULAR);
    EXPECT_EQ(run->status, TACTUS_SINGULAR);
    EXPECT_EQ(run->failed_block, 3);
    EXPECT_NEAR(run->time, 0.5, 1e-12);
    EXPECT_NEAR(run.x()[0], run->time, 1e-14);
  }
}

TEST(AdaptiveStep, NoStatesNoTrouble) {
  for (int solver : kSolvers) {
    Trial run([](const tactus_model*, tactus_instance*, double, const double*, double*) { return 0; }, {});
    EXPECT_EQ(run.adaptive(solver, 2.0, 1e-6, 0.5), TACTUS_OK);
    EXPECT_EQ(run->time, 2.0);
    EXPECT_EQ(run->steps, 4);
  }
}

// A model whose results depend on its warm start in the last bits, as Newton blocks do: one step towards sqrt(1 + x^2).
int warm_dependent(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* dx) {
  double* warm = tactus_data(instance) + model->layout.warm;
  const double square = 1.0 + x[0] * x[0];
  double z = *warm > 0.0 ? *warm : 1.0;
  for (int i = 0; i < 2; i++) z = 0.5 * (z + square / z);
  *warm = z;
  dx[0] = std::cos(3.0 * t) * z;
  return TACTUS_OK;
}

TEST(AdaptiveStep, ASnapshotReplaysBitForBitInAnotherBlock) {
  for (int solver : kSolvers) {
    Trial first(warm_dependent, {0.5}, 0.0, 1);
    for (int i = 0; i < 20; i++) ASSERT_EQ(first.step(solver, 100.0, 0.0, 1e-6), TACTUS_OK);
    const std::vector<double> saved = first.snapshot();
    for (int i = 0; i < 50; i++) first.step(solver, 100.0, 0.0, 1e-6);
    const std::vector<double> expected = first.snapshot();

    Trial second(warm_dependent, {0.0}, 0.0, 1);
    second.restore(saved);
    for (int i = 0; i < 50; i++) second.step(solver, 100.0, 0.0, 1e-6);
    const std::vector<double> got = second.snapshot();
    EXPECT_EQ(std::memcmp(expected.data(), got.data(), 8 * got.size()), 0) << "solver " << solver;

    // And back in the block it was taken from, whose scratch is now another step's.
    first.restore(saved);
    for (int i = 0; i < 50; i++) first.step(solver, 100.0, 0.0, 1e-6);
    const std::vector<double> again = first.snapshot();
    EXPECT_EQ(std::memcmp(expected.data(), again.data(), 8 * again.size()), 0) << "solver " << solver;
  }
}

TEST(AdaptiveStep, LookingInsideStepsDoesNotChangeTheRun) {
  for (int solver : kSolvers) {
    Trial blind(warm_dependent, {0.5}, 0.0, 1);
    Trial seeing(warm_dependent, {0.5}, 0.0, 1);
    for (int i = 0; i < 50; i++) {
      blind.step(solver, 100.0, 0.0, 1e-6);
      seeing.step(solver, 100.0, 0.0, 1e-6);
      seeing.dense(solver, seeing->dense_from + 0.3 * seeing->dense_step);
    }
    const std::vector<double> a = blind.snapshot();
    const std::vector<double> b = seeing.snapshot();
    EXPECT_EQ(std::memcmp(a.data(), b.data(), 8 * a.size()), 0) << "solver " << solver;
  }
}

TEST(AdaptiveStep, FixedStepsAfterwardsCountFromThere) {
  Trial run(bell_and_wave, {1.0, 1.0});
  run.adaptive(TACTUS_TSIT5, 0.77, 1e-10);
  run.fixed(TACTUS_RK4, 0.001, 230);
  EXPECT_EQ(run->time, 0.77 + 230 * 0.001);
  EXPECT_LT(largest_difference(run.states(), bell_and_wave_at(1.0)), 1e-9);
  // And adaptive again: the slope kept before is not used.
  run.adaptive(TACTUS_TSIT5, 2.0, 1e-10);
  EXPECT_LT(largest_difference(run.states(), bell_and_wave_at(2.0)), 1e-8);
}

}  // namespace
