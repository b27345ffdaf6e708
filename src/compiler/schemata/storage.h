// Storages written out as equations:
//
//   storage (q, p) energy H = e structure J = .., R = .., G = .. power u -> y;
//
//     q' = (J - R) dH/dx + G u, row by row        y = G' dH/dx
//
// Entries of a matrix that is written out are taken from it, and zeros leave nothing behind. Where R depends on more
// than numbers, constants and parameters, dH/dx' R dH/dx, which would be energy from nowhere if it were negative, is
// watched on the run.
#pragma once

#include "compiler/schemata/tree_builder.h"

namespace schemata {

void write_storages(TreeBuilder& builder);

}  // namespace schemata
