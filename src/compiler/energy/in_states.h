// Expressions over states: what an equation gives directly is written out in its place.
#pragma once

#include <set>
#include <unordered_map>

#include "compiler/structure/structure.h"
#include "compiler/symbolic/symbolic.h"

namespace energy {

using expr::ExprId;

class InStates {
 public:
  // Leaves in `kept` stay as they are. All outlive this.
  InStates(flat::Model& model, const structure::Sorted& sorted, std::set<ExprId> kept = {});
  ExprId operator()(ExprId e) { return write_out_(e); }

 private:
  // What an equation says of a leaf directly; an invalid id: nothing.
  ExprId given(ExprId leaf);

  expr::Pool& pool_;
  const structure::Sorted& sorted_;
  std::set<ExprId> kept_;
  std::unordered_map<ExprId, const structure::Block*> block_of_;
  symbolic::Substitution write_out_;
};

}  // namespace energy
