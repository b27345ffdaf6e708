// What structure can say: wrong counts of equations and starts, in the words of the source.
#pragma once

#include <string>
#include <string_view>

#include "diag/sink.h"

namespace structure {

using Text = std::string_view;

inline constexpr diag::Kind<Text> over_determined{"S001", "one equation too many: {}"};
inline constexpr diag::Kind<Text> undetermined{"S002", "no equation determines `{}`"};
inline constexpr diag::Kind<Text> nothing_left{"S003", "nothing is left for this equation to determine: {}"};
inline constexpr diag::Kind<Text> endless_derivatives{"S005", "more than 64 derivatives of `{}` are asked for"};
inline constexpr diag::Kind<Text> start_of_no_state{"S006",
                                                    "`{}` takes no start: its value follows from the equations"};
inline constexpr diag::Kind<Text> start_given_twice{"S007", "the start of `{}` is given twice"};
inline constexpr diag::Kind<Text, Text> start_missing{"S008", "no start is given for `{}`; {}",
                                                      diag::Severity::warning};
inline constexpr diag::Kind<Text> input_acceleration{
    "S009", "the second derivative of the input `{}` is needed, but an input comes with its value and rate only"};
inline constexpr diag::Kind<Text> redundant{"S010", "this equation says nothing new: {}", diag::Severity::warning};
inline constexpr diag::Kind<Text> determined_from_outside{"S011", "`{}` cannot also be determined by an equation"};

inline constexpr diag::Kind<std::size_t, std::size_t> block_too_large{
    "S012", "{} equations from here on need each other; this version solves at most {} together"};
inline constexpr diag::Kind<std::string_view> start_not_static{"S013",
                                                               "the first value of `{}` must be known before the run"};
inline constexpr diag::Kind<Text, Text> falls_out{"S017", "`{}` falls out of this equation, and {} is left"};
inline constexpr diag::Kind<> delay_not_static{"S014", "how long a delay is must be known before the run"};
inline constexpr diag::Kind<Text> delay_not_positive{"S015", "a delay must be longer than 0, not {}"};
inline constexpr diag::Kind<> noise_differentiated{"S016", "the derivative of noise is needed, which has none"};
inline constexpr diag::Kind<Text, Text> cancel{
    "S018", "{} cancel when these equations are added up; what is left, `{}`, takes the place of this one",
    diag::Severity::warning};
inline constexpr diag::Kind<Text> cancel_for_good{"S019",
                                                  "these equations do not determine {}: they cancel when added up"};
inline constexpr diag::Kind<Text> cancel_by_parameters{
    "S024", "these equations do not determine {}: whatever the parameters are, they cancel when added up"};
inline constexpr diag::Kind<Text> idle{"S020", "`{}` has no part in any equation that is left: it is 0",
                                       diag::Severity::warning};

inline constexpr diag::Kind<Text, Text> too_many_conditions{
    "S021", "one boundary value too many: no start is left that `{}({})` could determine"};
inline constexpr diag::Kind<> jump_differentiated{
    "S023", "a derivative of this is asked for across a jump, which leaves no trace in it", diag::Severity::warning};
inline constexpr diag::Kind<std::size_t, std::size_t> too_many_equations{
    "S025", "the model has {} equations that are not constants; at most {} are compiled"};
inline constexpr diag::Kind<Text> start_undetermined{"S026", "no equation determines `{}` at the start"};
inline constexpr diag::Kind<std::size_t, std::size_t, std::size_t> memory_too_large{
    "S027", "{} delays up to here remember {} samples, more than {}"};
inline constexpr diag::Kind<> later_with_delay{
    "S022", "boundary values at other times cannot be found for a model with a delay"};

}  // namespace structure
