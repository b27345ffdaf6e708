#include <fmt/format.h>

#include <optional>
#include <set>
#include <unordered_map>

#include "compiler/rates/diagnostics.h"
#include "compiler/rates/rates.h"
#include "compiler/symbolic/symbolic.h"

namespace rates {
namespace {

using expr::ExprId;
using expr::Op;

class Splitting {
 public:
  Splitting(const flat::Model& model, structure::Sorted& sorted, diag::Sink& diags)
      : model_(model), pool_(model.pool), sorted_(sorted), diags_(diags) {}

  void run() {
    for (std::uint32_t k = 1; k < model_.subsystems.size(); ++k) by_name_.emplace(model_.subsystems[k].name, k);
    for (const ExprId state : sorted_.states) {
      const std::uint32_t k = subsystem_of(model_.variables[flat::VariableId(pool_[state].index)].name);
      sorted_.subsystem_of.push_back(k);
      of_state_.emplace(state, k);
    }
    if (!sorted_.constraints.empty()) {
      diags_.report(sorted_.constraints.front().span, not_with_rates, "an equation that must be differentiated")
          .hint("write the motion with as many coordinates as it has, or leave the rates out");
      return;
    }
    const structure::System& motion = sorted_.motion;
    for (const structure::Block& block : motion.blocks) {
      for (const std::uint32_t unknown : block.unknowns) block_of_.emplace(motion.unknowns[unknown], &block);
    }
    for (std::size_t i = 0; i < sorted_.energies.size(); ++i) {
      if (!check_energy(sorted_.energies[i], model_.energies[i].span)) return;
    }
    for (std::size_t i = 0; i < sorted_.states.size(); ++i) {
      if (!follow(sorted_.state_rates[i], sorted_.subsystem_of[i])) return;
    }
  }

 private:
  struct Read {
    ExprId reader;
    base::Span span;  // of the equation
  };

  // The innermost instance with a rate in whose name it stands: "leg[2].foot.x" is of "leg[2].foot" or "leg[2]".
  std::uint32_t subsystem_of(std::string name) const {
    for (std::size_t dot = name.rfind('.'); dot != std::string::npos; dot = name.rfind('.')) {
      name.resize(dot);
      if (const auto found = by_name_.find(name); found != by_name_.end()) return found->second;
    }
    return 0;
  }

  std::string described(std::uint32_t k) const {
    return k == 0 ? "the rest of the model" : fmt::format("`{}`", model_.subsystems[k].name);
  }

  std::uint32_t subsystem_named_by(ExprId leaf) const {
    return subsystem_of(model_.variables[flat::VariableId(pool_[leaf].index)].name);
  }

  // All that a leaf depends on. False after reporting.
  bool follow(ExprId leaf, std::uint32_t subsystem) {
    std::vector<ExprId> open = {leaf};
    std::unordered_map<ExprId, Read> read_by;
    while (!open.empty()) {
      const ExprId reader = open.back();
      const auto found = block_of_.find(reader);
      open.pop_back();
      if (found == block_of_.end()) continue;
      const structure::Block* block = found->second;
      const auto [seen, is_fresh] = seen_by_.emplace(block, subsystem);
      if (!is_fresh && seen->second == subsystem) continue;
      seen->second = subsystem;
      for (const std::uint32_t e : block->equations) {
        const flat::Equation& equation = sorted_.motion.equations[e];
        for (const ExprId side : {equation.left, equation.right}) {
          for (const ExprId read : symbolic::leaves(pool_, side, Op::variable)) {
            if (read != leaf) read_by.try_emplace(read, Read{reader, equation.span});
            const auto state = of_state_.find(read);
            if (state == of_state_.end()) {
              open.push_back(read);
            } else if (state->second != subsystem) {
              report(read, read_by, state->second, subsystem);
              return false;
            }
          }
        }
      }
    }
    return true;
  }

  // Where the way from the state that is moved leaves its subsystem for the first time.
  void report(ExprId state, const std::unordered_map<ExprId, Read>& read_by, std::uint32_t theirs, std::uint32_t ours) {
    ExprId read = state;
    for (auto at = read_by.find(state); at != read_by.end(); at = read_by.find(at->second.reader)) {
      if (subsystem_named_by(at->first) != ours) read = at->first;
    }
    diags_.report(read_by.at(read).span, reads_across, flat::print(model_, read), described(theirs))
        .hint(
            "it moves a state of {}; what passes between different steps goes through ports, `power end: F -> v;`, "
            "that are joined: "
            "`join a.end to b.end;`",
            described(ours));
  }

  // False after reporting.
  bool check_energy(ExprId energy, base::Span span) {
    std::optional<ExprId> first;
    for (const ExprId leaf : symbolic::leaves(pool_, energy, Op::variable)) {
      const auto state = of_state_.find(leaf);
      if (state == of_state_.end()) continue;
      if (!first) first = leaf;
      if (of_state_.at(*first) == state->second) continue;
      diags_.report(span, energy_across, flat::print(model_, *first), flat::print(model_, leaf))
          .hint("each subsystem keeps its own: declare the energy in the module whose states it depends on");
      return false;
    }
    return true;
  }

  const flat::Model& model_;
  const expr::Pool& pool_;
  structure::Sorted& sorted_;
  diag::Sink& diags_;
  std::unordered_map<std::string, std::uint32_t> by_name_;
  std::unordered_map<ExprId, std::uint32_t> of_state_;
  std::unordered_map<ExprId, const structure::Block*> block_of_;
  std::unordered_map<const structure::Block*, std::uint32_t> seen_by_;  // the last subsystem that depended on it
};

}  // namespace

void split(const flat::Model& model, structure::Sorted& sorted, diag::Sink& diags) {
  if (!model.subsystems.empty()) Splitting(model, sorted, diags).run();
}

}  // namespace rates
