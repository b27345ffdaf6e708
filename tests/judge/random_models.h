// Random programs as source text, of every feature that can be simulated. The same seed is the same text, as long as
// the C++ compiler works out arguments in the same order.
//
// A model is made of parts, each of one feature, which read names of parts before them. They are tame: states are
// damped and driven by bounded functions, algebraic equations are monotone or contractions, and what jumps (if, sign,
// floor, behaviours) reads only earlier parts, so that nothing slides along its own edge.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "compare.h"

namespace judge {

// Models that need index reduction: until the compiler has it, it refuses them (S004) and they are not generated.
inline constexpr bool has_index_reduction = true;

struct RandomModel {
  Case one;
  std::set<std::string> features;
};

[[nodiscard]] RandomModel random_model(std::uint64_t seed);
// A constrained mechanism; the judge is ready for them before the compiler is.
[[nodiscard]] RandomModel random_constrained_model(std::uint64_t seed);
// All names that `features` may hold.
[[nodiscard]] std::set<std::string> all_features();

}  // namespace judge
