#include "compiler/tangent/slopes.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "compiler/tangent/differentiate.h"
#include "compiler/tangent/prune.h"

namespace tangent {

using ir::no_value;
using ir::Op;
using ir::Value;

namespace {

// Beyond this a table is compiled for longer than its steps gain.
constexpr std::size_t most_instructions = 600;

bool is_arithmetic(const ir::Function& function) {
  if (function.chunks.size() != 1 || function.chunks[0].turns != 1) return false;
  return std::ranges::all_of(function.chunks[0].instructions, [](const ir::Instruction& i) {
    return !ir::is_solve(i.op) && i.op != Op::solution && i.op != Op::load_work &&
           (!ir::is_effect(i.op) || i.op == Op::store_derivative);
  });
}

// A chunk that grows, without an instruction twice.
class Growing {
 public:
  void append(const ir::Chunk& source) {
    std::vector<Value> place(source.instructions.size(), no_value);
    for (Value v = 0; v < source.instructions.size(); ++v) place[v] = add(with_operands(source.instructions[v], place));
  }

  // The tangent of the derivative along state `state`: result i becomes result[at[i]], unless at[i] is no_value.
  void append_column(const ir::Chunk& tangent, std::uint64_t direction, const std::vector<std::uint32_t>& at) {
    std::vector<Value> place(tangent.instructions.size(), no_value);
    for (Value v = 0; v < tangent.instructions.size(); ++v) {
      ir::Instruction i = with_operands(tangent.instructions[v], place);
      if (i.op == Op::store_derivative) {
        if (at[i.index] == no_value) continue;
        i.index = at[i.index];
      }
      place[v] = i.op == Op::direction ? constant(i.index == direction ? 1 : 0) : folded(i);
    }
  }

  [[nodiscard]] ir::Function take() { return {{std::move(out_)}}; }

 private:
  static ir::Instruction with_operands(ir::Instruction i, const std::vector<Value>& place) {
    for (Value* operand : {&i.a, &i.b, &i.c}) {
      if (*operand != no_value) *operand = place[*operand];
    }
    return i;
  }

  Value add(const ir::Instruction& i) {
    if (!ir::is_effect(i.op)) {
      const auto [found, is_new] =
          known_.emplace(Key(i.op, i.a, i.b, i.c, i.index, i.size, i.count, std::bit_cast<std::uint64_t>(i.number)),
                         static_cast<Value>(out_.instructions.size()));
      if (!is_new) return found->second;
    }
    out_.instructions.push_back(i);
    return static_cast<Value>(out_.instructions.size() - 1);
  }

  Value constant(double number) { return add({.op = Op::constant, .number = number}); }
  bool is(Value v, double number) const {
    return out_.instructions[v].op == Op::constant && out_.instructions[v].number == number;
  }
  bool is_constant(Value v) const { return out_.instructions[v].op == Op::constant; }

  Value folded(const ir::Instruction& i) {
    switch (i.op) {
      case Op::add:
        if (is(i.a, 0)) return i.b;
        if (is(i.b, 0)) return i.a;
        break;
      case Op::subtract:
        if (is(i.b, 0)) return i.a;
        if (is(i.a, 0)) return folded({.op = Op::negate, .a = i.b});
        break;
      case Op::multiply:
        if (is(i.a, 0) || is(i.b, 1)) return i.a;
        if (is(i.b, 0) || is(i.a, 1)) return i.b;
        break;
      case Op::divide:
        if (is(i.a, 0) || is(i.b, 1)) return i.a;
        break;
      case Op::negate:
        if (is_constant(i.a)) return constant(is(i.a, 0) ? 0 : -out_.instructions[i.a].number);
        break;
      case Op::select: {
        if (i.b == i.c) return i.b;
        // Whether what moves stands still is known of numbers.
        const ir::Instruction condition = out_.instructions[i.a];
        if (condition.op == Op::equal && is_constant(condition.a) && is_constant(condition.b))
          return out_.instructions[condition.a].number == out_.instructions[condition.b].number ? i.b : i.c;
        break;
      }
      default:
        break;
    }
    return add(i);
  }

  using Key = std::tuple<Op, Value, Value, Value, std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t>;
  ir::Chunk out_;
  std::map<Key, Value> known_;
};

}  // namespace

void add_slopes(ir::Program& program) {
  if (!program.has_balance || !is_arithmetic(program.balance) || !is_arithmetic(program.derivative)) return;
  std::vector<std::uint8_t> core;
  for (const ir::Instruction& i : program.balance.chunks[0].instructions) {
    if (i.op == Op::state) core.push_back(static_cast<std::uint8_t>(i.index));
  }
  std::ranges::sort(core);
  core.erase(std::ranges::unique(core).begin(), core.end());
  if (core.empty() || core.size() > TACTUS_CORE) return;

  const auto states = static_cast<std::uint32_t>(program.state_names.size());
  Differentiator differentiator(program);
  ir::Function tangent =
      differentiator.function(program.derivative, {{Op::store_derivative, 0, states}}, Differentiator::Unstored::zero);
  prune(tangent);
  if (!is_arithmetic(tangent)) return;
  Growing all;
  all.append(program.balance.chunks[0]);
  tactus_model counts = {};
  counts.state_count = states;
  for (std::size_t column = 0; column < core.size(); ++column) {
    std::vector<std::uint32_t> at(states, no_value);
    for (std::size_t row = 0; row < core.size(); ++row)
      at[core[row]] = static_cast<std::uint32_t>(2 * states + 1 + row * core.size() + column);
    all.append_column(tangent.chunks[0], tactus_direction_states(&counts) + core[column], at);
  }
  ir::Function made = all.take();
  prune(made);
  if (made.chunks[0].instructions.size() > most_instructions) return;
  program.slopes = std::move(made);
  program.core = std::move(core);
}

}  // namespace tangent
