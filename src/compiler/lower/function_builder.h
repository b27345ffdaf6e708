// Builds one function of the model table: expressions in, straight-line chunks out.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/expr/pool.h"
#include "compiler/ir/ir.h"

namespace lower {

using expr::ExprId;

class FunctionBuilder {
 public:
  // `leaf` makes the instruction of a variable that this function did not compute itself (a state, a derived value);
  // `hoist` gives the place in the derived section of a part that depends on parameters only, or nothing.
  using Leaf = std::function<ir::Instruction(ExprId)>;
  using Hoist = std::function<std::optional<std::uint32_t>(ExprId)>;

  FunctionBuilder(const expr::Pool& pool, std::uint32_t& work_count, Leaf leaf, Hoist hoist)
      : pool_(pool), work_count_(work_count), leaf_(std::move(leaf)), hoist_(std::move(hoist)) {
    function_.chunks.emplace_back();
  }

  // The value of an expression in the current chunk.
  ir::Value value(ExprId e);
  // Says that a leaf has this value from now on in this function.
  void define(ExprId leaf, ir::Value value) { places_[leaf] = {current(), value, no_slot, true}; }
  ir::Value emit(ir::Instruction instruction);
  void store(ir::Op op, std::uint32_t index, ir::Value value);
  ir::Chunk& chunk() { return function_.chunks.back(); }
  // Between two blocks: opens a new chunk when the current one is large.
  void may_split();
  ir::Function take() { return std::move(function_); }

 private:
  static constexpr std::uint32_t no_slot = 0xffffffffu;
  static constexpr std::size_t largest_chunk = 1500;
  struct Place {
    std::uint32_t chunk;
    ir::Value value;
    std::uint32_t slot;  // in work, once another chunk asked for it
    bool solved;         // a leaf that this function solved for; other leaves are loaded again in every chunk
  };

  std::uint32_t current() const { return static_cast<std::uint32_t>(function_.chunks.size() - 1); }
  ir::Value fetch(ExprId id, Place& place);
  ir::Value known(ExprId id);  // no_value: not in this chunk, nor worth fetching
  ir::Value operation(ExprId id);

  const expr::Pool& pool_;
  std::uint32_t& work_count_;
  Leaf leaf_;
  Hoist hoist_;
  ir::Function function_;
  std::unordered_map<ExprId, Place> places_;
  std::unordered_map<ExprId, ir::Value> fetched_;  // in the current chunk, from earlier ones
};

// The instruction of an expression's operation, without operands; the names agree.
ir::Instruction operation_of(const expr::Node& node);

}  // namespace lower
