// What depends on parameters only is worked out once, in `prepare`, and kept in the derived section.
#include <algorithm>

#include "compiler/lower/lowering.h"

namespace lower {

void Lowering::find_static() {
  static_block_.assign(motion_.solutions.size(), false);
  for (std::size_t b = 0; b < motion_.solutions.size(); ++b) {
    const Solution& solution = motion_.solutions[b];
    auto all_static = [&](const std::vector<ExprId>& list) {
      return std::all_of(list.begin(), list.end(), [&](ExprId e) { return is_static(e, &solution); });
    };
    // A right side of 0 gives 0 whatever the determinant is, which must not vanish all the same.
    const bool has_static_determinant = !solution.determinant.valid() || is_static(solution.determinant, &solution);
    bool yes = all_static(solution.values) && has_static_determinant &&
               (solution.kind == Solution::direct || (all_static(solution.matrix) && all_static(solution.right)));
    if (!yes) continue;
    static_block_[b] = true;
    for (ExprId leaf : solution.unknowns) static_[leaf] = true;
  }
}

bool Lowering::is_static(ExprId root, const Solution* own) {
  std::vector<std::pair<ExprId, bool>> stack = {{root, false}};
  std::unordered_map<ExprId, bool> local;
  auto& memory = own ? local : static_;
  enum Answer { no, yes, not_yet };
  auto look = [&](ExprId id) {
    if (auto found = static_.find(id); found != static_.end() && (!own || found->second))
      return found->second ? yes : no;
    if (auto found = memory.find(id); found != memory.end()) return found->second ? yes : no;
    return not_yet;
  };
  while (!stack.empty()) {
    auto [id, expanded] = stack.back();
    if (look(id) != not_yet) {
      stack.pop_back();
      continue;
    }
    const expr::Node& node = pool_[id];
    const int operands = expr::operand_count(node.op);
    if (operands == 0) {
      bool is_known = node.op == Op::constant || node.op == Op::truth || node.op == Op::parameter ||
                      (own && std::find(own->unknowns.begin(), own->unknowns.end(), id) != own->unknowns.end());
      memory[id] = is_known;
      stack.pop_back();
      continue;
    }
    if (!expanded) {
      stack.back().second = true;
      stack.push_back({node.a, false});
      if (operands >= 2) stack.push_back({node.b, false});
      if (operands >= 3) stack.push_back({node.c, false});
      continue;
    }
    memory[id] = look(node.a) == yes && (operands < 2 || look(node.b) == yes) && (operands < 3 || look(node.c) == yes);
    stack.pop_back();
  }
  return look(root) == yes;
}

bool Lowering::is_solved_in_prepare(ExprId leaf) const {
  auto found = motion_.block_of.find(leaf);
  return found != motion_.block_of.end() && static_block_[found->second];
}

std::optional<std::uint32_t> Lowering::hoist(ExprId e) {
  const expr::Node& node = pool_[e];
  if (expr::is_leaf(node.op) && node.op != Op::variable) return std::nullopt;
  if (pool_.is_truth(e)) return std::nullopt;
  if (auto found = derived_.find(e); found != derived_.end()) return found->second;
  if (node.op == Op::variable && !is_solved_in_prepare(e)) return std::nullopt;
  if (!is_static(e)) return std::nullopt;
  std::uint32_t slot = program_.derived_count++;
  derived_.emplace(e, slot);
  prepare_->may_split();
  prepare_->store(ir::Op::store_derived, slot, prepare_->value(e));
  return slot;
}

}  // namespace lower
