// Whether the equations are x' = (J - R) dH/dx + G u, y = G' dH/dx with constant matrices, J skew, R symmetric: then
// the model is passive wherever R is positive semidefinite and H has a minimum. x are the states that the energy
// depends on, u and y what ports take in and give.
//
// Where no constant matrices fit, such as change with the states as a + b x: the J of a rigid body is one of these.
//
// Method: A = J - R and G are what makes f = A g + G u at random states and inputs, by least squares; where the slopes
// g do not determine A, the one with the smallest symmetric part. An identity that holds to rounding at 3 times as many
// random points as it has unknowns is taken for one. Parameters have their initial values.
#pragma once

#include <string>

#include "compiler/structure/structure.h"

namespace energy {

// For people: the matrices, given or found, or which equation spoils them. Adds expressions to the model's pool.
std::string describe_hamiltonian(flat::Model& model, const structure::Sorted& sorted);

// J - R by rows over all states, for solvers that ask for it: as storages give it, else as it is found, if it is
// constant and the same for all parameters. Else empty. Of at most so many states it is looked for unasked.
inline constexpr std::size_t looked_for_unasked = 12;
std::vector<expr::ExprId> find_structure(flat::Model& model, const structure::Sorted& sorted);

}  // namespace energy
