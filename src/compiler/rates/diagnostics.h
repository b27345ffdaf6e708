// What can be wrong with rates.
#pragma once

#include <string>
#include <string_view>

#include "diag/sink.h"

namespace rates {

using Text = std::string_view;

inline constexpr diag::Kind<std::string, std::string> does_not_divide{"R001", "{} is no whole number of steps at {}"};
inline constexpr diag::Kind<Text, Text> joined_rates{"R002", "the steps of `{}` and `{}` do not fit into each other"};
inline constexpr diag::Kind<Text> not_with_rates{"R003", "{} cannot be followed in a model with rates"};
inline constexpr diag::Kind<Text> adaptive_solver{"R004", "`{}` chooses its steps itself, and this model has rates"};
inline constexpr diag::Kind<Text, Text> reads_across{
    "R005", "this reads `{}` at every instant, which moves with the steps of {}"};
inline constexpr diag::Kind<Text, Text> energy_across{
    "R006", "this energy depends on `{}` and on `{}`, which have steps of their own"};

}  // namespace rates
