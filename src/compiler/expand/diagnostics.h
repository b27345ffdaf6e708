// What can be wrong with modules, loops, families and used files.
#pragma once

#include <string>
#include <string_view>

#include "diag/sink.h"

namespace expand {

using Text = std::string_view;

inline constexpr diag::Kind<Text> no_module{"E001", "there is no module `{}`"};
inline constexpr diag::Kind<Text, std::string> too_many_arguments{"E002", "`{}` takes {}"};
inline constexpr diag::Kind<Text, Text> no_such_argument{"E003", "`{}` has no port or parameter `{}`"};
inline constexpr diag::Kind<Text> bound_twice{"E004", "the port or parameter `{}` is given twice"};
inline constexpr diag::Kind<Text> range_not_constant{"E005", "{} must be whole numbers known before the run"};
inline constexpr diag::Kind<> too_large{"E006", "the program grows too large when this is written out"};
inline constexpr diag::Kind<Text> instance_not_a_value{"E007", "`{}` is an instance of a module, not a value"};
inline constexpr diag::Kind<Text, Text> no_member{"E008", "`{}` has no `{}`"};
inline constexpr diag::Kind<Text> contains_itself{"E009", "the module `{}` contains itself"};
inline constexpr diag::Kind<Text> name_taken{"E010", "`{}` is declared twice"};
inline constexpr diag::Kind<long long, Text> no_element{"E011", "there is no element {} in `{}`"};
inline constexpr diag::Kind<Text> module_not_a_value{"E012", "`{}` is a module, not a function"};
inline constexpr diag::Kind<Text> file_not_found{"E013", "there is no file `{}`"};
inline constexpr diag::Kind<Text, Text> no_mode{"E014", "the automaton `{}` has no mode `{}`"};
inline constexpr diag::Kind<Text> automaton_not_a_value{"E015", "`{}` is an automaton, not a value"};
inline constexpr diag::Kind<Text> no_automaton{"E016", "`{}` is not a mode of an automaton"};
inline constexpr diag::Kind<Text> not_in_mode{"E017", "{} does not stand in a mode"};
inline constexpr diag::Kind<Text> no_port{"E018", "there is no port `{}`"};
inline constexpr diag::Kind<Text> guarded_twice{"E028", "the port `{}` is guarded twice"};
inline constexpr diag::Kind<Text, Text> both_guarded{"E029", "`{}` and `{}` are joined, and both are guarded"};
inline constexpr diag::Kind<Text> joined_twice{"E019", "the port `{}` is joined twice"};
inline constexpr diag::Kind<Text, Text> enters_no_variable{
    "E020", "the port `{}` cannot be joined: what enters it, `{}`, is not a variable"};
inline constexpr diag::Kind<Text> manner_without_rates{
    "E021", "`{}` says how samples pass between instances with rates, and these have none"};
inline constexpr diag::Kind<Text> manner_of_equal_rates{
    "E022", "`{}` says how samples pass between different rates, and these are equal"};
inline constexpr diag::Kind<> rate_without_unit{"E023", "a rate has a unit"};
inline constexpr diag::Kind<Text> rate_in_unit{"E024", "a rate is so many a second, not a number of `{}`"};
inline constexpr diag::Kind<> rate_not_constant{"E025", "a rate is a positive number known before the run"};
inline constexpr diag::Kind<Text> rate_without_port{"E026",
                                                    "`{}` has a rate, but no port through which anything could pass"};
inline constexpr diag::Kind<Text> rate_without_module{"E027", "`{}` is no module, and has no rate"};
inline constexpr diag::Kind<Text> elements_apart{"E030", "`{}` does not follow the other elements"};

}  // namespace expand
