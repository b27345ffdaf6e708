// The nearest of some words to what was written, for "did you mean".
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

namespace base {

// Edit distance with transpositions (optimal string alignment).
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) next[j] = std::min(next[j], before[j - 2] + 1);
    }
    std::swap(before, row);
    std::swap(row, next);
  }
  return row[b.size()];
}

// Empty when nothing is near: at most a third of the letters, at least one, may differ. The first of equals wins.
template <class Words>
std::optional<std::string_view> nearest(std::string_view wanted, const Words& words) {
  if (wanted.size() > 64) return std::nullopt;
  std::size_t limit = std::max<std::size_t>(1, wanted.size() / 3);
  std::optional<std::string_view> best;
  for (std::string_view word : words) {
    if (word == wanted || word.size() > 64) continue;
    std::size_t distance = edit_distance(wanted, word);
    if (distance <= limit && distance < std::max(wanted.size(), word.size())) {
      best = word;
      limit = distance == 0 ? 0 : distance - 1;
    }
  }
  return best;
}

}  // namespace base
