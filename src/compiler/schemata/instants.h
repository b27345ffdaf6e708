// Looking back inside a sequence or a plan: `at(start, e)`, `since(phase1)`. An expression in; out the same with
// memories in place of these, each set by the jump that is the instant.
//
//   at(E, e)  ->  a memory m with next(m) = e in the jump of E; at(E, next(e)) is after that jump
//   since(E)  ->  t - m, with next(m) = t in the jump of E
//
// Equal ones share a memory.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/schemata/tree_builder.h"
#include "diag/sink.h"

namespace schemata {

class Instants {
 public:
  // `name`: the full name of the sequence or plan; `count`: of its phases. All outlive this.
  Instants(TreeBuilder& builder, base::NameId name, std::size_t count, diag::Sink& diags);

  // `happened`: how many instants lie before: 0 in the head, k in phase k, of `start`, `phase1` ..
  NodeId rewrite(NodeId id, std::size_t happened);
  void rewrite(parse::Jump& jump, std::size_t happened);

  // t - (the time of that instant)
  NodeId since(std::size_t instant, base::Span span);

  // What the jump of an instant sets, to be asked for when all is rewritten.
  const std::vector<parse::Equation>& sets(std::size_t instant) const { return sets_[instant]; }

 private:
  NodeId remembered(std::size_t instant, NodeId value);
  NodeId look_back(NodeId call, bool is_at, std::size_t happened);

  TreeBuilder& builder_;
  base::NameId name_;
  diag::Sink& diags_;
  base::NameId at_;     // not valid when the program has a function of that name
  base::NameId since_;  // likewise
  std::vector<std::vector<parse::Equation>> sets_;
  std::unordered_map<std::string, base::NameId> memories_;  // by instant and text
};

}  // namespace schemata
