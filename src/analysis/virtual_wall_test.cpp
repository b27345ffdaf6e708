// Walls: theory, eigenvalues and simulated time say the same, each by its own computation.
#include "analysis/virtual_wall.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "haptic/presets.h"

namespace analysis {
namespace {

Loop make_loop(double mass, double damping, int delay, double period = 1e-3) {
  Loop loop;
  loop.device.mass = mass;
  loop.device.damping = damping;
  loop.delay = delay;
  loop.period = period;
  return loop;
}

constexpr double no_end = 1e7;

struct Case {
  Loop loop;
  double wall_damping;
};

// 162 loops that are fast against the motion: (b + B) T / m is at most 1%.
std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (double mass : {0.05, 0.1, 0.3}) {
    for (double period : {1e-3, 5e-4}) {
      for (int delay : {0, 1, 2}) {
        for (double slowness : {0.002, 0.005, 0.01}) {
          for (double part : {0.0, 0.5, 1.0}) {
            const double damping = slowness * mass / period / (1 + part);
            cases.push_back({make_loop(mass, damping, delay, period), part * damping});
          }
        }
      }
    }
  }
  return cases;
}

TEST(Wall, TheoryHoldsByEigenvalues) {
  const std::vector<Case> cases = all_cases();
  ASSERT_GE(cases.size(), 54u);
  for (const Case& c : cases) {
    const double theory = theory_stiffness(c.loop, c.wall_damping);
    EXPECT_NEAR(linear_stiffness(c.loop, c.wall_damping) / theory, 1, 0.03);
    EXPECT_LT(spectral_radius(c.loop, {0.8 * theory, c.wall_damping}), 1);
    EXPECT_GT(spectral_radius(c.loop, {1.2 * theory, c.wall_damping}), 1);
  }
}

TEST(Wall, TheoryHoldsInTime) {
  const std::vector<Case> cases = all_cases();
  for (std::size_t i = 0; i < cases.size(); i += 3) {
    const Case& c = cases[i];
    const double theory = theory_stiffness(c.loop, c.wall_damping);
    EXPECT_FALSE(try_wall(c.loop, {0.8 * theory, c.wall_damping}, {}).grows) << i;
    EXPECT_TRUE(try_wall(c.loop, {1.2 * theory, c.wall_damping}, {}).grows) << i;
  }
  for (std::size_t i = 1; i < cases.size(); i += 20) {
    const Case& c = cases[i];
    const double found = simulated_stiffness(c.loop, c.wall_damping, false, {}, no_end);
    EXPECT_NEAR(found / theory_stiffness(c.loop, c.wall_damping), 1, 0.03) << i;
    EXPECT_NEAR(found / linear_stiffness(c.loop, c.wall_damping), 1, 1e-3) << i;
  }
}

TEST(Wall, TheFiguresOfTheReference) {
  const double expected[] = {1000.8, 333.8, 200.4};
  for (int delay = 0; delay < 3; ++delay) {
    const Loop loop = make_loop(0.1, 0.5, delay);
    EXPECT_NEAR(linear_stiffness(loop, 0), expected[delay], 0.05);
    EXPECT_NEAR(simulated_stiffness(loop, 0, false, {}, no_end), expected[delay], 1e-3 * expected[delay]);
    EXPECT_NEAR(theory_stiffness(loop, 0), 0.5 / (0.0005 + 0.001 * delay), 1e-9);
  }
}

TEST(Wall, TimeAndEigenvaluesAgreeWhereTheoryEnds) {
  // Strong wall damping: the rule of thumb promises far too much, and at last there is no stable wall at all.
  for (int delay : {0, 1, 2}) {
    const Loop loop = make_loop(0.1, 0.5, delay);
    const double most = most_wall_damping(loop);
    for (double part : {0.1, 0.4, 0.8}) {
      const double linear = linear_stiffness(loop, part * most);
      EXPECT_NEAR(simulated_stiffness(loop, part * most, false, {}, no_end) / linear, 1, 1e-3) << delay << " " << part;
      EXPECT_LT(linear, theory_stiffness(loop, part * most));
    }
    EXPECT_EQ(linear_stiffness(loop, 1.02 * most), 0);
    EXPECT_EQ(simulated_stiffness(loop, 1.02 * most, false, {}, no_end), 0);
  }
}

TEST(Wall, AnArmAddsItsDamping) {
  Loop loop = make_loop(0.1, 0.5, 1);
  loop.arm = {.mass = 0.5, .damping = 4, .stiffness = 300};
  EXPECT_NEAR(linear_stiffness(loop, 0) / theory_stiffness(loop, 0), 1, 0.03);
  EXPECT_NEAR(theory_stiffness(loop, 0), 4.5 / 0.0015, 1e-9);
  EXPECT_NEAR(simulated_stiffness(loop, 0, false, {}, no_end) / linear_stiffness(loop, 0), 1, 1e-3);
  // One-sided, the arm leaning on it: about where it rests the same limit, as long as it does not leave the wall.
  EXPECT_NEAR(simulated_stiffness(loop, 0, true, {}, no_end) / linear_stiffness(loop, 0), 1, 2e-3);
}

TEST(Wall, OnlyPushesWhereItIsOneSided) {
  const Wall wall{100, 2, true};
  EXPECT_EQ(wall_force(wall, {0.01, 0}), -1);
  EXPECT_EQ(wall_force(wall, {0.01, -1}), 0) << "it would pull";
  EXPECT_EQ(wall_force(wall, {-0.01, 1}), 0);
  EXPECT_EQ(wall_force({100, 2, false}, {-0.01, 1}), -1);
}

TEST(Wall, ProbeFindsWhatSamplingGivesOut) {
  const double period = 1e-3;
  for (double stiffness : {0.0, 500.0, 3000.0}) {
    for (double damping : {-0.3, 0.0, 2.0}) {
      for (int turns : {1, 37, 200, 499}) {
        const int ticks = 1000;
        const double angle = 2 * std::numbers::pi * turns / ticks;
        const double found = probe_wall({stiffness, damping}, period, 0, turns, ticks);
        const double told = stiffness * period / 2 - damping * std::cos(angle);
        EXPECT_NEAR(found, told, 5e-5 * (std::abs(told) + 1e-9)) << stiffness << " " << damping << " " << turns;
        for (int delay : {1, 3}) {
          EXPECT_NEAR(probe_wall({stiffness, damping}, period, delay, turns, ticks),
                      generated_over_damper({stiffness, damping}, period, delay, angle / period), 1e-9);
        }
      }
    }
  }
}

TEST(Wall, PassiveIsBelowTheWorstOfTheProbe) {
  // Without delay b > K T/2 + |B|. With it, just below the limit no frequency gives out more than b takes, just above
  // one does.
  EXPECT_NEAR(passive_stiffness(make_loop(0.1, 0.5, 0), 0.2), 2 * 0.3 / 1e-3, 1e-9);
  EXPECT_NEAR(passive_stiffness(make_loop(0.1, 0.5, 0), -0.2), 2 * 0.3 / 1e-3, 1e-9);
  EXPECT_EQ(passive_stiffness(make_loop(0.1, 0.5, 0), 0.6), 0);
  EXPECT_NEAR(passive_stiffness(make_loop(0.1, 0.5, 2), 0), 0.5 / 2.5e-3, 1e-9);
  for (int delay : {0, 1, 2}) {
    for (double damping : {-0.3, 0.0, 0.1, 0.4}) {
      const Loop loop = make_loop(0.1, 0.5, delay);
      const double limit = passive_stiffness(loop, damping);
      const auto worst = [&](double stiffness) {
        double most = -1;
        for (int turns = 1; turns <= 1000; turns += 7)
          most = std::max(most, probe_wall({stiffness, damping}, loop.period, delay, turns, 2001));
        return most;
      };
      EXPECT_LT(worst(0.99 * limit), 0.5) << delay << " " << damping;
      EXPECT_GT(worst(1.01 * limit), 0.5) << delay << " " << damping;
      // Passive is more than stable.
      EXPECT_LE(limit, linear_stiffness(loop, damping) * 1.001);
    }
  }
}

TEST(Wall, FrictionHoldsByItsDescribingFunction) {
  // With Coulomb friction the limit falls with the amplitude: b + 4 f_c / (pi w A) for b. The friction is a square wave
  // and not a sine: within 6%.
  double before = 1e9;
  for (double amplitude : {1e-4, 1e-3, 1e-2}) {
    Loop loop = make_loop(0.1, 0.5, 1);
    loop.device.coulomb = 0.05;
    Trial trial;
    trial.amplitude = amplitude;
    const double found = simulated_stiffness(loop, 0, false, trial, no_end);
    EXPECT_NEAR(found / theory_stiffness(loop, 0, amplitude), 1, 0.06) << amplitude;
    EXPECT_GT(found, linear_stiffness(loop, 0));
    EXPECT_LT(found, before);
    before = found;
  }
  EXPECT_NEAR(theory_stiffness(make_loop(0.1, 0.5, 1), 0.2, 1e-3), theory_stiffness(make_loop(0.1, 0.5, 1), 0.2), 1e-6);
}

TEST(Wall, EncoderAndFrictionBelowTheBound) {
  // K <= min(2b/T, 2 f_c/D): let go at 1.3, 3.7, 20 and 100 encoder steps, the device comes to rest at 0.99 of the
  // bound, and never is farther out than at first.
  for (double step : {1e-5, 2e-4}) {
    for (double ratio : {0.5, 2.0}) {
      Loop loop = make_loop(0.1, 0.5, 0);
      const double viscous = 2 * loop.device.damping / loop.period;
      loop.device.encoder = step;
      loop.device.coulomb = ratio * viscous * step / 2;
      const double bound = std::min(viscous, 2 * loop.device.coulomb / step);
      for (double amplitude : {1.3, 3.7, 20.0, 100.0}) {
        Trial trial;
        trial.amplitude = amplitude * step;
        const Outcome outcome = try_wall(loop, {0.99 * bound, 0}, trial);
        EXPECT_FALSE(outcome.grows);
        EXPECT_EQ(outcome.last, 0) << amplitude;
        EXPECT_LE(outcome.largest, trial.amplitude);
      }
    }
  }
}

TEST(Wall, EncoderAndFrictionBeyondTheBound) {
  // The worst motion: to and fro over the edge between two encoder steps, in time with the ticks. The wall pushes out
  // by K D more than in; friction takes 2 f_c for that. So just beyond 2 f_c/D energy comes out, and below it none
  // does.
  const double step = 1e-4, coulomb = 0.05, damping = 0.5, period = 1e-3, bound = 2 * coulomb / step;
  const auto given = [&](double stiffness, double width) {
    double work = 0;
    for (int k = 0; k < 100; ++k) {
      const double side = k % 2 == 0 ? -1 : 1, x = step / 2 + side * width / 2, dx = -side * width;
      work += wall_force({stiffness, 0}, {haptic::quantise(x, step), 0}) * dx;
      work -= coulomb * std::abs(dx) + damping * dx * dx / period;
    }
    return work;
  };
  const double narrow = 1e-3 * step;
  EXPECT_GT(given(1.01 * bound, narrow), 0);
  EXPECT_LT(given(0.99 * bound, narrow), 0);
}

TEST(Wall, GuardTamesWallsBeyondTheLimit) {
  for (int delay : {0, 1, 2}) {
    const Loop loop = make_loop(0.1, 0.5, delay);
    const double limit = linear_stiffness(loop, 0);
    for (double times : {1.2, 2.0, 3.0}) {
      const Wall wall{times * limit, 0};
      Trial trial;
      EXPECT_TRUE(try_wall(loop, wall, trial).grows) << delay << " " << times;
      trial.guard = Guard{most_guard_damping(loop), 0};
      const Outcome guarded = try_wall(loop, wall, trial);
      EXPECT_FALSE(guarded.grows);
      EXPECT_LT(guarded.last, 1e-3 * guarded.first) << delay << " " << times;
      // It never was farther out than at first by more than what sampling gave out before it was seen.
      EXPECT_LT(guarded.largest, 1.2 * trial.amplitude);
      EXPECT_GT(guarded.removed, 0);
    }
    EXPECT_GT(simulated_stiffness(loop, 0, false, {.guard = Guard{most_guard_damping(loop), 0}}, no_end), 3 * limit);
  }
}

TEST(Wall, GuardLeavesAWallAloneThatPaysForItsSampling) {
  // K T/2 < B cos(wT) up to well beyond the motion's frequency: the wall itself gives nothing out.
  const Loop loop = make_loop(0.1, 0.5, 0);
  const Trial trial{.guard = Guard{most_guard_damping(loop), 0}};
  EXPECT_EQ(try_wall(loop, {300, 0.2}, trial).removed, 0);
  // One that gives some out is charged for it, though the device could have borne it: the observer sees the wall alone.
  EXPECT_GT(try_wall(loop, {300, 0}, trial).removed, 0);
}

TEST(Wall, GuardTamesADeviceWithFrictionAndEncoder) {
  Loop loop;
  loop.device = haptic::find_preset("touch")->device;
  loop.device.force_limit = std::numeric_limits<double>::infinity();
  loop.delay = 1;
  Trial trial;
  const double limit = simulated_stiffness(loop, 0, false, trial, no_end);
  for (double times : {1.2, 2.0}) {
    EXPECT_TRUE(try_wall(loop, {times * limit, 0}, trial).grows);
    Trial guarded = trial;
    guarded.guard = Guard{most_guard_damping(loop), 0};
    const Outcome outcome = try_wall(loop, {times * limit, 0}, guarded);
    EXPECT_FALSE(outcome.grows) << times;
    EXPECT_LT(outcome.last, outcome.first);
  }
}

TEST(Wall, AGuardCanBeTooStrong) {
  // The damper is computed from samples too.
  Loop loop;
  loop.device = haptic::find_preset("touch")->device;
  loop.device.force_limit = std::numeric_limits<double>::infinity();
  const auto limit = [&](double damping) {
    return simulated_stiffness(loop, 0, false, {.guard = Guard{damping, 0}}, no_end);
  };
  const double most = most_wall_damping(loop);
  EXPECT_GT(limit(most / 2), 2 * limit(most / 20));
  EXPECT_GT(limit(most / 2), 2 * limit(most));
}

}  // namespace
}  // namespace analysis
