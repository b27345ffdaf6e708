#include "runtime/trace/decimate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace trace {
namespace {

// The points of one column, in the order they came.
class Column {
 public:
  void start(Point point) {
    first_ = least_ = greatest_ = last_ = point;
    least_at_ = greatest_at_ = count_ = 0;
  }
  void add(Point point) {
    ++count_;
    if (point.y < least_.y) {
      least_ = point;
      least_at_ = count_;
    }
    if (point.y > greatest_.y) {
      greatest_ = point;
      greatest_at_ = count_;
    }
    last_ = point;
  }
  void emit(std::vector<Point>& stroke) const {
    stroke.push_back(first_);
    bool least_first = least_at_ < greatest_at_;
    emit_inner(stroke, least_first ? least_ : greatest_, least_first ? least_at_ : greatest_at_);
    emit_inner(stroke, least_first ? greatest_ : least_, least_first ? greatest_at_ : least_at_);
    if (count_ > 0) stroke.push_back(last_);
  }

 private:
  void emit_inner(std::vector<Point>& stroke, Point point, std::size_t at) const {
    if (at > 0 && at < count_) stroke.push_back(point);
  }

  Point first_, least_, greatest_, last_;
  std::size_t least_at_ = 0, greatest_at_ = 0, count_ = 0;
};

double wrapped(double angle) {
  constexpr double pi = std::numbers::pi;
  if (angle > pi) return angle - 2 * pi;
  return angle < -pi ? angle + 2 * pi : angle;
}

// Drops the points between an anchor and a later one while all of them lie within `tolerance` of the line there, and
// the distance to the anchor grows: a turn back is an extreme and stays.
void drop_collinear(std::vector<Point>& stroke, double tolerance) {
  if (stroke.size() < 3) return;
  std::size_t kept = 1;
  Point anchor = stroke[0];
  // Admissible directions from the anchor, relative to `reference`.
  double reference = 0, low = 0, high = 0, farthest = 0;
  bool open = true;  // no point has constrained the cone yet
  auto constrain = [&](Point point) {
    double dx = point.x - anchor.x, dy = point.y - anchor.y;
    double distance = std::hypot(dx, dy);
    farthest = std::max(farthest, distance);
    if (distance <= tolerance) return;
    double angle = std::atan2(dy, dx), half = std::asin(tolerance / distance);
    if (open) {
      reference = angle;
      low = -half;
      high = half;
      open = false;
      return;
    }
    double relative = wrapped(angle - reference);
    low = std::max(low, relative - half);
    high = std::min(high, relative + half);
  };
  auto admits = [&](Point point) {
    double dx = point.x - anchor.x, dy = point.y - anchor.y;
    if (std::hypot(dx, dy) < farthest) return false;
    if (open) return true;
    double relative = wrapped(std::atan2(dy, dx) - reference);
    return relative >= low && relative <= high;
  };
  for (std::size_t i = 1; i < stroke.size(); ++i) {
    if (i > 1 && !admits(stroke[i])) {
      anchor = stroke[kept++] = stroke[i - 1];
      open = true;
      farthest = 0;
    }
    constrain(stroke[i]);
  }
  stroke[kept++] = stroke.back();
  stroke.resize(kept);
}

}  // namespace

Strokes decimate(std::span<const double> xs, std::span<const double> ys, AxisMap to_x, AxisMap to_y, double column,
                 double tolerance) {
  Strokes strokes;
  std::vector<Point> stroke;
  Column current;
  double index = 0;
  bool drawing = false;
  auto finish = [&] {
    if (!drawing) return;
    current.emit(stroke);
    if (tolerance > 0) drop_collinear(stroke, tolerance);
    strokes.push_back(std::move(stroke));
    stroke.clear();
    drawing = false;
  };
  const std::size_t count = std::min(xs.size(), ys.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (!to_x.can_show(xs[i]) || !to_y.can_show(ys[i])) {
      finish();
      continue;
    }
    Point point{to_x(xs[i]), to_y(ys[i])};
    double here = std::floor(point.x / column);
    if (!drawing) {
      current.start(point);
      drawing = true;
    } else if (here == index) {
      current.add(point);
    } else {
      current.emit(stroke);
      current.start(point);
    }
    index = here;
  }
  finish();
  return strokes;
}

std::size_t count_points(const Strokes& strokes) {
  std::size_t count = 0;
  for (const std::vector<Point>& stroke : strokes) count += stroke.size();
  return count;
}

}  // namespace trace
