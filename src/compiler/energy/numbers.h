// What expressions over states are at points of their space: states as told, parameters at their initial values.
#pragma once

#include <cmath>
#include <optional>
#include <unordered_map>

#include "compiler/structure/structure.h"
#include "compiler/symbolic/symbolic.h"

namespace energy {

class Numbers {
 public:
  // `at`: leaves and their values there. Both outlive this.
  Numbers(flat::Model& model, const std::unordered_map<ExprId, double>& at)
      : pool_(model.pool), put_(model.pool, [this, &model, &at](ExprId leaf) {
          if (const auto found = at.find(leaf); found != at.end()) return pool_.constant(found->second);
          const expr::Node node = pool_[leaf];
          return node.op == expr::Op::parameter ? pool_.constant(model.parameters[node.index].initial) : ExprId();
        }) {}

  // None where it depends on more, or is no finite number.
  std::optional<double> operator()(ExprId e) {
    const ExprId value = put_(e);
    if (!pool_.is_constant(value) || !std::isfinite(pool_[value].number)) return std::nullopt;
    return pool_[value].number;
  }

 private:
  expr::Pool& pool_;
  symbolic::Substitution put_;
};

}  // namespace energy
