// A CSV file -> columns of doubles.
//
// Separator `,` `;` or tab, found in the first line. An optional header line: a first line none of whose fields is a
// number; `x [m]` in it is the name `x` with the unit `m`. `#` starts a comment line; empty lines are skipped. Blanks
// around fields, a `+` sign, quotes, CRLF and a UTF-8 byte-order mark are accepted, and `nan`, `inf`, `-inf`.
// Everything else is refused with line, reason and remedy.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trace {

struct CsvTable {
  std::vector<std::string> names;  // empty when the file has no header
  std::vector<std::vector<double>> columns;
  std::vector<std::string> units = {};  // one a name, "" when the header gives none

  std::size_t rows() const { return columns.empty() ? 0 : columns.front().size(); }
};

struct CsvReadOptions {
  bool increasing_time = false;      // the first column must be finite and strictly increase
  bool finite = false;               // refuse nan and inf everywhere
  bool header_only_allowed = false;  // a table without rows is not a mistake
};

// Empty after a failure, with `failure` set to "hand.csv, line 3: ..". "-" reads standard input.
[[nodiscard]] std::optional<CsvTable> read_csv(const std::string& path, const CsvReadOptions& options,
                                               std::string& failure);

// The same for a text in memory; `name` stands in messages.
[[nodiscard]] std::optional<CsvTable> parse_csv(std::string_view text, std::string_view name,
                                                const CsvReadOptions& options, std::string& failure);

}  // namespace trace
