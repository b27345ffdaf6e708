// Where Gauss's elimination of shift * I - J will have entries, foreseen: the pattern of J (by columns) in; an order of
// the states, the pattern of both factors in that order and the places of J's entries in it out (ir::Factors,
// tactus_model.factors).
//
//   order     the state with the fewest neighbours in the graph of J + J^T goes first, its neighbours become neighbours
//   of one
//             another: Markowitz 1957, Tinney and Walker, Proc. IEEE 55(11), 1967
//   factors   row by row: what J has there, and what each earlier row that it is reduced by has to the right
//
// The kernel eliminates along these lists without exchanging rows, so they hold for whatever values J has.
#pragma once

#include <cstdint>

#include "compiler/ir/ir.h"

namespace tangent {

// Empty when a full matrix is cheaper: few states, or factors that are at least half full, or so full that foreseeing
// them takes more than a few million operations.
[[nodiscard]] ir::Factors foresee_elimination(const ir::Pattern& jacobian, std::uint32_t states);

}  // namespace tangent
