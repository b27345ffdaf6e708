// The one walk from a sorted model to a program: what all its functions share. Each group of them is written in the
// file named above it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/lower/function_builder.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/solve_block.h"
#include "compiler/symbolic/symbolic.h"

namespace lower {

using expr::Op;
using structure::Block;
using structure::System;

class Lowering {
 public:
  Lowering(flat::Model& model, const structure::Sorted& sorted, const diag::SourceMap& sources, const Space* space)
      : model_(model), pool_(model.pool), sorted_(sorted), sources_(sources), space_(space) {
    if (space_ == nullptr) {
      widen(own_space_, model, sorted);
      order_by_subsystem();
      space_ = &own_space_;
    } else {
      is_one_of_many_ = true;
    }
    program_.derived_count = space_->derived_count;
    program_.warm_count = space_->warm_count;
  }

  ir::Program run();

 private:
  // A system with its blocks' solutions, and where each leaf is solved. From here on, what is solved together is a
  // block: one of the system's, or what is left of it, or an unknown that was written out.
  struct Solved {
    const System* system = nullptr;
    std::vector<Solution> solutions;
    std::vector<std::vector<ExprId>> reads;  // by block: leaves of variables, without its own
    std::unordered_map<ExprId, std::uint32_t> block_of;
    std::vector<std::uint32_t> program_block;  // by block: index into Program::blocks, once it is needed
    std::vector<std::uint32_t> work;           // by block: its scratch, once it is needed
  };
  struct Residual {
    std::uint32_t index = 0;
    std::vector<ExprId> captured;
  };

  // --- lower.cpp
  // -------------------------------------------------------------------------------------------------------

  // The states of each subsystem follow each other.
  void order_by_subsystem();
  void describe();
  std::string leaf_name(ExprId leaf) const;
  std::uint32_t line_of(base::Span span) const;

  // --- static_parts.cpp: what depends on parameters only
  // ---------------------------------------------------------------

  void find_static();
  // Whether an expression is made of parameters, constants and static variables. With `own`, that block's unknowns
  // count too (and nothing is remembered).
  bool is_static(ExprId root, const Solution* own = nullptr);
  bool is_solved_in_prepare(ExprId leaf) const;
  // The place of a static part in the derived section; computed in `prepare` at its first use.
  std::optional<std::uint32_t> hoist(ExprId e);

  // --- blocks.cpp: systems of equations and their solving
  // --------------------------------------------------------------

  Solved solve_all(const System& system);
  // A parameter whose range lies on one side of 0, or a product or quotient of such with numbers.
  bool is_parameter_without_zero(ExprId e) const;
  // Rates of states, and what blocks outside its own need of an unknown for them. Only where constraints ask for it.
  std::set<ExprId> leaves_that_move(const System& system);
  // The blocks that `wanted` leaves need, in order.
  std::vector<bool> needed(const Solved& solved, const std::vector<ExprId>& wanted);
  void solve(FunctionBuilder& builder, Solved& solved, std::size_t b);
  void solve_needed(FunctionBuilder& builder, const std::vector<ExprId>& wanted);
  bool is_safe_divisor(ExprId e) const;
  // The residual function of a Newton block: what does not depend on its unknowns is captured.
  Residual residual_of(const Solution& solution);
  // Blocks of the same form share one.
  std::uint32_t residual_function(ir::Chunk chunk);
  // First guesses of a Newton block: what the person gave, as far as `usable` lets it; else 1, not 0, for most
  // functions that need Newton are singular or flat at 0.
  void store_guesses(FunctionBuilder& builder, const std::vector<ExprId>& unknowns, std::uint32_t warm,
                     const std::function<bool(ExprId)>& usable);
  // The warm starts of a Newton block: the same for the same unknowns, in whichever function.
  std::uint32_t warm_of(const Solution& solution);
  // The scratch of a block: one for all functions, since none runs inside another.
  std::uint32_t work_of(Solved& solved, std::size_t b, std::uint32_t size);
  std::uint32_t program_block(Solved& solved, std::size_t b);
  // " with x = 3 (line 2)": names in a block's equations, as they were written, that other equations say to be numbers.
  std::string constants_read(const System& system, const Block& block);
  static std::pair<std::uint32_t, std::uint32_t> place_of(const flat::Equation& equation);

  // --- motion.cpp: rates, start, constraints, conditions
  // ---------------------------------------------------------------

  FunctionBuilder motion_builder();
  void build_derivative();
  void store_rates(FunctionBuilder& builder);
  void build_initialize();
  void build_constraints();
  void build_conditions();
  // An expression in states and time: what blocks work out directly is written out.
  ExprId in_states(ExprId e);
  // A state that stays what it is but for jumps: nothing puts it back onto constraints, they are put where it says.
  bool is_memory(ExprId state);

  // --- outputs.cpp: channels and pictures
  // ------------------------------------------------------------------------------

  void build_outputs();
  // An option is a channel: one that there is, when it is just that value, else one of its own that only pictures read.
  void add_drawings(FunctionBuilder& builder);
  static bool has_shape(const ir::Channel& channel, const expr::Shape& shape);
  void add_channel(std::string name, std::string unit, const expr::Shape& shape, const std::vector<ExprId>& items,
                   std::uint32_t flags, FunctionBuilder& builder);
  bool is_known(ExprId leaf) const { return state_index_.contains(leaf) || motion_.block_of.contains(leaf); }
  // The expression, or none where it reads what the present mode does not have.
  ExprId where_known(ExprId e);

  // --- events.cpp: what is watched, and what happens then
  // --------------------------------------------------------------

  void build_watch();
  void build_handlers();
  // The jump that an event is; empty when it cannot be taken in this structure.
  ir::Function jump_at(std::uint32_t event);
  // Where a search for the value after a jump begins: at the value before, else at 1.
  ExprId before_of(ExprId leaf);
  // A variable that was found to be constant, as the number it is.
  ExprId hidden_value(flat::VariableId variable, std::uint32_t order = 0);
  // Samples kept of a delay: every step, when steps and delay are known and not too many.
  std::uint32_t delay_capacity(ExprId duration) const;

  // --- energy.cpp: energy, and parts that take steps of their own
  // ------------------------------------------------------

  void build_energy();
  // From result `first` on.
  void store_energy(FunctionBuilder& builder, std::uint32_t first);
  void build_structure();
  // What takes steps of its own: functions of its states, which they count from its first one.
  void build_subsystems();
  std::uint32_t subsystem_of_energy(ExprId energy) const;
  // result[i] = values[i], of states from `first` on.
  ir::Function function_of_states(const std::vector<ExprId>& values, std::uint32_t first);
  void place_joins();

  static constexpr std::uint32_t no_block = 0xffffffffu;

  struct ListHash {
    std::size_t operator()(const std::vector<ExprId>& list) const {
      std::size_t hash = list.size();
      for (ExprId id : list) hash = hash * 1000003u + id.value;
      return hash;
    }
  };

  flat::Model& model_;
  expr::Pool& pool_;
  const structure::Sorted& sorted_;
  const diag::SourceMap& sources_;
  const Space* space_;
  Space own_space_;
  bool is_one_of_many_ = false;                               // other structures have the same channels
  std::unordered_map<ExprId, std::uint32_t> place_of_state_;  // of any structure
  ir::Program program_;
  Solved motion_;
  Solved start_;
  std::unordered_map<ExprId, std::uint32_t> state_index_;
  std::vector<bool> static_block_;           // by block of the motion
  std::unordered_map<ExprId, bool> static_;  // by expression
  std::unordered_map<ExprId, std::uint32_t> derived_;
  std::map<std::vector<ExprId>, std::uint32_t> warm_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<const flat::Equation*>> written_at_;  // by place
  std::unordered_map<std::vector<ExprId>, Residual, ListHash> residuals_;
  std::unordered_multimap<std::size_t, std::uint32_t> residual_functions_;  // by ir::hash
  std::unordered_map<std::size_t, std::uint32_t> channel_of_group_;
  std::unordered_map<std::vector<ExprId>, std::uint32_t, ListHash> channel_of_items_;
  std::unique_ptr<FunctionBuilder> prepare_;
  std::unique_ptr<symbolic::Substitution> in_states_;
};

}  // namespace lower
