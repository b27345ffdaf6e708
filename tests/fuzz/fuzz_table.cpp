// Bytes -> the tables that a program names: `table("f.csv")`, of one column or all, and as a map. The first byte
// chooses the column. Every diagnostic lies in its file; what is read is finite and increases, and has a slope at every
// knot.
#include <cmath>
#include <cstdint>
#include <string>

#include "compiler/table/samples.h"
#include "compiler/table/slopes.h"
#include "cpu_limit.h"
#include "must.h"

namespace {

using fuzz::must;

void check_knots(const std::vector<double>& x) {
  for (std::size_t i = 0; i < x.size(); ++i)
    must(std::isfinite(x[i]) && (i == 0 || x[i - 1] < x[i]), "arguments increase and are finite");
}

void check(const table::Samples& samples, bool is_map) {
  check_knots(samples.x);
  check_knots(samples.y);
  must(samples.x.size() >= 2 && (!is_map || samples.y.size() >= 2), "a table has two knots at least");
  must(!samples.values.empty() && samples.names.size() == (is_map ? samples.names.size() : samples.values.size()),
       "a table has values");
  const std::size_t size = samples.x.size() * (is_map ? samples.y.size() : 1);
  for (const std::vector<double>& values : samples.values) {
    must(values.size() == size, "a value for every knot");
    for (const double value : values) must(std::isfinite(value), "values are finite");
    if (!is_map) must(table::monotone_slopes(samples.x, values).size() == size, "a slope for every knot");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::CpuLimit limit;
  if (size == 0) return 0;
  diag::SourceMap sources;
  diag::Sink diags;
  const std::uint32_t model = sources.add("m.tact", "system y = table(\"f.csv\", column)(t);\n");
  const base::Span written{model, 11, 35};
  const std::uint32_t file = sources.add("f.csv", std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  const table::Sheet sheet = table::read_sheet(sources, file);
  for (std::size_t row = 0; row < sheet.row_count(); ++row) {
    for (std::size_t column = 0; column < sheet.width(row); ++column) {
      const base::Span span = sheet.span(row, column);
      must(span.begin <= span.end && span.end <= size - 1, "a cell lies in the file");
    }
  }
  table::Column column{{}, written};
  if (data[0] % 3 == 1) column.which = static_cast<long long>(static_cast<signed char>(data[0]));
  if (data[0] % 3 == 2) column.which = std::string(sheet.cells.empty() ? "y" : sources.text(sheet.span(0, 0)));
  const auto columns = table::read_columns(sheet, sources, column, written, diags);
  must(columns.has_value() != diags.has_errors(), "columns, or the reason why not");
  if (columns) check(*columns, false);
  diag::Sink map_diags;
  const auto map = table::read_map(sheet, sources, written, map_diags);
  must(map.has_value() != map_diags.has_errors(), "a map, or the reason why not");
  if (map) check(*map, true);
  for (const diag::Sink* sink : {&diags, &map_diags}) {
    for (const diag::Diagnostic& diagnostic : sink->diagnostics())
      must(diagnostic.span.end <= sources.text(diagnostic.span.file).size(), "a diagnostic points into its file");
    (void)diag::render_text(*sink, sources, false);
  }
  return 0;
}
