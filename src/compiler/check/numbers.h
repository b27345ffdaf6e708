// Numbers known before the run: settings, ranges, indices, bounds of sums, conditions. Made of literals, constants, counters and the four
// operations; everything else is left to flatten, which works expressions out in full.
#pragma once

#include <optional>

#include "compiler/check/model.h"
#include "compiler/check/scope.h"

namespace check {

// What is known of an expression's shape.
struct Known {
  enum State { open, any, fixed } state = open;
  expr::Shape shape;

  static Known of(expr::Shape shape) { return {fixed, shape}; }
  static Known of_any() { return {any, {}}; }  // the literal 0 has every shape
  bool is_fixed() const { return state == fixed; }
};

// A bound name stands for an expression in the scope of the call, whose shape is worked out once, or for a counter's value.
struct Bound {
  parse::NodeId node{};
  const Binding<Bound>* scope = nullptr;
  Known known{};
  std::optional<double> number{};
};
using Scope = Binding<Bound>;

class Numbers {
 public:
  Numbers(const Model& model, const base::Names& names) : model_(model), tree_(*model.tree), pi_(names.find("pi")) {}

  // Empty when the expression is not of this kind.
  std::optional<double> value(parse::NodeId id, const Scope* scope = nullptr, int depth = 0) const;
  // Of a condition among such numbers: where it chooses, what it does not choose need not exist.
  std::optional<bool> truth(parse::NodeId id, const Scope* scope, int depth = 0) const;
  std::optional<long long> whole(parse::NodeId id, const Scope* scope) const;

 private:
  const Model& model_;
  const parse::Tree& tree_;
  base::NameId pi_;
};

}  // namespace check
