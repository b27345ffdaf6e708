#include "judge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <iostream>

#include "compare.h"
#include "front.h"
#include "random_models.h"

namespace {

// One scalar of one row.
double at(const flat::Model& model, const judge::Opinion& opinion, const std::string& name, std::uint32_t order,
          std::size_t row) {
  for (std::uint32_t v = 0; v < model.variables.size(); ++v) {
    if (model.variables[flat::VariableId(v)].name == name)
      return opinion.rows.at(row).leaves[opinion.leaves.at(v, order)];
  }
  ADD_FAILURE() << name;
  return 0;
}

TEST(Judge, HarmonicOscillator) {
  const auto model = judge::flat_model("boundary x(0) = 1, x'(0) = 0; system 2 * x'' = -8 * x; y = 3 * x;", {});
  ASSERT_TRUE(model);
  judge::Opinion opinion = judge::simulate(*model, {0.001, 1, {0, 0.5, 1}, {}});
  ASSERT_EQ(opinion.trouble, "");
  EXPECT_TRUE(opinion.regular);
  EXPECT_NEAR(at(*model, opinion, "x", 0, 1), std::cos(1.0), 1e-12);
  EXPECT_NEAR(at(*model, opinion, "x", 1, 2), -2 * std::sin(2.0), 1e-12);
  EXPECT_NEAR(at(*model, opinion, "x", 2, 2), -4 * std::cos(2.0), 1e-12);
  EXPECT_NEAR(at(*model, opinion, "y", 0, 2), 3 * std::cos(2.0), 1e-12);
}

// Released from (1, 0): period 4 K(1/sqrt(2)) sqrt(L/g) = 2.367841947576237 with L = 1, g = 9.81; after it everything is as it was.
TEST(Judge, PendulumInCartesianCoordinates) {
  const auto model = judge::flat_model(
      "boundary x(0) = 1, x'(0) = 0, y(0) = 0, y'(0) = 0;\n"
      "system x'' = -l * x; y'' = -l * y - 9.81; x^2 + y^2 = 1;",
      {});
  ASSERT_TRUE(model);
  const double period = 2.367841947576237;
  double last = 0;
  for (double step : {0.02, 0.01}) {
    judge::Opinion opinion = judge::simulate(*model, {step, period, {period / 4, period / 2, period}, {}});
    ASSERT_EQ(opinion.trouble, "");
    EXPECT_FALSE(opinion.regular);
    const double error = std::fabs(at(*model, opinion, "x", 1, 2)) + std::fabs(at(*model, opinion, "y", 0, 2));
    std::printf("step %g: %g %g %g %g\n", step, at(*model, opinion, "x", 0, 0), at(*model, opinion, "x", 0, 1) + 1,
                at(*model, opinion, "y", 0, 2), at(*model, opinion, "l", 0, 0) - 3 * 9.81);
    EXPECT_LT(error, 1e-5);
    last = error;
  }
  EXPECT_LT(last, 1e-6);
}

// TACTUS_JUDGE_SEEDS="FIRST COUNT" asks for others than the first 150; with COUNT 1 the text is shown.
TEST(Judge, AgreesWithTheCompilerOnRandomModels) {
  std::uint64_t first = 1, count = 150;
  if (const char* given = std::getenv("TACTUS_JUDGE_SEEDS")) std::sscanf(given, "%lu %lu", &first, &count);
  std::size_t values = 0, unclear = 0, judged = 0;
  std::set<std::string> missing = judge::all_features();
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const judge::RandomModel model = judge::random_model(seed);
    for (const std::string& feature : model.features) missing.erase(feature);
    if (count == 1) std::cout << model.one.compiled;
    const judge::Verdict verdict = judge::compare(model.one);
    EXPECT_EQ(verdict.disagreement, "") << "seed " << seed << "\n" << model.one.compiled;
    if (verdict.not_judged.empty()) {
      ++judged;
    } else {
      std::cout << "seed " << seed << " is not judged: " << verdict.not_judged << "\n";
    }
    values += verdict.values;
    unclear += verdict.unclear;
  }
  std::cout << judged << " of " << count << " models judged, " << values << " values compared, " << unclear << " unclear\n";
  if (count >= 150) {
    EXPECT_GE(judged, count - count / 20);
    EXPECT_LT(unclear, values / 20);
    EXPECT_TRUE(missing.empty()) << *missing.begin();
  }
}

}  // namespace
