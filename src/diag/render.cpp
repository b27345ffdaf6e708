// Diagnostics as text for a terminal and as JSON for programs. Both are ordered by file, then place; diagnostics of one
// place keep the order in which they were reported.
//
//   tank.tact:3:12: error[S002]: no equation determines `inflow`
//     3 |   level' = inflow;
//       |            ^~~~~~
//     hint: add an equation for it
//
// Columns are code points. A tab is shown as blanks up to the next multiple of four, a control character or an invalid
// byte as U+FFFD, and a line that is too long as a window of it around the caret: the cost of showing a place does not
// grow with the length of its line, except for counting the column.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "diag/printable.h"
#include "diag/sink.h"
#include "diag/utf8.h"

namespace diag {
namespace {

constexpr std::uint32_t window_columns = 100;
constexpr std::uint32_t columns_before_caret = 50;
constexpr std::uint32_t tab_columns = 4;

struct Colors {
  const char* error = "";
  const char* warning = "";
  const char* caret = "";
  const char* hint = "";
  const char* bold = "";
  const char* off = "";
};

constexpr Colors plain;
constexpr Colors ansi{"\x1b[1;31m", "\x1b[1;33m", "\x1b[1;32m", "\x1b[1;36m", "\x1b[1m", "\x1b[0m"};

std::string_view word(Severity severity) { return severity == Severity::error ? "error" : "warning"; }

std::vector<const Diagnostic*> in_order_of_place(const Sink& sink) {
  std::vector<const Diagnostic*> ordered;
  for (const Diagnostic& diagnostic : sink.diagnostics()) ordered.push_back(&diagnostic);
  std::stable_sort(ordered.begin(), ordered.end(), [](const Diagnostic* a, const Diagnostic* b) {
    return std::pair(a->span.file, a->span.begin) < std::pair(b->span.file, b->span.begin);
  });
  return ordered;
}

bool has_place(base::Span span, const SourceMap& sources) {
  return span.file < sources.size() && !sources.text(span.file).empty();
}

std::string place(base::Span span, const SourceMap& sources) {
  if (span.file >= sources.size()) return "";
  const std::string name = printable(sources.name(span.file));
  if (!has_place(span, sources)) return fmt::format("{}: ", name);
  const Position position = sources.position(span.file, span.begin);
  return fmt::format("{}:{}:{}: ", name, position.line, position.column);
}

// Appends the line of `span` with an underline of the part of `span` that lies on it.
void append_excerpt(std::string& out, base::Span span, const SourceMap& sources, const Colors& colors) {
  const Position position = sources.position(span.file, span.begin);
  const std::string_view text = sources.text(span.file);
  const std::string_view line = sources.line(span.file, position.line);
  const std::size_t line_begin = static_cast<std::size_t>(line.data() - text.data());
  const std::size_t begin = std::min(std::max<std::size_t>(span.begin, line_begin) - line_begin, line.size());
  const std::size_t end = std::clamp<std::size_t>(std::max(span.end, span.begin) - line_begin, begin, line.size());

  // The window starts at most columns_before_caret characters before the caret, and only if that much is to its left.
  std::size_t window_begin = begin;
  for (std::uint32_t n = 0; n < columns_before_caret && window_begin > 0; ++n) {
    --window_begin;
    while (window_begin > 0 && !starts_character(line[window_begin])) --window_begin;
  }
  if (position.column <= window_columns * 3 / 4) window_begin = 0;

  std::string shown = window_begin > 0 ? "…" : "";
  std::string underline = window_begin > 0 ? " " : "";
  std::uint32_t column = window_begin > 0 ? 1 : 0;
  std::size_t i = window_begin;
  const auto mark = [&](std::uint32_t columns) {
    for (std::uint32_t n = 0; n < columns; ++n) {
      if (i == begin && n == 0)
        underline += '^';
      else if (i >= begin && i < end)
        underline += '~';
      else if (i < begin)
        underline += ' ';
    }
    column += columns;
  };
  while (i < line.size() && column < window_columns) {
    const CodePoint c = decode(line, i);
    if (c.valid && c.value == '\t') {
      const std::uint32_t columns = tab_columns - column % tab_columns;
      shown.append(columns, ' ');
      mark(columns);
    } else {
      if (!c.valid || is_control(c.value))
        shown += "\xef\xbf\xbd";
      else
        shown += line.substr(i, c.length);
      mark(1);
    }
    i += c.length;
  }
  if (i < line.size()) shown += "…";
  if (i == begin && begin == line.size()) underline += '^';  // at the end of the line or of the file

  const std::string number = std::to_string(position.line);
  const std::string margin(number.size(), ' ');
  out += fmt::format("  {} | {}\n  {} | {}{}{}\n", number, shown, margin, colors.caret, underline, colors.off);
}

nlohmann::json to_json(base::Span span, const SourceMap& sources) {
  nlohmann::json json;
  const bool known = span.file < sources.size();
  const Position first = known ? sources.position(span.file, span.begin) : Position();
  const Position last = known ? sources.position(span.file, std::max(span.begin, span.end)) : Position();
  json["file"] = known ? sources.name(span.file) : "";
  json["line"] = first.line;
  json["column"] = first.column;
  json["end_line"] = last.line;
  json["end_column"] = last.column;
  return json;
}

}  // namespace

std::string render_text(const Sink& sink, const SourceMap& sources, bool color) {
  const Colors& colors = color ? ansi : plain;
  std::string out;
  for (const Diagnostic* diagnostic : in_order_of_place(sink)) {
    const char* severity_color = diagnostic->severity == Severity::error ? colors.error : colors.warning;
    out += fmt::format("{}{}{}", colors.bold, place(diagnostic->span, sources), colors.off);
    out += fmt::format("{}{}[{}]{}: ", severity_color, word(diagnostic->severity), diagnostic->code, colors.off);
    out += fmt::format("{}{}{}\n", colors.bold, printable(diagnostic->text), colors.off);
    if (has_place(diagnostic->span, sources)) append_excerpt(out, diagnostic->span, sources, colors);
    for (const Related& related : diagnostic->related) {
      out += fmt::format("  {}note{}: {}{}\n", colors.hint, colors.off, place(related.span, sources),
                         printable(related.text));
      if (has_place(related.span, sources)) append_excerpt(out, related.span, sources, colors);
    }
    if (diagnostic->repeated > 0)
      out += fmt::format("  {}note{}: and {} more like it\n", colors.hint, colors.off, diagnostic->repeated);
    for (const std::string& hint : diagnostic->hints)
      out += fmt::format("  {}hint{}: {}\n", colors.hint, colors.off, printable_lines(hint));
  }
  return out;
}

std::string render_json(const Sink& sink, const SourceMap& sources) {
  nlohmann::json array = nlohmann::json::array();
  for (const Diagnostic* diagnostic : in_order_of_place(sink)) {
    nlohmann::json json = to_json(diagnostic->span, sources);
    json["code"] = diagnostic->code;
    json["severity"] = word(diagnostic->severity);
    json["text"] = diagnostic->text;
    json["hints"] = diagnostic->hints;
    json["repeated"] = diagnostic->repeated;
    json["related"] = nlohmann::json::array();
    for (const Related& related : diagnostic->related) {
      nlohmann::json entry = to_json(related.span, sources);
      entry["text"] = related.text;
      json["related"].push_back(std::move(entry));
    }
    array.push_back(std::move(json));
  }
  // A file's name may be any bytes; what is not UTF-8 is replaced.
  return array.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace diag
