// Rules, a' being the tangent of a:
//
//   (a b)' = a' b + a b'           (a / b)' = (a' - (a / b) b') / b         |a|' = a' where a >= 0, else -a'
//   sqrt(a)' = a' / 2 / sqrt(a)    (a^n)' = n a^(n-1) a', n constant        (a^b)' = b a^(b-1) a' + a^b log(a) b'
//   atan2(a, b)' = (b a' - a b') / (a^2 + b^2)                              table' = its derivative by a, by b, times
//   a', b'
//   select(c, a, b)' = select(c, a', b')                                    floor, ceil, noise, delayed: 0
//   A z = b:     A z' = b' - A' z, by a second elimination of A
//   r(c, z) = 0: J z' = -(dr/dc) c', J = dr/dz at the solution
//
// Where a derivative is infinite but the function is not, what does not move still has tangent 0: a model at rest at
// such a point keeps the other columns of its Jacobian. Where a function has a kink the tangent is the one of the side
// its instructions take. Noise and what a delay gives count as constant: neither is a function of what moves.
#include "compiler/tangent/differentiate.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "compiler/tangent/tangent.h"

namespace tangent {

using ir::no_value;
using ir::Op;
using ir::Value;

Differentiator::Differentiator(const ir::Program& program) : program_(program) {
  counts_.state_count = static_cast<std::uint32_t>(program.state_names.size());
  counts_.input_count = program.input_count;
  counts_.parameter_count = static_cast<std::uint32_t>(program.parameters.size());
  counts_.derived_count = program.derived_count;
  counts_.discrete_count = program.discrete_count;
}

// ---- making instructions
//
// No two operands of one call below emit instructions: in which order they would, C++ does not say.

Value Differentiator::emit(const ir::Instruction& instruction) {
  out_.instructions.push_back(instruction);
  return static_cast<Value>(out_.instructions.size() - 1);
}

Value Differentiator::emit_with_operands(ir::Instruction instruction, const std::vector<Value>& operands) {
  instruction.first = static_cast<std::uint32_t>(out_.operands.size());
  instruction.count = static_cast<std::uint32_t>(operands.size());
  out_.operands.insert(out_.operands.end(), operands.begin(), operands.end());
  return emit(instruction);
}

Value Differentiator::constant(double number) {
  auto [found, is_new] = constants_.emplace(std::bit_cast<std::uint64_t>(number), no_value);
  if (is_new) found->second = emit({.op = Op::constant, .number = number});
  return found->second;
}

Value Differentiator::direction(std::uint64_t index) {
  auto [found, is_new] = directions_.emplace(index, no_value);
  if (is_new) found->second = source(Op::direction, static_cast<std::uint32_t>(index));
  return found->second;
}

Value Differentiator::sum(Value a, Value b) {
  if (a == no_value) return b;
  return b == no_value ? a : binary(Op::add, a, b);
}
Value Differentiator::difference(Value a, Value b) {
  if (b == no_value) return a;
  return a == no_value ? negated(b) : binary(Op::subtract, a, b);
}
Value Differentiator::scaled(Value a, Value factor) {
  return a == no_value ? no_value : binary(Op::multiply, factor, a);
}
Value Differentiator::divided(Value a, Value divisor) {
  return a == no_value ? no_value : binary(Op::divide, a, divisor);
}
Value Differentiator::negated(Value a) { return a == no_value ? no_value : unary(Op::negate, a); }

Value Differentiator::doubled(Value a) { return scaled(a, constant(2)); }
Value Differentiator::crossed(Value da, Value b, Value db, Value a, Op op) {
  const Value first = scaled(da, b);
  const Value second = scaled(db, a);
  return op == Op::add ? sum(first, second) : difference(first, second);
}
Value Differentiator::mirrored(Value a, Value da) {
  const Value is_negative = binary(Op::less, a, constant(0));
  return select(is_negative, negated(da), da);
}
Value Differentiator::one_and_square(Value a) {
  const Value one = constant(1);
  return binary(Op::add, one, binary(Op::multiply, a, a));
}
Value Differentiator::unless_still(Value moves, Value tangent) {
  const Value zero = constant(0);
  return select(binary(Op::equal, moves, zero), zero, tangent);
}
Value Differentiator::unless_zero(Value a, Value b, Value tangent) {
  const Value zero = constant(0);
  const Value is_zero = binary(Op::equal, a, zero);
  const Value is_any_zero = binary(Op::logical_or, is_zero, binary(Op::equal, b, zero));
  return select(is_any_zero, zero, tangent);
}

// ---- functions and chunks

ir::Function Differentiator::function(const ir::Function& source, const std::vector<Result>& results,
                                      Unstored unstored) {
  chunks_.clear();
  results_ = results;
  std::uint32_t size = 0;
  for (const Result& result : results) size = std::max(size, result.first + result.count);
  stored_.assign(size, false);
  work_has_tangent_.clear();
  discrete_.clear();
  has_many_chunks_ = source.chunks.size() > 1;
  for (const ir::Chunk& part : source.chunks) {
    start_chunk();
    chunk(part);
    chunks_.push_back(std::move(out_));
  }
  if (chunks_.size() == 1) {
    out_ = std::move(chunks_.back());
    chunks_.pop_back();
  } else {
    start_chunk();
  }
  store_unstored(unstored);
  if (!out_.instructions.empty()) chunks_.push_back(std::move(out_));
  return {std::move(chunks_)};
}

void Differentiator::start_chunk() {
  out_ = {};
  constants_.clear();
  directions_.clear();
  solutions_.clear();
  for (auto& [index, stored] : discrete_) stored.in_chunk = false;
}

void Differentiator::chunk(const ir::Chunk& source) {
  in_ = &source;
  duals_.assign(source.instructions.size(), {});
  for (Value v = 0; v < source.instructions.size(); ++v) instruction(source, v);
}

void Differentiator::store_unstored(Unstored unstored) {
  if (unstored == Unstored::left_alone) return;
  for (const Result& result : results_) {
    for (std::uint32_t k = 0; k < result.count; ++k) {
      if (stored_[result.first + k]) continue;
      Value value = no_value;
      if (unstored == Unstored::as_directed) {
        value = direction((result.store == Op::store_discrete ? tactus_direction_discrete(&counts_)
                                                              : tactus_direction_states(&counts_)) +
                          k);
      }
      emit({.op = Op::store_derivative, .a = or_zero(value), .index = result.first + k});
    }
  }
}

void Differentiator::instruction(const ir::Chunk& source, Value v) {
  const ir::Instruction& i = source.instructions[v];
  switch (i.op) {
    case Op::linear_solve:
      return linear_solve(source, v);
    case Op::newton_solve:
      return newton_solve(source, v);
    case Op::solution:
      duals_[v] = solutions_.at(i.a).at(i.index);
      return;
    case Op::discrete:
      duals_[v] = discrete(i.index);
      return;
    case Op::constant:
      duals_[v] = {constant(i.number), no_value};
      return;
    case Op::need_determinant:
    case Op::store_warm:
    case Op::store_jacobian: {
      ir::Instruction copy = i;
      copy.a = duals_[i.a].value;
      emit(copy);
      return;
    }
    case Op::store_residual:
      emit({.op = Op::store_residual, .a = or_zero(duals_[i.a].tangent), .index = i.index});
      return;
    case Op::store_work:
      emit({.op = Op::store_work, .a = duals_[i.a].value, .index = i.index});
      work_has_tangent_[i.index] = duals_[i.a].tangent != no_value;
      if (duals_[i.a].tangent != no_value) {
        emit({.op = Op::store_work, .a = duals_[i.a].tangent, .index = program_.work_count + i.index});
      }
      return;
    default:
      break;
  }
  if (i.op >= Op::store_derivative) return store(i);
  ir::Instruction copy = i;
  for (Value* operand : {&copy.a, &copy.b, &copy.c}) {
    if (*operand != no_value) *operand = duals_[*operand].value;
  }
  const Value made = emit(copy);
  duals_[v] = {made, tangent_of(i, made)};
}

// ---- stores

void Differentiator::store(const ir::Instruction& i) {
  for (const Result& result : results_) {
    if (result.store != i.op || i.index >= result.count) continue;
    stored_[result.first + i.index] = true;
    emit({.op = Op::store_derivative, .a = or_zero(duals_[i.a].tangent), .index = result.first + i.index});
    if (i.op == Op::store_discrete) store_discrete(i);
  }
}

// The discrete section itself stays as it is; what the function reads of it later is what it stored.
void Differentiator::store_discrete(const ir::Instruction& i) {
  const Dual now = duals_[i.a];
  discrete_[i.index] = {.in_chunk = true, .has_tangent = now.tangent != no_value, .now = now};
  if (!has_many_chunks_) return;
  const std::uint32_t place = 2 * program_.work_count + i.index;
  emit({.op = Op::store_work, .a = now.value, .index = place});
  if (now.tangent != no_value) {
    emit({.op = Op::store_work, .a = now.tangent, .index = place + program_.discrete_count});
  }
}

Differentiator::Dual Differentiator::discrete(std::uint32_t index) {
  auto found = discrete_.find(index);
  if (found == discrete_.end()) {
    return {source(Op::discrete, index), direction(tactus_direction_discrete(&counts_) + index)};
  }
  Stored& stored = found->second;
  if (!stored.in_chunk) {
    const std::uint32_t place = 2 * program_.work_count + index;
    stored.in_chunk = true;
    stored.now.value = source(Op::load_work, place);
    stored.now.tangent = stored.has_tangent ? source(Op::load_work, place + program_.discrete_count) : no_value;
  }
  return stored.now;
}

// ---- rules

Value Differentiator::tangent_of(const ir::Instruction& i, Value made) {
  const auto operand = [&](Value v) { return v == no_value ? Dual{} : duals_[v]; };
  const auto [a, da] = operand(i.a);
  const auto [b, db] = operand(i.b);
  switch (i.op) {
    case Op::time:
      return direction(0);
    case Op::state:
      return direction(tactus_direction_states(&counts_) + i.index);
    case Op::input:
      return input_tangent(i);
    case Op::input_rate:
      return direction(tactus_direction_input_rates(&counts_) + i.index);
    case Op::parameter:
      return direction(tactus_direction_parameters(&counts_) + i.index);
    case Op::derived:
      return direction(tactus_direction_derived(&counts_) + i.index);
    case Op::captured:
      return direction(i.index);
    case Op::load_work: {
      auto found = work_has_tangent_.find(i.index);
      TACTUS_CHECK(found != work_has_tangent_.end());  // stored by an earlier chunk of the same function
      return found->second ? source(Op::load_work, program_.work_count + i.index) : no_value;
    }
    case Op::add:
      return sum(da, db);
    case Op::subtract:
      return difference(da, db);
    case Op::multiply:
      if (i.a == i.b) return doubled(scaled(da, a));
      return crossed(da, b, db, a, Op::add);
    case Op::divide:
      return divided(difference(da, scaled(db, made)), b);
    case Op::negate:
      return negated(da);
    case Op::select: {
      const Value dc = duals_[i.c].tangent;
      if (db == no_value && dc == no_value) return no_value;
      const Value yes = or_zero(db);
      return select(a, yes, or_zero(dc));
    }
    case Op::atan2: {
      if (da == no_value && db == no_value) return no_value;
      const Value square_a = binary(Op::multiply, a, a);
      const Value square = binary(Op::add, square_a, binary(Op::multiply, b, b));
      const Value turned = crossed(da, b, db, a, Op::subtract);
      return unless_still(turned, divided(turned, square));
    }
    case Op::power:
      return power_tangent(i, made);
    case Op::table:
      return table_tangent(i);
    default:
      break;
  }
  if (da == no_value) return no_value;
  switch (i.op) {
    case Op::square_root:
      return unless_still(da, divided(scaled(da, constant(0.5)), made));
    case Op::absolute:
      return mirrored(a, da);
    case Op::sin:
      return scaled(da, unary(Op::cos, a));
    case Op::cos:
      return negated(scaled(da, unary(Op::sin, a)));
    case Op::tan:
      return scaled(da, one_and_square(made));
    case Op::asin:
    case Op::acos: {
      // (1 - a)(1 + a): 1 - a^2 would cancel near the ends.
      const Value below = binary(Op::subtract, constant(1), a);
      const Value square = binary(Op::multiply, below, binary(Op::add, constant(1), a));
      const Value slope = unless_still(da, divided(da, unary(Op::square_root, square)));
      return i.op == Op::asin ? slope : negated(slope);
    }
    case Op::atan:
      return divided(da, one_and_square(a));
    case Op::exp:
      return scaled(da, made);
    case Op::log:
      return divided(da, a);
    default:
      return no_value;  // floor, ceil, noise, truth values, sources that do not move
  }
}

// Finite wherever a^b and its derivative are: at a = 0 nothing is divided by a, and where the exponent does not move no
// logarithm is taken.
Value Differentiator::power_tangent(const ir::Instruction& i, Value made) {
  const auto [a, da] = duals_[i.a];
  const auto [b, db] = duals_[i.b];
  const ir::Instruction& exponent = in_->instructions[i.b];
  if (exponent.op == Op::constant) {
    const double n = exponent.number;
    if (da == no_value || n == 0) return no_value;
    if (n == 1) return da;
    if (n == 2) return scaled(scaled(da, a), b);
    if (n == 3) return scaled(scaled(da, binary(Op::multiply, a, a)), b);
    const Value made_with = scaled(scaled(da, binary(Op::power, a, constant(n - 1))), b);
    return n < 1 ? unless_still(da, made_with) : made_with;
  }
  Value by_base = no_value;
  if (da != no_value) {
    const Value lower = binary(Op::power, a, binary(Op::subtract, b, constant(1)));
    by_base = unless_zero(b, da, scaled(scaled(da, lower), b));
  }
  Value by_exponent = no_value;
  if (db != no_value) {
    by_exponent = unless_zero(db, a, scaled(scaled(db, unary(Op::log, a)), made));
  }
  return sum(by_base, by_exponent);
}

Value Differentiator::table_tangent(const ir::Instruction& i) {
  if (program_.tables[i.index].method == TACTUS_HOLD) return no_value;
  const Dual a = duals_[i.a];
  const Dual b = i.b == no_value ? Dual{} : duals_[i.b];
  ir::Instruction copy = i;
  copy.a = a.value;
  copy.b = b.value;
  const auto along = [&](std::uint32_t by_a, std::uint32_t by_b) {
    ir::Instruction more = copy;
    more.size += by_a;
    more.count += by_b;
    return emit(more);
  };
  const Value by_a = a.tangent == no_value ? no_value : scaled(a.tangent, along(1, 0));
  const Value by_b = b.tangent == no_value ? no_value : scaled(b.tangent, along(0, 1));
  return sum(by_a, by_b);
}

// input + rate (t - input_time)
Value Differentiator::input_tangent(const ir::Instruction& i) {
  const Value now = source(Op::time);
  const Value age = binary(Op::subtract, now, source(Op::input_time));
  const Value by_rate = binary(Op::multiply, direction(tactus_direction_input_rates(&counts_) + i.index), age);
  const Value rate = source(Op::input_rate, i.index);
  const Value by_time = binary(Op::multiply, rate, direction(0));
  const Value by_value = direction(tactus_direction_inputs(&counts_) + i.index);
  return binary(Op::add, binary(Op::add, by_value, by_rate), by_time);
}

// ---- blocks

void Differentiator::linear_solve(const ir::Chunk& source, Value v) {
  const ir::Instruction& i = source.instructions[v];
  const std::uint32_t n = i.size;
  const auto operand = [&](std::uint32_t k) { return duals_[source.operands[i.first + k]]; };
  std::vector<Value> operands;
  for (std::uint32_t k = 0; k < i.count; ++k) operands.push_back(operand(k).value);
  ir::Instruction copy = i;
  const Value solve = emit_with_operands(copy, operands);
  std::vector<Dual>& solutions = solutions_[v];
  for (std::uint32_t k = 0; k < n; ++k) {
    solutions.push_back({emit({.op = Op::solution, .a = solve, .index = k}), no_value});
  }
  bool moves = false;
  for (std::uint32_t row = 0; row < n; ++row) {
    Value right = operand(n * n + row).tangent;
    for (std::uint32_t column = 0; column < n; ++column) {
      right = difference(right, scaled(operand(row * n + column).tangent, solutions[column].value));
    }
    moves = moves || right != no_value;
    operands[n * n + row] = right;
  }
  if (!moves) return;
  for (std::uint32_t row = 0; row < n; ++row) operands[n * n + row] = or_zero(operands[n * n + row]);
  copy.index = program_.work_count + i.index;
  const Value again = emit_with_operands(copy, operands);
  for (std::uint32_t k = 0; k < n; ++k) {
    solutions[k].tangent = emit({.op = Op::solution, .a = again, .index = k});
  }
}

void Differentiator::newton_solve(const ir::Chunk& source, Value v) {
  const ir::Instruction& i = source.instructions[v];
  std::vector<Value> captured;
  std::vector<Value> tangents;
  bool moves = false;
  for (std::uint32_t k = 0; k < i.count; ++k) {
    const Dual dual = duals_[source.operands[i.first + k]];
    captured.push_back(dual.value);
    tangents.push_back(or_zero(dual.tangent));
    moves = moves || dual.tangent != no_value;
  }
  const Value solve = emit_with_operands(i, captured);
  // Right behind the solve: its captured values lie in work, its solution in the warm section.
  Value again = no_value;
  if (moves) {
    ir::Instruction tangent{
        .op = Op::newton_tangent, .a = solve, .index = program_.work_count + i.index, .size = i.size};
    tangent.residual = residual(i.residual);
    tangent.block = i.block;
    again = emit_with_operands(tangent, tangents);
  }
  std::vector<Dual>& solutions = solutions_[v];
  for (std::uint32_t k = 0; k < i.size; ++k) {
    Dual dual = {emit({.op = Op::solution, .a = solve, .index = k}), no_value};
    if (moves) dual.tangent = emit({.op = Op::solution, .a = again, .index = k});
    solutions.push_back(dual);
  }
}

std::uint32_t Differentiator::residual(std::uint32_t index) {
  auto [found, is_new] = residual_of_.emplace(index, static_cast<std::uint32_t>(residuals_.size()));
  if (is_new) {
    Differentiator inside(program_);
    residuals_.push_back(inside.differentiate_residual(program_.residuals[index]));
  }
  return found->second;
}

// The unknowns stand still: `unknown` has tangent 0.
ir::Chunk Differentiator::differentiate_residual(const ir::Chunk& source) {
  start_chunk();
  chunk(source);
  return std::move(out_);
}

}  // namespace tangent
