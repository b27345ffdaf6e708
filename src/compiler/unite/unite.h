// A program for each structure -> one program with structures. All have the same states, channels, events and places of
// values that parameters give; each has functions, relations and constraints of its own. What is left to do is to give
// all of them the same counts where the Instance has one section for all, and to say which structure belongs to which
// modes.
#pragma once

#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/modes/modes.h"

namespace unite {

[[nodiscard]] ir::Program unite(std::vector<ir::Program> programs, const flat::Model& model,
                                const modes::Structures& structures);

// Pairs of transitions that cannot both be meant: both go to a mode of one automaton, or both say what one name is
// next.
[[nodiscard]] ir::Pattern conflicts(const flat::Model& model);

}  // namespace unite
