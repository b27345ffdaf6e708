// The dimensions of an expression's components, and what operations make of them. Forms in, forms out; nothing is
// solved here.
#pragma once

#include <vector>

#include "compiler/check/dimension_solver.h"
#include "compiler/check/numbers.h"
#include "compiler/check/scope.h"
#include "compiler/expr/shape.h"

namespace check {

// The dimensions of an expression, one a component.
struct DimensionValue {
  expr::Shape shape;
  std::vector<Form> items = {Form{}};
  bool spreads = false;  // the literal 0, and what was given up

  // Scalars spread.
  const Form& item(std::size_t i) const {
    static const Form unknown;
    if (items.size() == 1) return items[0];
    return i < items.size() ? items[i] : unknown;
  }
};

// Names bound by functions and sums: to dimensions for this pass, and to numbers for exponents and indices.
struct DimensionFrame {
  const Binding<DimensionValue>* values = nullptr;
  const Scope* numbers = nullptr;
};

// Of what fits anything.
inline DimensionValue given_up() { return {expr::Shape::scalar(), {Form{}}, true}; }
inline DimensionValue scalar_value(Form form) { return {expr::Shape::scalar(), {std::move(form)}, false}; }

// Times seconds to a power. The derivative of a number is zero.
[[nodiscard]] DimensionValue in_time(DimensionValue value, parse::Rational seconds);
[[nodiscard]] Form raised(const Form& form, parse::Rational exponent);
// a times b^factor, of any kinds.
[[nodiscard]] Form times(const Form& a, const Form& b, parse::Rational factor);
// The result of a function that gives a pure number.
[[nodiscard]] Form pure_like(const Form& argument);
// Row i, from 0, of a matrix; component i of a vector.
[[nodiscard]] DimensionValue row_of(const DimensionValue& base, long long i);

// What component i, from 0, is called in a message: from 1, and 0 for a scalar.
inline std::uint32_t component_of(const DimensionValue& value, std::uint32_t i) {
  return value.shape.is_scalar() ? 0 : i + 1;
}

}  // namespace check
