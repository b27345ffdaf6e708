// What can be wrong with a file of sampled data. Reported at the `table("..")` that reads it; a note shows the place in
// the file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "diag/sink.h"

namespace table {

using Text = std::string_view;

inline constexpr diag::Kind<Text> file_not_found{"D001", "there is no file `{}`"};
inline constexpr diag::Kind<Text, std::size_t, std::size_t, std::string> not_a_number{
    "D002", "`{}`, line {}, column {}: {} is not a number"};
inline constexpr diag::Kind<Text, std::size_t, std::size_t, std::size_t> ragged_row{
    "D003", "`{}`, line {}: {} columns, where the lines before have {}"};
inline constexpr diag::Kind<Text, std::size_t, std::size_t, double, double> not_increasing{
    "D004", "`{}`, line {}, column {}: {} does not come after {}"};
inline constexpr diag::Kind<Text, std::string> too_few{"D005", "`{}` has {} of numbers; a table needs at least 2"};
inline constexpr diag::Kind<Text, std::string> no_such_column{"D006", "`{}` has no column {}"};
inline constexpr diag::Kind<Text> no_values{"D007", "`{}` has one column only: arguments, or values, are missing"};

}  // namespace table
