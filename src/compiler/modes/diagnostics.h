// What modes can say: too many of them, and what does not go together with them.
#pragma once

#include <cstddef>
#include <string_view>

#include "diag/sink.h"

namespace modes {

inline constexpr diag::Kind<std::size_t, std::string_view, std::size_t> too_many_combinations{
    "M001", "these modes can be combined in {} ways ({}); this version takes at most {}"};
inline constexpr diag::Kind<std::size_t, std::string_view, std::size_t> too_many_structures{
    "M002", "the equations have {} different structures ({}); this version takes at most {}"};

inline constexpr diag::Kind<> later_with_modes{"M003",
                                               "boundary values at other times cannot be found for a model with modes"};

}  // namespace modes
