// The motion sorted: which equation gives which unknown while the states are known, and in which order. Draft and
// orders in; states, their rates and the system of the motion out.
//
// Of every variable that is not defined, with highest derivative n, v .. v^(n-1) are states and v^(n) is the unknown;
// without derivatives v itself is the unknown. Then: matching, and strongly connected components.
#pragma once

#include "compiler/structure/definitions.h"
#include "compiler/structure/draft.h"
#include "compiler/structure/structure.h"
#include "diag/sink.h"

namespace structure {

// Fills the states, their rates and the motion of `sorted`. Reports equations and unknowns that are left over.
void sort_motion(flat::Model& model, const Draft& draft, const Orders& orders, Sorted& sorted, diag::Sink& diags);

}  // namespace structure
