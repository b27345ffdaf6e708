#include "compiler/reroll/reroll.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/ir/layout.h"
#include "compiler/ir/uses.h"
#include "compiler/reroll/loops.h"
#include "compiler/reroll/schedule.h"
#include "compiler/reroll/statements.h"

namespace reroll {
namespace {

constexpr std::uint32_t few_warm_starts = 16;

std::size_t size_of(const ir::Function& function) {
  std::size_t size = 0;
  for (const ir::Chunk& chunk : function.chunks) size += chunk.instructions.size();
  return size;
}

// Nothing when it would not become much smaller.
std::optional<Rolled> rolled(const ir::Function& function, std::uint32_t first_place) {
  if (size_of(function) < smallest_function) return std::nullopt;
  const std::optional<Statements> statements = take_apart(function);
  if (!statements) return std::nullopt;
  const std::vector<std::uint32_t> order = schedule(*statements);
  if (order.size() != statements->list.size()) return std::nullopt;
  Rolled made = roll(*statements, order, first_place);
  if (size_of(made.function) > size_of(function) / 2) return std::nullopt;
  return made;
}

void roll_if_it_fits(ir::Function& function, const ir::Program& program) {
  std::optional<Rolled> made = rolled(function, program.work_count + program.tangent_work_count);
  if (made && made->work_count <= program.loop_work_count) function = std::move(made->function);
}

}  // namespace

void reserve(ir::Program& program) {
  for (ir::Program& structure : program.structures) reserve(structure);
  program.loop_work_count = 0;
  program.kept_warm_count = program.warm_count > few_warm_starts ? program.warm_count : 0;
  ir::for_each_own_function(program, [&](const ir::Function& function) {
    // A tangent has its values too, and what they have in common.
    if (const auto made = rolled(function, 0))
      program.loop_work_count = std::max(program.loop_work_count, 3 * made->work_count + 1);
  });
}

ir::Program with_loops(const ir::Program& program) {
  ir::Program made = program;
  for (ir::Program& structure : made.structures) structure = with_loops(structure);
  if (program.loop_work_count == 0) return made;
  ir::for_each_own_function(made, [&](ir::Function& function) { roll_if_it_fits(function, program); });
  if (made.tangents) made.tangents = with_loops(*made.tangents, program);
  return made;
}

ir::Tangents with_loops(const ir::Tangents& tangents, const ir::Program& program) {
  ir::Tangents made = tangents;
  if (program.loop_work_count == 0) return made;
  ir::for_each_function(made, [&](ir::Function& function) { roll_if_it_fits(function, program); });
  return made;
}

}  // namespace reroll
