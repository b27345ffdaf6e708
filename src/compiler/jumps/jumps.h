// Jumps: what a transition does to the states, from each structure that it can be taken in.
//
//   the structures sorted + flat::Transition -> structure::Jump: equations with their unknowns, sorted into blocks
//
// Unknowns are the values after the jump that its equations mention, and names of its own. What is asked for after it
// and is no state there is worked out with the equations of the structure that is entered, at the values after. A state
// of the new structure that is not mentioned is what its name was before: state, derivative or algebraic value; failing
// that its boundary value.
//
// enforce velocities (enforce.cpp) adds the equations of an impact.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "compiler/modes/modes.h"
#include "compiler/structure/structure.h"
#include "diag/sink.h"

namespace jumps {

// Sorts every structure and works out its jumps. Empty after reporting. `overrides` as structure::sort has them; those
// that no structure found are left.
[[nodiscard]] std::optional<std::vector<structure::Sorted>> sort(modes::Structures& structures,
                                                                 std::vector<structure::Override>& overrides,
                                                                 diag::Sink& diags);

std::string dump(const flat::Model& model, const structure::Sorted& sorted);

}  // namespace jumps
