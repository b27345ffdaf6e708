// What can be wrong with a SimSect initialisation file.
#pragma once

#include <string_view>

#include "diag/sink.h"

namespace simsect {

using Text = std::string_view;

inline constexpr diag::Kind<Text, Text> unexpected{"I001", "expected {}, found {}"};
inline constexpr diag::Kind<> open_text{"I002", "this text is not closed before its line ends"};
inline constexpr diag::Kind<Text> no_number{"I003", "`{}` is not a number"};
inline constexpr diag::Kind<Text> given_twice{"I004", "`{}` is given twice; the last one counts",
                                              diag::Severity::warning};
inline constexpr diag::Kind<Text> wants_number{"I005", "`{}` is a number, not a text"};
inline constexpr diag::Kind<Text> wants_text{"I006", "`{}` is a text, not a number"};
inline constexpr diag::Kind<Text> unknown_symbol{
    "I007", "`{}` is neither a symbol of the integrator nor a parameter or state of this model: it has no effect",
    diag::Severity::warning};
inline constexpr diag::Kind<Text, Text> out_of_range{"I008", "`{}` {}"};
inline constexpr diag::Kind<Text> no_such_power{"I009", "no solver here adjusts its step with the power {}"};
inline constexpr diag::Kind<Text, Text> other_system{"I010", "this file is for the model `{}`, and the model is `{}`",
                                                     diag::Severity::warning};
inline constexpr diag::Kind<> no_geomview{"I011", "there is no Geomview here", diag::Severity::warning};
inline constexpr diag::Kind<Text, Text> ambiguous{"I012", "`{}` could be {}"};

}  // namespace simsect
