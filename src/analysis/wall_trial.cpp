// Walls in simulated time.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "analysis/virtual_wall.h"
#include "base/check.h"
#include "kernel/touch.h"

namespace analysis {
namespace {

constexpr int most_windows = 150;
constexpr int late_window = 100;

bool is_linear(const Loop& loop, const Wall& wall, const Trial& trial) {
  return loop.device.coulomb == 0 && loop.device.encoder == 0 && std::isinf(loop.device.force_limit) &&
         !wall.is_unilateral && !trial.guard;
}

// Two swings of the linear loop, in ticks.
int window_ticks(const Loop& loop, const Wall& wall) {
  const double mass = loop.device.mass + loop.arm.mass;
  const double swing = 2 * std::numbers::pi * std::sqrt(mass / (wall.stiffness + loop.arm.stiffness));
  return static_cast<int>(std::clamp(2 * swing / loop.period, 50.0, 1e6));
}

}  // namespace

Outcome try_wall(const Loop& loop, const Wall& wall, const Trial& trial) {
  TACTUS_CHECK(!wall.is_unilateral || loop.arm.stiffness > 0);
  haptic::SimulatedDevice device(loop.device, loop.arm, loop.period, loop.delay);
  const double rest = wall.is_unilateral ? trial.push / wall.stiffness : 0;
  const double target = wall.is_unilateral ? rest + trial.push / loop.arm.stiffness : 0;
  const double amplitude = wall.is_unilateral ? std::min(trial.amplitude, rest / 2) : trial.amplitude;
  const double depth = rest + amplitude;
  device.hold_at(depth, wall_force(wall, {depth, 0}), target);

  tk_passivity passivity = {};
  if (trial.guard) {
    passivity.reserve = trial.guard->reserve;
    passivity.most_damping = trial.guard->most_damping;
    tk_begin_passivity(&passivity);
    // Whoever brought the device there, slowly, put this into the wall.
    passivity.taken = wall.stiffness * depth * depth / 2;
  }

  Outcome outcome;
  const int ticks = window_ticks(loop, wall);
  const bool linear = is_linear(loop, wall, trial);
  double late = 0;
  for (int window = 0; window < most_windows; ++window) {
    double least = device.position(), greatest = least;
    for (int tick = 0; tick < ticks; ++tick) {
      const haptic::Reading seen = device.reading();
      double force[3] = {wall_force(wall, seen), 0, 0};
      if (trial.guard) {
        const double position[3] = {seen.position, 0, 0}, velocity[3] = {seen.velocity, 0, 0};
        tk_keep_passive(&passivity, loop.period, position, velocity, force);
      }
      device.tick(force[0]);
      if (trial.guard) {
        const double acted[3] = {device.acted(), 0, 0};
        tk_gave(&passivity, acted);
      }
      least = std::min(least, device.position());
      greatest = std::max(greatest, device.position());
    }
    outcome.last = (greatest - least) / 2;
    outcome.largest = std::max(outcome.largest, outcome.last);
    outcome.seconds += ticks * loop.period;
    if (window == 0) outcome.first = outcome.last;
    if (window == late_window) late = outcome.last;
    outcome.grows = outcome.last > 2 * outcome.first;
    if (outcome.grows || outcome.last <= 1e-12 * amplitude) break;
    if (window == most_windows - 1) outcome.grows = outcome.last > (linear ? late : outcome.first);
  }
  outcome.removed = passivity.removed;
  return outcome;
}

double simulated_stiffness(const Loop& loop, double wall_damping, bool is_unilateral, const Trial& trial, double most) {
  const auto grows = [&](double stiffness) {
    return try_wall(loop, {stiffness, wall_damping, is_unilateral}, trial).grows;
  };
  const double mass = loop.device.mass + loop.arm.mass;
  double low = std::min(1e-3 * mass / (loop.period * loop.period), 0.05 * most);
  const double theory = theory_stiffness(loop, wall_damping);
  if (theory > 0) low = std::min(low, theory / 2);
  if (grows(low)) return 0;
  double high = low;
  while (true) {
    high = 1.1 * low;
    if (high >= most) return most;
    if (grows(high)) break;
    low = high;
  }
  while (high - low > 5e-4 * high) {
    const double middle = (low + high) / 2;
    (grows(middle) ? high : low) = middle;
  }
  return low;
}

}  // namespace analysis
