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
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    std::swap(before, row);
    std::swap(row, next);
  }
  return row[b.size()];
}

inline bool equal_but_for_capitals(std::string_view a, std::string_view b) {
  auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return small(x) == small(y); });
}

// Empty when nothing is near: of the longer word at most a third of the letters may differ, or one, if another is left;
// or capitals only. The first of equals wins. What is returned looks into `words`.
template <class Words>
std::optional<std::string_view> nearest(std::string_view wanted, const Words& words) {
  constexpr std::size_t longest = 200;
  std::optional<std::string_view> best;
  std::size_t least = 0;
  if (wanted.empty() || wanted.size() > longest) return best;
  for (std::string_view word : words) {
    if (word == wanted || word.size() > longest) continue;
    const std::size_t length = std::max(wanted.size(), word.size());
    const std::size_t distance = edit_distance(wanted, word);
    const bool near = distance <= std::max<std::size_t>(1, length / 3) && distance < length;
    if ((!near && !equal_but_for_capitals(wanted, word)) || (best && distance >= least)) continue;
    best = word;
    least = distance;
  }
  return best;
}

}  // namespace base
