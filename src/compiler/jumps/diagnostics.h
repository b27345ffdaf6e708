// What jumps can say: resets that do not determine what they mention, states that nothing gives a value.
#pragma once

#include <string_view>

#include "diag/sink.h"

namespace jumps {

using Text = std::string_view;

inline constexpr diag::Kind<Text, Text> undetermined_after{"J001", "no equation of `{}` determines `{}`"};
inline constexpr diag::Kind<Text, Text> too_many_equations{"J002", "one equation too many in `{}`: {}"};
inline constexpr diag::Kind<Text, Text, Text> no_value_after{
    "J003", "`{}` enters {}, where `{}` is a state, and nothing says what it is there"};
inline constexpr diag::Kind<Text, Text> nothing_to_enforce{
    "J004", "`{}` enforces velocities, but {} has no constraint with a force of its own"};
inline constexpr diag::Kind<Text, Text, Text> not_there_after{"J005",
                                                              "`{}` asks for `next({})`, which does not exist in {}"};
inline constexpr diag::Kind<Text, Text, Text> not_there_before{"J010", "`{}` reads `{}`, which does not exist in `{}`"};
inline constexpr diag::Kind<Text, Text> several_structures{
    "J006", "`{}` asks for what is algebraic after it, and enters modes with different equations: {}"};
// What follows fails only where a run comes to it: `check` tells, and a run goes on until then, as with guards that
// overlap.
inline constexpr diag::Kind<Text> leads_to_itself{
    "J007", "`{}` leads to itself at one instant, without end: its guard still holds after the jump",
    diag::Severity::warning};
inline constexpr diag::Kind<Text> leads_in_a_ring{
    "J008", "these transitions lead to each other at one instant, without end: {}", diag::Severity::warning};
inline constexpr diag::Kind<Text> may_lead_in_a_ring{"J009",
                                                     "these transitions lead to each other at one instant: {}; the run "
                                                     "ends there, unless it can slide between their modes",
                                                     diag::Severity::warning};

}  // namespace jumps
