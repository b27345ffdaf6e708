// Events: when they fire, in what order, and how exactly a condition's rise is found.
#include <gtest/gtest.h>

#include <cmath>

#include "kernel/hybrid_trial.h"

namespace kernel_test {
namespace {

// x' = -x + u; u = -2 x sampled every 0.1. Exactly: x_{k+1} = e x_k + (1 - e) u_k with e = exp(-0.1).
struct Sampled : Hybrid {
  Sampled() {
    start = {1.0};
    discrete_start = {0.0};
    events = {every(0.1)};
    derivative = [this](double, const double* s, double* dx) { dx[0] = -s[0] + discrete()[0]; };
    fire = [this](std::uint32_t) { discrete()[0] = -2.0 * x()[0]; };
  }
  static double exact(int samples) {
    double x = 1.0;
    for (int k = 0; k < samples; k++) x = std::exp(-0.1) * x + (1.0 - std::exp(-0.1)) * (-2.0 * x);
    return x;
  }
};

TEST(Events, ASampledControllerFollowsItsRecurrence) {
  for (int solver : {TACTUS_RK4, TACTUS_BS3_FIXED}) {
    Sampled model;
    ASSERT_EQ(model.begin(), TACTUS_OK);
    EXPECT_EQ(model.discrete()[0], -2.0);  // the first tick is at the start
    ASSERT_EQ(model.steps(solver, 0.001, 3000), TACTUS_OK);
    // rk4's error: about h^4 / 120 a unit of time; bs3's h^3 / 24.
    EXPECT_NEAR(model.x()[0], Sampled::exact(30), solver == TACTUS_RK4 ? 1e-13 : 1e-10);
    EXPECT_EQ(model.clocks()[0], 31.0);
    EXPECT_EQ(model->time, 3.0);
    EXPECT_EQ(model->steps, 3000);
  }
  for (int solver : {TACTUS_BS3, TACTUS_TSIT5, TACTUS_DOP853}) {
    Sampled model;
    ASSERT_EQ(model.begin(), TACTUS_OK);
    ASSERT_EQ(model.run(solver, 0.0, 3.0, 1e-10), TACTUS_OK);
    EXPECT_NEAR(model.x()[0], Sampled::exact(30), 2e-9) << solver;
    EXPECT_EQ(model.clocks()[0], 31.0);
  }
}

TEST(Events, StepsBetweenTicksAreTakenInBulk) {
  Sampled model;
  model.begin();
  ASSERT_EQ(model.steps(TACTUS_RK4, 0.001, 10000), TACTUS_OK);
  EXPECT_EQ(model.fixed_calls, 100);
}

TEST(Events, PartsAndBulkGiveTheSameBits) {
  Sampled bulk;
  bulk.begin();
  ASSERT_EQ(bulk.steps(TACTUS_RK4, 0.003, 1000), TACTUS_OK);
  Sampled parts;
  parts.begin();
  while (parts->steps < 1000) {
    ASSERT_EQ(parts.part(TACTUS_RK4, 0.003, 1e9), TACTUS_OK);
    ASSERT_EQ(tk_fire(&parts.model, parts.instance()), TACTUS_OK);
  }
  EXPECT_EQ(bulk.x()[0], parts.x()[0]);
  EXPECT_EQ(bulk->time, parts->time);
}

TEST(Events, TheGridIsKeptAroundAnEventOffIt) {
  Sampled model;
  model.events = {Hybrid::every(0.1, 0.0503)};
  std::vector<double> fired;
  model.fire = [&](std::uint32_t) { fired.push_back(model->time); };
  model.begin();
  for (int k = 1; k <= 1000; k++) {
    ASSERT_EQ(model.steps(TACTUS_RK4, 0.01, 1), TACTUS_OK);
    EXPECT_EQ(model->time, k * 0.01);
    EXPECT_EQ(model->steps, k);
  }
  ASSERT_EQ(fired.size(), 100u);
  for (std::size_t k = 0; k < fired.size(); k++) EXPECT_EQ(fired[k], 0.0503 + static_cast<double>(k) * 0.1);
}

TEST(Events, TicksDoNotDriftInAHundredMillionPeriods) {
  Sampled model;
  model.model.starting_time = 3.0;
  model.begin();
  model->time = 3.0 + 1e8 * 0.1 - 0.05;
  model->start_time = model->time;
  model->steps = 0;
  model.clocks()[0] = 1e8;
  EXPECT_EQ(tk_next_event(&model.model, model.instance()), 3.0 + 1e8 * 0.1);
  std::vector<double> fired;
  model.fire = [&](std::uint32_t) { fired.push_back(model->time); };
  ASSERT_EQ(model.steps(TACTUS_RK4, 0.01, 20), TACTUS_OK);
  ASSERT_EQ(fired.size(), 2u);
  // Seven digits before the point leave 2e-9 behind it.
  EXPECT_NEAR(fired[0], 3.0 + 1e7, 1e-8);
  EXPECT_NEAR(fired[1], 3.0 + 1e7 + 0.1, 1e-8);
  EXPECT_EQ(model.clocks()[0], 1e8 + 2);
}

TEST(Events, TicksAndGridThatMeetOnlyToRoundingAreOneInstant) {
  // 0.1 is not a whole number of steps in doubles: without slack each tick would leave a step of some 1e-17.
  Hybrid model;
  int count = 0;
  model.events = {Hybrid::every(0.3), Hybrid::every(0.1), Hybrid::every(0.7)};
  model.start = {0.0};
  model.derivative = [](double, const double*, double* dx) { dx[0] = 1.0; };
  std::vector<double> times;
  model.fire = [&](std::uint32_t) {
    count++;
    if (times.empty() || times.back() != model->time) times.push_back(model->time);
  };
  model.begin();
  ASSERT_EQ(model.steps(TACTUS_EULER, 0.1, 2100), TACTUS_OK);
  EXPECT_EQ(count, 701 + 2101 + 301);
  EXPECT_EQ(times.size(), 2101u);
  EXPECT_EQ(model->steps, 2100);

  Hybrid adaptive;
  adaptive.events = model.events;
  adaptive.start = {0.0};
  adaptive.derivative = model.derivative;
  times.clear();
  adaptive.fire = [&](std::uint32_t) {
    if (times.empty() || times.back() != adaptive->time) times.push_back(adaptive->time);
  };
  adaptive.begin();
  ASSERT_EQ(adaptive.run(TACTUS_TSIT5, 0.0, 210.0), TACTUS_OK);
  EXPECT_EQ(times.size(), 2101u);
}

TEST(Events, TimesBeforeTheStartAreSkipped) {
  Hybrid model;
  model.model.starting_time = 5.0;
  model.times = {1.0, 5.0, 6.25, 7.0, 99.0};
  model.events = {Hybrid::at(0, 5), Hybrid::every(1.0, -2.5)};
  std::vector<std::pair<std::uint32_t, double>> fired;
  model.fire = [&](std::uint32_t event) { fired.emplace_back(event, model->time); };
  model.begin();
  ASSERT_EQ(model.steps(TACTUS_RK4, 0.1, 30), TACTUS_OK);
  std::vector<std::pair<std::uint32_t, double>> expected = {{0, 5.0}, {1, 5.5}, {0, 6.25},
                                                            {1, 6.5}, {0, 7.0}, {1, 7.5}};
  ASSERT_EQ(fired.size(), expected.size());
  for (std::size_t k = 0; k < fired.size(); k++) {
    EXPECT_EQ(fired[k].first, expected[k].first);
    EXPECT_NEAR(fired[k].second, expected[k].second, 1e-14);
  }
}

// x = cos t falls through 0 at pi / 2, 5 pi / 2, ..
struct Falling : Hybrid {
  Falling() {
    start = {1.0, 0.0};
    conditions = 1;
    events = {when(0)};
    derivative = [](double, const double* s, double* dx) {
      dx[0] = s[1];
      dx[1] = -s[0];
    };
    watch = [](double, const double* s, double* watched) { watched[0] = s[0] <= 0.0; };
    fire = [this](std::uint32_t) { fired.push_back((*this)->time); };
  }
  std::vector<double> fired;
};

TEST(Events, AConditionIsFoundWithTheOrderOfTheMethod) {
  double previous = 0.0;
  for (double h : {0.1, 0.05, 0.025}) {
    Falling model;
    model.model.event_precision = 1e-14;
    model.begin();
    ASSERT_EQ(model.steps(TACTUS_RK4, h, std::lround(10.0 / h)), TACTUS_OK);
    ASSERT_EQ(model.fired.size(), 2u);
    double error = std::fabs(model.fired[1] - 2.5 * std::acos(-1.0));
    if (previous > 0.0) {
      EXPECT_GT(previous / error, 12.0) << h;
      EXPECT_LT(previous / error, 22.0) << h;
    }
    previous = error;
  }
  for (double tolerance : {1e-6, 1e-9}) {
    for (int solver : {TACTUS_BS3, TACTUS_TSIT5, TACTUS_DOP853}) {
      Falling model;
      model.model.event_precision = 1e-12;
      model.begin();
      ASSERT_EQ(model.run(solver, 0.0, 10.0, tolerance), TACTUS_OK);
      ASSERT_EQ(model.fired.size(), 2u);
      // The speed at a zero of the cosine is 1: an error in state is one in time. Global errors are some ten
      // tolerances.
      EXPECT_NEAR(model.fired[1], 2.5 * std::acos(-1.0), 30 * tolerance) << solver;
    }
  }
}

TEST(Events, AnEventIsAsPreciseAsAskedFor) {
  for (double precision : {0.0, 1e-3, 1e-6}) {
    Hybrid model;
    model.conditions = 1;
    model.events = {Hybrid::when(0)};
    model.model.event_precision = precision;
    model.watch = [](double t, const double*, double* watched) { watched[0] = t >= 0.123456789; };
    double fired = 0.0;
    model.fire = [&](std::uint32_t) { fired = model->time; };
    model.begin();
    ASSERT_EQ(model.steps(TACTUS_RK4, 0.1, 2), TACTUS_OK);
    EXPECT_GE(fired, 0.123456789);
    EXPECT_LE(fired, 0.123456789 + (precision > 0 ? precision : 1e-9));
    EXPECT_EQ(model->time, 0.2);
  }
}

TEST(Events, WhatHoldsAtTheStartIsNotARise) {
  Hybrid model;
  model.conditions = 2;
  model.events = {Hybrid::when(0), Hybrid::when(1)};
  model.watch = [](double t, const double*, double* watched) {
    watched[0] = std::fmod(t, 1.0) < 0.5;
    watched[1] = 1.0;
  };
  std::vector<double> fired;
  model.fire = [&](std::uint32_t event) {
    EXPECT_EQ(event, 0u);
    fired.push_back(model->time);
  };
  model.begin();
  ASSERT_EQ(model.steps(TACTUS_RK4, 0.1, 25), TACTUS_OK);
  ASSERT_EQ(fired.size(), 2u);  // it re-arms when it falls
  EXPECT_NEAR(fired[0], 1.0, 1e-8);
  EXPECT_NEAR(fired[1], 2.0, 1e-8);
}

TEST(Events, TheEarliestOfTwoConditionsFiresFirst) {
  for (int solver : {TACTUS_RK4, TACTUS_TSIT5}) {
    Hybrid model;
    model.start = {0.0};
    model.derivative = [](double, const double*, double* dx) { dx[0] = 1.0; };
    model.conditions = 2;
    model.events = {Hybrid::when(0), Hybrid::when(1), Hybrid::every(1.0, 0.5)};
    model.watch = [](double, const double* x, double* watched) {
      watched[0] = x[0] > 0.7;
      watched[1] = x[0] > 0.3;
    };
    std::vector<std::pair<std::uint32_t, double>> fired;
    model.fire = [&](std::uint32_t event) { fired.emplace_back(event, model.x()[0]); };
    model.begin();
    ASSERT_EQ(model.run(solver, 1.0, 1.0), TACTUS_OK);
    ASSERT_EQ(fired.size(), 3u);
    EXPECT_EQ(fired[0].first, 1u);
    EXPECT_NEAR(fired[0].second, 0.3, 2e-9);
    EXPECT_EQ(fired[1].first, 2u);
    EXPECT_NEAR(fired[1].second, 0.5, 1e-14);
    EXPECT_EQ(fired[2].first, 0u);
    EXPECT_NEAR(fired[2].second, 0.7, 2e-9);
  }
}

TEST(Events, SimultaneousEventsFireInTheOrderOfTheTable) {
  Hybrid model;
  model.discrete_start = {0.0, 0.0};
  model.conditions = 1;
  model.events = {Hybrid::when(0), Hybrid::every(1.0, 1.0), Hybrid::every(0.5)};
  model.watch = [&](double, const double*, double* watched) { watched[0] = model.discrete()[0] > 0.5; };
  std::vector<std::uint32_t> fired;
  model.fire = [&](std::uint32_t event) {
    fired.push_back(event);
    if (event == 1) model.discrete()[0] = 1.0;
    if (event == 0) model.discrete()[0] = 0.0;
  };
  model.begin();
  EXPECT_EQ(fired, (std::vector<std::uint32_t>{2}));
  ASSERT_EQ(model.steps(TACTUS_RK4, 0.25, 4), TACTUS_OK);
  // At 1: the two clocks in their order, then the condition that the first of them made true.
  EXPECT_EQ(fired, (std::vector<std::uint32_t>{2, 2, 1, 2, 0}));
  ASSERT_EQ(model.steps(TACTUS_RK4, 0.25, 4), TACTUS_OK);
  EXPECT_EQ(fired, (std::vector<std::uint32_t>{2, 2, 1, 2, 0, 2, 1, 2, 0}));
}

TEST(Events, EventsThatCauseEachOtherWithoutEndAreReported) {
  Hybrid model;
  model.discrete_start = {0.0};
  model.conditions = 2;
  model.events = {Hybrid::every(1.0, 0.5), Hybrid::when(0), Hybrid::when(1)};
  model.watch = [&](double, const double*, double* watched) {
    watched[0] = model.discrete()[0] == 1.0;
    watched[1] = model.discrete()[0] == 2.0;
  };
  int count = 0;
  model.fire = [&](std::uint32_t event) {
    count++;
    model.discrete()[0] = event == 1 ? 2.0 : 1.0;
  };
  model.begin();
  EXPECT_EQ(model.steps(TACTUS_RK4, 0.25, 4), TACTUS_ENDLESS_EVENTS);
  EXPECT_EQ(count, 1000);
  EXPECT_EQ(model->status, TACTUS_ENDLESS_EVENTS);
  EXPECT_GE(model->failed_index, 1);
  EXPECT_EQ(model->time, 0.5);
  model.model.max_transitions = 7;
  count = 0;
  model.begin();
  EXPECT_EQ(model.steps(TACTUS_RK4, 0.25, 4), TACTUS_ENDLESS_EVENTS);
  EXPECT_EQ(count, 7);
}

TEST(Events, ChatteringIsReported) {
  // A relay without hysteresis: u = -1 above 0, 1 below. It gets to 0 at t = 1 and no further.
  for (int solver : {TACTUS_RK4, TACTUS_TSIT5}) {
    Hybrid model;
    model.start = {1.0};
    model.discrete_start = {-1.0};
    model.conditions = 2;
    model.events = {Hybrid::when(0), Hybrid::when(1)};
    model.derivative = [&](double, const double*, double* dx) { dx[0] = model.discrete()[0]; };
    model.watch = [](double, const double* x, double* watched) {
      watched[0] = x[0] < 0.0;
      watched[1] = x[0] > 0.0;
    };
    model.fire = [&](std::uint32_t event) { model.discrete()[0] = event == 0 ? 1.0 : -1.0; };
    model.begin();
    EXPECT_EQ(model.run(solver, 0.03, 2.0), TACTUS_ENDLESS_EVENTS);
    EXPECT_NEAR(model->time, 1.0, 1e-5);
    EXPECT_GE(model->failed_index, 0);
  }
}

TEST(Events, FiringStartsAnAdaptiveStepAnew) {
  Sampled model;
  model.begin();
  ASSERT_EQ(model.part(TACTUS_TSIT5, 0.0, 0.1), TACTUS_OK);
  while (!tk_is_due(&model.model, model.instance())) ASSERT_EQ(model.part(TACTUS_TSIT5, 0.0, 0.1), TACTUS_OK);
  EXPECT_EQ(model->first_stage_valid, 1);
  EXPECT_EQ(tk_next_event(&model.model, model.instance()), 0.1);
  tk_fire(&model.model, model.instance());
  EXPECT_EQ(model->first_stage_valid, 0);
  EXPECT_FALSE(tk_is_due(&model.model, model.instance()));
  EXPECT_EQ(tk_next_event(&model.model, model.instance()), 0.2);
}

TEST(Events, InsideAPartTheStateBeforeItsEndIsGiven) {
  for (int solver : {TACTUS_RK4, TACTUS_TSIT5, TACTUS_DOP853}) {
    Falling model;
    model.begin();
    double from = 0.0;
    while (model.fired.empty()) {
      from = model->time;
      ASSERT_EQ(model.part(solver, 0.1, 10.0, 1e-9), TACTUS_OK);
      for (double s : {0.0, 0.3, 0.8, 1.0}) {
        double t = from + s * (model->time - from);
        double x[2];
        tk_between(&model.model, model.instance(), solver, t, x);
        // rk4: h^4 / 120 a unit of time, and h^4 / 384 for the interpolation.
        EXPECT_NEAR(x[0], std::cos(t), solver == TACTUS_RK4 ? 2e-6 : 1e-8) << solver;
        EXPECT_NEAR(x[1], -std::sin(t), solver == TACTUS_RK4 ? 2e-6 : 1e-8) << solver;
      }
      tk_fire(&model.model, model.instance());
    }
  }
}

TEST(Events, ASnapshotBringsBackWhatIsDue) {
  for (int solver : {TACTUS_RK4, TACTUS_TSIT5}) {
    Falling model;
    model.events.push_back(Hybrid::every(0.3, 0.1));
    model.begin();
    std::vector<double> saved;
    while (model.fired.size() < 8) {
      ASSERT_EQ(model.part(solver, 0.1, 10.0), TACTUS_OK);
      saved = model.snapshot();  // before anything fires
      ASSERT_EQ(tk_fire(&model.model, model.instance()), TACTUS_OK);
    }
    ASSERT_EQ(model.run(solver, 0.1, 10.0), TACTUS_OK);
    std::vector<double> expected = model.fired;
    std::vector<double> end = model.states_and_clocks();
    model.fired.resize(7);
    model.restore(saved);
    ASSERT_EQ(tk_fire(&model.model, model.instance()), TACTUS_OK);
    ASSERT_EQ(model.run(solver, 0.1, 10.0), TACTUS_OK);
    EXPECT_EQ(model.fired, expected);
    EXPECT_EQ(model.states_and_clocks(), end);
  }
}

}  // namespace
}  // namespace kernel_test
