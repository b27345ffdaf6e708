#include "compiler/check/shape_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/growth.h"
#include "compiler/check/diagnostics.h"

namespace check {

using expr::Shape;

Known ShapeRules::component_wise(Known a, Known b, base::Span span, std::string_view what) const {
  if (a.state == Known::any) return b;
  if (b.state == Known::any) return a;
  if (a.is_fixed() && b.is_fixed()) {
    if (a.shape == b.shape || b.shape.is_scalar()) return a;
    if (a.shape.is_scalar()) return b;
    if (is_reporting)
      diags.report(span, shapes_differ, what, describe(a.shape), describe(b.shape))
          .hint("both need as many components, or one of them is a scalar");
    return {};
  }
  // A vector and something open: the sum is that vector, for a scalar spreads.
  if (a.is_fixed() && !a.shape.is_scalar()) return a;
  if (b.is_fixed() && !b.shape.is_scalar()) return b;
  return {};
}

Known ShapeRules::matrix_of(std::uint32_t rows, std::uint32_t columns, base::Span span) const {
  const bool is_small = static_cast<long long>(rows) * columns <= base::longest_side * base::longest_side;
  if (!is_small && is_reporting) report_too_long(span, "a matrix", std::max(rows, columns), base::longest_side);
  return Known::of(Shape::matrix(rows, columns));
}

void ShapeRules::report_too_long(base::Span span, std::string_view what, long long size, long long longest) const {
  if (std::exchange(is_too_long_told, true)) return;
  auto report = diags.report(span, vector_too_long, what, size, longest);
  if (longest == base::longest_vector)
    report.hint("share it among several, or give each an instance of its own: `cell[k in 1..n] = Cell(..);`");
  else
    report.hint("share it among several, or write out what it does: `sum(j in 1..n: ..)`");
}

Known ShapeRules::product(Known a, Known b, base::Span span) const {
  if (a.state == Known::any || b.state == Known::any) {
    const Known& other = a.state == Known::any ? b : a;
    return other.is_fixed() && other.shape.is_vector() ? other : Known::of_any();
  }
  if (!a.is_fixed() || !b.is_fixed()) return {};
  if (a.shape.is_scalar()) return b;
  if (b.shape.is_scalar()) return a;
  if (a.shape.is_vector() && b.shape.is_vector()) return component_wise(a, b, span, "these cannot be multiplied");
  if (a.shape.is_matrix() && a.shape.columns == b.shape.rows) {
    if (b.shape.is_vector()) return Known::of(Shape::vector(a.shape.rows));
    return matrix_of(a.shape.rows, b.shape.columns, span);
  }
  if (is_reporting) {
    auto report = diags.report(span, shapes_differ, "these cannot be multiplied", describe(a.shape), describe(b.shape));
    if (a.shape.is_vector())
      report.hint("the matrix stands first: `M * v`; for a row times a matrix write `transpose(M) * v`");
    else
      report.hint("the first has {} columns, so the second needs {} rows", a.shape.columns, a.shape.columns);
  }
  return {};
}

Known ShapeRules::quotient(Known a, Known b, base::Span span) const {
  if (b.is_fixed() && b.shape.is_matrix()) {
    if (is_reporting) {
      diags.report(span, wrong_shape, "`/`", "a scalar or a vector below", describe(b.shape))
          .hint("write `inverse(M) * v`");
    }
    return {};
  }
  return component_wise(a, b, span, "these cannot be divided");
}

void ShapeRules::need_scalar(Known known, base::Span span, std::string_view what) const {
  if (is_reporting && known.is_fixed() && !known.shape.is_scalar()) {
    auto report = diags.report(span, wrong_shape, what, "a scalar", describe(known.shape));
    if (known.shape.is_vector()) report.hint("take a component, `v[1]`, or the length, `norm(v)`");
  }
}

Known ShapeRules::need(Known known, base::Span span, std::string_view what, std::string_view wanted, bool fits) const {
  if (is_reporting && known.is_fixed() && !fits)
    diags.report(span, wrong_shape, fmt::format("`{}`", what), wanted, describe(known.shape));
  return known;
}

}  // namespace check
