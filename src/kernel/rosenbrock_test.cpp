// The stiff method: order, stability, dense output, control, the sparse matrix, events, and published answers.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernel/hybrid_trial.h"
#include "kernel/trial.h"

namespace {

using kernel_test::bell_and_wave;
using kernel_test::bell_and_wave_at;
using kernel_test::Hybrid;
using kernel_test::largest_difference;
using kernel_test::Trial;

using Tangent = decltype(tactus_model::tangent);

Trial stiff_trial(Tangent tangent, kernel_test::Derivative derivative, const std::vector<double>& start,
                  double start_time = 0.0) {
  Trial trial(derivative, start, start_time);
  trial.model.tangent = tangent;
  return trial;
}

int bell_and_wave_tangent(const tactus_model*, tactus_instance*, std::uint32_t, double t, const double* x,
                          const double* d, double* result) {
  result[0] = -2.0 * x[0] * x[0] * d[0] - 4.0 * t * x[0] * d[1];
  result[1] = -std::sin(t) * x[1] * d[0] + std::cos(t) * d[2];
  return TACTUS_OK;
}
Trial bell_and_wave_trial() { return stiff_trial(bell_and_wave_tangent, bell_and_wave, {1.0, 1.0}); }

double slope_of(double (*error)(int steps), int steps) { return std::log2(error(steps) / error(2 * steps)); }

// Prothero and Robinson: x' = -1e6 (x - cos t) - sin t, x = cos t.
constexpr double rate = 1e6;
int follow_cosine(const tactus_model*, tactus_instance*, double t, const double* x, double* dx) {
  dx[0] = -rate * (x[0] - std::cos(t)) - std::sin(t);
  return TACTUS_OK;
}
int follow_cosine_tangent(const tactus_model*, tactus_instance*, std::uint32_t, double t, const double*,
                          const double* d, double* result) {
  result[0] = -rate * (d[1] + std::sin(t) * d[0]) - std::cos(t) * d[0];
  return TACTUS_OK;
}

TEST(Rosenbrock, OrderFiveOnAMotionThatDependsOnTime) {
  auto error = [](int steps) {
    Trial run = bell_and_wave_trial();
    EXPECT_EQ(run.fixed(TACTUS_ROSENBROCK_FIXED, 2.0 / steps, steps), TACTUS_OK);
    return largest_difference(run.states(), bell_and_wave_at(2.0));
  };
  EXPECT_NEAR(slope_of(error, 40), 5.0, 0.25);
  EXPECT_LT(error(40), 1e-7);
}

TEST(Rosenbrock, OrderFiveWhenStatesMeetInProducts) {
  // Lotka and Volterra, autonomous: only the conditions with mixed elementary differentials of a system fail here when
  // a coefficient is wrong. The reference is the same motion with 16 times as many steps of another method.
  auto prey = [](const tactus_model*, tactus_instance*, double, const double* x, double* dx) {
    dx[0] = x[0] * (1.0 - x[1]);
    dx[1] = x[1] * (x[0] - 1.0);
    return int{TACTUS_OK};
  };
  auto tangent = [](const tactus_model*, tactus_instance*, std::uint32_t, double, const double* x, const double* d,
                    double* result) {
    result[0] = d[1] * (1.0 - x[1]) - x[0] * d[2];
    result[1] = d[2] * (x[0] - 1.0) + x[1] * d[1];
    return int{TACTUS_OK};
  };
  Trial exact(prey, {2.0, 1.0});
  ASSERT_EQ(exact.adaptive(TACTUS_DOP853, 5.0, 1e-14), TACTUS_OK);
  auto error = [&](int steps) {
    Trial run = stiff_trial(tangent, prey, {2.0, 1.0});
    EXPECT_EQ(run.fixed(TACTUS_ROSENBROCK_FIXED, 5.0 / steps, steps), TACTUS_OK);
    return largest_difference(run.states(), exact.states());
  };
  EXPECT_NEAR(std::log2(error(160) / error(320)), 5.0, 0.2);
}

TEST(Rosenbrock, KeepsOrderFourHoweverStiffTheMotionIs) {
  // Prothero and Robinson again, with the rate in input_time: the worst error over all rates, at each step length.
  auto error = [](int steps) {
    double worst = 0.0;
    for (double lambda = 1.0; lambda < 1e9; lambda *= 1.25) {
      Trial run(
          [](const tactus_model*, tactus_instance* instance, double t, const double* x, double* dx) {
            dx[0] = -instance->input_time * (x[0] - std::cos(t)) - std::sin(t);
            return int{TACTUS_OK};
          },
          {1.0});
      run.model.tangent = [](const tactus_model*, tactus_instance* instance, std::uint32_t, double t, const double*,
                             const double* d, double* result) {
        result[0] = -instance->input_time * (d[1] + std::sin(t) * d[0]) - std::cos(t) * d[0];
        return int{TACTUS_OK};
      };
      run->input_time = lambda;
      EXPECT_EQ(run.fixed(TACTUS_ROSENBROCK_FIXED, 2.0 / steps, steps), TACTUS_OK);
      worst = std::fmax(worst, std::fabs(run.x()[0] - std::cos(2.0)));
    }
    return worst;
  };
  EXPECT_NEAR(slope_of(error, 16), 4.0, 0.3);
  EXPECT_LT(error(16), 1e-7);
}

TEST(Rosenbrock, ForgetsAtOnceWhatDiesAtOnce) {
  // L-stable: R(z) -> 0 as z -> -inf, like 1 / z. A method that is only A-stable, such as the trapezoidal rule, keeps
  // -1.
  for (double lambda : {-1e3, -1e6, -1e9}) {
    auto decay = [](const tactus_model*, tactus_instance* instance, double, const double* x, double* dx) {
      dx[0] = instance->input_time * x[0];
      return int{TACTUS_OK};
    };
    Trial run = stiff_trial(
        [](const tactus_model*, tactus_instance* instance, std::uint32_t, double, const double*, const double* d,
           double* result) {
          result[0] = instance->input_time * d[1];
          return int{TACTUS_OK};
        },
        decay, {1.0});
    run->input_time = lambda;
    ASSERT_EQ(run.fixed(TACTUS_ROSENBROCK_FIXED, 1.0, 1), TACTUS_OK);
    EXPECT_LT(std::fabs(run.x()[0]), 200.0 / -lambda) << lambda;
  }
}

TEST(Rosenbrock, DenseOutputIsOfOrderFourAndMeetsBothEnds) {
  auto error = [](int steps) {
    Trial run = bell_and_wave_trial();
    const double h = 2.0 / steps;
    double largest = 0.0;
    for (int k = 0; k < steps; k++) {
      EXPECT_EQ(run.fixed(TACTUS_ROSENBROCK_FIXED, h, 1), TACTUS_OK);
      for (double theta : {0.2, 0.5, 0.8}) {
        const double t = (k + theta) * h;
        largest = std::fmax(largest, largest_difference(run.dense(TACTUS_ROSENBROCK_FIXED, t), bell_and_wave_at(t)));
      }
    }
    return largest;
  };
  // One step's interpolation errs by h^5 and is not summed, the step itself by the sum of h^6: both fall by 32.
  EXPECT_NEAR(slope_of(error, 40), 5.0, 0.35);

  Trial run = bell_and_wave_trial();
  const std::vector<double> before = run.states();
  ASSERT_EQ(run.step(TACTUS_ROSENBROCK, 1.0, 0.0, 1e-6), TACTUS_OK);
  EXPECT_EQ(run.dense(TACTUS_ROSENBROCK, 0.0), before);
  EXPECT_EQ(run.dense(TACTUS_ROSENBROCK, run->time), run.states());
}

TEST(Rosenbrock, AdaptiveErrorFollowsTheTolerance) {
  for (double tolerance : {1e-4, 1e-6, 1e-8, 1e-10}) {
    Trial run = bell_and_wave_trial();
    ASSERT_EQ(run.adaptive(TACTUS_ROSENBROCK, 2.0, tolerance), TACTUS_OK);
    EXPECT_EQ(run->time, 2.0);
    EXPECT_LT(largest_difference(run.states(), bell_and_wave_at(2.0)), 10.0 * tolerance) << tolerance;
  }
}

TEST(Rosenbrock, StepsFollowTheMotionAndNotWhatDiedOut) {
  // An explicit method of this stability would need h < 3.5e-6: 600,000 steps.
  Trial run = stiff_trial(follow_cosine_tangent, follow_cosine, {3.0});
  ASSERT_EQ(run.adaptive(TACTUS_ROSENBROCK, 2.0, 1e-6), TACTUS_OK);
  EXPECT_NEAR(run.x()[0], std::cos(2.0), 1e-6);
  EXPECT_LT(run->steps, 100);
}

TEST(Rosenbrock, VanDerPolWithMuAThousand) {
  auto oscillate = [](const tactus_model*, tactus_instance*, double, const double* x, double* dx) {
    dx[0] = x[1];
    dx[1] = 1000.0 * (1.0 - x[0] * x[0]) * x[1] - x[0];
    return int{TACTUS_OK};
  };
  auto tangent = [](const tactus_model*, tactus_instance*, std::uint32_t, double, const double* x, const double* d,
                    double* result) {
    result[0] = d[2];
    result[1] = -2000.0 * x[0] * x[1] * d[1] + 1000.0 * (1.0 - x[0] * x[0]) * d[2] - d[1];
    return int{TACTUS_OK};
  };
  Trial run = stiff_trial(tangent, oscillate, {2.0, 0.0});
  ASSERT_EQ(run.adaptive(TACTUS_ROSENBROCK, 2000.0, 1e-8), TACTUS_OK);
  // IVP test set (CWI, Bari). An error of 1e-8 in the state where it leaves the slow manifold is one of 1e-8 / |x2| =
  // 1e-5 in time, then of 1e-5 * 8.9e-4 in the state; a few of them add up.
  EXPECT_NEAR(run.x()[0], 1.706167732170469, 1e-6);
  EXPECT_NEAR(run.x()[1], -8.928097010248125e-4, 1e-9);
  EXPECT_LT(run->steps + run->rejected, 3000);
}

TEST(Rosenbrock, RobertsonOverElevenDecades) {
  auto react = [](const tactus_model*, tactus_instance*, double, const double* y, double* dy) {
    dy[0] = -0.04 * y[0] + 1e4 * y[1] * y[2];
    dy[2] = 3e7 * y[1] * y[1];
    dy[1] = -dy[0] - dy[2];
    return int{TACTUS_OK};
  };
  auto tangent = [](const tactus_model*, tactus_instance*, std::uint32_t, double, const double* y, const double* d,
                    double* result) {
    result[0] = -0.04 * d[1] + 1e4 * (y[1] * d[3] + y[2] * d[2]);
    result[2] = 6e7 * y[1] * d[2];
    result[1] = -result[0] - result[2];
    return int{TACTUS_OK};
  };
  Trial run = stiff_trial(tangent, react, {1.0, 0.0, 0.0});
  ASSERT_EQ(run.adaptive(TACTUS_ROSENBROCK, 1e11, 1e-12), TACTUS_OK);
  // IVP test set. The tolerance is absolute for what is small: 1e-12 a step of y1 = 2e-8.
  EXPECT_NEAR(run.x()[0], 2.083340149701255e-8, 1e-11);
  EXPECT_NEAR(run.x()[1], 8.333360770334713e-14, 1e-16);
  EXPECT_NEAR(run.x()[2], 0.9999999791665050, 1e-11);
  EXPECT_LT(run->steps, 2000);
}

TEST(Rosenbrock, ASnapshotGoesOnWithTheSameBits) {
  Trial run = bell_and_wave_trial();
  for (int k = 0; k < 3; k++) ASSERT_EQ(run.step(TACTUS_ROSENBROCK, 2.0, 0.0, 1e-6), TACTUS_OK);
  const std::vector<double> saved = run.snapshot();
  ASSERT_EQ(run.adaptive(TACTUS_ROSENBROCK, 2.0, 1e-6), TACTUS_OK);
  const std::vector<double> first = run.snapshot();
  run.restore(saved);
  ASSERT_EQ(run.adaptive(TACTUS_ROSENBROCK, 2.0, 1e-6), TACTUS_OK);
  EXPECT_EQ(std::memcmp(run.snapshot().data(), first.data(), 8 * first.size()), 0);
}

TEST(Rosenbrock, FixedTimeDoesNotDriftAndAFailureLeavesTheLastGoodStep) {
  Trial run = bell_and_wave_trial();
  ASSERT_EQ(run.fixed(TACTUS_ROSENBROCK_FIXED, 0.1, 7), TACTUS_OK);
  ASSERT_EQ(run.fixed(TACTUS_ROSENBROCK_FIXED, 0.1, 3), TACTUS_OK);
  EXPECT_EQ(run->time, 10 * 0.1);
  EXPECT_EQ(run->steps, 10);

  run.model.derivative = [](const tactus_model*, tactus_instance*, double, const double*, double*) {
    return int{TACTUS_DIVERGED};
  };
  const std::vector<double> good = run.states();
  EXPECT_EQ(run.fixed(TACTUS_ROSENBROCK_FIXED, 0.1, 3), TACTUS_DIVERGED);
  EXPECT_EQ(run.states(), good);
  EXPECT_EQ(run->time, 10 * 0.1);
}

TEST(Rosenbrock, SaysWhenTheTableCannotServeIt) {
  Trial without(bell_and_wave, {1.0, 1.0});
  EXPECT_EQ(without.step(TACTUS_ROSENBROCK, 1.0, 0.0, 1e-6), TACTUS_NO_SOLVER);
  EXPECT_EQ(without.fixed(TACTUS_ROSENBROCK_FIXED, 0.1, 1), TACTUS_NO_SOLVER);
  EXPECT_EQ(without.step(TACTUS_CVODE, 1.0, 0.0, 1e-6), TACTUS_NO_SOLVER);
  EXPECT_EQ(without.states(), (std::vector<double>{1.0, 1.0}));

  auto still = [](const tactus_model* m, tactus_instance*, double, const double*, double* dx) {
    for (std::uint32_t i = 0; i < m->state_count; i++) dx[i] = 0.0;
    return int{TACTUS_OK};
  };
  Trial large = stiff_trial([](const tactus_model*, tactus_instance*, std::uint32_t, double, const double*,
                               const double*, double*) { return int{TACTUS_OK}; },
                            still, std::vector<double>(TACTUS_DENSE_STATES + 1, 1.0));
  EXPECT_EQ(large.step(TACTUS_ROSENBROCK, 1.0, 0.0, 1e-6), TACTUS_NO_SOLVER);
}

// Heat in a rod of n cells between cold ends: a chain, so three colours give J and elimination in the natural order has
// no fill.
struct Rod {
  explicit Rod(std::uint32_t n, bool reversed = false) {
    auto flow = [](const tactus_model* m, tactus_instance*, double, const double* x, double* dx) {
      const std::uint32_t count = m->state_count;
      for (std::uint32_t i = 0; i < count; i++) {
        const double left = i > 0 ? x[i - 1] : 0.0;
        const double right = i + 1 < count ? x[i + 1] : 0.0;
        dx[i] = (count + 1.0) * (count + 1.0) * (left - 2.0 * x[i] + right);
      }
      return int{TACTUS_OK};
    };
    std::vector<double> start(n);
    for (std::uint32_t i = 0; i < n; i++)
      start[i] = std::sin(3.141592653589793 * (i + 1) / (n + 1)) + (i % 2 == 0 ? 0.5 : 0);
    pattern_start = {0};
    for (std::uint32_t j = 0; j < n; j++) {
      for (std::uint32_t i = j > 0 ? j - 1 : 0; i <= j + 1 && i < n; i++) pattern_index.push_back(i);
      pattern_start.push_back(static_cast<std::uint32_t>(pattern_index.size()));
      colours.push_back(j % 3);
    }
    for (std::uint32_t k = 0; k < n; k++) order.push_back(reversed ? n - 1 - k : k);
    // The chain reversed is a chain again; its pattern is symmetric, so rows and columns are the same list.
    for (std::uint32_t k = 0; k < n; k++) {
      for (std::uint32_t e = pattern_start[k]; e < pattern_start[k + 1]; e++) {
        if (pattern_index[e] == k) diagonal.push_back(e);
      }
    }
    for (std::uint32_t j = 0; j < n; j++) {
      for (std::uint32_t e = pattern_start[j]; e < pattern_start[j + 1]; e++) {
        const std::uint32_t row = reversed ? n - 1 - pattern_index[e] : pattern_index[e];
        const std::uint32_t column = reversed ? n - 1 - j : j;
        for (std::uint32_t f = pattern_start[row]; f < pattern_start[row + 1]; f++) {
          if (pattern_index[f] == column) places.push_back(f);
        }
      }
    }
    derivative = flow;
    begin = start;
  }

  tactus_model& fill(tactus_model& model, bool with_factors) const {
    model.jacobian = {pattern_start.data(), pattern_index.data()};
    model.colours = colours.data();
    model.colour_count = 3;
    if (with_factors) {
      model.factors = {pattern_start.data(), pattern_index.data()};
      model.factor_order = order.data();
      model.factor_diagonal = diagonal.data();
      model.factor_places = places.data();
    }
    model.tangent = [](const tactus_model* m, tactus_instance* instance, std::uint32_t, double t, const double*,
                       const double* d, double* result) { return m->derivative(m, instance, t, d + 1, result); };
    return model;
  }

  // The states at `end`, from an Instance of this model.
  std::vector<double> run(bool with_factors, double end, std::int64_t* steps = nullptr) const {
    tactus_model model{};
    model.abi = TACTUS_ABI;
    model.state_count = static_cast<std::uint32_t>(begin.size());
    model.derivative = derivative;
    fill(model, with_factors);
    tk_layout(&model, &model.layout);
    std::vector<double> block((tactus_instance_bytes(&model) + 7) / 8, 0.0);
    auto* instance = reinterpret_cast<tactus_instance*>(block.data());
    EXPECT_EQ(tk_reset(&model, instance), TACTUS_OK);
    std::copy(begin.begin(), begin.end(), tactus_data(instance) + model.layout.states);
    EXPECT_EQ(tk_start(&model, instance), TACTUS_OK);
    while (instance->time < end) {
      if (tk_adaptive_step(&model, instance, TACTUS_ROSENBROCK, end, 0.0, 1e-9) != TACTUS_OK) {
        ADD_FAILURE() << "status " << instance->status;
        break;
      }
    }
    if (steps) *steps = instance->steps;
    const double* x = tactus_data(instance) + model.layout.states;
    return {x, x + begin.size()};
  }

  // x_i(t) = sum over the modes of the start: closed form by the discrete sine transform.
  std::vector<double> exact(double t) const {
    const int n = static_cast<int>(begin.size());
    const double step = 3.141592653589793 / (n + 1);
    std::vector<double> x(begin.size());
    for (int mode = 1; mode <= n; mode++) {
      double weight = 0.0;
      for (int i = 0; i < n; i++) weight += begin[static_cast<std::size_t>(i)] * std::sin(step * mode * (i + 1));
      const double s = 2.0 * (n + 1) * std::sin(0.5 * step * mode);
      weight *= 2.0 / (n + 1) * std::exp(-s * s * t);
      for (int i = 0; i < n; i++) x[static_cast<std::size_t>(i)] += weight * std::sin(step * mode * (i + 1));
    }
    return x;
  }

  kernel_test::Derivative derivative;
  std::vector<double> begin;
  std::vector<std::uint32_t> pattern_start, pattern_index, colours, order, diagonal, places;
};

TEST(Rosenbrock, SparseAndDenseAgreeWithTheClosedForm) {
  for (bool reversed : {false, true}) {
    const Rod rod(40, reversed);
    EXPECT_LT(largest_difference(rod.run(false, 0.05), rod.exact(0.05)), 1e-8);
    EXPECT_LT(largest_difference(rod.run(true, 0.05), rod.exact(0.05)), 1e-8);
    EXPECT_LT(largest_difference(rod.run(true, 0.05), rod.run(false, 0.05)), 1e-12);
  }
}

TEST(Rosenbrock, ALargeSparseModelNeedsNoFullMatrix) {
  const Rod rod(1000);
  std::int64_t steps = 0;
  EXPECT_LT(largest_difference(rod.run(true, 0.01, &steps), rod.exact(0.01)), 1e-8);
  EXPECT_LT(steps, 500);  // the fastest mode decays at 4e6: an explicit method would take 10,000
}

TEST(Rosenbrock, APivotLostToCancellationAsksForAShorterStep) {
  // J = (1 0; 0 -1) plus off-diagonals that make shift - J singular without exchanges at shift = 1 / gamma: rows (0 1;
  // 1 s).
  tactus_model model{};
  model.state_count = 2;
  const double shift = 4.0;
  model.derivative = [](const tactus_model*, tactus_instance*, double, const double* x, double* dx) {
    dx[0] = 4.0 * x[0] - x[1];
    dx[1] = -x[0];
    return int{TACTUS_OK};
  };
  const std::vector<std::uint32_t> start = {0, 2, 4}, index = {0, 1, 0, 1}, order = {0, 1}, diagonal = {0, 3},
                                   places = {0, 2, 1, 3}, colours = {0, 1};
  model.jacobian = model.factors = {start.data(), index.data()};
  model.colours = colours.data();
  model.colour_count = 2;
  model.factor_order = order.data();
  model.factor_diagonal = diagonal.data();
  model.factor_places = places.data();
  model.tangent = [](const tactus_model* m, tactus_instance* instance, std::uint32_t, double t, const double*,
                     const double* d, double* result) { return m->derivative(m, instance, t, d + 1, result); };
  tk_layout(&model, &model.layout);
  std::vector<double> block((tactus_instance_bytes(&model) + 7) / 8, 0.0);
  auto* instance = reinterpret_cast<tactus_instance*>(block.data());
  tk_reset(&model, instance);
  double slope[2];
  ASSERT_EQ(tk_linear_differentiate(&model, instance, 0.0, tactus_data(instance), slope), TACTUS_OK);
  EXPECT_EQ(tk_linear_factor(&model, instance, shift), TACTUS_SINGULAR);
  // W = (4 1; 1 8): W (1, 2) = (6, 17).
  ASSERT_EQ(tk_linear_factor(&model, instance, 2.0 * shift), TACTUS_OK);
  double b[2] = {6.0, 17.0};
  tk_linear_solve(&model, instance, b);
  EXPECT_NEAR(b[0], 1.0, 1e-15);
  EXPECT_NEAR(b[1], 2.0, 1e-15);
}

TEST(Rosenbrock, EventsAreLocatedOnItsDenseOutput) {
  // A stiff follower of cos t; the event is where the follower falls through 0.5: t = pi / 3 but for 1e-6 of lag.
  for (int solver : {TACTUS_ROSENBROCK_FIXED, TACTUS_ROSENBROCK}) {
    Hybrid model;
    model.start = {1.0};
    model.conditions = 1;
    model.events = {Hybrid::when(0)};
    std::vector<double> times;
    model.derivative = [](double t, const double* x, double* dx) {
      dx[0] = -rate * (x[0] - std::cos(t)) - std::sin(t);
    };
    model.watch = [](double, const double* x, double* watched) { watched[0] = x[0] < 0.5 ? 1.0 : 0.0; };
    model.fire = [&](std::uint32_t) { times.push_back(model->time); };
    model.model.tangent = follow_cosine_tangent;
    ASSERT_EQ(model.begin(), TACTUS_OK);
    ASSERT_EQ(model.run(solver, 0.1, 7.0, 1e-8), TACTUS_OK);
    ASSERT_EQ(times.size(), 1u) << solver;
    EXPECT_NEAR(times[0], std::acos(0.5), 2e-6) << solver;
    EXPECT_NEAR(model.x()[0], std::cos(7.0), 1e-6) << solver;
  }
}

TEST(Stiffness, IsFeltByTheExplicitMethodsAndForgotten) {
  for (int solver : {TACTUS_BS3, TACTUS_TSIT5, TACTUS_DOP853}) {
    auto follow = [](const tactus_model*, tactus_instance*, double t, const double* x, double* dx) {
      dx[0] = -1000.0 * (x[0] - std::cos(t)) - std::sin(t);
      return int{TACTUS_OK};
    };
    Trial stiff(follow, {1.0});
    ASSERT_EQ(stiff.adaptive(solver, 2.0, 1e-6), TACTUS_OK);
    EXPECT_EQ(stiff->stiff_steps, TACTUS_STIFF) << solver;

    Trial smooth(bell_and_wave, {1.0, 1.0});
    ASSERT_EQ(smooth.adaptive(solver, 20.0, 1e-9), TACTUS_OK);
    EXPECT_EQ(smooth->stiff_steps, 0) << solver;

    // Undamped: no decay is at the edge, whatever the frequency.
    auto swing = [](const tactus_model*, tactus_instance*, double, const double* x, double* dx) {
      dx[0] = 100.0 * x[1];
      dx[1] = -100.0 * x[0];
      return int{TACTUS_OK};
    };
    Trial fast(swing, {1.0, 0.0});
    ASSERT_EQ(fast.adaptive(solver, 5.0, 1e-6), TACTUS_OK);
    EXPECT_LT(fast->stiff_steps, TACTUS_STIFF) << solver;

    // Steps that h_max keeps short, of slopes as exact as Newton leaves them: their stages differ by that rest alone.
    auto nearly = [](const tactus_model*, tactus_instance*, double, const double* x, double* dx) {
      dx[0] = -0.5 * x[0] + 1e-11 * std::sin(1e16 * x[0]);
      return int{TACTUS_OK};
    };
    Trial held(nearly, {0.5});
    while (held->time < 3.0) {
      ASSERT_EQ(held.step(solver, 3.0, 0.003, 1e-6), TACTUS_OK);
      ASSERT_EQ(held->stiff_steps, 0) << solver << " at " << held->time;
    }
  }
}

}  // namespace
