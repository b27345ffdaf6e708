// Modes, jumps, plans and properties of a program. Enters: the tree and the symbols. Leaves: model.transitions with the modes that they
// enter, model.plans with their transitions and memories, and reports about formulas over modes, guards, and jumps that say
// nothing about what comes after.
#pragma once

#include "compiler/check/model.h"
#include "diag/sink.h"

namespace check {

void read_jumps(Model& model, base::Names& names, diag::Sink& diags);

}  // namespace check
