// The names in what stands in sections: starts, equations, behaviours. A walk at the beginning of one in, at its end
// out; what looks like the definition of a name gets a higher rank than what only mentions it.
#pragma once

#include "lsp/expression_names.h"
#include "lsp/walk.h"

namespace lsp {

class StatementNames {
 public:
  StatementNames(Walk& walk, ExpressionNames& expressions) : walk_(walk), expressions_(expressions) {}

  void read_conditions(ScopeId scope);
  void read_equation(ScopeId scope);
  void read_behaviour(ScopeId scope);

 private:
  void set_statements(std::size_t begin, std::size_t first);
  Rank rank_of_left_side() const;
  void read_tuple(ScopeId scope);

  Walk& walk_;
  ExpressionNames& expressions_;
};

}  // namespace lsp
