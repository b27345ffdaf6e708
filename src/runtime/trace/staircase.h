// Values that are constant between events, drawn as what they are: level up to the next row, then up or down at it.
#pragma once

#include <span>
#include <vector>

namespace trace {

struct Staircase {
  std::vector<double> xs;
  std::vector<double> ys;
};

// The rows, and a corner before each one that changes the value.
Staircase make_staircase(std::span<const double> xs, std::span<const double> ys);

// Whether a column of a table is one, as far as its rows show: it changes, and never in two rows running. Rows as far
// apart as the events hide it.
bool looks_like_staircase(std::span<const double> ys);

}  // namespace trace
