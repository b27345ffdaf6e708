// Systems of equations: each block solved directly, by elimination or by Newton, where a function needs it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "compiler/lower/lowering.h"

namespace lower {

bool Lowering::is_parameter_without_zero(ExprId e) const {
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

Lowering::Solved Lowering::solve_all(const System& system) {
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

std::set<ExprId> Lowering::leaves_that_move(const System& system) {
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

std::string Lowering::constants_read(const System& system, const Block& block) {
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

std::pair<std::uint32_t, std::uint32_t> Lowering::place_of(const flat::Equation& equation) {
  return {equation.span.file, equation.span.begin};
}

std::uint32_t Lowering::program_block(Solved& solved, std::size_t b) {
  if (solved.program_block[b] != no_block) return solved.program_block[b];
  const Block& block = solved.system->blocks[solved.solutions[b].block];
  ir::Block described;
  for (std::size_t i = 0; i < block.equations.size() && i < 12; ++i) {
    const flat::Equation& equation = solved.system->equations[block.equations[i]];
    if (i > 0) described.equations += "; ";
    described.equations += equation_text(model_, equation, sources_);
    if (i == 0 && sources_.size() > 0) described.line = sources_.position(equation.span.file, equation.span.begin).line;
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

std::uint32_t Lowering::warm_of(const Solution& solution) {
  auto [found, fresh] = warm_.emplace(solution.unknowns, program_.warm_count);
  if (fresh) program_.warm_count += static_cast<std::uint32_t>(solution.unknowns.size());
  return found->second;
}

std::uint32_t Lowering::work_of(Solved& solved, std::size_t b, std::uint32_t size) {
  if (solved.work[b] == no_block) {
    solved.work[b] = program_.work_count;
    program_.work_count += size;
  }
  return solved.work[b];
}

void Lowering::solve(FunctionBuilder& builder, Solved& solved, std::size_t b) {
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

bool Lowering::is_safe_divisor(ExprId e) const {
  return pool_.is_constant(e) && std::isfinite(pool_[e].number) && pool_[e].number != 0;
}

void Lowering::store_guesses(FunctionBuilder& builder, const std::vector<ExprId>& unknowns, std::uint32_t warm,
                             const std::function<bool(ExprId)>& usable) {
  for (std::size_t i = 0; i < unknowns.size(); ++i) {
    auto guess = sorted_.guesses.find(unknowns[i]);
    bool given = guess != sorted_.guesses.end() && usable(guess->second);
    builder.store(ir::Op::store_warm, warm + static_cast<std::uint32_t>(i),
                  builder.value(given ? guess->second : pool_.constant(1)));
  }
}

Lowering::Residual Lowering::residual_of(const Solution& solution) {
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
      instruction.index = static_cast<std::uint32_t>(std::find(solution.unknowns.begin(), solution.unknowns.end(), id) -
                                                     solution.unknowns.begin());
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

std::uint32_t Lowering::residual_function(ir::Chunk chunk) {
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

std::vector<bool> Lowering::needed(const Solved& solved, const std::vector<ExprId>& wanted) {
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

void Lowering::solve_needed(FunctionBuilder& builder, const std::vector<ExprId>& wanted) {
  const std::vector<bool> mark = needed(motion_, wanted);
  for (std::size_t b = 0; b < mark.size(); ++b) {
    if (mark[b] && !static_block_[b]) solve(builder, motion_, b);
  }
}

}  // namespace lower
