// What a function costs: enters instructions, leaves how many operations one call of it can take. An operation is an addition,
// multiplication, division, root, comparison, selection, load or store; loops count as often as they turn. Elementary functions count as
// the instructions of the kernel's own; looking up a table or a delay is estimated.
#pragma once

#include <cstdint>

#include "compiler/ir/ir.h"

namespace ir {

struct Cost {
  double usual = 0;  // every Newton block solved by two iterations, as from a good start
  double most = 0;   // every one by all the iterations and halvings that the kernel allows
  std::uint32_t newton_blocks = 0;
  std::uint32_t largest_newton = 0;  // unknowns
};

// Of kernel/newton.c: at most so many iterations, in each the whole step and so many halvings of it.
inline constexpr double newton_iterations = 50;
inline constexpr double newton_halvings = 30;

[[nodiscard]] Cost cost_of(const Program& program, const Function& function);

}  // namespace ir
