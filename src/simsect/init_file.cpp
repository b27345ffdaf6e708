#include "simsect/init_file.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>

#include "simsect/diagnostics.h"

namespace simsect {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (static_cast<unsigned char>(c) & 0x80) != 0;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
// Inside of a name: the manual's, and what the names of models have besides.
bool is_in_name(char c) { return is_letter(c) || is_digit(c) || c == '\'' || c == '[' || c == ']' || c == '.'; }
bool is_in_number(char c) { return is_digit(c) || c == '.' || c == '+' || c == '-' || is_letter(c); }

class Reader {
 public:
  Reader(std::uint32_t file, const diag::SourceMap& sources, diag::Sink& diags)
      : file_(file), text_(sources.text(file)), diags_(diags) {}

  std::vector<Assignment> read() {
    for (skip(); at_ < text_.size(); skip()) {
      Assignment made;
      if (statement(made)) {
        found_.push_back(std::move(made));
      } else {
        recover();
      }
    }
    std::map<std::string_view, const Assignment*> seen;
    for (const Assignment& each : found_) {
      const auto [before, is_new] = seen.try_emplace(each.name, &each);
      if (is_new) continue;
      diags_.report(each.name_span, given_twice, each.name).related(before->second->name_span, "first here");
      before->second = &each;
    }
    return std::move(found_);
  }

 private:
  base::Span span(std::size_t from, std::size_t to) const {
    return {file_, static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to)};
  }

  void skip() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        ++at_;
      } else {
        return;
      }
    }
  }

  // "`=`", "the end of the file"
  std::string found_here() const {
    if (at_ >= text_.size()) return "the end of the file";
    std::size_t end = at_ + 1;
    if (is_in_number(text_[at_])) {
      while (end < text_.size() && end - at_ < 40 && is_in_number(text_[end])) ++end;
      while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xc0) == 0x80) ++end;
    }
    return fmt::format("`{}`", text_.substr(at_, end - at_));
  }

  bool expect(char sign, const char* hint) {
    skip();
    if (at_ < text_.size() && text_[at_] == sign) {
      ++at_;
      return true;
    }
    diags_.report(span(at_, std::min(at_ + 1, text_.size())), unexpected, fmt::format("`{}`", sign), found_here())
        .hint("{}", std::string_view(hint));
    return false;
  }

  bool statement(Assignment& made) {
    constexpr const char* form = "a statement reads `tolerance = 1e-5;` or `systemName = \"slip\";`";
    const std::size_t start = at_;
    if (!is_letter(text_[at_])) {
      diags_.report(span(at_, at_ + 1), unexpected, "the name of a symbol", found_here())
          .hint("{}", std::string_view(form));
      return false;
    }
    while (at_ < text_.size() && is_in_name(text_[at_])) ++at_;
    made.name = text_.substr(start, at_ - start);
    made.name_span = span(start, at_);
    return expect('=', form) && value(made) && expect(';', "a statement ends with `;`");
  }

  bool value(Assignment& made) {
    skip();
    const std::size_t start = at_;
    if (at_ < text_.size() && text_[at_] == '"') {
      const std::size_t line = std::min(text_.find_first_of("\r\n", at_), text_.size());
      const std::size_t close = text_.find('"', at_ + 1);
      if (close >= line) {
        diags_.report(span(start, line), open_text).hint("close it with `\"`");
        at_ = line;
        return false;
      }
      made.is_text = true;
      made.text = text_.substr(start + 1, close - start - 1);
      at_ = close + 1;
      made.value_span = span(start, at_);
      return true;
    }
    while (at_ < text_.size() && is_in_number(text_[at_])) ++at_;
    if (at_ == start) {
      diags_.report(span(at_, std::min(at_ + 1, text_.size())), unexpected, "a number or a text in quotes",
                    found_here());
      return false;
    }
    made.value_span = span(start, at_);
    const std::string_view digits = text_.substr(start, at_ - start);
    if (!number(digits, made.number)) {
      auto report = diags_.report(made.value_span, no_number, digits);
      if (is_letter(digits.front())) report.hint("a text stands in quotes: `\"{}\"`", digits);
      return false;
    }
    return true;
  }

  static bool number(std::string_view digits, double& result) {
    if (digits.starts_with('+') && digits.size() > 1 && digits[1] != '-') digits.remove_prefix(1);
    // Neither `inf` nor `nan`, which std::from_chars would take.
    if (digits.find_first_not_of("0123456789.+-eE") != std::string_view::npos) return false;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
    return error == std::errc() && end == digits.data() + digits.size() && std::isfinite(result);
  }

  // Behind a mistake: on with the next line, or behind the next `;`.
  void recover() {
    const std::size_t end = text_.find_first_of(";\n", at_);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
  }

  const std::uint32_t file_;
  const std::string_view text_;
  diag::Sink& diags_;
  std::size_t at_ = 0;
  std::vector<Assignment> found_;
};

}  // namespace

std::vector<Assignment> read_init_file(std::uint32_t file, const diag::SourceMap& sources, diag::Sink& diags) {
  return Reader(file, sources, diags).read();
}

std::string write_init_file(std::string_view comment, const std::vector<NamedNumber>& numbers) {
  std::string text;
  for (std::size_t at = 0; at < comment.size();) {
    const std::size_t end = std::min(comment.find('\n', at), comment.size());
    text += fmt::format("# {}\n", comment.substr(at, end - at));
    at = end + 1;
  }
  for (const NamedNumber& each : numbers) {
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof digits, each.value).ptr;
    text += fmt::format("{}{} = {};\n", std::isfinite(each.value) ? "" : "# ", each.name,
                        std::string_view(digits, static_cast<std::size_t>(end - digits)));
  }
  return text;
}

}  // namespace simsect
