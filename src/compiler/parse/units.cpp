#include "compiler/parse/units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <utility>

#include "base/nearest.h"

namespace parse {
namespace {

struct UnitEntry {
  std::string_view symbol;
  Scale scale;
  std::array<std::int16_t, Dimension::base_count> exponents;  // of kg, m, s, A, K, mol, cd
  bool prefixed;                                              // takes a prefix
};

constexpr double tau = 2 * std::numbers::pi;

constexpr UnitEntry units[] = {
    {"m", {}, {0, 1}, true},
    {"g", {1, 1, -3}, {1}, true},
    {"s", {}, {0, 0, 1}, true},
    {"A", {}, {0, 0, 0, 1}, true},
    {"K", {}, {0, 0, 0, 0, 1}, true},
    {"mol", {}, {0, 0, 0, 0, 0, 1}, true},
    {"cd", {}, {0, 0, 0, 0, 0, 0, 1}, true},
    {"Hz", {}, {0, 0, -1}, true},
    {"N", {}, {1, 1, -2}, true},
    {"Pa", {}, {1, -1, -2}, true},
    {"J", {}, {1, 2, -2}, true},
    {"W", {}, {1, 2, -3}, true},
    {"C", {}, {0, 0, 1, 1}, true},
    {"V", {}, {1, 2, -3, -1}, true},
    {"F", {}, {-1, -2, 4, 2}, true},
    {"Ohm", {}, {1, 2, -3, -2}, true},
    {"ohm", {}, {1, 2, -3, -2}, true},
    {"Ω", {}, {1, 2, -3, -2}, true},       // U+03A9
    {"\u2126", {}, {1, 2, -3, -2}, true},  // the same sign, as older keyboards have it
    {"S", {}, {-1, -2, 3, 2}, true},
    {"Wb", {}, {1, 2, -2, -1}, true},
    {"T", {}, {1, 0, -2, -1}, true},
    {"H", {}, {1, 2, -2, -2}, true},
    {"lm", {}, {0, 0, 0, 0, 0, 0, 1}, true},
    {"lx", {}, {0, -2, 0, 0, 0, 0, 1}, true},
    {"Bq", {}, {0, 0, -1}, true},
    {"Gy", {}, {0, 2, -2}, true},
    {"Sv", {}, {0, 2, -2}, true},
    {"kat", {}, {0, 0, -1, 0, 0, 1}, true},
    {"rad", {}, {}, true},
    {"sr", {}, {}, false},
    {"deg", {std::numbers::pi, 180, 0}, {}, false},
    {"rev", {tau, 1, 0}, {}, false},
    {"rpm", {tau, 60, 0}, {0, 0, -1}, false},
    {"min", {60, 1, 0}, {0, 0, 1}, false},
    {"h", {3600, 1, 0}, {0, 0, 1}, false},
    {"day", {86400, 1, 0}, {0, 0, 1}, false},
    {"L", {1, 1, -3}, {0, 3}, true},
    {"l", {1, 1, -3}, {0, 3}, true},
    {"t", {1, 1, 3}, {1}, false},
    {"bar", {1, 1, 5}, {1, -1, -2}, true},
    {"atm", {101325, 1, 0}, {1, -1, -2}, false},
    {"Wh", {3600, 1, 0}, {1, 2, -2}, true},
    {"Ah", {3600, 1, 0}, {0, 0, 1, 1}, true},
    {"eV", {1.602176634, 1, -19}, {1, 2, -2}, true},
    {"cal", {4.184, 1, 0}, {1, 2, -2}, true},
    {"percent", {1, 1, -2}, {}, false},
    {"%", {1, 1, -2}, {}, false},
    {"inch", {254, 1, -4}, {0, 1}, false},
    {"ft", {3048, 1, -4}, {0, 1}, false},
    {"mile", {1609344, 1, -3}, {0, 1}, false},
    {"mph", {1609344, 3600, -3}, {0, 1, -1}, false},
    {"lb", {45359237, 1, -8}, {1}, false},
    {"lbf", {44482216152605, 1, -13}, {1, 1, -2}, false},
    {"psi", {44482216152605, 64516, -5}, {1, -1, -2}, false},
};

struct Prefix {
  std::string_view symbol;
  int ten;
};

constexpr Prefix prefixes[] = {
    {"Q", 30}, {"R", 27},  {"Y", 24},  {"Z", 21},  {"E", 18},  {"P", 15},  {"T", 12},  {"G", 9},   {"M", 6},
    {"k", 3},  {"h", 2},   {"da", 1},  {"d", -1},  {"c", -2},  {"m", -3},  {"u", -6},  {"µ", -6},  {"\u03bc", -6},
    {"n", -9}, {"p", -12}, {"f", -15}, {"a", -18}, {"z", -21}, {"y", -24}, {"r", -27}, {"q", -30},
};

struct LongName {
  std::string_view word;
  std::string_view hint;
};

constexpr LongName long_names[] = {
    {"meter", "write `m`"},
    {"meters", "write `m`"},
    {"metre", "write `m`"},
    {"metres", "write `m`"},
    {"sec", "write `s`"},
    {"second", "write `s`"},
    {"seconds", "write `s`"},
    {"minute", "write `min`"},
    {"minutes", "write `min`"},
    {"hour", "write `h`"},
    {"hours", "write `h`"},
    {"hr", "write `h`"},
    {"kmh", "write `km/h`"},
    {"kph", "write `km/h`"},
    {"kmph", "write `km/h`"},
    {"mps", "write `m/s`"},
    {"gram", "write `g`"},
    {"grams", "write `g`"},
    {"kilogram", "write `kg`"},
    {"newton", "write `N`"},
    {"joule", "write `J`"},
    {"watt", "write `W`"},
    {"volt", "write `V`"},
    {"ampere", "write `A`"},
    {"amp", "write `A`"},
    {"pascal", "write `Pa`"},
    {"hertz", "write `Hz`"},
    {"kelvin", "write `K`"},
    {"degree", "write `deg`"},
    {"degrees", "write `deg`"},
    {"radian", "write `rad`"},
    {"radians", "write `rad`"},
    {"degC", "its zero lies elsewhere, so it cannot be multiplied; write kelvin: 20 degrees Celsius are `293.15 [K]`"},
    {"degF",
     "its zero lies elsewhere, so it cannot be multiplied; write kelvin: 68 degrees Fahrenheit are `293.15 [K]`"},
    {"in", "write `inch`"},
    {"inches", "write `inch`"},
    {"foot", "write `ft`"},
    {"feet", "write `ft`"},
    {"miles", "write `mile`"},
    {"pound", "write `lb` for the mass, `lbf` for the force"},
    {"litre", "write `L`"},
    {"liter", "write `L`"},
    {"days", "write `day`"},
    {"d", "write `day`"},
    {"dB", "decibels are no multiples of a unit: write the ratio itself as a number"},
};

const UnitEntry* find_symbol(std::string_view symbol) {
  for (const UnitEntry& unit : units)
    if (unit.symbol == symbol) return &unit;
  return nullptr;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

// 1 for a negative exponent.
double power_of_ten(int exponent) {
  double result = 1;  // exact up to 10^22
  for (int i = 0; i < exponent; ++i) result *= 10;
  return result;
}

Scale raise(const Scale& scale, double exponent) {
  if (exponent != std::floor(exponent)) {
    const double ten = std::pow(10.0, scale.ten * exponent);
    return {std::pow(scale.numerator, exponent) * ten, std::pow(scale.denominator, exponent), 0};
  }
  const double magnitude = std::abs(exponent);
  Scale raised{std::pow(scale.numerator, magnitude), std::pow(scale.denominator, magnitude),
               scale.ten * static_cast<int>(exponent)};
  if (exponent < 0) std::swap(raised.numerator, raised.denominator);
  return raised;
}

}  // namespace

std::optional<Measure> find_unit(std::string_view symbol) {
  const auto measure = [](const UnitEntry& unit, int ten) {
    Measure result{unit.scale, {}};
    result.scale.ten += ten;
    for (std::size_t i = 0; i < Dimension::base_count; ++i) result.dimension.exponents[i] = {unit.exponents[i], 1};
    return result;
  };
  if (const UnitEntry* unit = find_symbol(symbol)) return measure(*unit, 0);
  for (const Prefix& prefix : prefixes) {
    if (!symbol.starts_with(prefix.symbol)) continue;
    const UnitEntry* unit = find_symbol(symbol.substr(prefix.symbol.size()));
    if (unit && unit->prefixed) return measure(*unit, prefix.ten);
  }
  return std::nullopt;
}

std::string advise_unit(std::string_view symbol) {
  for (const LongName& name : long_names)
    if (lower(name.word) == lower(symbol)) return std::string(name.hint);
  // `mm2`
  const std::size_t digits = symbol.find_last_not_of("0123456789") + 1;
  if (digits > 0 && digits < symbol.size() && find_unit(symbol.substr(0, digits)))
    return fmt::format("an exponent is written with `^`: `{}^{}`", symbol.substr(0, digits), symbol.substr(digits));
  for (const UnitEntry& unit : units)
    for (const std::string_view prefix : {"", "k", "m"})
      if ((prefix.empty() || unit.prefixed) && symbol != unit.symbol &&
          base::equal_but_for_capitals(symbol, std::string(prefix) + std::string(unit.symbol)))
        return fmt::format("did you mean `{}{}`?", prefix, unit.symbol);
  for (std::size_t split = 1; split < symbol.size(); ++split) {
    const std::string_view left = symbol.substr(0, split);
    const std::string_view right = symbol.substr(split);
    if (find_unit(left) && find_unit(right)) return fmt::format("did you mean `{}*{}`?", left, right);
  }
  // The nearest symbol; letters that differ only in case count less than any other difference.
  std::string best;
  std::size_t best_distance = symbol.size() < 3 ? 20 : 30;
  const auto consider = [&](std::string_view prefix, std::string_view unit) {
    const std::string candidate = std::string(prefix) + std::string(unit);
    if (candidate.size() > symbol.size() + 2 || symbol.size() > candidate.size() + 2) return;
    const std::size_t distance =
        10 * base::edit_distance(lower(symbol), lower(candidate)) + base::edit_distance(symbol, candidate);
    if (distance >= best_distance) return;
    best_distance = distance;
    best = candidate;
  };
  if (symbol.size() > 16) return "";
  for (const UnitEntry& unit : units) consider("", unit.symbol);
  for (const UnitEntry& unit : units)
    if (unit.prefixed)
      for (const Prefix& prefix : prefixes) consider(prefix.symbol, unit.symbol);
  return best.empty() ? "" : fmt::format("did you mean `{}`?", best);
}

Measure multiply(const Measure& a, const Measure& b) {
  Measure product = a;
  product.scale.numerator *= b.scale.numerator;
  product.scale.denominator *= b.scale.denominator;
  product.scale.ten += b.scale.ten;
  product.dimension.multiply(b.dimension);
  return product;
}

Measure raise(const Measure& measure, double exponent) {
  Measure raised;
  raised.scale = raise(measure.scale, exponent);
  raised.dimension.multiply(measure.dimension, to_rational(exponent).value_or(Rational{0, 0}));
  return raised;
}

double to_si(double value, const Scale& scale) {
  const double numerator = scale.numerator * power_of_ten(scale.ten);
  const double denominator = scale.denominator * power_of_ten(-scale.ten);
  // One rounding less where the quotient is whole: 60 [rpm] is the number nearest to 2 pi.
  if (std::fmod(value, denominator) == 0) return value / denominator * numerator;
  return value * numerator / denominator;
}

double from_si(double value, const Scale& scale) {
  const double factor = to_si(1, scale);
  for (int digits = 1; digits <= 17; ++digits) {
    const double candidate = std::strtod(fmt::format("{:.{}g}", value / factor, digits).c_str(), nullptr);
    if (to_si(candidate, scale) == value) return candidate;
  }
  return value / factor;
}

}  // namespace parse
