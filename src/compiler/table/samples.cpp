#include "compiler/table/samples.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <numeric>

#include "base/nearest.h"
#include "compiler/table/diagnostics.h"

namespace table {
namespace {

std::optional<double> number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string_view without_unit(std::string_view name) {
  const char open = name.ends_with(']') ? '[' : name.ends_with(')') ? '(' : 0;
  const std::size_t at = open ? name.rfind(open) : std::string_view::npos;
  if (at == std::string_view::npos || at == 0) return name;
  name = name.substr(0, at);
  while (name.ends_with(' ') || name.ends_with('\t')) name.remove_suffix(1);
  return name;
}

class Reader {
 public:
  Reader(const Sheet& sheet, const diag::SourceMap& sources, base::Span written, diag::Sink& diags)
      : sheet_(sheet), sources_(sources), written_(written), diags_(diags), name_(sources.name(sheet.file)) {}

  std::optional<Samples> columns(const Column& column) {
    Samples samples;
    samples.file = name_;
    const bool has_names = sheet_.row_count() > 0 && !number(text(0, 0));
    const std::size_t first = has_names ? 1 : 0;
    if (sheet_.row_count() < first + 2) return report_too_few(sheet_.row_count() - first, "row");
    if (!is_even(0)) return std::nullopt;
    auto chosen = choose(column, has_names);
    if (chosen.empty()) return std::nullopt;
    for (std::size_t c : chosen) {
      samples.values.emplace_back();
      samples.names.emplace_back(has_names ? without_unit(text(0, c)) : std::string_view());
    }
    if (has_names) samples.x_name = without_unit(text(0, 0));
    for (std::size_t row = first; row < sheet_.row_count(); ++row) {
      if (!append(samples.x, row, 0) || !is_after(samples.x, row, 0)) return std::nullopt;
      for (std::size_t i = 0; i < chosen.size(); ++i)
        if (!append(samples.values[i], row, chosen[i])) return std::nullopt;
    }
    return samples;
  }

  std::optional<Samples> map() {
    Samples samples;
    samples.file = name_;
    const std::size_t rows = sheet_.row_count();
    if (rows < 3) return report_too_few(rows == 0 ? 0 : rows - 1, "row");
    // The corner may be left out altogether.
    const std::size_t corner = sheet_.width(0) + 1 == sheet_.width(1) ? 0 : 1;
    if (!is_even(1 - corner)) return std::nullopt;
    if (sheet_.width(1) < 3) return report_too_few(sheet_.width(1) - 1, "column");
    for (std::size_t c = corner; c < sheet_.width(0); ++c)
      if (!append(samples.y, 0, c) || !is_after(samples.y, 0, c)) return std::nullopt;
    samples.values.emplace_back();
    samples.names.emplace_back();
    for (std::size_t row = 1; row < rows; ++row) {
      if (!append(samples.x, row, 0) || !is_after(samples.x, row, 0)) return std::nullopt;
      for (std::size_t c = 1; c < sheet_.width(row); ++c)
        if (!append(samples.values[0], row, c)) return std::nullopt;
    }
    return samples;
  }

 private:
  std::string_view text(std::size_t row, std::size_t column) const { return sources_.text(sheet_.span(row, column)); }
  std::size_t line(std::size_t row) const {
    return sources_.position(sheet_.file, sheet_.cells[sheet_.rows[row]].begin).line;
  }

  std::nullopt_t report_too_few(std::size_t count, std::string_view what) {
    diags_.report(written_, too_few, name_, fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"))
        .hint("a line is `x, value`; the lines stand in the order of x");
    return std::nullopt;
  }

  // Rows from `first` on have one width.
  bool is_even(std::size_t first) {
    const std::size_t width = sheet_.width(first);
    if (width < 2) {
      diags_.report(written_, no_values, name_)
          .related(sheet_.span(first, 0), "its first row")
          .hint("columns are separated by `,`, `;`, tabs or blanks: `0.5, 3.7`");
      return false;
    }
    for (std::size_t row = first + 1; row < sheet_.row_count(); ++row) {
      if (sheet_.width(row) == width) continue;
      const std::size_t last = sheet_.width(row) - 1;
      auto report = diags_.report(written_, ragged_row, name_, line(row), sheet_.width(row), width);
      report.related(sheet_.span(row, sheet_.width(row) > width ? width : last), "here");
      report.hint("give every line {} columns; a decimal point is `.`", width);
      return false;
    }
    return true;
  }

  bool append(std::vector<double>& values, std::size_t row, std::size_t column) {
    const std::string_view cell = text(row, column);
    if (auto value = number(cell)) {
      values.push_back(*value);
      return true;
    }
    std::string shown(cell.substr(0, 40));
    while (shown.size() < cell.size() && !shown.empty() && (cell[shown.size()] & 0xc0) == 0x80) shown.pop_back();
    auto report = diags_.report(written_, not_a_number, name_, line(row), column + 1,
                                cell.empty() ? "an empty cell" : fmt::format("`{}`", shown));
    report.related(sheet_.span(row, column), "this cell");
    if (cell.find(',') != std::string_view::npos)
      report.hint("a decimal point is `.`, not `,`");
    else if (row == 0)
      report.hint("names of columns stand in the first line, all of them; the first row of a map holds numbers");
    else
      report.hint("write a finite number, such as `-1.5e3`, or begin the line with `#` to leave it out");
    return false;
  }

  bool is_after(const std::vector<double>& values, std::size_t row, std::size_t column) {
    const std::size_t n = values.size();
    if (n < 2 || values[n - 1] > values[n - 2]) return true;
    diags_.report(written_, not_increasing, name_, line(row), column + 1, values[n - 1], values[n - 2])
        .related(sheet_.span(row, column), "this one")
        .hint("{}", column == 0 ? "the first column must increase from line to line; sort the lines, and drop doubles"
                                : "the first row must increase from column to column");
    return false;
  }

  std::vector<std::size_t> choose(const Column& column, bool has_names) {
    const std::size_t width = sheet_.width(0);
    if (std::holds_alternative<std::monostate>(column.which)) {
      std::vector<std::size_t> all(width - 1);
      std::iota(all.begin(), all.end(), 1);
      return all;
    }
    if (const auto* wanted = std::get_if<long long>(&column.which)) {
      if (*wanted >= 1 && static_cast<std::size_t>(*wanted) <= width) return {static_cast<std::size_t>(*wanted) - 1};
      diags_.report(column.span, no_such_column, name_, fmt::format("{}", *wanted))
          .hint("its columns are numbered from 1, which holds the arguments, to {}", width);
      return {};
    }
    const std::string_view wanted = without_unit(std::get<std::string>(column.which));
    std::vector<std::string_view> names;
    for (std::size_t c = 0; has_names && c < width; ++c) {
      names.push_back(without_unit(text(0, c)));
      if (names.back() == wanted) return {c};
    }
    auto report = diags_.report(column.span, no_such_column, name_, fmt::format("`{}`", wanted));
    if (auto near = base::nearest(wanted, names)) report.hint("did you mean `{}`?", *near);
    if (has_names)
      report.hint("its columns are {}", fmt::format("{}", fmt::join(names, ", ")));
    else
      report.hint("its first line holds numbers, so its columns have no names; write `column = 2`");
    return {};
  }

  const Sheet& sheet_;
  const diag::SourceMap& sources_;
  base::Span written_;
  diag::Sink& diags_;
  const std::string& name_;
};

}  // namespace

std::optional<Samples> read_columns(const Sheet& sheet, const diag::SourceMap& sources, const Column& column,
                                    base::Span written, diag::Sink& diags) {
  return Reader(sheet, sources, written, diags).columns(column);
}

std::optional<Samples> read_map(const Sheet& sheet, const diag::SourceMap& sources, base::Span written,
                                diag::Sink& diags) {
  return Reader(sheet, sources, written, diags).map();
}

}  // namespace table
