#include "compiler/parse/dimension.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

namespace parse {
namespace {

constexpr Rational invalid{0, 0};

Rational reduced(std::int64_t top, std::int64_t bottom) {
  if (bottom == 0) return invalid;
  const std::int64_t divisor = std::gcd(top, bottom) * (bottom < 0 ? -1 : 1);
  top /= divisor;
  bottom /= divisor;
  constexpr std::int64_t most = std::numeric_limits<std::int16_t>::max();
  if (top > most || top < -most || bottom > most) return invalid;
  return {static_cast<std::int16_t>(top), static_cast<std::int16_t>(bottom)};
}

struct Named {
  std::string_view symbol;
  std::array<std::int16_t, Dimension::base_count> exponents;
};

// Units with a name of their own, and the one quotient that nobody reads as kg/s^2. In the order of Dimension::Base.
constexpr Named derived[] = {
    {"N", {1, 1, -2}},     {"J", {1, 2, -2}},      {"W", {1, 2, -3}},     {"Pa", {1, -1, -2}},
    {"C", {0, 0, 1, 1}},   {"V", {1, 2, -3, -1}},  {"F", {-1, -2, 4, 2}}, {"Ohm", {1, 2, -3, -2}},
    {"S", {-1, -2, 3, 2}}, {"Wb", {1, 2, -2, -1}}, {"T", {1, 0, -2, -1}}, {"H", {1, 2, -2, -2}},
    {"N/m", {1, 0, -2}},
};

constexpr std::string_view base_symbols[] = {"kg", "m", "s", "A", "K", "mol", "cd"};

// "s^2", "m^0.5", "m^(1/3)".
std::string print_power(std::string_view symbol, Rational exponent) {
  if (exponent == Rational{1, 1}) return std::string(symbol);
  if (exponent.bottom == 1) return fmt::format("{}^{}", symbol, exponent.top);
  const int thousandths = 1000 * exponent.top / exponent.bottom;
  if (thousandths * exponent.bottom == 1000 * exponent.top) return fmt::format("{}^{}", symbol, thousandths / 1000.0);
  return fmt::format("{}^({}/{})", symbol, exponent.top, exponent.bottom);
}

}  // namespace

Rational operator+(Rational a, Rational b) {
  return reduced(std::int64_t{a.top} * b.bottom + std::int64_t{b.top} * a.bottom, std::int64_t{a.bottom} * b.bottom);
}
Rational operator-(Rational a) { return {static_cast<std::int16_t>(-a.top), a.bottom}; }
Rational operator*(Rational a, Rational b) {
  return reduced(std::int64_t{a.top} * b.top, std::int64_t{a.bottom} * b.bottom);
}
Rational operator/(Rational a, Rational b) {
  if (!a.valid() || !b.valid()) return invalid;
  return reduced(std::int64_t{a.top} * b.bottom, std::int64_t{a.bottom} * b.top);
}

// By continued fractions.
std::optional<Rational> to_rational(double number) {
  constexpr double most = 10000;
  if (!(std::abs(number) <= most)) return std::nullopt;
  double rest = number;
  double top = 1, bottom = 0, last_top = 0, last_bottom = 1;
  for (int step = 0; step < 20; ++step) {
    const double whole = std::floor(rest);
    last_top = std::exchange(top, whole * top + last_top);
    last_bottom = std::exchange(bottom, whole * bottom + last_bottom);
    if (std::abs(top) > most || bottom > most) return std::nullopt;
    if (std::abs(top / bottom - number) <= 1e-12 * std::max(1.0, std::abs(number)))
      return reduced(static_cast<std::int64_t>(top), static_cast<std::int64_t>(bottom));
    rest = 1 / (rest - whole);
  }
  return std::nullopt;
}

bool Dimension::pure() const {
  return std::all_of(exponents.begin(), exponents.end(), [](Rational exponent) { return exponent.is_zero(); });
}

bool Dimension::valid() const {
  return std::all_of(exponents.begin(), exponents.end(), [](Rational exponent) { return exponent.valid(); });
}

void Dimension::multiply(const Dimension& other, Rational factor) {
  for (std::size_t i = 0; i < base_count; ++i) {
    if (!other.exponents[i].is_zero()) exponents[i] = exponents[i] + other.exponents[i] * factor;
  }
}

std::string print_unit(const Dimension& dimension) {
  for (const Named& named : derived) {
    const bool same = std::equal(named.exponents.begin(), named.exponents.end(), dimension.exponents.begin(),
                                 [](std::int16_t exponent, Rational other) { return Rational{exponent, 1} == other; });
    if (same) return std::string(named.symbol);
  }
  std::string above, below;
  int factors_below = 0;
  for (std::size_t i = 0; i < Dimension::base_count; ++i) {
    const Rational exponent = dimension.exponents[i];
    if (exponent.top > 0) above += (above.empty() ? "" : "*") + print_power(base_symbols[i], exponent);
    if (exponent.top >= 0) continue;
    below += (below.empty() ? "" : "*") + print_power(base_symbols[i], -exponent);
    ++factors_below;
  }
  if (below.empty()) return above;
  if (above.empty()) above = "1";
  return factors_below == 1 ? fmt::format("{}/{}", above, below) : fmt::format("{}/({})", above, below);
}

}  // namespace parse
