// What check can say about a program.
#pragma once

#include <string>
#include <string_view>

#include "diag/sink.h"

namespace check {

using Text = std::string_view;

inline constexpr diag::Kind<> nothing_to_simulate{"C001", "nothing to simulate: the program has no equations"};
inline constexpr diag::Kind<Text> declared_twice{"C002", "`{}` is declared twice"};
inline constexpr diag::Kind<Text> unknown_setting{"C003", "`simulation` knows no `{}`"};
inline constexpr diag::Kind<Text> bad_setting{"C004", "{}"};
inline constexpr diag::Kind<Text> unknown_function{"C005", "there is no function `{}`"};
inline constexpr diag::Kind<Text, std::string> argument_count{"C006", "`{}` does not take {}"};
inline constexpr diag::Kind<Text, std::string, std::string> shapes_differ{"C007", "{}: one side is {}, the other {}"};
inline constexpr diag::Kind<Text, Text, std::string> wrong_shape{"C008", "{} needs {}, not {}"};
inline constexpr diag::Kind<> index_not_constant{"C009", "an index must be a whole number known before the run"};
inline constexpr diag::Kind<long long, std::string> index_out_of_range{"C010", "there is no component {} in {}"};
inline constexpr diag::Kind<Text, long long, long long> vector_too_long{"C042", "{} of {} is beyond the longest, {}"};
inline constexpr diag::Kind<Text> not_constant{"C011", "{} must be known before the run"};
inline constexpr diag::Kind<Text> calls_itself{"C012", "the function `{}` calls itself"};
inline constexpr diag::Kind<Text> not_built{"C013", "`{}` is part of the language but not built yet"};
inline constexpr diag::Kind<Text> not_a_value{"C014", "{} is not a value here"};
inline constexpr diag::Kind<std::string, std::string> condition_too_early{
    "C015", "a condition at t = {} lies before the start, t = {}"};
inline constexpr diag::Kind<std::string> guess_at_other_time{"C039", "a guess is given at the start, t = {}"};
inline constexpr diag::Kind<Text> condition_target{"C016", "{} cannot be given a start"};
inline constexpr diag::Kind<> tuple_mixed{"C017", "the parts of this vector have different shapes"};
inline constexpr diag::Kind<Text> not_a_number_literal{"C018", "the value of `{}` is not a finite number"};
inline constexpr diag::Kind<Text> unknown_override{"C019",
                                                   "`--set {}`: the program has no parameter or constant of that name"};
inline constexpr diag::Kind<Text> input_primed{"C020", "`{}`: an external reads a name without primes"};
inline constexpr diag::Kind<double, double, double> outside_range{"C021", "the value {} lies outside its range {}..{}"};
inline constexpr diag::Kind<> range_empty{"C022", "a range runs from the smaller to the larger value"};
inline constexpr diag::Kind<Text> unknown_event{"C024", "there is no event `{}`"};
inline constexpr diag::Kind<Text> unknown_name{"C025", "there is no `{}` that a handler could read"};
inline constexpr diag::Kind<Text, Text> handled_twice{"C026", "`{}` has two handlers for `{}`"};
inline constexpr diag::Kind<Text> not_reactive{"C027", "RIDL writes `{}`, but there is no behaviour of that name"};
inline constexpr diag::Kind<Text> no_timing{"C028", "nothing says when `{}` happens"};
inline constexpr diag::Kind<Text> not_in_handler{"C029", "{} cannot stand in a handler"};
inline constexpr diag::Kind<Text> no_behaviour_given{"C030", "`{}` stays 0: the reactive behaviours are not given",
                                                     diag::Severity::warning};
inline constexpr diag::Kind<> table_without_file{"C036", "`table` needs a file's name in quotes"};
inline constexpr diag::Kind<Text> unknown_table_option{"C037", "`table` knows no `{}`"};
inline constexpr diag::Kind<> column_of_map{"C038", "a table of two arguments has no column to choose"};

inline constexpr diag::Kind<Text> equality_in_guard{"C034", "{} are equal at no instant that a run could find"};
inline constexpr diag::Kind<Text> constant_primed{"C035", "`{}` is a derivative, and that of a constant is 0",
                                                  diag::Severity::warning};
inline constexpr diag::Kind<Text> unknown_drawing{"C043", "a scene draws no `{}`"};
inline constexpr diag::Kind<Text, Text> no_such_option{"C044", "a `{}` has no `{}`"};
inline constexpr diag::Kind<Text, Text> option_missing{"C045", "a `{}` needs `{}`"};
inline constexpr diag::Kind<Text, Text> wrong_leading{"C046", "a `{}` takes {}"};
inline constexpr diag::Kind<Text> unknown_color{"C047", "there is no colour `{}`"};
inline constexpr diag::Kind<Text> nothing_to_draw{"C048", "there is no `{}` that a scene could draw"};
inline constexpr diag::Kind<Text> not_in_scene{"C049", "{} cannot stand in a scene"};
inline constexpr diag::Kind<Text, Text> not_a_truth{"C050", "{} needs what is true or false, and `{}` is a number"};
inline constexpr diag::Kind<Text> not_a_mode{"C051", "`in` takes modes, and `{}` is none"};
inline constexpr diag::Kind<> says_nothing_of_after{"C052",
                                                    "this equation says nothing about what comes after the jump"};
inline constexpr diag::Kind<Text> goto_twice{"C053", "this jump goes to two modes of `{}`"};
inline constexpr diag::Kind<> next_outside{"C054", "`next` stands in a jump, or under `check`"};
inline constexpr diag::Kind<Text> instant_outside{"C055", "`{}` stands in a sequence or a plan"};
inline constexpr diag::Kind<Text> cannot_keep{"C056", "`{}` cannot be kept"};
inline constexpr diag::Kind<Text> next_of_unknown{"C057",
                                                  "the unknown `{}` is of this instant, and has no value after it"};
inline constexpr diag::Kind<std::string, std::string> target_count{
    "C058", "a plan that chooses {} needs as many targets, and has {}"};
inline constexpr diag::Kind<std::string, std::string> too_many_chosen{
    "C062", "a plan chooses at most {} numbers, and this one chooses {}"};
inline constexpr diag::Kind<Text> bad_bounds{"C059", "the bounds of `{}` are not times to come, the earlier first"};
inline constexpr diag::Kind<Text> not_in_equations{"C060", "there is no `{}` in the equations"};

inline constexpr diag::Kind<std::string, std::string, Text> long_run{"C070", "{} makes {} {} in this run",
                                                                     diag::Severity::warning};

inline constexpr diag::Kind<Text, Text> join_of_given{
    "C061", "the port `{}` cannot be joined: what enters it, `{}`, is given elsewhere"};

inline constexpr diag::Kind<> too_large{"C023", "the program grows too large when its functions are expanded here"};
inline constexpr diag::Kind<std::string, std::string> dimensions_differ{"C031", "{}: {}"};
inline constexpr diag::Kind<std::string, std::string, std::string> not_pure{"C032",
                                                                            "{} must be a pure number, and {} is {}"};
inline constexpr diag::Kind<Text, std::string, std::string, std::string> dimension_of_setting{"C033",
                                                                                              "{} {}, and {} is {}"};

}  // namespace check
