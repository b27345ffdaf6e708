// How deep a JSON text nests, found before it is parsed: in linear time and without memory, whatever the text is. (A
// callback of the parser could count, too, but the parser then looks through all of an array's elements whenever one of
// them ends.)
#pragma once

#include <string_view>

namespace base {

// True if more than `most` brackets and braces are open at once outside of strings. What is no JSON gets some answer.
inline bool nests_deeper(std::string_view json, int most) {
  int depth = 0;
  bool is_in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (is_in_string) {
      if (c == '\\') ++i;
      if (c == '"') is_in_string = false;
    } else if (c == '"') {
      is_in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > most) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace base
