// Jacobians from tangents by colours, and the tangents of Newton's solutions, against closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernel/kernel.h"

namespace kernel_test {
namespace {

// x_k' = x_(k-1)^2 - 3 x_k + t x_(k+1): three diagonals in three colours.
struct Chain {
  static constexpr std::uint32_t n = 7;
  std::vector<std::uint32_t> start = {0}, index, colours;
  tactus_model model{};
  std::vector<double> memory;
  static inline int calls = 0;

  Chain() {
    for (std::uint32_t column = 0; column < n; column++) {
      for (std::uint32_t row = column > 0 ? column - 1 : 0; row <= column + 1 && row < n; row++) index.push_back(row);
      start.push_back(static_cast<std::uint32_t>(index.size()));
      colours.push_back(column % 3);
    }
    model.state_count = n;
    model.jacobian = {start.data(), index.data()};
    model.colours = colours.data();
    model.colour_count = 3;
    model.tangent = [](const tactus_model* m, tactus_instance*, std::uint32_t function, double t, const double* x,
                       const double* direction, double* result) {
      calls++;
      EXPECT_EQ(function, std::uint32_t{TACTUS_OF_DERIVATIVE});
      const double* d = direction + tactus_direction_states(m);
      for (std::uint32_t k = 0; k < n; k++) {
        result[k] = -3 * d[k];
        if (k > 0) result[k] += 2 * x[k - 1] * d[k - 1];
        if (k + 1 < n) result[k] += t * d[k + 1] + direction[0] * x[k + 1];
      }
      return int{TACTUS_OK};
    };
    tk_layout(&model, &model.layout);
    memory.assign(tactus_instance_bytes(&model) / 8 + 1, 0.0);
  }
  tactus_instance* instance() { return reinterpret_cast<tactus_instance*>(memory.data()); }
};

TEST(Jacobian, OfAChainTakesThreeTangents) {
  Chain chain;
  std::vector<double> x, scratch(tk_jacobian_scratch(&chain.model), std::numeric_limits<double>::quiet_NaN());
  for (std::uint32_t k = 0; k < Chain::n; k++) x.push_back(0.5 * k - 1);
  std::vector<double> entries(chain.index.size());
  std::vector<double> matrix(Chain::n * Chain::n, 99.0);
  Chain::calls = 0;
  ASSERT_EQ(tk_jacobian(&chain.model, chain.instance(), 0.5, x.data(), scratch.data(), entries.data()), TACTUS_OK);
  EXPECT_EQ(Chain::calls, 3);
  ASSERT_EQ(tk_dense_jacobian(&chain.model, chain.instance(), 0.5, x.data(), scratch.data(), matrix.data()), TACTUS_OK);
  for (std::uint32_t column = 0, k = 0; column < Chain::n; column++) {
    for (std::uint32_t row = 0; row < Chain::n; row++) {
      const double entry = row == column ? -3 : row == column + 1 ? 2 * x[column] : row + 1 == column ? 0.5 : 0;
      EXPECT_EQ(matrix[row * Chain::n + column], entry);
      if (row + 1 >= column && row <= column + 1) {
        EXPECT_EQ(entries[k], entry);
        k++;
      }
    }
  }
}

TEST(Jacobian, ByTimeLeavesTheStatesAlone) {
  Chain chain;
  std::vector<double> x(Chain::n, 4.0), scratch(tk_jacobian_scratch(&chain.model), 7.0), rate(Chain::n);
  ASSERT_EQ(tk_time_derivative(&chain.model, chain.instance(), 0.5, x.data(), scratch.data(), rate.data()), TACTUS_OK);
  for (std::uint32_t k = 0; k < Chain::n; k++) EXPECT_EQ(rate[k], k + 1 < Chain::n ? 4 : 0);
}

// z^2 = c0, z w = c1: z' = c0' / (2 z), w' = (c1' - z' w) / z
TEST(NewtonTangent, MovesTheSolution) {
  const double captured[] = {9, 6};
  const double z[] = {3, 2};
  const double direction[] = {0.6, -1};
  double work[6];
  auto residual = [](const double*, const double* at, const double* d, double* dr, double* j) {
    dr[0] = -d[0];
    dr[1] = -d[1];
    j[0] = 2 * at[0];
    j[1] = 0;
    j[2] = at[1];
    j[3] = at[0];
  };
  ASSERT_EQ(tk_newton_tangent(2, residual, captured, z, direction, work), TACTUS_OK);
  EXPECT_NEAR(work[4], 0.1, 1e-15);
  EXPECT_NEAR(work[5], (-1 - 0.1 * 2) / 3, 1e-15);
  const double nowhere[] = {0, 0};
  EXPECT_EQ(tk_newton_tangent(2, residual, captured, nowhere, direction, work), TACTUS_SINGULAR);
}

}  // namespace
}  // namespace kernel_test
