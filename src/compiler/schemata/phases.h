// What sequences and plans have in common: the automaton that counts the phases, and the transitions between them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "compiler/schemata/instants.h"

namespace schemata {

class Phases {
 public:
  // `item`: the head of a sequence or plan, which outlives this; `count`: of its phases.
  Phases(TreeBuilder& builder, const parse::Transition& item, std::size_t count)
      : builder_(builder), item_(item), count_(count) {}

  // `S.Idle`, `S.Phase1` ..; of the phase 0 and behind the last `Idle`.
  base::NameId mode(std::size_t phase) const;
  // `S.phase1`
  base::NameId event(std::size_t phase) const;
  // "S.failed"
  base::NameId part(std::string_view name) const;

  // automaton S in Idle, Phase1 .., and further modes.
  void add_automaton(std::initializer_list<std::string_view> further = {});
  // The head: from Idle to Phase1.
  void add_start(parse::Jump jump);
  // From phase k on, when its condition holds. `k` counts from 1.
  void add_end(std::size_t phase, NodeId condition, parse::Jump jump, base::Span span);
  void add_transition(base::NameId name, base::Span span, NodeId mode, NodeId condition, parse::Jump jump);

  NodeId in_mode(base::NameId mode, base::Span span) { return builder_.name(mode, span); }
  void go(parse::Jump& jump, base::NameId mode, base::Span span);

 private:
  TreeBuilder& builder_;
  const parse::Transition& item_;
  std::size_t count_;
};

}  // namespace schemata
