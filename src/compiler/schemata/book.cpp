#include "compiler/schemata/book.h"

#include <string_view>

namespace schemata {
namespace {

class Book {
 public:
  explicit Book(TreeBuilder& builder) : b_(builder), span_(builder.tree.energies.front().span) {}

  void write() {
    name_members();
    NodeId stored{};
    for (const parse::Energy& energy : b_.tree.energies) stored = sum(stored, energy.variable);
    NodeId power{};
    for (const parse::Power& port : b_.tree.powers)
      if (!port.is_joined) power = sum(power, dot(port.in, port.out));

    equate(named("book.stored"), stored);
    if (power.valid())
      integrate("book.supplied", power);
    else
      equate(named("book.supplied"), zero());
    const NodeId stored_rate = prime(named("book.stored"));
    integrate("book.dissipated", power.valid() ? both(parse::Op::minus, power, stored_rate) : negative(stored_rate));
    const char* const start = "book.start";
    equate(prime(named(start)), zero());
    b_.tree.conditions.push_back({span_, named(start), b_.starting_time(span_), named("book.stored")});

    for (const char* name : {"book.booked", "book.leaps", "book.escapes"}) {
      parse::Behaviour behaviour;
      behaviour.span = behaviour.name_span = span_;
      behaviour.name = b_.names.intern(name);
      behaviour.start = zero();
      b_.tree.behaviours.push_back(std::move(behaviour));
    }
    NodeId invented = both(parse::Op::minus, named("book.stored"), named(start));
    invented = both(parse::Op::minus, invented, named("book.supplied"));
    invented = both(parse::Op::plus, invented, named("book.dissipated"));
    equate(named("book.invented"), both(parse::Op::minus, invented, named("book.booked")));
  }

 private:
  // expand leaves `book.stored` as it is: `book` is no instance.
  void name_members() {
    const base::NameId book = b_.names.intern("book");
    for (std::size_t i = 0; i < b_.tree.nodes.size(); ++i) {
      parse::Node& node = b_.tree.nodes[i];
      if (node.kind != NodeKind::member) continue;
      const parse::Node& base = b_.tree[b_.tree.child(NodeId(i), 0)];
      if (base.kind != NodeKind::name || base.name != book) continue;
      node.name = b_.names.intern("book." + b_.names.text(node.name));
      node.kind = NodeKind::name;
      node.child_count = 0;
    }
  }

  NodeId named(std::string_view text) { return b_.name(b_.names.intern(text), span_); }
  NodeId zero() { return b_.number(0, span_); }
  NodeId prime(NodeId of) {
    const parse::Child child{of};
    return b_.add({.kind = NodeKind::prime, .span = span_, .count = 1}, {&child, 1});
  }
  NodeId negative(NodeId of) {
    const parse::Child child{of};
    return b_.add({.kind = NodeKind::negate, .span = span_}, {&child, 1});
  }
  NodeId both(parse::Op op, NodeId left, NodeId right) {
    const parse::Child children[] = {{left}, {right, op}};
    return b_.add({.kind = NodeKind::sum, .span = span_}, children);
  }
  NodeId sum(NodeId left, NodeId right) { return left.valid() ? both(parse::Op::plus, left, right) : right; }
  NodeId dot(NodeId left, NodeId right) {
    const parse::Child children[] = {{named("dot")}, {left}, {right}};
    return b_.add({.kind = NodeKind::call, .span = span_}, children);
  }
  void equate(NodeId left, NodeId right) {
    parse::Equation equation{span_, left, right};
    equation.is_of_book = true;
    b_.tree.equations.push_back(equation);
  }
  void integrate(std::string_view name, NodeId rate) {
    equate(prime(named(name)), rate);
    b_.tree.conditions.push_back({span_, named(name), b_.starting_time(span_), zero()});
  }

  TreeBuilder& b_;
  base::Span span_;
};

}  // namespace

void write_book(TreeBuilder& builder) {
  if (!builder.tree.energies.empty()) Book(builder).write();
}

}  // namespace schemata
