// The files that a program names, in `use` and `table`: beside the file that names them, then in the standard library, which is part
// of the program.
#pragma once

#include <optional>
#include <string>

#include "compiler/source/source.h"

namespace api {

// A source::Reader. A path that leads to no regular file, or to one of more than 64 MB, is not found.
[[nodiscard]] std::optional<source::File> read_used_file(const std::string& from, const std::string& path);

}  // namespace api
