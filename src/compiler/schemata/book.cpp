#include "compiler/schemata/book.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace schemata {
namespace {

// The name of what a sampled port has let in.
std::string work_of(const TreeBuilder& builder, const parse::Power& port) {
  return builder.names.text(port.name) + ".work";
}

// w' = in * out of every sampled port, w = 0 at the start.
void write_works(TreeBuilder& b) {
  for (const parse::Power& port : b.tree.powers) {
    if (!port.is_sampled) continue;
    const auto named = [&](std::string_view text) { return b.name(b.names.intern(text), port.span); };
    const parse::Child work{named(work_of(b, port))};
    const parse::Child factors[] = {{named("dot")}, {port.in}, {port.given.valid() ? port.given : port.out}};
    parse::Equation equation{port.span, b.add({.kind = NodeKind::prime, .span = port.span, .count = 1}, {&work, 1}),
                             b.add({.kind = NodeKind::call, .span = port.span}, factors)};
    equation.is_of_book = true;
    b.tree.equations.push_back(equation);
    b.tree.conditions.push_back(
        {port.span, named(work_of(b, port)), b.starting_time(port.span), b.number(0, port.span)});
  }
}

class Book {
  using Terms = std::vector<parse::Child>;

 public:
  explicit Book(TreeBuilder& builder) : b_(builder), span_(builder.tree.energies.front().span) {}

  void write() {
    name_members();
    name_entries_of_checks();
    if (b_.tree.rates.empty())
      write_whole();
    else
      write_parts();
    const char* const start = "book.start";
    equate(prime(named(start)), zero());
    b_.tree.conditions.push_back({span_, named(start), b_.starting_time(span_), named("book.stored")});
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

  // A check may leave `book.` out, where nothing else has that name.
  void name_entries_of_checks() {
    for (const char* entry : {"stored", "supplied", "dissipated", "booked", "held", "invented"}) {
      const base::NameId name = b_.names.find(entry);
      if (!name.valid() || is_declared(name)) continue;
      std::vector<parse::Node*> found;
      bool is_elsewhere = false;
      for (parse::Node& node : b_.tree.nodes) {
        if (node.kind != NodeKind::name || node.name != name) continue;
        is_elsewhere = is_elsewhere || !std::ranges::any_of(b_.tree.properties, [&](const parse::Property& property) {
                         return node.span.file == property.span.file && node.span.begin >= property.span.begin &&
                                node.span.end <= property.span.end;
                       });
        found.push_back(&node);
      }
      if (is_elsewhere || (b_.tree.rates.empty() && std::string_view(entry) == "held")) continue;
      for (parse::Node* node : found) node->name = b_.names.intern(std::string("book.") + entry);
    }
  }

  bool is_declared(base::NameId name) const {
    const auto has = [&](const auto& items) {
      return std::ranges::any_of(items, [&](const auto& item) { return item.name == name; });
    };
    const parse::Tree& tree = b_.tree;
    return has(tree.parameters) || has(tree.constants) || has(tree.functions) || has(tree.events) ||
           has(tree.behaviours) || has(tree.automata) || has(tree.transitions) || has(tree.sequences) ||
           has(tree.plans) || has(tree.externals);
  }

  void write_whole() {
    Terms stored, power;
    for (const parse::Energy& energy : b_.tree.energies) stored.push_back({energy.variable, parse::Op::plus});
    for (const parse::Power& port : b_.tree.powers)
      if (!port.is_joined) power.push_back({power_of(port), parse::Op::plus});
    write_accounts("book.", stored, power, power);
  }

  // One book for each subsystem that stores, and the sums of all.
  void write_parts() {
    std::vector<Terms> stored(b_.tree.rates.size() + 1), supplied = stored, power = stored;
    for (const parse::Energy& energy : b_.tree.energies)
      stored[energy.rate].push_back({energy.variable, parse::Op::plus});
    for (const parse::Power& port : b_.tree.powers) {
      if (port.is_sampled) power[port.rate].push_back({prime(named(work_of(b_, port))), parse::Op::plus});
      if (port.is_joined) continue;
      power[port.rate].push_back({power_of(port), parse::Op::plus});
      supplied[port.rate].push_back({power_of(port), parse::Op::plus});
    }
    struct Sum {
      const char* entry;
      bool is_of_ledger;
      Terms terms = {};
    } sums[] = {{"stored", false}, {"supplied", false}, {"dissipated", false},
                {"booked", true},  {"leaps", true},     {"escapes", true}};
    for (std::size_t rate = 0; rate < stored.size(); ++rate) {
      if (stored[rate].empty() && power[rate].empty()) continue;
      const std::string book = rate == 0 ? "book.rest." : b_.tree.rates[rate - 1].path + ".book.";
      write_accounts(book, stored[rate], supplied[rate], power[rate]);
      for (Sum& sum : sums) {
        if (!sum.is_of_ledger || !stored[rate].empty()) sum.terms.push_back({named(book + sum.entry), parse::Op::plus});
      }
    }
    sums[3].terms.push_back({named("book.held"), parse::Op::minus});
    for (const Sum& sum : sums) equate(named(std::string("book.") + sum.entry), total(sum.terms));
    // What passive joins keep: what both ends have let in, with the sign changed.
    Terms held;
    for (const parse::Join& join : b_.tree.joins) {
      if (!b_.tree.powers[join.ports[0]].is_sampled || join.manner != parse::JoinManner::passive) continue;
      for (const std::uint32_t port : join.ports)
        held.push_back({named(work_of(b_, b_.tree.powers[port])), parse::Op::plus});
    }
    equate(named("book.held"), negative(total(held)));
  }

  // Of what stores: with a ledger. `power` is what comes in through sampled ports, too.
  void write_accounts(const std::string& book, const Terms& stored, const Terms& supplied, const Terms& power) {
    equate(named(book + "stored"), total(stored));
    if (supplied.empty())
      equate(named(book + "supplied"), zero());
    else
      integrate(book + "supplied", total(supplied));
    Terms dissipated = power;
    const NodeId stored_rate = prime(named(book + "stored"));
    if (dissipated.empty())
      dissipated.push_back({negative(stored_rate), parse::Op::plus});
    else
      dissipated.push_back({stored_rate, parse::Op::minus});
    integrate(book + "dissipated", total(dissipated));
    if (stored.empty()) return;
    for (const char* name : {"booked", "leaps", "escapes"}) {
      parse::Behaviour behaviour;
      behaviour.span = behaviour.name_span = span_;
      behaviour.name = b_.names.intern(book + name);
      behaviour.start = zero();
      b_.tree.behaviours.push_back(std::move(behaviour));
    }
  }

  NodeId named(std::string_view text) { return b_.named(text, span_); }
  NodeId zero() { return b_.number(0, span_); }
  NodeId prime(NodeId of) { return b_.prime(of, span_); }
  NodeId both(parse::Op op, NodeId left, NodeId right) { return b_.binary(left, op, right, span_); }
  NodeId negative(NodeId of) { return b_.negative(of, span_); }
  // One node, however many there are.
  NodeId total(const Terms& terms) {
    if (terms.empty()) return zero();
    if (terms.size() == 1 && terms[0].op == parse::Op::plus) return terms[0].node;
    return b_.add({.kind = NodeKind::sum, .span = span_}, terms);
  }
  // What enters a port, in the end: behind a guard what it gives.
  NodeId power_of(const parse::Power& port) {
    return b_.call("dot", port.in, port.given.valid() ? port.given : port.out, span_);
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
  write_works(builder);
  if (!builder.tree.energies.empty()) Book(builder).write();
}

}  // namespace schemata
