// Changes programs as a person would who does not know what they are doing: by tokens, expressions and whole
// statements, so that most of what comes out still parses and reaches the passes behind the parser.
//
// A text is cut into pieces, each a token with the blanks and comments before it; all pieces together are the text
// again. Statements are runs of pieces up to a `;`, or up to the bracket that closes one that stands in them, at any
// depth. Nothing is held to be valid.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

enum class PieceKind : std::uint8_t { blank, word, name, number, text, open, close, separator, sign };

struct Piece {
  PieceKind kind;
  std::string before;  // blanks and comments
  std::string token;   // empty only in the last one, which is `blank`
};

using Pieces = std::vector<Piece>;

[[nodiscard]] Pieces cut(std::string_view text);
[[nodiscard]] std::string join(const Pieces& pieces);

// Remembers statements and expressions of the programs it has seen, to put them into others.
class Mutator {
 public:
  Mutator();
  void seed(std::uint32_t value) { random_.seed(value); }
  // One to five changes.
  [[nodiscard]] std::string mutate(std::string_view text);
  // Statements of `other` among those of `text`.
  [[nodiscard]] std::string cross(std::string_view text, std::string_view other);

 private:
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }
  template <class List>
  const auto& any(const List& list) {
    return list[below(std::size(list))];
  }

  void change(Pieces& pieces);
  void remember(const Pieces& pieces);
  // Never empty.
  std::vector<Range> statements(const Pieces& pieces);
  Range some_operand(const Pieces& pieces);
  std::string name_of(const Pieces& pieces);
  Piece replacement(const Pieces& pieces, const Piece& piece);
  Pieces declaration(const Pieces& pieces);
  Pieces wrapped_statement(const Pieces& pieces, Range range);
  Pieces wrapped_operand(const Pieces& pieces, Range range);

  std::mt19937 random_{1};
  std::vector<Pieces> seen_statements_;
  std::vector<Pieces> seen_operands_;
};

}  // namespace fuzz
