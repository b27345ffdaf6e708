// What can be wrong with the letters of a text.
#pragma once

#include <string>
#include <string_view>

#include "diag/sink.h"

namespace lex {

inline constexpr diag::Kind<std::string> stray_character{"L001", "`{}` has no meaning in the language"};
inline constexpr diag::Kind<std::string, unsigned> lookalike{"L002",
                                                             "`{}` (U+{:04X}) is not a character of the language"};
inline constexpr diag::Kind<> unterminated_comment{"L003", "this comment is never closed"};
inline constexpr diag::Kind<> unterminated_string{"L004", "this text is not closed on its line"};
inline constexpr diag::Kind<std::string> unknown_escape{"L005", "`\\{}` has no meaning in a text"};
inline constexpr diag::Kind<std::string> number_too_large{"L006",
                                                          "`{}` is larger than any number that can be computed with"};
inline constexpr diag::Kind<std::string_view> missing_digit{"L007", "a digit must follow the point of `{}`"};
inline constexpr diag::Kind<std::string_view> foreign_operator{"L008", "`{}` is not an operator"};
inline constexpr diag::Kind<std::string_view> foreign_comment{"L009", "`{}` does not begin a comment"};
inline constexpr diag::Kind<std::string_view> name_start{"L010", "the name `{}` does not begin with a letter"};
inline constexpr diag::Kind<> unopened_comment{"L011", "`*/` closes no comment"};

}  // namespace lex
