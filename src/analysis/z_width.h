// The Z-width of a device (J. E. Colgate and J. M. Brown, IEEE ICRA 1994): the largest stable stiffness over the
// damping of the wall. A loop in; a row a damping out, each with what theory, eigenvalues and simulated time say of it.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "analysis/virtual_wall.h"

namespace analysis {

struct ZWidthPoint {
  double wall_damping = 0;
  double passive = 0, theory = 0, with_friction = 0, linear = 0;  // N/m
  std::optional<double> simulated, guarded;                       // none: no growth was found up to `most_stiffness`
};

struct ZWidth {
  double most_wall_damping = 0;  // of the linear loop: beyond, no wall is stable
  double most_stiffness = 0;     // where a search was given up
  double guard_damping = 0;      // of the guard; 0: none was asked for
  std::vector<ZWidthPoint> points;
};

struct ZWidthOptions {
  std::vector<double>
      wall_dampings;  // empty: 0, and from a tenth of the device's to the end of what is stable, evenly by ratio
  bool is_unilateral = false;
  bool with_guard = false;
  Trial trial;  // its guard does not count
};

// `on_point` is called after each point with the part that is done, 0 to 1.
[[nodiscard]] ZWidth measure_z_width(const Loop& loop, const ZWidthOptions& options,
                                     const std::function<void(double)>& on_point);

// Of the closed forms and eigenvalues alone, at `count` dampings from `low` to `high`, evenly by ratio: for a line.
[[nodiscard]] std::vector<ZWidthPoint> trace_theory(const Loop& loop, double amplitude, double low, double high,
                                                    int count);

}  // namespace analysis
