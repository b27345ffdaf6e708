#include "compiler/parse/units.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <utility>

#include "base/nearest.h"

namespace parse {
namespace {

struct UnitEntry {
  std::string_view symbol;
  Scale scale;
  bool prefixed;  // takes a prefix
};

constexpr double tau = 2 * std::numbers::pi;

constexpr UnitEntry units[] = {
    {"m", {}, true},
    {"g", {1, 1, -3}, true},
    {"s", {}, true},
    {"A", {}, true},
    {"K", {}, true},
    {"mol", {}, true},
    {"cd", {}, true},
    {"Hz", {}, true},
    {"N", {}, true},
    {"Pa", {}, true},
    {"J", {}, true},
    {"W", {}, true},
    {"C", {}, true},
    {"V", {}, true},
    {"F", {}, true},
    {"Ohm", {}, true},
    {"ohm", {}, true},
    {"Ω", {}, true},       // U+03A9
    {"\u2126", {}, true},  // the same sign, as older keyboards have it
    {"S", {}, true},
    {"Wb", {}, true},
    {"T", {}, true},
    {"H", {}, true},
    {"lm", {}, true},
    {"lx", {}, true},
    {"rad", {}, true},
    {"sr", {}, false},
    {"deg", {std::numbers::pi, 180, 0}, false},
    {"rev", {tau, 1, 0}, false},
    {"rpm", {tau, 60, 0}, false},
    {"min", {60, 1, 0}, false},
    {"h", {3600, 1, 0}, false},
    {"day", {86400, 1, 0}, false},
    {"L", {1, 1, -3}, true},
    {"l", {1, 1, -3}, true},
    {"t", {1, 1, 3}, false},
    {"bar", {1, 1, 5}, true},
    {"atm", {101325, 1, 0}, false},
    {"Wh", {3600, 1, 0}, true},
    {"eV", {1.602176634, 1, -19}, true},
    {"percent", {1, 1, -2}, false},
};

struct Prefix {
  std::string_view symbol;
  int ten;
};

constexpr Prefix prefixes[] = {
    {"Y", 24}, {"Z", 21},  {"E", 18},  {"P", 15},  {"T", 12},  {"G", 9},   {"M", 6},  {"k", 3},
    {"h", 2},  {"da", 1},  {"d", -1},  {"c", -2},  {"m", -3},  {"u", -6},  {"µ", -6}, {"\u03bc", -6},
    {"n", -9}, {"p", -12}, {"f", -15}, {"a", -18}, {"z", -21}, {"y", -24},
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
    {"degC", "temperatures are in kelvin: 20 degrees Celsius are `293.15 [K]`"},
    {"degF", "temperatures are in kelvin: 68 degrees Fahrenheit are `293.15 [K]`"},
    {"in", "write `25.4 [mm]` for an inch"},
    {"inch", "write `25.4 [mm]` for an inch"},
    {"ft", "write `0.3048 [m]` for a foot"},
    {"lb", "write `0.45359237 [kg]` for a pound"},
    {"lbf", "write `4.4482216152605 [N]` for a pound of force"},
    {"mph", "write `1.609344 [km/h]` for a mile per hour"},
    {"psi", "write `6894.757 [Pa]` for a pound per square inch"},
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

}  // namespace

std::optional<Scale> find_unit(std::string_view symbol) {
  if (const UnitEntry* unit = find_symbol(symbol)) return unit->scale;
  for (const Prefix& prefix : prefixes) {
    if (!symbol.starts_with(prefix.symbol)) continue;
    const UnitEntry* unit = find_symbol(symbol.substr(prefix.symbol.size()));
    if (!unit || !unit->prefixed) continue;
    Scale scale = unit->scale;
    scale.ten += prefix.ten;
    return scale;
  }
  return std::nullopt;
}

std::string advise_unit(std::string_view symbol) {
  for (const LongName& name : long_names)
    if (lower(name.word) == lower(symbol)) return std::string(name.hint);
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

Scale multiply(const Scale& a, const Scale& b) {
  return {a.numerator * b.numerator, a.denominator * b.denominator, a.ten + b.ten};
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

double to_si(double value, const Scale& scale) {
  const double numerator = scale.numerator * power_of_ten(scale.ten);
  const double denominator = scale.denominator * power_of_ten(-scale.ten);
  // One rounding less where the quotient is whole: 60 [rpm] is the number nearest to 2 pi.
  if (std::fmod(value, denominator) == 0) return value / denominator * numerator;
  return value * numerator / denominator;
}

}  // namespace parse
