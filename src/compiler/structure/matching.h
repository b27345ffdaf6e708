// Which equation computes which unknown. A bipartite graph in, a largest matching out.
//
// Method: depth-first augmenting paths with a cheap first assignment (Duff, MC21, ACM TOMS 7(3), 1981). Iterative; O(V
// E) at worst, near-linear on models.
#pragma once

#include <cstdint>
#include <vector>

namespace structure {

inline constexpr std::uint32_t unmatched = 0xffffffffu;

// By equation, its unknowns.
using Rows = std::vector<std::vector<std::uint32_t>>;

struct Matching {
  std::vector<std::uint32_t> unknown_of;   // by equation
  std::vector<std::uint32_t> equation_of;  // by unknown
};

// The first unknown of a row is tried first, so it should be the one a person expects.
[[nodiscard]] Matching match(const Rows& unknowns, std::uint32_t unknown_count);

// Components of the matched graph, each a list of equations; a component reads only unknowns of earlier ones.
//
// Method: Tarjan, SIAM J. Comput. 1(2), 1972; iterative.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> components(const Rows& unknowns, const Matching& matching);

// The equations that are unmatched, or share unknowns, by way of others, with one that is: alternating paths from the
// unmatched ones reach all that are over-determined together.
[[nodiscard]] std::vector<bool> among_too_many(const Rows& unknowns, const Matching& matching);

}  // namespace structure
