// Interval arithmetic: closed intervals of real numbers, with ends that may be infinite, rounded outwards. What an
// operation gives of intervals contains what it gives of any numbers in them; where it gives nothing (the root of
// something negative) the interval may be smaller or empty, and the caller has to ask whether an operand leaves the
// domain.
//
// + - * / and roots are rounded by the sign of their error, so exact results stay points. The kernel's elementary
// functions are within 1 ulp: two steps outwards. Source: Neumaier, Interval Methods for Systems of Equations, 1990;
// Hansen and Walster, Global Optimization Using Interval Analysis, 2004.
#pragma once

#include <algorithm>
#include <limits>

namespace proof {

struct Interval {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  static Interval point(double value) { return {value, value}; }
  static Interval empty() {
    return {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  }
  bool is_empty() const { return !(low <= high); }
  bool is_point() const { return low == high; }
  bool contains(double value) const { return low <= value && value <= high; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

inline Interval intersect(Interval a, Interval b) { return {std::max(a.low, b.low), std::min(a.high, b.high)}; }
// The least that contains both.
inline Interval hull(Interval a, Interval b) {
  if (a.is_empty()) return b;
  if (b.is_empty()) return a;
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

// All of these: empty of an empty operand.
Interval operator+(Interval a, Interval b);
Interval operator-(Interval a, Interval b);
Interval operator*(Interval a, Interval b);
// The numbers that, times one of b other than 0, give one of a.
Interval operator/(Interval a, Interval b);
// What a division gives: where the divisor is 0, an infinite number of either sign.
Interval quotient(Interval a, Interval b);
Interval operator-(Interval a);
Interval square(Interval a);
Interval whole_power(Interval a, int exponent);  // exponent > 0
Interval square_root(Interval a);
Interval absolute(Interval a);
Interval floor(Interval a);
Interval ceil(Interval a);
Interval sin(Interval a);
Interval cos(Interval a);
Interval tan(Interval a);
Interval asin(Interval a);
Interval acos(Interval a);
Interval atan(Interval a);
Interval atan2(Interval y, Interval x);
Interval exp(Interval a);
Interval log(Interval a);
Interval power(Interval a, Interval b);

// The numbers of `x` whose whole power lies in `y`.
Interval whole_root(Interval y, int exponent, Interval x);

}  // namespace proof
