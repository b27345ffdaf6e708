// Text to tokens, by the lexical part of the grammar. Words are not told apart here: whether `plan` is reserved depends
// on the kind of file, and the parser knows it.
//
// A slip with one plain reading (`==` for `=`, a typographic minus) is reported and read as what was meant, so that it
// costs one error and not a second one in the parser.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "base/span.h"
#include "diag/sink.h"
#include "diag/source_map.h"

namespace lex {

enum class TokenKind : std::uint8_t {
  end,  // of the file; the last token, always there
  name,
  number,
  string,
  plus,           // +
  minus,          // -
  star,           // *
  slash,          // /
  caret,          // ^
  prime,          // '
  equal,          // =
  not_equal,      // !=
  less,           // <
  less_equal,     // <=
  greater,        // >
  greater_equal,  // >=
  bang,           // !
  and_and,        // &&
  or_or,          // ||
  arrow,          // ->
  fat_arrow,      // =>
  tilde,          // ~
  comma,          // ,
  semicolon,      // ;
  colon,          // :
  dot,            // .
  dot_dot,        // ..
  left_paren,
  right_paren,
  left_bracket,
  right_bracket,
  left_brace,
  right_brace,
};

// As the user writes it: "`=>`", "a number", "the end of the file".
std::string_view describe(TokenKind kind);

struct Token {
  TokenKind kind = TokenKind::end;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t value = 0;  // name: the NameId; number, string: an index into Tokens
};

struct Tokens {
  std::uint32_t file = 0;
  std::vector<Token> list;  // ends with a token of kind `end`
  std::vector<double> numbers;
  std::vector<std::string> strings;    // without quotes, escapes resolved
  std::vector<std::uint32_t> dropped;  // where characters without meaning, already reported, were left out; rising

  base::Span span(std::size_t index) const { return {file, list[index].begin, list[index].end}; }
  base::NameId name(std::size_t index) const { return base::NameId(list[index].value); }
};

// `file` is a text that source::load or source::add accepted. Linear in its length.
[[nodiscard]] Tokens lex(const diag::SourceMap& sources, std::uint32_t file, base::Names& names, diag::Sink& diags);
// Of a part of such a text only: an expression inside a string.
[[nodiscard]] Tokens lex(const diag::SourceMap& sources, base::Span part, base::Names& names, diag::Sink& diags);

}  // namespace lex
