#include "compiler/check/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

#include "base/growth.h"
#include "base/nearest.h"
#include "compiler/check/builtins.h"
#include "compiler/check/diagnostics.h"
#include "compiler/check/foreign_functions.h"
#include "compiler/check/numbers.h"
#include "compiler/check/tables.h"
#include "compiler/check/target.h"
#include "compiler/parse/parse.h"

namespace check {
namespace {

using expr::Shape;
using parse::NodeId;
using parse::NodeKind;

class Shapes {
 public:
  Shapes(Model& model, base::Names& names, table::Files& files, diag::Sink& diags)
      : model_(model),
        tree_(*model.tree),
        names_(names),
        diags_(diags),
        numbers_(model, names),
        tables_(model, names, files, diags),
        time_(names.intern("t")),
        pi_(names.intern("pi")) {}

  void run() {
    infer();
    report();
  }

 private:
  void infer() {
    pass_until_settled(false);
    pass_until_settled(true);
    parameters_are_scalars_ = true;
    pass_until_settled(true);
    settle_by_indices();
    for (Symbol& symbol : model_.symbols) symbol.open = false;
  }

  void pass_until_settled(bool likely) {
    do {
      changed_ = false;
      pass(likely);
    } while (changed_);
  }

  // A name of which only components are used is as long as its largest index; then the likely rules once more.
  void settle_by_indices() {
    std::unordered_map<std::uint32_t, std::uint32_t> largest;
    for (const parse::Node& node : tree_.nodes) {
      if (node.kind != NodeKind::index || node.child_count != 2) continue;
      NodeId base = tree_.children[node.first_child].node;
      if (tree_[base].kind == NodeKind::prime) base = tree_.child(base, 0);
      if (tree_[base].kind != NodeKind::name) continue;
      auto symbol = model_.find(tree_[base].name);
      auto index = numbers_.whole(tree_.children[node.first_child + 1].node, nullptr);
      if (!symbol || !model_.symbols[*symbol].open || !index || *index < 1) continue;
      index = std::min(*index, base::longest_vector);
      largest[symbol->value] = std::max(largest[symbol->value], static_cast<std::uint32_t>(*index));
    }
    for (const auto& [symbol, length] : largest) settle(SymbolId(symbol), Known::of(Shape::vector(length)));
    if (changed_) pass_until_settled(true);
  }

  void pass(bool likely) {
    for (std::size_t i = 0; i < model_.symbols.size(); ++i) {
      const Symbol& symbol = model_.symbols[SymbolId(i)];
      if (symbol.role == Role::constant && symbol.open) {
        settle(SymbolId(i), shape_of(tree_.constants[symbol.declaration].value, nullptr, 0));
      }
    }
    for (const Port& port : model_.ports) {
      if (port.value.valid()) settle(port.symbol, shape_of(port.value, nullptr, 0));
    }
    for (const parse::ShapeGiven& given : tree_.shapes) {
      if (auto shape = given_shape(given.shape)) push(given.value, *shape, likely, nullptr, 0);
    }
    for (const parse::Behaviour& behaviour : tree_.behaviours) infer_behaviour(behaviour);
    // Forwards and backwards: a chain of definitions settles in one pass in whichever order it is written.
    for (const parse::Equation& equation : tree_.equations) relate(equation.left, equation.right, likely);
    // Behind the equations: where a start contradicts them, the start is the one to mend.
    for (const parse::Condition& condition : tree_.conditions) {
      if (parameters_are_scalars_ || !is_parameter(condition.value))
        relate(condition.variable, condition.value, likely);
    }
    if (!changed_) return;
    for (const parse::Equation& equation : std::views::reverse(tree_.equations))
      relate(equation.left, equation.right, likely);
  }

  // As a start, a parameter spreads over the components of a vector; only where nothing else is known it says "scalar".
  bool is_parameter(NodeId id) const {
    if (tree_[id].kind != NodeKind::name) return false;
    auto found = model_.find(tree_[id].name);
    return found && model_.symbols[*found].role == Role::parameter;
  }

  // `: 3`, `: (3, 3)`
  std::optional<Shape> given_shape(NodeId id) {
    std::vector<std::uint32_t> sizes;
    const bool is_matrix = tree_[id].kind == NodeKind::tuple;
    for (std::uint32_t i = 0; i < (is_matrix ? tree_[id].child_count : 1); ++i) {
      auto size = numbers_.whole(is_matrix ? tree_.child(id, i) : id, nullptr);
      if (!size || *size < 1 || *size > (is_matrix ? base::longest_side : base::longest_vector)) return std::nullopt;
      sizes.push_back(static_cast<std::uint32_t>(*size));
    }
    if (sizes.size() == 1) return sizes[0] == 1 ? Shape::scalar() : Shape::vector(sizes[0]);
    return sizes.size() == 2 ? std::optional(Shape::matrix(sizes[0], sizes[1])) : std::nullopt;
  }

  // The own old value of a behaviour, bound in its handlers.
  static Scope own_value(const parse::Behaviour& behaviour, const Symbol& symbol) {
    Bound bound;
    bound.known = symbol.open ? Known() : Known::of(symbol.shape);
    return {nullptr, behaviour.own, bound};
  }

  void infer_behaviour(const parse::Behaviour& behaviour) {
    auto found = model_.find(behaviour.name);
    if (!found || !model_.symbols[*found].open) return;
    if (behaviour.value.valid()) return settle(*found, shape_of(behaviour.value, nullptr, 0));
    settle(*found, shape_of(behaviour.start, nullptr, 0));
    for (const parse::Handler& handler : behaviour.handlers) {
      const Scope own = own_value(behaviour, model_.symbols[*found]);
      settle(*found, shape_of(handler.value, behaviour.own.valid() ? &own : nullptr, 0));
    }
  }

  void settle(SymbolId id, Known known) {
    if (!model_.symbols[id].open || !known.is_fixed()) return;
    model_.symbols[id].shape = known.shape;
    model_.symbols[id].open = false;
    changed_ = true;
  }

  void relate(NodeId left, NodeId right, bool likely) {
    Known a = shape_of(left, nullptr, 0);
    Known b = shape_of(right, nullptr, 0);
    if (b.is_fixed() && (!a.is_fixed() || likely)) push(left, b.shape, likely, nullptr, 0);
    if (a.is_fixed() && (!b.is_fixed() || likely)) push(right, a.shape, likely, nullptr, 0);
    if (!likely) return;
    // Operands of sums inside, whatever the sides are.
    spread(left, nullptr, 0);
    spread(right, nullptr, 0);
  }

  // Says that an expression has this shape; settles the names for which that is certain, or, with `likely`, plausible.
  void push(NodeId id, Shape shape, bool likely, const Scope* scope, int depth) {
    if (depth > 500) return;
    const parse::Node& node = tree_[id];
    switch (node.kind) {
      case NodeKind::name: {
        if (auto bound = find_binding(scope, node.name)) {
          if (bound->what.node.valid()) push(bound->what.node, shape, likely, bound->what.scope, depth + 1);
          return;
        }
        if (auto found = model_.find(node.name)) settle(*found, Known::of(shape));
        return;
      }
      case NodeKind::prime:
      case NodeKind::negate:
        push(tree_.child(id, 0), shape, likely, scope, depth + 1);
        return;
      case NodeKind::tuple:
        if (shape.is_vector() && shape.rows == node.child_count) {
          for (const parse::Child& child : tree_.children_of(id))
            push(child.node, Shape::scalar(), likely, scope, depth + 1);
        } else if (shape.is_matrix() && shape.rows == node.child_count) {
          for (const parse::Child& child : tree_.children_of(id)) {
            push(child.node, Shape::vector(shape.columns), likely, scope, depth + 1);
          }
        }
        return;
      case NodeKind::sum:
        if (!likely) return;
        for (const parse::Child& child : tree_.children_of(id)) {
          if (shape_of(child.node, scope, 0).state == Known::open) push(child.node, shape, likely, scope, depth + 1);
        }
        return;
      case NodeKind::product: {
        if (!likely) return;
        // One open factor takes the shape, among scalars as it is, behind a matrix as what the matrix is applied to.
        NodeId open_factor;
        for (const parse::Child& child : tree_.children_of(id)) {
          Known known = shape_of(child.node, scope, 0);
          if (known.state == Known::open) {
            if (open_factor.valid()) return;
            open_factor = child.node;
          } else if (known.is_fixed() && known.shape.is_matrix() && !open_factor.valid() &&
                     known.shape.rows == shape.rows) {
            shape.rows = known.shape.columns;
          } else if (!known.is_fixed() || !known.shape.is_scalar()) {
            return;
          }
        }
        if (open_factor.valid()) push(open_factor, shape, likely, scope, depth + 1);
        return;
      }
      case NodeKind::conditional:
        if (const auto chosen = numbers_.truth(tree_.child(id, 0), scope))
          return push(tree_.child(id, *chosen ? 1 : 2), shape, likely, scope, depth + 1);
        push(tree_.child(id, 1), shape, likely, scope, depth + 1);
        push(tree_.child(id, 2), shape, likely, scope, depth + 1);
        return;
      default:
        return;
    }
  }

  // In a sum with one known vector, the other open operands are likely vectors too.
  void spread(NodeId id, const Scope* scope, int depth) {
    const parse::Node& node = tree_[id];
    if (depth > 500 || !affordable(node.span)) return;
    if (node.kind == NodeKind::sum) {
      Known sum = shape_of(id, scope, 0);
      if (sum.is_fixed() && !sum.shape.is_scalar()) push(id, sum.shape, true, scope, depth);
    }
    if (node.kind == NodeKind::call && tree_[tree_.child(id, 0)].kind == NodeKind::name) {
      base::NameId name = tree_[tree_.child(id, 0)].name;
      auto found = model_.find(name);
      if (found && model_.symbols[*found].role == Role::function)
        spread_function(id, *found, scope, depth);
      else if (node.child_count == 3)
        spread_pair(id, names_.text(name), scope, depth);
    }
    for (const parse::Child& child : tree_.children_of(id)) spread(child.node, scope, depth + 1);
  }

  void spread_function(NodeId id, SymbolId symbol, const Scope* scope, int depth) {
    const parse::Function& function = tree_.functions[model_.symbols[symbol].declaration];
    if (tree_[id].child_count - 1 != function.arguments.size()) return;
    if (std::find(active_.begin(), active_.end(), symbol) != active_.end()) return;
    std::vector<Scope> bindings = bind(id, function, scope, depth);
    active_.push_back(symbol);
    spread(function.value, bindings.empty() ? nullptr : &bindings.back(), depth + 1);
    active_.pop_back();
  }

  // dot(a, b), distance(a, b) ..: two of a kind.
  void spread_pair(NodeId id, std::string_view name, const Scope* scope, int depth) {
    if (name != "dot" && name != "distance" && name != "proj" && name != "cross") return;
    Known a = shape_of(tree_.child(id, 1), scope, 0);
    Known b = shape_of(tree_.child(id, 2), scope, 0);
    if (a.is_fixed() && b.state == Known::open) push(tree_.child(id, 2), a.shape, true, scope, depth + 1);
    if (b.is_fixed() && a.state == Known::open) push(tree_.child(id, 1), b.shape, true, scope, depth + 1);
  }

  // A function's arguments, bound to the expressions of a call; the innermost binding is the last.
  std::vector<Scope> bind(NodeId call, const parse::Function& function, const Scope* scope, int depth) {
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

  // A bounded amount of work for one program: functions of functions can grow exponentially when they are expanded.
  bool affordable(base::Span span) {
    const long long limit =
        2'000'000 / static_cast<long long>(base::growth_divisor) + 50 * static_cast<long long>(tree_.nodes.size());
    if (++work_ == limit) diags_.report(span, too_large).hint("name the parts: give them equations of their own");
    return work_ < limit;
  }

  // The shape of an expression, as far as it is known. With reporting_ on, says what does not fit.
  Known shape_of(NodeId id, const Scope* scope, int depth) {
    const parse::Node& node = tree_[id];
    if (depth > 500 || !affordable(node.span)) return {};
    auto of_child = [&](std::uint32_t i) { return shape_of(tree_.child(id, i), scope, depth + 1); };
    switch (node.kind) {
      case NodeKind::number:
        return node.number == 0 ? Known::of_any() : Known::of(Shape::scalar());
      case NodeKind::boolean:
        return Known::of(Shape::scalar());
      case NodeKind::string:
        if (reporting_) diags_.report(node.span, not_a_value, "a text");
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
        if (reporting_) diags_.report(node.span, not_a_value, "a named argument");
        return {};
      case NodeKind::tuple:
        return shape_of_tuple(id, scope, depth);
      case NodeKind::sum: {
        Known result = of_child(0);
        for (std::uint32_t i = 1; i < node.child_count; ++i) {
          result = component_wise(result, of_child(i), node.span, "these cannot be added");
        }
        return result;
      }
      case NodeKind::product: {
        Known result = of_child(0);
        for (std::uint32_t i = 1; i < node.child_count; ++i) {
          Known factor = of_child(i);
          if (tree_.children[node.first_child + i].op == parse::Op::divide)
            result = quotient(result, factor, node.span);
          else
            result = product(result, factor, node.span);
        }
        return result;
      }
      case NodeKind::power: {
        Known base = of_child(0);
        Known exponent = of_child(1);
        if (base.is_fixed() && base.shape.is_matrix() && reporting_) {
          diags_.report(node.span, wrong_shape, "`^`", "scalars or vectors", describe(base.shape))
              .hint("write the product of the matrices out");
        }
        return component_wise(base, exponent, node.span, "`^` does not fit");
      }
      case NodeKind::logical_not:
      case NodeKind::logical_and:
      case NodeKind::logical_or:
      case NodeKind::implies:
      case NodeKind::compare:
        for (std::uint32_t i = 0; i < node.child_count; ++i) {
          need_scalar(of_child(i), tree_[tree_.child(id, i)].span,
                      node.kind == NodeKind::compare ? "a comparison" : "a condition");
        }
        return Known::of(Shape::scalar());
      case NodeKind::in_set:
        return shape_of_in_set(id, scope, depth);
      case NodeKind::in_range:
        for (std::uint32_t i = 0; i < 3; ++i) need_scalar(of_child(i), tree_[tree_.child(id, i)].span, "`in`");
        return Known::of(Shape::scalar());
      case NodeKind::conditional: {
        need_scalar(of_child(0), tree_[tree_.child(id, 0)].span, "`if`");
        if (const auto chosen = numbers_.truth(tree_.child(id, 0), scope)) return of_child(*chosen ? 1 : 2);
        return component_wise(of_child(1), of_child(2), node.span, "the branches of `if` differ");
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
  Known shape_of_prime(NodeId id, const Scope* scope, int depth) {
    const Known known = shape_of(tree_.child(id, 0), scope, depth + 1);
    const parse::Node& base = tree_[tree_.child(id, 0)];
    if (!reporting_ || base.kind != NodeKind::name || !known.is_fixed() || !known.shape.is_matrix()) return known;
    auto found = model_.find(base.name);
    if (!find_binding(scope, base.name) && found && model_.symbols[*found].role == Role::constant) {
      diags_.report(tree_[id].span, constant_primed, parse::print(tree_, names_, id))
          .hint("the transpose is `transpose({})`", names_.text(base.name));
    }
    return known;
  }

  Known shape_of_name(NodeId id, const Scope* scope) {
    const parse::Node& node = tree_[id];
    if (auto bound = find_binding(scope, node.name)) {
      return bound->what.number ? Known::of(Shape::scalar()) : bound->what.known;
    }
    if (node.name == time_ || node.name == pi_) return Known::of(Shape::scalar());
    auto found = model_.find(node.name);
    if (!found) {  // a name in a function that nothing calls, in a constant
      if (reporting_) {
        diags_.report(node.span, not_a_value, fmt::format("`{}`", names_.text(node.name)))
            .hint("a constant and a parameter are made of numbers and constants that the program declares");
      }
      return Known::of(Shape::scalar());
    }
    const Symbol& symbol = model_.symbols[*found];
    if (symbol.role == Role::function) {
      if (reporting_) {
        diags_.report(node.span, not_a_value, fmt::format("the function `{}`", names_.text(node.name)))
            .hint("call it: `{}(..)`", names_.text(node.name));
      }
      return {};
    }
    if (symbol.role == Role::parameter) return Known::of(Shape::scalar());
    return symbol.open ? Known() : Known::of(symbol.shape);
  }

  Known shape_of_member(NodeId id) {
    // roles has made a symbol of every value that a device gives.
    const std::string text = parse::print(tree_, names_, id);
    if (auto found = model_.find(names_.find(text))) return Known::of(model_.symbols[*found].shape);
    if (reporting_) report_no_member(id, text);
    return {};
  }

  void report_no_member(NodeId id, const std::string& text) {
    const parse::Node& node = tree_[id];
    const std::string base = parse::print(tree_, names_, tree_.child(id, 0));
    const bool is_device =
        std::any_of(tree_.externals.begin(), tree_.externals.end(),
                    [&](const parse::External& external) { return names_.text(external.name) == base; });
    if (is_device) {
      diags_.report(node.span, not_built, text)
          .hint("this version knows `NAME.position` of an `external NAME`, a vector of 3");
      return;
    }
    auto report = diags_.report(node.span, not_a_value, fmt::format("`{}`", text));
    if (names_.text(node.name) == "start")
      report.hint("a start stands under `boundary`: `{}(0) = 1;`", base);
    else
      report.hint("a dot stands behind an instance of a module or an `external`, and `{}` is neither", base);
  }

  Known shape_of_tuple(NodeId id, const Scope* scope, int depth) {
    const parse::Node& node = tree_[id];
    Known part;
    bool open = false;
    for (std::uint32_t i = 0; i < node.child_count; ++i) {
      Known known = shape_of(tree_.child(id, i), scope, depth + 1);
      if (known.state == Known::open) open = true;
      if (!known.is_fixed()) continue;
      if (part.is_fixed() && !(part.shape == known.shape)) {
        if (reporting_) {
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
    if (reporting_) diags_.report(node.span, tuple_mixed).hint("a matrix cannot be part of a vector");
    return {};
  }

  Known component_wise(Known a, Known b, base::Span span, std::string_view what) {
    if (a.state == Known::any) return b;
    if (b.state == Known::any) return a;
    if (a.is_fixed() && b.is_fixed()) {
      if (a.shape == b.shape || b.shape.is_scalar()) return a;
      if (a.shape.is_scalar()) return b;
      if (reporting_)
        diags_.report(span, shapes_differ, what, describe(a.shape), describe(b.shape))
            .hint("both need as many components, or one of them is a scalar");
      return {};
    }
    // A vector and something open: the sum is that vector, for a scalar spreads.
    if (a.is_fixed() && !a.shape.is_scalar()) return a;
    if (b.is_fixed() && !b.shape.is_scalar()) return b;
    return {};
  }

  // Made of long vectors it may be too large.
  Known matrix_of(std::uint32_t rows, std::uint32_t columns, base::Span span) {
    const bool is_small = static_cast<long long>(rows) * columns <= base::longest_side * base::longest_side;
    if (!is_small && reporting_) report_too_long(span, "a matrix", std::max(rows, columns), base::longest_side);
    return Known::of(Shape::matrix(rows, columns));
  }

  Known product(Known a, Known b, base::Span span) {
    if (a.state == Known::any || b.state == Known::any) return Known::of_any();
    if (!a.is_fixed() || !b.is_fixed()) return {};
    if (a.shape.is_scalar()) return b;
    if (b.shape.is_scalar()) return a;
    if (a.shape.is_vector() && b.shape.is_vector()) return component_wise(a, b, span, "these cannot be multiplied");
    if (a.shape.is_matrix() && a.shape.columns == b.shape.rows) {
      if (b.shape.is_vector()) return Known::of(Shape::vector(a.shape.rows));
      return matrix_of(a.shape.rows, b.shape.columns, span);
    }
    if (reporting_) {
      auto report =
          diags_.report(span, shapes_differ, "these cannot be multiplied", describe(a.shape), describe(b.shape));
      if (a.shape.is_vector())
        report.hint("the matrix stands first: `M * v`; for a row times a matrix write `transpose(M) * v`");
      else
        report.hint("the first has {} columns, so the second needs {} rows", a.shape.columns, a.shape.columns);
    }
    return {};
  }

  Known quotient(Known a, Known b, base::Span span) {
    if (b.is_fixed() && b.shape.is_matrix()) {
      if (reporting_) {
        diags_.report(span, wrong_shape, "`/`", "a scalar or a vector below", describe(b.shape))
            .hint("write `inverse(M) * v`");
      }
      return {};
    }
    return component_wise(a, b, span, "these cannot be divided");
  }

  void need_scalar(Known known, base::Span span, std::string_view what) {
    if (reporting_ && known.is_fixed() && !known.shape.is_scalar()) {
      auto report = diags_.report(span, wrong_shape, what, "a scalar", describe(known.shape));
      if (known.shape.is_vector()) report.hint("take a component, `v[1]`, or the length, `norm(v)`");
    }
  }

  Known need(Known known, base::Span span, std::string_view what, std::string_view wanted, bool fits) {
    if (reporting_ && known.is_fixed() && !fits)
      diags_.report(span, wrong_shape, fmt::format("`{}`", what), wanted, describe(known.shape));
    return known;
  }

  Known shape_of_in_set(NodeId id, const Scope* scope, int depth) {
    NodeId set = tree_.child(id, 1);
    Known point = shape_of(tree_.child(id, 0), scope, depth + 1);
    const parse::Node& set_node = tree_[set];
    Known corner;
    if (set_node.kind == NodeKind::call && tree_[tree_.child(set, 0)].kind == NodeKind::name &&
        names_.text(tree_[tree_.child(set, 0)].name) == "box" && set_node.child_count == 3) {
      corner = shape_of(tree_.child(set, 1), scope, depth + 1);
      component_wise(corner, shape_of(tree_.child(set, 2), scope, depth + 1), set_node.span,
                     "corner and size of a box differ");
    } else {
      corner = shape_of(set, scope, depth + 1);
    }
    if (point.is_fixed() && corner.is_fixed() && !(point.shape == corner.shape) && reporting_) {
      diags_.report(tree_[id].span, shapes_differ, "the point and the box do not match", describe(point.shape),
                    describe(corner.shape));
    }
    return Known::of(Shape::scalar());
  }

  Known shape_of_sum_over(NodeId id, const Scope* scope, int depth) {
    const parse::Node& node = tree_[id];
    auto low = numbers_.whole(tree_.child(id, 0), scope);
    auto high = numbers_.whole(tree_.child(id, 1), scope);
    if (!low || !high || *high - *low > 1000000) {
      if (reporting_)
        diags_.report(node.span, not_constant, "the bounds of `sum`")
            .hint("write whole numbers or constants, as in `sum(i in 1..3: v[i])`");
      return {};
    }
    Known result = Known::of_any();
    for (long long i = *low; i <= *high; ++i) {
      Bound bound;
      bound.number = static_cast<double>(i);
      Scope inner{scope, node.name, bound};
      result =
          component_wise(result, shape_of(tree_.child(id, 2), &inner, depth + 1), node.span, "these cannot be added");
      if (!reporting_ && result.is_fixed()) break;
      if (reporting_ && diags_.has_errors() && result.state == Known::open) break;
    }
    return result;
  }

  // Once: a loop that is too long goes there in every equation.
  void report_too_long(base::Span span, std::string_view what, long long size, long long longest) {
    if (std::exchange(is_too_long_told_, true)) return;
    auto report = diags_.report(span, vector_too_long, what, size, longest);
    if (longest == base::longest_vector)
      report.hint("share it among several, or give each an instance of its own: `cell[k in 1..n] = Cell(..);`");
    else
      report.hint("share it among several, or write out what it does: `sum(j in 1..n: ..)`");
  }

  Known shape_of_index(NodeId id, const Scope* scope, int depth) {
    const parse::Node& node = tree_[id];
    Known base = shape_of(tree_.child(id, 0), scope, depth + 1);
    for (std::uint32_t i = 1; i < node.child_count; ++i) {
      auto index = numbers_.whole(tree_.child(id, i), scope);
      if (!index) {
        if (reporting_)
          diags_.report(tree_[tree_.child(id, i)].span, index_not_constant)
              .hint("components are numbered from 1: `p[1]`");
        return {};
      }
      if (!base.is_fixed()) continue;
      long long limit = i == 1 ? base.shape.rows : base.shape.columns;
      if (*index > base::longest_vector && limit == base::longest_vector && !base.shape.is_matrix()) {
        if (reporting_) report_too_long(tree_[tree_.child(id, i)].span, "a vector", *index, base::longest_vector);
        return Known::of(Shape::scalar());
      }
      if ((*index < 1 || *index > limit || base.shape.is_scalar() || (i == 2 && !base.shape.is_matrix())) &&
          reporting_) {
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

  Known shape_of_call(NodeId id, const Scope* scope, int depth) {
    const parse::Node& node = tree_[id];
    const parse::Node& callee = tree_[tree_.child(id, 0)];
    if (callee.kind != NodeKind::name) {
      if (is_table_call(model_, names_, id)) return shape_of_table(id, scope, depth);
      if (reporting_) {
        report_no_function(id);
      }
      return {};
    }
    const std::string& name = names_.text(callee.name);
    auto found = model_.find(callee.name);
    if (found && model_.symbols[*found].role == Role::function) return shape_of_function(id, *found, scope, depth);
    const BuiltinRow* builtin = find_builtin(name);
    if (!builtin) {
      if (reporting_) {
        if (found) {
          report_no_function(id);
        } else {
          auto report = diags_.report(callee.span, unknown_function, name);
          if (auto advice = foreign_function_advice(tree_, names_, id))
            report.hint("{}", *advice);
          else if (auto near = nearest_function(name))
            report.hint("did you mean `{}`?", *near);
          else
            report.hint("declare it: `function {}(x) = ..;`", name);
        }
      }
      return {};
    }
    int count = static_cast<int>(node.child_count) - 1;
    if (count < builtin->fewest || count > builtin->most) {
      if (reporting_)
        diags_.report(node.span, argument_count, name, arguments_text(static_cast<std::size_t>(count)))
            .hint("write `{}`", builtin->usage);
      return {};
    }
    return shape_of_builtin(id, *builtin, scope, depth);
  }

  // What has the form of a call but calls no function: x(t), p(1), x(0) = 1, (a + b)(a - b).
  void report_no_function(NodeId id) {
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

  Known shape_of_table(NodeId id, const Scope* scope, int depth) {
    const parse::Node& node = tree_[id];
    if (node.child_count != 2 && node.child_count != 3) {
      if (reporting_)
        diags_.report(node.span, argument_count, "table", arguments_text(node.child_count - 1))
            .hint("write `table(\"file.csv\")(x)`, or `table(\"map.csv\")(x, y)` for a map");
      return {};
    }
    Known result = shape_of(tree_.child(id, 1), scope, depth + 1);
    if (node.child_count == 3) {
      result = component_wise(result, shape_of(tree_.child(id, 2), scope, depth + 1), node.span,
                              "the arguments of a table differ");
    }
    auto found = tables_.find(id);
    if (!found) return {};
    const std::size_t columns = model_.tables[*found].samples.values.size();
    if (columns == 1) return result.state == Known::any ? Known::of(Shape::scalar()) : result;
    need_scalar(result, tree_[tree_.child(id, 1)].span, "`table`");
    return Known::of(Shape::vector(static_cast<std::uint32_t>(columns)));
  }

  static std::string arguments_text(std::size_t count) {
    return fmt::format("{} argument{}", count, count == 1 ? "" : "s");
  }

  std::optional<std::string> nearest_function(std::string_view wanted) {
    std::vector<std::string_view> all;
    for (const BuiltinRow& row : builtins) all.push_back(row.name);
    for (const parse::Function& function : tree_.functions) all.push_back(names_.text(function.name));
    auto near = base::nearest(wanted, all);
    return near ? std::optional(std::string(*near)) : std::nullopt;
  }

  Known shape_of_function(NodeId id, SymbolId symbol, const Scope* scope, int depth) {
    const parse::Node& node = tree_[id];
    const parse::Function& function = tree_.functions[model_.symbols[symbol].declaration];
    const std::string& name = names_.text(function.name);
    std::size_t count = node.child_count - 1;
    if (count != function.arguments.size()) {
      if (reporting_) {
        diags_.report(node.span, argument_count, name, arguments_text(count))
            .hint("it takes {}", arguments_text(function.arguments.size()))
            .related(function.name_span, "declared here");
      }
      return {};
    }
    if (std::find(active_.begin(), active_.end(), symbol) != active_.end()) {
      if (!self_call_reported_) {
        diags_.report(node.span, calls_itself, name)
            .hint("a function is expanded where it is called and must come to an end");
        self_call_reported_ = true;
      }
      return {};
    }
    std::vector<Scope> bindings = bind(id, function, scope, depth);
    active_.push_back(symbol);
    Known result = shape_of(function.value, bindings.empty() ? nullptr : &bindings.back(), depth + 1);
    active_.pop_back();
    return result;
  }

  Known shape_of_builtin(NodeId id, const BuiltinRow& builtin, const Scope* scope, int depth) {
    const parse::Node& node = tree_[id];
    auto argument = [&](std::uint32_t i) { return shape_of(tree_.child(id, i + 1), scope, depth + 1); };
    auto span = [&](std::uint32_t i) { return tree_[tree_.child(id, i + 1)].span; };
    auto vector_argument = [&](std::uint32_t i) {
      Known known = argument(i);
      return need(known, span(i), builtin.name, "a vector", known.shape.is_vector());
    };
    // A scalar is a vector of one component.
    auto vector_or_scalar = [&](std::uint32_t i) {
      Known known = argument(i);
      return need(known, span(i), builtin.name, "a vector", !known.shape.is_matrix());
    };
    auto same = [&](Known a, Known b) {
      if (a.is_fixed() && b.is_fixed() && !(a.shape == b.shape) && reporting_) {
        diags_.report(node.span, shapes_differ, fmt::format("`{}` needs two of a kind", builtin.name),
                      describe(a.shape), describe(b.shape));
      }
    };
    const Known scalar = Known::of(Shape::scalar());
    std::uint32_t count = node.child_count - 1;
    switch (builtin.id) {
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
        Known known = argument(0);
        return known.state == Known::any ? scalar : known;
      }
      case Builtin::atan2:
      case Builtin::power:
      case Builtin::minimum:
      case Builtin::maximum:
      case Builtin::clamp: {
        Known result = argument(0);
        for (std::uint32_t i = 1; i < count; ++i) {
          result =
              component_wise(result, argument(i), node.span, fmt::format("the arguments of `{}` differ", builtin.name));
        }
        return result.state == Known::any ? scalar : result;
      }
      case Builtin::norm:
        argument(0);
        return scalar;
      case Builtin::dot:
        same(vector_or_scalar(0), vector_or_scalar(1));
        return scalar;
      case Builtin::distance:
        same(argument(0), argument(1));
        return scalar;
      case Builtin::cross: {
        Known a = argument(0);
        Known b = argument(1);
        same(a, b);
        for (std::uint32_t i = 0; i < 2; ++i) {
          Known known = i == 0 ? a : b;
          need(known, span(i), "cross", "vectors of 3 (or of 2, for a scalar)",
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
        Known a = argument(0);
        std::uint32_t n = count == 2 ? 2 : 3;
        need(a, span(0), "rotate", n == 2 ? "a vector of 2" : "a vector of 3", a.shape == Shape::vector(n));
        if (count == 3) {
          Known axis = argument(1);
          need(axis, span(1), "rotate", "an axis, a vector of 3", axis.shape == Shape::vector(3));
        }
        need_scalar(argument(count - 1), span(count - 1), "`rotate`");
        return Known::of(Shape::vector(n));
      }
      case Builtin::transpose: {
        Known a = argument(0);
        if (!a.is_fixed()) return a;
        return Known::of(Shape::matrix(a.shape.columns, a.shape.rows));
      }
      case Builtin::inverse:
      case Builtin::det: {
        Known a = argument(0);
        need(a, span(0), builtin.name, "a square matrix", a.shape.is_matrix() && a.shape.rows == a.shape.columns);
        if (a.is_fixed() && a.shape.rows > 6 && reporting_) {
          diags_
              .report(span(0), wrong_shape, fmt::format("`{}`", builtin.name), "a matrix of at most 6 x 6",
                      describe(a.shape))
              .hint("write the equation and let it be solved: `M * x = b`");
        }
        return builtin.id == Builtin::det ? scalar : a;
      }
      case Builtin::skew: {
        Known a = argument(0);
        need(a, span(0), "skew", "a vector of 3", a.shape == Shape::vector(3));
        return Known::of(Shape::matrix(3, 3));
      }
      case Builtin::diag: {
        if (count > 1) {
          for (std::uint32_t i = 0; i < count; ++i) need_scalar(argument(i), span(i), "`diag`");
          return Known::of(Shape::matrix(count, count));
        }
        Known a = vector_argument(0);
        return a.is_fixed() ? matrix_of(a.shape.rows, a.shape.rows, span(0)) : a;
      }
      case Builtin::identity: {
        auto n = numbers_.whole(tree_.child(id, 1), scope);
        if (n && *n > base::longest_side) {
          if (reporting_) report_too_long(span(0), "an identity", *n, base::longest_side);
          return {};
        }
        if (!n || *n < 1) {
          if (reporting_) diags_.report(span(0), not_constant, "the size of `identity`");
          return {};
        }
        return Known::of(Shape::matrix(static_cast<std::uint32_t>(*n), static_cast<std::uint32_t>(*n)));
      }
      case Builtin::index: {
        Known a = argument(0);
        auto index = numbers_.whole(tree_.child(id, 2), scope);
        if (!index) {
          if (reporting_)
            diags_.report(span(1), index_not_constant).hint("components are numbered from 1: `index(p, 1)`");
          return {};
        }
        if (a.is_fixed() && (*index < 1 || *index > a.shape.rows || a.shape.is_scalar()) && reporting_) {
          diags_.report(span(1), index_out_of_range, *index, describe(a.shape))
              .hint("components are numbered from 1 to {}", a.shape.rows);
        }
        if (a.is_fixed() && a.shape.is_matrix()) return Known::of(Shape::vector(a.shape.columns));
        return a.is_fixed() ? scalar : Known();
      }
      case Builtin::integration:
      case Builtin::smooth: {
        Known a = argument(0);
        return a.state == Known::any ? scalar : a;
      }
      case Builtin::diff:
        need_scalar(argument(1), span(1), "`diff`");
        return argument(0);
      case Builtin::box:
        if (reporting_)
          diags_.report(node.span, not_a_value, "a box").hint("use it behind `in`: `p in box(corner, size)`");
        return {};
      case Builtin::delay: {
        Known a = argument(0);
        need_scalar(argument(1), span(1), "`delay`");
        return a.state == Known::any ? scalar : a;
      }
      case Builtin::noise:
        for (std::uint32_t i = 0; i < count; ++i) need_scalar(argument(i), span(i), "`noise`");
        return scalar;
      case Builtin::table:
        if (reporting_)
          diags_.report(node.span, not_a_value, "a table without its argument")
              .hint("write the argument behind it: `table(\"file.csv\")(x)`");
        return {};
    }
    return {};
  }

  // --- The last walk ---------------------------------------------------------------------------------------------------

  void report() {
    reporting_ = true;
    for (const parse::Constant& constant : tree_.constants) {
      Known known = shape_of(constant.value, nullptr, 0);
      if (auto found = model_.find(constant.name); found && known.is_fixed())
        model_.symbols[*found].shape = known.shape;
    }
    for (const parse::Parameter& parameter : tree_.parameters) report_parameter(parameter);
    for (const parse::Condition& condition : tree_.conditions) report_condition(condition);
    for (const parse::Equation& equation : tree_.equations) {
      report_sides(equation.left, equation.right, equation.span, "the sides of this equation differ");
    }
    for (const Port& port : model_.ports) {
      if (port.value.valid()) shape_of(port.value, nullptr, 0);
    }
    for (const parse::ShapeGiven& given : tree_.shapes) report_given(given);
    for (const Event& event : model_.events) {
      if (event.condition.valid())
        need_scalar(shape_of(event.condition, nullptr, 0), tree_[event.condition].span, "`when`");
    }
    for (const parse::Behaviour& behaviour : tree_.behaviours) report_behaviour(behaviour);
  }

  void report_given(const parse::ShapeGiven& given) {
    auto shape = given_shape(given.shape);
    if (!shape) {
      const bool is_matrix = tree_[given.shape].kind == NodeKind::tuple;
      const long long longest = is_matrix ? base::longest_side : base::longest_vector;
      for (std::uint32_t i = 0; i < (is_matrix ? tree_[given.shape].child_count : 1); ++i) {
        const NodeId side = is_matrix ? tree_.child(given.shape, i) : given.shape;
        if (const auto size = numbers_.whole(side, nullptr); size && *size > longest)
          return report_too_long(tree_[side].span, is_matrix ? "a matrix" : "a vector", *size, longest);
      }
      diags_.report(tree_[given.shape].span, not_constant, "the shape of a port")
          .hint("write `: 3` for a vector of 3, `: (3, 3)` for a matrix");
      return;
    }
    Known known = shape_of(given.value, nullptr, 0);
    if (known.is_fixed() && !(known.shape == *shape)) {
      diags_.report(tree_[given.value].span, wrong_shape, "the port", describe(*shape), describe(known.shape))
          .related(given.span, "the port's shape is given here");
    }
  }

  void report_behaviour(const parse::Behaviour& behaviour) {
    auto found = model_.find(behaviour.name);
    if (!found) return;
    const Symbol& symbol = model_.symbols[*found];
    const Scope own = own_value(behaviour, symbol);
    auto fits = [&](NodeId value, const Scope* scope) {
      Known known = shape_of(value, scope, 0);
      if (known.is_fixed() && !(known.shape == symbol.shape)) {
        diags_.report(tree_[value].span, shapes_differ, "a behaviour keeps its shape", describe(symbol.shape),
                      describe(known.shape));
      }
    };
    if (behaviour.value.valid()) return fits(behaviour.value, nullptr);
    fits(behaviour.start, nullptr);
    for (const parse::Handler& handler : behaviour.handlers)
      fits(handler.value, behaviour.own.valid() ? &own : nullptr);
  }

  // `is_start`: the left side is what the equations make of it.
  void report_sides(NodeId left, NodeId right, base::Span span, std::string_view what, bool is_start = false) {
    Known a = shape_of(left, nullptr, 0);
    Known b = shape_of(right, nullptr, 0);
    if (!a.is_fixed() || !b.is_fixed() || a.shape == b.shape) return;
    auto report = diags_.report(span, shapes_differ, what, describe(a.shape), describe(b.shape));
    if (is_start) {
      std::string parts;
      for (std::uint32_t i = 0; i < a.shape.rows && i < 8; ++i) parts += i == 0 ? "0" : ", 0";
      const std::string name = parse::print(tree_, names_, left);
      if (a.shape.is_vector())
        report.hint("`{}` is a vector of {}: write one value for each component, `({})`", name, a.shape.rows, parts);
      else
        report.hint("the equations make `{}` {}", name, describe(a.shape));
      return;
    }
    const NodeId larger = a.shape.is_scalar() ? right : left;
    const bool is_name = tree_[larger].kind == NodeKind::name || tree_[larger].kind == NodeKind::prime;
    if ((a.shape.is_scalar() && b.shape.is_vector()) || (b.shape.is_scalar() && a.shape.is_vector()))
      report.hint("take a component, `{0}[1]`, or the length, `norm({0})`; or make both sides vectors",
                  is_name ? parse::print(tree_, names_, larger) : "v");
    else
      report.hint("both sides need the same shape");
  }

  void report_parameter(const parse::Parameter& parameter) {
    const std::string& name = names_.text(parameter.name);
    auto number = [&](NodeId id, std::string_view what) -> std::optional<double> {
      auto value = numbers_.value(id);
      if (!value)
        diags_.report(tree_[id].span, not_constant, what).hint("write a number or constants");
      else if (!std::isfinite(*value))
        diags_.report(tree_[id].span, not_a_number_literal, name);
      return value;
    };
    auto value = number(parameter.value, fmt::format("the value of parameter `{}`", name));
    if (!parameter.low.valid()) return;
    auto low = number(parameter.low, "the range of a parameter");
    auto high = number(parameter.high, "the range of a parameter");
    if (!value || !low || !high) return;
    if (*low > *high)
      diags_.report(tree_[parameter.low].span.to(tree_[parameter.high].span), range_empty);
    else if (*value < *low || *value > *high)
      diags_.report(tree_[parameter.value].span, outside_range, *value, *low, *high);
  }

  void report_condition(const parse::Condition& condition) {
    const parse::Node& node = tree_[target_of(tree_, condition.variable).name];
    if (node.kind != NodeKind::name) {
      diags_.report(node.span, condition_target, "an expression")
          .hint("a start is given to a name, its derivative or a component: `p(0)`, `p'(0)`, `p[2](0)`");
      return;
    }
    auto found = model_.find(node.name);
    if (node.name == time_ || node.name == pi_ || (found && model_.symbols[*found].role != Role::variable)) {
      diags_.report(node.span, condition_target, fmt::format("`{}`", names_.text(node.name)))
          .hint("a start is given to what equations determine; this is declared or read from outside");
      return;
    }
    auto time = numbers_.value(condition.time);
    if (!time)
      diags_.report(tree_[condition.time].span, not_constant, "the time of a condition")
          .hint("write a number, or a name that is declared: `constant T = 2;`");
    else if (!std::isfinite(*time))
      diags_.report(tree_[condition.time].span, not_constant, "the time of a condition").hint("it is {}", *time);
    else
      report_time(condition, *time);
    if (!is_parameter(condition.value))
      report_sides(condition.variable, condition.value, condition.span, "the start does not fit", true);
  }

  void report_time(const parse::Condition& condition, double time) {
    const double start = model_.settings.starting_time;
    const std::string name = parse::print(tree_, names_, condition.variable);
    const base::Span span = tree_[condition.time].span;
    if (time < start) {
      diags_.report(span, condition_too_early, fmt::format("{}", time), fmt::format("{}", start))
          .hint("write `{}({})` for the start; `starting_time` under `simulation` says when that is", name, start);
    } else if (time > start && condition.guess) {
      diags_.report(span, guess_at_other_time, fmt::format("{}", start))
          .hint("write `{0}({1}) ~ ..` to guess its start, or `{0}({2}) = ..` to say what it must be then", name, start,
                time);
    }
  }

  Model& model_;
  const parse::Tree& tree_;
  base::Names& names_;
  diag::Sink& diags_;
  Numbers numbers_;
  TableReader tables_;
  base::NameId time_;
  base::NameId pi_;
  std::vector<SymbolId> active_;  // functions being expanded
  bool self_call_reported_ = false;
  bool time_argument_reported_ = false;
  long long work_ = 0;
  bool changed_ = false;
  bool parameters_are_scalars_ = false;
  bool reporting_ = false;
  bool is_too_long_told_ = false;
};

}  // namespace

void infer_shapes(Model& model, base::Names& names, table::Files& files, diag::Sink& diags) {
  Shapes(model, names, files, diags).run();
}

}  // namespace check
