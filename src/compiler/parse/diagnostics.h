// What can be wrong with the form of a program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "diag/sink.h"

namespace parse {

inline constexpr diag::Kind<std::string_view, std::string> expected{"P001", "expected {}, found {}"};
inline constexpr diag::Kind<> expected_semicolon{"P002", "expected `;`"};
inline constexpr diag::Kind<std::string> expected_expression{"P003", "expected an expression, found {}"};
inline constexpr diag::Kind<std::string_view, std::string_view> no_section{"P004", "{} stands under `{}`"};
inline constexpr diag::Kind<std::string_view> reserved_word{"P005",
                                                            "`{}` is a word of the language and cannot be a name"};
inline constexpr diag::Kind<> nested_too_deeply{"P006", "this expression is nested too deeply"};
inline constexpr diag::Kind<std::string_view> unmatched_bracket{"P007", "this {} closes nothing"};
inline constexpr diag::Kind<std::string> unknown_unit{"P008", "there is no unit `{}`"};
inline constexpr diag::Kind<> number_out_of_range{"P009", "this number is too large in SI units"};
inline constexpr diag::Kind<std::string_view> foreign_function{"P010", "there is no function `{}`"};
inline constexpr diag::Kind<std::string_view> foreign_word{"P011", "`{}` is not a word of the language"};
inline constexpr diag::Kind<> missing_product{"P012", "a product needs `*`"};
inline constexpr diag::Kind<> bare_expression{"P013", "an expression stands in parentheses here"};
inline constexpr diag::Kind<std::string_view, std::string_view> other_variable{"P014", "`{}` is given under `{} with`",
                                                                               diag::Severity::warning};
inline constexpr diag::Kind<std::string_view> given_twice{"P015", "`{}` is given twice"};
inline constexpr diag::Kind<std::uint32_t> too_many_primes{"P016",
                                                           "a derivative of order {} is beyond what can be computed"};
inline constexpr diag::Kind<std::string> no_equation{"P017", "expected the `=` of an equation, found {}"};
inline constexpr diag::Kind<> no_time{"P018", "this condition does not say when it holds"};
inline constexpr diag::Kind<> chained_comparison{"P019", "comparisons cannot be chained"};
inline constexpr diag::Kind<std::string_view> not_built{"P020", "{} is part of the language but not built yet"};
inline constexpr diag::Kind<std::string_view> temporal_outside{"P021", "`{}` stands under `check` only"};
inline constexpr diag::Kind<> empty_statement{"P022", "this `;` ends nothing"};
inline constexpr diag::Kind<std::string_view> tact_word{"P023", "`{}` is a word of .tact files only"};
inline constexpr diag::Kind<> exponent_out_of_range{"P024", "no unit has so large an exponent"};
inline constexpr diag::Kind<std::string_view, std::string_view> not_in_module{"P025", "`{}` does not stand in {}"};
inline constexpr diag::Kind<std::string_view, std::string_view> not_here{"P029", "{} does not stand in {}"};
inline constexpr diag::Kind<std::string_view> unknown_option{"P027", "a drawing has no `{}`"};
inline constexpr diag::Kind<> unclosed_hole{"P028", "this `{{` is closed nowhere in the text"};
inline constexpr diag::Kind<> rate_of_value{"P030", "only an instance of a module has a rate"};
inline constexpr diag::Kind<std::string_view> unclosed_body{"P026", "nothing closes this {}"};

}  // namespace parse
