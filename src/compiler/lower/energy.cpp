// The energy with its slopes and its structure matrix, and the parts that take steps of their own.
#include <algorithm>

#include "abi/model.h"
#include "compiler/lower/lowering.h"

namespace lower {

void Lowering::build_subsystems() {
  if (model_.subsystems.empty()) return;
  std::vector<std::vector<ExprId>> outs(model_.subsystems.size());
  for (const flat::SampledJoin& join : model_.joins) {
    for (const flat::SampledJoin::End& end : join.ends)
      outs[end.subsystem].insert(outs[end.subsystem].end(), end.outs.begin(), end.outs.end());
  }
  std::vector<std::vector<std::uint32_t>> states(model_.subsystems.size());  // places in sorted_.states
  for (std::uint32_t i = 0; i < sorted_.states.size(); ++i) states[sorted_.subsystem_of[i]].push_back(i);
  std::vector<ExprId> energies(model_.subsystems.size(), pool_.constant(0));
  for (const ExprId energy : sorted_.energies) {
    ExprId& sum = energies[subsystem_of_energy(energy)];
    sum = pool_.add(sum, energy);
  }
  symbolic::Substitution constants(pool_, [this](ExprId leaf) {
    const auto number =
        pool_[leaf].op == Op::variable ? sorted_.constants.find(pool_[leaf].index) : sorted_.constants.end();
    return number == sorted_.constants.end() ? ExprId() : pool_.constant(pool_[leaf].order == 0 ? number->second : 0);
  });
  std::uint32_t first = 0;
  for (std::size_t k = 0; k < model_.subsystems.size(); ++k) {
    const flat::Subsystem& source = model_.subsystems[k];
    ir::Subsystem made{source.name.empty() ? "the rest" : source.name,
                       source.multiple,
                       first,
                       static_cast<std::uint32_t>(states[k].size()),
                       source.ledger,
                       source.phase,
                       program_.sample_count,
                       static_cast<std::uint32_t>(outs[k].size())};
    std::vector<ExprId> rates(states[k].size()), slopes(states[k].size());
    for (const std::uint32_t i : states[k]) {
      const std::uint32_t at = state_index_.at(sorted_.states[i]) - first;
      rates[at] = sorted_.state_rates[i];
      if (source.ledger != 0) slopes[at] = sorted_.energy_slopes[i];
    }
    made.derivative = function_of_states(rates, first);
    if (source.ledger != 0) {
      slopes.push_back(energies[k]);
      made.energy = function_of_states(slopes, first);
    }
    for (ExprId& out : outs[k]) out = constants(out);
    made.sample = function_of_states(outs[k], first);
    first += made.state_count;
    program_.sample_count += made.sample_count;
    program_.subsystems.push_back(std::move(made));
  }
  program_.samples = program_.work_count;
  program_.work_count += program_.sample_count + static_cast<std::uint32_t>(program_.subsystems.size());
  place_joins();
}

std::uint32_t Lowering::subsystem_of_energy(ExprId energy) const {
  for (ExprId leaf : symbolic::leaves(pool_, energy, Op::variable)) {
    const auto at = std::find(sorted_.states.begin(), sorted_.states.end(), leaf);
    if (at != sorted_.states.end()) return sorted_.subsystem_of[static_cast<std::size_t>(at - sorted_.states.begin())];
  }
  return 0;
}

ir::Function Lowering::function_of_states(const std::vector<ExprId>& values, std::uint32_t first) {
  FunctionBuilder builder(
      pool_, program_.work_count,
      [this, first](ExprId leaf) {
        ir::Instruction load{ir::Op::state};
        load.index = state_index_.at(leaf) - first;
        return load;
      },
      [this](ExprId e) { return hoist(e); });
  std::vector<ExprId> wanted;
  for (ExprId value : values) {
    const auto leaves = symbolic::leaves(pool_, value, Op::variable);
    wanted.insert(wanted.end(), leaves.begin(), leaves.end());
  }
  solve_needed(builder, wanted);
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    builder.may_split();
    builder.store(ir::Op::store_derivative, i, builder.value(values[i]));
  }
  return builder.take();
}

void Lowering::place_joins() {
  std::vector<std::uint32_t> next;
  for (const ir::Subsystem& subsystem : program_.subsystems) next.push_back(subsystem.samples);
  for (const flat::SampledJoin& join : model_.joins) {
    tactus_join made = {};
    made.manner = join.manner;
    made.count = static_cast<std::uint32_t>(join.ends[0].outs.size());
    made.since = join.since;
    for (int i = 0; i < 2; ++i) {
      const flat::SampledJoin::End& end = join.ends[i];
      made.subsystem[i] = end.subsystem;
      made.sample[i] = next[end.subsystem];
      next[end.subsystem] += made.count;
      made.held[i] = end.held;
      const auto work = state_index_.find(pool_.variable(end.work.value, 0));
      made.work[i] = work == state_index_.end() ? 0 : work->second + 1;
    }
    program_.joins.push_back(made);
  }
}

void Lowering::build_energy() {
  if (!sorted_.energy.valid()) return;
  FunctionBuilder builder = motion_builder();
  store_energy(builder, 0);
  program_.energy = builder.take();
  program_.ledger = model_.ledger;
  // A large model gains little by sharing, and would be compiled twice.
  constexpr std::size_t most = 16;
  if (space_->states.size() <= most && program_.warm_count == 0 && model_.subsystems.empty()) {
    FunctionBuilder both = motion_builder();
    store_rates(both);
    store_energy(both, static_cast<std::uint32_t>(space_->states.size()));
    program_.balance = both.take();
    program_.has_balance = true;
  }
  const auto place = [&](std::string_view name) {
    const auto found = std::ranges::find(program_.state_names, name);
    return found == program_.state_names.end() ? 0u
                                               : static_cast<std::uint32_t>(found - program_.state_names.begin()) + 1;
  };
  program_.book_supplied = place("book.supplied");
  program_.book_dissipated = place("book.dissipated");
  if (!sorted_.structure.empty()) build_structure();
}

void Lowering::store_energy(FunctionBuilder& builder, std::uint32_t first) {
  const auto count = static_cast<std::uint32_t>(space_->states.size());
  std::vector<ExprId> slopes(count, pool_.constant(0));
  for (std::size_t i = 0; i < sorted_.states.size(); ++i)
    slopes[state_index_.at(sorted_.states[i])] = sorted_.energy_slopes[i];
  for (std::uint32_t i = 0; i < count; ++i) {
    builder.may_split();
    builder.store(ir::Op::store_derivative, first + i, builder.value(slopes[i]));
  }
  builder.store(ir::Op::store_derivative, first + count, builder.value(sorted_.energy));
}

void Lowering::build_structure() {
  FunctionBuilder builder = motion_builder();
  const auto count = static_cast<std::uint32_t>(space_->states.size());
  std::vector<ExprId> entries(std::size_t{count} * (count + 1), pool_.constant(0));
  const std::size_t own = sorted_.states.size();
  for (std::size_t i = 0; i < own; ++i) {
    const std::uint32_t row = state_index_.at(sorted_.states[i]);
    for (std::size_t j = 0; j < own; ++j)
      entries[std::size_t{row} * count + state_index_.at(sorted_.states[j])] = sorted_.structure[i * own + j];
    if (!pool_.is_constant(sorted_.energy_slopes[i], 0)) entries[std::size_t{count} * count + row] = pool_.constant(1);
  }
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    builder.may_split();
    builder.store(ir::Op::store_derivative, i, builder.value(entries[i]));
  }
  program_.structure = builder.take();
  program_.has_structure = true;
}

}  // namespace lower
