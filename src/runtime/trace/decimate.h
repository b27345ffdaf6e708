// A curve in device coordinates -> few points that draw the same picture.
//
// Consecutive points in one column of width `column` become at most four: first, least, greatest and last, in their
// order. Points that then lie within `tolerance` of the line through their neighbours are dropped (one pass, a cone of
// admissible directions: Williams, Computer Graphics and Image Processing 8, 1978, p. 286). Points that are not
// drawable break the curve. Cost: one pass.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace trace {

// Beyond this a value counts as not finite: differences of such values still do not overflow.
inline constexpr double largest_drawable = 1e300;

struct Point {
  double x;
  double y;
};

// Strokes without gaps; one point alone is a dot.
using Strokes = std::vector<std::vector<Point>>;

// device = origin + scale * data, or of its logarithm to base 10.
struct AxisMap {
  double origin = 0;
  double scale = 1;
  bool is_logarithmic = false;
  double operator()(double value) const { return origin + scale * (is_logarithmic ? std::log10(value) : value); }
  bool can_show(double value) const { return std::abs(value) <= largest_drawable && (!is_logarithmic || value > 0); }
};

Strokes decimate(std::span<const double> xs, std::span<const double> ys, AxisMap to_x, AxisMap to_y, double column,
                 double tolerance);

std::size_t count_points(const Strokes& strokes);

}  // namespace trace
