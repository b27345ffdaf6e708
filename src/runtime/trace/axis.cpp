#include "runtime/trace/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/check.h"

namespace trace {
namespace {

// A tick step of digit * 10^exponent with digit 1, 2 or 5; ticks are whole multiples n of 10^exponent, so that labels
// are exact decimals.
struct Step {
  int digit;
  int exponent;
};

double power_of_ten(int exponent) { return std::pow(10.0, exponent); }

double scaled(double n, int exponent) {
  return exponent >= 0 ? n * power_of_ten(exponent) : n / power_of_ten(-exponent);
}

double length_of(Step step) { return scaled(step.digit, step.exponent); }

Step nice_step(double raw) {
  int exponent = static_cast<int>(std::floor(std::log10(raw)));
  double mantissa = raw / power_of_ten(exponent);
  // Boundaries halfway, by ratio: the roots of 2, 10 and 50.
  if (mantissa < 1.414) return {1, exponent};
  if (mantissa < 3.162) return {2, exponent};
  if (mantissa < 7.071) return {5, exponent};
  return {1, exponent + 1};
}

Step finer(Step step) {
  if (step.digit == 1) return {5, step.exponent - 1};
  return {step.digit == 2 ? 1 : 2, step.exponent};
}

// n * 10^shift as a decimal.
std::string decimal(std::int64_t n, int shift) {
  std::string digits = fmt::format("{}", n < 0 ? -n : n);
  if (shift >= 0) {
    if (n != 0) digits.append(static_cast<std::size_t>(shift), '0');
  } else {
    std::size_t decimals = static_cast<std::size_t>(-shift);
    if (digits.size() <= decimals) digits.insert(0, decimals + 1 - digits.size(), '0');
    digits.insert(digits.size() - decimals, 1, '.');
  }
  return (n < 0 ? "\u2212" : "") + digits;
}

// The decimal order of n * 10^exponent: 3 for 1000 to 9999.
int order_of(std::int64_t n, int exponent) {
  return exponent + static_cast<int>(fmt::format("{}", n < 0 ? -n : n).size()) - 1;
}

std::int64_t greatest_magnitude(const std::vector<std::int64_t>& ns) {
  std::int64_t greatest = 0;
  for (std::int64_t n : ns) greatest = std::max(greatest, n < 0 ? -n : n);
  return greatest;
}

// The number with the most trailing zeros in [low, high], which does not hold 0.
std::int64_t roundest_between(std::int64_t low, std::int64_t high) {
  std::int64_t best = low;
  for (std::int64_t unit = 1; unit <= std::numeric_limits<std::int64_t>::max() / 100; unit *= 10) {
    // The multiple of unit nearest to zero on the near side of the interval.
    std::int64_t multiple = low > 0 ? (low + unit - 1) / unit * unit : -((-high + unit - 1) / unit * unit);
    if (multiple < low || multiple > high) break;
    best = multiple;
  }
  return best;
}

std::string plain_number(double value) {
  char text[32];
  char* end = std::to_chars(text, text + sizeof text, value < 0 ? -value : value).ptr;
  return std::string(text, end);
}

}  // namespace

Axis choose_axis(double low, double high, int target) {
  TACTUS_CHECK(low < high && target > 0);
  Axis axis;
  axis.low = low;
  axis.high = high;
  // Indices of the first and last multiple of a length within the range, forgiving rounding.
  auto first_index = [&](double length) { return static_cast<std::int64_t>(std::ceil(low / length - 1e-9)); };
  auto last_index = [&](double length) { return static_cast<std::int64_t>(std::floor(high / length + 1e-9)); };

  Step step = nice_step((high - low) / target);
  while (last_index(length_of(step)) - first_index(length_of(step)) < 1) step = finer(step);

  std::vector<std::int64_t> ns;
  for (std::int64_t k = first_index(length_of(step)); k <= last_index(length_of(step)); ++k) {
    ns.push_back(k * step.digit);
    axis.major.push_back(scaled(static_cast<double>(ns.back()), step.exponent));
  }

  const int parts = step.digit == 2 ? 4 : 5;
  double minor_length = length_of(step) / parts;
  for (std::int64_t k = first_index(minor_length); k <= last_index(minor_length); ++k) {
    if (k % parts != 0) axis.minor.push_back(static_cast<double>(k) * minor_length);
  }

  // Labels of more than six digits share an offset: the roundest tick.
  if (order_of(greatest_magnitude(ns), step.exponent) - step.exponent + 1 > 6 && (ns.front() > 0 || ns.back() < 0)) {
    std::int64_t offset = roundest_between(ns.front(), ns.back());
    for (std::int64_t& n : ns) n -= offset;
    axis.offset = scaled(static_cast<double>(offset), step.exponent);
    axis.offset_label = (axis.offset < 0 ? "\u2212 " : "+ ") + plain_number(axis.offset);
  }
  int order = order_of(greatest_magnitude(ns), step.exponent);
  const bool many_decimals = order < 0 && step.exponent < -5;
  if (order >= 5 || order <= -4 || many_decimals) axis.exponent = 3 * static_cast<int>(std::floor(order / 3.0));
  for (std::int64_t n : ns) axis.labels.push_back(decimal(n, step.exponent - axis.exponent));
  return axis;
}

Axis choose_axis_of_multiples(double low, double high, int target, double unit) {
  TACTUS_CHECK(low < high && target > 0 && unit > 0);
  // 1, 2, 4, 10, 20, 40, .. units: of 45 degrees 45, 90, 180, 450.
  double step = unit;
  for (int k = 0; (high - low) / step > 1.5 * target; ++k)
    step = unit * power_of_ten(k / 3) * (k % 3 == 0 ? 2 : k % 3 == 1 ? 4 : 10);
  if (std::floor(high / step + 1e-9) - std::ceil(low / step - 1e-9) < 1) return choose_axis(low, high, target);
  Axis axis;
  axis.low = low;
  axis.high = high;
  const int parts = step == unit && std::fmod(unit, 3) == 0 ? 3 : 2;
  for (auto k = static_cast<std::int64_t>(std::ceil(low * parts / step - 1e-9));
       static_cast<double>(k) * step <= (high + 1e-9 * step) * parts; ++k) {
    const double value = static_cast<double>(k) * step / parts;
    if (k % parts != 0) {
      axis.minor.push_back(value);
      continue;
    }
    axis.major.push_back(value);
    axis.labels.push_back((value < 0 ? "\u2212" : "") + plain_number(value));
  }
  return axis;
}

Axis choose_logarithmic_axis(double low, double high, int target) {
  TACTUS_CHECK(0 < low && low < high && target > 0);
  Axis axis;
  axis.low = low;
  axis.high = high;
  const auto is_inside = [&](double value) { return value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9); };
  const int first = static_cast<int>(std::floor(std::log10(low))), last = static_cast<int>(std::ceil(std::log10(high)));
  const double decades = std::log10(high / low);
  const bool is_short = decades < 1.5;
  const int stride = std::max(1, static_cast<int>(std::ceil(decades / target - 1e-9)));
  for (int exponent = first; exponent <= last; ++exponent) {
    for (int digit = 1; digit < 10; ++digit) {
      const double value = scaled(digit, exponent);
      if (!is_inside(value)) continue;
      const bool is_power = digit == 1 && (exponent % stride + stride) % stride == 0;
      const bool is_major = is_power || (is_short && (digit == 2 || digit == 5));
      if (!is_major) {
        if (stride == 1 || digit == 1) axis.minor.push_back(value);
        continue;
      }
      axis.major.push_back(value);
      if (exponent >= -3 && exponent <= 3) {
        axis.labels.push_back(plain_number(value));
      } else {
        axis.labels.push_back(fmt::format("{}10^{}", digit == 1 ? "" : fmt::format("{}\u00b7", digit), exponent));
      }
    }
  }
  // Between two marks: as on any other axis.
  if (axis.major.size() < 2) return choose_axis(low, high, target);
  return axis;
}

Range padded_range(double least, double greatest, double margin) {
  if (!(least <= greatest)) return {0, 1};
  double magnitude = std::max(std::abs(least), std::abs(greatest));
  if (magnitude < 1e-290) return {-1, 1};
  double length = greatest - least;
  if (length <= 64 * std::numeric_limits<double>::epsilon() * magnitude) {
    double middle = least + length / 2;
    return {middle - 0.1 * magnitude, middle + 0.1 * magnitude};
  }
  return {least - margin * length, greatest + margin * length};
}

}  // namespace trace
