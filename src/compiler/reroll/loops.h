// Statements in order to chunks: where one class, or a few classes in turn, repeat, a chunk of several turns.
//
// A turn of a loop is up to `longest_period` statements. Places that go up by the same step from turn to turn are
// computed; others, and constants that differ, are listed. Values pass from statement to statement through work, except
// within straight-line code.
#pragma once

#include <cstdint>
#include <span>

#include "compiler/ir/ir.h"
#include "compiler/reroll/statements.h"

namespace reroll {

struct Rolled {
  ir::Function function;
  std::uint32_t work_count = 0;  // doubles of work that its values take, from first_place on
};

Rolled roll(const Statements& statements, std::span<const std::uint32_t> order, std::uint32_t first_place);

}  // namespace reroll
