#include "compiler/check/expression_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/growth.h"
#include "base/nearest.h"
#include "compiler/check/builtin_shapes.h"
#include "compiler/check/diagnostics.h"
#include "compiler/check/foreign_functions.h"
#include "compiler/parse/parse.h"
#include "compiler/parse/units.h"

namespace check {

using expr::Shape;
using parse::NodeId;
using parse::NodeKind;

namespace {

std::string arguments_text(std::size_t count) { return fmt::format("{} argument{}", count, count == 1 ? "" : "s"); }

}  // namespace

bool is_parameter(const Model& model, NodeId id) {
  const parse::Tree& tree = *model.tree;
  if (tree[id].kind != NodeKind::name) return false;
  auto found = model.find(tree[id].name);
  return found && model.symbols[*found].role == Role::parameter;
}

Scope own_value(const parse::Behaviour& behaviour, const Symbol& symbol) {
  Bound bound;
  bound.known = symbol.open ? Known() : Known::of(symbol.shape);
  return {nullptr, behaviour.own, bound};
}

std::optional<Shape> given_shape(const parse::Tree& tree, const Numbers& numbers, NodeId id) {
  std::vector<std::uint32_t> sizes;
  const bool is_matrix = tree[id].kind == NodeKind::tuple;
  for (std::uint32_t i = 0; i < (is_matrix ? tree[id].child_count : 1); ++i) {
    auto size = numbers.whole(is_matrix ? tree.child(id, i) : id, nullptr);
    if (!size || *size < 1 || *size > (is_matrix ? base::longest_side : base::longest_vector)) return std::nullopt;
    sizes.push_back(static_cast<std::uint32_t>(*size));
  }
  if (sizes.size() == 1) return sizes[0] == 1 ? Shape::scalar() : Shape::vector(sizes[0]);
  return sizes.size() == 2 ? std::optional(Shape::matrix(sizes[0], sizes[1])) : std::nullopt;
}

bool ExpressionShapes::affordable(base::Span span) {
  const long long limit =
      2'000'000 / static_cast<long long>(base::growth_divisor) + 50 * static_cast<long long>(tree_.nodes.size());
  if (++work_ == limit) diags_.report(span, too_large).hint("name the parts: give them equations of their own");
  return work_ < limit;
}

std::vector<Scope> ExpressionShapes::bind(NodeId call, const parse::Function& function, const Scope* scope, int depth) {
  std::vector<Scope> bindings(function.arguments.size());
  const Scope* inner = nullptr;
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    Bound bound;
    bound.node = tree_.child(call, static_cast<std::uint32_t>(i) + 1);
    bound.scope = scope;
    bound.known = shape_of(bound.node, scope, depth + 1);
    bindings[i] = {inner, function.arguments[i], bound};
    inner = &bindings[i];
  }
  return bindings;
}

Known ExpressionShapes::shape_of(NodeId id, const Scope* scope, int depth) {
  const parse::Node& node = tree_[id];
  if (depth > 500 || !affordable(node.span)) return {};
  auto of_child = [&](std::uint32_t i) { return shape_of(tree_.child(id, i), scope, depth + 1); };
  switch (node.kind) {
    case NodeKind::number:
      return node.number == 0 ? Known::of_any() : Known::of(Shape::scalar());
    case NodeKind::boolean:
      return Known::of(Shape::scalar());
    case NodeKind::string:
      if (rules_.is_reporting) diags_.report(node.span, not_a_value, "a text");
      return {};
    case NodeKind::name:
      return shape_of_name(id, scope);
    case NodeKind::member:
      return shape_of_member(id);
    case NodeKind::prime:
      return shape_of_prime(id, scope, depth);
    case NodeKind::negate:
      return of_child(0);
    case NodeKind::argument:
      if (rules_.is_reporting) diags_.report(node.span, not_a_value, "a named argument");
      return {};
    case NodeKind::tuple:
      return shape_of_tuple(id, scope, depth);
    case NodeKind::sum: {
      Known result = of_child(0);
      for (std::uint32_t i = 1; i < node.child_count; ++i) {
        result = rules_.component_wise(result, of_child(i), node.span, "these cannot be added");
      }
      return result;
    }
    case NodeKind::product: {
      Known result = of_child(0);
      for (std::uint32_t i = 1; i < node.child_count; ++i) {
        Known factor = of_child(i);
        if (tree_.children[node.first_child + i].op == parse::Op::divide)
          result = rules_.quotient(result, factor, node.span);
        else
          result = rules_.product(result, factor, node.span);
      }
      return result;
    }
    case NodeKind::power: {
      Known base = of_child(0);
      Known exponent = of_child(1);
      if (base.is_fixed() && base.shape.is_matrix() && rules_.is_reporting) {
        diags_.report(node.span, wrong_shape, "`^`", "scalars or vectors", describe(base.shape))
            .hint("write the product of the matrices out");
      }
      return rules_.component_wise(base, exponent, node.span, "`^` does not fit");
    }
    case NodeKind::logical_not:
    case NodeKind::logical_and:
    case NodeKind::logical_or:
    case NodeKind::implies:
    case NodeKind::compare:
      for (std::uint32_t i = 0; i < node.child_count; ++i) {
        rules_.need_scalar(of_child(i), tree_[tree_.child(id, i)].span,
                           node.kind == NodeKind::compare ? "a comparison" : "a condition");
      }
      return Known::of(Shape::scalar());
    case NodeKind::always:
    case NodeKind::eventually:
    case NodeKind::until:
      for (std::uint32_t i = 0; i < node.child_count; ++i)
        rules_.need_scalar(of_child(i), tree_[tree_.child(id, i)].span, "a formula");
      return Known::of(Shape::scalar());
    case NodeKind::in_set:
      return shape_of_in_set(id, scope, depth);
    case NodeKind::in_range:
      for (std::uint32_t i = 0; i < 3; ++i) rules_.need_scalar(of_child(i), tree_[tree_.child(id, i)].span, "`in`");
      return Known::of(Shape::scalar());
    case NodeKind::conditional: {
      rules_.need_scalar(of_child(0), tree_[tree_.child(id, 0)].span, "`if`");
      if (const auto chosen = numbers_.truth(tree_.child(id, 0), scope)) return of_child(*chosen ? 1 : 2);
      return rules_.component_wise(of_child(1), of_child(2), node.span, "the branches of `if` differ");
    }
    case NodeKind::sum_over:
      return shape_of_sum_over(id, scope, depth);
    case NodeKind::index:
      return shape_of_index(id, scope, depth);
    case NodeKind::call:
      return shape_of_call(id, scope, depth);
  }
  return {};
}

// A matrix that is constant is primed by those who mean its transpose.
Known ExpressionShapes::shape_of_prime(NodeId id, const Scope* scope, int depth) {
  const Known known = shape_of(tree_.child(id, 0), scope, depth + 1);
  const parse::Node& base = tree_[tree_.child(id, 0)];
  if (!rules_.is_reporting || base.kind != NodeKind::name || !known.is_fixed() || !known.shape.is_matrix())
    return known;
  auto found = model_.find(base.name);
  if (!find_binding(scope, base.name) && found && model_.symbols[*found].role == Role::constant) {
    diags_.report(tree_[id].span, constant_primed, parse::print(tree_, names_, id))
        .hint("the transpose is `transpose({})`", names_.text(base.name));
  }
  return known;
}

Known ExpressionShapes::shape_of_name(NodeId id, const Scope* scope) {
  const parse::Node& node = tree_[id];
  if (auto bound = find_binding(scope, node.name)) {
    return bound->what.number ? Known::of(Shape::scalar()) : bound->what.known;
  }
  if (node.name == time_ || node.name == pi_) return Known::of(Shape::scalar());
  auto found = model_.find(node.name);
  const bool is_event = place_.may_name_events && model_.is_event(node.name);
  if (is_event && (!found || model_.symbols[*found].role == Role::automaton)) return Known::of(Shape::scalar());
  if (!found) {  // a name in a function that nothing calls, in a constant
    if (rules_.is_reporting) {
      diags_.report(node.span, not_a_value, fmt::format("`{}`", names_.text(node.name)))
          .hint("a constant and a parameter are made of numbers and constants that the program declares");
    }
    return Known::of(Shape::scalar());
  }
  const Symbol& symbol = model_.symbols[*found];
  if (symbol.role == Role::function) {
    if (rules_.is_reporting) {
      diags_.report(node.span, not_a_value, fmt::format("the function `{}`", names_.text(node.name)))
          .hint("call it: `{}(..)`", names_.text(node.name));
    }
    return {};
  }
  if (symbol.role == Role::automaton) {
    if (rules_.is_reporting) {
      diags_.report(node.span, not_a_value, fmt::format("`{}`", names_.text(node.name)))
          .hint("ask for a mode, `{}`", names_.text(model_.symbols[model_.automata[symbol.declaration].modes[0]].name));
    }
    return {};
  }
  if (symbol.role == Role::parameter) return Known::of(symbol.shape);
  return symbol.open ? Known() : Known::of(symbol.shape);
}

Known ExpressionShapes::shape_of_member(NodeId id) {
  // roles has made a symbol of every value that a device gives.
  const std::string text = parse::print(tree_, names_, id);
  if (auto found = model_.find(names_.find(text))) return Known::of(model_.symbols[*found].shape);
  if (rules_.is_reporting) report_no_member(id, text);
  return {};
}

void ExpressionShapes::report_no_member(NodeId id, const std::string& text) {
  const parse::Node& node = tree_[id];
  const std::string base = parse::print(tree_, names_, tree_.child(id, 0));
  const bool is_device =
      std::any_of(tree_.externals.begin(), tree_.externals.end(),
                  [&](const parse::External& external) { return names_.text(external.name) == base; });
  if (is_device) {
    const std::string& value = names_.text(node.name);
    if (value == "force") {
      diags_.report(node.span, not_a_value, fmt::format("`{}`", text))
          .hint("say what acts on it: `external {} writes force = ..`", base);
      return;
    }
    diags_.report(node.span, not_built, text)
        .hint("this version knows `{0}.position` and `{0}.velocity`, vectors of 3, and `{0}.button[1]` to `[4]`", base);
    return;
  }
  auto report = diags_.report(node.span, not_a_value, fmt::format("`{}`", text));
  if (names_.text(node.name) == "start")
    report.hint("a start stands under `boundary`: `{}(0) = 1;`", base);
  else
    report.hint("a dot stands behind an instance of a module or an `external`, and `{}` is neither", base);
}

Known ExpressionShapes::shape_of_tuple(NodeId id, const Scope* scope, int depth) {
  const parse::Node& node = tree_[id];
  Known part;
  bool open = false;
  for (std::uint32_t i = 0; i < node.child_count; ++i) {
    Known known = shape_of(tree_.child(id, i), scope, depth + 1);
    if (known.state == Known::open) open = true;
    if (!known.is_fixed()) continue;
    if (part.is_fixed() && !(part.shape == known.shape)) {
      if (rules_.is_reporting) {
        diags_.report(tree_[tree_.child(id, i)].span, tuple_mixed)
            .hint("here is {}, before it {}; a matrix is a tuple of rows of one length", describe(known.shape),
                  describe(part.shape));
      }
      return {};
    }
    part = known;
  }
  if (!part.is_fixed() && !open) part = Known::of(Shape::scalar());  // all zeros
  if (!part.is_fixed()) return {};
  if (part.shape.is_scalar()) return Known::of(Shape::vector(node.child_count));
  if (part.shape.is_vector()) return Known::of(Shape::matrix(node.child_count, part.shape.rows));
  if (rules_.is_reporting) diags_.report(node.span, tuple_mixed).hint("a matrix cannot be part of a vector");
  return {};
}

Known ExpressionShapes::shape_of_in_set(NodeId id, const Scope* scope, int depth) {
  NodeId set = tree_.child(id, 1);
  Known point = shape_of(tree_.child(id, 0), scope, depth + 1);
  const parse::Node& set_node = tree_[set];
  Known corner;
  if (set_node.kind == NodeKind::call && tree_[tree_.child(set, 0)].kind == NodeKind::name &&
      names_.text(tree_[tree_.child(set, 0)].name) == "box" && set_node.child_count == 3) {
    corner = shape_of(tree_.child(set, 1), scope, depth + 1);
    rules_.component_wise(corner, shape_of(tree_.child(set, 2), scope, depth + 1), set_node.span,
                          "corner and size of a box differ");
  } else {
    corner = shape_of(set, scope, depth + 1);
  }
  if (point.is_fixed() && corner.is_fixed() && !(point.shape == corner.shape) && rules_.is_reporting) {
    diags_.report(tree_[id].span, shapes_differ, "the point and the box do not match", describe(point.shape),
                  describe(corner.shape));
  }
  return Known::of(Shape::scalar());
}

Known ExpressionShapes::shape_of_sum_over(NodeId id, const Scope* scope, int depth) {
  const parse::Node& node = tree_[id];
  auto low = numbers_.whole(tree_.child(id, 0), scope);
  auto high = numbers_.whole(tree_.child(id, 1), scope);
  if (!low || !high || *high - *low > 1000000) {
    if (rules_.is_reporting)
      diags_.report(node.span, not_constant, "the bounds of `sum`")
          .hint("write whole numbers or constants, as in `sum(i in 1..3: v[i])`");
    return {};
  }
  Known result = Known::of_any();
  for (long long i = *low; i <= *high; ++i) {
    Bound bound;
    bound.number = static_cast<double>(i);
    Scope inner{scope, node.name, bound};
    result = rules_.component_wise(result, shape_of(tree_.child(id, 2), &inner, depth + 1), node.span,
                                   "these cannot be added");
    if (!rules_.is_reporting && result.is_fixed()) break;
    if (rules_.is_reporting && diags_.has_errors() && result.state == Known::open) break;
  }
  return result;
}

void ExpressionShapes::report_index(NodeId whole, NodeId index) {
  auto report = diags_.report(tree_[index].span, index_not_constant);
  std::vector<NodeId> open{index};
  bool has_names = false, is_of_units = true;
  while (!open.empty()) {
    const parse::Node& node = tree_[open.back()];
    const NodeId at = open.back();
    open.pop_back();
    if (node.kind == NodeKind::name) {
      has_names = true;
      is_of_units = is_of_units && parse::find_unit(names_.text(node.name)).has_value();
    }
    for (const parse::Child& child : tree_.children_of(at)) open.push_back(child.node);
  }
  if (has_names && is_of_units && tree_[index].kind != NodeKind::call)
    report.hint(
        "a unit stands behind a number, `3 [{0}]`; what `{1}` is measured in follows from its equations, and "
        "`{1} * 1 [{0}]` multiplies it",
        parse::print(tree_, names_, index), parse::print(tree_, names_, tree_.child(whole, 0)));
  else
    report.hint("components are numbered from 1: `p[1]`");
}

Known ExpressionShapes::shape_of_index(NodeId id, const Scope* scope, int depth) {
  const parse::Node& node = tree_[id];
  Known base = shape_of(tree_.child(id, 0), scope, depth + 1);
  for (std::uint32_t i = 1; i < node.child_count; ++i) {
    auto index = numbers_.whole(tree_.child(id, i), scope);
    if (!index) {
      if (rules_.is_reporting) report_index(id, tree_.child(id, i));
      return {};
    }
    if (!base.is_fixed()) continue;
    long long limit = i == 1 ? base.shape.rows : base.shape.columns;
    if (*index > base::longest_vector && limit == base::longest_vector && !base.shape.is_matrix()) {
      if (rules_.is_reporting)
        rules_.report_too_long(tree_[tree_.child(id, i)].span, "a vector", *index, base::longest_vector);
      return Known::of(Shape::scalar());
    }
    if ((*index < 1 || *index > limit || base.shape.is_scalar() || (i == 2 && !base.shape.is_matrix())) &&
        rules_.is_reporting) {
      auto report = diags_.report(tree_[tree_.child(id, i)].span, index_out_of_range, *index, describe(base.shape));
      if (base.shape.is_scalar())
        report.hint("a scalar has no components; write it without `[..]`");
      else if (i == 2 && !base.shape.is_matrix())
        report.hint("a vector has one index: `p[1]`");
      else if (*index == 0)
        report.hint("components are numbered from 1 to {}: the first is `{}[1]`", limit,
                    parse::print(tree_, names_, tree_.child(id, 0)));
      else if (*index < 0)
        report.hint("components are numbered from 1 to {}: the last is `{}[{}]`", limit,
                    parse::print(tree_, names_, tree_.child(id, 0)), limit);
      else
        report.hint("components are numbered from 1 to {}", limit);
    }
  }
  if (!base.is_fixed()) return {};
  if (base.shape.is_matrix() && node.child_count == 2) return Known::of(Shape::vector(base.shape.columns));
  return Known::of(Shape::scalar());
}

Known ExpressionShapes::shape_of_call(NodeId id, const Scope* scope, int depth) {
  const parse::Node& node = tree_[id];
  const parse::Node& callee = tree_[tree_.child(id, 0)];
  if (callee.kind != NodeKind::name) {
    if (is_table_call(model_, names_, id)) return shape_of_table(id, scope, depth);
    if (rules_.is_reporting) {
      report_no_function(id);
    }
    return {};
  }
  const std::string& name = names_.text(callee.name);
  auto found = model_.find(callee.name);
  if (found && model_.symbols[*found].role == Role::function) return shape_of_function(id, *found, scope, depth);
  const BuiltinRow* builtin = find_builtin(name);
  if (!builtin) {
    if (rules_.is_reporting) {
      if (found)
        report_no_function(id);
      else
        report_unknown_function(id);
    }
    return {};
  }
  if (builtin->id == Builtin::next && !place_.may_look_ahead && rules_.is_reporting) {
    diags_.report(node.span, next_outside)
        .hint("a jump relates before and after: `transition T when c {{ {} = ..; }}`", parse::print(tree_, names_, id));
  }
  int count = static_cast<int>(node.child_count) - 1;
  if (count < builtin->fewest || count > builtin->most) {
    if (rules_.is_reporting) {
      auto report = diags_.report(node.span, argument_count, name, arguments_text(static_cast<std::size_t>(count)));
      if (builtin->id == Builtin::diff && count == 1) {
        const NodeId of = tree_.child(id, 1);
        const std::string text = parse::print(tree_, names_, of);
        report.hint("the derivative by time is `{}'`", tree_[of].kind == NodeKind::name ? text : "(" + text + ")");
      }
      report.hint("write `{}`", builtin->usage);
    }
    return {};
  }
  const BuiltinCall known{*builtin, tree_, id,
                          [&](std::uint32_t i) { return shape_of(tree_.child(id, i + 1), scope, depth + 1); },
                          [&](std::uint32_t i) { return numbers_.whole(tree_.child(id, i + 1), scope); }};
  return shape_of_builtin(known, rules_);
}

void ExpressionShapes::report_unknown_function(NodeId id) {
  const parse::Node& callee = tree_[tree_.child(id, 0)];
  const std::string& name = names_.text(callee.name);
  std::vector<std::string_view> known;
  for (const BuiltinRow& row : builtins) known.push_back(row.name);
  for (const parse::Function& function : tree_.functions) known.push_back(names_.text(function.name));
  auto report = diags_.report(callee.span, unknown_function, name);
  if (auto advice = foreign_function_advice(tree_, names_, id))
    report.hint("{}", *advice);
  else if (auto near = base::nearest(name, known))
    report.hint("did you mean `{}`?", *near);
  else
    report.hint("declare it: `function {}(x) = ..;`", name);
}

// What has the form of a call but calls no function: x(t), p(1), x(0) = 1, (a + b)(a - b).
void ExpressionShapes::report_no_function(NodeId id) {
  const parse::Node& node = tree_[id];
  const NodeId callee = tree_.child(id, 0);
  const std::string name = parse::print(tree_, names_, callee);
  std::string arguments;
  for (std::uint32_t i = 1; i < node.child_count; ++i)
    arguments += (i > 1 ? ", " : "") + parse::print(tree_, names_, tree_.child(id, i));
  const parse::Node* argument = node.child_count == 2 ? &tree_[tree_.child(id, 1)] : nullptr;
  const bool of_time = argument && argument->kind == NodeKind::name && argument->name == time_;
  if (of_time && time_argument_reported_) return;
  const NodeKind kind = tree_[callee].kind;
  const bool is_name = kind == NodeKind::name || kind == NodeKind::prime || kind == NodeKind::member;
  auto report =
      diags_.report(node.span, not_a_value,
                    is_name ? fmt::format("`{}({})`", name, arguments) : fmt::format("`({})({})`", name, arguments));
  const Known known = shape_of(callee, nullptr, 0);
  if (of_time) {
    time_argument_reported_ = true;
    report.hint("every name is a function of time: write `{}` alone", name);
  } else if (argument && is_name && known.is_fixed() && !known.shape.is_scalar()) {
    report.hint("a component is written `{}[{}]`", name, arguments);
  } else if (argument && is_name && numbers_.value(tree_.child(id, 1)) == model_.settings.starting_time) {
    report.hint("a start stands under `boundary`: `{}({}) = ..;`", name, arguments);
  } else if (is_name) {
    report.hint("`{0}` is no function; a product is written `{0} * ({1})`", name, arguments);
  } else {
    report.hint("a product is written `({}) * ({})`", name, arguments);
  }
}

Known ExpressionShapes::shape_of_table(NodeId id, const Scope* scope, int depth) {
  const parse::Node& node = tree_[id];
  if (node.child_count != 2 && node.child_count != 3) {
    if (rules_.is_reporting)
      diags_.report(node.span, argument_count, "table", arguments_text(node.child_count - 1))
          .hint("write `table(\"file.csv\")(x)`, or `table(\"map.csv\")(x, y)` for a map");
    return {};
  }
  Known result = shape_of(tree_.child(id, 1), scope, depth + 1);
  if (node.child_count == 3) {
    result = rules_.component_wise(result, shape_of(tree_.child(id, 2), scope, depth + 1), node.span,
                                   "the arguments of a table differ");
  }
  auto found = tables_.find(id);
  if (!found) return {};
  const std::size_t columns = model_.tables[*found].samples.values.size();
  if (columns == 1) return result.state == Known::any ? Known::of(Shape::scalar()) : result;
  rules_.need_scalar(result, tree_[tree_.child(id, 1)].span, "`table`");
  return Known::of(Shape::vector(static_cast<std::uint32_t>(columns)));
}

Known ExpressionShapes::shape_of_function(NodeId id, SymbolId symbol, const Scope* scope, int depth) {
  const parse::Node& node = tree_[id];
  const parse::Function& function = tree_.functions[model_.symbols[symbol].declaration];
  const std::string& name = names_.text(function.name);
  std::size_t count = node.child_count - 1;
  if (count != function.arguments.size()) {
    if (rules_.is_reporting) {
      diags_.report(node.span, argument_count, name, arguments_text(count))
          .hint("it takes {}", arguments_text(function.arguments.size()))
          .related(function.name_span, "declared here");
    }
    return {};
  }
  Known result;
  const bool ends = expand(id, symbol, scope, depth, [&](const parse::Function& called, const Scope* inner) {
    result = shape_of(called.value, inner, depth + 1);
  });
  if (!ends && !self_call_reported_) {
    diags_.report(node.span, calls_itself, name)
        .hint("a function is expanded where it is called and must come to an end");
    self_call_reported_ = true;
  }
  return result;
}

}  // namespace check
