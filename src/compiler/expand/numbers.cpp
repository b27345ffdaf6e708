#include "compiler/expand/numbers.h"

#include <cmath>

namespace expand {

using parse::NodeKind;

namespace {

bool compare(parse::Op op, double a, double b) {
  switch (op) {
    case parse::Op::less:
      return a < b;
    case parse::Op::less_equal:
      return a <= b;
    case parse::Op::greater:
      return a > b;
    case parse::Op::greater_equal:
      return a >= b;
    case parse::Op::equal:
      return a == b;
    default:
      return a != b;
  }
}

// Of conditions among numbers: 1 or 0.
std::optional<double> truth(Program& program, NodeId id, Scope& scope, const Local* locals, bool parameters,
                            int depth) {
  const parse::Node& node = program.tree[id];
  auto child = [&](std::uint32_t i) {
    return number(program, program.tree.child(id, i), scope, locals, parameters, depth + 1);
  };
  switch (node.kind) {
    case NodeKind::boolean:
      return node.number;
    case NodeKind::compare: {
      auto a = child(0);
      auto b = child(1);
      if (!a || !b) return std::nullopt;
      return compare(node.op, *a, *b);
    }
    case NodeKind::in_range: {
      auto x = child(0);
      auto low = child(1);
      auto high = child(2);
      if (!x || !low || !high) return std::nullopt;
      return *low <= *x && *x <= *high;
    }
    case NodeKind::logical_not:
      if (auto a = child(0)) return *a == 0;
      return std::nullopt;
    case NodeKind::logical_and:
    case NodeKind::logical_or: {
      const bool is_and = node.kind == NodeKind::logical_and;
      for (std::uint32_t i = 0; i < node.child_count; ++i) {
        auto a = child(i);
        if (!a) return std::nullopt;
        if ((*a != 0) != is_and) return !is_and;
      }
      return is_and;
    }
    default:
      return std::nullopt;
  }
}

std::optional<double> number_of_name(Program& program, NameId name, Scope& scope, const Local* locals, bool parameters,
                                     int depth) {
  if (name == program.pi) return 3.14159265358979323846;
  if (const Local* local = find_local(locals, name)) return local->number;
  Found found = find(scope, name);
  if (!found.entry || found.entry->is_family) return std::nullopt;
  Entry& entry = *found.entry;
  const bool is_number = entry.what == What::parameter ? parameters || entry.is_fixed
                                                       : entry.what == What::constant || entry.what == What::port;
  if (!is_number) return std::nullopt;
  if (entry.what != What::port) {
    auto given = program.overrides.find(program.names.find(found.scope->prefix + program.names.text(name)));
    if (given != program.overrides.end()) {
      entry.is_fixed = true;
      return given->second;
    }
  }
  // Once for each name: a chain of names that are each used twice would take exponential time.
  Entry::Number& known = entry.numbers[parameters];
  if (known.state != Entry::Number::not_yet) return known.value;
  known.state = Entry::Number::in_progress;
  std::optional<double> result;
  if (entry.argument.valid())
    result = number(program, entry.argument, *found.scope->parent, found.scope->counters(), parameters, depth + 1);
  else if (entry.value.valid())
    result = number(program, entry.value, *found.scope, nullptr, parameters, depth + 1);
  known = {Entry::Number::done, result};
  if (result) entry.is_fixed = true;
  return result;
}

}  // namespace

std::optional<double> number(Program& program, NodeId id, Scope& scope, const Local* locals, bool parameters,
                             int depth) {
  if (depth > 200) return std::nullopt;
  const parse::Node& node = program.tree[id];
  auto child = [&](std::uint32_t i) {
    return number(program, program.tree.child(id, i), scope, locals, parameters, depth + 1);
  };
  switch (node.kind) {
    case NodeKind::number:
      return node.number;
    case NodeKind::negate:
      if (auto a = child(0)) return -*a;
      return std::nullopt;
    case NodeKind::name:
      return number_of_name(program, node.name, scope, locals, parameters, depth);
    case NodeKind::index: {  // of a constant that is a tuple
      const parse::Node& base = program.tree[program.tree.child(id, 0)];
      if (base.kind != NodeKind::name || node.child_count != 2) return std::nullopt;
      Found found = find(scope, base.name);
      auto at = child(1);
      if (!found.entry || found.entry->what != What::constant || !at) return std::nullopt;
      const NodeId tuple = found.entry->value;
      if (program.tree[tuple].kind != NodeKind::tuple || *at != std::floor(*at) || *at < 1 ||
          *at > program.tree[tuple].child_count)
        return std::nullopt;
      return number(program, program.tree.child(tuple, static_cast<std::uint32_t>(*at) - 1), *found.scope, nullptr,
                    parameters, depth + 1);
    }
    case NodeKind::sum:
    case NodeKind::product: {
      std::optional<double> result;
      for (std::uint32_t i = 0; i < node.child_count; ++i) {
        auto a = child(i);
        if (!a) return std::nullopt;
        const parse::Op op = program.tree.children[program.tree[id].first_child + i].op;
        if (i == 0)
          result = *a;
        else if (op == parse::Op::plus)
          *result += *a;
        else if (op == parse::Op::minus)
          *result -= *a;
        else if (op == parse::Op::times)
          *result *= *a;
        else
          *result /= *a;
      }
      return result;
    }
    case NodeKind::power: {
      auto a = child(0);
      auto b = child(1);
      if (!a || !b) return std::nullopt;
      return std::pow(*a, *b);
    }
    default:
      return truth(program, id, scope, locals, parameters, depth);
  }
}

std::optional<long long> whole(Program& program, NodeId id, Scope& scope, const Local* locals) {
  auto value = number(program, id, scope, locals);
  if (!value || *value != std::floor(*value) || std::abs(*value) > 1e9) return std::nullopt;
  return static_cast<long long>(*value);
}

std::optional<std::pair<long long, long long>> range_of(Program& program, NodeId low, NodeId high, Scope& scope,
                                                        const Local* locals) {
  const base::Span span = program.tree[low].span.to(program.tree[high].span);
  auto from = whole(program, low, scope, locals);
  auto to = whole(program, high, scope, locals);
  if (!from || !to) {
    program.diags.report(span, range_not_constant, "the ends of a range")
        .hint("a range is made of numbers, constants and parameters: `1..6`");
    return std::nullopt;
  }
  if (*to - *from >= longest_range) {
    program.report_too_large(span);
    return std::nullopt;
  }
  return std::pair(*from, *to);
}

}  // namespace expand
