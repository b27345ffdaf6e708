// Which characters above ASCII may stand in a name.
#pragma once

namespace lex {

// May begin a name. For c >= 0x80.
bool is_unicode_letter(char32_t c);
// May continue a name: combining marks, digits of other scripts, subscript digits. For c >= 0x80.
bool is_unicode_mark_or_digit(char32_t c);

}  // namespace lex
