// A text of numbers, cut into rows and cells.
//
// Cells are separated by `;`, else tabs, else `,`, else blanks: the first of these that the first row has. A row is a
// line; empty lines do not count, nor does what stands behind `#`. A cell may stand in double quotes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "diag/source_map.h"

namespace table {

struct Cell {
  std::uint32_t begin = 0;  // in the text; without quotes and blanks around
  std::uint32_t end = 0;
};

struct Sheet {
  std::uint32_t file = 0;  // in the source map
  std::vector<Cell> cells;
  std::vector<std::uint32_t> rows = {0};  // row k has the cells rows[k] .. rows[k + 1]

  std::size_t row_count() const { return rows.size() - 1; }
  std::size_t width(std::size_t row) const { return rows[row + 1] - rows[row]; }
  const Cell& cell(std::size_t row, std::size_t column) const { return cells[rows[row] + column]; }
  base::Span span(std::size_t row, std::size_t column) const {
    return {file, cell(row, column).begin, cell(row, column).end};
  }
};

[[nodiscard]] Sheet read_sheet(const diag::SourceMap& sources, std::uint32_t file);

}  // namespace table
