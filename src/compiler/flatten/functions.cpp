// Calls: functions of the program by expansion with their arguments bound, built-in ones by their meaning in scalars.
//
//   enters: a call and its arguments' Values     leaves: a Value
//   integration(e)   ->   a new variable i with i' = e, i = 0 at the start
#include "compiler/flatten/flattener.h"

namespace flatten {

Value Flattener::call(NodeId id, const Scope* scope) {
  const parse::Node& node = tree_[id];
  if (auto table = model_.table_calls.find(id); table != model_.table_calls.end())
    return table_value(id, table->second, scope);
  base::NameId name = tree_[tree_.child(id, 0)].name;
  if (auto found = model_.find(name); found && model_.symbols[*found].role == Role::function) {
    const parse::Function& function = tree_.functions[model_.symbols[*found].declaration];
    std::vector<Scope> bindings(function.arguments.size());
    std::vector<check::Scope> counted(bindings.size());
    const Scope* inner = nullptr;
    const check::Scope* inner_counted = nullptr;
    for (std::uint32_t i = 0; i < bindings.size(); ++i) {
      const NodeId argument = tree_.child(id, i + 1);
      bindings[i] = {inner, function.arguments[i], evaluate(argument, scope)};
      counted[i] = {inner_counted, function.arguments[i], {.node = argument, .scope = counted_}};
      inner = &bindings[i];
      inner_counted = &counted[i];
    }
    return evaluate_in(inner_counted, function.value, inner);
  }
  const check::BuiltinRow* builtin = check::find_builtin(names_.text(name));
  TACTUS_CHECK(builtin != nullptr);
  std::vector<Value> arguments;
  for (std::uint32_t i = 1; i < node.child_count; ++i) arguments.push_back(evaluate(tree_.child(id, i), scope));
  return apply(*builtin, arguments, node.span);
}

Value Flattener::apply(const check::BuiltinRow& builtin, std::vector<Value>& arguments, base::Span span) {
  expr::Pool& pool = flat_.pool;
  Value& first = arguments[0];
  auto each_by = [&](Op op) { return each(first, [&](ExprId x) { return pool.make(op, x); }); };
  switch (builtin.id) {
    case Builtin::sin:
      return each_by(Op::sin);
    case Builtin::cos:
      return each_by(Op::cos);
    case Builtin::tan:
      return each_by(Op::tan);
    case Builtin::asin:
      return each_by(Op::asin);
    case Builtin::acos:
      return each_by(Op::acos);
    case Builtin::atan:
      return each_by(Op::atan);
    case Builtin::square_root:
      return each_by(Op::square_root);
    case Builtin::exp:
      return each_by(Op::exp);
    case Builtin::log:
      return each_by(Op::log);
    case Builtin::absolute:
      return each_by(Op::absolute);
    case Builtin::floor:
      return each_by(Op::floor);
    case Builtin::ceil:
      return each_by(Op::ceil);
    case Builtin::sign:
      return each(first, [&](ExprId x) { return pool.sign(x); });
    case Builtin::atan2:
      return component_wise(Op::atan2, first, arguments[1]);
    case Builtin::power:
      return component_wise(Op::power, first, arguments[1]);
    case Builtin::minimum:
    case Builtin::maximum: {
      Value result = first;
      bool smallest = builtin.id == Builtin::minimum;
      for (std::size_t i = 1; i < arguments.size(); ++i) {
        result = component_wise(result, arguments[i],
                                [&](ExprId x, ExprId y) { return smallest ? pool.minimum(x, y) : pool.maximum(x, y); });
      }
      return result;
    }
    case Builtin::clamp: {
      Value above = component_wise(first, arguments[1], [&](ExprId x, ExprId y) { return pool.maximum(x, y); });
      return component_wise(above, arguments[2], [&](ExprId x, ExprId y) { return pool.minimum(x, y); });
    }
    case Builtin::norm:
      return scalar(algebra_.norm(first));
    case Builtin::dot:
      return scalar(algebra_.dot(first, arguments[1]));
    case Builtin::cross:
      return algebra_.cross(first, arguments[1]);
    case Builtin::direction:
      return algebra_.direction(first);
    case Builtin::rotate:
      return arguments.size() == 2 ? algebra_.rotate(first, arguments[1].items[0])
                                   : algebra_.rotate(first, arguments[1], arguments[2].items[0]);
    case Builtin::proj:
      return algebra_.project(first, arguments[1]);
    case Builtin::distance:
      return scalar(algebra_.norm(component_wise(Op::subtract, first, arguments[1])));
    case Builtin::transpose:
      return algebra_.transpose(first);
    case Builtin::inverse:
      return algebra_.inverse(first);
    case Builtin::det:
      return scalar(algebra_.determinant(first));
    case Builtin::skew:
      return algebra_.skew(first);
    case Builtin::diag: {
      if (arguments.size() == 1) return algebra_.diagonal(first.items);
      std::vector<ExprId> items;
      for (const Value& argument : arguments) items.push_back(argument.items[0]);
      return algebra_.diagonal(items);
    }
    case Builtin::identity: {
      auto n = static_cast<std::size_t>(pool[first.items[0]].number);
      return algebra_.diagonal(std::vector<ExprId>(n, pool.constant(1)));
    }
    case Builtin::index:
      return row(first, static_cast<std::uint32_t>(pool[arguments[1].items[0]].number) - 1);
    case Builtin::integration:
      return integration(first, span);
    case Builtin::diff: {
      ExprId by = arguments[1].items[0];
      if (!expr::is_leaf(pool[by].op) || pool.is_constant(by)) {
        diags_.report(span, diff_by_expression).hint("write `diff(e, x)` with a variable, parameter or `t` for x");
        return first;
      }
      return each(first, [&](ExprId x) {
        const ExprId whole = follow_definitions(x, by, span);
        if (pool[whole].op == Op::variable && pool[whole].order == 0 && whole != by &&
            !definitions_.contains(pool[whole].index))
          bare_in_diff_.push_back({whole, by, span});
        auto derived = symbolic::differentiate(pool, whole, by);
        if (!derived) report_noise_differentiated(span);
        return derived.value_or(pool.constant(0));
      });
    }
    case Builtin::smooth: {
      Value result{first.shape, {}, false};
      for (ExprId item : first.items) result.items.push_back(smooth_(item));
      return result;
    }
    case Builtin::delay:
      return delay(first, as_number(arguments[1].items[0]), span);
    case Builtin::noise:
      return noise(arguments, span);
    case Builtin::next:
      return after_jump(std::move(first));
    case Builtin::at:
    case Builtin::since:
    case Builtin::box:
    case Builtin::table:
      break;
  }
  TACTUS_CHECK(!"a function that check let through");
  return number(0);
}

Value Flattener::integration(const Value& integrand, base::Span span) {
  // Not a channel, and a name that nobody can write.
  const std::string name = fmt::format("integration {}", ++integrations_);
  const flat::VariableId first(flat_.variables.size());
  for (std::uint32_t i = 0; i < integrand.shape.size(); ++i)
    flat_.variables.push({component_name(name, integrand.shape, i), span});
  Value result{integrand.shape, {}, false};
  for (std::uint32_t i = 0; i < integrand.shape.size(); ++i) {
    flat_.equations.push({flat_.pool.variable(first.value + i, 1), as_number(integrand.items[i]), span,
                          integrand.shape.is_scalar() ? 0 : static_cast<int>(i) + 1});
    flat_.conditions.push_back({flat::VariableId(first.value + i), 0, flat_.pool.constant(0), false, true, span});
    result.items.push_back(flat_.pool.variable(first.value + i, 0));
  }
  return result;
}

}  // namespace flatten
