// A word that nobody knows -> the known one that was probably meant.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace driver {

// The candidate with the fewest edits (insert, delete, replace, swap neighbours), when they are at most a third of the longer
// word, and at least 1 is allowed. Ties go to the first.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace driver
