// Ticks without a clock: what the hand does to the model, what comes back, and what goes on after an edit.
#include "runtime/live/world.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/live/models_for_tests.h"

namespace live {
namespace {

constexpr double tick = 1e-3;

Pointer at(double x) {
  Pointer pointer;
  pointer.position = {x, 0, 0};
  pointer.is_present = true;
  return pointer;
}

struct Played {
  explicit Played(const tactus_model& model) : world(model, choose_timing(model, tick)) {
    EXPECT_FALSE(world.start({}));
  }
  // Ticks `clock_tick` apart, of a hand of which there is news `age` seconds old.
  void run(int ticks, Pointer pointer, double age = 0, double clock_tick = tick) {
    for (int k = 0; k < ticks; ++k) {
      now += std::llround(1e9 * clock_tick);
      pointer.heard = now - std::llround(1e9 * age);
      if (pointer.is_present) {
        port.hear(pointer.heard);
      } else {
        port.leave();
      }
      ASSERT_EQ(world.tick(&world.model(), pointer, now), TACTUS_OK);
      world.give_force(port, now);
    }
  }
  double force() const { return port.newest().force[0]; }
  World world;
  Port port{mouse_limits};
  std::int64_t now = 0;
};

TEST(World, TheHandIsFoundByItsPorts) {
  const Dragged model;
  const HandPlaces hand = find_hand(model.table);
  EXPECT_EQ(hand.device, "hand");
  EXPECT_EQ(hand.components, 1u);
  EXPECT_EQ(hand.force_at, 2u);
  EXPECT_EQ(hand.force_count, 1u);
}

// x'' + x' + 4 x = 4 u + u' with u the critically damped follower of a step to 0.5: solved here by small steps of its
// own.
TEST(World, TheBallFollowsAsItsEquationsSay) {
  const Dragged model;
  Played played(model.table);
  played.run(3000, at(0.5));
  double u = 0, du = 0, x = 0, v = 0;
  const double w = follower_frequency, h = 1e-6;
  for (int k = 0; k < 3000000; ++k) {
    const double ddu = w * w * (0.5 - u) - 2 * w * du;
    const double a = 4 * (u - x) + (du - v);
    u += h * du + h * h / 2 * ddu;
    du += h * ddu;
    x += h * v + h * h / 2 * a;
    v += h * a;
  }
  // The input is a chord over each tick: an error of (w tick)^2 / 12 of what the ramp's 20 ms contribute.
  EXPECT_NEAR(played.world.outputs()[0], x, 2e-4);
  EXPECT_NEAR(played.world.outputs()[1], 0.5, 1e-12);
  EXPECT_NEAR(played.world.outputs()[2], -(4 * (0.5 - x) - v), 2e-3);
}

TEST(World, TheInputIsContinuousWhateverIsTold) {
  const Dragged model;
  Played played(model.table);
  double before = 0;
  for (int k = 0; k < 2000; ++k) {
    const double told = k % 160 < 80 ? 0.3 : -0.2;
    played.run(1, at(told));
    const double now = played.world.outputs()[1];
    EXPECT_LE(std::abs(now - before), 0.5 * follower_frequency / std::exp(1) * tick * 1.01);  // its largest speed
    before = now;
  }
}

TEST(World, TheFirstTickAfterAMessageFeelsIt) {
  const Dragged model;
  Played played(model.table);
  played.run(10, at(0));
  EXPECT_EQ(played.force(), 0);
  played.run(1, at(0.1));
  EXPECT_LT(played.force(), 0);
}

TEST(World, ALostHandFeelsNothing) {
  const Dragged model;
  Played played(model.table);
  played.run(20, at(1));
  EXPECT_LT(played.force(), -1);
  played.run(25, Pointer{});
  EXPECT_EQ(played.force(), 0);
  EXPECT_TRUE(played.port.newest().acts & TK_LIMIT_LOST);
  // Old news is no news.
  played.run(50, at(1), 0.3);
  EXPECT_EQ(played.force(), 0);
}

TEST(World, AFastWorldPushesAHandNoFaster) {
  const Dragged model;
  for (const double speed : {1.0, 10.0}) {
    Played played(model.table);
    played.world.set_speed(speed);
    double before = 0;
    for (int k = 0; k < 50; ++k) {
      played.run(1, at(3), 0, tick / speed);
      const double force = played.force();
      EXPECT_LE(std::abs(force - before), mouse_limits.change * tick / speed * (1 + 1e-9)) << k;
      before = force;
    }
    EXPECT_LT(before, -1 / speed);
  }
}

TEST(World, AParameterChangesTheForceAtOnce) {
  const Dragged model;
  Played played(model.table);
  played.run(300, at(0.1));
  const double force = played.world.outputs()[2], stretch = 0.1 - played.world.outputs()[0];
  ASSERT_GT(std::abs(stretch), 0.01);
  ASSERT_EQ(played.world.set_parameter(&model.table, 0, 10), TACTUS_OK);
  EXPECT_NEAR(played.world.outputs()[2], force - (10 - 4) * stretch, 1e-9);
}

TEST(World, AnEditGoesOnWithStatesOfTheSameName) {
  const Dragged model, edited, renamed("z");
  Played played(model.table);
  played.run(500, at(0.4));
  const double x = played.world.outputs()[0], time = played.world.time();
  ASSERT_GT(x, 0.01);

  World next(edited.table, choose_timing(edited.table, tick));
  ASSERT_FALSE(next.start({8, 1}));
  next.plan_to_take_over(played.world);
  next.take_over(played.world);
  EXPECT_EQ(next.time(), time);
  EXPECT_EQ(next.outputs()[0], x);
  ASSERT_EQ(next.tick(&edited.table, at(0.4), 0), TACTUS_OK);
  EXPECT_NEAR(next.time(), time + tick, 1e-12);
  EXPECT_NEAR(next.outputs()[0], x, 2e-3);

  World other(renamed.table, choose_timing(renamed.table, tick));
  ASSERT_FALSE(other.start({}));
  other.plan_to_take_over(played.world);
  other.take_over(played.world);
  EXPECT_EQ(other.outputs()[0], 0);  // `z` is new: it starts where it starts
}

TEST(World, AFailedTickLeavesTheLastGoodOutputsAndNoForce) {
  const sim::Explosion model;
  World world(model.table, choose_timing(model.table, 0.01));
  ASSERT_FALSE(world.start({}));
  int status = TACTUS_OK;
  for (int k = 0; k < 400 && status == TACTUS_OK; ++k) status = world.tick(&model.table, {}, 0);
  EXPECT_EQ(status, TACTUS_NOT_FINITE);
  EXPECT_TRUE(std::isfinite(world.outputs()[0]));
}

TEST(World, WorkThatATickCannotBoundIsRefusedBeforehand) {
  sim::Decay model;
  const auto refused = [&](double period = tick) {
    const auto failure = find_unbounded_work(model.table, choose_timing(model.table, period));
    return failure ? failure->text : std::string();
  };
  EXPECT_EQ(refused(), "");
  for (const double step : {1e-12, 1e-300, 5e-324}) {
    model.table.step_size = step;
    EXPECT_NE(refused().find("steps of"), std::string::npos) << step;
  }
  model.table.step_size = tick / most_substeps;
  EXPECT_EQ(refused(), "");
  model.table.step_size = 0;
  model.table.hand_period = 1e-9;
  EXPECT_NE(refused(0).find("more often than a clock can keep"), std::string::npos);
  EXPECT_EQ(refused(), "");  // --rate says otherwise
  for (const double period : {1e30, 1e300, HUGE_VAL}) {
    model.table.hand_period = period;
    EXPECT_NE(refused(0).find("as good as none"), std::string::npos) << period;
    model.table.step_size = tick;
    EXPECT_NE(refused(0).find("as good as none"), std::string::npos) << period;
    model.table.step_size = 0;
  }
  model.table.hand_period = longest_period;
  EXPECT_EQ(refused(0), "");
  model.table.max_transitions = 1'000'000'000;
  EXPECT_NE(refused().find("max_transitions"), std::string::npos);
  model.table.max_transitions = most_transitions;
  EXPECT_EQ(refused(), "");
  tactus_event event = {};
  event.name = "e";
  event.kind = TACTUS_EVERY;
  event.line = 3;
  model.table.events = &event;
  model.table.event_count = 1;
  for (const double period : {1e-300, 0.9e-7}) {
    event.period = period;
    EXPECT_NE(refused().find("`e` every"), std::string::npos) << period;
  }
  event.period = 1e-6;
  EXPECT_EQ(refused(), "");
}

TEST(World, AdaptiveSolversBecomeFixedOnesWithANote) {
  sim::Decay model;
  model.table.solver = TACTUS_DOP853;
  Timing timing = choose_timing(model.table, tick);
  EXPECT_EQ(timing.solver, TACTUS_RK4);
  EXPECT_EQ(timing.notes.size(), 1u);
  model.table.solver = TACTUS_CVODE;
  EXPECT_EQ(choose_timing(model.table, tick).solver, TACTUS_ROSENBROCK_FIXED);
  model.table.solver = -1;
  model.table.step_size = 0.0003;
  timing = choose_timing(model.table, tick);
  EXPECT_EQ(timing.substeps, 4);
  EXPECT_TRUE(timing.notes.empty());
}

}  // namespace
}  // namespace live
