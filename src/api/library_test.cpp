// The library through its public header. Tolerances: rk4 at 1e-3 on these oscillations errs below 1e-11; the adaptive
// default has tolerance 1e-6.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "tactus/tactus.h"

namespace tactus {
namespace {

constexpr const char* oscillator = R"(
simulation step_size = 0.001
parameter k = 4;
external hand reads u
boundary x with x(0) = 1, x'(0) = 0; p with p(0) = (k, 2);
system
  x'' = -k * x;
  p' = u;
)";

const Name* find(const std::vector<Name>& names, std::string_view name) {
  for (const Name& known : names) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

// x = a sin(w t) with a sin(2 w) = 1
TEST(Library, StartMeetsBoundaryValuesAtOtherTimes) {
  Model model = Model::from_text("parameter w = 0.5; boundary x with x(0) = 0, x(2) = 1; system x'' = -w^2 * x;");
  EXPECT_NEAR(model.get("x'"), 0.5 / std::sin(1.0), 1e-9);
  model.reset();
  model.set("w", 0.25);
  EXPECT_NEAR(model.get("x'"), 0.25 / std::sin(0.5), 1e-9);
  model.advance(2);
  EXPECT_NEAR(model.get("x"), 1, 1e-6);
  Model none = Model::from_text("boundary x with x(0) = 0, x(pi) = 1; system x'' = -x;");
  EXPECT_THROW(none.get("x"), Error);
}

TEST(Library, CompilesSetsStepsReads) {
  Model model = Model::from_text(oscillator);
  EXPECT_EQ(model.time(), 0);
  EXPECT_EQ(model.get("x"), 1);
  for (int i = 0; i < 1000; ++i) model.step(0.001);
  EXPECT_EQ(model.time(), 1);
  EXPECT_EQ(model.steps(), 1000);
  EXPECT_NEAR(model.get("x"), std::cos(2.0), 1e-11);
  EXPECT_NEAR(model.get("x'"), -2 * std::sin(2.0), 1e-11);
}

TEST(Library, AdvancesToAnyTime) {
  Model model = Model::from_text(oscillator);
  model.advance(0.5);
  model.advance(0.5);
  model.advance(1.2345);
  EXPECT_DOUBLE_EQ(model.time(), 1.2345);
  EXPECT_NEAR(model.get("x"), std::cos(2 * 1.2345), 1e-11);
  EXPECT_EQ(model.steps(), 1235);
}

TEST(Library, AdvancesByAnAdaptiveSolver) {
  Model model = Model::from_text("boundary x with x(0) = 1; system x' = -x;");
  model.advance(1);
  EXPECT_EQ(model.time(), 1);
  EXPECT_NEAR(model.get("x"), std::exp(-1.0), 1e-5);
}

TEST(Library, ParametersBeforeAndAfterTheStart) {
  Model model = Model::from_text(oscillator);
  model.set("k", 9);
  EXPECT_EQ(model.get_all("p"), (std::vector<double>{9, 2}));  // a boundary condition reads it
  model.advance(1);
  EXPECT_NEAR(model.get("x"), std::cos(3.0), 1e-11);
  model.set("k", 1);
  EXPECT_EQ(model.get("k"), 1);
  EXPECT_NEAR(model.get("x''"), -std::cos(3.0), 1e-10);
  model.reset();
  EXPECT_EQ(model.time(), 0);
  model.advance(1);
  EXPECT_NEAR(model.get("x"), std::cos(1.0), 1e-11);
}

TEST(Library, InputsHoldOrMoveOn) {
  Model model = Model::from_text(oscillator);
  model.set("u", std::vector<double>{1, 2});
  model.advance(1);
  EXPECT_NEAR(model.get("p[1]"), 5, 1e-12);
  EXPECT_NEAR(model.get("p[2]"), 4, 1e-12);
  model.set("u", std::vector<double>{0, 0}, std::vector<double>{1, 0});
  model.advance(2);
  EXPECT_NEAR(model.get("p[1]"), 5.5, 1e-12);
  EXPECT_NEAR(model.get("u[1]"), 1, 1e-12);
  model.set("u[2]", 3);
  EXPECT_NEAR(model.get("u[1]"), 1, 1e-12);
  EXPECT_EQ(model.get("u[2]"), 3);
}

TEST(Library, NamesSayWhatTheyAre) {
  auto names = Model::from_text(oscillator).names();
  ASSERT_TRUE(find(names, "k") && find(names, "u") && find(names, "p"));
  EXPECT_EQ(find(names, "k")->role, Role::parameter);
  EXPECT_EQ(find(names, "u")->role, Role::input);
  EXPECT_EQ(find(names, "u")->rows, 2);
  EXPECT_EQ(find(names, "p")->role, Role::value);
}

TEST(Library, MistakesAreThrownWithTheirPlace) {
  try {
    Model model = Model::from_text("system\n  x' = y;\n", "tank.tact");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("tank.tact:2:"), std::string::npos) << error.what();
  }
  EXPECT_THROW(static_cast<void>(Model::from_file("/nowhere/to/be/found.tact")), Error);
  Model model = Model::from_text(oscillator);
  EXPECT_THROW(static_cast<void>(model.get("nothing")), Error);
  EXPECT_THROW(static_cast<void>(model.get("p")), Error);  // two components
  EXPECT_THROW(model.set("x", 1), Error);
  EXPECT_THROW(model.set("u", std::vector<double>{1}), Error);
  EXPECT_THROW(model.step(0), Error);
  EXPECT_THROW(model.advance(-1), Error);
}

TEST(Library, AFailureIsThrownAndTheLastGoodStateRemains) {
  Model model = Model::from_text("simulation step_size = 0.01 boundary x with x(0) = 1; system x' = x^2;");
  EXPECT_THROW(model.advance(2), Error);
  EXPECT_GT(model.time(), 0.9);
  EXPECT_TRUE(std::isfinite(model.get("x")));
}

TEST(Library, BothTiersComputeTheSameBits) {
  Model quick = Model::from_text(oscillator);
  Model optimised = Model::from_text(oscillator);
  optimised.wait_until_optimised();
  quick.advance(0.1);
  optimised.advance(0.1);
  EXPECT_EQ(quick.get("x"), optimised.get("x"));
}

TEST(Library, ModelsMove) {
  Model model = Model::from_text(oscillator);
  model.advance(0.25);
  Model moved = std::move(model);
  moved.advance(0.5);
  EXPECT_NEAR(moved.get("x"), std::cos(1.0), 1e-11);
}

}  // namespace
}  // namespace tactus
