// A model and a guess -> a state of rest: x, and where asked for inputs and parameters, with f(t, x, u) = 0 on the
// constraints g(t, x, u) = 0 at the instance's time.
//
// Method: Gauss and Newton on f and g together, with exact derivatives (linearize.h). Each row counts in the size of
// its own terms, each unknown v as 1 + |v|; directions that no equation feels are left alone, so a family of states of
// rest is met at its nearest point. Where the full step does not lessen what is left over, Levenberg's and Marquardt's
// shorter ones are tried (Nocedal and Wright, Numerical Optimization, 2nd edition, 10.3). Relations are those of every
// point that is tried. A delay gives what goes into it, as it does at rest; derivatives are then central differences,
// since tangents hold delays still.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "abi/model.h"
#include "runtime/control/linearize.h"

namespace control {

struct Equilibrium {
  bool is_found = false;
  std::vector<double> states;
  std::vector<double> free;  // values of the free inputs and parameters
  // What is left over, each in its own unit: first the derivatives of the states, then the constraints.
  std::vector<double> residuals;
  std::size_t worst = 0;  // the index of the one that is off most for the size of its terms
  double off = 0;         // by how much, in that size
  // Not alone: so many directions lead to other states of rest; `loose` are the unknowns (states, then free) that
  // change along them.
  std::size_t freedom = 0;
  std::vector<std::size_t> loose;
  bool depends_on_time = false;      // t itself stands in f: this is rest at one instant only
  tactus_status status = TACTUS_OK;  // of the guess; else nothing above is valid
};

// The guess is what the instance holds, and it is left at what was found, or at the closest point. Where the search
// ends without rest, as it does at kinks and between two of them, it begins anew: from where the motion itself leads,
// then from a few points around the guess, always the same. `model` has `tangent`.
[[nodiscard]] Equilibrium find_equilibrium(const tactus_model& model, tactus_instance* instance,
                                           std::span<const Input> free);

// Those that are found from the guess and from `attempts` others around it, always the same; each family once, nearest
// to the guess first. The instance keeps the guess.
[[nodiscard]] std::vector<Equilibrium> find_equilibria(const tactus_model& model, tactus_instance* instance,
                                                       std::span<const Input> free, int attempts);

// Puts the instance there: parameters prepared, relations settled.
[[nodiscard]] tactus_status place(const tactus_model& model, tactus_instance* instance, std::span<const Input> free,
                                  const Equilibrium& equilibrium);

}  // namespace control
