#include "compiler/check/builtin_dimensions.h"

#include <algorithm>

#include "base/growth.h"

namespace check {

using expr::Shape;
using parse::Dimension;
using parse::NodeId;

namespace {

// All components of one dimension, which is returned.
Form uniform(DimensionSystem& system, const DimensionValue& value, NodeId node, std::string_view what) {
  Agreement agreement(system, {Origin::parts, {}, {}, what}, 0);
  for (const Form& form : value.items) agreement.add(node, form);
  return agreement.form();
}

// The sum of products of two vectors.
Form dot(DimensionSystem& system, const DimensionValue& a, const DimensionValue& b, NodeId id, std::string_view what) {
  Agreement sum(system, {Origin::inside, {}, {}, what}, 0);
  const std::size_t size = std::max(a.items.size(), b.items.size());
  for (std::size_t i = 0; i < size; ++i) sum.add(id, times(a.item(i), b.item(i), {1, 1}));
  return sum.form();
}

DimensionValue cross(DimensionSystem& system, const DimensionValue& a, const DimensionValue& b, NodeId id) {
  auto part = [&](std::uint32_t i, std::uint32_t j) {
    Agreement sum(system, {Origin::inside, {}, {}, "this cross product"}, 0);
    sum.add(id, times(a.item(i), b.item(j), {1, 1}));
    sum.add(id, times(a.item(j), b.item(i), {1, 1}));
    return sum.form();
  };
  if (a.items.size() == 2 || b.items.size() == 2) return scalar_value(part(0, 1));
  return {Shape::vector(3), {part(1, 2), part(2, 0), part(0, 1)}, false};
}

DimensionValue diagonal(DimensionSystem& system, const std::vector<Form>& items) {
  const auto n = static_cast<std::uint32_t>(items.size());
  system.work += static_cast<long long>(n) * n;
  DimensionValue result{Shape::matrix(n, n), std::vector<Form>(std::size_t{n} * n), false};
  for (std::size_t i = 0; i < n; ++i) result.items[i * n + i] = items[i];
  return result;
}

// All products of a determinant have one dimension when a_ij is r_i c_j; then it is the product of all r and c, and the
// inverse has 1 / (r_j c_i).
DimensionValue determinant_or_inverse(DimensionSystem& system, const DimensionValue& a, NodeId id, bool determinant) {
  const std::uint32_t n = a.shape.rows;
  if (!a.shape.is_matrix() || a.shape.columns != n) return given_up();
  const bool any_rigid = std::any_of(a.items.begin(), a.items.end(), [](const Form& form) { return form.is_rigid(); });
  if (!any_rigid) {
    if (determinant) return scalar_value(Form::of_bare());
    return {a.shape, std::vector<Form>(a.items.size(), Form::of_bare()), false};
  }
  std::vector<Form> rows, columns;
  for (std::uint32_t i = 0; i < n; ++i) {
    rows.push_back(Form::of_unknown(system.solver.add_unknown()));
    columns.push_back(Form::of_unknown(system.solver.add_unknown()));
  }
  Form all{Form::rigid};
  for (std::uint32_t i = 0; i < n; ++i) {
    all = times(times(all, rows[i], {1, 1}), columns[i], {1, 1});
    for (std::uint32_t j = 0; j < n; ++j) {
      system.constrain({Origin::inside, id, {}, determinant ? "this determinant" : "this inverse"},
                       times(rows[i], columns[j], {1, 1}), a.item(i * n + j));
    }
  }
  if (determinant) return scalar_value(all);
  DimensionValue result{a.shape, {}, false};
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::uint32_t j = 0; j < n; ++j) result.items.push_back(raised(times(rows[j], columns[i], {1, 1}), {-1, 1}));
  }
  return result;
}

}  // namespace

DimensionValue apply_builtin(ExpressionDimensions& expressions, NodeId id, const BuiltinRow& builtin,
                             const DimensionFrame& frame, int depth) {
  const parse::Tree& tree = expressions.tree();
  const std::uint32_t count = tree[id].child_count - 1;
  auto node = [&](std::uint32_t i) { return tree.child(id, i + 1); };
  auto argument = [&](std::uint32_t i) { return expressions.evaluate(node(i), frame, depth + 1); };
  auto each = [](DimensionValue value, auto make) {
    for (Form& form : value.items) form = make(form);
    return value;
  };
  switch (builtin.id) {
    case Builtin::sin:
    case Builtin::cos:
    case Builtin::tan:
    case Builtin::asin:
    case Builtin::acos:
    case Builtin::atan:
    case Builtin::exp:
    case Builtin::log:
    case Builtin::floor:
    case Builtin::ceil: {
      const DimensionValue value = argument(0);
      expressions.need_pure(value, node(0), builtin.name);
      return each(value, pure_like);
    }
    case Builtin::square_root:
      return each(argument(0), [](const Form& form) { return raised(form, {1, 2}); });
    case Builtin::absolute:
    case Builtin::smooth:
      return argument(0);
    case Builtin::sign:
      return each(argument(0), pure_like);
    case Builtin::atan2:
      return each(expressions.agreeing(Origin::arguments, builtin.name, id, 1, frame, depth), pure_like);
    case Builtin::minimum:
    case Builtin::maximum:
    case Builtin::clamp:
      return expressions.agreeing(Origin::arguments, builtin.name, id, 1, frame, depth);
    case Builtin::power:
      return expressions.power(node(0), node(1), frame, depth);
    case Builtin::norm:
      return scalar_value(uniform(expressions.system(), argument(0), node(0), builtin.name));
    case Builtin::direction: {
      const DimensionValue value = argument(0);
      const Form form = pure_like(uniform(expressions.system(), value, node(0), builtin.name));
      return {value.shape, std::vector<Form>(value.items.size(), form), false};
    }
    case Builtin::dot:
      return scalar_value(dot(expressions.system(), argument(0), argument(1), id, "this inner product"));
    case Builtin::distance: {
      const DimensionValue difference = expressions.agreeing(Origin::arguments, builtin.name, id, 1, frame, depth);
      return scalar_value(uniform(expressions.system(), difference, node(0), builtin.name));
    }
    case Builtin::cross:
      return cross(expressions.system(), argument(0), argument(1), id);
    case Builtin::proj: {
      const DimensionValue a = argument(0);
      const DimensionValue b = argument(1);
      const Form factor = times(dot(expressions.system(), a, b, id, "this projection"),
                                dot(expressions.system(), b, b, id, "this projection"), {-1, 1});
      return each(b, [&](const Form& form) { return times(form, factor, {1, 1}); });
    }
    case Builtin::rotate: {
      const DimensionValue value = argument(0);
      if (count == 3) uniform(expressions.system(), argument(1), node(1), "the axis of `rotate`");
      expressions.need_pure(argument(count - 1), node(count - 1), "the angle of `rotate`");
      const Form form = uniform(expressions.system(), value, node(0), builtin.name);
      return {value.shape, std::vector<Form>(value.items.size(), form), false};
    }
    case Builtin::transpose: {
      const DimensionValue value = argument(0);
      DimensionValue result{Shape::matrix(value.shape.columns, value.shape.rows), {}, false};
      for (std::uint32_t j = 0; j < value.shape.columns; ++j) {
        for (std::uint32_t i = 0; i < value.shape.rows; ++i)
          result.items.push_back(value.item(i * value.shape.columns + j));
      }
      return result;
    }
    case Builtin::det:
    case Builtin::inverse:
      return determinant_or_inverse(expressions.system(), argument(0), id, builtin.id == Builtin::det);
    case Builtin::skew: {
      const DimensionValue v = argument(0);
      const Form zero;
      return {Shape::matrix(3, 3),
              {zero, v.item(2), v.item(1), v.item(2), zero, v.item(0), v.item(1), v.item(0), zero},
              false};
    }
    case Builtin::diag: {
      std::vector<Form> items;
      if (count == 1) {
        const DimensionValue value = argument(0);
        items = value.items;
      } else {
        for (std::uint32_t i = 0; i < count; ++i) items.push_back(argument(i).item(0));
      }
      return diagonal(expressions.system(), items);
    }
    case Builtin::identity: {
      const auto n = expressions.numbers().whole(node(0), frame.numbers);
      if (!n || *n < 1 || *n > base::longest_side) return given_up();
      return diagonal(expressions.system(), std::vector<Form>(static_cast<std::size_t>(*n), Form::of_bare()));
    }
    case Builtin::index: {
      const auto i = expressions.numbers().whole(node(1), frame.numbers);
      return i ? row_of(argument(0), *i - 1) : given_up();
    }
    case Builtin::integration:
      return each(argument(0), [](const Form& form) {
        return form.is_rigid() ? in_time(scalar_value(form), {1, 1}).items[0] : Form{};
      });
    case Builtin::diff: {
      const Form by = argument(1).item(0);
      return each(argument(0), [&](const Form& form) { return form.is_rigid() ? times(form, by, {-1, 1}) : Form{}; });
    }
    case Builtin::next:
      return argument(0);
    case Builtin::delay:
      expressions.need_time(tree.child(id, 2), "the length of a delay");
      return argument(0);
    case Builtin::noise:
      if (tree[id].child_count > 2) {
        Dimension frequency;
        frequency.exponents[Dimension::second] = {-1, 1};
        expressions.need(tree.child(id, 2), frequency, "the bandwidth of noise", "is in Hz");
      }
      break;
    case Builtin::box:
    case Builtin::table:
    case Builtin::at:
    case Builtin::since:
      break;
  }
  return given_up();
}

}  // namespace check
