// Files that include each other -> one text: every #include of a file in `files` is replaced by that file the first
// time it is met, and dropped after. Includes of anything else (<stdint.h>) stay. #pragma once is dropped.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace exporting {

class Amalgamation {
 public:
  explicit Amalgamation(const std::map<std::string_view, std::string_view>& files) : files_(files) {}
  // The text of `name` and of what it includes, without what was given before.
  [[nodiscard]] std::string take(std::string_view name);

 private:
  const std::map<std::string_view, std::string_view>& files_;
  std::set<std::string_view> taken_;
};

}  // namespace exporting
