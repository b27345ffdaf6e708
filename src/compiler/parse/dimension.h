// Dimensions: exponents of the seven SI base units, exact fractions, since roots exist: [m^0.5].
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace parse {

// Reduced, with a positive denominator. What 16 bits cannot hold is not valid, nor is anything computed from that.
struct Rational {
  std::int16_t top = 0;
  std::int16_t bottom = 1;  // 0: not valid

  constexpr bool valid() const { return bottom != 0; }
  constexpr bool is_zero() const { return top == 0 && bottom != 0; }
  friend constexpr bool operator==(Rational, Rational) = default;
};

Rational operator+(Rational a, Rational b);
Rational operator-(Rational a);
Rational operator*(Rational a, Rational b);
Rational operator/(Rational a, Rational b);  // b is not zero
// The fraction that a literal such as 0.5 or 1.852 means; empty when there is none with a small denominator.
std::optional<Rational> to_rational(double number);

struct Dimension {
  enum Base : std::uint8_t { kilogram, metre, second, ampere, kelvin, mole, candela };
  static constexpr std::size_t base_count = 7;

  std::array<Rational, base_count> exponents = {};

  bool pure() const;
  bool valid() const;
  // Times `other` to the power of `factor`.
  void multiply(const Dimension& other, Rational factor = {1, 1});
  friend bool operator==(const Dimension&, const Dimension&) = default;
};

// As a person writes it: "N", "N/m", "m/s^2", "kg*m^2/(s^3*K)", "1/s"; "" for a pure number.
std::string print_unit(const Dimension& dimension);

}  // namespace parse
