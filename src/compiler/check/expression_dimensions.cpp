#include "compiler/check/expression_dimensions.h"

#include <algorithm>

#include "compiler/check/builtin_dimensions.h"
#include "compiler/check/builtins.h"
#include "compiler/check/diagnostics.h"
#include "compiler/check/dimension_messages.h"
#include "compiler/check/events.h"

namespace check {

using expr::Shape;
using parse::Dimension;
using parse::NodeId;
using parse::NodeKind;
using parse::Rational;

DimensionValue ExpressionDimensions::evaluate(NodeId id, const DimensionFrame& frame, int depth) {
  const parse::Node& node = tree_[id];
  if (depth > 500) return given_up();
  ++system_.work;
  if (system_.is_exhausted()) return given_up();
  auto child = [&](std::uint32_t i) { return evaluate(tree_.child(id, i), frame, depth + 1); };
  auto walk_children = [&] {
    for (const parse::Child& part : tree_.children_of(id)) evaluate(part.node, frame, depth + 1);
  };
  switch (node.kind) {
    case NodeKind::number:
      return number(node);
    case NodeKind::boolean:
      return scalar_value(Form::of_bare());
    case NodeKind::name:
    case NodeKind::member:
      return name(id, frame);
    case NodeKind::prime:
      return in_time(child(0), Rational{static_cast<std::int16_t>(-static_cast<int>(std::min(node.count, 10000u))), 1});
    case NodeKind::negate:
      return child(0);
    case NodeKind::tuple:
      return tuple(id, frame, depth);
    case NodeKind::sum:
      return agreeing(Origin::sum, "", id, 0, frame, depth);
    case NodeKind::product: {
      DimensionValue result = child(0);
      for (std::uint32_t i = 1; i < node.child_count; ++i) {
        const bool divide = tree_.children[node.first_child + i].op == parse::Op::divide;
        result = divide ? component_wise(result, child(i), {-1, 1}) : product(result, child(i), id);
      }
      return result;
    }
    case NodeKind::power:
      return power(tree_.child(id, 0), tree_.child(id, 1), frame, depth);
    case NodeKind::compare:
      agreeing(Origin::comparison, "", id, 0, frame, depth);
      return scalar_value(Form::of_bare());
    case NodeKind::in_range:
      agreeing(Origin::comparison, "", id, 0, frame, depth);
      return scalar_value(Form::of_bare());
    case NodeKind::in_set:
      in_set(id, frame, depth);
      return scalar_value(Form::of_bare());
    case NodeKind::logical_not:
    case NodeKind::logical_and:
    case NodeKind::logical_or:
    case NodeKind::implies:
    case NodeKind::always:
    case NodeKind::eventually:
    case NodeKind::until:
      walk_children();
      return scalar_value(Form::of_bare());
    case NodeKind::conditional:
      child(0);
      if (const auto chosen = numbers_.truth(tree_.child(id, 0), frame.numbers)) return child(*chosen ? 1 : 2);
      return agreeing(Origin::branches, "", id, 1, frame, depth);
    case NodeKind::sum_over:
      return sum_over(id, frame, depth);
    case NodeKind::index:
      return index(id, frame, depth);
    case NodeKind::call:
      return call(id, frame, depth);
    case NodeKind::string:
    case NodeKind::argument:
      break;
  }
  return given_up();
}

DimensionValue ExpressionDimensions::number(const parse::Node& node) const {
  if (node.unit != 0) {
    const Dimension& dimension = tree_.units[node.unit].measure.dimension;
    return {Shape::scalar(), {dimension.valid() ? Form::of_literal(dimension) : Form{}}, node.number == 0};
  }
  if (node.number == 0) return {Shape::scalar(), {Form{}}, true};
  return scalar_value(Form::of_bare());
}

DimensionValue ExpressionDimensions::name(NodeId id, const DimensionFrame& frame) {
  const parse::Node& node = tree_[id];
  if (node.kind == NodeKind::name) {
    if (auto bound = find_binding(frame.values, node.name)) return bound->what;
    if (node.name == time_) return scalar_value({});
    if (node.name == pi_) return scalar_value(Form::of_bare());
  }
  const std::optional<SymbolId> found = system_.symbol_of(id);
  if (!found || model_.symbols[*found].role == Role::function) return given_up();
  const Symbol& symbol = model_.symbols[*found];
  if (symbol.role == Role::mode || symbol.role == Role::automaton) return scalar_value(Form::of_bare());
  DimensionValue value{symbol.shape, {}, false};
  value.items.reserve(symbol.shape.size());
  system_.work += symbol.shape.size();
  for (std::uint32_t i = 0; i < symbol.shape.size(); ++i)
    value.items.push_back(symbol.role == Role::input ? Form{} : system_.unknown_of(*found, i));
  if (symbol.role == Role::constant) free_zeros(*found, value);
  return value;
}

// The zeros in a constant vector or matrix fit any, as they would in its place.
void ExpressionDimensions::free_zeros(SymbolId id, DimensionValue& value) {
  const parse::Constant& constant = tree_.constants[model_.symbols[id].declaration];
  const parse::Node& node = tree_[constant.value];
  if (node.kind != NodeKind::tuple && node.kind != NodeKind::number) return;
  const auto is_zero = [&](NodeId part) {
    return tree_[part].kind == NodeKind::number && tree_[part].number == 0 && tree_[part].unit == 0;
  };
  if (node.kind == NodeKind::number) {
    if (is_zero(constant.value) && !model_.overrides.contains(constant.name)) value.items[0] = {};
    return;
  }
  const std::size_t width = value.items.size() / node.child_count;
  for (std::uint32_t i = 0; i < node.child_count; ++i) {
    const NodeId row = tree_.child(constant.value, i);
    for (std::size_t j = 0; j < width; ++j) {
      const bool nested = tree_[row].kind == NodeKind::tuple && tree_[row].child_count == width;
      const NodeId part = nested ? tree_.child(row, static_cast<std::uint32_t>(j)) : row;
      if (is_zero(part)) value.items[i * width + j] = {};
    }
  }
}

DimensionValue ExpressionDimensions::component_wise(const DimensionValue& a, const DimensionValue& b, Rational factor) {
  const DimensionValue& longer = a.items.size() >= b.items.size() ? a : b;
  DimensionValue result{longer.shape, {}, false};
  result.items.reserve(longer.items.size());
  system_.work += static_cast<long long>(longer.items.size());
  for (std::size_t i = 0; i < longer.items.size(); ++i) result.items.push_back(times(a.item(i), b.item(i), factor));
  return result;
}

DimensionValue ExpressionDimensions::product(const DimensionValue& a, const DimensionValue& b, NodeId id) {
  if (!a.shape.is_matrix() || b.shape.is_scalar()) return component_wise(a, b, {1, 1});
  const std::uint32_t inner = a.shape.columns, columns = b.shape.columns;
  system_.work += static_cast<long long>(a.shape.rows) * inner * columns;
  if (system_.is_exhausted()) return given_up();
  DimensionValue result{
      b.shape.is_vector() ? Shape::vector(a.shape.rows) : Shape::matrix(a.shape.rows, columns), {}, false};
  for (std::uint32_t i = 0; i < a.shape.rows; ++i) {
    for (std::uint32_t j = 0; j < columns; ++j) {
      Agreement sum(system_, {Origin::inside, {}, {}, "this product"}, 0);
      for (std::uint32_t k = 0; k < inner; ++k)
        sum.add(id, times(a.item(i * inner + k), b.item(k * columns + j), {1, 1}));
      result.items.push_back(sum.form());
    }
  }
  return result;
}

DimensionValue ExpressionDimensions::agreeing(Origin::Kind kind, std::string_view what, NodeId id, std::uint32_t first,
                                              const DimensionFrame& frame, int depth) {
  std::vector<DimensionValue> values;
  std::size_t widest = 0;
  for (std::uint32_t i = first; i < tree_[id].child_count; ++i) {
    values.push_back(evaluate(tree_.child(id, i), frame, depth + 1));
    if (values.back().items.size() > values[widest].items.size()) widest = values.size() - 1;
  }
  DimensionValue result{values[widest].shape, {}, false};
  const std::size_t size = values[widest].items.size();
  system_.work += static_cast<long long>(size * values.size());
  for (std::uint32_t i = 0; i < size; ++i) {
    Agreement agreement(system_, {kind, {}, {}, what, component_of(result, i)}, i);
    for (std::uint32_t k = 0; k < values.size(); ++k) agreement.add(tree_.child(id, first + k), values[k].item(i));
    result.items.resize(1 + i);
    result.items[i] = agreement.form();
  }
  return result;
}

DimensionValue ExpressionDimensions::tuple(NodeId id, const DimensionFrame& frame, int depth) {
  std::vector<DimensionValue> parts;
  Shape part_shape;
  for (const parse::Child& child : tree_.children_of(id)) {
    parts.push_back(evaluate(child.node, frame, depth + 1));
    if (parts.back().shape.is_vector()) part_shape = parts.back().shape;
  }
  const auto count = static_cast<std::uint32_t>(parts.size());
  DimensionValue result{
      part_shape.is_scalar() ? Shape::vector(count) : Shape::matrix(count, part_shape.rows), {}, false};
  for (const DimensionValue& part : parts) {
    for (std::uint32_t i = 0; i < part_shape.size(); ++i) result.items.push_back(part.item(i));
  }
  return result;
}

DimensionValue ExpressionDimensions::power(NodeId base_node, NodeId exponent_node, const DimensionFrame& frame,
                                           int depth) {
  DimensionValue base = evaluate(base_node, frame, depth + 1);
  const DimensionValue exponent = evaluate(exponent_node, frame, depth + 1);
  need_pure(exponent, exponent_node, "an exponent");
  if (exponent.items.size() == 1 && tree_[exponent_node].kind != NodeKind::tuple) {
    if (auto number = numbers_.value(exponent_node, frame.numbers)) {
      const std::optional<Rational> factor = parse::to_rational(*number);
      for (Form& form : base.items) form = factor ? raised(form, *factor) : form.is_rigid() ? Form{} : form;
      return base;
    }
  }
  need_pure(base, base_node, "the base of a power whose exponent can change");
  DimensionValue result = component_wise(base, exponent, {1, 1});
  for (Form& form : result.items) form = pure_like(form);
  return result;
}

void ExpressionDimensions::need_pure(const DimensionValue& value, NodeId node, std::string_view what) {
  for (std::uint32_t i = 0; i < value.items.size(); ++i) {
    system_.constrain({Origin::pure, node, {}, what, component_of(value, i)}, value.items[i], Form::of(Dimension{}));
  }
}

void ExpressionDimensions::need_time(NodeId id, std::string_view what) {
  Dimension seconds;
  seconds.exponents[Dimension::second] = {1, 1};
  const auto rate = numbers_.value(id);
  need(id, seconds, what, "is in s", is_frequency(tree_, id) && rate && *rate > 0 ? 1 / *rate : 0);
}

void ExpressionDimensions::need(NodeId id, const Dimension& wanted, std::string_view what, std::string_view rule,
                                double instead) {
  const Form form = evaluate(id, {}, 0).item(0);
  if (!form.is_rigid() || !form.terms.empty() || form.constant == wanted || !told_.is_new(tree_[id].span)) return;
  auto report = diags_.report(tree_[id].span, dimension_of_setting, what, std::string(rule), quote(tree_, names_, id),
                              describe_dimension(form.constant));
  if (instead > 0) report.hint("write `{:g} [s]`", instead);
}

void ExpressionDimensions::in_set(NodeId id, const DimensionFrame& frame, int depth) {
  const NodeId point_node = tree_.child(id, 0);
  const NodeId set = tree_.child(id, 1);
  const DimensionValue point = evaluate(point_node, frame, depth + 1);
  std::vector<NodeId> others = {set};
  if (tree_[set].kind == NodeKind::call && tree_[set].child_count == 3 && names_.text(callee(set)) == "box")
    others = {tree_.child(set, 1), tree_.child(set, 2)};
  std::vector<DimensionValue> values;
  for (NodeId other : others) values.push_back(evaluate(other, frame, depth + 1));
  for (std::uint32_t i = 0; i < point.items.size(); ++i) {
    Agreement agreement(system_, {Origin::comparison, {}, {}, {}, component_of(point, i)}, i);
    agreement.add(point_node, point.items[i]);
    for (std::size_t k = 0; k < others.size(); ++k) agreement.add(others[k], values[k].item(i));
  }
}

DimensionValue ExpressionDimensions::sum_over(NodeId id, const DimensionFrame& frame, int depth) {
  const parse::Node& node = tree_[id];
  const auto low = numbers_.whole(tree_.child(id, 0), frame.numbers);
  const auto high = numbers_.whole(tree_.child(id, 1), frame.numbers);
  if (!low || !high) return given_up();
  const NodeId body = tree_.child(id, 2);
  DimensionValue result = given_up();
  for (long long i = *low; i <= *high && !system_.is_exhausted(); ++i) {
    Bound number;
    number.number = static_cast<double>(i);
    const Scope numbers{frame.numbers, node.name, number};
    const Binding<DimensionValue> values{frame.values, node.name, scalar_value(Form::of_bare())};
    const DimensionValue part = evaluate(body, {&values, &numbers}, depth + 1);
    if (part.items.size() > result.items.size()) result.items.resize(part.items.size(), result.items[0]);
    if (!part.shape.is_scalar()) result.shape = part.shape;
    for (std::size_t k = 0; k < result.items.size(); ++k) {
      Form& sum = result.items[k];
      if (!part.item(k).is_rigid()) {
        if (!sum.is_rigid() && i == *low) sum = part.item(k);
        continue;
      }
      if (sum.is_rigid())
        system_.constrain({Origin::inside, body, {}, "this sum"}, sum, part.item(k));
      else
        sum = part.item(k);
    }
  }
  result.spreads = false;
  return result;
}

DimensionValue ExpressionDimensions::index(NodeId id, const DimensionFrame& frame, int depth) {
  const DimensionValue base = evaluate(tree_.child(id, 0), frame, depth + 1);
  const auto i = numbers_.whole(tree_.child(id, 1), frame.numbers);
  if (!i) return given_up();
  if (tree_[id].child_count < 3) return row_of(base, *i - 1);
  const auto j = numbers_.whole(tree_.child(id, 2), frame.numbers);
  if (!j) return given_up();
  return scalar_value(base.item(static_cast<std::size_t>((*i - 1) * base.shape.columns + *j - 1)));
}

DimensionValue ExpressionDimensions::call(NodeId id, const DimensionFrame& frame, int depth) {
  if (tree_[tree_.child(id, 0)].kind != NodeKind::name) return given_up();
  const auto found = model_.find(callee(id));
  if (found && model_.symbols[*found].role == Role::function)
    return expand(id, tree_.functions[model_.symbols[*found].declaration], frame, depth);
  const BuiltinRow* builtin = find_builtin(names_.text(callee(id)));
  return builtin ? apply_builtin(*this, id, *builtin, frame, depth) : given_up();
}

DimensionValue ExpressionDimensions::expand(NodeId id, const parse::Function& function, const DimensionFrame& frame,
                                            int depth) {
  const std::size_t count = function.arguments.size();
  if (tree_[id].child_count - 1 != count) return given_up();
  std::vector<Binding<DimensionValue>> values(count);
  std::vector<Scope> numbers(count);
  DimensionFrame inner;
  for (std::uint32_t i = 0; i < count; ++i) {
    Bound bound;
    bound.node = tree_.child(id, i + 1);
    bound.scope = frame.numbers;
    numbers[i] = {inner.numbers, function.arguments[i], bound};
    values[i] = {inner.values, function.arguments[i], evaluate(bound.node, frame, depth + 1)};
    inner = {&values[i], &numbers[i]};
  }
  const NodeId outer = system_.call;
  if (!system_.call.valid()) system_.call = id;
  DimensionValue result = evaluate(function.value, inner, depth + 1);
  system_.call = outer;
  return result;
}

}  // namespace check
