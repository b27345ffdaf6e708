// What can be wrong with an energy.
#pragma once

#include <cstddef>
#include <string_view>

#include "diag/sink.h"

namespace energy {

inline constexpr diag::Kind<std::string_view> solved_energy{
    "N001", "the energy depends on `{}`, which equations give only together with others"};
inline constexpr diag::Kind<std::string_view> driven_energy{"N002", "the energy depends on `{}`, which is not a state"};
inline constexpr diag::Kind<std::size_t, std::size_t, double, std::size_t, std::size_t, double, std::string_view>
    not_skew{"N003", "J is not skew: J[{},{}] is {:.4g} and J[{},{}] is {:.4g}{}"};
inline constexpr diag::Kind<std::size_t, std::size_t, double, std::size_t, std::size_t, double, std::string_view>
    not_symmetric{"N004", "R is not symmetric: R[{},{}] is {:.4g} and R[{},{}] is {:.4g}{}"};
inline constexpr diag::Kind<double, std::string_view> makes_energy{
    "N005", "R is not positive semidefinite: it has the eigenvalue {:.4g}{}, and makes energy"};
inline constexpr diag::Kind<std::string_view> energy_of_others{
    "N006", "the energy of the storage depends on `{}`, which is none of its states"};
inline constexpr diag::Kind<std::string_view, std::size_t, std::size_t> wrong_size{
    "N007", "`{}` has the wrong size: {} entries for {} states"};

}  // namespace energy
