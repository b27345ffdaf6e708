#include "compiler/check/numbers.h"

#include <cmath>

namespace check {

using parse::NodeId;
using parse::NodeKind;

std::optional<double> Numbers::value(NodeId id, const Scope* scope, int depth) const {
  const parse::Node& node = tree_[id];
  if (depth > 500) return std::nullopt;
  auto child = [&](std::uint32_t i) { return value(tree_.child(id, i), scope, depth + 1); };
  switch (node.kind) {
    case NodeKind::number:
      return node.number;
    case NodeKind::negate:
      if (auto a = child(0)) return -*a;
      return std::nullopt;
    case NodeKind::name: {
      if (node.name == pi_) return 3.14159265358979323846;
      if (auto bound = find_binding(scope, node.name)) {
        if (bound->what.number) return bound->what.number;
        if (!bound->what.node.valid()) return std::nullopt;
        return value(bound->what.node, bound->what.scope, depth + 1);
      }
      auto found = model_.find(node.name);
      if (!found || model_.symbols[*found].role != Role::constant) return std::nullopt;
      if (auto given = model_.overrides.find(node.name); given != model_.overrides.end()) return given->second;
      return value(tree_.constants[model_.symbols[*found].declaration].value, nullptr, depth + 1);
    }
    case NodeKind::index: {  // of a constant that is a tuple
      const parse::Node& base = tree_[tree_.child(id, 0)];
      if (base.kind != NodeKind::name || node.child_count != 2 || find_binding(scope, base.name)) return std::nullopt;
      auto found = model_.find(base.name);
      auto index = child(1);
      if (!found || model_.symbols[*found].role != Role::constant || !index) return std::nullopt;
      const NodeId tuple = tree_.constants[model_.symbols[*found].declaration].value;
      const bool is_there = tree_[tuple].kind == NodeKind::tuple && *index == std::floor(*index) && *index >= 1 &&
                            *index <= tree_[tuple].child_count;
      if (!is_there) return std::nullopt;
      return value(tree_.child(tuple, static_cast<std::uint32_t>(*index) - 1), nullptr, depth + 1);
    }
    case NodeKind::sum:
    case NodeKind::product: {
      double result = 0;
      bool first = true;
      for (const parse::Child& part : tree_.children_of(id)) {
        auto a = value(part.node, scope, depth + 1);
        if (!a) return std::nullopt;
        if (first)
          result = *a;
        else if (part.op == parse::Op::plus)
          result += *a;
        else if (part.op == parse::Op::minus)
          result -= *a;
        else if (part.op == parse::Op::times)
          result *= *a;
        else
          result /= *a;
        first = false;
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
      return std::nullopt;
  }
}

std::optional<bool> Numbers::truth(NodeId id, const Scope* scope, int depth) const {
  const parse::Node& node = tree_[id];
  if (depth > 500) return std::nullopt;
  const auto number = [&](std::uint32_t i) { return value(tree_.child(id, i), scope, depth + 1); };
  switch (node.kind) {
    case NodeKind::boolean:
      return node.number != 0;
    case NodeKind::compare: {
      const auto a = number(0), b = number(1);
      if (!a || !b) return std::nullopt;
      // What hangs on the last digit is left to flatten, whose powers are its own.
      const bool is_whole = *a == std::floor(*a) && *b == std::floor(*b);
      if (!is_whole && std::abs(*a - *b) <= 1e-12 * (std::abs(*a) + std::abs(*b))) return std::nullopt;
      switch (node.op) {
        case parse::Op::less:
          return *a < *b;
        case parse::Op::less_equal:
          return *a <= *b;
        case parse::Op::greater:
          return *a > *b;
        case parse::Op::greater_equal:
          return *a >= *b;
        case parse::Op::equal:
          return *a == *b;
        case parse::Op::not_equal:
          return *a != *b;
        default:
          return std::nullopt;
      }
    }
    case NodeKind::logical_not:
      if (const auto a = truth(tree_.child(id, 0), scope, depth + 1)) return !*a;
      return std::nullopt;
    case NodeKind::logical_and:
    case NodeKind::logical_or: {
      const bool is_and = node.kind == NodeKind::logical_and;
      for (std::uint32_t i = 0; i < node.child_count; ++i) {
        const auto a = truth(tree_.child(id, i), scope, depth + 1);
        if (!a) return std::nullopt;
        if (*a != is_and) return !is_and;
      }
      return is_and;
    }
    default:
      return std::nullopt;
  }
}

std::optional<long long> Numbers::whole(NodeId id, const Scope* scope) const {
  auto number = value(id, scope);
  if (!number || *number != std::floor(*number) || std::abs(*number) > 1e9) return std::nullopt;
  return static_cast<long long>(*number);
}

}  // namespace check
