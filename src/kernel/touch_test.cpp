// What stands between a model and a hand: against closed forms, energy counted independently, and injected faults.
#include "kernel/touch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace {

constexpr double tick = 1e-3;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

double length(const double* v) { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

TEST(Follow, ASteadyMotionIsFollowedWithTheStatedDelay) {
  const double w = 200, speed = 0.3, origin[3] = {0, 0, 0};
  tk_follower follower;
  tk_begin_following(&follower, w, origin);
  double t = 0;
  for (int k = 0; k < 50000; k++) {
    t += tick / 100;  // what is told is held that long: an error of (w dt)^2 / 12
    const double told[3] = {speed * t, 0, 0};
    tk_follow(&follower, tick / 100, told);
  }
  EXPECT_NEAR(follower.position[0], speed * (t - 2 / w), 1e-5 * speed);
  EXPECT_NEAR(follower.velocity[0], speed, 4e-7 * speed);
}

TEST(Follow, OneTickIsTwoHalves) {
  const double start[3] = {0.1, -0.2, 0.3}, told[3] = {0.4, 0.1, -0.3};
  tk_follower whole, halves;
  tk_begin_following(&whole, 150, start);
  tk_begin_following(&halves, 150, start);
  for (int k = 0; k < 20; k++) {
    tk_follow(&whole, tick, told);
    tk_follow(&halves, tick / 2, told);
    tk_follow(&halves, tick / 2, told);
    for (int i = 0; i < 3; i++) {
      EXPECT_NEAR(whole.position[i], halves.position[i], 1e-14);
      EXPECT_NEAR(whole.velocity[i], halves.velocity[i], 1e-11);
    }
  }
}

TEST(Follow, AStepIsApproachedWithoutOvershoot) {
  const double start[3] = {0, 0, 0}, told[3] = {1, 0, 0};
  tk_follower follower;
  tk_begin_following(&follower, 200, start);
  double before = 0;
  for (int k = 1; k <= 100; k++) {
    tk_follow(&follower, tick, told);
    EXPECT_GT(follower.position[0], before);
    EXPECT_LT(follower.position[0], 1);
    const double wt = 200 * k * tick;
    EXPECT_NEAR(follower.position[0], 1 - (1 + wt) * std::exp(-wt), 1e-12);
    before = follower.position[0];
  }
}

// The work that a force, held over each tick, does on a hand that moves as told.
struct Hand {
  double position = 0;
  double given = 0;  // J, to the hand
  double held = 0;
  double most_given = 0;

  void move_to(double next) {
    given += held * (next - position);
    position = next;
    most_given = std::max(most_given, given);
  }
};

tk_passivity controller(double reserve) {
  tk_passivity passivity = {};
  passivity.reserve = reserve;
  passivity.most_damping = 1000;
  tk_begin_passivity(&passivity);
  return passivity;
}

// force = +b v pushes the hand on: an active world.
TEST(KeepPassive, AnActiveWorldGivesNoMoreThanItsReserve) {
  for (double reserve : {0.0, 0.05}) {
    for (bool is_kept : {false, true}) {
      tk_passivity passivity = controller(reserve);
      Hand hand;
      double before = 0;
      for (int k = 0; k < 4000; k++) {
        hand.move_to(0.05 * std::sin(0.01 * k));
        const double position[3] = {hand.position, 0, 0};
        const double velocity[3] = {(hand.position - before) / tick, 0, 0};
        before = hand.position;
        double force[3] = {5 * velocity[0], 0, 0};
        if (is_kept) tk_keep_passive(&passivity, tick, position, velocity, force);
        tk_gave(&passivity, force);
        hand.held = force[0];
      }
      if (is_kept) {
        // What it owes at most is one tick's worth: |force| |dx|, here 2.5 N * 0.5 mm.
        EXPECT_LE(hand.most_given, reserve + 2.5 * 5e-4);
        EXPECT_NEAR(passivity.taken, -hand.given, 1e-12);
        EXPECT_GT(passivity.removed, 0);
      } else {
        EXPECT_GT(hand.most_given, reserve + 1);
      }
    }
  }
}

TEST(KeepPassive, APassiveWorldIsLeftAlone) {
  tk_passivity passivity = controller(0);
  double before = 0;
  for (int k = 1; k < 4000; k++) {
    const double x = 0.05 * std::sin(0.01 * k);
    const double position[3] = {x, 0, 0}, velocity[3] = {(x - before) / tick, 0, 0};
    before = x;
    double force[3] = {-2 * velocity[0] - 10 * x, 0, 0};
    const double wanted = force[0];
    tk_keep_passive(&passivity, tick, position, velocity, force);
    EXPECT_EQ(force[0], wanted) << k;
    tk_gave(&passivity, force);
  }
  EXPECT_EQ(passivity.removed, 0);
  EXPECT_GT(passivity.taken, 0);
}

TEST(KeepPassive, AHandAtRestGetsTheForceAsItIs) {
  tk_passivity passivity = controller(0);
  passivity.taken = -1;  // owes a joule
  const double rest[3] = {0, 0, 0};
  double force[3] = {1, 2, 3};
  tk_keep_passive(&passivity, tick, rest, rest, force);
  EXPECT_EQ(force[0], 1);
  EXPECT_EQ(passivity.damping, 0);
}

constexpr tk_limits limits = {
    .force = 8, .change = 2000, .jump = 2, .release = 0.02, .input_age = 0.1, .tick_age = 0.01};

tk_limiter begun() {
  tk_limiter limiter;
  tk_begin_limiting(&limiter, &limits);
  return limiter;
}

// Ticks until the force is there.
void settle(tk_limiter& limiter, double x, double y, double z) {
  for (int k = 0; k < 100; k++) {
    double force[3] = {x, y, z};
    tk_limit(&limiter, tick, 0, tick, force);
  }
}

TEST(Limit, WhatIsSmallAndSlowPassesUnchanged) {
  tk_limiter limiter = begun();
  for (int k = 0; k < 1000; k++) {
    const double wanted[3] = {3 * std::sin(0.01 * k), 2 * std::cos(0.01 * k) - 2, 0.001 * k};
    double force[3] = {wanted[0], wanted[1], wanted[2]};
    tk_limit(&limiter, tick, 0.01, tick, force);
    for (int i = 0; i < 3; i++) EXPECT_EQ(force[i], wanted[i]);
    EXPECT_EQ(limiter.acts, 0);
  }
}

TEST(Limit, NoForceIsLongerAndNoneChangesFaster) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-3, 300), sign(-1, 1);
  tk_limiter limiter = begun();
  double before[3] = {0, 0, 0};
  for (int k = 0; k < 20000; k++) {
    double force[3];
    for (double& component : force) component = sign(random) * std::pow(10, k % 2 ? exponent(random) : 1);
    tk_limit(&limiter, tick, 0, tick, force);
    EXPECT_LE(length(force), 8);
    const double change[3] = {force[0] - before[0], force[1] - before[1], force[2] - before[2]};
    EXPECT_LE(length(change), 2000 * tick * (1 + 1e-12));
    std::copy(force, force + 3, before);
  }
}

TEST(Limit, ALongForceKeepsItsDirection) {
  tk_limiter limiter = begun();
  settle(limiter, 30, 40, 0);
  EXPECT_NEAR(limiter.force[0], 4.8, 1e-12);
  EXPECT_NEAR(limiter.force[1], 6.4, 1e-12);
  EXPECT_EQ(limiter.acts, TK_LIMIT_FORCE);
}

// Every fault: how many ticks until nothing is left, and whether force comes back by itself.
TEST(Limit, WhatIsNotFiniteEndsTheForceForGood) {
  for (double bad : {nan_value, infinity, -infinity}) {
    for (int place = 0; place < 3; place++) {
      tk_limiter limiter = begun();
      settle(limiter, 6, 0, 3);
      double before = length(limiter.force);
      for (int k = 1; k <= 200; k++) {
        double force[3] = {6, 0, 3};
        if (k == 1) force[place] = bad;
        tk_limit(&limiter, tick, 0, tick, force);
        ASSERT_TRUE(std::isfinite(length(force)));
        EXPECT_LE(length(force), before);
        before = length(force);
        if (k * tick >= limits.release) {
          EXPECT_EQ(before, 0) << k;
        }
        EXPECT_TRUE(limiter.acts & TK_LIMIT_NOT_FINITE);
      }
      tk_forgive(&limiter);
      settle(limiter, 6, 0, 3);
      EXPECT_EQ(limiter.force[0], 6);
    }
  }
}

TEST(Limit, ALostHandGetsNothingUntilItIsBack) {
  tk_limiter limiter = begun();
  settle(limiter, 6, 0, 3);
  for (int k = 1; k <= 50; k++) {
    double force[3] = {6, 0, 3};
    tk_limit(&limiter, tick, k == 7 ? nan_value : 0.2, tick, force);
    EXPECT_EQ(limiter.acts, TK_LIMIT_LOST);
    if (k * tick >= limits.release) {
      EXPECT_EQ(length(force), 0) << k;
    }
  }
  settle(limiter, 6, 0, 3);
  EXPECT_EQ(limiter.force[0], 6);
}

TEST(Limit, AStallEndsTheForceByTheClock) {
  tk_limiter limiter = begun();
  settle(limiter, 6, 0, 3);
  const double before = length(limiter.force);
  double force[3] = {6, 0, 3};
  tk_limit(&limiter, 0.005, 0, 0.011, force);
  EXPECT_EQ(limiter.acts, TK_LIMIT_STALLED);
  EXPECT_NEAR(length(force), before * 0.75, 1e-12);
  double later[3] = {6, 0, 3};
  tk_limit(&limiter, 0.015, 0, 0.026, later);
  EXPECT_EQ(length(later), 0);
  // A tick that is in time again brings it back, as fast as it may.
  double again[3] = {6, 0, 3};
  tk_limit(&limiter, tick, 0, tick, again);
  EXPECT_NEAR(length(again), 2, 1e-12);
}

TEST(Limit, HoweverLateACallIsTheForceJumpsByNoMoreThanAllowed) {
  for (const double dt : {0.0, 1e-6, 1e-3, 0.04, 1e3, infinity}) {
    tk_limiter limiter = begun();
    settle(limiter, -8, 0, 0);
    double force[3] = {8, 0, 0};
    tk_limit(&limiter, dt, 0, tick, force);
    EXPECT_NEAR(force[0], -8 + std::min(2000 * dt, 2.0), 1e-12) << dt;
  }
  // Time that is no time moves nothing.
  for (const double dt : {-1.0, nan_value}) {
    tk_limiter limiter = begun();
    settle(limiter, -8, 0, 0);
    double force[3] = {8, 0, 0};
    tk_limit(&limiter, dt, 0, tick, force);
    EXPECT_EQ(force[0], -8);
    double lost[3] = {8, 0, 0};
    tk_limit(&limiter, dt, infinity, tick, lost);
    EXPECT_EQ(lost[0], -8);
  }
}

}  // namespace
