#include "compiler/tangent/elimination.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace tangent {
namespace {

// A full matrix of so many states fits in a few cache lines and needs no lists.
constexpr std::uint32_t few_states = 16;
// Entries of the factors, and operations on neighbours, at most.
constexpr std::size_t most_entries = 4'000'000;
constexpr std::size_t most_operations = 30'000'000;

using Row = std::vector<std::uint32_t>;

// Ties go to the state that comes first in the model.
std::optional<std::vector<std::uint32_t>> minimum_degree_order(const ir::Pattern& jacobian, std::uint32_t n) {
  std::vector<Row> neighbours(n);
  for (std::uint32_t column = 0; column < n; ++column) {
    for (std::uint32_t e = jacobian.start[column]; e < jacobian.start[column + 1]; ++e) {
      const std::uint32_t row = jacobian.index[e];
      if (row == column) continue;
      neighbours[row].push_back(column);
      neighbours[column].push_back(row);
    }
  }
  std::set<std::pair<std::size_t, std::uint32_t>> queue;
  for (std::uint32_t state = 0; state < n; ++state) {
    Row& row = neighbours[state];
    std::ranges::sort(row);
    row.erase(std::ranges::unique(row).begin(), row.end());
    queue.emplace(row.size(), state);
  }
  std::vector<std::uint32_t> order;
  std::size_t operations = 0;
  while (!queue.empty()) {
    const std::uint32_t chosen = queue.begin()->second;
    queue.erase(queue.begin());
    order.push_back(chosen);
    const Row around = std::move(neighbours[chosen]);
    for (std::uint32_t state : around) {
      Row& old = neighbours[state];
      operations += old.size() + around.size();
      if (operations > most_operations) return std::nullopt;
      queue.erase({old.size(), state});
      Row merged;
      merged.reserve(old.size() + around.size());
      std::ranges::set_union(old, around, std::back_inserter(merged));
      std::erase_if(merged, [&](std::uint32_t other) { return other == state || other == chosen; });
      old = std::move(merged);
      queue.emplace(old.size(), state);
    }
  }
  return order;
}

}  // namespace

ir::Factors foresee_elimination(const ir::Pattern& jacobian, std::uint32_t n) {
  if (n <= few_states) return {};
  auto order = minimum_degree_order(jacobian, n);
  if (!order) return {};
  ir::Factors factors;
  factors.order = std::move(*order);
  std::vector<std::uint32_t> position(n);
  for (std::uint32_t k = 0; k < n; ++k) position[factors.order[k]] = k;
  std::vector<Row> rows(n);
  for (std::uint32_t column = 0; column < n; ++column) {
    for (std::uint32_t e = jacobian.start[column]; e < jacobian.start[column + 1]; ++e)
      rows[position[jacobian.index[e]]].push_back(position[column]);
  }

  std::size_t operations = 0;
  factors.pattern.start = {0};
  for (std::uint32_t k = 0; k < n; ++k) {
    std::set<std::uint32_t> row(rows[k].begin(), rows[k].end());
    row.insert(k);
    for (auto j = row.begin(); *j < k; ++j) {
      const std::uint32_t begin = factors.diagonal[*j] + 1;
      const std::uint32_t end = factors.pattern.start[*j + 1];
      operations += end - begin;
      for (std::uint32_t e = begin; e < end; ++e) row.insert(factors.pattern.index[e]);
    }
    for (std::uint32_t column : row) {
      if (column == k) factors.diagonal.push_back(static_cast<std::uint32_t>(factors.pattern.index.size()));
      factors.pattern.index.push_back(column);
    }
    factors.pattern.start.push_back(static_cast<std::uint32_t>(factors.pattern.index.size()));
    if (factors.pattern.index.size() > most_entries || operations > most_operations) return {};
  }
  if (2 * factors.pattern.index.size() > std::size_t{n} * n) return {};

  for (std::uint32_t column = 0; column < n; ++column) {
    for (std::uint32_t e = jacobian.start[column]; e < jacobian.start[column + 1]; ++e) {
      const std::uint32_t k = position[jacobian.index[e]];
      const auto begin = factors.pattern.index.begin() + factors.pattern.start[k];
      const auto end = factors.pattern.index.begin() + factors.pattern.start[k + 1];
      const auto place = std::lower_bound(begin, end, position[column]);
      factors.places.push_back(static_cast<std::uint32_t>(place - factors.pattern.index.begin()));
    }
  }
  return factors;
}

}  // namespace tangent
