// Pairs of transitions that cannot both be meant: both go to a mode of one automaton, or both say what one name is
// next. Transitions in, pairs of their places out, the earlier one first.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/flat/model.h"

namespace modes {

[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> conflicts(const flat::Model& model);

}  // namespace modes
