#include "export/amalgamate.h"

#include <fmt/format.h>

#include "base/check.h"

namespace exporting {

std::string Amalgamation::take(std::string_view name) {
  const auto file = files_.find(name);
  TACTUS_CHECK(file != files_.end());
  if (!taken_.insert(file->first).second) return "";
  std::string result = fmt::format("/* ---- {} ---- */\n", name);
  std::string_view rest = file->second;
  while (!rest.empty()) {
    const std::size_t length = std::min(rest.find('\n'), rest.size() - 1) + 1;
    const std::string_view line = rest.substr(0, length);
    rest.remove_prefix(length);
    constexpr std::string_view directive = "#include \"";
    if (!line.starts_with(directive)) {
      result += line;
      continue;
    }
    const std::string_view path = line.substr(directive.size(), line.find('"', directive.size()) - directive.size());
    if (files_.contains(path)) {
      result += take(path);
    } else {
      result += line;
    }
  }
  return result;
}

}  // namespace exporting
