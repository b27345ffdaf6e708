// A text laid out anew, as edits: the lines between the equal ones at its beginning and its end.
#include "lsp/answers.h"

namespace lsp {

Json edits_to(const View& view, const std::string& formatted) {
  const std::string& content = view.text.content();
  if (content == formatted) return Json::array();
  const Text after(formatted);
  const std::uint32_t lines = view.text.line_count(), new_lines = after.line_count();
  const auto full_line = [](const Text& text, std::uint32_t line) {
    const std::uint32_t begin = text.line_start(line);
    const std::uint32_t end = line + 1 < text.line_count() ? text.line_start(line + 1) : text.size();
    return std::string_view(text.content()).substr(begin, end - begin);
  };
  std::uint32_t same = 0;
  while (same < lines && same < new_lines && full_line(view.text, same) == full_line(after, same)) ++same;
  std::uint32_t same_end = 0;
  while (same_end < lines - same && same_end < new_lines - same &&
         full_line(view.text, lines - 1 - same_end) == full_line(after, new_lines - 1 - same_end))
    ++same_end;
  const auto start_of = [](const Text& text, std::uint32_t line) {
    return line < text.line_count() ? text.line_start(line) : text.size();
  };
  const Place replaced{start_of(view.text, same), start_of(view.text, lines - same_end)};
  const std::uint32_t new_begin = start_of(after, same), new_end = start_of(after, new_lines - same_end);
  return Json::array(
      {{{"range", range_of(view, replaced)}, {"newText", formatted.substr(new_begin, new_end - new_begin)}}});
}

}  // namespace lsp
