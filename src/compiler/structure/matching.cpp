#include "compiler/structure/matching.h"

#include <algorithm>

namespace structure {

Matching match(const Rows& unknowns, std::uint32_t unknown_count) {
  const auto equation_count = static_cast<std::uint32_t>(unknowns.size());
  Matching m;
  m.unknown_of.assign(equation_count, unmatched);
  m.equation_of.assign(unknown_count, unmatched);
  for (std::uint32_t e = 0; e < equation_count; ++e) {
    for (std::uint32_t u : unknowns[e]) {
      if (m.equation_of[u] == unmatched) {
        m.unknown_of[e] = u;
        m.equation_of[u] = e;
        break;
      }
    }
  }
  std::vector<std::uint32_t> seen(unknown_count, unmatched);  // the search that visited an unknown last
  struct Frame {
    std::uint32_t equation;
    std::size_t next;
    bool looked_ahead;
  };
  std::vector<Frame> path;
  for (std::uint32_t start = 0; start < equation_count; ++start) {
    if (m.unknown_of[start] != unmatched) continue;
    path.assign(1, {start, 0, false});
    std::uint32_t free_unknown = unmatched;
    while (!path.empty() && free_unknown == unmatched) {
      Frame& frame = path.back();
      const auto& row = unknowns[frame.equation];
      if (!frame.looked_ahead) {
        frame.looked_ahead = true;
        for (std::uint32_t u : row) {
          if (m.equation_of[u] == unmatched) free_unknown = u;
        }
        if (free_unknown != unmatched) break;
      }
      while (frame.next < row.size() && seen[row[frame.next]] == start) ++frame.next;
      if (frame.next == row.size()) {
        path.pop_back();
        continue;
      }
      std::uint32_t u = row[frame.next];
      seen[u] = start;
      path.push_back({m.equation_of[u], 0, false});
    }
    // Swap along the path, from its end.
    while (free_unknown != unmatched && !path.empty()) {
      std::uint32_t e = path.back().equation;
      std::uint32_t previous = m.unknown_of[e];
      m.unknown_of[e] = free_unknown;
      m.equation_of[free_unknown] = e;
      free_unknown = previous;
      path.pop_back();
    }
  }
  return m;
}

std::vector<std::vector<std::uint32_t>> components(const Rows& unknowns, const Matching& matching) {
  const auto count = static_cast<std::uint32_t>(unknowns.size());
  std::vector<std::vector<std::uint32_t>> result;
  std::vector<std::uint32_t> index(count, unmatched), low(count, 0);
  std::vector<bool> on_stack(count);
  std::vector<std::uint32_t> stack;
  std::vector<std::pair<std::uint32_t, std::size_t>> path;
  std::uint32_t next_index = 0;
  for (std::uint32_t root = 0; root < count; ++root) {
    if (index[root] != unmatched) continue;
    path.push_back({root, 0});
    while (!path.empty()) {
      auto& [e, next] = path.back();
      if (next == 0) {
        index[e] = low[e] = next_index++;
        stack.push_back(e);
        on_stack[e] = true;
      }
      bool descended = false;
      while (next < unknowns[e].size()) {
        std::uint32_t other = matching.equation_of[unknowns[e][next++]];
        if (other == unmatched || other == e) continue;
        if (index[other] == unmatched) {
          path.push_back({other, 0});
          descended = true;
          break;
        }
        if (on_stack[other]) low[e] = std::min(low[e], index[other]);
      }
      if (descended) continue;
      // An equation without unknowns never re-enters: mark it as begun.
      std::uint32_t done = e;
      if (low[done] == index[done]) {
        std::vector<std::uint32_t> component;
        std::uint32_t member;
        do {
          member = stack.back();
          stack.pop_back();
          on_stack[member] = false;
          component.push_back(member);
        } while (member != done);
        std::sort(component.begin(), component.end());
        result.push_back(std::move(component));
      }
      path.pop_back();
      if (!path.empty()) low[path.back().first] = std::min(low[path.back().first], low[done]);
    }
  }
  return result;
}

std::vector<bool> among_too_many(const Rows& unknowns, const Matching& matching) {
  std::vector<bool> reached(unknowns.size());
  std::vector<std::uint32_t> open;
  for (std::uint32_t i = 0; i < unknowns.size(); ++i) {
    if (matching.unknown_of[i] == unmatched) open.push_back(i);
  }
  for (std::uint32_t i : open) reached[i] = true;
  while (!open.empty()) {
    const std::uint32_t current = open.back();
    open.pop_back();
    for (std::uint32_t u : unknowns[current]) {
      const std::uint32_t other = matching.equation_of[u];
      if (other == unmatched || reached[other]) continue;
      reached[other] = true;
      open.push_back(other);
    }
  }
  return reached;
}

}  // namespace structure
