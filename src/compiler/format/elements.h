// What stands in a text: tokens, and the comments between them, with the places where the person put them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/lex/lex.h"

namespace format {

inline constexpr std::size_t no_element = static_cast<std::size_t>(-1);

struct Element {
  bool comment = false;
  std::size_t token = 0;   // index into the tokens; of a comment: that of the token behind it
  std::string_view text;   // of a `//` comment without blanks at its end
  std::uint32_t line = 0;  // counted in the layout: empty lines do not count, the lines of a comment are one
  bool first = false;      // of its line
  bool last = false;       // of its line
  bool after_empty_line = false;
  bool several_lines = false;    // a block comment
  std::uint32_t column = 0;      // as written, in characters; tabs reach to multiples of eight
  std::uint32_t end_column = 0;  // as written; of several lines: in the last one
  std::uint32_t blanks = 0;      // before it on its line, as written
};

// Without the token `end`. The lexer has reported no mistake in `text`.
std::vector<Element> find_elements(std::string_view text, const lex::Tokens& tokens);

}  // namespace format
