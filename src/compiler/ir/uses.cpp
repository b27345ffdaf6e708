#include "compiler/ir/uses.h"

#include <algorithm>

#include "base/check.h"

namespace ir {

namespace {

// Operands must stand before their user: checked here for all backends.
void mark(std::vector<bool>& live, Value user, Value operand) {
  if (operand == no_value) return;
  TACTUS_CHECK(operand < user);
  live[operand] = true;
}

}  // namespace

Uses find_uses(const Chunk& chunk) {
  Uses uses;
  const auto& instructions = chunk.instructions;
  uses.live.assign(instructions.size(), false);
  for (Value v = static_cast<Value>(instructions.size()); v-- > 0;) {
    const Instruction& i = instructions[v];
    if (is_effect(i.op) || is_solve(i.op)) uses.live[v] = true;
    if (!uses.live[v]) continue;
    mark(uses.live, v, i.a);
    mark(uses.live, v, i.b);
    mark(uses.live, v, i.c);
    if (is_solve(i.op)) {
      for (std::uint32_t k = 0; k < i.count; ++k) mark(uses.live, v, chunk.operands[i.first + k]);
    }
  }

  // By operand: the sin or cos that still waits for its other half.
  std::unordered_map<Value, Value> waiting;
  for (Value v = 0; v < instructions.size(); ++v) {
    const Instruction& i = instructions[v];
    if (!uses.live[v]) continue;
    if (i.op == Op::solution) uses.solutions[i.a].push_back(v);
    if (i.op != Op::sin && i.op != Op::cos) continue;
    auto [found, is_new] = waiting.emplace(i.a, v);
    if (is_new || instructions[found->second].op == i.op || uses.sincos.contains(found->second)) continue;
    uses.sincos[v] = found->second;
    uses.sincos[found->second] = v;
  }
  return uses;
}

std::size_t instruction_count(const Program& program) {
  std::size_t count = 0;
  const auto add = [&](const Function& function) {
    for (const Chunk& chunk : function.chunks) count += chunk.instructions.size();
  };
  for_each_own_function(program, add);
  for (const Chunk& chunk : program.residuals) count += chunk.instructions.size();
  if (program.tangents) {
    for_each_function(*program.tangents, add);
    for (const Chunk& chunk : program.tangents->residuals) count += chunk.instructions.size();
  }
  for (const Program& structure : program.structures) count += instruction_count(structure);
  return count;
}

bool can_fail(const Chunk& chunk) {
  return std::ranges::any_of(chunk.instructions,
                             [](const Instruction& i) { return is_solve(i.op) || i.op == Op::need_determinant; });
}

std::vector<std::uint32_t> warm_starts(const Function& function) {
  std::vector<std::uint32_t> places;
  for (const Chunk& chunk : function.chunks) {
    for (const Instruction& i : chunk.instructions) {
      if (i.op != Op::store_warm && i.op != Op::newton_solve) continue;
      for (std::uint32_t turn = 0; turn < chunk.turns; ++turn) {
        if (i.op == Op::store_warm) {
          places.push_back(place(chunk, i, turn));
          continue;
        }
        const std::uint32_t first = i.warm + turn * static_cast<std::uint32_t>(i.warm_step);
        for (std::uint32_t k = 0; k < i.size; ++k) places.push_back(first + k);
      }
    }
  }
  std::ranges::sort(places);
  places.erase(std::ranges::unique(places).begin(), places.end());
  return places;
}

}  // namespace ir
