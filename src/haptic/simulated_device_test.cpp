// The simulated device against closed forms, an independent integration, and what friction may never do.
#include "haptic/simulated_device.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <numbers>
#include <random>

#include "haptic/presets.h"

#if defined(__SANITIZE_ADDRESS__)
#define HAS_OWN_MALLOC 1
#endif

namespace {
int allocations = 0;
}
#ifndef HAS_OWN_MALLOC
extern "C" {
void* __libc_malloc(std::size_t);
void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
}
#endif

namespace haptic {
namespace {

constexpr double period = 1e-3;

TEST(LinearMotion, FollowsItsClosedForms) {
  // Weak, critical and strong damping, no spring, no damper; over a tick and over many swings. What is left is
  // rounding: that of the closed form where eigenvalues are near one another, and of doubling.
  for (double p : {0.0, 0.3, 5.0, 200.0}) {
    for (double q : {0.0, 0.02, 6.0, 1e4}) {
      const LinearMotion motion(1, p, q);
      for (double t : {1e-6, 1e-3, 0.1, 3.0}) {
        const Transition of = motion.after(t);
        const double d = p * p / 4 - q;
        double s = 0, s_rate = 0;
        if (d < 0) {
          const double w = std::sqrt(-d);
          s = std::exp(-p / 2 * t) * std::sin(w * t) / w;
          s_rate = std::exp(-p / 2 * t) * (std::cos(w * t) - p / 2 / w * std::sin(w * t));
        } else if (d == 0) {
          s = t * std::exp(-p / 2 * t), s_rate = (1 - p / 2 * t) * std::exp(-p / 2 * t);
        } else {
          const double fast = -p / 2 - std::sqrt(d), slow = q / fast;
          s = std::exp(fast * t) * std::expm1((slow - fast) * t) / (slow - fast);
          s_rate = std::exp(fast * t) + slow * s;
        }
        EXPECT_NEAR(of.s, s, 3e-11 * (std::abs(s) + t * std::exp(-p / 2 * t))) << p << " " << q << " " << t;
        EXPECT_NEAR(of.s_rate, s_rate, 3e-12) << p << " " << q << " " << t;
        // P'' + p P' + q P = 1.
        EXPECT_NEAR(of.s_rate + p * of.s + q * of.p, 1, 1e-11) << p << " " << q << " " << t;
        EXPECT_NEAR(of.c, of.s_rate + p * of.s, 1e-11);
        EXPECT_NEAR(of.j, of.s + p * of.p, 1e-11 * (1 + t));
      }
    }
  }
  const Transition none = LinearMotion(1, 2, 3).after(0);
  EXPECT_EQ(none.c, 1);
  EXPECT_EQ(none.s, 0);
  EXPECT_EQ(none.p, 0);
}

TEST(LinearMotion, AFreeMassFallsAsGalileoSays) {
  const Transition of = LinearMotion(2, 0, 0).after(3);
  EXPECT_EQ(of.p, 4.5);
  EXPECT_EQ(of.s, 3);
  EXPECT_EQ(of.s_rate, 1);
}

TEST(SimulatedDevice, CoastsToItsClosedForm) {
  // m v' = F - b v, over a second in a thousand ticks.
  SimulatedDevice device({.mass = 0.1, .damping = 0.5}, {}, period, 0);
  device.hold_at(0, 0, 0);
  device.push(0.2);
  for (int i = 0; i < 1000; ++i) device.tick(0.3);
  const double end = 0.3 / 0.5, rate = 0.5 / 0.1;
  EXPECT_NEAR(device.velocity(), end + (0.2 - end) * std::exp(-rate), 1e-13);
  EXPECT_NEAR(device.position(), end + (0.2 - end) * (1 - std::exp(-rate)) / rate, 1e-13);
}

TEST(SimulatedDevice, AnArmSwingsToItsClosedForm) {
  // (m + m_a) x'' + (b + b_a) x' + k_a x = 0 from x = 1 cm.
  SimulatedDevice device({.mass = 0.1, .damping = 0.5}, {.mass = 0.3, .damping = 1.1, .stiffness = 200}, period, 0);
  device.hold_at(0.01, 0, 0);
  for (int i = 0; i < 700; ++i) device.tick(0);
  const double p = 1.6 / 0.4, w = std::sqrt(200 / 0.4 - p * p / 4), t = 0.7;
  EXPECT_NEAR(device.position(), 0.01 * std::exp(-p / 2 * t) * (std::cos(w * t) + p / 2 / w * std::sin(w * t)), 1e-14);
}

TEST(SimulatedDevice, AnArmDrawsTheHandleAfterItsTarget) {
  // A steady target is followed with a lag of b v / k_a, once all else has died out.
  SimulatedDevice device({.mass = 0.1, .damping = 0.5}, {.mass = 0.2, .damping = 8, .stiffness = 200}, period, 0);
  device.hold_at(0, 0, 0);
  double target = 0;
  for (int i = 0; i < 5000; ++i) device.tick(0, target += 0.1 * period);
  EXPECT_NEAR(device.velocity(), 0.1, 1e-12);
  EXPECT_NEAR(target - device.position(), 0.5 * 0.1 / 200, 1e-12);
}

TEST(SimulatedDevice, FrictionStopsWhereItMust) {
  // m v' = -f_c: stops after v^2 m / (2 f_c), inside a tick, and stays.
  SimulatedDevice device({.mass = 0.1, .coulomb = 0.3}, {}, period, 0);
  device.hold_at(0, 0, 0);
  device.push(0.2);
  for (int i = 0; i < 66; ++i) device.tick(0);
  EXPECT_GT(device.velocity(), 0);
  device.tick(0);
  EXPECT_EQ(device.velocity(), 0);
  EXPECT_NEAR(device.position(), 0.04 * 0.1 / 0.6, 1e-16);
  const double rest = device.position();
  for (int i = 0; i < 10; ++i) device.tick(0.3);
  EXPECT_EQ(device.position(), rest) << "as much as friction bears";
  device.tick(0.3001);
  EXPECT_GT(device.velocity(), 0);
}

TEST(SimulatedDevice, FrictionTurnsAround) {
  // Thrown against a force that friction cannot hold: decelerated by F + f_c, stops inside the tick, and comes back by
  // F - f_c.
  SimulatedDevice device({.mass = 0.1, .coulomb = 0.3}, {}, 0.1, 0);
  device.hold_at(0, 0, 0);
  device.push(0.2);
  device.tick(-0.7);
  const double stop = 0.2 / (1.0 / 0.1), back = 0.1 - stop, rate = 0.4 / 0.1;
  EXPECT_NEAR(device.velocity(), -rate * back, 1e-15);
  EXPECT_NEAR(device.position(), 0.2 * stop / 2 - rate * back * back / 2, 1e-15);
}

TEST(SimulatedDevice, StickSlipAgainstSmallSteps) {
  // A slow target draws the handle by a spring over friction: it sticks, slips, sticks. Beside it the same equations in
  // steps a thousand times smaller with a sign that is switched by hand. Its own errors are of the size of its step.
  const Device figures{.mass = 0.1, .damping = 0.05, .coulomb = 0.4};
  const Arm arm{.mass = 0.02, .damping = 0.3, .stiffness = 300};
  SimulatedDevice device(figures, arm, period, 0);
  device.hold_at(0, 0, 0);
  double x = 0, v = 0, r = 0;
  int stuck = 0, slipping = 0;
  for (int i = 0; i < 1500; ++i) {
    const double force = 0.2 * std::sin(0.02 * i), rate = 0.01;
    device.tick(force, rate * period * (i + 1));
    const int parts = 1000;
    const double h = period / parts, m = figures.mass + arm.mass;
    for (int k = 0; k < parts; ++k) {
      r += rate * h;
      const double pull = force + arm.stiffness * (r - x) + arm.damping * (rate - v) - figures.damping * v;
      if (v == 0 && std::abs(pull) <= figures.coulomb) continue;
      const double sign = v != 0 ? std::copysign(1.0, v) : std::copysign(1.0, pull);
      const double next = v + h * (pull - sign * figures.coulomb) / m;
      v = next * sign < 0 ? 0 : next;
      x += h * v;
    }
    EXPECT_NEAR(device.position(), x, 2e-6) << i;
    (device.velocity() == 0 ? stuck : slipping)++;
  }
  EXPECT_GT(stuck, 300);
  EXPECT_GT(slipping, 100);
}

TEST(SimulatedDevice, ATickMayBeCutAnywhere) {
  // Exactness: ticks of 4 ms go where ticks of 1 ms go, friction and all.
  const Device figures{.mass = 0.1, .damping = 0.2, .coulomb = 0.15};
  const Arm arm{.mass = 0, .damping = 0.5, .stiffness = 500};
  SimulatedDevice coarse(figures, arm, 4e-3, 0), fine(figures, arm, 1e-3, 0);
  coarse.hold_at(0.02, 0, 0);
  fine.hold_at(0.02, 0, 0);
  double target = 0;
  for (int i = 0; i < 400; ++i) {
    const double force = 0.6 * std::sin(0.1 * i), before = target;
    target = 2e-3 * std::sin(0.03 * i);
    coarse.tick(force, target);
    for (int k = 1; k <= 4; ++k) fine.tick(force, before + (target - before) * k / 4);
    ASSERT_NEAR(coarse.position(), fine.position(), 1e-13) << i;
    ASSERT_NEAR(coarse.velocity(), fine.velocity(), 1e-10) << i;
  }
}

TEST(SimulatedDevice, EnergyNeverGrowsByItself) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int run = 0; run < 200; ++run) {
    const Device figures{.mass = 0.02 + 0.3 * uniform(random),
                         .damping = run % 3 == 0 ? 0 : 2 * uniform(random),
                         .coulomb = run % 2 == 0 ? 0 : uniform(random)};
    const Arm arm{.mass = uniform(random), .damping = uniform(random), .stiffness = 2000 * uniform(random)};
    SimulatedDevice device(figures, arm, 0.02 * uniform(random) + 1e-4, 2);
    device.hold_at(0.05 * uniform(random), 0, 0);
    device.push(uniform(random) - 0.5);
    double before = device.energy();
    for (int i = 0; i < 300; ++i) {
      device.tick(0);
      const double energy = device.energy();
      ASSERT_LE(energy, before * (1 + 1e-13)) << run << " " << i;
      before = energy;
    }
  }
}

TEST(SimulatedDevice, EnergyBalancesToRounding) {
  // Over a tick without friction: what is stored changes by the work of the held force, less what the dampers took;
  // with them 0, exactly.
  SimulatedDevice device({.mass = 0.1}, {.mass = 0.1, .damping = 0, .stiffness = 300}, period, 0);
  device.hold_at(0.01, 0, 0);
  double work = 0;
  const double begin = device.energy();
  for (int i = 0; i < 5000; ++i) {
    const double from = device.position();
    device.tick(0.4 * std::cos(0.05 * i));
    work += device.acted() * (device.position() - from);
  }
  EXPECT_NEAR(device.energy(), begin + work, 1e-12);
  EXPECT_GT(std::abs(work), 1e-3);
}

TEST(SimulatedDevice, AnEncoderCountsWholeSteps) {
  const double step = 0.25e-3;
  EXPECT_EQ(quantise(0.12e-3, step), 0);
  EXPECT_EQ(quantise(0.13e-3, step), step);
  EXPECT_EQ(quantise(-0.13e-3, step), -step);
  EXPECT_EQ(quantise(0.123456, 0), 0.123456);
  SimulatedDevice device({.mass = 0.1, .encoder = step}, {}, period, 0);
  device.hold_at(0, 0, 0);
  device.push(0.3);
  double before = 0;
  for (int i = 0; i < 100; ++i) {
    const Reading seen = device.tick(0);
    EXPECT_NEAR(seen.position, device.position(), step / 2 * (1 + 1e-9));
    EXPECT_NEAR(seen.position / step, std::round(seen.position / step), 1e-9);
    EXPECT_EQ(seen.velocity, (seen.position - before) / period);
    before = seen.position;
  }
}

TEST(SimulatedDevice, ForceIsLimitedThenDelayed) {
  SimulatedDevice device({.mass = 0.1, .force_limit = 2}, {}, period, 3);
  device.hold_at(0, 0, 0);
  const double sent[] = {1, 5, -9, 0.5, 0, 0, 0, 0}, acts[] = {0, 0, 0, 1, 2, -2, 0.5, 0};
  for (int i = 0; i < 8; ++i) {
    device.tick(sent[i]);
    EXPECT_EQ(device.acted(), acts[i]) << i;
    if (i < 3) {
      EXPECT_EQ(device.position(), 0);
    }
  }
  SimulatedDevice prompt({.mass = 0.1}, {}, period, 0);
  prompt.hold_at(0, 0, 0);
  prompt.tick(7);
  EXPECT_EQ(prompt.acted(), 7);
  EXPECT_NEAR(prompt.velocity(), 7 * period / 0.1, 1e-15);
}

TEST(SimulatedDevice, TicksWithoutAllocating) {
  SimulatedDevice device({.mass = 0.05, .damping = 0.1, .coulomb = 0.2, .encoder = 1e-5, .force_limit = 3},
                         {.mass = 0.1, .damping = 1, .stiffness = 300}, period, 4);
  device.hold_at(0.01, 0, 0);
  const int before = allocations;
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) sum += device.tick(std::sin(0.01 * i), 0.02 * std::sin(0.003 * i)).position;
  EXPECT_EQ(allocations, before);
  EXPECT_TRUE(std::isfinite(sum));
}

TEST(SimulatedDevice, TheSameCallsGiveTheSameBits) {
  const auto run = [] {
    SimulatedDevice device({.mass = 0.05, .damping = 0.1, .coulomb = 0.2, .encoder = 1e-5},
                           {.mass = 0.1, .stiffness = 300}, period, 2);
    device.hold_at(0.01, 0, 0);
    for (int i = 0; i < 3000; ++i) device.tick(-500 * device.reading().position, 0.02 * std::sin(0.003 * i));
    return device.position();
  };
  EXPECT_EQ(run(), run());
}

TEST(Presets, AreFoundByNameAndAreDevices) {
  for (const Preset& preset : presets()) {
    EXPECT_EQ(find_preset(preset.name), &preset);
    EXPECT_GT(preset.device.mass, 0);
    EXPECT_GT(preset.device.damping, 0);
    EXPECT_GT(preset.device.encoder, 0);
    EXPECT_FALSE(preset.estimate.empty());
  }
  // As published.
  EXPECT_EQ(find_preset("touch")->device.force_limit, 3.3);
  EXPECT_EQ(find_preset("omega")->stiffness, 5000);
  EXPECT_EQ(find_preset("falcon")->workspace, 0.04);
  EXPECT_EQ(find_preset("toch"), nullptr);
}

}  // namespace
}  // namespace haptic
