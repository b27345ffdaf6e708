#include "compiler/format/elements.h"

#include <algorithm>

#include "diag/utf8.h"

namespace format {
namespace {

constexpr std::string_view blanks = " \t\r\f\v";

std::string_view without_blanks_at_end(std::string_view text) {
  const std::size_t last = text.find_last_not_of(blanks);
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

class Finder {
 public:
  Finder(std::string_view text, const lex::Tokens& tokens) : text_(text), tokens_(tokens) {}

  std::vector<Element> run() {
    for (std::size_t i = 0; i < tokens_.list.size(); ++i) {
      const lex::Token& token = tokens_.list[i];
      read_gap(token.begin, i);
      if (token.kind != lex::TokenKind::end) add(token.end, i, false);
    }
    if (!elements_.empty()) elements_.back().last = true;
    return std::move(elements_);
  }

 private:
  // Blanks, line ends and comments up to `end`.
  void read_gap(std::uint32_t end, std::size_t token) {
    while (at_ < end) {
      const std::string_view rest = text_.substr(at_, end - at_);
      if (rest.starts_with("//")) {
        add(at_ + static_cast<std::uint32_t>(std::min(rest.find('\n'), rest.size())), token, true);
      } else if (rest.starts_with("/*")) {
        add(at_ + static_cast<std::uint32_t>(rest.find("*/", 2) + 2), token, true);
      } else {
        advance();
      }
    }
  }

  void advance() {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_ends_;
      column_ = 0;
      ++at_;
    } else if (c == '\t') {
      column_ += 8 - column_ % 8;
      ++at_;
    } else {
      at_ += diag::decode(text_, at_).length;
      ++column_;
    }
  }

  void add(std::uint32_t end, std::size_t token, bool comment) {
    Element element;
    element.comment = comment;
    element.token = token;
    element.text = text_.substr(at_, end - at_);
    if (element.text.starts_with("//")) element.text = without_blanks_at_end(element.text);
    element.column = column_;
    element.blanks = elements_.empty() ? 0 : column_ - std::min(column_, elements_.back().end_column);
    element.first = elements_.empty() || line_ends_ > 0;
    element.after_empty_line = !elements_.empty() && line_ends_ > 1;
    if (element.first && !elements_.empty()) {
      elements_.back().last = true;
      ++line_;
    }
    element.line = line_;
    line_ends_ = 0;
    while (at_ < end) advance();
    element.several_lines = line_ends_ > 0;
    line_ends_ = 0;
    element.end_column = column_;
    elements_.push_back(element);
  }

  std::string_view text_;
  const lex::Tokens& tokens_;
  std::vector<Element> elements_;
  std::uint32_t at_ = 0;
  std::uint32_t column_ = 0;
  std::uint32_t line_ = 0;
  std::uint32_t line_ends_ = 0;
};

}  // namespace

std::vector<Element> find_elements(std::string_view text, const lex::Tokens& tokens) {
  return Finder(text, tokens).run();
}

}  // namespace format
