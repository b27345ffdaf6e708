#include "compiler/table/sheet.h"

namespace table {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// The line up to `#`, which counts only outside of quotes.
std::string_view without_comment(std::string_view line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] == '#' && !quoted) return line.substr(0, i);
  }
  return line;
}

char separator_of(std::string_view line) {
  for (char separator : {';', '\t', ','}) {
    bool quoted = false;
    for (char c : line) {
      if (c == '"') quoted = !quoted;
      if (c == separator && !quoted) return separator;
    }
  }
  return ' ';
}

class Cutter {
 public:
  explicit Cutter(std::string_view text) : text_(text) {}

  void add_row(Sheet& sheet, std::size_t begin, std::size_t end, char separator) {
    if (separator == ' ')
      cut_at_blanks(sheet, begin, end);
    else
      cut(sheet, begin, end, separator);
    sheet.rows.push_back(static_cast<std::uint32_t>(sheet.cells.size()));
  }

 private:
  void add(Sheet& sheet, std::size_t begin, std::size_t end) {
    while (begin < end && is_blank(text_[begin])) ++begin;
    while (end > begin && is_blank(text_[end - 1])) --end;
    if (end - begin >= 2 && text_[begin] == '"' && text_[end - 1] == '"') {
      ++begin;
      --end;
    }
    sheet.cells.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
  }

  void cut(Sheet& sheet, std::size_t begin, std::size_t end, char separator) {
    bool quoted = false;
    for (std::size_t i = begin; i < end; ++i) {
      if (text_[i] == '"') quoted = !quoted;
      if (text_[i] != separator || quoted) continue;
      add(sheet, begin, i);
      begin = i + 1;
    }
    add(sheet, begin, end);
  }

  // `time [s]` is one cell.
  void cut_at_blanks(Sheet& sheet, std::size_t begin, std::size_t end) {
    const std::size_t first = sheet.cells.size();
    while (begin < end) {
      if (is_blank(text_[begin])) {
        ++begin;
        continue;
      }
      std::size_t stop = begin;
      bool quoted = false;
      bool in_unit = false;
      for (; stop < end && (!is_blank(text_[stop]) || quoted || in_unit); ++stop) {
        if (text_[stop] == '"') quoted = !quoted;
        if (text_[stop] == '[') in_unit = true;
        if (text_[stop] == ']') in_unit = false;
      }
      if (text_[begin] == '[' && sheet.cells.size() > first)
        sheet.cells.back().end = static_cast<std::uint32_t>(stop);
      else
        add(sheet, begin, stop);
      begin = stop;
    }
  }

  std::string_view text_;
};

}  // namespace

Sheet read_sheet(const diag::SourceMap& sources, std::uint32_t file) {
  Sheet sheet;
  sheet.file = file;
  const std::string_view text = sources.text(file);
  Cutter cutter(text);
  char separator = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t stop = text.find_first_of("\r\n", begin);
    if (stop == std::string_view::npos) stop = text.size();
    const std::string_view line = without_comment(text.substr(begin, stop - begin));
    if (line.find_first_not_of(" \t") != std::string_view::npos) {
      if (separator == 0) separator = separator_of(line);
      cutter.add_row(sheet, begin, begin + line.size(), separator);
    }
    begin = stop + 1;
  }
  return sheet;
}

}  // namespace table
