#include "compiler/parse/units.h"

#include <gtest/gtest.h>

#include <vector>

namespace parse {
namespace {

Dimension dimension(std::vector<int> exponents) {
  Dimension result;
  for (std::size_t i = 0; i < exponents.size(); ++i) result.exponents[i] = {static_cast<std::int16_t>(exponents[i]), 1};
  return result;
}

Dimension of(std::string_view symbol) { return find_unit(symbol)->dimension; }

// Every derived unit against a defining relation, in exponents of other units.
TEST(Units, DerivedUnitsFollowFromTheirDefinitions) {
  struct Relation {
    std::string_view unit;
    std::vector<std::pair<std::string_view, double>> factors;
  };
  const std::vector<Relation> relations = {
      {"N", {{"kg", 1}, {"m", 1}, {"s", -2}}},
      {"J", {{"N", 1}, {"m", 1}}},
      {"W", {{"J", 1}, {"s", -1}}},
      {"Pa", {{"N", 1}, {"m", -2}}},
      {"C", {{"A", 1}, {"s", 1}}},
      {"V", {{"W", 1}, {"A", -1}}},
      {"F", {{"C", 1}, {"V", -1}}},
      {"Ohm", {{"V", 1}, {"A", -1}}},
      {"S", {{"A", 1}, {"V", -1}}},
      {"Wb", {{"V", 1}, {"s", 1}}},
      {"T", {{"Wb", 1}, {"m", -2}}},
      {"H", {{"Wb", 1}, {"A", -1}}},
      {"Hz", {{"s", -1}}},
      {"lx", {{"lm", 1}, {"m", -2}}},
      {"Gy", {{"J", 1}, {"kg", -1}}},
      {"kat", {{"mol", 1}, {"s", -1}}},
      {"Wh", {{"W", 1}, {"h", 1}}},
      {"Ah", {{"A", 1}, {"h", 1}}},
      {"mph", {{"mile", 1}, {"h", -1}}},
      {"psi", {{"lbf", 1}, {"inch", -2}}},
      {"rpm", {{"rev", 1}, {"min", -1}}},
      {"mile", {{"ft", 1}}},
  };
  for (const Relation& relation : relations) {
    Measure product;
    for (const auto& [unit, exponent] : relation.factors)
      product = multiply(product, raise(*find_unit(unit), exponent));
    EXPECT_EQ(product.dimension, of(relation.unit)) << relation.unit;
    if (relation.unit == "mile") product.scale.numerator *= 5280;
    EXPECT_NEAR(to_si(1, product.scale) / to_si(1, find_unit(relation.unit)->scale), 1, 1e-15) << relation.unit;
  }
}

TEST(Units, AnglesArePureNumbers) {
  for (std::string_view unit : {"rad", "mrad", "deg", "rev", "sr", "percent"}) EXPECT_TRUE(of(unit).pure()) << unit;
  EXPECT_EQ(of("rpm"), of("Hz"));
}

TEST(Units, PrefixesScaleAndKeepTheDimension) {
  EXPECT_EQ(of("dam"), dimension({0, 1}));
  EXPECT_EQ(to_si(3, find_unit("dam")->scale), 30);
  EXPECT_EQ(to_si(250, find_unit("mg")->scale), 0.00025);
  EXPECT_EQ(of("Mg"), of("t"));
  EXPECT_FALSE(find_unit("mkg"));
  EXPECT_FALSE(find_unit("kmin"));
  EXPECT_FALSE(find_unit("degC"));
}

TEST(Units, PrintedInSI) {
  EXPECT_EQ(print_unit(of("kN")), "N");
  EXPECT_EQ(print_unit(dimension({1, 0, -2})), "N/m");
  EXPECT_EQ(print_unit(dimension({0, 1, -2})), "m/s^2");
  EXPECT_EQ(print_unit(dimension({1, 2})), "kg*m^2");
  EXPECT_EQ(print_unit(dimension({0, 0, -1})), "1/s");
  EXPECT_EQ(print_unit(dimension({1, 2, -3, 0, -1})), "kg*m^2/(s^3*K)");
  EXPECT_EQ(print_unit(of("Ohm")), "Ohm");
  EXPECT_EQ(print_unit({}), "");
  EXPECT_EQ(print_unit(raise(*find_unit("m"), 0.5).dimension), "m^0.5");
  EXPECT_EQ(print_unit(raise(*find_unit("m"), 1.0 / 3).dimension), "m^(1/3)");
}

TEST(Units, FractionsAreExact) {
  EXPECT_EQ(to_rational(0.5), (Rational{1, 2}));
  EXPECT_EQ(to_rational(-1.0 / 3), (Rational{-1, 3}));
  EXPECT_EQ(to_rational(1.852), (Rational{463, 250}));
  EXPECT_EQ(to_rational(-4), (Rational{-4, 1}));
  EXPECT_EQ(to_rational(0), (Rational{0, 1}));
  EXPECT_FALSE(to_rational(3.14159265358979));
  EXPECT_FALSE(to_rational(1e9));
  EXPECT_EQ((Rational{1, 6} + Rational{1, 3}), (Rational{1, 2}));
  EXPECT_EQ((Rational{-2, 3} / Rational{4, 3}), (Rational{-1, 2}));
  Rational large{30000, 1};
  EXPECT_FALSE((large + large).valid());
  EXPECT_FALSE(((large + large) * Rational{0, 1}).valid());
}

// 5 [cm] is kept as 0.05 and shown as 5 again.
TEST(Units, ANumberIsShownAsItWasWritten) {
  for (std::string_view unit : {"cm", "deg", "rpm", "km", "min", "eV", "um", "lbf", "psi"}) {
    const Scale scale = find_unit(unit)->scale;
    for (double value : {5.0, 0.1, 123.456, 1e-7, 72.0, -3.5})
      EXPECT_EQ(from_si(to_si(value, scale), scale), value) << unit;
  }
}

}  // namespace
}  // namespace parse
