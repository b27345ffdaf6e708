// Sorted blocks to low-level instructions. Nothing here can fail for a reason the user could mend.
//
//   one equation, one unknown   solved by isolation or as a linear equation: an expression
//   linear                      made smaller first: what has a number for a factor is written out (eliminate.h)
//   .. up to 3 unknowns left    Cramer's rule: expressions
//   .. more                     linear_solve (LU in the kernel)
//   else                        newton_solve, with the exact Jacobian
//
// What depends on parameters only is computed once in `prepare`, whole blocks and parts of expressions alike.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/flat/model.h"
#include "compiler/ir/ir.h"
#include "compiler/structure/structure.h"
#include "diag/source_map.h"

namespace lower {

// What the structures of a model with modes share: places that mean the same in all of them.
struct Space {
  // Every state of any structure: a variable with its order.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> states;
  std::vector<std::uint32_t> orders;  // by group: so many of its derivatives, from 0 on, are recorded
  std::uint32_t derived_count = 0;    // taken by structures before this one
  std::uint32_t warm_count = 0;
};

// What there is in one structure, to be joined with others.
void widen(Space& space, const flat::Model& model, const structure::Sorted& sorted);

// Adds expressions to the model's pool. `sources` gives line numbers and texts for messages of the running model.
[[nodiscard]] ir::Program lower(flat::Model& model, const structure::Sorted& sorted, const diag::SourceMap& sources,
                                const Space* space = nullptr);

// As the person wrote it, on one line; a component of a vector equation, and what was differentiated, as we write it.
[[nodiscard]] std::string equation_text(const flat::Model& model, const flat::Equation& equation,
                                        const diag::SourceMap& sources);

}  // namespace lower
