#include "compiler/structure/matching.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace structure {
namespace {

TEST(Matching, FindsTheOnlyPerfectMatching) {
  // A staircase whose cheap assignment is wrong at every step.
  Rows rows = {{0, 1}, {0, 2}, {0}};
  Matching m = match(rows, 3);
  EXPECT_EQ(m.unknown_of, (std::vector<std::uint32_t>{1, 2, 0}));
}

TEST(Matching, LeavesTheExtraEquationUnmatched) {
  Matching m = match({{0}, {0}}, 1);
  EXPECT_EQ(std::count(m.unknown_of.begin(), m.unknown_of.end(), unmatched), 1);
}

// The size of a largest matching, by trying everything.
std::size_t largest(const Rows& rows, std::size_t e, std::uint32_t used) {
  if (e == rows.size()) return 0;
  std::size_t best = largest(rows, e + 1, used);
  for (std::uint32_t u : rows[e]) {
    if (!(used >> u & 1u)) best = std::max(best, 1 + largest(rows, e + 1, used | 1u << u));
  }
  return best;
}

TEST(Matching, IsAsLargeAsExhaustiveSearchFinds) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 500; ++trial) {
    Rows rows(6);
    for (auto& row : rows) {
      for (std::uint32_t u = 0; u < 6; ++u) {
        if (random() % 3 == 0) row.push_back(u);
      }
    }
    Matching m = match(rows, 6);
    std::size_t size = 0;
    for (std::size_t e = 0; e < rows.size(); ++e) {
      if (m.unknown_of[e] == unmatched) continue;
      ++size;
      EXPECT_EQ(m.equation_of[m.unknown_of[e]], e);
      EXPECT_NE(std::find(rows[e].begin(), rows[e].end(), m.unknown_of[e]), rows[e].end());
    }
    EXPECT_EQ(size, largest(rows, 0, 0));
  }
}

TEST(AmongTooMany, IsWhatSomeLargestMatchingLeavesOut) {
  std::mt19937 random(13);
  for (int trial = 0; trial < 200; ++trial) {
    Rows rows(7);
    for (auto& row : rows) {
      for (std::uint32_t u = 0; u < 6; ++u) {
        if (random() % 4 == 0) row.push_back(u);
      }
    }
    const std::vector<bool> found = among_too_many(rows, match(rows, 6));
    for (std::size_t e = 0; e < rows.size(); ++e) {
      Rows others = rows;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(e));
      EXPECT_EQ(found[e], largest(others, 0, 0) == largest(rows, 0, 0));
    }
  }
}

TEST(Components, ComeInOrderOfUse) {
  // e0: u0 = f(u1);  e1: u1 = g(u2), e2: u2 = h(u1) together;  e3: u3 alone.
  Rows rows = {{0, 1}, {1, 2}, {2, 1}, {3}};
  Matching m = match(rows, 4);
  auto list = components(rows, m);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0], (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(list[1], (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(list[2], (std::vector<std::uint32_t>{3}));
}

TEST(Components, ReadOnlyEarlierOnes) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 200; ++trial) {
    const std::uint32_t n = 30;
    Rows rows(n);
    for (std::uint32_t e = 0; e < n; ++e) {
      rows[e].push_back(e);
      for (int k = 0; k < 2; ++k) rows[e].push_back(static_cast<std::uint32_t>(random() % n));
    }
    Matching m = match(rows, n);
    std::vector<std::size_t> when(n);
    auto list = components(rows, m);
    for (std::size_t c = 0; c < list.size(); ++c) {
      for (std::uint32_t e : list[c]) when[e] = c;
    }
    for (std::uint32_t e = 0; e < n; ++e) {
      for (std::uint32_t u : rows[e]) EXPECT_LE(when[m.equation_of[u]], when[e]);
    }
  }
}

}  // namespace
}  // namespace structure
