#include "compiler/check/builtin_shapes.h"

#include <fmt/format.h>

#include "base/growth.h"
#include "compiler/check/diagnostics.h"

namespace check {

using expr::Shape;

Known shape_of_builtin(const BuiltinCall& call, const ShapeRules& rules) {
  const parse::Node& node = call.tree[call.id];
  auto span = [&](std::uint32_t i) { return call.tree[call.tree.child(call.id, i + 1)].span; };
  auto vector_argument = [&](std::uint32_t i) {
    Known known = call.argument(i);
    return rules.need(known, span(i), call.builtin.name, "a vector", known.shape.is_vector());
  };
  // A scalar is a vector of one component.
  auto vector_or_scalar = [&](std::uint32_t i) {
    Known known = call.argument(i);
    return rules.need(known, span(i), call.builtin.name, "a vector", !known.shape.is_matrix());
  };
  auto same = [&](Known a, Known b) {
    if (a.is_fixed() && b.is_fixed() && !(a.shape == b.shape) && rules.is_reporting) {
      rules.diags.report(node.span, shapes_differ, fmt::format("`{}` needs two of a kind", call.builtin.name),
                         describe(a.shape), describe(b.shape));
    }
  };
  const Known scalar = Known::of(Shape::scalar());
  std::uint32_t count = node.child_count - 1;
  switch (call.builtin.id) {
    case Builtin::sin:
    case Builtin::cos:
    case Builtin::tan:
    case Builtin::asin:
    case Builtin::acos:
    case Builtin::atan:
    case Builtin::square_root:
    case Builtin::exp:
    case Builtin::log:
    case Builtin::absolute:
    case Builtin::sign:
    case Builtin::floor:
    case Builtin::ceil: {
      Known known = call.argument(0);
      return known.state == Known::any ? scalar : known;
    }
    case Builtin::atan2:
    case Builtin::power:
    case Builtin::minimum:
    case Builtin::maximum:
    case Builtin::clamp: {
      Known result = call.argument(0);
      for (std::uint32_t i = 1; i < count; ++i) {
        result = rules.component_wise(result, call.argument(i), node.span,
                                      fmt::format("the arguments of `{}` differ", call.builtin.name));
      }
      return result.state == Known::any ? scalar : result;
    }
    case Builtin::norm:
      call.argument(0);
      return scalar;
    case Builtin::dot:
      same(vector_or_scalar(0), vector_or_scalar(1));
      return scalar;
    case Builtin::distance:
      same(call.argument(0), call.argument(1));
      return scalar;
    case Builtin::cross: {
      Known a = call.argument(0);
      Known b = call.argument(1);
      same(a, b);
      for (std::uint32_t i = 0; i < 2; ++i) {
        Known known = i == 0 ? a : b;
        rules.need(known, span(i), "cross", "vectors of 3 (or of 2, for a scalar)",
                   known.shape.is_vector() && (known.shape.rows == 3 || known.shape.rows == 2));
      }
      if (a.is_fixed()) return a.shape == Shape::vector(2) ? scalar : Known::of(Shape::vector(3));
      if (b.is_fixed()) return b.shape == Shape::vector(2) ? scalar : Known::of(Shape::vector(3));
      return {};
    }
    case Builtin::direction:
      return vector_or_scalar(0);
    case Builtin::proj: {
      Known a = vector_or_scalar(0);
      Known b = vector_or_scalar(1);
      same(a, b);
      return a.is_fixed() ? a : b;
    }
    case Builtin::rotate: {
      Known a = call.argument(0);
      std::uint32_t n = count == 2 ? 2 : 3;
      rules.need(a, span(0), "rotate", n == 2 ? "a vector of 2" : "a vector of 3", a.shape == Shape::vector(n));
      if (count == 3) {
        Known axis = call.argument(1);
        rules.need(axis, span(1), "rotate", "an axis, a vector of 3", axis.shape == Shape::vector(3));
      }
      rules.need_scalar(call.argument(count - 1), span(count - 1), "`rotate`");
      return Known::of(Shape::vector(n));
    }
    case Builtin::transpose: {
      Known a = call.argument(0);
      if (!a.is_fixed()) return a;
      return Known::of(Shape::matrix(a.shape.columns, a.shape.rows));
    }
    case Builtin::inverse:
    case Builtin::det: {
      Known a = call.argument(0);
      rules.need(a, span(0), call.builtin.name, "a square matrix",
                 a.shape.is_matrix() && a.shape.rows == a.shape.columns);
      if (a.is_fixed() && a.shape.rows > 6 && rules.is_reporting) {
        rules.diags
            .report(span(0), wrong_shape, fmt::format("`{}`", call.builtin.name), "a matrix of at most 6 x 6",
                    describe(a.shape))
            .hint("write the equation and let it be solved: `M * x = b`");
      }
      return call.builtin.id == Builtin::det ? scalar : a;
    }
    case Builtin::skew: {
      Known a = call.argument(0);
      rules.need(a, span(0), "skew", "a vector of 3", a.shape == Shape::vector(3));
      return Known::of(Shape::matrix(3, 3));
    }
    case Builtin::diag: {
      if (count > 1) {
        for (std::uint32_t i = 0; i < count; ++i) rules.need_scalar(call.argument(i), span(i), "`diag`");
        return Known::of(Shape::matrix(count, count));
      }
      Known a = vector_argument(0);
      return a.is_fixed() ? rules.matrix_of(a.shape.rows, a.shape.rows, span(0)) : a;
    }
    case Builtin::identity: {
      auto n = call.whole(0);
      if (n && *n > base::longest_side) {
        if (rules.is_reporting) rules.report_too_long(span(0), "an identity", *n, base::longest_side);
        return {};
      }
      if (!n || *n < 1) {
        if (rules.is_reporting) rules.diags.report(span(0), not_constant, "the size of `identity`");
        return {};
      }
      return Known::of(Shape::matrix(static_cast<std::uint32_t>(*n), static_cast<std::uint32_t>(*n)));
    }
    case Builtin::index: {
      Known a = call.argument(0);
      auto index = call.whole(1);
      if (!index) {
        if (rules.is_reporting)
          rules.diags.report(span(1), index_not_constant).hint("components are numbered from 1: `index(p, 1)`");
        return {};
      }
      if (a.is_fixed() && (*index < 1 || *index > a.shape.rows || a.shape.is_scalar()) && rules.is_reporting) {
        rules.diags.report(span(1), index_out_of_range, *index, describe(a.shape))
            .hint("components are numbered from 1 to {}", a.shape.rows);
      }
      if (a.is_fixed() && a.shape.is_matrix()) return Known::of(Shape::vector(a.shape.columns));
      return a.is_fixed() ? scalar : Known();
    }
    case Builtin::integration:
    case Builtin::smooth: {
      Known a = call.argument(0);
      return a.state == Known::any ? scalar : a;
    }
    case Builtin::diff:
      rules.need_scalar(call.argument(1), span(1), "`diff`");
      return call.argument(0);
    case Builtin::box:
      if (rules.is_reporting)
        rules.diags.report(node.span, not_a_value, "a box").hint("use it behind `in`: `p in box(corner, size)`");
      return {};
    case Builtin::delay: {
      Known a = call.argument(0);
      rules.need_scalar(call.argument(1), span(1), "`delay`");
      return a.state == Known::any ? scalar : a;
    }
    case Builtin::next:
      return call.argument(0);
    case Builtin::at:
    case Builtin::since:
      if (rules.is_reporting)
        rules.diags.report(node.span, instant_outside, call.builtin.name)
            .hint("elsewhere a memory keeps a value: `m' = 0;` under `system`, and `next(m) = x;` in a transition");
      return {};
    case Builtin::noise:
      for (std::uint32_t i = 0; i < count; ++i) rules.need_scalar(call.argument(i), span(i), "`noise`");
      return scalar;
    case Builtin::table:
      if (rules.is_reporting)
        rules.diags.report(node.span, not_a_value, "a table without its argument")
            .hint("write the argument behind it: `table(\"file.csv\")(x)`");
      return {};
  }
  return {};
}

}  // namespace check
