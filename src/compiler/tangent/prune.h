// Drops what nothing needs, across the chunks of a function: stores into work that no later chunk loads, solves of
// which no solution is read, and all that was computed for them only. A backend drops dead instructions too, but sees
// one chunk and must keep stores and solves.
#pragma once

#include "compiler/ir/ir.h"

namespace tangent {

// Of a function whose effects are results, warm starts and determinants; in `work` it keeps only its own values.
void prune(ir::Function& function);

}  // namespace tangent
