// Writes ir chunks by hand, for tests: every method appends one instruction and returns its value.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/ir/ir.h"

namespace backend_testing {

class ChunkBuilder {
 public:
  ir::Value constant(double number) { return push({.op = ir::Op::constant, .number = number}); }
  // time, state, input, parameter, ..
  ir::Value source(ir::Op op, std::uint32_t index = 0) { return push({.op = op, .index = index}); }
  ir::Value state(std::uint32_t index) { return source(ir::Op::state, index); }
  ir::Value parameter(std::uint32_t index) { return source(ir::Op::parameter, index); }
  ir::Value unary(ir::Op op, ir::Value a) { return push({.op = op, .a = a}); }
  ir::Value binary(ir::Op op, ir::Value a, ir::Value b) { return push({.op = op, .a = a, .b = b}); }
  ir::Value add(ir::Value a, ir::Value b) { return binary(ir::Op::add, a, b); }
  ir::Value subtract(ir::Value a, ir::Value b) { return binary(ir::Op::subtract, a, b); }
  ir::Value multiply(ir::Value a, ir::Value b) { return binary(ir::Op::multiply, a, b); }
  ir::Value select(ir::Value condition, ir::Value yes, ir::Value no) {
    return push({.op = ir::Op::select, .a = condition, .b = yes, .c = no});
  }
  ir::Value table(std::uint32_t index, ir::Value a, std::uint32_t order = 0) {
    return push({.op = ir::Op::table, .a = a, .index = index, .size = order});
  }
  ir::Value table_2(std::uint32_t index, ir::Value a, ir::Value b, std::uint32_t order_a = 0,
                    std::uint32_t order_b = 0) {
    return push({.op = ir::Op::table, .a = a, .b = b, .index = index, .size = order_a, .count = order_b});
  }
  ir::Value noise(double seed, ir::Value phase) { return push({.op = ir::Op::noise, .a = phase, .number = seed}); }
  void store(ir::Op op, std::uint32_t index, ir::Value a) { push({.op = op, .a = a, .index = index}); }

  // entries: the matrix by rows, then the right sides. work: the offset of its scratch.
  ir::Value linear_solve(std::uint32_t size, const std::vector<ir::Value>& entries, std::uint32_t work,
                         std::uint32_t block) {
    ir::Instruction i{.op = ir::Op::linear_solve, .index = work, .size = size, .block = block};
    return push_with_operands(i, entries);
  }
  ir::Value newton_solve(std::uint32_t size, std::uint32_t residual, const std::vector<ir::Value>& captured,
                         std::uint32_t work, std::uint32_t warm, std::uint32_t block) {
    ir::Instruction i{
        .op = ir::Op::newton_solve, .index = work, .size = size, .residual = residual, .warm = warm, .block = block};
    return push_with_operands(i, captured);
  }
  ir::Value solution(ir::Value solve, std::uint32_t index) {
    return push({.op = ir::Op::solution, .a = solve, .index = index});
  }

  std::size_t size() const { return chunk_.instructions.size(); }
  // The chunk so far; the builder starts a new one.
  ir::Chunk take() { return std::exchange(chunk_, {}); }

 private:
  ir::Value push(const ir::Instruction& instruction) {
    chunk_.instructions.push_back(instruction);
    return static_cast<ir::Value>(chunk_.instructions.size() - 1);
  }
  ir::Value push_with_operands(ir::Instruction instruction, const std::vector<ir::Value>& operands) {
    instruction.first = static_cast<std::uint32_t>(chunk_.operands.size());
    instruction.count = static_cast<std::uint32_t>(operands.size());
    chunk_.operands.insert(chunk_.operands.end(), operands.begin(), operands.end());
    return push(instruction);
  }

  ir::Chunk chunk_;
};

}  // namespace backend_testing
