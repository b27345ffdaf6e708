// Names that are numbers. Flat model in, draft out: the equations that are left, with the numbers in place of the
// names.
//
// Rule: v = e, read from either side, with e made of numbers only, gives v its number; then all equations that read v
// are asked again. Linear in the model: an equation is asked when its last open name closes. In a world with modes, `y
// = 0` of a y that has a start and whose derivative stands in equations is no such number but a constraint: y may move
// in another mode.
#pragma once

#include <vector>

#include "compiler/flat/model.h"
#include "compiler/structure/draft.h"
#include "compiler/structure/structure.h"

namespace structure {

// `overrides` replace the numbers of constants; those found are removed from the list.
[[nodiscard]] Draft fold_constants(flat::Model& model, std::vector<Override>& overrides);

// First values of behaviours and durations of delays, which must be of numbers, constants and parameters: the numbers
// are put in.
void settle_before_the_run(flat::Model& model, const Constants& constants, diag::Sink& diags);

}  // namespace structure
