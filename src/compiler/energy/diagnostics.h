// What can be wrong with an energy.
#pragma once

#include <string_view>

#include "diag/sink.h"

namespace energy {

inline constexpr diag::Kind<std::string_view> solved_energy{
    "N001", "the energy depends on `{}`, which equations give only together with others"};
inline constexpr diag::Kind<std::string_view> driven_energy{"N002", "the energy depends on `{}`, which is not a state"};

}  // namespace energy
