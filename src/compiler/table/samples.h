// Rows and cells become sampled data.
//
//   one dimension    x, value, value ..    a line of names before them is optional: there is one if its first cell is
//   no number
//   two dimensions   (ignored), y, y ..    then lines  x, value, value ..
//
// x and y increase strictly. A name may carry its unit, `time [s]`, `time (s)`, which does not count.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/table/sheet.h"
#include "diag/sink.h"

namespace table {

struct Samples {
  std::string file;
  std::string x_name;  // "" without a line of names
  std::vector<double> x;
  std::vector<double> y;  // empty: one dimension
  // One dimension: a vector of values for each column chosen. Two: one vector, row-major, x changing slowest.
  std::vector<std::vector<double>> values;
  std::vector<std::string> names;  // of the columns, "" without a line of names
};

// The column of the values, by its number in the file (the arguments are 1) or by name; monostate: all of them.
struct Column {
  std::variant<std::monostate, long long, std::string> which;
  base::Span span;
};

// Empty after reporting, at `written` or at the column's span.
[[nodiscard]] std::optional<Samples> read_columns(const Sheet& sheet, const diag::SourceMap& sources,
                                                  const Column& column, base::Span written, diag::Sink& diags);
[[nodiscard]] std::optional<Samples> read_map(const Sheet& sheet, const diag::SourceMap& sources, base::Span written,
                                              diag::Sink& diags);

}  // namespace table
