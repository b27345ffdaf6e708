// One code point of UTF-8 at a time: the reader, the lexer and the renderer agree here on what a character is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace diag {

struct CodePoint {
  char32_t value = 0;
  std::uint32_t length = 1;  // bytes; an invalid byte counts as one character of length 1
  bool valid = true;
};

// The code point at `offset` < text.size(). Overlong forms, surrogates and values above U+10FFFF are invalid
// (Unicode 15, table 3-7).
constexpr CodePoint decode(std::string_view text, std::size_t offset) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return offset + i < text.size() ? static_cast<unsigned char>(text[offset + i]) : 0u;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1, true};
  if (first >= 0xc2 && first <= 0xdf && continues(1)) return {((first & 0x1fu) << 6) | (byte(1) & 0x3fu), 2, true};
  if (first >= 0xe0 && first <= 0xef && continues(1) && continues(2)) {
    const std::uint32_t value = ((first & 0x0fu) << 12) | ((byte(1) & 0x3fu) << 6) | (byte(2) & 0x3fu);
    if (value >= 0x800 && !(value >= 0xd800 && value <= 0xdfff)) return {value, 3, true};
  }
  if (first >= 0xf0 && first <= 0xf4 && continues(1) && continues(2) && continues(3)) {
    const std::uint32_t value =
        ((first & 0x07u) << 18) | ((byte(1) & 0x3fu) << 12) | ((byte(2) & 0x3fu) << 6) | (byte(3) & 0x3fu);
    if (value >= 0x10000 && value <= 0x10ffff) return {value, 4, true};
  }
  return {first, 1, false};
}

// True for the first byte of a character, in valid UTF-8.
constexpr bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0u) != 0x80u; }

}  // namespace diag
