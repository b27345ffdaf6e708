// Modes and jumps of a program: model.transitions, with `goto` resolved. Enters: the tree and the symbols. Leaves: which mode a
// transition enters, and reports about formulas over modes, guards, and jumps that say nothing about what comes after.
#pragma once

#include "compiler/check/model.h"
#include "diag/sink.h"

namespace check {

void read_jumps(Model& model, base::Names& names, diag::Sink& diags);

}  // namespace check
