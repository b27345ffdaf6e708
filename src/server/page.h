// The page, embedded when the program is built (src/server/CMakeLists.txt): as files, and as the server serves them.
#pragma once

#include <map>
#include <span>
#include <string_view>

#include "server/server.h"

namespace server {

// Name below studio/dist with `.gz` -> compressed bytes. When the page was not built: an index.html that says so.
const std::map<std::string_view, std::string_view>& page_files();

// For Options::assets; lives as long as the program.
std::span<const Asset> page_assets();
// Or is there only what says that it was not built?
[[nodiscard]] bool is_page_built();

}  // namespace server
