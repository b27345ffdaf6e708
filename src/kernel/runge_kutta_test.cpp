// The tableaux against theory: a method has order p exactly when, for every rooted tree of at most p nodes,
// sum_i b_i u_i(tree) = 1 / gamma(tree). HNW II.2, theorem 2.13. So no digit of a tableau can be wrong unseen.
#include "kernel/runge_kutta.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace {

using Vector = std::vector<double>;

struct Method {
  Vector c;
  std::vector<Vector> a;
  Vector b;
};

struct Tree {
  int order;
  double gamma;
  std::vector<int> children;  // indices of smaller trees, not decreasing
};

// Appends every tree of `order` nodes whose root has `children`, and `rest` more nodes below it, from tree `from` on.
void grow(std::vector<Tree>& trees, std::size_t known, int order, int rest, std::size_t from,
          std::vector<int>& children) {
  if (rest == 0) {
    double gamma = order;
    for (int child : children) gamma *= trees[child].gamma;
    trees.push_back({order, gamma, children});
    return;
  }
  for (std::size_t i = from; i < known; i++) {
    const int size = trees[i].order;
    if (size > rest) break;
    children.push_back(static_cast<int>(i));
    grow(trees, known, order, rest - size, i, children);
    children.pop_back();
  }
}

std::vector<Tree> rooted_trees(int max_order) {
  std::vector<Tree> trees;
  std::vector<int> children;
  for (int order = 1; order <= max_order; order++) grow(trees, trees.size(), order, order - 1, 0, children);
  return trees;
}

// u(tree)_i = product over children of sum_j a_ij u(child)_j, and beside it the same with absolute values: its
// rounding.
struct Weights {
  std::vector<Vector> value;
  std::vector<Vector> size;
};

Weights elementary_weights(const std::vector<Tree>& trees, const std::vector<Vector>& a) {
  Weights w;
  for (const Tree& tree : trees) {
    Vector value(a.size(), 1.0);
    Vector size(a.size(), 1.0);
    for (std::size_t i = 0; i < a.size(); i++) {
      for (int child : tree.children) {
        double sum = 0.0;
        double absolute = 0.0;
        for (std::size_t j = 0; j < a[i].size(); j++) {
          sum += a[i][j] * w.value[child][j];
          absolute += std::fabs(a[i][j]) * w.size[child][j];
        }
        value[i] *= sum;
        size[i] *= absolute;
      }
    }
    w.value.push_back(value);
    w.size.push_back(size);
  }
  return w;
}

// The largest violation of the conditions of exactly `order` nodes, in units of the terms' size, for x(t + theta h).
double violation(const Method& m, const Vector& b, int order, double theta = 1.0) {
  const std::vector<Tree> trees = rooted_trees(order);
  const Weights w = elementary_weights(trees, m.a);
  double worst = 0.0;
  for (std::size_t t = 0; t < trees.size(); t++) {
    if (trees[t].order != order) continue;
    const double expected = std::pow(theta, order) / trees[t].gamma;
    double sum = 0.0;
    double size = expected;
    for (std::size_t i = 0; i < b.size(); i++) {
      sum += b[i] * w.value[t][i];
      size += std::fabs(b[i]) * w.size[t][i];
    }
    worst = std::fmax(worst, std::fabs(sum - expected) / size);
  }
  return worst;
}

// Coefficients are correct to about 1e-16 of their size, and a tree of 8 nodes multiplies 8 of them.
constexpr double kRounding = 2e-15;

void expect_order(const Method& m, const Vector& b, int order, double theta = 1.0) {
  for (int k = 1; k <= order; k++) EXPECT_LT(violation(m, b, k, theta), kRounding) << "trees of " << k << " nodes";
}

void expect_row_sums(const Method& m) {
  for (std::size_t i = 0; i < m.a.size(); i++) {
    double sum = 0.0;
    double size = 1.0;
    for (double a : m.a[i]) sum += a, size += std::fabs(a);
    EXPECT_NEAR(sum, m.c[i], 4e-16 * size) << "row " << i;
  }
}

Vector plain(const tk_row& row, int stages) {
  Vector weights;
  for (int j = 0; j < stages; j++) weights.push_back(row.numerator / row.denominator * row.weight[j]);
  return weights;
}

Method read(const tk_fixed_method& fixed) {
  Method m;
  for (int s = 0; s < fixed.stages; s++) {
    m.c.push_back(fixed.c[s]);
    m.a.push_back(plain(fixed.a[s], s));
  }
  m.b = plain(fixed.b, fixed.stages);
  return m;
}

Method read(const tk_embedded_method& pair, int stages) {
  Method m;
  for (int s = 0; s < stages; s++) {
    m.c.push_back(pair.c[s]);
    m.a.emplace_back(pair.a + s * (s - 1) / 2, pair.a + s * (s - 1) / 2 + s);
  }
  m.b = m.a[pair.last];
  return m;
}

Vector without(const Vector& b, const double* error, int last) {
  Vector lower(error, error + last + 1);
  for (std::size_t i = 0; i < lower.size(); i++) lower[i] = (i < b.size() ? b[i] : 0.0) - lower[i];
  return lower;
}

TEST(RungeKutta, TreesAreAllTrees) {
  // HNW p. 147, table 2.1
  const std::vector<Tree> trees = rooted_trees(9);
  std::vector<int> count(10);
  for (const Tree& tree : trees) count[tree.order]++;
  EXPECT_EQ(count, (std::vector<int>{0, 1, 1, 2, 4, 9, 20, 48, 115, 286}));
}

TEST(RungeKutta, FixedMethodsHaveTheirOrderAndNoMore) {
  for (const tk_fixed_method* fixed : {&tk_euler, &tk_rk4, &tk_bs3_fixed}) {
    const Method m = read(*fixed);
    expect_row_sums(m);
    expect_order(m, m.b, fixed->order);
    EXPECT_GT(violation(m, m.b, fixed->order + 1), 1e-3);
  }
}

TEST(RungeKutta, PairsHaveTheirOrderAndNoMore) {
  for (const tk_embedded_method* pair : {&tk_bs3, &tk_tsit5, &tk_dop853}) {
    const Method m = read(*pair, pair->last + 1);
    expect_row_sums(m);
    EXPECT_EQ(m.c[pair->last], 1.0);
    expect_order(m, m.b, pair->order);
    EXPECT_GT(violation(m, m.b, pair->order + 1), 1e-6);
  }
}

TEST(RungeKutta, ErrorsAreDifferencesToMethodsOfLowerOrder) {
  const Method bs3 = read(tk_bs3, 4);
  expect_order(bs3, without(bs3.b, tk_bs3.error, 3), 2);
  EXPECT_GT(violation(bs3, without(bs3.b, tk_bs3.error, 3), 3), 1e-3);
  const Method tsit5 = read(tk_tsit5, 7);
  expect_order(tsit5, without(tsit5.b, tk_tsit5.error, 6), 4);
  EXPECT_GT(violation(tsit5, without(tsit5.b, tk_tsit5.error, 6), 5), 1e-6);
  const Method dop853 = read(tk_dop853, 13);
  expect_order(dop853, without(dop853.b, tk_dop853.error, 12), 5);
  EXPECT_GT(violation(dop853, without(dop853.b, tk_dop853.error, 12), 6), 1e-6);
  expect_order(dop853, without(dop853.b, tk_dop853.error_low, 12), 3);
  EXPECT_GT(violation(dop853, without(dop853.b, tk_dop853.error_low, 12), 4), 1e-6);
}

TEST(RungeKutta, InterpolantOfTsit5HasOrderFourEverywhere) {
  const Method m = read(tk_tsit5, 7);
  for (double theta : {0.1, 0.25, 0.5, 0.7, 0.95, 1.0}) {
    Vector b;
    for (const double(&d)[4] : tk_tsit5_dense)
      b.push_back(theta * (d[0] + theta * (d[1] + theta * (d[2] + theta * d[3]))));
    expect_order(m, b, 4, theta);
  }
}

TEST(RungeKutta, InterpolantOfDop853HasOrderSevenEverywhere) {
  const Method m = read(tk_dop853, 16);
  expect_row_sums(m);
  for (double theta : {0.1, 0.25, 0.5, 0.7, 0.95, 1.0}) {
    // x(theta) is linear in the stages: follow the unit vector of each.
    Vector b(16);
    for (int j = 0; j < 16; j++) {
      const double rise = j < 12 ? m.b[j] : 0.0;
      const double bend = (j == 0 ? 1.0 : 0.0) - rise;
      double f[7] = {rise, bend, rise - (j == 12 ? 1.0 : 0.0) - bend};
      for (int i = 0; i < 4; i++) f[3 + i] = tk_dop853_dense[i][j];
      double sum = 0.0;
      for (int i = 6; i >= 0; i--) sum = (f[i] + sum) * (i % 2 == 0 ? theta : 1.0 - theta);
      b[j] = sum;
    }
    expect_order(m, b, 7, theta);
  }
}

}  // namespace
