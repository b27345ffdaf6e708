// Expressions of the tree as vectors of scalar expressions.
//
//   enters: a node of the tree and what its bound names mean     leaves: a Value, its scalars in flat_.pool
//
// By recursion on the tree; functions are called by expanding them (functions.cpp). Work on vectors is component by component, scalars and
// the literal 0 spread.
#include "compiler/expr/budget.h"
#include "compiler/flatten/flattener.h"

namespace flatten {

ExprId Flattener::as_number(ExprId id) {
  if (!flat_.pool.is_truth(id)) return id;
  return flat_.pool.make(Op::select, id, flat_.pool.constant(1), flat_.pool.constant(0));
}

ExprId Flattener::as_truth(ExprId id) {
  if (flat_.pool.is_truth(id)) return id;
  return flat_.pool.make(Op::not_equal, id, flat_.pool.constant(0));
}

Value Flattener::component_wise(Op op, const Value& a, const Value& b) {
  return component_wise(a, b, [&](ExprId x, ExprId y) { return flat_.pool.make(op, x, y); });
}

Value Flattener::evaluate_in(const check::Scope* counted, NodeId id, const Scope* scope) {
  const check::Scope* outside = std::exchange(counted_, counted);
  Value value = evaluate(id, scope);
  counted_ = outside;
  return value;
}

Value Flattener::evaluate(NodeId id, const Scope* scope) {
  const parse::Node& node = tree_[id];
  expr::Pool& pool = flat_.pool;
  expr::Budget::work_on(node.span);
  auto child = [&](std::uint32_t i) { return evaluate(tree_.child(id, i), scope); };
  switch (node.kind) {
    case NodeKind::number:
      return {Shape::scalar(), {pool.constant(node.number)}, node.number == 0};
    case NodeKind::boolean:
      return scalar(pool.truth(node.number != 0));
    case NodeKind::name:
      if (auto bound = check::find_binding(scope, node.name)) return bound->what;
      if (node.name == time_) return scalar(pool.time());
      if (node.name == pi_) return number(3.14159265358979323846);
      return symbol_value(node.name);
    case NodeKind::member:
      return device_value(id);
    case NodeKind::prime:
      return derivative(child(0), node.count, node.span);
    case NodeKind::negate:
      return each(child(0), [&](ExprId x) { return pool.negate(x); });
    case NodeKind::tuple: {
      std::vector<Value> parts;
      for (std::uint32_t i = 0; i < node.child_count; ++i) parts.push_back(child(i));
      auto widest = std::find_if(parts.begin(), parts.end(), [](const Value& part) { return part.shape.is_vector(); });
      Shape part_shape = widest == parts.end() ? Shape::scalar() : widest->shape;
      Value result{
          part_shape.is_scalar() ? Shape::vector(node.child_count) : Shape::matrix(node.child_count, part_shape.rows),
          {},
          false};
      for (const Value& part : parts) {
        for (std::uint32_t i = 0; i < part_shape.size(); ++i) result.items.push_back(as_number(part.item(i)));
      }
      return result;
    }
    case NodeKind::sum: {
      Value result = child(0);
      for (std::uint32_t i = 1; i < node.child_count; ++i) {
        bool minus = tree_.children[node.first_child + i].op == parse::Op::minus;
        result = component_wise(minus ? Op::subtract : Op::add, result, child(i));
      }
      return result;
    }
    case NodeKind::product: {
      Value result = child(0);
      for (std::uint32_t i = 1; i < node.child_count; ++i) {
        bool divide = tree_.children[node.first_child + i].op == parse::Op::divide;
        result = divide ? component_wise(Op::divide, result, child(i)) : product(result, child(i), node.span);
      }
      return result;
    }
    case NodeKind::power:
      return component_wise(Op::power, child(0), child(1));
    case NodeKind::logical_not:
      return scalar(pool.make(Op::logical_not, truth_of(tree_.child(id, 0), scope)));
    case NodeKind::logical_and:
    case NodeKind::logical_or: {
      ExprId result = truth_of(tree_.child(id, 0), scope);
      Op op = node.kind == NodeKind::logical_and ? Op::logical_and : Op::logical_or;
      for (std::uint32_t i = 1; i < node.child_count; ++i)
        result = pool.make(op, result, truth_of(tree_.child(id, i), scope));
      return scalar(result);
    }
    case NodeKind::implies:
      return scalar(pool.make(Op::logical_or, pool.make(Op::logical_not, truth_of(tree_.child(id, 0), scope)),
                              truth_of(tree_.child(id, 1), scope)));
    case NodeKind::compare:
      if (is_of_no_jump(id)) return scalar(pool.truth(false));
      return compare(node.op, number_of(tree_.child(id, 0), scope), number_of(tree_.child(id, 1), scope));
    case NodeKind::in_set:
      if (is_of_no_jump(id)) return scalar(pool.truth(false));
      return in_set(id, scope);
    case NodeKind::in_range: {
      if (is_of_no_jump(id)) return scalar(pool.truth(false));
      ExprId x = number_of(tree_.child(id, 0), scope);
      return scalar(between(number_of(tree_.child(id, 1), scope), x, number_of(tree_.child(id, 2), scope)));
    }
    case NodeKind::conditional: {
      ExprId condition = truth_of(tree_.child(id, 0), scope);
      // Check has looked only at what is chosen.
      if (const auto chosen = numbers_.truth(tree_.child(id, 0), counted_)) return child(*chosen ? 1 : 2);
      return component_wise(child(1), child(2),
                            [&](ExprId x, ExprId y) { return pool.make(Op::select, condition, x, y); });
    }
    case NodeKind::sum_over: {
      auto low = static_cast<long long>(constant_in(tree_.child(id, 0), scope));
      auto high = static_cast<long long>(constant_in(tree_.child(id, 1), scope));
      Value result{Shape::scalar(), {pool.constant(0)}, true};
      for (long long i = low; i <= high; ++i) {
        Scope inner{scope, node.name, number(static_cast<double>(i))};
        const check::Scope counted{counted_, node.name, {.number = static_cast<double>(i)}};
        result = component_wise(Op::add, result, evaluate_in(&counted, tree_.child(id, 2), &inner));
      }
      return result;
    }
    case NodeKind::index:
      return component(id, scope);
    case NodeKind::call:
      return call(id, scope);
    case NodeKind::string:
    case NodeKind::argument:
    case NodeKind::always:
    case NodeKind::eventually:
    case NodeKind::until:
      break;
  }
  TACTUS_CHECK(!"an expression that check let through");
  return number(0);
}

Value Flattener::component(NodeId id, const Scope* scope) {
  const parse::Node& node = tree_[id];
  const auto i = static_cast<std::uint32_t>(constant_in(tree_.child(id, 1), scope)) - 1;
  const auto j = node.child_count == 3 ? static_cast<std::uint32_t>(constant_in(tree_.child(id, 2), scope)) - 1 : 0;
  const auto part = [&](const Value& base) {
    return node.child_count == 3 && !base.zero ? scalar(base.items[i * base.shape.columns + j]) : row(base, i);
  };
  const NodeId whole = tree_.child(id, 0);
  if (const Value* kept = kept_value(whole, scope)) return part(*kept);
  if (tree_[whole].kind == NodeKind::prime) {
    if (const Value* kept = kept_value(tree_.child(whole, 0), scope))
      return derivative(part(*kept), tree_[whole].count, tree_[whole].span);
  }
  return part(evaluate(whole, scope));
}

const Value* Flattener::kept_value(NodeId id, const Scope* scope) const {
  const parse::Node& node = tree_[id];
  if (node.kind != NodeKind::name) return nullptr;
  if (auto bound = check::find_binding(scope, node.name)) return &bound->what;
  const auto found = model_.find(node.name);
  if (reacting_ || !found || model_.symbols[*found].role == Role::constant) return nullptr;
  const Value& place = places_[found->value];
  return place.items.empty() ? nullptr : &place;
}

double Flattener::constant_in(NodeId id, const Scope* scope) {
  ExprId value = number_of(id, scope);
  TACTUS_CHECK(flat_.pool.is_constant(value));
  return flat_.pool[value].number;
}

Value Flattener::row(const Value& base, std::uint32_t i) {
  if (base.zero) return base;
  if (!base.shape.is_matrix()) return scalar(base.items[i]);
  Value result{Shape::vector(base.shape.columns), {}, false};
  for (std::uint32_t j = 0; j < base.shape.columns; ++j) result.items.push_back(base.items[i * base.shape.columns + j]);
  return result;
}

Value Flattener::symbol_value(base::NameId name) {
  auto found = model_.find(name);
  // A sequence and a plan are an automaton and an event; as a value, the event.
  const bool is_value = found && model_.symbols[*found].role != Role::automaton;
  if (!is_value && model_.is_event(name)) return event_value(name);
  TACTUS_CHECK(found.has_value());
  const check::Symbol& symbol = model_.symbols[*found];
  if (symbol.role == Role::constant) return constant_value(*found);
  if (reacting_ && symbol.role == Role::behaviour) return behaviour_value(*found);
  if (auto passive = model_.passive.find(name); reacting_ && passive != model_.passive.end()) {
    if (++passive_depth_ > 200) {
      passive_depth_ = 0;
      reacting_ = false;
      diags_.report(symbol.span, handler_cycle, "`" + names_.text(name) + "` reads itself");
      return places_[found->value];
    }
    Value value = evaluate(tree_.behaviours[passive->second].value, nullptr);
    --passive_depth_;
    return value;
  }
  const Value& place = places_[found->value];
  // Only constants are evaluated before all else has its place; whatever it is, it is no constant.
  if (place.items.empty()) return {symbol.shape, std::vector<ExprId>(symbol.shape.size(), flat_.pool.time()), false};
  return place;
}

Value Flattener::device_value(NodeId id) {
  const base::NameId name = names_.find(parse::print(tree_, names_, id));  // as its shape was found
  TACTUS_CHECK(name.valid());
  return symbol_value(name);
}

Value Flattener::derivative(Value value, std::uint32_t count, base::Span span) {
  for (ExprId& item : value.items) {
    // A bare name needs no rules: x'' is x with two more primes.
    const expr::Node node = flat_.pool[item];
    if (node.op == Op::variable) {
      item = flat_.pool.variable(node.index, node.order + count);
      continue;
    }
    for (std::uint32_t k = 0; k < count && !flat_.pool.is_constant(item, 0); ++k) {
      ExprId obstacle;
      auto derived = symbolic::differentiate_in_time(flat_.pool, as_number(item), &obstacle,
                                                     [&](std::uint32_t d) { return flat::rate_of_delay(flat_, d); });
      if (!derived) {
        if (flat_.pool[obstacle].op == Op::noise)
          report_noise_differentiated(span);
        else
          diags_.report(span, input_twice_differentiated, flat_.input_names[flat_.pool[obstacle].index])
              .hint("give the second derivative an equation of its own, or filter the input");
        derived = flat_.pool.constant(0);
      }
      item = *derived;
    }
  }
  value.zero = false;
  return value;
}

void Flattener::report_noise_differentiated(base::Span span) {
  diags_.report(span, noise_differentiated).hint("let it pass a filter, `T * y' + y = noise(1);`, and use y and y'");
}

Value Flattener::product(const Value& a, const Value& b, base::Span span) {
  if (!a.shape.is_matrix() || b.shape.is_scalar() || b.zero) return component_wise(Op::multiply, a, b);
  constexpr std::size_t small = 10'000;
  const bool is_small = a.items.size() * b.shape.columns <= small;
  if (is_small) return algebra_.multiply(a, b);
  const Value left = with_known_numbers(a), right = with_known_numbers(b);
  const std::size_t count = algebra_.count_products(left, right);
  if (expr::Budget::has_room(2 * count)) return algebra_.multiply(left, right);
  diags_
      .report(span, too_many_products, fmt::format("{} times {}", describe(a.shape), describe(b.shape)), count,
              expr::most_expressions)
      .hint("multiply by a vector instead, `A * (B * x)` for `(A * B) * x`; zeros that are known cost nothing");
  const Shape shape = b.shape.is_vector() ? Shape::vector(a.shape.rows) : Shape::matrix(a.shape.rows, b.shape.columns);
  return {shape, std::vector<ExprId>(shape.size(), flat_.pool.constant(0)), false};
}

Value Flattener::compare(parse::Op op, ExprId a, ExprId b) {
  switch (op) {
    case parse::Op::less:
      return scalar(flat_.pool.make(Op::less, a, b));
    case parse::Op::less_equal:
      return scalar(flat_.pool.make(Op::less_equal, a, b));
    case parse::Op::greater:
      return scalar(flat_.pool.make(Op::less, b, a));
    case parse::Op::greater_equal:
      return scalar(flat_.pool.make(Op::less_equal, b, a));
    case parse::Op::equal:
      return scalar(flat_.pool.make(Op::equal, a, b));
    default:
      return scalar(flat_.pool.make(Op::not_equal, a, b));
  }
}

ExprId Flattener::between(ExprId low, ExprId x, ExprId high) {
  return flat_.pool.make(Op::logical_and, flat_.pool.make(Op::less_equal, low, x),
                         flat_.pool.make(Op::less_equal, x, high));
}

Value Flattener::in_set(NodeId id, const Scope* scope) {
  Value point = evaluate(tree_.child(id, 0), scope);
  NodeId set = tree_.child(id, 1);
  bool is_box = tree_[set].kind == NodeKind::call && names_.text(tree_[tree_.child(set, 0)].name) == "box";
  Value corner = evaluate(is_box ? tree_.child(set, 1) : set, scope);
  Value size = is_box ? evaluate(tree_.child(set, 2), scope) : number(50);
  ExprId inside = flat_.pool.truth(true);
  for (std::uint32_t i = 0; i < point.items.size(); ++i) {
    ExprId low = corner.item(i);
    inside = flat_.pool.make(Op::logical_and, inside, between(low, point.items[i], flat_.pool.add(low, size.item(i))));
  }
  return scalar(inside);
}

}  // namespace flatten
