#include "runtime/trace/staircase.h"

#include <algorithm>
#include <cmath>

namespace trace {

Staircase make_staircase(std::span<const double> xs, std::span<const double> ys) {
  Staircase made;
  const std::size_t count = std::min(xs.size(), ys.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0 && ys[i] != ys[i - 1] && std::isfinite(ys[i]) && std::isfinite(ys[i - 1])) {
      made.xs.push_back(xs[i]);
      made.ys.push_back(ys[i - 1]);
    }
    made.xs.push_back(xs[i]);
    made.ys.push_back(ys[i]);
  }
  return made;
}

bool looks_like_staircase(std::span<const double> ys) {
  bool has_changed = false;
  bool changed_before = false;
  for (std::size_t i = 1; i < ys.size(); ++i) {
    if (!std::isfinite(ys[i]) || !std::isfinite(ys[i - 1])) return false;
    const bool changes = ys[i] != ys[i - 1];
    if (changes && changed_before) return false;
    has_changed = has_changed || changes;
    changed_before = changes;
  }
  return has_changed && ys.size() > 3;
}

}  // namespace trace
