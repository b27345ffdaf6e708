#include "analysis/z_width.h"

#include <algorithm>
#include <cmath>

namespace analysis {
namespace {

ZWidthPoint theory_at(const Loop& loop, double amplitude, double wall_damping) {
  ZWidthPoint point;
  point.wall_damping = wall_damping;
  point.passive = passive_stiffness(loop, wall_damping);
  point.theory = theory_stiffness(loop, wall_damping);
  point.with_friction = theory_stiffness(loop, wall_damping, amplitude);
  point.linear = linear_stiffness(loop, wall_damping);
  return point;
}

std::vector<double> choose_dampings(const Loop& loop, double most) {
  constexpr int count = 16;
  const double high = 0.95 * most;
  const double low = std::min(std::max((loop.device.damping + loop.arm.damping) / 10, most / 2000), high / 2);
  std::vector<double> dampings = {0};
  for (int i = 0; i < count; ++i) dampings.push_back(low * std::pow(high / low, i / (count - 1.0)));
  return dampings;
}

}  // namespace

ZWidth measure_z_width(const Loop& loop, const ZWidthOptions& options, const std::function<void(double)>& on_point) {
  ZWidth result;
  const double mass = loop.device.mass + loop.arm.mass;
  result.most_wall_damping = most_wall_damping(loop);
  if (options.with_guard) result.guard_damping = most_guard_damping(loop);
  const std::vector<double> dampings =
      options.wall_dampings.empty() ? choose_dampings(loop, result.most_wall_damping) : options.wall_dampings;
  // A spring as stiff as m / T^2 swings once in six ticks: no loop keeps up with ten of them, unless something brakes
  // it.
  const double most_damping = *std::max_element(dampings.begin(), dampings.end());
  result.most_stiffness =
      10 * std::max(mass / (loop.period * loop.period), theory_stiffness(loop, most_damping, options.trial.amplitude));
  const auto search = [&](double damping, const std::optional<Guard>& guard) -> std::optional<double> {
    Trial trial = options.trial;
    trial.guard = guard;
    const double found = simulated_stiffness(loop, damping, options.is_unilateral, trial, result.most_stiffness);
    return found < result.most_stiffness ? std::optional(found) : std::nullopt;
  };
  for (double damping : dampings) {
    ZWidthPoint point = theory_at(loop, options.trial.amplitude, damping);
    point.simulated = search(damping, std::nullopt);
    if (options.with_guard) point.guarded = search(damping, Guard{result.guard_damping, 0});
    result.points.push_back(point);
    on_point(static_cast<double>(result.points.size()) / static_cast<double>(dampings.size()));
  }
  return result;
}

std::vector<ZWidthPoint> trace_theory(const Loop& loop, double amplitude, double low, double high, int count) {
  std::vector<ZWidthPoint> points;
  for (int i = 0; i < count; ++i)
    points.push_back(theory_at(loop, amplitude, low * std::pow(high / low, i / (count - 1.0))));
  return points;
}

}  // namespace analysis
