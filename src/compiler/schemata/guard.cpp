#include "compiler/schemata/guard.h"

#include "compiler/schemata/diagnostics.h"

namespace schemata {
namespace {

using parse::Op;

void write_guard(TreeBuilder& b, const parse::Guard& guard) {
  const parse::Power port = b.tree.powers[guard.index];
  const base::Span span = guard.span;
  const std::string prefix = b.names.text(port.name) + ".";
  const auto own = [&](const char* name) { return b.named(prefix + name, span); };
  const auto zero = [&] { return b.number(0, span); };
  const auto equate = [&](NodeId left, NodeId right) { b.tree.equations.push_back({span, left, right, {}, {}}); };

  // A name of its own: a comparison with what is divided by below would count as what keeps the quotient in its domain,
  // and not be held.
  const NodeId power = own("power");
  equate(power, b.call("dot", port.in, port.out, span));
  const NodeId is_empty = b.compare(own("energy"), Op::less_equal, zero(), span);
  const NodeId leaves = b.compare(power, Op::less, zero(), span);
  const NodeId acts = b.both(is_empty, leaves);
  // The part of y along u; where u is 0 no power passes, and `leaves` does not hold.
  const NodeId part = b.binary(power, Op::divide, b.call("dot", port.in, port.in, span), span);
  const NodeId without = b.binary(port.out, Op::minus, b.binary(part, Op::times, port.in, span), span);
  equate(own("given"), b.conditional(acts, without, port.out, span));
  equate(b.prime(own("energy"), span), b.conditional(acts, zero(), power, span));
  equate(b.prime(own("removed"), span), b.conditional(acts, b.negative(power, span), zero(), span));
  b.tree.conditions.push_back(
      {span, own("energy"), b.starting_time(span), guard.reserve.valid() ? guard.reserve : zero()});
  b.tree.conditions.push_back({span, own("removed"), b.starting_time(span), zero()});
}

}  // namespace

void write_guards(TreeBuilder& builder, diag::Sink& diags) {
  for (std::size_t i = 0; i < builder.tree.guards.size(); ++i) {
    const parse::Guard guard = builder.tree.guards[i];
    if (guard.reserve.valid() && builder.is_negative_number(guard.reserve)) {
      diags.report(builder.tree[guard.reserve].span, negative_amount, "the reserve of a guard")
          .hint("it is the energy that may leave before any has come in: `reserve 0.01 [J]`, or none");
    }
    write_guard(builder, guard);
  }
}

}  // namespace schemata
