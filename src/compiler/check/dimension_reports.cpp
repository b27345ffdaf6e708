#include "compiler/check/dimension_reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/check/diagnostics.h"
#include "compiler/parse/parse.h"

namespace check {

using parse::Dimension;
using parse::NodeId;
using parse::NodeKind;

namespace {

// What gives this component (from 1) of a vector, as far as it is written apart.
NodeId part_of(const parse::Tree& tree, NodeId id, std::uint32_t component) {
  const bool is_flat_tuple = component > 0 && id.valid() && tree[id].kind == NodeKind::tuple &&
                             component <= tree[id].child_count && tree[tree.child(id, 0)].kind != NodeKind::tuple;
  return is_flat_tuple ? tree.child(id, component - 1) : id;
}

std::string complaint(const Origin& origin) {
  switch (origin.kind) {
    case Origin::equation:
      return "the sides of this equation differ";
    case Origin::definition:
      return fmt::format("the value of `{}` does not fit", origin.what);
    case Origin::range:
      return "the range does not fit";
    case Origin::start:
      return "the start does not fit";
    case Origin::sum:
      return "these cannot be added";
    case Origin::comparison:
      return "these cannot be compared";
    case Origin::branches:
      return "the branches of `if` differ";
    case Origin::arguments:
      return fmt::format("the arguments of `{}` differ", origin.what);
    case Origin::parts:
      return fmt::format("`{}` needs components of one dimension", origin.what);
    case Origin::drawing:
      return fmt::format("the lengths of this `{}` differ", origin.what);
    case Origin::given:
      return fmt::format("what the parameter `{}` is given does not fit its unit", origin.what);
    case Origin::inside:
    case Origin::pure:
      break;
  }
  return fmt::format("{} adds what cannot be added", origin.what);
}

base::Span spanning(base::Span a, base::Span b) {
  if (a.file != b.file) return b;
  return {a.file, std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

std::string purpose(std::string_view what) {
  return what.find(' ') == what.npos ? fmt::format("an argument of `{}`", what) : std::string(what);
}

Dimension inverted(const Dimension& dimension) {
  Dimension result;
  result.multiply(dimension, {-1, 1});
  return result;
}

class Contradictions {
 public:
  Contradictions(const DimensionSystem& system, ToldPlaces& told, diag::Sink& diags)
      : system_(system), tree_(system.tree), names_(system.names), told_(told), diags_(diags) {}

  void report(std::uint32_t c) {
    const Constraint& constraint = system_.constraints[c];
    const Origin& origin = constraint.origin;
    const base::Span span = place(origin);
    if (!told_.is_new(span)) return;
    const std::optional<Dimension> left = system_.solver.value(constraint.left);
    const std::optional<Dimension> right = system_.solver.value(constraint.right);
    std::string where = complaint(origin);
    if (origin.component > 0) where += fmt::format(", component {}", origin.component);
    auto reported = [&] {
      if (origin.kind == Origin::pure) {
        const std::string what = origin.what.find(' ') == origin.what.npos
                                     ? fmt::format("the argument of `{}`", origin.what)
                                     : std::string(origin.what);
        return diags_.report(span, not_pure, what, quote(tree_, names_, origin.left),
                             describe_dimension(system_.solver.quotient(c)));
      }
      const bool unnamed = origin.kind == Origin::inside || origin.kind == Origin::parts;
      if (!left || !right) {
        const std::string quotient = describe_dimension(system_.solver.quotient(c));
        return diags_.report(span, dimensions_differ, where,
                             unnamed || !origin.right.valid()
                                 ? fmt::format("one divided by another is {}", quotient)
                                 : fmt::format("{} divided by {} is {}", quote(tree_, names_, origin.left),
                                               quote(tree_, names_, origin.right), quotient));
      }
      if (unnamed) {
        return diags_.report(
            span, dimensions_differ, where,
            fmt::format("one is {}, another {}", describe_dimension(*left), describe_dimension(*right)));
      }
      if (origin.kind == Origin::definition) {
        return diags_.report(span, dimensions_differ, where,
                             fmt::format("the name is {}, {} {}", describe_dimension(*left),
                                         quote(tree_, names_, origin.left), describe_dimension(*right)));
      }
      // In the order in which they are written.
      const bool in_order = tree_[origin.left].span.begin <= tree_[origin.right].span.begin;
      const NodeId first = part_of(tree_, in_order ? origin.left : origin.right, origin.component);
      const NodeId second = part_of(tree_, in_order ? origin.right : origin.left, origin.component);
      return diags_.report(
          span, dimensions_differ, where,
          fmt::format("{} is {}, {} {}", quote(tree_, names_, first), describe_dimension(in_order ? *left : *right),
                      quote(tree_, names_, second), describe_dimension(in_order ? *right : *left)));
    }();
    if (origin.call.valid()) reported.related(tree_[origin.call].span, "in this call");
    std::set<std::uint32_t> told;
    for (const Form* form : {&constraint.left, &constraint.right}) explain(*form, told, reported);
    hint(constraint, reported);
  }

 private:
  base::Span place(const Origin& origin) const {
    switch (origin.kind) {
      case Origin::equation:
      case Origin::start:
        return spanning(tree_[origin.left].span, tree_[origin.right].span);
      case Origin::sum:
      case Origin::comparison:
      case Origin::branches:
      case Origin::arguments:
      case Origin::drawing:
      case Origin::given:
        return tree_[part_of(tree_, origin.right, origin.component)].span;
      default:
        return tree_[origin.left].span;
    }
  }

  // Why the names of a form have their dimensions, back to the literals; of a long chain the beginning and the end.
  void explain(const Form& form, std::set<std::uint32_t>& told, diag::Sink::Reported& reported) {
    std::vector<std::pair<base::Span, std::string>> notes;
    std::vector<std::uint32_t> rest;
    const auto queue = [&](const Form& next) {
      for (auto term = next.terms.rbegin(); term != next.terms.rend(); ++term) rest.push_back(term->unknown);
    };
    queue(form);
    while (!rest.empty()) {
      const std::uint32_t unknown = rest.back();
      rest.pop_back();
      const std::optional<std::uint32_t> reason = system_.solver.reason(unknown);
      const std::optional<Dimension> value = system_.solver.value(Form::of_unknown(unknown));
      if (!reason || !value || !told.insert(unknown).second) continue;
      const Constraint& by = system_.constraints[*reason];
      if (unknown < system_.symbol_unknowns) notes.push_back(note(unknown, *value, by));
      queue(multiply(by.left, by.right, {1, 1}));
    }
    constexpr std::size_t first = 3, last = 3;
    for (std::size_t i = 0; i < notes.size(); ++i) {
      if (i >= first && i + last < notes.size()) continue;
      reported.related(notes[i].first, "{}", notes[i].second);
    }
  }

  std::pair<base::Span, std::string> note(std::uint32_t unknown, const Dimension& value, const Constraint& by) const {
    const std::string name = fmt::format("`{}` is {}", unknown_name(unknown), describe_dimension(value));
    const bool direct = std::all_of(by.left.terms.begin(), by.left.terms.end(),
                                    [&](const Term& term) { return term.unknown == unknown; }) &&
                        std::all_of(by.right.terms.begin(), by.right.terms.end(),
                                    [&](const Term& term) { return term.unknown == unknown; });
    if (direct) {
      if (const NodeId literal = only_literal(by.origin); literal.valid())
        return {tree_[literal].span, fmt::format("{} because of {}", name, quote(tree_, names_, literal))};
    }
    switch (by.origin.kind) {
      case Origin::pure:
        return {tree_[by.origin.left].span, fmt::format("{} because it is {} here", name, purpose(by.origin.what))};
      case Origin::equation:
        return {place(by.origin), fmt::format("{} by this equation", name)};
      case Origin::definition:
        return {place(by.origin), fmt::format("{} by its value", name)};
      case Origin::start:
        return {place(by.origin), fmt::format("{} by this start", name)};
      default:
        return {place(by.origin), fmt::format("{} because of its place here", name)};
    }
  }

  // The one literal with a dimension below a constraint's nodes; not valid when there are several or none.
  NodeId only_literal(const Origin& origin) const {
    NodeId found;
    std::vector<NodeId> rest;
    for (NodeId id : {origin.left, origin.right}) {
      if (id.valid()) rest.push_back(part_of(tree_, id, origin.component));
    }
    while (!rest.empty()) {
      const NodeId id = rest.back();
      rest.pop_back();
      const parse::Node& node = tree_[id];
      if (node.unit != 0 && !tree_.units[node.unit].measure.dimension.pure()) {
        if (found.valid()) return {};
        found = id;
      }
      for (const parse::Child& child : tree_.children_of(id)) rest.push_back(child.node);
    }
    return found;
  }

  std::string unknown_name(std::uint32_t unknown) const {
    const auto after = std::upper_bound(system_.first_unknown.begin(), system_.first_unknown.end(), unknown);
    const SymbolId id(static_cast<std::size_t>(after - system_.first_unknown.begin()) - 1);
    const Symbol& symbol = system_.model.symbols[id];
    const std::uint32_t i = unknown - system_.first_unknown[id.value];
    if (symbol.shape.is_scalar()) return names_.text(symbol.name);
    if (symbol.shape.is_vector()) return fmt::format("{}[{}]", names_.text(symbol.name), i + 1);
    return fmt::format("{}[{}, {}]", names_.text(symbol.name), i / symbol.shape.columns + 1,
                       i % symbol.shape.columns + 1);
  }

  // What is often meant: a number without a unit has lost it, or a factor was left out because it is one.
  void hint(const Constraint& constraint, diag::Sink::Reported& reported) const {
    const Origin& origin = constraint.origin;
    const std::optional<Dimension> left = system_.solver.value(constraint.left);
    const std::optional<Dimension> right = system_.solver.value(constraint.right);
    if (!left || !right || (!origin.right.valid() && origin.kind != Origin::pure)) return;
    Dimension quotient = *left;
    quotient.multiply(*right, {-1, 1});
    if (hint_at_number(origin.left, inverted(quotient), reported)) return;
    if (origin.kind == Origin::pure) {
      const std::string unit = parse::print_unit(*left);
      reported.hint("divide it by a quantity in {}, such as `1 [{}]`", unit, unit);
      return;
    }
    if (hint_at_number(origin.right, quotient, reported)) return;
    Dimension without_time = quotient;
    without_time.exponents[Dimension::second] = {};
    if (without_time.pure() && (origin.kind == Origin::equation || origin.kind == Origin::sum))
      reported.hint("has {} too few primes or too many, or does it lack a factor in {}?",
                    quote(tree_, names_, part_of(tree_, origin.right, origin.component)), parse::print_unit(quotient));
  }

  // For a product that lacks a unit and has a number without one among its factors, as `5 * sin(a)` has.
  bool hint_at_number(NodeId id, Dimension missing, diag::Sink::Reported& reported) const {
    while (tree_[id].kind == NodeKind::negate) id = tree_.child(id, 0);
    if (tree_[id].kind != NodeKind::product) return false;
    for (const parse::Child& child : tree_.children_of(id)) {
      const parse::Node& node = tree_[child.node];
      if (node.kind != NodeKind::number || node.unit != 0) continue;
      if (child.op == parse::Op::divide) missing = inverted(missing);
      reported.hint("a number without a unit is a pure number as a factor; is it `{} [{}]`?",
                    parse::print(tree_, names_, child.node), parse::print_unit(missing));
      return true;
    }
    return false;
  }

  const DimensionSystem& system_;
  const parse::Tree& tree_;
  const base::Names& names_;
  ToldPlaces& told_;
  diag::Sink& diags_;
};

}  // namespace

void report_contradiction(const DimensionSystem& system, std::uint32_t constraint, ToldPlaces& told,
                          diag::Sink& diags) {
  Contradictions(system, told, diags).report(constraint);
}

}  // namespace check
