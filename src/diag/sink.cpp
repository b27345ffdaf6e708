#include "diag/sink.h"

#include <algorithm>
#include <utility>

namespace diag {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_of_path(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '[' || c == ']' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// The text without digits and without what stands before a dot in a name: "`leg[2].foot.F`" becomes "`F`".
std::string without_instance(std::string_view text) {
  std::string out;
  std::size_t word = 0;  // where the name begins in `out`
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool dot_of_path = c == '.' && word < out.size() && i + 1 < text.size() && is_of_path(text[i + 1]);
    if (dot_of_path) {
      out.resize(word);
    } else {
      if (!is_digit(c)) out += c;
      if (!is_of_path(c)) word = out.size();
    }
  }
  return out;
}

}  // namespace

Sink::Reported Sink::add(Diagnostic diagnostic) {
  // What it quotes of a program may go over lines; it is one line itself.
  std::ranges::replace_if(diagnostic.text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  if (diagnostic.severity == Severity::error) ++error_count_;
  const base::Span span = diagnostic.span;
  const bool has_place = span.begin != span.end;
  std::string text, like;
  if (has_place) {
    const std::string place = fmt::format("{} {} {} {} ", diagnostic.code, span.file, span.begin, span.end);
    text = place + diagnostic.text;
    like = place + without_instance(diagnostic.text);
    if (auto found = likes_.find(like); found != likes_.end()) {
      if (texts_.insert(std::move(text)).second) ++diagnostics_[found->second].repeated;
      return Reported(nullptr);
    }
  }
  std::size_t& kept = diagnostic.severity == Severity::error ? kept_errors_ : kept_warnings_;
  if (kept >= limit_) {
    ++dropped_;
    return Reported(nullptr);
  }
  ++kept;
  if (has_place) {
    texts_.insert(std::move(text));
    likes_.emplace(std::move(like), diagnostics_.size());
  }
  if (diagnostics_.empty()) diagnostics_.reserve(2 * limit_);  // errors and warnings: a kept one never moves
  diagnostics_.push_back(std::move(diagnostic));
  return Reported(&diagnostics_.back());
}

}  // namespace diag
