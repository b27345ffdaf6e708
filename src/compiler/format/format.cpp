#include "compiler/format/format.h"

#include <algorithm>

#include "base/check.h"
#include "compiler/format/columns.h"
#include "compiler/format/elements.h"
#include "compiler/format/layout.h"
#include "compiler/lex/lex.h"
#include "compiler/parse/parse.h"

namespace format {
namespace {

// As behind the first line.
std::string_view line_end_of(std::string_view text, const std::vector<Element>& elements) {
  const auto last = std::find_if(elements.begin(), elements.end(), [](const Element& element) { return element.last; });
  if (last == elements.end()) return "\n";
  const std::size_t end =
      text.find('\n', static_cast<std::size_t>(last->text.data() + last->text.size() - text.data()));
  return end != std::string_view::npos && end > 0 && text[end - 1] == '\r' ? "\r\n" : "\n";
}

std::string write(const std::vector<Element>& elements, const std::vector<std::uint32_t>& columns,
                  std::string_view line_end) {
  std::string out;
  std::uint32_t column = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Element& element = elements[i];
    if (element.first && i > 0) {
      out += line_end;
      if (element.after_empty_line) out += line_end;
      column = 0;
    }
    out.append(columns[i] - column, ' ');
    out += element.text;
    column = element.several_lines ? element.end_column : columns[i] + (element.end_column - element.column);
  }
  if (!out.empty()) out += line_end;
  return out;
}

// A layout that changed a program would be worse than none.
bool same_tokens(std::string_view before, const lex::Tokens& tokens, const std::string& after) {
  diag::SourceMap sources;
  diag::Sink diags;
  base::Names names;
  const lex::Tokens again = lex::lex(sources, sources.add("", after), names, diags);
  if (diags.has_errors() || again.list.size() != tokens.list.size()) return false;
  for (std::size_t i = 0; i < tokens.list.size(); ++i) {
    const lex::Token& a = tokens.list[i];
    const lex::Token& b = again.list[i];
    if (a.kind != b.kind || before.substr(a.begin, a.end - a.begin) != after.substr(b.begin, b.end - b.begin))
      return false;
  }
  return true;
}

}  // namespace

std::optional<std::string> format(std::uint32_t file, const diag::SourceMap& sources, diag::Sink& diags) {
  base::Names names;
  const std::size_t errors_before = diags.error_count();
  const lex::Tokens tokens = lex::lex(sources, file, names, diags);
  if (diags.error_count() != errors_before) return std::nullopt;
  const std::string_view text = sources.text(file);
  const std::vector<Element> elements = find_elements(text, tokens);
  const std::vector<Placement> placements = place(elements, tokens, names, parse::dialect_of(sources.name(file)));
  std::string out = write(elements, find_columns(elements, placements), line_end_of(text, elements));
  TACTUS_CHECK(same_tokens(text, tokens, out));
  return out;
}

}  // namespace format
