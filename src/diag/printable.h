// Text that a terminal can be given: what would steer it, or show other letters in another order than they stand in, is
// spelled out. File names and the texts of models come from anybody; an escape sequence in one would be obeyed.
#pragma once

#include <string>
#include <string_view>

namespace diag {

// C0 and C1 control characters, DEL, zero-width and bidirectional format characters, line and paragraph separators.
[[nodiscard]] bool is_control(char32_t c);

// Controls become `\x1b`, `\u202e`, a line's end `\n`, a byte that is not UTF-8 `\xff`. All else stays, the backslash,
// too.
[[nodiscard]] std::string printable(std::string_view text);
// The same for text of several lines: ends of lines and tabs stay.
[[nodiscard]] std::string printable_lines(std::string_view text);

}  // namespace diag
