// New nodes of a tree that grows.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "compiler/parse/tree.h"

namespace schemata {

using parse::NodeId;
using parse::NodeKind;

class TreeBuilder {
 public:
  // Both outlive this.
  TreeBuilder(parse::Tree& grown, base::Names& all_names) : tree(grown), names(all_names) {}

  NodeId add(parse::Node node, std::span<const parse::Child> children = {}) {
    // `children` may be a part of what grows here.
    const std::vector<parse::Child> copy(children.begin(), children.end());
    node.first_child = static_cast<std::uint32_t>(tree.children.size());
    node.child_count = static_cast<std::uint32_t>(copy.size());
    tree.children.insert(tree.children.end(), copy.begin(), copy.end());
    tree.nodes.push_back(node);
    return NodeId(tree.nodes.size() - 1);
  }

  NodeId name(base::NameId name, base::Span span) { return add({.kind = NodeKind::name, .span = span, .name = name}); }

  NodeId number(double value, base::Span span) {
    return add({.kind = NodeKind::number, .span = span, .number = value});
  }

  // `-1`, as written.
  bool is_negative_number(NodeId node) const {
    return tree[node].kind == NodeKind::negate && tree[tree.child(node, 0)].kind == NodeKind::number &&
           tree[tree.child(node, 0)].number > 0;
  }

  NodeId negation(NodeId operand) {
    const parse::Child child{operand};
    return add({.kind = NodeKind::logical_not, .span = tree[operand].span}, {&child, 1});
  }

  // Either may be not valid, which always holds.
  NodeId both(NodeId a, NodeId b) {
    if (!a.valid() || !b.valid()) return a.valid() ? a : b;
    const parse::Child children[] = {{a}, {b}};
    return add({.kind = NodeKind::logical_and, .span = tree[b].span}, children);
  }

  // Arithmetic, all at one place of the text.
  NodeId named(std::string_view text, base::Span span) { return name(names.intern(text), span); }
  NodeId prime(NodeId of, base::Span span) {
    const parse::Child child{of};
    return add({.kind = NodeKind::prime, .span = span, .count = 1}, {&child, 1});
  }
  NodeId negative(NodeId of, base::Span span) {
    const parse::Child child{of};
    return add({.kind = NodeKind::negate, .span = span}, {&child, 1});
  }
  // a + b, a - b, a * b, a / b
  NodeId binary(NodeId a, parse::Op op, NodeId b, base::Span span) {
    const bool is_sum = op == parse::Op::plus || op == parse::Op::minus;
    const parse::Child children[] = {{a, is_sum ? parse::Op::plus : parse::Op::times}, {b, op}};
    return add({.kind = is_sum ? NodeKind::sum : NodeKind::product, .span = span}, children);
  }
  // a + b, of which a may be not valid
  NodeId sum(NodeId a, NodeId b, base::Span span) { return a.valid() ? binary(a, parse::Op::plus, b, span) : b; }
  NodeId call(std::string_view function, NodeId a, NodeId b, base::Span span) {
    const parse::Child children[] = {{named(function, span)}, {a}, {b}};
    return add({.kind = NodeKind::call, .span = span}, children);
  }
  NodeId compare(NodeId a, parse::Op op, NodeId b, base::Span span) {
    const parse::Child children[] = {{a}, {b}};
    return add({.kind = NodeKind::compare, .op = op, .span = span}, children);
  }
  NodeId conditional(NodeId condition, NodeId then, NodeId otherwise, base::Span span) {
    const parse::Child children[] = {{condition}, {then}, {otherwise}};
    return add({.kind = NodeKind::conditional, .span = span}, children);
  }

  // When a run begins, as its settings say.
  NodeId starting_time(base::Span span);
  // A state that only jumps change: x' = 0, x = 0 at the start.
  NodeId memory(base::NameId variable, base::Span span);
  // next(variable) = value
  parse::Equation set(base::NameId variable, NodeId value);

  parse::Tree& tree;
  base::Names& names;
};

}  // namespace schemata
