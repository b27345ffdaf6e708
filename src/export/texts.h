// The embedded texts, by their path below src/: "abi/model.h", "kernel/lu.c", "export/text/run_main.c". The build
// writes their table (see CMakeLists.txt).
#pragma once

#include <map>
#include <string_view>

namespace exporting {

const std::map<std::string_view, std::string_view>& texts();

}  // namespace exporting
