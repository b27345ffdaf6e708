#include "parts.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace fuzz {
namespace {

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

// "k=3"
void add_override(std::string_view text, std::vector<compiler::Override>& overrides) {
  const std::size_t equal = text.find('=');
  if (equal == 0 || equal == std::string_view::npos) return;
  const double value = std::strtod(std::string(text.substr(equal + 1)).c_str(), nullptr);
  if (std::isfinite(value))
    overrides.push_back({std::string(text.substr(0, equal)), value});  // as the command line does
}

}  // namespace

Input take_apart(std::string_view text) {
  constexpr std::string_view new_part = "//= ";
  constexpr std::string_view set = "//set ";
  Input input;
  input.parts.push_back({"model.tact", "", true});
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (line.starts_with(new_part)) {
      const std::string_view name = line.substr(new_part.size());
      input.parts.push_back({std::string(name), "", name.ends_with(".phydl") || name.ends_with(".ridl")});
    } else {
      if (line.starts_with(set)) add_override(line.substr(set.size()), input.overrides);
      input.parts.back().text += text.substr(0, end == std::string_view::npos ? end : end + 1);
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  const bool has_other =
      std::any_of(input.parts.begin() + 1, input.parts.end(), [](const Part& part) { return part.is_compiled; });
  if (has_other && is_blank(input.parts.front().text)) input.parts.erase(input.parts.begin());
  return input;
}

}  // namespace fuzz
