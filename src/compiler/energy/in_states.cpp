#include "compiler/energy/in_states.h"

namespace energy {

InStates::InStates(flat::Model& model, const structure::Sorted& sorted, std::set<ExprId> kept)
    : pool_(model.pool),
      sorted_(sorted),
      kept_(std::move(kept)),
      write_out_(pool_, [this](ExprId leaf) { return given(leaf); }) {
  for (const structure::Block& block : sorted.motion.blocks) {
    for (const std::uint32_t unknown : block.unknowns) block_of_[sorted.motion.unknowns[unknown]] = &block;
  }
}

ExprId InStates::given(ExprId leaf) {
  const auto found = block_of_.find(leaf);
  if (kept_.contains(leaf) || found == block_of_.end() || found->second->unknowns.size() != 1) return {};
  const flat::Equation& equation = sorted_.motion.equations[found->second->equations.front()];
  const auto value = symbolic::solve(pool_, equation.left, equation.right, leaf);
  return value ? write_out_(*value) : ExprId();
}

}  // namespace energy
