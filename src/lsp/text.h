// An editor's text and its places: the protocol counts lines and UTF-16 units (or bytes), the compiler counts bytes.
// Language Server Protocol 3.17, "Position" and "TextDocumentContentChangeEvent".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lsp {

enum class Encoding { utf16, utf8 };

struct Position {
  std::uint32_t line = 0;
  std::uint32_t character = 0;
  friend bool operator==(const Position&, const Position&) = default;
};

class Text {
 public:
  Text() : Text("") {}
  explicit Text(std::string content);

  const std::string& content() const { return content_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(content_.size()); }
  std::uint32_t line_count() const { return static_cast<std::uint32_t>(line_starts_.size()); }
  std::uint32_t line_start(std::uint32_t line) const { return line_starts_[line]; }
  // Without its end.
  std::string_view line(std::uint32_t line) const;
  std::uint32_t line_of(std::uint32_t offset) const;

  // A place behind the end of its line is the end of the line; one inside a character is its beginning.
  std::uint32_t offset_of(Position position, Encoding encoding) const;
  Position position_of(std::uint32_t offset, Encoding encoding) const;

  // How many bytes were decoded to answer offset_of and position_of and to replace: for a test that each costs the same on a long line.
  std::uint64_t walked() const { return walked_; }
  static constexpr std::uint32_t between_marks = 256;  // bytes, at least

  // Replaces [begin, end). Decodes what is new and some bytes around it; the rest is only moved.
  void replace(std::uint32_t begin, std::uint32_t end, std::string_view with);

 private:
  // A place, and how many UTF-16 units stand before it.
  struct Mark {
    std::uint32_t offset = 0;
    std::uint32_t units = 0;
  };

  // Lines and marks for [begin, end) of the text, which is new. `was` is where the old text, still known to line_starts_ and marks_, went
  // on with what stands behind `end`.
  void index(std::uint32_t begin, std::uint32_t end, std::uint32_t was);
  std::uint32_t units_before(std::uint32_t offset, Encoding encoding) const;

  std::string content_;
  std::vector<std::uint32_t> line_starts_;
  std::vector<Mark> marks_;  // by place; the first is the beginning
  mutable std::uint64_t walked_ = 0;
};

// In the units of `encoding`.
std::uint32_t length_of(std::string_view text, Encoding encoding);

}  // namespace lsp
