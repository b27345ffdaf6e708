// The stored energy as a function of the states, and how it changes with each of them. Enters a flat model with
// energies and its sorted equations; leaves Sorted::energy and Sorted::energy_slopes. What an equation gives directly
// is written out; the slopes come from one walk backwards over the sum (symbolic::gradient).
#pragma once

#include "compiler/structure/structure.h"
#include "diag/sink.h"

namespace energy {

// Reports an energy that depends on more than states, parameters and what is computed from them directly. Adds
// expressions to the model's pool.
void differentiate(flat::Model& model, structure::Sorted& sorted, diag::Sink& diags);

// For people: the energy, its slopes, what ports let in, and the Hamiltonian form if there is one (hamiltonian.h).
std::string dump(flat::Model& model, const structure::Sorted& sorted);

}  // namespace energy
