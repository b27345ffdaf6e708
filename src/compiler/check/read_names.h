// The names that an expression reads, in handlers, guards of events and drawings, where nothing may be declared by use.
//
//   enters: an expression and the names that are bound around it
//   leaves: a call of `unknown` for each name that nothing goes by, of `memory` for each integration(..) and delay(..)
//
// Method: a walk over the tree, and once through the body of each function that is called, with its arguments bound.
#pragma once

#include <functional>
#include <set>
#include <string_view>

#include "compiler/check/model.h"
#include "compiler/check/scope.h"

namespace check {

class ReadNames {
 public:
  using Unknown = std::function<void(parse::NodeId name, const BoundNames* scope)>;
  using Memory = std::function<void(parse::NodeId call, std::string_view function)>;

  // `unknown` may add the name to the model. All outlive this.
  ReadNames(const Model& model, base::Names& names, Unknown unknown, Memory memory);

  void operator()(parse::NodeId id, const BoundNames* scope = nullptr);

 private:
  void walk(parse::NodeId id, const BoundNames* scope);
  void walk_call(parse::NodeId id, const BoundNames* scope);

  const Model& model_;
  const parse::Tree& tree_;
  const base::Names& names_;
  Unknown unknown_;
  Memory memory_;
  base::NameId time_;
  base::NameId pi_;
  std::set<std::uint32_t> entered_;  // functions, by declaration
};

}  // namespace check
