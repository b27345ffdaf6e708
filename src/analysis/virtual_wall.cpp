// The wall itself, and what theory says in closed form.
#include "analysis/virtual_wall.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace analysis {

double wall_force(const Wall& wall, const haptic::Reading& reading) {
  const double force = -(wall.stiffness * reading.position + wall.damping * reading.velocity);
  if (!wall.is_unilateral) return force;
  return reading.position > 0 ? std::min(force, 0.0) : 0.0;
}

double theory_stiffness(const Loop& loop, double wall_damping) {
  const double damping = loop.device.damping + loop.arm.damping + wall_damping;
  return std::max(0.0, damping / (loop.period / 2 + loop.delay * loop.period));
}

double theory_stiffness(const Loop& loop, double wall_damping, double amplitude) {
  const double lag = loop.period / 2 + loop.delay * loop.period;
  const double linear = (loop.device.damping + loop.arm.damping + wall_damping) / lag;
  const double friction = 4 * loop.device.coulomb / (std::numbers::pi * amplitude) / lag;
  if (friction == 0) return std::max(0.0, linear);
  const double mass = loop.device.mass + loop.arm.mass;
  // What is left over falls as the stiffness grows.
  const auto left = [&](double stiffness) {
    return linear + friction / std::sqrt((stiffness + loop.arm.stiffness) / mass) - stiffness;
  };
  double low = 0, high = 1;
  if (left(1e-9) <= 0) return 0;
  while (left(high) > 0) low = high, high *= 2;
  while (high - low > 1e-9 * high) {
    const double middle = (low + high) / 2;
    (left(middle) > 0 ? low : high) = middle;
  }
  return low;
}

double generated_over_damper(const Wall& wall, double period, int delay, double frequency) {
  const double angle = frequency * period;
  const double spring =
      std::sin(angle / 2) == 0 ? 2 * delay + 1 : std::sin((delay + 0.5) * angle) / std::sin(angle / 2);
  return wall.stiffness * period / 2 * spring - wall.damping * std::cos((delay + 1) * angle);
}

double passive_stiffness(const Loop& loop, double wall_damping) {
  const double b = loop.device.damping;
  if (loop.delay == 0) return std::max(0.0, 2 * (b - std::abs(wall_damping)) / loop.period);
  // The least over frequencies of the stiffness at which W/D = b.
  constexpr int steps = 20'000;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= steps; ++i) {
    const double frequency = i * std::numbers::pi / steps / loop.period;
    const double left = b - generated_over_damper({0, wall_damping}, loop.period, loop.delay, frequency);
    const double spring = generated_over_damper({1, 0}, loop.period, loop.delay, frequency);
    if (left < 0) return 0;
    if (spring > 0) least = std::min(least, left / spring);
  }
  return least;
}

double probe_wall(const Wall& wall, double period, int delay, int turns, int ticks) {
  const auto position = [&](int k) { return std::sin(2 * std::numbers::pi * turns * k / ticks); };
  double given = 0, taken = 0;
  for (int k = 0; k < ticks; ++k) {
    const int seen = k - delay;
    const double x = position(seen);
    const double step = position(k + 1) - position(k);
    given += wall_force(wall, {x, (x - position(seen - 1)) / period}) * step;
    taken += step * step / period;
  }
  return given / taken;
}

}  // namespace analysis
