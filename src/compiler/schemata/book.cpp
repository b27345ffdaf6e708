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
    for (const parse::Energy& energy : b_.tree.energies) stored = b_.sum(stored, energy.variable, span_);
    NodeId power{};
    for (const parse::Power& port : b_.tree.powers)
      if (!port.is_joined)
        power = b_.sum(power, b_.call("dot", port.in, port.given.valid() ? port.given : port.out, span_), span_);

    equate(named("book.stored"), stored);
    if (power.valid())
      integrate("book.supplied", power);
    else
      equate(named("book.supplied"), zero());
    const NodeId stored_rate = prime(named("book.stored"));
    integrate("book.dissipated", power.valid() ? both(parse::Op::minus, power, stored_rate) : b_.negative(stored_rate, span_));
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

  NodeId named(std::string_view text) { return b_.named(text, span_); }
  NodeId zero() { return b_.number(0, span_); }
  NodeId prime(NodeId of) { return b_.prime(of, span_); }
  NodeId both(parse::Op op, NodeId left, NodeId right) { return b_.binary(left, op, right, span_); }
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
