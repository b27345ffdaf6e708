#include "compiler/check/dimension_values.h"

namespace check {

using expr::Shape;
using parse::Dimension;
using parse::Rational;

DimensionValue in_time(DimensionValue value, Rational seconds) {
  for (Form& form : value.items) {
    if (form.is_rigid())
      form.constant.exponents[Dimension::second] = form.constant.exponents[Dimension::second] + seconds;
    else
      form = {};
    if (!form.constant.valid()) form = {};
  }
  return value;
}

Form raised(const Form& form, Rational exponent) {
  return form.is_rigid() ? multiply(Form{Form::rigid}, form, exponent) : form;
}

Form times(const Form& a, const Form& b, Rational factor) {
  if (a.kind == Form::any || b.kind == Form::any) return {};
  if (b.kind == Form::bare) return a;
  if (a.kind == Form::bare) return raised(b, factor);
  return multiply(a, b, factor);
}

Form pure_like(const Form& argument) { return argument.is_rigid() ? Form::of(Dimension{}) : Form::of_bare(); }

DimensionValue row_of(const DimensionValue& base, long long i) {
  const auto at = static_cast<std::size_t>(i);
  if (!base.shape.is_matrix()) return scalar_value(base.item(at));
  DimensionValue result{Shape::vector(base.shape.columns), {}, false};
  for (std::uint32_t j = 0; j < base.shape.columns; ++j) result.items.push_back(base.item(at * base.shape.columns + j));
  return result;
}

}  // namespace check
