// Jumps written out. The braces of a transition in; out the same without loops, the modes that `goto` enters by their
// full names, and every unknown of the jump under a name of its own: `Bounce.Jn`.
//
// An unknown is what `unknown` names, and any name of the jump's equations that the scope around does not know: no
// equation, start, port, declaration or external has it. Inside of `next(..)` and below a prime stand names of the
// model only.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "compiler/expand/expressions.h"

namespace expand {

class Jumps {
 public:
  // Both outlive this.
  Jumps(Program& program, Expressions& expressions)
      : program_(program), tree_(program.tree), names_(program.names), expressions_(expressions) {}

  // `name`: the full name of the transition.
  parse::Jump expand(const parse::Jump& jump, const std::string& name, Scope& scope, const Local* locals);

 private:
  void write(const parse::Jump& jump, parse::Jump& made, const std::string& name, const std::string& turn, Scope& scope,
             const Local* locals);
  NodeId expand_goto(const parse::Goto& item, Scope& scope, const Local* locals);
  void collect(const parse::Jump& jump, std::unordered_set<NameId>& bound, std::vector<parse::JumpUnknown>& found,
               Scope& scope, const Local* locals);
  void collect_from(NodeId id, std::unordered_set<NameId>& bound, std::vector<parse::JumpUnknown>& found, Scope& scope,
                    const Local* locals);
  bool is_known(NameId name, Scope& scope);

  Program& program_;
  parse::Tree& tree_;
  base::Names& names_;
  Expressions& expressions_;
};

}  // namespace expand
