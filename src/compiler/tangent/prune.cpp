#include "compiler/tangent/prune.h"

#include <unordered_set>
#include <vector>

namespace tangent {

using ir::no_value;
using ir::Op;
using ir::Value;

namespace {

bool has_operand_list(Op op) { return op == Op::linear_solve || op == Op::newton_solve || op == Op::newton_tangent; }

// By instruction, from the end. `wanted`: the places of work that later chunks load.
std::vector<bool> find_needed(const ir::Chunk& chunk, std::unordered_set<std::uint32_t>& wanted) {
  std::vector<bool> needed(chunk.instructions.size(), false);
  for (Value v = static_cast<Value>(chunk.instructions.size()); v-- > 0;) {
    const ir::Instruction& i = chunk.instructions[v];
    if (i.op == Op::store_work) {
      needed[v] = wanted.contains(i.index);
    } else if (i.op >= Op::store_derivative) {
      needed[v] = true;
    }
    if (!needed[v]) continue;
    if (i.op == Op::load_work) wanted.insert(i.index);
    for (Value operand : {i.a, i.b, i.c}) {
      if (operand != no_value) needed[operand] = true;
    }
    if (!has_operand_list(i.op)) continue;
    for (std::uint32_t k = 0; k < i.count; ++k) needed[chunk.operands[i.first + k]] = true;
  }
  return needed;
}

void keep_only(ir::Chunk& chunk, const std::vector<bool>& needed) {
  ir::Chunk kept;
  std::vector<Value> place(chunk.instructions.size(), no_value);
  for (Value v = 0; v < chunk.instructions.size(); ++v) {
    if (!needed[v]) continue;
    ir::Instruction i = chunk.instructions[v];
    for (Value* operand : {&i.a, &i.b, &i.c}) {
      if (*operand != no_value) *operand = place[*operand];
    }
    if (has_operand_list(i.op)) {
      const std::uint32_t first = i.first;
      i.first = static_cast<std::uint32_t>(kept.operands.size());
      for (std::uint32_t k = 0; k < i.count; ++k) kept.operands.push_back(place[chunk.operands[first + k]]);
    }
    place[v] = static_cast<Value>(kept.instructions.size());
    kept.instructions.push_back(i);
  }
  chunk = std::move(kept);
}

}  // namespace

void prune(ir::Function& function) {
  std::unordered_set<std::uint32_t> wanted;
  for (std::size_t k = function.chunks.size(); k-- > 0;) {
    keep_only(function.chunks[k], find_needed(function.chunks[k], wanted));
  }
  std::erase_if(function.chunks, [](const ir::Chunk& chunk) { return chunk.instructions.empty(); });
  if (function.chunks.empty()) function.chunks.emplace_back();
}

}  // namespace tangent
