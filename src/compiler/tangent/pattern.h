// Which entries of the derivative's Jacobian can differ from zero, and which of its columns one tangent gives together.
//
// The pattern is read off the tangent: result i depends on direction j of a state. One search backwards a result, so
// the time is that of the instructions each result needs. Colours: columns that share no row may share one; greedy, in
// the order of the columns (Curtis, Powell and Reid, J. Inst. Maths Applics 13, 1974).
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/ir.h"

namespace tangent {

// `derivative`: the tangent of a derivative of `state_count` states. By columns.
[[nodiscard]] ir::Pattern jacobian_pattern(const ir::Function& derivative, std::uint32_t state_count);

struct Colouring {
  std::vector<std::uint32_t> colours;  // by column
  std::uint32_t count = 0;
};
[[nodiscard]] Colouring colour_columns(const ir::Pattern& pattern, std::uint32_t row_count);

}  // namespace tangent
