#include "compiler/proof/interval.h"

#include <cmath>

#include "kernel/elementary.h"

namespace proof {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();
// Below this an error term may itself be rounded.
constexpr double smallest_exact = 1e-250;
constexpr Interval whole = {-inf, inf};

double down(double x) { return std::nextafter(x, -inf); }
double up(double x) { return std::nextafter(x, inf); }

// A bound whose rounded value is `value` and whose error, true value less rounded, has the sign of `error`.
double low_of(double value, double error) {
  if (value == inf) return largest;
  return error < 0 ? down(value) : value;
}
double high_of(double value, double error) {
  if (value == -inf) return -largest;
  return error > 0 ? up(value) : value;
}

double sum_error(double a, double b, double sum) {
  const double b_seen = sum - a;
  return (a - (sum - b_seen)) + (b - b_seen);
}

double add_low(double a, double b) {
  if (std::isinf(a) || std::isinf(b)) return a == -inf || b == -inf ? -inf : inf;
  const double sum = a + b;
  return std::isinf(sum) ? low_of(sum, 0) : low_of(sum, sum_error(a, b, sum));
}
double add_high(double a, double b) { return -add_low(-a, -b); }

// 0 times infinite is 0: the infinite end is a limit of finite numbers.
double multiply_low(double a, double b) {
  if (a == 0 || b == 0) return 0;
  const double product = a * b;
  if (std::isinf(a) || std::isinf(b)) return product;
  if (std::isinf(product)) return low_of(product, 0);
  if (std::abs(product) < smallest_exact) return down(product);
  return low_of(product, std::fma(a, b, -product));
}
double multiply_high(double a, double b) { return -multiply_low(-a, b); }

// b is not 0.
double divide_low(double a, double b) {
  if (a == 0 || std::isinf(b)) return std::isinf(a) && std::isinf(b) ? -inf : 0;
  const double quotient = a / b;
  if (std::isinf(a)) return quotient;
  if (std::isinf(quotient)) return low_of(quotient, 0);
  if (std::abs(quotient) < smallest_exact || std::abs(a) < smallest_exact || std::abs(b) > 1 / smallest_exact)
    return down(quotient);
  const double rest = std::fma(-quotient, b, a);
  return low_of(quotient, b > 0 ? rest : -rest);
}
double divide_high(double a, double b) { return -divide_low(-a, b); }

double root_low(double a) {
  if (a <= 0) return 0;
  if (std::isinf(a)) return inf;
  const double root = tk_sqrt(a);
  if (a < smallest_exact) return down(root);
  return low_of(root, std::fma(-root, root, a));
}
double root_high(double a) {
  if (a <= 0) return 0;
  if (std::isinf(a)) return inf;
  const double root = tk_sqrt(a);
  if (a < smallest_exact) return up(root);
  return high_of(root, std::fma(-root, root, a));
}

double wide_down(double x) { return std::isinf(x) ? (x > 0 ? largest : x) : down(down(x)); }
double wide_up(double x) { return std::isinf(x) ? (x < 0 ? -largest : x) : up(up(x)); }

// A function that rises, known within 1 ulp; infinite ends are its limits. `bounds` is what it never leaves.
template <class Function>
Interval rising(Function f, Interval a, Interval bounds) {
  const double low = std::isinf(a.low) ? f(a.low) : wide_down(f(a.low));
  const double high = std::isinf(a.high) ? f(a.high) : wide_up(f(a.high));
  return intersect({low, high}, bounds);
}

constexpr double pi = 3.14159265358979323846;
constexpr double largest_angle = 1e8;

// Whether some offset + k period lies in the interval, or so near that rounding cannot tell.
bool may_contain(Interval a, double offset, double period) {
  constexpr double doubt = 1e-7;  // of a period: far above the rounding of angles up to largest_angle
  const double first = (a.low - offset) / period - doubt;
  const double last = (a.high - offset) / period + doubt;
  return std::ceil(first) <= last;
}

}  // namespace

Interval operator+(Interval a, Interval b) {
  if (a.is_empty() || b.is_empty()) return Interval::empty();
  return {add_low(a.low, b.low), add_high(a.high, b.high)};
}

Interval operator-(Interval a) { return {-a.high, -a.low}; }

Interval operator-(Interval a, Interval b) { return a + -b; }

Interval operator*(Interval a, Interval b) {
  if (a.is_empty() || b.is_empty()) return Interval::empty();
  return {std::min({multiply_low(a.low, b.low), multiply_low(a.low, b.high), multiply_low(a.high, b.low),
                    multiply_low(a.high, b.high)}),
          std::max({multiply_high(a.low, b.low), multiply_high(a.low, b.high), multiply_high(a.high, b.low),
                    multiply_high(a.high, b.high)})};
}

Interval operator/(Interval a, Interval b) {
  if (a.is_empty() || b.is_empty()) return Interval::empty();
  if (b.low == 0 && b.high == 0) return whole;
  if (b.low < 0 && b.high > 0) return whole;
  if (b.high <= 0) {
    a = -a;
    b = -b;
  }
  if (b.low == 0) {
    if (a.low >= 0) return {divide_low(a.low, b.high), inf};
    if (a.high <= 0) return {-inf, divide_high(a.high, b.high)};
    return whole;
  }
  return {std::min(divide_low(a.low, b.low), divide_low(a.low, b.high)),
          std::max(divide_high(a.high, b.low), divide_high(a.high, b.high))};
}

Interval quotient(Interval a, Interval b) {
  if (a.is_empty() || b.is_empty()) return Interval::empty();
  return b.contains(0) ? whole : a / b;
}

Interval absolute(Interval a) {
  if (a.is_empty() || a.low >= 0) return a;
  if (a.high <= 0) return -a;
  return {0, std::max(-a.low, a.high)};
}

Interval square(Interval a) {
  if (a.is_empty()) return a;
  const Interval size = absolute(a);
  return {multiply_low(size.low, size.low), multiply_high(size.high, size.high)};
}

Interval whole_power(Interval a, int exponent) {
  if (a.is_empty()) return a;
  const bool is_even = exponent % 2 == 0;
  auto low = [exponent](double x) {
    double result = x;
    for (int i = 1; i < exponent; ++i) result = multiply_low(result, x);
    return result;
  };
  auto high = [exponent](double x) {
    double result = x;
    for (int i = 1; i < exponent; ++i) result = multiply_high(result, x);
    return result;
  };
  if (is_even) {
    const Interval size = absolute(a);
    return {low(size.low), high(size.high)};
  }
  return {a.low >= 0 ? low(a.low) : -high(-a.low), a.high >= 0 ? high(a.high) : -low(-a.high)};
}

Interval square_root(Interval a) {
  if (a.is_empty() || a.high < 0) return Interval::empty();
  return {root_low(a.low), root_high(a.high)};
}

Interval floor(Interval a) { return a.is_empty() ? a : Interval{std::floor(a.low), std::floor(a.high)}; }
Interval ceil(Interval a) { return a.is_empty() ? a : Interval{std::ceil(a.low), std::ceil(a.high)}; }

Interval sin(Interval a) {
  if (a.is_empty()) return a;
  if (a == Interval{0, 0}) return a;
  if (a.low < -largest_angle || a.high > largest_angle || a.high - a.low >= 2 * pi) return {-1, 1};
  const double first = tk_sin(a.low);
  const double last = tk_sin(a.high);
  return {may_contain(a, -pi / 2, 2 * pi) ? -1 : std::max(-1.0, wide_down(std::min(first, last))),
          may_contain(a, pi / 2, 2 * pi) ? 1 : std::min(1.0, wide_up(std::max(first, last)))};
}

Interval cos(Interval a) {
  if (a.is_empty()) return a;
  if (a == Interval{0, 0}) return {1, 1};
  if (a.low < -largest_angle || a.high > largest_angle || a.high - a.low >= 2 * pi) return {-1, 1};
  const double first = tk_cos(a.low);
  const double last = tk_cos(a.high);
  return {may_contain(a, pi, 2 * pi) ? -1 : std::max(-1.0, wide_down(std::min(first, last))),
          may_contain(a, 0, 2 * pi) ? 1 : std::min(1.0, wide_up(std::max(first, last)))};
}

Interval tan(Interval a) {
  if (a.is_empty()) return a;
  if (a == Interval{0, 0}) return a;
  if (a.low < -largest_angle || a.high > largest_angle || may_contain(a, pi / 2, pi)) return whole;
  return rising(tk_tan, a, whole);
}

Interval asin(Interval a) {
  a = intersect(a, {-1, 1});
  return a.is_empty() ? Interval::empty() : rising(tk_asin, a, {-up(pi / 2), up(pi / 2)});
}

Interval acos(Interval a) {
  a = intersect(a, {-1, 1});
  if (a.is_empty()) return Interval::empty();
  return {std::max(0.0, wide_down(tk_acos(a.high))), std::min(up(pi), wide_up(tk_acos(a.low)))};
}

Interval atan(Interval a) {
  if (a.is_empty()) return a;
  if (a == Interval{0, 0}) return a;
  return {std::isinf(a.low) ? (a.low < 0 ? -up(pi / 2) : pi / 2) : wide_down(tk_atan(a.low)),
          std::isinf(a.high) ? (a.high > 0 ? up(pi / 2) : -pi / 2) : wide_up(tk_atan(a.high))};
}

Interval atan2(Interval y, Interval x) {
  if (y.is_empty() || x.is_empty()) return Interval::empty();
  const Interval any = {-up(pi), up(pi)};
  if (x.low > 0) return atan(y / x);
  if (y.low > 0) return intersect(Interval{pi / 2, up(pi / 2)} - atan(x / y), any);
  if (y.high < 0) return intersect(Interval{-up(pi / 2), -pi / 2} - atan(x / y), any);
  if (y.low >= 0) return {0, up(pi)};
  return any;
}

Interval exp(Interval a) {
  if (a.is_empty()) return a;
  if (a == Interval{0, 0}) return {1, 1};
  return rising(tk_exp, a, {0, inf});
}

Interval log(Interval a) {
  a = intersect(a, {0, inf});
  if (a.is_empty()) return Interval::empty();
  if (a == Interval{1, 1}) return {0, 0};
  return {a.low == 0          ? -inf
          : std::isinf(a.low) ? inf
                              : wide_down(tk_log(a.low)),
          std::isinf(a.high) ? inf
          : a.high == 0      ? -inf
                             : wide_up(tk_log(a.high))};
}

Interval power(Interval a, Interval b) {
  if (a.is_empty() || b.is_empty()) return Interval::empty();
  const bool is_whole = b.is_point() && std::floor(b.low) == b.low && std::abs(b.low) <= 64;
  if (is_whole) {
    const int exponent = static_cast<int>(b.low);
    if (exponent == 0) return {1, 1};
    return exponent > 0 ? whole_power(a, exponent) : quotient({1, 1}, whole_power(a, -exponent));
  }
  if (a.low < 0) return whole;
  if (b.low > 0 && a.high == 0) return {0, 0};
  return exp(b * log(a));
}

Interval whole_root(Interval y, int exponent, Interval x) {
  if (y.is_empty()) return y;
  // The size of the root, from above and below, of sizes.
  auto root = [exponent](Interval size) {
    if (exponent == 2) return square_root(size);
    const Interval made = exp(log(size) / Interval::point(exponent));
    return Interval{size.low <= 0 ? 0 : made.low, made.high};
  };
  if (exponent % 2 == 0) {
    if (y.high < 0) return Interval::empty();
    const Interval size = root(intersect(y, {0, inf}));
    return hull(intersect(x, size), intersect(x, -size));
  }
  Interval found = Interval::empty();
  if (y.high >= 0) found = root({std::max(0.0, y.low), y.high});
  if (y.low <= 0) found = hull(found, -root({std::max(0.0, -y.high), -y.low}));
  return intersect(found, x);
}

}  // namespace proof
