// Units of number literals: SI base and derived units, the usual prefixes and a few others in daily use, each a factor
// to SI and a dimension. Symbols: BIPM, The International System of Units, 9th edition (2019), tables 2, 4, 7 and 8.
// Angles are pure numbers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/parse/dimension.h"

namespace parse {

// numerator / denominator * 10^ten. Kept apart so that 5 [mm] is 5 / 1000, the number nearest to 0.005, and 72 [km/h]
// is 20.
struct Scale {
  double numerator = 1;
  double denominator = 1;
  int ten = 0;
};

struct Measure {
  Scale scale;
  Dimension dimension;
};

// Empty when there is no such unit.
std::optional<Measure> find_unit(std::string_view symbol);
// What may have been meant by a symbol that is no unit, as a hint; empty when nothing is near.
std::string advise_unit(std::string_view symbol);

Measure multiply(const Measure& a, const Measure& b);
// |exponent| <= max_unit_exponent. The dimension is not valid when the exponent is no simple fraction.
Measure raise(const Measure& measure, double exponent);
double to_si(double value, const Scale& scale);
// The shortest decimal that to_si makes `value` of: what a person wrote.
double from_si(double value, const Scale& scale);

inline constexpr double max_unit_exponent = 12;

}  // namespace parse
