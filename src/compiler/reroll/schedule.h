// The order of a function's statements: those of one class stand together as far as what they need allows.
//
// Greedy: of the classes that have a ready statement, the one with the fewest that are not ready yet gives all it has,
// also what becomes ready on the way (a recurrence x[k] = f(x[k-1]) is one run), then the next.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/reroll/statements.h"

namespace reroll {

// Statement numbers; fewer than there are when they need one another in a circle.
std::vector<std::uint32_t> schedule(const Statements& statements);

}  // namespace reroll
