// The rates of states, their start, the constraints on them and the conditions that a start meets.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "compiler/lower/lowering.h"

namespace lower {

FunctionBuilder Lowering::motion_builder() {
  return FunctionBuilder(
      pool_, program_.work_count,
      [this](ExprId leaf) {
        auto found = state_index_.find(leaf);
        TACTUS_CHECK(found != state_index_.end());
        ir::Instruction load{ir::Op::state};
        load.index = found->second;
        return load;
      },
      [this](ExprId e) { return hoist(e); });
}

void Lowering::build_derivative() {
  FunctionBuilder builder = motion_builder();
  store_rates(builder);
  program_.derivative = builder.take();
}

void Lowering::store_rates(FunctionBuilder& builder) {
  // Every Newton block, also one that no state needs: which of its solutions is meant, continuity along the motion
  // says.
  std::vector<ExprId> wanted = sorted_.state_rates;
  for (const Solution& solution : motion_.solutions) {
    if (solution.kind == Solution::newton) wanted.push_back(solution.unknowns.front());
  }
  std::vector<bool> mark = needed(motion_, wanted);
  for (std::size_t b = 0; b < mark.size(); ++b) {
    if (mark[b] && !static_block_[b]) solve(builder, motion_, b);
  }
  for (std::uint32_t i = 0; i < space_->states.size(); ++i) {
    const auto [variable, order] = space_->states[i];
    const bool is_own = state_index_.contains(pool_.variable(variable, order));
    builder.may_split();
    builder.store(ir::Op::store_derivative, i,
                  builder.value(is_own ? pool_.variable(variable, order + 1) : pool_.constant(0)));
  }
}

void Lowering::build_initialize() {
  FunctionBuilder builder(
      pool_, program_.work_count,
      [](ExprId) -> ir::Instruction {
        TACTUS_CHECK(!"a leaf of the start");
        return {};
      },
      [this](ExprId e) { return hoist(e); });
  // Behaviours first: the equations of the start may read them.
  for (const flat::Discrete& discrete : model_.discrete) {
    for (std::uint32_t i = 0; i < discrete.shape.size(); ++i)
      builder.store(ir::Op::store_discrete, discrete.first + i, builder.value(discrete.start[i]));
  }
  if (sorted_.start.equations.empty() && !sorted_.states.empty()) return;  // no run begins here
  std::vector<bool> mark = needed(start_, sorted_.states);
  // First guesses of every Newton block, before any of them is solved.
  for (std::size_t b = 0; b < mark.size(); ++b) {
    if (mark[b] && start_.solutions[b].kind == Solution::newton) warm_of(start_.solutions[b]);
  }
  for (const auto& [unknowns, warm] : warm_) {
    if (is_solved_in_prepare(unknowns.front())) continue;  // `prepare` has solved it
    store_guesses(builder, unknowns, warm, [this](ExprId guess) { return is_static(guess); });
  }
  for (std::size_t b = 0; b < mark.size(); ++b) {
    if (!mark[b]) continue;
    // Static blocks of the motion are in the derived section already.
    const auto& unknowns = start_.solutions[b].unknowns;
    if (std::all_of(unknowns.begin(), unknowns.end(), [&](ExprId leaf) { return is_solved_in_prepare(leaf); }))
      continue;
    solve(builder, start_, b);
  }
  for (ExprId state : sorted_.states) {
    builder.may_split();
    builder.store(ir::Op::store_state, state_index_.at(state), builder.value(state));
  }
  program_.initialize = builder.take();
}

ExprId Lowering::in_states(ExprId e) {
  if (!in_states_) {
    in_states_ = std::make_unique<symbolic::Substitution>(pool_, [this](ExprId leaf) {
      auto found = motion_.block_of.find(leaf);
      if (pool_[leaf].op != Op::variable || found == motion_.block_of.end()) return ExprId();
      const Solution& solution = motion_.solutions[found->second];
      if (solution.kind != Solution::direct || static_block_[found->second]) return ExprId();
      const auto at = std::find(solution.unknowns.begin(), solution.unknowns.end(), leaf) - solution.unknowns.begin();
      return in_states(solution.values[static_cast<std::size_t>(at)]);
    });
  }
  return (*in_states_)(e);
}

bool Lowering::is_memory(ExprId state) {
  const auto at = std::find(sorted_.states.begin(), sorted_.states.end(), state) - sorted_.states.begin();
  if (sorted_.start_kinds[static_cast<std::size_t>(at)] != structure::StartKind::given) return false;
  const auto block = motion_.block_of.find(sorted_.state_rates[static_cast<std::size_t>(at)]);
  if (block == motion_.block_of.end()) return false;
  const Solution& solution = motion_.solutions[block->second];
  return solution.kind == Solution::direct && solution.values.size() == 1 && pool_.is_constant(solution.values[0], 0);
}

void Lowering::build_constraints() {
  if (sorted_.constraints.empty()) return;
  FunctionBuilder builder = motion_builder();
  std::vector<ExprId> residuals, entries, wanted;
  ir::Pattern& pattern = program_.constraint_jacobian;
  pattern.start.push_back(0);
  for (const flat::Equation& equation : sorted_.constraints) {
    const ExprId residual = in_states(pool_.subtract(equation.left, equation.right));
    residuals.push_back(residual);
    std::vector<std::pair<std::uint32_t, ExprId>> row;
    for (ExprId leaf : symbolic::leaves(pool_, residual, Op::variable)) {
      auto state = state_index_.find(leaf);
      if (state == state_index_.end()) {
        wanted.push_back(leaf);
        continue;
      }
      if (is_memory(leaf)) continue;
      const auto slope = symbolic::differentiate(pool_, residual, leaf);
      TACTUS_CHECK(slope.has_value());
      row.emplace_back(state->second, *slope);
    }
    std::sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [column, slope] : row) {
      pattern.index.push_back(column);
      entries.push_back(slope);
    }
    pattern.start.push_back(static_cast<std::uint32_t>(pattern.index.size()));
    program_.constraints.push_back({equation_text(model_, equation, sources_), line_of(equation.span), equation.times});
  }
  solve_needed(builder, wanted);
  std::uint32_t at = 0;
  for (const auto* list : {&residuals, &entries}) {
    for (ExprId e : *list) {
      builder.may_split();
      builder.store(ir::Op::store_derivative, at++, builder.value(e));
    }
  }
  program_.constrain = builder.take();
}

void Lowering::build_conditions() {
  const bool are_all_given = std::all_of(sorted_.start_kinds.begin(), sorted_.start_kinds.end(),
                                         [](auto kind) { return kind == structure::StartKind::given; });
  if (!sorted_.constraints.empty() || !sorted_.conditions.empty() || !are_all_given) {
    program_.state_flags.assign(space_->states.size(), static_cast<std::uint32_t>(structure::StartKind::given));
    for (std::size_t i = 0; i < sorted_.start_kinds.size(); ++i)
      program_.state_flags[state_index_.at(sorted_.states[i])] = static_cast<std::uint32_t>(sorted_.start_kinds[i]);
  }
  if (sorted_.conditions.empty()) return;
  FunctionBuilder builder = motion_builder();
  std::vector<ExprId> wanted;
  for (const structure::Condition& condition : sorted_.conditions) {
    for (ExprId e : {condition.leaf, condition.value}) {
      for (ExprId leaf : symbolic::leaves(pool_, e, Op::variable)) wanted.push_back(leaf);
    }
    program_.conditions.push_back(
        {fmt::format("{}({}) = {}", leaf_name(condition.leaf), expr::print_number(condition.time),
                     flat::print(model_, condition.value)),
         line_of(condition.span), condition.time});
  }
  solve_needed(builder, wanted);
  for (std::uint32_t i = 0; i < sorted_.conditions.size(); ++i) {
    const structure::Condition& condition = sorted_.conditions[i];
    builder.may_split();
    builder.store(ir::Op::store_derivative, i, builder.value(pool_.subtract(condition.leaf, condition.value)));
  }
  program_.condition = builder.take();
}

}  // namespace lower
