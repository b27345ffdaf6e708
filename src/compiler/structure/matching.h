// Which equation computes which unknown. A bipartite graph in, a largest matching out.
//
// Method: depth-first augmenting paths with a cheap first assignment (Duff, MC21, ACM TOMS 7(3), 1981). Iterative; O(V E) at
// worst, near-linear on models.
#pragma once

#include <cstdint>
#include <vector>

namespace structure {

inline constexpr std::uint32_t unmatched = 0xffffffffu;

struct Matching {
  std::vector<std::uint32_t> unknown_of;   // by equation
  std::vector<std::uint32_t> equation_of;  // by unknown
};

// unknowns[e] lists the unknowns of equation e; the first is tried first, so it should be the one a person expects.
[[nodiscard]] Matching match(const std::vector<std::vector<std::uint32_t>>& unknowns, std::uint32_t unknown_count);

// Components of the matched graph, each a list of equations; a component reads only unknowns of earlier ones.
//
// Method: Tarjan, SIAM J. Comput. 1(2), 1972; iterative.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> components(
    const std::vector<std::vector<std::uint32_t>>& unknowns, const Matching& matching);

}  // namespace structure
