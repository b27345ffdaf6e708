// The loop around the kernel, on tables filled by hand. Tolerances: rk4 at h = 0.01 on x' = -x over [0, 1] has an error
// of about h^4 / 120 e^-1, 3e-11; Hermite interpolation adds at most h^4 / 384.
#include "runtime/sim/run.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "runtime/sim/models_for_tests.h"

namespace sim {
namespace {

struct Kept : Observer {
  std::vector<double> times;
  std::vector<std::vector<double>> rows;
  std::size_t most = std::numeric_limits<std::size_t>::max();

  bool row(double t, std::span<const double> outputs) override {
    times.push_back(t);
    rows.emplace_back(outputs.begin(), outputs.end());
    return rows.size() < most;
  }
};

Request request_for(const HandFilled& model, const Settings& settings) {
  Request request;
  request.table = [&model] { return &model.table; };
  std::string failure;
  auto plan = make_plan(model.table, settings, failure);
  EXPECT_TRUE(plan) << failure;
  if (plan) request.plan = *plan;
  return request;
}

trace::Signal signal_from(const std::string& text) {
  std::string failure;
  auto table = trace::parse_csv(text, "test", {}, failure);
  EXPECT_TRUE(table) << failure;
  auto signal = trace::Signal::from_table(*table, "test", failure);
  EXPECT_TRUE(signal) << failure;
  return *signal;
}

TEST(Run, FixedStepsFollowTheClosedForm) {
  Decay model;
  Kept kept;
  Outcome outcome = run(request_for(model, {.step = 0.01, .until = 1.0, .every = 0.1}), &kept);
  EXPECT_EQ(outcome.ending, Ending::done);
  EXPECT_EQ(outcome.steps, 100);
  ASSERT_EQ(kept.rows.size(), 11u);
  for (std::size_t k = 0; k < kept.rows.size(); ++k) {
    EXPECT_DOUBLE_EQ(kept.times[k], 0.1 * static_cast<double>(k));
    EXPECT_NEAR(kept.rows[k][0], std::exp(-kept.times[k]), 1e-10);
    EXPECT_EQ(kept.rows[k][1], kept.times[k]);
  }
  EXPECT_EQ(outcome.outputs, kept.rows.back());
}

TEST(Run, RowsBetweenStepsAreInterpolatedAtTheirExactTimes) {
  Decay model;
  Kept kept;
  Outcome outcome = run(request_for(model, {.step = 0.01, .until = 1.0, .every = 0.034}), &kept);
  EXPECT_EQ(outcome.ending, Ending::done);
  ASSERT_EQ(kept.rows.size(), 31u);  // 0 .. 29 * 0.034 and the end
  for (std::size_t k = 0; k < 30; ++k) EXPECT_NEAR(kept.times[k], 0.034 * static_cast<double>(k), 1e-15);
  EXPECT_DOUBLE_EQ(kept.times.back(), 1);
  for (std::size_t k = 0; k < kept.rows.size(); ++k) EXPECT_NEAR(kept.rows[k][0], std::exp(-kept.times[k]), 2e-10);
}

TEST(Run, EveryStepMayHaveItsRow) {
  Decay model;
  Kept fixed;
  EXPECT_EQ(run(request_for(model, {.step = 0.01, .until = 0.055, .every_step = true}), &fixed).ending, Ending::done);
  ASSERT_EQ(fixed.rows.size(), 7u);
  for (std::size_t k = 0; k < 6; ++k) EXPECT_DOUBLE_EQ(fixed.times[k], 0.01 * static_cast<double>(k));
  EXPECT_EQ(fixed.times.back(), 0.055);
  Kept adaptive;
  const Outcome outcome = run(request_for(model, {.tolerance = 1e-8, .until = 3, .every_step = true}), &adaptive);
  EXPECT_EQ(outcome.ending, Ending::done);
  ASSERT_EQ(adaptive.rows.size(), static_cast<std::size_t>(outcome.steps) + 1);
  for (std::size_t k = 0; k < adaptive.rows.size(); ++k) {
    EXPECT_TRUE(k == 0 || adaptive.times[k] > adaptive.times[k - 1]);
    EXPECT_NEAR(adaptive.rows[k][0], std::exp(-adaptive.times[k]), 1e-7);
  }
  EXPECT_EQ(adaptive.times.back(), 3);
}

TEST(Run, TheStartIsShown) {
  Decay model;
  Request request = request_for(model, {.tolerance = 1e-8, .until = 3});
  request.parameters = {{0, 2.5}};
  std::vector<double> seen;
  request.at_start = [&](const tactus_instance& instance) {
    const double* data = tactus_data_const(&instance);
    seen = {instance.time, data[model.table.layout.states], data[model.table.layout.parameters]};
  };
  EXPECT_EQ(run(request, nullptr).ending, Ending::done);
  EXPECT_EQ(seen, (std::vector<double>{0, 1, 2.5}));
}

// x = 1 / (1 - t): towards t = 1 the steps become shorter and shorter.
TEST(Run, EndsWhereStepsBecomeShorterThanAllowed) {
  Explosion model;
  const Outcome outcome = run(request_for(model, {.tolerance = 1e-6, .until = 2, .least_step = 1e-3}), nullptr);
  EXPECT_EQ(outcome.ending, Ending::failed);
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->kind, "step_too_small");
  EXPECT_GT(outcome.time, 0.9);
  EXPECT_LT(outcome.time, 1);
  EXPECT_NE(outcome.failure->text.find("the least allowed is 0.001"), std::string::npos) << outcome.failure->text;
}

// cos(t) > 0 changes at pi / 2 + k pi.
struct Switching : HandFilled {
  std::vector<tactus_relation> relations = {{TACTUS_TRUTH, 0, 0, 0, 1, 1}};
  Switching() {
    state_names = {"x"};
    channels = {{"x", "", 0, 1, 1, 0}};
    table.discrete_count = 1;
    table.watch_count = 1;
    table.relation_count = 1;
    table.relations = relations.data();
    table.initialize = [](const tactus_model*, tactus_instance*) { return int{TACTUS_OK}; };
    table.derivative = [](const tactus_model* model, tactus_instance* instance, double, const double*, double* dx) {
      dx[0] = tactus_data(instance)[model->layout.discrete];
      return int{TACTUS_OK};
    };
    table.outputs = [](const tactus_model* model, tactus_instance* instance, double, const double* x) {
      tactus_data(instance)[model->layout.outputs] = x[0];
      return int{TACTUS_OK};
    };
    table.watch = [](const tactus_model* model, tactus_instance* instance, double t, const double*) {
      tactus_data(instance)[model->layout.watched] = std::cos(t);
      return int{TACTUS_OK};
    };
    finish();
  }
};

TEST(Run, EndsWhereChangesAreMoreThanAllowed) {
  const double pi = std::acos(-1.0);
  for (const Settings& how : {Settings{.step = 0.01, .until = 30}, Settings{.tolerance = 1e-6, .until = 30}}) {
    Switching model;
    Settings settings = how;
    settings.most_changes = 3;
    const Outcome outcome = run(request_for(model, settings), nullptr);
    EXPECT_EQ(outcome.ending, Ending::failed);
    ASSERT_TRUE(outcome.failure);
    EXPECT_EQ(outcome.failure->kind, "too_many_changes");
    // The fourth; with fixed steps seen where the step ends.
    EXPECT_NEAR(outcome.time, 3.5 * pi, how.step ? 0.011 : 1e-6);
    settings.most_changes = 10;
    EXPECT_EQ(run(request_for(model, settings), nullptr).ending, Ending::done);
  }
}

TEST(Run, SeveralRowsMayFallIntoOneStep) {
  Decay model;
  Kept kept;
  Outcome outcome = run(request_for(model, {.step = 0.1, .until = 0.2, .every = 0.03}), &kept);
  EXPECT_EQ(outcome.steps, 2);
  ASSERT_EQ(kept.rows.size(), 8u);
  for (std::size_t k = 0; k < 7; ++k) EXPECT_EQ(kept.times[k], 0.03 * static_cast<double>(k));
  for (std::size_t k = 0; k < kept.rows.size(); ++k) EXPECT_NEAR(kept.rows[k][0], std::exp(-kept.times[k]), 1e-6);
}

TEST(Run, RecordingDoesNotChangeTheMotion) {
  Root model;  // its Newton block would start elsewhere after a solve for a row
  Outcome none = run(request_for(model, {.step = 0.01, .until = 0.9}), nullptr);
  for (double every : {0.01, 0.1, 0.0137}) {
    Kept kept;
    Outcome some = run(request_for(model, {.step = 0.01, .until = 0.9, .every = every}), &kept);
    EXPECT_EQ(none.outputs, some.outputs) << every;
  }
  Outcome adaptive = run(request_for(model, {.until = 0.9}), nullptr);
  Kept kept;
  EXPECT_EQ(adaptive.outputs, run(request_for(model, {.until = 0.9, .every = 0.01}), &kept).outputs);
  EXPECT_NEAR(none.outputs[0], 0.9, 1e-12);  // a straight line: any method is exact
}

TEST(Run, TheLastStepIsShorterWhenTheEndIsOffTheGrid) {
  Decay model;
  Kept kept;
  Outcome outcome = run(request_for(model, {.step = 0.1, .until = 0.25, .every = 0.1}), &kept);
  EXPECT_EQ(outcome.steps, 3);
  EXPECT_EQ(outcome.time, 0.25);
  ASSERT_EQ(kept.times.size(), 4u);
  EXPECT_EQ(kept.times.back(), 0.25);
  EXPECT_NEAR(kept.rows.back()[0], std::exp(-0.25), 1e-6);
  Kept off;
  EXPECT_EQ(run(request_for(model, {.step = 0.1, .until = 0.25, .every = 0.04}), &off).ending, Ending::done);
  ASSERT_EQ(off.times.size(), 8u);  // 0, 0.04 .. 0.24, and the end
  EXPECT_EQ(off.times[6], 0.24);
  EXPECT_NEAR(off.rows[6][0], std::exp(-0.24), 1e-6);
}

TEST(Run, AStepLongerThanTheSpanIsCut) {
  Decay model;
  Outcome outcome = run(request_for(model, {.step = 1.0, .until = 0.01}), nullptr);
  EXPECT_EQ(outcome.steps, 1);
  EXPECT_EQ(outcome.time, 0.01);
  EXPECT_NEAR(outcome.outputs[0], std::exp(-0.01), 1e-12);
}

TEST(Run, NoTimeAtAllIsOneRow) {
  Decay model;
  for (bool fixed : {true, false}) {
    Kept kept;
    Settings settings{.until = 0.0};
    if (fixed) settings.step = 0.1;
    Outcome outcome = run(request_for(model, settings), &kept);
    EXPECT_EQ(outcome.ending, Ending::done);
    EXPECT_EQ(kept.times, std::vector<double>{0});
    EXPECT_EQ(outcome.outputs[0], 1);
  }
}

TEST(Run, AdaptiveRowsStandAtExactMultiples) {
  Decay model;
  for (tactus_solver solver : {TACTUS_BS3, TACTUS_TSIT5, TACTUS_DOP853}) {
    Kept kept;
    Outcome outcome =
        run(request_for(model, {.solver = solver, .tolerance = 1e-9, .until = 2.0, .every = 0.07}), &kept);
    EXPECT_EQ(outcome.ending, Ending::done);
    ASSERT_EQ(kept.rows.size(), 30u);
    for (std::size_t k = 0; k < 29; ++k) EXPECT_EQ(kept.times[k], 0.07 * static_cast<double>(k));
    EXPECT_EQ(kept.times.back(), 2);
    // Errors stay near the tolerance; dense output loses at most one order.
    for (std::size_t k = 0; k < kept.rows.size(); ++k)
      EXPECT_NEAR(kept.rows[k][0], std::exp(-kept.times[k]), 1e-7) << solver;
  }
}

TEST(Run, ALargestStepIsKept) {
  Decay model;
  Outcome outcome = run(request_for(model, {.solver = TACTUS_TSIT5, .step = 0.01, .until = 1.0}), nullptr);
  EXPECT_GE(outcome.steps, 100);
  EXPECT_LE(outcome.steps, 102);
}

TEST(Run, ParametersAreSetBeforeTheStart) {
  Decay model;
  Request request = request_for(model, {.step = 0.001, .until = 1.0});
  request.parameters = {{0, 3.0}};
  EXPECT_NEAR(run(request, nullptr).outputs[0], std::exp(-3.0), 1e-11);
}

TEST(Run, AStartOtherThanZero) {
  Decay model;
  model.table.starting_time = 100;
  Kept kept;
  EXPECT_EQ(run(request_for(model, {.step = 0.01, .until = 101.0, .every = 0.25}), &kept).ending, Ending::done);
  EXPECT_EQ(kept.times, (std::vector<double>{100, 100.25, 100.5, 100.75, 101}));
}

// u is linear between its knots, so x is a parabola in each piece: rk4 and the adaptive pairs integrate it exactly.
TEST(Run, AnInputFollowsItsSignal) {
  Follower model;
  trace::Signal signal = signal_from("t,u\n0,0\n1,2\n2,0\n");
  for (bool fixed : {true, false}) {
    Settings settings{.until = 3.0, .every = 0.5};
    if (fixed) settings.step = 0.125;
    Request request = request_for(model, settings);
    request.feeds = {{0, &signal, 0}};
    Kept kept;
    Outcome outcome = run(request, &kept);
    EXPECT_EQ(outcome.ending, Ending::done);
    ASSERT_EQ(kept.rows.size(), 7u);
    std::vector<double> x = {0, 0.25, 1, 1.75, 2, 2, 2};
    std::vector<double> u = {0, 1, 2, 1, 0, 0, 0};
    for (std::size_t k = 0; k < 7; ++k) {
      EXPECT_NEAR(kept.rows[k][0], x[k], 1e-14) << k;
      EXPECT_NEAR(kept.rows[k][1], u[k], 1e-14) << k;  // the integral of the rate
      EXPECT_NEAR(kept.rows[k][2], u[k], 1e-14) << k;
    }
    if (!fixed) {
      EXPECT_EQ(outcome.rejected, 0);  // no step crosses a knot
    }
  }
}

// With a step across the knot at 1 the chord over it is used: the input is right at every step's ends.
TEST(Run, AFixedStepAcrossAKnotTakesTheChord) {
  Follower model;
  trace::Signal signal = signal_from("0,0\n1,2\n2,0\n");
  Request request = request_for(model, {.step = 0.4, .until = 2.0});
  request.feeds = {{0, &signal, 0}};
  Kept kept;
  EXPECT_EQ(run(request, &kept).ending, Ending::done);
  ASSERT_EQ(kept.rows.size(), 6u);
  EXPECT_NEAR(kept.rows[3][1], 1.6, 1e-14);                           // t = 1.2
  EXPECT_NEAR(kept.rows[3][0], 0.64 + 0.4 * (1.6 + 1.6) / 2, 1e-14);  // trapezoid of the chord from 0.8 to 1.2
  EXPECT_NEAR(kept.rows[3][2], 1.6, 1e-14);
}

TEST(Run, AnInputThatNothingFeedsReadsZero) {
  Follower model;
  Outcome outcome = run(request_for(model, {.step = 0.1, .until = 1.0}), nullptr);
  EXPECT_EQ(outcome.outputs, (std::vector<double>{0, 0, 0}));
}

TEST(Run, KnotsCloserThanRoundingDoNoHarm) {
  Follower model;
  trace::Signal signal = signal_from("0,0\n0.3,3\n0.30000000000000004,3\n1,3\n");
  Request request = request_for(model, {.until = 1.0});
  request.feeds = {{0, &signal, 0}};
  Outcome outcome = run(request, nullptr);
  EXPECT_EQ(outcome.ending, Ending::done);
  EXPECT_NEAR(outcome.outputs[0], 0.45 + 2.1, 1e-12);
}

TEST(Run, GrowthWithoutBoundEndsWithItsStateNamed) {
  Explosion model;
  Kept kept;
  Outcome fixed = run(request_for(model, {.step = 0.01, .until = 2.0, .every = 0.1}), &kept);
  EXPECT_EQ(fixed.ending, Ending::failed);
  ASSERT_TRUE(fixed.failure);
  EXPECT_EQ(fixed.failure->status, TACTUS_NOT_FINITE);
  EXPECT_NE(fixed.failure->text.find("x ceased to be a finite number"), std::string::npos) << fixed.failure->text;
  EXPECT_GT(fixed.time, 0.9);
  ASSERT_GE(kept.rows.size(), 11u);  // all rows up to then, and the last good one
  EXPECT_NEAR(kept.rows[5][0], 2, 1e-4);
  for (const auto& row : kept.rows) EXPECT_TRUE(std::isfinite(row[0]));

  Outcome adaptive = run(request_for(model, {.until = 2.0}), nullptr);
  EXPECT_EQ(adaptive.ending, Ending::failed);
  ASSERT_TRUE(adaptive.failure);
  EXPECT_NEAR(adaptive.time, 1, 1e-3);
  EXPECT_NE(adaptive.failure->text.find("x"), std::string::npos);
}

TEST(Run, AnEquationWithoutSolutionIsToldWithItsValues) {
  Root model;
  for (bool fixed : {true, false}) {
    Settings settings{.until = 2.0, .every = 0.1};
    if (fixed) settings.step = 0.01;
    Kept kept;
    Outcome outcome = run(request_for(model, settings), &kept);
    EXPECT_EQ(outcome.ending, Ending::failed);
    ASSERT_TRUE(outcome.failure);
    const Failure& failure = *outcome.failure;
    EXPECT_TRUE(failure.status == TACTUS_DIVERGED || failure.status == TACTUS_SINGULAR) << failure.text;
    EXPECT_EQ(failure.equations, "z^2 = 1 - x");
    EXPECT_EQ(failure.line, 7u);
    ASSERT_EQ(failure.unknowns.size(), 1u);
    EXPECT_EQ(failure.unknowns[0].name, "z");
    ASSERT_EQ(failure.states.size(), 1u);
    EXPECT_NEAR(failure.states[0].value, failure.time, 1e-6);
    EXPECT_NEAR(failure.time, 1, 0.1);
    EXPECT_NE(failure.text.find("line 7"), std::string::npos) << failure.text;
    EXPECT_GE(kept.rows.size(), 10u);
  }
}

TEST(Run, AStartThatIsNotANumberIsToldAtTheStart) {
  Decay model;
  model.table.initialize = [](const tactus_model* table, tactus_instance* instance) {
    tactus_data(instance)[table->layout.states] = std::numeric_limits<double>::quiet_NaN();
    return int{TACTUS_OK};
  };
  Kept kept;
  Outcome outcome = run(request_for(model, {.step = 0.1}), &kept);
  EXPECT_EQ(outcome.ending, Ending::failed);
  ASSERT_TRUE(outcome.failure);
  EXPECT_NE(outcome.failure->text.find("at the start"), std::string::npos) << outcome.failure->text;
  EXPECT_TRUE(kept.rows.empty());
  EXPECT_TRUE(outcome.outputs.empty());
}

TEST(Run, AnInterruptionKeepsTheRowsAndAddsWhereItStood) {
  for (bool fixed : {true, false}) {
    Decay model;
    std::atomic<bool> stop = false;
    Settings settings{.until = 1e12, .every = 1e11};
    if (fixed) settings.step = 0.001;
    if (!fixed) settings.solver = TACTUS_TSIT5, settings.step = 0.001;
    Request request = request_for(model, settings);
    request.stop = &stop;
    int calls = 0;
    request.progress = [&](double t) {
      EXPECT_GT(t, 0);
      stop = ++calls == 2;
    };
    Kept kept;
    Outcome outcome = run(request, &kept);
    EXPECT_EQ(outcome.ending, Ending::interrupted);
    EXPECT_EQ(calls, 2);
    ASSERT_EQ(kept.times.size(), 2u);
    EXPECT_EQ(kept.times[1], outcome.time);
    EXPECT_FALSE(outcome.outputs.empty());
  }
}

TEST(Run, ARowThatCannotBeKeptEndsTheRun) {
  Decay model;
  Kept kept;
  kept.most = 5;
  Outcome outcome = run(request_for(model, {.step = 0.01, .until = 1.0}), &kept);
  EXPECT_EQ(outcome.ending, Ending::not_kept);
  EXPECT_EQ(kept.rows.size(), 5u);
}

TEST(Run, ATierSwapIsInvisible) {
  Decay quick;
  Decay better;
  better.table.fixed_steps = [](const tactus_model* model, tactus_instance* instance, int solver, double h,
                                int64_t count) { return tk_fixed_steps(model, instance, solver, h, count); };
  Request plain = request_for(quick, {.step = 0.001, .until = 5.0});
  Request swapped = plain;
  int asked = 0;
  swapped.table = [&] { return ++asked < 5 ? &quick.table : &better.table; };
  EXPECT_EQ(run(plain, nullptr).outputs, run(swapped, nullptr).outputs);
  EXPECT_GT(asked, 5);
}

TEST(Run, MemoryIsConstant) {
  Decay model;
  Request request = request_for(model, {.step = 1e-6, .until = 2.0});  // 2e6 steps
  auto used = [] { return mallinfo2().uordblks; };
  std::size_t before = used();
  std::size_t most = 0;
  request.progress = [&](double) { most = std::max(most, used()); };
  Outcome outcome = run(request, nullptr);
  EXPECT_EQ(outcome.steps, 2'000'000);
  EXPECT_LT(most, before + 20'000);  // the Instance and a few vectors
}

TEST(RunEvents, ARowAtAnEventShowsTheValuesAfterIt) {
  for (bool watches : {false, true}) {
    Counter model(watches);
    for (double every : {0.05, 0.25, 0.0125}) {  // 0.0125: rows between steps
      for (bool fixed : {true, false}) {
        Kept kept;
        Settings settings{.until = 2.0, .every = every};
        if (fixed) settings.step = 0.025;
        Outcome outcome = run(request_for(model, settings), &kept);
        ASSERT_EQ(outcome.ending, Ending::done);
        ASSERT_EQ(kept.rows.size(), static_cast<std::size_t>(std::lround(2 / every)) + 1);
        for (std::size_t k = 0; k < kept.rows.size(); ++k) {
          EXPECT_NEAR(kept.times[k], static_cast<double>(k) * every, 1e-15);
          // The ticks at or before the row; x is continuous and linear between them.
          EXPECT_EQ(kept.rows[k][1], std::floor(kept.times[k] / 0.25 + 1e-6) + 1) << kept.times[k];
          EXPECT_NEAR(kept.rows[k][0], Counter::x(kept.times[k]), 1e-12) << kept.times[k];
          EXPECT_EQ(kept.rows[k][2], watches && kept.rows[k][0] > 1 ? 1 : 0) << kept.times[k];
        }
        EXPECT_EQ(outcome.outputs, kept.rows.back());
      }
    }
  }
}

TEST(RunEvents, EventsOffTheGridLeaveItAsItIs) {
  Counter model(true, 0.0371);
  Kept kept;
  Outcome outcome = run(request_for(model, {.step = 0.01, .until = 2.0, .every = 0.0033}), &kept);
  EXPECT_EQ(outcome.ending, Ending::done);
  EXPECT_EQ(outcome.steps, 200);
  EXPECT_EQ(outcome.time, 2.0);
  for (std::size_t k = 0; k < kept.rows.size(); ++k)
    EXPECT_NEAR(kept.rows[k][0], Counter::x(kept.times[k], 0.0371), 1e-11) << kept.times[k];
}

TEST(RunEvents, RecordingDoesNotChangeTheMotion) {
  for (bool watches : {false, true}) {
    Counter model(watches, 0.0371);
    for (Settings settings : {Settings{.step = 0.01, .until = 2.005}, Settings{.tolerance = 1e-7, .until = 2.005},
                              Settings{.solver = TACTUS_DOP853, .until = 2.005}}) {
      Outcome none = run(request_for(model, settings), nullptr);
      for (double every : {0.01, 0.1, 0.0137}) {
        settings.every = every;
        Kept kept;
        EXPECT_EQ(none.outputs, run(request_for(model, settings), &kept).outputs) << every;
      }
    }
  }
}

TEST(RunEvents, InputsMoveOnThroughEvents) {
  // The input is a ramp, so that x' = u is met exactly by any step, in whatever parts it is taken.
  Follower model;
  model.events = {{"clock", TACTUS_EVERY, 0, 0, 1, 0.037, 0, 0, 0}};
  model.finish();
  auto signal = signal_from("t,u\n0,0\n1,2\n2,2\n");
  for (bool fixed : {true, false}) {
    Settings settings{.until = 2.0, .every = 0.033};
    if (fixed) settings.step = 0.01;
    Request request = request_for(model, settings);
    request.feeds = {{0, &signal, 0}};
    Kept kept;
    Outcome outcome = run(request, &kept);
    ASSERT_EQ(outcome.ending, Ending::done);
    for (std::size_t k = 0; k < kept.rows.size(); ++k) {
      double t = kept.times[k];
      EXPECT_NEAR(kept.rows[k][0], t < 1 ? t * t : 1 + 2 * (t - 1), 1e-12) << t;
      EXPECT_NEAR(kept.rows[k][2], t < 1 ? 2 * t : 2, 1e-12) << t;
    }
  }
}

TEST(RunEvents, EventsWithoutEndAreExplained) {
  Counter model;
  // From the third tick on, full makes it empty and empty makes it full.
  model.events.push_back({"empty", TACTUS_WHEN, 1, 1, 5, 0, 0, 0, 0});
  model.table.watch_count = 2;
  model.table.fire = [](const tactus_model* m, tactus_instance* instance, std::uint32_t event) {
    double* discrete = tactus_data(instance) + m->layout.discrete;
    if (event == 0) discrete[0] += 1;
    if (event == 1) discrete[1] = 0;
    if (event == 2 || discrete[0] == 3) discrete[1] = event == 1 ? 0 : 1;
    return int{TACTUS_OK};
  };
  model.table.watch = [](const tactus_model* m, tactus_instance* instance, double, const double*) {
    double* data = tactus_data(instance);
    data[m->layout.watched] = data[m->layout.discrete + 1] == 1;
    data[m->layout.watched + 1] = data[m->layout.discrete + 1] == 0 && data[m->layout.discrete] > 2;
    return int{TACTUS_OK};
  };
  model.finish();
  Outcome outcome = run(request_for(model, {.step = 0.01, .until = 2.0}), nullptr);
  EXPECT_EQ(outcome.ending, Ending::failed);
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->status, TACTUS_ENDLESS_EVENTS);
  EXPECT_EQ(outcome.failure->kind, "endless_events");
  EXPECT_EQ(outcome.failure->line, 4u);
  EXPECT_NE(outcome.failure->text.find("`full` (line 4) -> `empty` (line 5) -> `full`"), std::string::npos)
      << outcome.failure->text;
  EXPECT_NEAR(outcome.time, 0.5, 1e-12);
}

TEST(RunEvents, ADelayFollowsTheMethodOfSteps) {
  Late model;
  for (bool fixed : {true, false}) {
    Settings settings{.until = 4.0, .every = 0.07};
    if (fixed) settings.step = 0.01;
    if (!fixed) settings.tolerance = 1e-8;
    Kept kept;
    Outcome outcome = run(request_for(model, settings), &kept);
    ASSERT_EQ(outcome.ending, Ending::done);
    for (std::size_t k = 0; k < kept.rows.size(); ++k)
      EXPECT_NEAR(kept.rows[k][0], Late::x(kept.times[k]), 2e-7) << kept.times[k];
  }
}

TEST(RunEvents, ADelayShorterThanTheStepIsRefused) {
  Late model;
  Request request = request_for(model, {.step = 0.01, .until = 1.0});
  request.parameters = {{0, 0.004}};
  Outcome outcome = run(request, nullptr);
  EXPECT_EQ(outcome.ending, Ending::failed);
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->kind, "delay_too_short");
  EXPECT_NE(outcome.failure->hint.find("--step 0.004"), std::string::npos) << outcome.failure->hint;
  request.parameters = {{0, 0.01}};
  EXPECT_EQ(run(request, nullptr).ending, Ending::done);
  request = request_for(model, {.until = 1.0});
  request.parameters = {{0, 0.004}};
  outcome = run(request, nullptr);
  EXPECT_EQ(outcome.ending, Ending::done);
  EXPECT_NEAR(outcome.outputs[0], Late::x(1, 0.004), 1e-5);
  request.parameters = {{0, -1}};
  EXPECT_EQ(run(request, nullptr).ending, Ending::failed);
}

}  // namespace
}  // namespace sim
