// Expressions written out. An expression in its scope in; out the same as it reads outside of all modules and loops,
// with the full names of quantities, the arguments in place of ports, and sums over counters as sums. A part in which
// nothing changes is not copied.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "compiler/expand/paths.h"
#include "compiler/expand/program.h"

namespace expand {

class Expressions {
 public:
  explicit Expressions(Program& program)
      : program_(program), tree_(program.tree), names_(program.names), diags_(program.diags) {}

  // The same node when nothing changes.
  NodeId expand(NodeId id, Scope& scope, const Local* locals);

  // What an argument of the instance gives the name; not valid when it is a name of its own. An argument that is more
  // than a reference gives that name an equation.
  NodeId bound_to(NameId name, Found found);

  // `ball.Rolling` written at `id`, by its full name; not valid, after reporting, when the automaton has no such mode.
  NodeId mode_of(NodeId id, const Named& automaton);
  NodeId expand_guard_value(NodeId id, Scope& scope, const Local* locals);

  // Whether a body's items use a name, so that an instance has it.
  bool mentions(const Body& body, NameId name);

  // Both hold; either may be not valid, which always holds.
  NodeId both(NodeId a, NodeId b);

  NodeId add(parse::Node node, std::span<const parse::Child> children = {});
  NodeId add_name(const std::string& name, base::Span span);
  NodeId add_number(double number, base::Span span);

 private:
  NodeId expand_children(NodeId id, std::uint32_t from, Scope& scope, const Local* locals);
  NodeId expand_name(NodeId id, Scope& scope, const Local* locals);
  NodeId expand_member(NodeId id, Scope& scope, const Local* locals);
  NodeId expand_device_value(NodeId id, Scope& scope, const Local* locals);
  NodeId expand_index(NodeId id, Scope& scope, const Local* locals);
  NodeId expand_call(NodeId id, Scope& scope, const Local* locals);
  NodeId expand_table(NodeId id, Scope& scope, const Local* locals);
  NodeId expand_sum_over(NodeId id, Scope& scope, const Local* locals);
  NodeId meaning_of(NodeId id, NameId name, Found found);
  bool is_reference(NodeId id) const;
  bool is_derived(NameId name, Found found) const;
  void report_automaton(NodeId id, const Entry& entry);
  NodeId expand_event_of(NodeId id, const Named& transition);

  Program& program_;
  parse::Tree& tree_;
  base::Names& names_;
  diag::Sink& diags_;
  std::unordered_map<const Body*, std::unordered_set<NameId>> mentioned_;  // names that a body's items use
};

}  // namespace expand
