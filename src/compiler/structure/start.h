// The start sorted: the motion once more, where the states are unknowns too and the boundary conditions are equations.
// Draft and the sorted motion in; the system of the start, how each state starts, guesses and conditions of whatever
// time out.
//
// A state starts where its condition says; what constraints or conditions have a say in is free to meet them, found by
// matching those with the states that they depend on; all others are assumed to be 0, with a warning.
#pragma once

#include "compiler/structure/draft.h"
#include "compiler/structure/structure.h"
#include "diag/sink.h"

namespace structure {

// Fills the start of `sorted`, whose motion is there.
void sort_start(flat::Model& model, const Draft& draft, Sorted& sorted, diag::Sink& diags);

// What a delay remembers belongs to the state of a motion, and the search for a start does not look at it.
void refuse_delays_with_later_conditions(const flat::Model& model, const Draft& draft, diag::Sink& diags);

}  // namespace structure
