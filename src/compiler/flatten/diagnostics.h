// What flatten can say: mistakes that show only when expressions are worked out.
#pragma once

#include <string_view>

#include "diag/sink.h"

namespace flatten {

inline constexpr diag::Kind<std::string_view> input_twice_differentiated{
    "T001", "the second derivative of `{}` is needed, but an input comes with its value and rate only"};
inline constexpr diag::Kind<> diff_by_expression{"T002", "`diff` differentiates by a name"};
inline constexpr diag::Kind<std::string_view> start_not_finite{"T003", "the start of `{}` is not a finite number"};
inline constexpr diag::Kind<std::string_view> constant_not_constant{
    "T004", "`{}` is declared constant but is not made of constants"};

inline constexpr diag::Kind<std::string_view> constant_cycle{"T005", "the constant `{}` is made of itself"};
inline constexpr diag::Kind<std::string> handler_cycle{"T006", "these handlers need each other's new values: {}"};
inline constexpr diag::Kind<std::string_view> noise_not_static{"T007", "the {} of noise must be known before the run"};
inline constexpr diag::Kind<std::string> bandwidth_not_positive{
    "T008", "the bandwidth of noise must be greater than 0, not {}"};
inline constexpr diag::Kind<> noise_differentiated{"T009", "noise has no derivative"};
inline constexpr diag::Kind<std::string, std::string> held_in_diff{
    "T010",
    "`{}` is held fixed while differentiating by `{}`: its derivative in time stands in the model, so it is taken for "
    "a "
    "coordinate of its own",
    diag::Severity::warning};
inline constexpr diag::Kind<std::string, std::string> diff_of_unknown{
    "T011", "how `{}` depends on `{}` is not known: no equation says what it is"};
inline constexpr diag::Kind<std::string> needs_history{
    "T012", "the check `{}` would have to remember more than a run can keep"};
inline constexpr diag::Kind<std::size_t, std::size_t> too_large{
    "T013", "the model grows too large here: more than {} scalar expressions, or {} steps of work on them"};
inline constexpr diag::Kind<std::string, std::size_t, std::size_t> too_many_products{
    "T014", "{} makes {} products of scalars; a model has at most {} scalar expressions"};
inline constexpr diag::Kind<std::string_view, std::size_t, std::size_t> too_many_scalars{
    "T015", "`{}` has {} components; a model has at most {} scalar expressions"};
inline constexpr diag::Kind<std::string, std::string> diff_in_circle{
    "T016", "`{}` is defined by its own derivatives: `diff` cannot say how it depends on `{}`"};

}  // namespace flatten
