// Which unknowns stand in which equations: what `matching` asks for. Equations and unknowns in, rows of a bipartite
// graph out; and, once they are matched, the blocks.
#pragma once

#include <vector>

#include "compiler/structure/definitions.h"
#include "compiler/structure/draft.h"
#include "compiler/structure/matching.h"
#include "compiler/structure/structure.h"

namespace structure {

// A block's matrix is dense: its code and its time grow with the square and the cube of this.
inline constexpr std::size_t largest_block = 400;

// The highest derivatives, and those of what is defined or extended, by variable and then order.
[[nodiscard]] std::vector<ExprId> unknown_leaves(flat::Model& model, const Constants& constants, const Orders& orders);

// By equation, the unknowns in it. `by_name`: a derivative counts as its name.
[[nodiscard]] Rows incidence(expr::Pool& pool, const System& system, bool by_name = false);

// The equations that a person wrote, with the names as unknowns: to be counted without regard to derivatives.
[[nodiscard]] System count_by_name(flat::Model& model, const std::vector<flat::Equation>& equations,
                                   const Constants& constants);

// Appends the blocks in the order in which they can be solved.
void sort_blocks(System& system, const Rows& rows, const Matching& matching);

}  // namespace structure
