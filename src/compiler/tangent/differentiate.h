// One function of low-level instructions -> the function of its tangent. See tangent.h; the rules stand in
// differentiate.cpp.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "compiler/ir/ir.h"

namespace tangent {

class Differentiator {
 public:
  explicit Differentiator(const ir::Program& program);

  // What a function's stores become: result[first + index] from this store, up to index `count`; others vanish.
  struct Result {
    ir::Op store;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  // A place of the result that no instruction stores: 0, or what the direction says of the state or discrete value, or
  // not touched.
  enum class Unstored { zero, as_directed, left_alone };
  [[nodiscard]] ir::Function function(const ir::Function& source, const std::vector<Result>& results,
                                      Unstored unstored);
  // The functions from now on have so many states.
  void count_states(std::uint32_t count) { counts_.state_count = count; }
  // Of the residuals that the functions so far solve.
  [[nodiscard]] std::vector<ir::Chunk> take_residuals() { return std::move(residuals_); }

 private:
  // A tangent that is no_value is known to be zero.
  struct Dual {
    ir::Value value = ir::no_value;
    ir::Value tangent = ir::no_value;
  };

  void start_chunk();
  void chunk(const ir::Chunk& source);
  void instruction(const ir::Chunk& source, ir::Value v);
  ir::Value tangent_of(const ir::Instruction& i, ir::Value made);
  ir::Value power_tangent(const ir::Instruction& i, ir::Value made);
  ir::Value table_tangent(const ir::Instruction& i);
  ir::Value input_tangent(const ir::Instruction& i);
  Dual discrete(std::uint32_t index);
  void linear_solve(const ir::Chunk& source, ir::Value v);
  void newton_solve(const ir::Chunk& source, ir::Value v);
  void store(const ir::Instruction& i);
  void store_discrete(const ir::Instruction& i);
  void store_unstored(Unstored unstored);
  std::uint32_t residual(std::uint32_t index);
  ir::Chunk differentiate_residual(const ir::Chunk& source);

  ir::Value emit(const ir::Instruction& instruction);
  ir::Value emit_with_operands(ir::Instruction instruction, const std::vector<ir::Value>& operands);
  ir::Value constant(double number);
  ir::Value direction(std::uint64_t index);
  ir::Value source(ir::Op op, std::uint32_t index = 0) { return emit({.op = op, .index = index}); }
  ir::Value unary(ir::Op op, ir::Value a) { return emit({.op = op, .a = a}); }
  ir::Value binary(ir::Op op, ir::Value a, ir::Value b) { return emit({.op = op, .a = a, .b = b}); }
  ir::Value select(ir::Value condition, ir::Value yes, ir::Value no) {
    return emit({.op = ir::Op::select, .a = condition, .b = yes, .c = no});
  }
  // Of tangents, which may be zero.
  ir::Value sum(ir::Value a, ir::Value b);
  ir::Value difference(ir::Value a, ir::Value b);
  ir::Value scaled(ir::Value a, ir::Value factor);  // the factor is a value
  ir::Value divided(ir::Value a, ir::Value divisor);
  ir::Value negated(ir::Value a);
  ir::Value doubled(ir::Value a);
  ir::Value crossed(ir::Value da, ir::Value b, ir::Value db, ir::Value a, ir::Op op);  // da b + db a, or less
  ir::Value mirrored(ir::Value a, ir::Value da);                                       // da, or -da where a < 0
  ir::Value one_and_square(ir::Value a);                                               // 1 + a^2, of a value
  ir::Value unless_still(ir::Value moves, ir::Value tangent);                          // 0 where what moves it does not
  ir::Value unless_zero(ir::Value a, ir::Value b, ir::Value tangent);
  ir::Value or_zero(ir::Value a) { return a == ir::no_value ? constant(0) : a; }

  const ir::Program& program_;
  tactus_model counts_ = {};  // for tactus_direction_..
  std::vector<ir::Chunk> residuals_;
  std::unordered_map<std::uint32_t, std::uint32_t> residual_of_;  // by index in the program

  // Of the function.
  std::vector<ir::Chunk> chunks_;
  bool has_many_chunks_ = false;
  std::vector<Result> results_;
  std::vector<bool> stored_;  // by place in the result
  struct Stored {
    bool in_chunk = false;
    bool has_tangent = false;
    Dual now;
  };
  std::unordered_map<std::uint32_t, bool> work_has_tangent_;
  std::unordered_map<std::uint32_t, Stored> discrete_;  // what the function itself stored

  // Of the chunk.
  ir::Chunk out_;
  const ir::Chunk* in_ = nullptr;
  std::vector<Dual> duals_;
  std::unordered_map<std::uint64_t, ir::Value> constants_;  // by bits
  std::unordered_map<std::uint64_t, ir::Value> directions_;
  std::unordered_map<ir::Value, std::vector<Dual>> solutions_;  // by solve in the source
};

}  // namespace tangent
