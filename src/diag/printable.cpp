#include "diag/printable.h"

#include <fmt/format.h>

#include "diag/utf8.h"

namespace diag {
namespace {

std::string spelled_out(std::string_view text, bool keeps_lines) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint c = decode(text, i);
    const bool stays = keeps_lines && (c.value == '\n' || c.value == '\t');
    if (!c.valid) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
    } else if (!is_control(c.value) || stays) {
      out += text.substr(i, c.length);
    } else if (c.value == '\n') {
      out += "\\n";
    } else if (c.value == '\t') {
      out += "\\t";
    } else if (c.value < 0x80) {
      out += fmt::format("\\x{:02x}", static_cast<std::uint32_t>(c.value));
    } else {
      out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c.value));
    }
    i += c.length;
  }
  return out;
}

}  // namespace

bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2060 && c <= 0x2069) || c == 0x61c || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
         (c >= 0xe0000 && c <= 0xe007f);
}

std::string printable(std::string_view text) { return spelled_out(text, false); }
std::string printable_lines(std::string_view text) { return spelled_out(text, true); }

}  // namespace diag
