#include "compiler/lower/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "abi/model.h"
#include "base/check.h"
#include "compiler/lower/function_builder.h"
#include "compiler/lower/regroup.h"
#include "compiler/lower/solve_block.h"
#include "compiler/symbolic/symbolic.h"

namespace lower {
namespace {

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

  ir::Program run() {
    const std::set<ExprId> own(sorted_.states.begin(), sorted_.states.end());
    for (std::uint32_t i = 0; i < space_->states.size(); ++i) {
      const auto [variable, order] = space_->states[i];
      const ExprId leaf = pool_.variable(variable, order);
      if (own.contains(leaf)) state_index_.emplace(leaf, i);
      place_of_state_.emplace(leaf, i);
      program_.state_names.push_back(leaf_name(leaf));
    }
    motion_ = solve_all(sorted_.motion);
    start_ = solve_all(sorted_.start);
    find_static();
    Regroup regroup(pool_, [this](ExprId e) { return is_static(e); });
    for (Solution& solution : motion_.solutions) {
      for (ExprId& e : solution.values) e = regroup(e);
      if (solution.determinant.valid()) solution.determinant = regroup(solution.determinant);
    }
    prepare_ = std::make_unique<FunctionBuilder>(
        pool_, program_.work_count,
        [](ExprId) -> ir::Instruction {
          TACTUS_CHECK(!"a leaf of a static block");
          return {};
        },
        [](ExprId) { return std::nullopt; });
    for (std::size_t b = 0; b < motion_.solutions.size(); ++b) {
      if (!static_block_[b]) continue;
      const Solution& solution = motion_.solutions[b];
      if (solution.kind == Solution::newton) {
        store_guesses(*prepare_, solution.unknowns, warm_of(solution), [this](ExprId guess) {
          return symbolic::leaves(pool_, guess, Op::variable).empty() && is_static(guess);
        });
      }
      solve(*prepare_, motion_, b);
    }
    build_derivative();
    build_outputs();
    build_initialize();
    build_watch();
    build_handlers();
    build_constraints();
    build_conditions();
    build_energy();
    build_subsystems();
    program_.prepare = prepare_->take();
    describe();
    return std::move(program_);
  }

 private:
  // A system with its blocks' solutions, and where each leaf is solved. From here on, what is solved together is a block: one of the
  // system's, or what is left of it, or an unknown that was written out.
  struct Solved {
    const System* system = nullptr;
    std::vector<Solution> solutions;
    std::vector<std::vector<ExprId>> reads;  // by block: leaves of variables, without its own
    std::unordered_map<ExprId, std::uint32_t> block_of;
    std::vector<std::uint32_t> program_block;  // by block: index into Program::blocks, once it is needed
    std::vector<std::uint32_t> work;           // by block: its scratch, once it is needed
  };

  // A parameter whose range lies on one side of 0, or a product or quotient of such with numbers.
  bool is_parameter_without_zero(ExprId e) const {
    const expr::Node& node = pool_[e];
    switch (node.op) {
      case Op::constant:
        return std::isfinite(node.number) && node.number != 0;
      case Op::parameter: {
        const flat::Parameter& parameter = model_.parameters[node.index];
        return parameter.low > 0 || parameter.high < 0;
      }
      case Op::negate:
        return is_parameter_without_zero(node.a);
      case Op::multiply:
      case Op::divide:
        return is_parameter_without_zero(node.a) && is_parameter_without_zero(node.b);
      default:
        return false;
    }
  }

  std::string leaf_name(ExprId leaf) const {
    return flat::primed(model_.variables[flat::VariableId(pool_[leaf].index)].name, pool_[leaf].order);
  }

  Solved solve_all(const System& system) {
    Solved solved;
    solved.system = &system;
    const std::set<ExprId> moving = leaves_that_move(system);
    const Facts facts = {[&](ExprId leaf) { return moving.contains(leaf); },
                         [this](ExprId e) { return is_parameter_without_zero(e); }};
    for (std::uint32_t b = 0; b < system.blocks.size(); ++b) {
      for (Solution& solution : solve_block(pool_, system, b, facts)) solved.solutions.push_back(std::move(solution));
    }
    for (std::uint32_t b = 0; b < solved.solutions.size(); ++b) {
      const Solution& solution = solved.solutions[b];
      for (ExprId leaf : solution.unknowns) solved.block_of.emplace(leaf, b);
      std::vector<ExprId> reads;
      auto add = [&](ExprId e) {
        for (ExprId leaf : symbolic::leaves(pool_, e, Op::variable)) {
          if (std::find(solution.unknowns.begin(), solution.unknowns.end(), leaf) == solution.unknowns.end())
            reads.push_back(leaf);
        }
      };
      for (ExprId e : solution.values) add(e);
      if (solution.kind != Solution::direct) {
        for (ExprId e : solution.matrix) add(e);
        for (ExprId e : solution.right) add(e);
      }
      solved.reads.push_back(std::move(reads));
      solved.program_block.push_back(no_block);
      solved.work.push_back(no_block);
    }
    return solved;
  }

  // Rates of states, and what blocks outside its own need of an unknown for them. Only where constraints ask for it.
  std::set<ExprId> leaves_that_move(const System& system) {
    std::set<ExprId> moving;
    if (sorted_.constraints.empty()) return moving;
    std::unordered_map<ExprId, std::uint32_t> block_of;
    for (std::uint32_t b = 0; b < system.blocks.size(); ++b) {
      for (std::uint32_t u : system.blocks[b].unknowns) block_of.emplace(system.unknowns[u], b);
    }
    std::vector<bool> is_seen(system.blocks.size());
    moving.insert(sorted_.state_rates.begin(), sorted_.state_rates.end());
    std::vector<ExprId> open = sorted_.state_rates;
    while (!open.empty()) {
      auto found = block_of.find(open.back());
      open.pop_back();
      if (found == block_of.end() || is_seen[found->second]) continue;
      const std::uint32_t b = found->second;
      is_seen[b] = true;
      for (std::uint32_t e : system.blocks[b].equations) {
        for (ExprId side : {system.equations[e].left, system.equations[e].right}) {
          for (ExprId leaf : symbolic::leaves(pool_, side, Op::variable)) {
            auto other = block_of.find(leaf);
            if (other == block_of.end() || other->second == b) continue;
            moving.insert(leaf);
            open.push_back(leaf);
          }
        }
      }
    }
    return moving;
  }

  // --- What depends on parameters only ---------------------------------------------------------------------------------

  void find_static() {
    static_block_.assign(motion_.solutions.size(), false);
    for (std::size_t b = 0; b < motion_.solutions.size(); ++b) {
      const Solution& solution = motion_.solutions[b];
      auto all_static = [&](const std::vector<ExprId>& list) {
        return std::all_of(list.begin(), list.end(), [&](ExprId e) { return is_static(e, &solution); });
      };
      bool yes = all_static(solution.values) &&
                 (solution.kind == Solution::direct || (all_static(solution.matrix) && all_static(solution.right)));
      if (!yes) continue;
      static_block_[b] = true;
      for (ExprId leaf : solution.unknowns) static_[leaf] = true;
    }
  }

  // Whether an expression is made of parameters, constants and static variables. With `own`, that block's unknowns count too (and nothing
  // is remembered).
  bool is_static(ExprId root, const Solution* own = nullptr) {
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
      memory[id] =
          look(node.a) == yes && (operands < 2 || look(node.b) == yes) && (operands < 3 || look(node.c) == yes);
      stack.pop_back();
    }
    return look(root) == yes;
  }

  bool is_solved_in_prepare(ExprId leaf) const {
    auto found = motion_.block_of.find(leaf);
    return found != motion_.block_of.end() && static_block_[found->second];
  }

  // The place of a static part in the derived section; computed in `prepare` at its first use.
  std::optional<std::uint32_t> hoist(ExprId e) {
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

  // --- Blocks ----------------------------------------------------------------------------------------------------------

  // " with x = 3 (line 2)": names in a block's equations, as they were written, that other equations say to be numbers.
  std::string constants_read(const System& system, const Block& block) {
    constexpr std::size_t most = 6;
    if (written_at_.empty()) {
      for (const flat::Equation& equation : model_.equations) {
        auto& here = written_at_[place_of(equation)];
        if (here.size() < most) here.push_back(&equation);  // those of a loop and of a vector share their place
      }
    }
    std::vector<std::uint32_t> read;
    for (std::uint32_t e : block.equations) {
      for (const flat::Equation* written : written_at_[place_of(system.equations[e])]) {
        for (ExprId side : {written->left, written->right}) {
          for (ExprId leaf : symbolic::leaves(pool_, side, Op::variable)) {
            const std::uint32_t v = pool_[leaf].index;
            if (sorted_.constant_spans.contains(v) && std::find(read.begin(), read.end(), v) == read.end())
              read.push_back(v);
          }
        }
      }
    }
    std::string text;
    for (std::size_t i = 0; i < read.size(); ++i) {
      if (i == most) return text + ", ..";
      const std::uint32_t line = line_of(sorted_.constant_spans.at(read[i]));
      text += fmt::format("{}{} = {}", i == 0 ? " with " : ", ", leaf_name(pool_.variable(read[i], 0)),
                          expr::print_number(sorted_.constants.at(read[i])));
      if (line > 0) text += fmt::format(" (line {})", line);
    }
    return text;
  }

  static std::pair<std::uint32_t, std::uint32_t> place_of(const flat::Equation& equation) {
    return {equation.span.file, equation.span.begin};
  }

  std::uint32_t program_block(Solved& solved, std::size_t b) {
    if (solved.program_block[b] != no_block) return solved.program_block[b];
    const Block& block = solved.system->blocks[solved.solutions[b].block];
    ir::Block described;
    for (std::size_t i = 0; i < block.equations.size() && i < 12; ++i) {
      const flat::Equation& equation = solved.system->equations[block.equations[i]];
      if (i > 0) described.equations += "; ";
      described.equations += equation_text(model_, equation, sources_);
      if (i == 0 && sources_.size() > 0)
        described.line = sources_.position(equation.span.file, equation.span.begin).line;
    }
    if (block.equations.size() > 12) described.equations += "; ..";
    described.equations += constants_read(*solved.system, block);
    for (std::size_t i = 0; i < block.unknowns.size(); ++i) {
      if (i > 0) described.unknowns += "; ";
      described.unknowns += leaf_name(solved.system->unknowns[block.unknowns[i]]);
    }
    described.count = static_cast<std::uint32_t>(block.unknowns.size());
    solved.program_block[b] = static_cast<std::uint32_t>(program_.blocks.size());
    program_.blocks.push_back(std::move(described));
    return solved.program_block[b];
  }

  // The warm starts of a Newton block: the same for the same unknowns, in whichever function.
  std::uint32_t warm_of(const Solution& solution) {
    auto [found, fresh] = warm_.emplace(solution.unknowns, program_.warm_count);
    if (fresh) program_.warm_count += static_cast<std::uint32_t>(solution.unknowns.size());
    return found->second;
  }

  // The scratch of a block: one for all functions, since none runs inside another.
  std::uint32_t work_of(Solved& solved, std::size_t b, std::uint32_t size) {
    if (solved.work[b] == no_block) {
      solved.work[b] = program_.work_count;
      program_.work_count += size;
    }
    return solved.work[b];
  }

  void solve(FunctionBuilder& builder, Solved& solved, std::size_t b) {
    builder.may_split();
    const Solution& solution = solved.solutions[b];
    const auto n = static_cast<std::uint32_t>(solution.unknowns.size());
    if (solution.kind == Solution::direct) {
      if (solution.determinant.valid() && !is_safe_divisor(solution.determinant)) {
        ir::Instruction need{ir::Op::need_determinant};
        need.a = builder.value(solution.determinant);
        need.block = program_block(solved, b);
        builder.emit(need);
      }
      // All values first: no unknown of the block stands in them.
      std::vector<ir::Value> values;
      for (ExprId e : solution.values) values.push_back(builder.value(e));
      for (std::uint32_t i = 0; i < n; ++i) builder.define(solution.unknowns[i], values[i]);
      return;
    }
    ir::Instruction instruction{solution.kind == Solution::linear ? ir::Op::linear_solve : ir::Op::newton_solve};
    instruction.size = n;
    instruction.block = program_block(solved, b);
    std::vector<ir::Value> operands;
    if (solution.kind == Solution::linear) {
      for (ExprId e : solution.matrix) operands.push_back(builder.value(e));
      for (ExprId e : solution.right) operands.push_back(builder.value(e));
      instruction.warm = solution.essential;
      instruction.index = work_of(solved, b, solution.essential == 0 ? n * n + n : 3 * n * n + 6 * n);
    } else {
      Residual residual = residual_of(solution);
      for (ExprId e : residual.captured) operands.push_back(builder.value(e));
      instruction.residual = residual.index;
      instruction.warm = warm_of(solution);
      program_.blocks[instruction.block].warm = instruction.warm;
      instruction.index = work_of(solved, b, static_cast<std::uint32_t>(operands.size()) + n * n + 3 * n);
    }
    instruction.first = static_cast<std::uint32_t>(builder.chunk().operands.size());
    instruction.count = static_cast<std::uint32_t>(operands.size());
    builder.chunk().operands.insert(builder.chunk().operands.end(), operands.begin(), operands.end());
    ir::Value solved_value = builder.emit(instruction);
    for (std::uint32_t i = 0; i < n; ++i) {
      ir::Instruction part{ir::Op::solution};
      part.a = solved_value;
      part.index = i;
      builder.define(solution.unknowns[i], builder.emit(part));
    }
  }

  bool is_safe_divisor(ExprId e) const {
    return pool_.is_constant(e) && std::isfinite(pool_[e].number) && pool_[e].number != 0;
  }

  // First guesses of a Newton block: what the person gave, as far as `usable` lets it; else 1, not 0, for most functions that
  // need Newton are singular or flat at 0.
  template <class Usable>
  void store_guesses(FunctionBuilder& builder, const std::vector<ExprId>& unknowns, std::uint32_t warm, Usable usable) {
    for (std::size_t i = 0; i < unknowns.size(); ++i) {
      auto guess = sorted_.guesses.find(unknowns[i]);
      bool given = guess != sorted_.guesses.end() && usable(guess->second);
      builder.store(ir::Op::store_warm, warm + static_cast<std::uint32_t>(i),
                    builder.value(given ? guess->second : pool_.constant(1)));
    }
  }

  struct Residual {
    std::uint32_t index = 0;
    std::vector<ExprId> captured;
  };

  // The residual function of a Newton block: what does not depend on its unknowns is captured.
  Residual residual_of(const Solution& solution) {
    auto key = solution.right;
    if (auto found = residuals_.find(key); found != residuals_.end()) return found->second;
    Residual residual;
    std::unordered_map<ExprId, bool> depends;
    std::unordered_map<ExprId, ir::Value> values;
    std::unordered_map<ExprId, std::uint32_t> captured;
    ir::Chunk chunk;
    auto emit = [&](const ir::Instruction& instruction) {
      chunk.instructions.push_back(instruction);
      return static_cast<ir::Value>(chunk.instructions.size() - 1);
    };
    std::vector<ExprId> roots = solution.right;
    roots.insert(roots.end(), solution.matrix.begin(), solution.matrix.end());
    std::vector<bool> visited;
    std::vector<ExprId> order;
    expr::visit_postorder(pool_, roots, visited, [&](ExprId id) { order.push_back(id); });
    for (ExprId id : order) {
      const expr::Node& node = pool_[id];
      const int operands = expr::operand_count(node.op);
      bool own = node.op == Op::variable &&
                 std::find(solution.unknowns.begin(), solution.unknowns.end(), id) != solution.unknowns.end();
      depends[id] = own || (operands >= 1 && depends[node.a]) || (operands >= 2 && depends[node.b]) ||
                    (operands >= 3 && depends[node.c]);
    }
    // Constants and truth values that do not depend on the unknowns are made inside; other such parts are captured whole.
    std::function<ir::Value(ExprId)> value = [&](ExprId id) -> ir::Value {
      if (auto found = values.find(id); found != values.end()) return found->second;
      const expr::Node& node = pool_[id];
      ir::Instruction instruction{};
      if (node.op == Op::constant) {
        instruction.op = ir::Op::constant;
        instruction.number = node.number;
      } else if (!depends[id] && !pool_.is_truth(id)) {
        auto [found, fresh] = captured.emplace(id, static_cast<std::uint32_t>(residual.captured.size()));
        if (fresh) residual.captured.push_back(id);
        instruction.op = ir::Op::captured;
        instruction.index = found->second;
      } else if (node.op == Op::variable) {
        instruction.op = ir::Op::unknown;
        instruction.index = static_cast<std::uint32_t>(
            std::find(solution.unknowns.begin(), solution.unknowns.end(), id) - solution.unknowns.begin());
      } else {
        TACTUS_CHECK(node.op != Op::truth);
        instruction = operation_of(node);
        const int operands = expr::operand_count(node.op);
        instruction.a = value(node.a);
        if (operands >= 2) instruction.b = value(node.b);
        if (operands >= 3) instruction.c = value(node.c);
      }
      return values[id] = emit(instruction);
    };
    // Bottom-up, so that the recursion above never goes deep.
    for (ExprId id : order) {
      if (depends[id]) value(id);
    }
    auto store = [&](ir::Op op, std::size_t index, ExprId e) {
      ir::Instruction instruction{op};
      instruction.a = value(e);
      instruction.index = static_cast<std::uint32_t>(index);
      emit(instruction);
    };
    for (std::size_t i = 0; i < solution.right.size(); ++i) store(ir::Op::store_residual, i, solution.right[i]);
    for (std::size_t i = 0; i < solution.matrix.size(); ++i) store(ir::Op::store_jacobian, i, solution.matrix[i]);
    residual.index = residual_function(std::move(chunk));
    residuals_.emplace(std::move(key), residual);
    return residual;
  }

  // Blocks of the same form share one.
  std::uint32_t residual_function(ir::Chunk chunk) {
    const std::size_t hash = ir::hash(chunk);
    const auto [first, last] = residual_functions_.equal_range(hash);
    for (auto at = first; at != last; ++at) {
      if (ir::same(program_.residuals[at->second], chunk)) return at->second;
    }
    const auto index = static_cast<std::uint32_t>(program_.residuals.size());
    residual_functions_.emplace(hash, index);
    program_.residuals.push_back(std::move(chunk));
    return index;
  }

  // The blocks that `wanted` leaves need, in order.
  std::vector<bool> needed(const Solved& solved, const std::vector<ExprId>& wanted) {
    std::vector<bool> mark(solved.solutions.size());
    std::vector<ExprId> open = wanted;
    while (!open.empty()) {
      ExprId leaf = open.back();
      open.pop_back();
      auto found = solved.block_of.find(leaf);
      if (found == solved.block_of.end() || mark[found->second]) continue;
      mark[found->second] = true;
      open.insert(open.end(), solved.reads[found->second].begin(), solved.reads[found->second].end());
    }
    return mark;
  }

  // --- The functions ---------------------------------------------------------------------------------------------------

  FunctionBuilder motion_builder() {
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

  void build_derivative() {
    FunctionBuilder builder = motion_builder();
    store_rates(builder);
    program_.derivative = builder.take();
  }

  void store_rates(FunctionBuilder& builder) {
    // Every Newton block, also one that no state needs: which of its solutions is meant, continuity along the motion says.
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

  void build_outputs() {
    FunctionBuilder builder = motion_builder();
    std::vector<bool> is_recorded(model_.variables.size());
    for (const flat::Group& group : model_.groups) {
      for (std::uint32_t i = 0; i < group.shape.size(); ++i) is_recorded[group.first.value + i] = true;
    }
    is_recorded.resize(std::max(is_recorded.size(), model_.variables.size()));
    std::vector<ExprId> wanted;
    for (const auto& [leaf, block] : motion_.block_of) {
      if (is_recorded[pool_[leaf].index]) wanted.push_back(leaf);
    }
    for (const flat::Drawing& drawing : model_.drawings) {
      for (const flat::DrawnOption& option : drawing.options) {
        for (ExprId item : option.items) {
          const auto leaves = symbolic::leaves(pool_, item, Op::variable);
          wanted.insert(wanted.end(), leaves.begin(), leaves.end());
        }
      }
    }
    solve_needed(builder, wanted);
    for (std::size_t g = 0; g < model_.groups.size(); ++g) {
      const flat::Group& group = model_.groups[g];
      for (std::uint32_t order = 0; order < space_->orders[g]; ++order) {
        std::vector<ExprId> items;
        bool constant = !is_one_of_many_;
        for (std::uint32_t i = 0; i < group.shape.size(); ++i) {
          ExprId leaf = pool_.variable(group.first.value + i, order);
          auto number = sorted_.constants.find(group.first.value + i);
          if (number != sorted_.constants.end()) {
            items.push_back(pool_.constant(order == 0 ? number->second : 0));
          } else if (is_known(leaf)) {
            items.push_back(leaf);
            auto block = motion_.block_of.find(leaf);
            if (block == motion_.block_of.end() || !static_block_[block->second]) constant = false;
          } else {
            items.push_back(pool_.constant(std::numeric_limits<double>::quiet_NaN()));
          }
        }
        std::uint32_t flags = (constant ? TACTUS_CHANNEL_CONSTANT : 0) | (order > 0 ? TACTUS_CHANNEL_DERIVATIVE : 0) |
                              (group.written && order == 0 ? TACTUS_CHANNEL_WRITTEN : 0);
        add_channel(flat::primed(group.name, order), flat::unit_of(group.quantity, order), group.shape, items, flags,
                    builder);
        if (order == 0)
          channel_of_group_[static_cast<std::size_t>(&group - model_.groups.data())] =
              static_cast<std::uint32_t>(program_.channels.size() - 1);
      }
    }
    for (const flat::Discrete& discrete : model_.discrete) {
      std::vector<ExprId> values;
      for (std::uint32_t i = 0; i < discrete.shape.size(); ++i) values.push_back(pool_.discrete(discrete.first + i));
      add_channel(discrete.name, flat::unit_of(discrete.quantity, 0), discrete.shape, values, TACTUS_CHANNEL_DISCRETE,
                  builder);
    }
    for (const flat::Automaton& automaton : model_.automata) {
      add_channel(automaton.name, "", expr::Shape::scalar(), {pool_.discrete(automaton.slot)}, TACTUS_CHANNEL_DISCRETE,
                  builder);
    }
    for (const flat::Input& input : model_.inputs) {
      std::vector<ExprId> values, rates;
      for (std::uint32_t i = 0; i < input.shape.size(); ++i) {
        values.push_back(pool_.input(input.first + i));
        rates.push_back(pool_.input_rate(input.first + i));
      }
      add_channel(input.name, flat::unit_of(input.quantity, 0), input.shape, values, 0, builder);
      add_channel(flat::primed(input.name, 1), flat::unit_of(input.quantity, 1), input.shape, rates,
                  TACTUS_CHANNEL_DERIVATIVE, builder);
    }
    // Each mode by its name, 1 or 0.
    for (const flat::Automaton& automaton : model_.automata) {
      for (std::size_t mode = 0; mode < automaton.modes.size(); ++mode) {
        const ExprId is_it =
            pool_.make(Op::equal, pool_.discrete(automaton.slot), pool_.constant(static_cast<double>(mode)));
        add_channel(automaton.name + "." + automaton.modes[mode], "", expr::Shape::scalar(),
                    {pool_.make(Op::select, is_it, pool_.constant(1), pool_.constant(0))}, TACTUS_CHANNEL_DISCRETE,
                    builder);
      }
    }
    add_drawings(builder);
    program_.outputs = builder.take();
  }

  // An option is a channel: one that there is, when it is just that value, else one of its own that only pictures read.
  void add_drawings(FunctionBuilder& builder) {
    for (const flat::Drawing& drawing : model_.drawings) {
      ir::Drawing made{drawing.kind, drawing.text, line_of(drawing.span), {}};
      for (const flat::DrawnOption& option : drawing.options) {
        if (option.items.empty()) {
          made.options.push_back({option.name, option.text, true, 0});
          continue;
        }
        // With modes always one of its own, so that it is the same one in all of them.
        auto known = channel_of_items_.find(option.items);
        if (is_one_of_many_ || known == channel_of_items_.end() ||
            !has_shape(program_.channels[known->second], option.shape)) {
          const bool is_constant =
              std::all_of(option.items.begin(), option.items.end(), [&](ExprId item) { return is_static(item); });
          add_channel(option.label, "", option.shape, option.items,
                      TACTUS_CHANNEL_SCENE | (is_constant ? TACTUS_CHANNEL_CONSTANT : 0), builder);
          known = channel_of_items_.find(option.items);
        }
        made.options.push_back({option.name, "", false, known->second});
      }
      program_.drawings.push_back(std::move(made));
    }
  }

  static bool has_shape(const ir::Channel& channel, const expr::Shape& shape) {
    return channel.rows == shape.rows && channel.columns == shape.columns;
  }

  void add_channel(std::string name, std::string unit, const expr::Shape& shape, const std::vector<ExprId>& items,
                   std::uint32_t flags, FunctionBuilder& builder) {
    channel_of_items_[items] = static_cast<std::uint32_t>(program_.channels.size());
    program_.channels.push_back(
        {std::move(name), std::move(unit), program_.output_count, shape.rows, shape.columns, flags});
    for (ExprId item : items) {
      builder.may_split();
      builder.store(ir::Op::store_output, program_.output_count++, builder.value(where_known(item)));
    }
  }

  bool is_known(ExprId leaf) const { return state_index_.contains(leaf) || motion_.block_of.contains(leaf); }

  // The expression, or none where it reads what the present mode does not have.
  ExprId where_known(ExprId e) {
    for (ExprId leaf : symbolic::leaves(pool_, e, Op::variable)) {
      if (!is_known(leaf)) return pool_.constant(std::numeric_limits<double>::quiet_NaN());
    }
    return e;
  }

  void build_initialize() {
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

  void solve_needed(FunctionBuilder& builder, const std::vector<ExprId>& wanted) {
    const std::vector<bool> mark = needed(motion_, wanted);
    for (std::size_t b = 0; b < mark.size(); ++b) {
      if (mark[b] && !static_block_[b]) solve(builder, motion_, b);
    }
  }

  // A variable that was found to be constant, as the number it is.
  ExprId hidden_value(flat::VariableId variable, std::uint32_t order = 0) {
    auto number = sorted_.constants.find(variable.value);
    if (number == sorted_.constants.end()) return pool_.variable(variable.value, order);
    return pool_.constant(order == 0 ? number->second : 0);
  }

  void build_watch() {
    FunctionBuilder builder = motion_builder();
    std::vector<ExprId> watched;
    for (const flat::Event& event : model_.events) {
      ir::Event made{event.name, event.kind,          event.times, 0,          event.period,
                     event.from, line_of(event.span), event.flags, event.pulse};
      if (event.condition.valid()) {
        made.watched = static_cast<std::uint32_t>(watched.size());
        const ExprId condition = hidden_value(event.condition);
        watched.push_back(pool_.is_constant(condition) || is_known(condition) ? condition : pool_.constant(0));
        for (flat::VariableId part : event.parts) {
          const ExprId value = hidden_value(part);
          watched.push_back(pool_.is_constant(value) || is_known(value) ? value : pool_.constant(-1));
        }
        made.parts = static_cast<std::uint32_t>(event.parts.size());
      }
      program_.events.push_back(std::move(made));
    }
    const auto known_or_nothing = [&](flat::VariableId variable) {
      const ExprId value = hidden_value(variable);
      return pool_.is_constant(value) || is_known(value) ? value
                                                         : pool_.constant(std::numeric_limits<double>::quiet_NaN());
    };
    for (const flat::Plan& plan : model_.plans) {
      ir::Plan made{plan.name, model_.transitions[plan.transition].event, model_.transitions[plan.failed].event};
      made.has_otherwise = plan.has_otherwise;
      made.line = line_of(plan.span);
      made.guess = static_cast<std::uint32_t>(watched.size());
      for (std::size_t i = 0; i < plan.chosen.size(); ++i) {
        made.chosen.push_back(place_of_state_.at(pool_.variable(plan.chosen[i].value, 0)));
        watched.push_back(known_or_nothing(plan.guesses[i]));
      }
      for (const flat::Plan::Phase& phase : plan.phases) {
        made.phases.push_back({model_.transitions[phase.transition].event, static_cast<std::uint32_t>(watched.size()),
                               static_cast<std::uint32_t>(phase.targets.size())});
        for (flat::VariableId target : phase.targets) watched.push_back(known_or_nothing(target));
      }
      program_.plans.push_back(std::move(made));
    }
    for (const flat::Delay& delay : model_.delays) {
      ir::Delay made;
      made.source = static_cast<std::uint32_t>(watched.size());
      made.duration = program_.derived_count++;
      made.capacity = delay_capacity(delay.duration);
      made.is_rate = delay.is_rate;
      prepare_->store(ir::Op::store_derived, made.duration, prepare_->value(delay.duration));
      watched.push_back(hidden_value(delay.source, delay.order));
      program_.delays.push_back(made);
    }
    for (const structure::Relation& relation : sorted_.relations) {
      const auto at = static_cast<std::uint32_t>(watched.size());
      const bool is_floor = relation.kind == TACTUS_FLOOR;
      watched.push_back(relation.guard);
      if (is_floor) watched.push_back(relation.source);
      program_.relations.push_back({static_cast<std::uint32_t>(relation.kind), at, relation.held,
                                    is_floor ? at + 1 : relation.event, 1, line_of(relation.span)});
    }
    std::vector<ExprId> read;
    for (ExprId e : watched) {
      const auto leaves = symbolic::leaves(pool_, e, Op::variable);
      read.insert(read.end(), leaves.begin(), leaves.end());
    }
    solve_needed(builder, read);
    for (std::uint32_t i = 0; i < watched.size(); ++i) {
      builder.may_split();
      builder.store(ir::Op::store_watched, i, builder.value(watched[i]));
    }
    program_.watch_count = static_cast<std::uint32_t>(watched.size());
    program_.watch = builder.take();
  }

  // Samples kept of a delay: every step, when steps and delay are known and not too many.
  std::uint32_t delay_capacity(ExprId duration) const {
    constexpr double fewest = 64, usual = 4096, most = 65536;
    const auto step = model_.settings.step_size;
    if (!step || !pool_.is_constant(duration)) return static_cast<std::uint32_t>(usual);
    return static_cast<std::uint32_t>(std::clamp(std::ceil(pool_[duration].number / *step) + 16, fewest, most));
  }

  void build_handlers() {
    for (std::uint32_t e = 0; e < model_.events.size(); ++e) {
      const flat::Event& event = model_.events[e];
      if (event.kind == TACTUS_TRANSITION) {
        program_.handlers.push_back(jump_at(e));
        continue;
      }
      FunctionBuilder builder = motion_builder();
      std::vector<ExprId> values;
      for (const flat::Update& update : event.updates) {
        const ExprId value = hidden_value(update.value);
        values.push_back(pool_.is_constant(value) || is_known(value) ? value : pool_.discrete(update.discrete));
      }
      solve_needed(builder, values);
      // All values before any of them changes what the others read.
      std::vector<ir::Value> made;
      for (ExprId value : values) made.push_back(builder.value(value));
      for (std::size_t i = 0; i < made.size(); ++i)
        builder.store(ir::Op::store_discrete, event.updates[i].discrete, made[i]);
      program_.handlers.push_back(builder.take());
    }
  }

  // The jump that an event is; empty when it cannot be taken in this structure.
  ir::Function jump_at(std::uint32_t event) {
    for (const structure::Jump& jump : sorted_.jumps) {
      const flat::Transition& transition = model_.transitions[jump.transition];
      if (transition.event != event) continue;
      FunctionBuilder builder = motion_builder();
      Solved solved = solve_all(jump.system);
      std::vector<ExprId> read;
      const auto note = [&](ExprId e) {
        for (ExprId leaf : symbolic::leaves(pool_, e, Op::variable)) {
          if (!solved.block_of.contains(leaf)) read.push_back(leaf);
        }
      };
      for (const flat::Equation& equation : jump.system.equations) {
        note(equation.left);
        note(equation.right);
      }
      for (const structure::Jump::Set& set : jump.sets) note(set.value);
      std::vector<ExprId> remembered;  // of what was before
      for (const flat::Update& update : model_.events[event].updates) {
        const ExprId value = hidden_value(update.value);
        remembered.push_back(pool_.is_constant(value) || is_known(value) ? value : pool_.discrete(update.discrete));
        note(remembered.back());
      }
      solve_needed(builder, read);
      for (std::size_t b = 0; b < solved.solutions.size(); ++b) {
        const Solution& solution = solved.solutions[b];
        if (solution.kind != Solution::newton) continue;
        const std::uint32_t warm = warm_of(solution);
        for (std::size_t i = 0; i < solution.unknowns.size(); ++i)
          builder.store(ir::Op::store_warm, warm + static_cast<std::uint32_t>(i),
                        builder.value(before_of(solution.unknowns[i])));
      }
      for (std::size_t b = 0; b < solved.solutions.size(); ++b) solve(builder, solved, b);
      // All values before any of them changes what the others read.
      std::vector<ir::Value> values;
      for (const structure::Jump::Set& set : jump.sets) values.push_back(builder.value(set.value));
      std::vector<ir::Value> kept;
      for (ExprId value : remembered) kept.push_back(builder.value(value));
      for (std::size_t i = 0; i < kept.size(); ++i)
        builder.store(ir::Op::store_discrete, model_.events[event].updates[i].discrete, kept[i]);
      for (std::size_t i = 0; i < values.size(); ++i)
        builder.store(ir::Op::store_state, place_of_state_.at(jump.sets[i].state), values[i]);
      for (const flat::Transition::Goto& to : transition.gotos) {
        builder.store(ir::Op::store_discrete, model_.automata[to.automaton].slot,
                      builder.value(pool_.constant(to.mode)));
      }
      return builder.take();
    }
    return {};
  }

  // Where a search for the value after a jump begins: at the value before, else at 1.
  ExprId before_of(ExprId leaf) {
    const flat::VariableId of = model_.variables[flat::VariableId(pool_[leaf].index)].next_of;
    if (!of.valid()) return pool_.constant(1);
    const ExprId before = hidden_value(of, pool_[leaf].order);
    return pool_.is_constant(before) || state_index_.contains(before) ? before : pool_.constant(1);
  }

  // An expression in states and time: what blocks work out directly is written out.
  ExprId in_states(ExprId e) {
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

  // A state that stays what it is but for jumps: nothing puts it back onto constraints, they are put where it says.
  bool is_memory(ExprId state) {
    const auto at = std::find(sorted_.states.begin(), sorted_.states.end(), state) - sorted_.states.begin();
    if (sorted_.start_kinds[static_cast<std::size_t>(at)] != structure::StartKind::given) return false;
    const auto block = motion_.block_of.find(sorted_.state_rates[static_cast<std::size_t>(at)]);
    if (block == motion_.block_of.end()) return false;
    const Solution& solution = motion_.solutions[block->second];
    return solution.kind == Solution::direct && solution.values.size() == 1 && pool_.is_constant(solution.values[0], 0);
  }

  void build_constraints() {
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
      program_.constraints.push_back(
          {equation_text(model_, equation, sources_), line_of(equation.span), equation.times});
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

  void build_conditions() {
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

  // The states of each subsystem follow each other.
  void order_by_subsystem() {
    if (sorted_.subsystem_of.empty()) return;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> subsystem;
    for (std::size_t i = 0; i < sorted_.states.size(); ++i)
      subsystem[{pool_[sorted_.states[i]].index, pool_[sorted_.states[i]].order}] = sorted_.subsystem_of[i];
    std::stable_sort(own_space_.states.begin(), own_space_.states.end(),
                     [&](const auto& a, const auto& b) { return subsystem.at(a) < subsystem.at(b); });
  }

  // What takes steps of its own: functions of its states, which they count from its first one.
  void build_subsystems() {
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

  std::uint32_t subsystem_of_energy(ExprId energy) const {
    for (ExprId leaf : symbolic::leaves(pool_, energy, Op::variable)) {
      const auto at = std::find(sorted_.states.begin(), sorted_.states.end(), leaf);
      if (at != sorted_.states.end())
        return sorted_.subsystem_of[static_cast<std::size_t>(at - sorted_.states.begin())];
    }
    return 0;
  }

  // result[i] = values[i], of states from `first` on.
  ir::Function function_of_states(const std::vector<ExprId>& values, std::uint32_t first) {
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

  void place_joins() {
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

  void build_energy() {
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

  // From result `first` on.
  void store_energy(FunctionBuilder& builder, std::uint32_t first) {
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

  void build_structure() {
    FunctionBuilder builder = motion_builder();
    const auto count = static_cast<std::uint32_t>(space_->states.size());
    std::vector<ExprId> entries(std::size_t{count} * (count + 1), pool_.constant(0));
    const std::size_t own = sorted_.states.size();
    for (std::size_t i = 0; i < own; ++i) {
      const std::uint32_t row = state_index_.at(sorted_.states[i]);
      for (std::size_t j = 0; j < own; ++j)
        entries[std::size_t{row} * count + state_index_.at(sorted_.states[j])] = sorted_.structure[i * own + j];
      if (!pool_.is_constant(sorted_.energy_slopes[i], 0))
        entries[std::size_t{count} * count + row] = pool_.constant(1);
    }
    for (std::uint32_t i = 0; i < entries.size(); ++i) {
      builder.may_split();
      builder.store(ir::Op::store_derivative, i, builder.value(entries[i]));
    }
    program_.structure = builder.take();
    program_.has_structure = true;
  }

  std::uint32_t line_of(base::Span span) const {
    return sources_.size() > 0 ? sources_.position(span.file, span.begin).line : 0;
  }

  void describe() {
    program_.discrete_count = model_.discrete_count;
    program_.event_precision = model_.settings.event_precision.value_or(0);
    program_.max_transitions = static_cast<std::uint32_t>(std::min(model_.settings.max_transitions.value_or(0), 1e9));
    for (const flat::Table& table : model_.tables)
      program_.tables.push_back({table.method, table.x, table.y, table.values, table.slopes});
    program_.input_count = model_.input_count;
    for (const flat::Input& input : model_.inputs) {
      program_.input_channels.push_back(
          {input.name, flat::unit_of(input.quantity, 0), input.first, input.shape.rows, input.shape.columns, 0});
    }
    for (const flat::Parameter& parameter : model_.parameters) {
      program_.parameters.push_back({parameter.name, parameter.unit, parameter.initial, parameter.low, parameter.high});
    }
    for (const flat::Port& port : model_.ports) {
      program_.ports.push_back(
          {port.device, port.is_input ? port.index : channel_of_group_[port.index], port.is_input});
    }
    const flat::Settings& settings = model_.settings;
    program_.starting_time = settings.starting_time;
    program_.ending_time = settings.ending_time.value_or(settings.starting_time);
    program_.step_size = settings.step_size.value_or(0);
    program_.tolerance = settings.tolerance.value_or(0);
    program_.record_period = settings.record_period.value_or(0);
    program_.solver = settings.solver.value_or(-1);
    program_.hand_period = settings.hand_period.value_or(0);
    program_.dimensions = model_.dimensions;
  }

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

}  // namespace

void widen(Space& space, const flat::Model& model, const structure::Sorted& sorted) {
  const expr::Pool& pool = model.pool;
  std::set<std::pair<std::uint32_t, std::uint32_t>> states(space.states.begin(), space.states.end());
  std::set<std::pair<std::uint32_t, std::uint32_t>> known;
  const auto quantity = [&](ExprId leaf) { return std::pair(pool[leaf].index, pool[leaf].order); };
  for (ExprId leaf : sorted.states) {
    states.insert(quantity(leaf));
    known.insert(quantity(leaf));
  }
  for (ExprId leaf : sorted.motion.unknowns) known.insert(quantity(leaf));
  space.states.assign(states.begin(), states.end());
  space.orders.resize(model.groups.size());
  for (std::size_t g = 0; g < model.groups.size(); ++g) {
    const flat::Group& group = model.groups[g];
    const auto has = [&](std::uint32_t order) {
      for (std::uint32_t i = 0; i < group.shape.size(); ++i) {
        const std::uint32_t variable = group.first.value + i;
        if (!known.contains({variable, order}) && !(order == 0 && sorted.constants.contains(variable))) return false;
      }
      return true;
    };
    std::uint32_t order = 0;
    while (has(order)) ++order;
    space.orders[g] = std::max(space.orders[g], order);
  }
}

std::string equation_text(const flat::Model& model, const flat::Equation& equation, const diag::SourceMap& sources) {
  std::string_view source = sources.size() > 0 ? sources.text(equation.span) : std::string_view();
  if (equation.component != 0 || source.empty() || source.size() > 200) {
    return flat::print(model, equation.left) + " = " + flat::print(model, equation.right);
  }
  std::string text;
  for (char c : source) {
    bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank)
      text += c;
    else if (!text.empty() && text.back() != ' ')
      text += ' ';
  }
  while (!text.empty() && (text.back() == ';' || text.back() == ' ')) text.pop_back();
  return text;
}

ir::Program lower(flat::Model& model, const structure::Sorted& sorted, const diag::SourceMap& sources,
                  const Space* space) {
  return Lowering(model, sorted, sources, space).run();
}

}  // namespace lower
