// Relations: held between events, located on the part's interpolant, applied by tk_fire.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "kernel/hybrid_trial.h"

namespace kernel_test {
namespace {

constexpr double precision = 1e-9;  // the kernel's own, when a model gives none

// x' = 1 while x < 1 is held, else -0.5: x rises to 1 at t = 1.
struct Ramp : Hybrid {
  Ramp() {
    start = {0.0};
    discrete_start = {0.0};
    conditions = 1;
    relations = {truth(0, 0)};
    derivative = [this](double, const double*, double* dx) { dx[0] = discrete()[0] > 0.5 ? 1.0 : -0.5; };
    watch = [](double, const double* x, double* watched) { watched[0] = 1.0 - x[0]; };
  }
};

TEST(Relations, AreSettledAtTheStart) {
  Ramp low;
  ASSERT_EQ(low.begin(), TACTUS_OK);
  EXPECT_EQ(low.discrete()[0], 1.0);
  Ramp high;
  high.start = {2.0};
  ASSERT_EQ(high.begin(), TACTUS_OK);
  EXPECT_EQ(high.discrete()[0], 0.0);
  EXPECT_EQ(high->crossings, 0);
}

// The value that is held changes in tk_fire, so that rows inside the part see the old one.
TEST(Relations, ChangeWhenTheyFire) {
  for (int solver : {int{TACTUS_RK4}, int{TACTUS_EULER}, int{TACTUS_TSIT5}, int{TACTUS_DOP853}}) {
    Ramp ramp;
    ASSERT_EQ(ramp.begin(), TACTUS_OK);
    while (!tk_is_due(&ramp.model, ramp.instance())) ASSERT_EQ(ramp.part(solver, 0.3, 5.0), TACTUS_OK);
    EXPECT_NEAR(ramp->time, 1.0, precision);
    EXPECT_GE(ramp.x()[0], 1.0);
    EXPECT_NEAR(ramp.x()[0], 1.0, 2 * precision);
    EXPECT_EQ(ramp.discrete()[0], 1.0);
    ASSERT_EQ(tk_fire(&ramp.model, ramp.instance()), TACTUS_OK);
    EXPECT_EQ(ramp.discrete()[0], 0.0);
    EXPECT_EQ(ramp->crossings, 1);
    EXPECT_EQ(ramp->first_stage_valid, 0);
    EXPECT_FALSE(tk_is_due(&ramp.model, ramp.instance()));
  }
}

// Each side drives the motion to the other.
TEST(Relations, ThatChangeToAndFroAreSlidAlong) {
  for (int solver : {int{TACTUS_TSIT5}, int{TACTUS_RK4}}) {
    Ramp ramp;
    ASSERT_EQ(ramp.begin(), TACTUS_OK);
    EXPECT_EQ(ramp.run(solver, solver == TACTUS_RK4 ? 0.01 : 0.0, 5.0), TACTUS_OK);
    EXPECT_EQ(ramp->slides, 1);
    EXPECT_EQ(ramp->tie_count, 1);
    EXPECT_EQ(ramp->last_tie, 0);  // behind no events, the first relation
    EXPECT_NEAR(ramp.x()[0], 1.0, 1e-12);
  }
}

TEST(Relations, NeedFewEvaluationsToBeLocated) {
  int looks = 0;
  Hybrid wave;
  wave.start = {0.0};
  wave.discrete_start = {0.0};
  wave.conditions = 1;
  wave.relations = {Hybrid::truth(0, 0)};
  wave.derivative = [](double, const double*, double* dx) { dx[0] = 1.0; };
  wave.watch = [&](double, const double* x, double* watched) {
    looks++;
    watched[0] = std::exp(x[0]) - 2.0;
  };
  ASSERT_EQ(wave.begin(), TACTUS_OK);
  looks = 0;
  ASSERT_EQ(wave.part(TACTUS_RK4, 1.0, 5.0), TACTUS_OK);
  EXPECT_NEAR(wave->time, std::log(2.0), precision);
  EXPECT_LE(looks, 20);  // bisection alone asks 30 times
}

// A guard of slope 1e5, nearly: to a nanosecond it is 1e-4 off, and may be asked to be closer.
struct Steep : Hybrid {
  Steep() {
    start = {0.0};
    discrete_start = {0.0};
    conditions = 1;
    relations = {truth(0, 0)};
    derivative = [](double, const double* x, double* dx) { dx[0] = 1.0 + 0.1 * x[0]; };
    watch = [](double, const double* x, double* watched) { watched[0] = 1e5 * (x[0] - 0.7) + std::sin(x[0]); };
  }
  double guard() {
    watch(0, x(), &value_);
    return value_;
  }

 private:
  double value_ = 0;
};

TEST(Relations, AreLocatedToTheGuardsValue) {
  for (int solver : {int{TACTUS_RK4}, int{TACTUS_EULER}, int{TACTUS_BS3}, int{TACTUS_TSIT5}, int{TACTUS_DOP853}}) {
    for (double asked : {0.0, 1e-6, 1e-9, 1e-10}) {
      Steep steep;
      steep.model.guard_precision = asked;
      ASSERT_EQ(steep.begin(), TACTUS_OK);
      while (!tk_is_due(&steep.model, steep.instance())) ASSERT_EQ(steep.part(solver, 0.3, 5.0), TACTUS_OK);
      EXPECT_GE(steep.guard(), 0.0) << solver << " " << asked;
      // Times around 0.7 are 1e-16 apart, so is x, and the guard 1e-11.
      EXPECT_LE(steep.guard(), asked > 0 ? asked : 2e-4) << solver << " " << asked;
    }
  }
}

TEST(Relations, ThatJumpAreLocatedAsWellAsTimesCanBeToldApart) {
  for (int solver : {int{TACTUS_RK4}, int{TACTUS_TSIT5}}) {
    Steep jump;
    jump.watch = [](double, const double* x, double* watched) { watched[0] = x[0] < 0.7 ? -1.0 : 1.0; };
    jump.model.guard_precision = 1e-10;
    ASSERT_EQ(jump.begin(), TACTUS_OK);
    while (!tk_is_due(&jump.model, jump.instance())) ASSERT_EQ(jump.part(solver, 0.3, 5.0), TACTUS_OK);
    EXPECT_GE(jump.x()[0], 0.7);
    EXPECT_NEAR(jump.x()[0], 0.7, solver == TACTUS_RK4 ? 2 * precision : 1e-14);
  }
}

TEST(Relations, ThatTakeTooLongToBeLocatedEndTheRun) {
  Steep steep;
  steep.model.guard_precision = 1e-10;
  steep.model.location_steps = 3;
  ASSERT_EQ(steep.begin(), TACTUS_OK);
  EXPECT_EQ(steep.run(TACTUS_TSIT5, 0.0, 5.0), TACTUS_NOT_LOCATED);
  EXPECT_EQ(steep->failed_index, 0);
  EXPECT_LT(steep->time, 0.7);
  EXPECT_LT(steep.x()[0], 0.7);
  Steep patient;
  patient.model.guard_precision = 1e-10;
  patient.model.location_steps = 128;
  ASSERT_EQ(patient.begin(), TACTUS_OK);
  EXPECT_EQ(patient.run(TACTUS_TSIT5, 0.0, 5.0), TACTUS_OK);
}

TEST(Relations, OfOneInstantChangeTogether) {
  Hybrid two;
  two.start = {0.0};
  two.discrete_start = {0.0, 0.0};
  two.conditions = 4;
  two.relations = {Hybrid::truth(0, 0), Hybrid::truth(1, 1, false)};
  two.derivative = [](double, const double*, double* dx) { dx[0] = 1.0; };
  std::vector<std::uint32_t> fired;
  two.watch = [&](double, const double* x, double* watched) {
    watched[0] = x[0] - 0.5;
    watched[1] = 3.0 * (x[0] - 0.5);
    watched[2] = two.discrete()[1];
    watched[3] = two.discrete()[0];
  };
  two.events = {Hybrid::when(2), Hybrid::when(3)};
  two.fire = [&](std::uint32_t event) { fired.push_back(event); };
  ASSERT_EQ(two.begin(), TACTUS_OK);
  ASSERT_EQ(two.run(TACTUS_RK4, 0.3, 2.0), TACTUS_OK);
  EXPECT_EQ(fired, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(two->crossings, 2);
}

TEST(Relations, TheEarlierOfTwoIsFirst) {
  for (double first : {0.31, 0.95}) {
    Hybrid two;
    two.start = {0.0};
    two.discrete_start = {0.0, 0.0};
    two.conditions = 2;
    two.relations = {Hybrid::truth(0, 0), Hybrid::truth(1, 1)};
    two.derivative = [](double, const double*, double* dx) { dx[0] = 1.0; };
    two.watch = [&](double, const double* x, double* watched) {
      watched[0] = x[0] - first;
      watched[1] = x[0] * x[0] * x[0] - 0.125;
    };
    ASSERT_EQ(two.begin(), TACTUS_OK);
    ASSERT_EQ(two.part(TACTUS_RK4, 1.0, 2.0), TACTUS_OK);
    EXPECT_NEAR(two->time, std::min(first, 0.5), precision);
    ASSERT_EQ(tk_fire(&two.model, two.instance()), TACTUS_OK);
    ASSERT_EQ(two.part(TACTUS_RK4, 1.0, 2.0), TACTUS_OK);
    EXPECT_NEAR(two->time, std::max(first, 0.5), precision);
  }
}

TEST(Relations, AGuardThatGoesThereAndBackIsSeen) {
  for (int solver : {int{TACTUS_RK4}, int{TACTUS_TSIT5}, int{TACTUS_DOP853}}) {
    Hybrid dip;
    dip.start = {0.0};
    dip.discrete_start = {0.0};
    dip.conditions = 1;
    dip.relations = {Hybrid::truth(0, 0)};
    dip.derivative = [](double, const double*, double* dx) { dx[0] = 1.0; };
    dip.watch = [](double, const double* x, double* watched) {
      watched[0] = (x[0] - 0.4) * (x[0] - 0.401) * (x[0] + 1.0);
    };
    ASSERT_EQ(dip.begin(), TACTUS_OK);
    std::vector<double> times;
    dip->next_step = 1.0;
    while (dip->time < 2.0) {
      ASSERT_EQ(dip.part(solver, 1.0, 2.0), TACTUS_OK);
      if (tk_is_due(&dip.model, dip.instance())) times.push_back(dip->time);
      ASSERT_EQ(tk_fire(&dip.model, dip.instance()), TACTUS_OK);
    }
    ASSERT_EQ(times.size(), 2u) << solver;
    EXPECT_NEAR(times[0], 0.4, precision);
    EXPECT_NEAR(times[1], 0.401, precision);
  }
}

TEST(Relations, FloorsGoUpAndDown) {
  Hybrid stairs;  // x = 2 sin t
  stairs.start = {0.0, 2.0};
  stairs.discrete_start = {0.0};
  stairs.conditions = 2;
  stairs.relations = {{TACTUS_FLOOR, 0, 0, 1, 1, 1}};
  stairs.derivative = [](double, const double* x, double* dx) {
    dx[0] = x[1];
    dx[1] = -x[0];
  };
  stairs.watch = [&](double, const double* x, double* watched) {
    const double above = x[0] + 0.5 - stairs.discrete()[0];
    watched[0] = above * (1.0 - above);
    watched[1] = x[0] + 0.5;
  };
  ASSERT_EQ(stairs.begin(), TACTUS_OK);
  std::vector<double> values;
  while (stairs->time < 6.2) {
    ASSERT_EQ(stairs.part(TACTUS_TSIT5, 0.8, 6.2, 1e-9), TACTUS_OK);
    const bool is_due = tk_is_due(&stairs.model, stairs.instance()) != 0;
    ASSERT_EQ(tk_fire(&stairs.model, stairs.instance()), TACTUS_OK);
    if (is_due) values.push_back(stairs.discrete()[0]);
  }
  EXPECT_EQ(values, (std::vector<double>{1, 2, 1, 0, -1, -2, -1, 0}));
}

TEST(Relations, ASnapshotGoesOnAsTheRunDid) {
  for (int solver : {int{TACTUS_RK4}, int{TACTUS_TSIT5}}) {
    Ramp ramp;
    ramp.derivative = [&](double, const double* x, double* dx) {
      dx[0] = ramp.discrete()[0] > 0.5 ? 1.0 : 0.25 * x[0];
    };
    ASSERT_EQ(ramp.begin(), TACTUS_OK);
    ASSERT_EQ(ramp.run(solver, 0.07, 0.77), TACTUS_OK);
    const auto saved = ramp.snapshot();
    ASSERT_EQ(ramp.run(solver, 0.07, 2.0), TACTUS_OK);
    const auto once = ramp.snapshot();
    EXPECT_EQ(ramp->crossings, 1);
    ramp.restore(saved);
    ASSERT_EQ(ramp.run(solver, 0.07, 2.0), TACTUS_OK);
    // As bits: the header's integers may be no numbers.
    const auto twice = ramp.snapshot();
    EXPECT_EQ(std::memcmp(twice.data(), once.data(), 8 * once.size()), 0);
  }
}

TEST(Relations, AChangeFromOutsideIsMetWhereTheNextPartBegins) {
  Ramp ramp;
  ASSERT_EQ(ramp.begin(), TACTUS_OK);
  ASSERT_EQ(ramp.part(TACTUS_RK4, 0.25, 5.0), TACTUS_OK);
  ramp.x()[0] = 3.0;
  ASSERT_EQ(ramp.part(TACTUS_RK4, 0.25, 5.0), TACTUS_OK);
  EXPECT_EQ(ramp->time, 0.25);
  EXPECT_TRUE(tk_is_due(&ramp.model, ramp.instance()));
  ASSERT_EQ(tk_fire(&ramp.model, ramp.instance()), TACTUS_OK);
  EXPECT_EQ(ramp.discrete()[0], 0.0);
  // For a reader at once; events that rise are left to tk_fire.
  ramp.x()[0] = 0.0;
  ASSERT_EQ(tk_settle(&ramp.model, ramp.instance()), TACTUS_OK);
  EXPECT_EQ(ramp.discrete()[0], 1.0);
  EXPECT_TRUE(tk_is_due(&ramp.model, ramp.instance()));
}

}  // namespace
}  // namespace kernel_test
