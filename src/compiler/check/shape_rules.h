// What the operations make of shapes. Shapes of the operands in, that of the result out; where they do not fit the
// result is open, and once inference is over the mistake is reported.
//
// Component-wise operations take two of a shape, or a scalar that spreads; a matrix is applied to what has as many rows
// as it has columns.
#pragma once

#include <string_view>

#include "base/span.h"
#include "compiler/check/numbers.h"
#include "diag/sink.h"

namespace check {

struct ShapeRules {
  diag::Sink& diags;
  bool is_reporting = false;  // off while shapes are still being inferred
  mutable bool is_too_long_told = false;

  Known component_wise(Known a, Known b, base::Span span, std::string_view what) const;
  Known product(Known a, Known b, base::Span span) const;
  Known quotient(Known a, Known b, base::Span span) const;
  // Made of long vectors it may be too large.
  Known matrix_of(std::uint32_t rows, std::uint32_t columns, base::Span span) const;
  // Once: a loop that is too long goes there in every equation.
  void report_too_long(base::Span span, std::string_view what, long long size, long long longest) const;
  void need_scalar(Known known, base::Span span, std::string_view what) const;
  // `fits`: whether the shape is what is wanted, if it is fixed.
  Known need(Known known, base::Span span, std::string_view what, std::string_view wanted, bool fits) const;
};

}  // namespace check
