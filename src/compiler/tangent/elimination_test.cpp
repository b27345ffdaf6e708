// The foreseen factors hold every entry that elimination makes, and no more than they need.
#include "compiler/tangent/elimination.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <vector>

namespace tangent {
namespace {

using Entries = std::set<std::pair<std::uint32_t, std::uint32_t>>;  // (column, row)

ir::Pattern by_columns(const Entries& entries, std::uint32_t n) {
  ir::Pattern pattern;
  pattern.start = {0};
  auto next = entries.begin();
  for (std::uint32_t column = 0; column < n; ++column) {
    for (; next != entries.end() && next->first == column; ++next) pattern.index.push_back(next->second);
    pattern.start.push_back(static_cast<std::uint32_t>(pattern.index.size()));
  }
  return pattern;
}

Entries chain(std::uint32_t n) {
  Entries entries;
  for (std::uint32_t i = 0; i < n; ++i) {
    entries.insert({i, i});
    if (i > 0) entries.insert({i, i - 1});
    if (i > 0) entries.insert({i - 1, i});
  }
  return entries;
}

// Eliminates a dense matrix of these entries in the foreseen order and looks whether anything lies outside the pattern.
void expect_covers(const Entries& entries, std::uint32_t n, unsigned seed) {
  const ir::Factors factors = foresee_elimination(by_columns(entries, n), n);
  ASSERT_FALSE(factors.pattern.start.empty());
  std::mt19937 dice(seed);
  std::uniform_real_distribution<double> values(0.5, 1.5);
  std::vector<std::uint32_t> position(n);
  for (std::uint32_t k = 0; k < n; ++k) position[factors.order[k]] = k;
  std::vector<double> a(std::size_t{n} * n);
  std::size_t e = 0;
  for (auto [column, row] : entries) {
    const std::size_t at = std::size_t{position[row]} * n + position[column];
    a[at] = values(dice);
    // places: the same entry of the factors' pattern.
    EXPECT_EQ(factors.pattern.index[factors.places[e]], position[column]);
    EXPECT_GE(factors.places[e], factors.pattern.start[position[row]]);
    EXPECT_LT(factors.places[e], factors.pattern.start[position[row] + 1]);
    ++e;
  }
  for (std::uint32_t k = 0; k < n; ++k) a[std::size_t{k} * n + k] += 100;
  for (std::uint32_t k = 0; k < n; ++k) {
    EXPECT_EQ(factors.pattern.index[factors.diagonal[k]], k);
    for (std::uint32_t i = k + 1; i < n; ++i) {
      const double factor = a[std::size_t{i} * n + k] / a[std::size_t{k} * n + k];
      a[std::size_t{i} * n + k] = factor;
      for (std::uint32_t j = k + 1; j < n; ++j) a[std::size_t{i} * n + j] -= factor * a[std::size_t{k} * n + j];
    }
  }
  for (std::uint32_t k = 0; k < n; ++k) {
    const auto begin = factors.pattern.index.begin() + factors.pattern.start[k];
    const auto end = factors.pattern.index.begin() + factors.pattern.start[k + 1];
    EXPECT_TRUE(std::is_sorted(begin, end));
    for (std::uint32_t j = 0; j < n; ++j) {
      // Values between 0.5 and 1.5 do not cancel: what is not zero must be foreseen, and what is foreseen is not zero.
      EXPECT_EQ(std::binary_search(begin, end, j), a[std::size_t{k} * n + j] != 0) << k << ", " << j;
    }
  }
}

TEST(Elimination, AChainHasNoFill) {
  const ir::Factors factors = foresee_elimination(by_columns(chain(1000), 1000), 1000);
  EXPECT_EQ(factors.pattern.index.size(), 2998u);
  expect_covers(chain(40), 40, 1);
}

TEST(Elimination, TheHubOfAStarGoesLast) {
  Entries entries;
  for (std::uint32_t i = 0; i < 100; ++i) {
    entries.insert({i, i});
    entries.insert({0, i});
    entries.insert({i, 0});
  }
  const ir::Factors factors = foresee_elimination(by_columns(entries, 100), 100);
  EXPECT_EQ(factors.pattern.index.size(), entries.size());
  // With one leaf left the hub has no more neighbours than it.
  EXPECT_TRUE(factors.order[98] == 0 || factors.order[99] == 0);
}

TEST(Elimination, OneSidedAndRandomPatternsAreCovered) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    std::mt19937 dice(seed);
    Entries entries;
    for (int k = 0; k < 50; ++k) entries.insert({dice() % 60u, dice() % 60u});
    expect_covers(entries, 60, seed);
  }
}

TEST(Elimination, NothingWhereAFullMatrixIsCheaper) {
  EXPECT_TRUE(foresee_elimination(by_columns(chain(10), 10), 10).pattern.start.empty());
  Entries full;
  for (std::uint32_t i = 0; i < 30; ++i) {
    for (std::uint32_t j = 0; j < 30; ++j) full.insert({i, j});
  }
  EXPECT_TRUE(foresee_elimination(by_columns(full, 30), 30).pattern.start.empty());
  // Everything meets everything after a few steps: given up before it takes long.
  std::mt19937 dice(7);
  Entries tangle;
  for (int k = 0; k < 40'000; ++k) tangle.insert({dice() % 4000u, dice() % 4000u});
  EXPECT_TRUE(foresee_elimination(by_columns(tangle, 4000), 4000).pattern.start.empty());
}

}  // namespace
}  // namespace tangent
