// What a condition gives a value to: `x`, `x'`, `x[2]`, `x'[2]`.
#pragma once

#include "compiler/parse/tree.h"

namespace check {

struct Target {
  parse::NodeId name;        // a name as a rule; whatever stands there otherwise
  std::uint32_t order = 0;   // primes
  parse::NodeId index = {};  // valid: this component only
};

inline Target target_of(const parse::Tree& tree, parse::NodeId id) {
  Target target{id};
  for (int i = 0; i < 2; ++i) {
    const parse::Node& node = tree[target.name];
    if (node.kind == parse::NodeKind::prime && target.order == 0) {
      target.order = node.count;
      target.name = tree.child(target.name, 0);
    } else if (node.kind == parse::NodeKind::index && node.child_count == 2 && !target.index.valid()) {
      target.index = tree.child(target.name, 1);
      target.name = tree.child(target.name, 0);
    }
  }
  return target;
}

}  // namespace check
