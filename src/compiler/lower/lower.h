// Sorted blocks to low-level instructions. Nothing here can fail for a reason the user could mend.
//
//   one equation, one unknown   solved by isolation or as a linear equation: an expression
//   linear, up to 3 unknowns    Cramer's rule: expressions
//   linear, more                linear_solve (LU in the kernel)
//   else                        newton_solve, with the exact Jacobian
//
// What depends on parameters only is computed once in `prepare`, whole blocks and parts of expressions alike.
#pragma once

#include "compiler/flat/model.h"
#include "compiler/ir/ir.h"
#include "compiler/structure/structure.h"
#include "diag/source_map.h"

namespace lower {

// Adds expressions to the model's pool. `sources` gives line numbers and texts for messages of the running model.
[[nodiscard]] ir::Program lower(flat::Model& model, const structure::Sorted& sorted, const diag::SourceMap& sources);

}  // namespace lower
