// Columns that the person aligned stay aligned.
//
// Elements of one sort (operands, words, `=`) on consecutive lines that begin in one column, at least one of them
// behind more blanks than its gap asks for, are a group; lines of comments and lines further inside may stand between.
// Of an operand with a sign the operand counts. Comments at the ends of lines are grouped with the next such comments,
// wherever those are. A group begins in the least column that leaves every member its gap. A member that stood right
// behind a bracket holds its place: if the group's column is another, the group falls apart there.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/format/elements.h"
#include "compiler/format/layout.h"

namespace format {

// The column in which each element is to begin.
std::vector<std::uint32_t> find_columns(const std::vector<Element>& elements, const std::vector<Placement>& placements);

}  // namespace format
