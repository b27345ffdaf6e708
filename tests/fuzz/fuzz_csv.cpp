// Bytes -> the CSV reader. The first byte chooses the options. Columns of a table are equally long and keep what was
// asked for; a table that is written again reads back as itself.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cpu_limit.h"
#include "must.h"
#include "runtime/trace/csv_reader.h"

namespace {

using fuzz::must;

std::string write(const trace::CsvTable& table) {
  std::string text;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (std::size_t column = 0; column < table.columns.size(); ++column)
      text += fmt::format("{}{}", column == 0 ? "" : ",", table.columns[column][row]);
    text += '\n';
  }
  return text;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::CpuLimit limit;
  if (size == 0) return 0;
  const trace::CsvReadOptions options{(data[0] & 1) != 0, (data[0] & 2) != 0, (data[0] & 4) != 0};
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  std::string failure;
  const auto table = trace::parse_csv(text, "hand.csv", options, failure);
  must(table.has_value() == failure.empty(), "a table, or the reason why not");
  if (!table) return 0;
  must(!table->columns.empty(), "a table has a column");
  must(table->names.empty() || table->names.size() == table->columns.size(), "a header names every column");
  must(table->rows() > 0 || options.header_only_allowed, "a table has a row unless it need not");
  for (const auto& column : table->columns) {
    must(column.size() == table->rows(), "columns are equally long");
    for (const double value : column) must(!options.finite || std::isfinite(value), "values are finite if asked for");
  }
  for (std::size_t row = 0; options.increasing_time && row < table->rows(); ++row) {
    const auto& time = table->columns.front();
    must(std::isfinite(time[row]) && (row == 0 || time[row - 1] < time[row]), "time increases if asked for");
  }
  if (table->rows() == 0) return 0;
  const auto again = trace::parse_csv(write(*table), "again.csv", options, failure);
  must(again && again->rows() == table->rows() && again->columns.size() == table->columns.size(),
       "a written table reads back");
  for (std::size_t column = 0; column < table->columns.size(); ++column) {
    for (std::size_t row = 0; row < table->rows(); ++row)
      must(same(table->columns[column][row], again->columns[column][row]), "a written table reads back as itself");
  }
  return 0;
}
