// The names in automata, transitions, sequences and plans. A walk at the beginning of one in, at its end out. Modes
// live in a scope of their own behind the automaton's name; the unknowns of a jump and a plan's choices inside of it.
#pragma once

#include "lsp/expression_names.h"
#include "lsp/walk.h"

namespace lsp {

class JumpNames {
 public:
  JumpNames(Walk& walk, ExpressionNames& expressions) : walk_(walk), expressions_(expressions) {}

  void read_automaton(ScopeId scope);
  // transition, sequence, plan: a head, bodies, words between them.
  void read_jumps(ScopeId scope, Kind kind);

 private:
  void read_jump_body(ScopeId outer);

  Walk& walk_;
  ExpressionNames& expressions_;
};

}  // namespace lsp
