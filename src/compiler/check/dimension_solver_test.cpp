// Random systems that hold for known dimensions: nothing is contradicted, what is found is the truth, and an unknown is
// found exactly when a dense elimination in doubles, written apart, says that it is determined.
#include "compiler/check/dimension_solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace check {
namespace {

using parse::Dimension;
using parse::Rational;

struct System {
  std::vector<Dimension> truth;
  std::vector<Form> left, right;
  std::vector<std::vector<double>> rows;  // of left / right, by unknown
};

Dimension value_of(const Form& form, const std::vector<Dimension>& truth) {
  Dimension value = form.constant;
  for (const Term& term : form.terms) value.multiply(truth[term.unknown], term.factor);
  return value;
}

System random_system(std::mt19937& random, std::uint32_t unknowns, int constraints) {
  System system;
  auto dice = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (std::uint32_t i = 0; i < unknowns; ++i) {
    Dimension dimension;
    for (Rational& exponent : dimension.exponents) exponent = {static_cast<std::int16_t>(dice(-2, 2)), 1};
    system.truth.push_back(dimension);
  }
  for (int c = 0; c < constraints; ++c) {
    // Contradictions count only where a literal has a part.
    Form sides[2] = {Form::of_literal({}), Form::of_literal({})};
    for (int k = dice(0, 3); k >= 0; --k) {
      const auto unknown = static_cast<std::uint32_t>(dice(0, static_cast<int>(unknowns) - 1));
      const Rational factor =
          Rational{static_cast<std::int16_t>(dice(1, 3)), 1} / Rational{static_cast<std::int16_t>(dice(1, 2)), 1};
      Form& side = sides[dice(0, 1)];
      side = multiply(side, Form::of_unknown(unknown), dice(0, 1) ? factor : -factor);
    }
    // The constant makes it true.
    Dimension gap = value_of(sides[0], system.truth);
    gap.multiply(value_of(sides[1], system.truth), {-1, 1});
    sides[1].constant.multiply(gap);
    EXPECT_EQ(value_of(sides[0], system.truth), value_of(sides[1], system.truth));
    std::vector<double> row(unknowns);
    for (int s = 0; s < 2; ++s) {
      for (const Term& term : sides[s].terms) {
        const double factor = static_cast<double>(term.factor.top) / term.factor.bottom;
        row[term.unknown] += s == 0 ? factor : -factor;
      }
    }
    system.left.push_back(sides[0]);
    system.right.push_back(sides[1]);
    system.rows.push_back(row);
  }
  return system;
}

std::size_t rank(std::vector<std::vector<double>> rows) {
  std::size_t found = 0;
  for (std::size_t column = 0; !rows.empty() && column < rows[0].size(); ++column) {
    std::size_t best = found;
    for (std::size_t i = found; i < rows.size(); ++i) {
      if (std::abs(rows[i][column]) > std::abs(rows[best][column])) best = i;
    }
    if (best >= rows.size() || std::abs(rows[best][column]) < 1e-7) continue;
    std::swap(rows[found], rows[best]);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i == found) continue;
      const double factor = rows[i][column] / rows[found][column];
      for (std::size_t j = 0; j < rows[i].size(); ++j) rows[i][j] -= factor * rows[found][j];
    }
    ++found;
  }
  return found;
}

TEST(DimensionSolver, FindsTheTruthAndNothingElse) {
  std::mt19937 random(11);
  int determined = 0, open = 0;
  for (int round = 0; round < 400; ++round) {
    const std::uint32_t unknowns = 2 + round % 6;
    const System system = random_system(random, unknowns, 1 + round % 7);
    DimensionSolver solver;
    for (std::uint32_t i = 0; i < unknowns; ++i) solver.add_unknown();
    for (std::size_t c = 0; c < system.left.size(); ++c) solver.add(system.left[c], system.right[c], c % 3 == 0);
    EXPECT_TRUE(solver.solve().empty()) << round;
    const std::size_t full = rank(system.rows);
    for (std::uint32_t i = 0; i < unknowns; ++i) {
      const auto value = solver.value(Form::of_unknown(i));
      auto with_unit = system.rows;
      with_unit.emplace_back(unknowns)[i] = 1;
      ASSERT_EQ(value.has_value(), rank(with_unit) == full) << "round " << round << ", unknown " << i;
      if (value) {
        EXPECT_EQ(*value, system.truth[i]);
      }
      ++(value ? determined : open);
    }
  }
  EXPECT_GT(determined, 200);
  EXPECT_GT(open, 200);
}

TEST(DimensionSolver, AFalseConstraintIsFoundExactlyWhenTheOthersSayOtherwise) {
  std::mt19937 random(12);
  int contradicted = 0;
  for (int round = 0; round < 400; ++round) {
    const std::uint32_t unknowns = 2 + round % 4;
    System system = random_system(random, unknowns, 2 + round % 6);
    const std::size_t wrong = static_cast<std::size_t>(round) % system.left.size();
    Dimension metre;
    metre.exponents[Dimension::metre] = {1, 1};
    system.right[wrong].constant.multiply(metre);
    DimensionSolver solver;
    for (std::uint32_t i = 0; i < unknowns; ++i) solver.add_unknown();
    for (std::size_t c = 0; c < system.left.size(); ++c) solver.add(system.left[c], system.right[c], false);
    // It contradicts when its row depends on the others.
    auto others = system.rows;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(wrong));
    const bool dependent = rank(others) == rank(system.rows);
    EXPECT_EQ(!solver.solve().empty(), dependent) << round;
    contradicted += dependent;
  }
  EXPECT_GT(contradicted, 50);
}

}  // namespace
}  // namespace check
