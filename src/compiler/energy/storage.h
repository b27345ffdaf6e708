// Storages, x' = (J - R) dH/dx + G u: whether J is skew, R symmetric and positive semidefinite, and the energy one of
// their states alone.
//
// What is a number is judged as one. What depends on states is skew or symmetric if the pool's simplification says so,
// or else if it is at random points, where an identity that fails is found with certainty and one that holds is
// believed; R's eigenvalues are looked at at the start, as far as that is made of numbers, and schemata has what it
// loses watched on the run.
#pragma once

#include "compiler/structure/structure.h"
#include "diag/sink.h"

namespace energy {

// Adds expressions to the model's pool.
void check_storages(flat::Model& model, const structure::Sorted& sorted, diag::Sink& diags);

// J - R by rows over all states, from storages that hold all of the energy and whose ports are not joined; else empty.
std::vector<expr::ExprId> structure_of_storages(flat::Model& model, const structure::Sorted& sorted);

}  // namespace energy
