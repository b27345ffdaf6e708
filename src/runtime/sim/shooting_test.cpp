// Boundary values of models filled by hand, against closed forms: in one piece, in several, from a value of nothing
// that can be changed, and when a person wants an end.
#include "runtime/sim/shooting.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/sim/models_for_tests.h"

namespace sim {
namespace {

// x'' = w |w| x, x(0) = 1 and x(until) = 1; x'(0) is to be found.
struct TwoPoints : HandFilled {
  TwoPoints(double rate, double until) {
    state_names = {"x", "x'"};
    channels = {{"x", "", 0, 1, 1, 0}};
    parameters = {{"w", "", rate, 0, 0}};
    flags = {TACTUS_STATE_GIVEN, TACTUS_STATE_FREE};
    conditions = {{"x = 1", 3, until}};
    table.state_flags = flags.data();
    table.conditions = conditions.data();
    table.condition_count = 1;
    table.initialize = [](const tactus_model* model, tactus_instance* instance) {
      double* x = tactus_data(instance) + model->layout.states;
      x[0] = 1;
      x[1] = 0;
      return int{TACTUS_OK};
    };
    table.derivative = [](const tactus_model* model, tactus_instance* instance, double, const double* x, double* dx) {
      const double w = tactus_data(instance)[model->layout.parameters];
      dx[0] = x[1];
      dx[1] = w * std::abs(w) * x[0];
      return int{TACTUS_OK};
    };
    table.condition = [](const tactus_model*, tactus_instance*, double, const double* x, double* result) {
      result[0] = x[0] - 1;
      return int{TACTUS_OK};
    };
    table.tangent = [](const tactus_model* model, tactus_instance* instance, std::uint32_t function, double,
                       const double*, const double* direction, double* result) {
      const double w = tactus_data(instance)[model->layout.parameters];
      const double* along = direction + tactus_direction_states(model);
      if (function == TACTUS_OF_INITIALIZE) result[0] = result[1] = 0;
      if (function == TACTUS_OF_CONDITIONS) result[0] = along[0];
      if (function == TACTUS_OF_DERIVATIVE) {
        result[0] = along[1];
        result[1] = w * std::abs(w) * along[0];
      }
      return int{TACTUS_OK};
    };
    finish();
  }

  BoundarySolution solve(const Settings& settings, const std::atomic<bool>* stop = nullptr) const {
    std::string failure;
    const auto plan = make_plan(table, settings, failure);
    EXPECT_TRUE(plan) << failure;
    return solve_boundary({table, *plan, {}, {}, stop});
  }

  std::vector<std::uint32_t> flags;
  std::vector<tactus_condition> conditions;
};

TEST(Shooting, Oscillation) {
  const TwoPoints model(-2, 1);  // x = cos(2 t) + a sin(2 t)
  EXPECT_TRUE(has_later_conditions(model.table));
  const double slope = 2 * (1 - std::cos(2.0)) / std::sin(2.0);
  for (const Settings& settings :
       {Settings{.until = 1}, Settings{.solver = TACTUS_DOP853, .until = 1}, Settings{.step = 0.001, .until = 1}}) {
    const BoundarySolution found = model.solve(settings);
    ASSERT_FALSE(found.failure) << found.failure->text;
    ASSERT_EQ(found.nodes.size(), 1u);
    EXPECT_EQ(found.nodes[0].states[0], 1);
    EXPECT_NEAR(found.nodes[0].states[1], slope, 1e-9);
    // That of the run: adaptive steps have a tolerance of 1e-6.
    EXPECT_LT(found.residual, settings.step ? 1e-9 : 1e-6);
    EXPECT_TRUE(found.notes.empty());
    EXPECT_NE(found.note().find("1 segment,"), std::string::npos) << found.note();
  }
}

// The nodes lie on x = cosh(w (t - 1/2)) / cosh(w / 2), however much an error grows from one end to the other.
TEST(Shooting, LayersAtBothEnds) {
  for (double w : {30.0, 200.0}) {
    const TwoPoints model(w, 1);
    for (const Settings& settings : {Settings{.until = 1}, Settings{.step = 0.0002, .until = 1}}) {
      const BoundarySolution found = model.solve(settings);
      ASSERT_FALSE(found.failure) << found.failure->text;
      EXPECT_GT(found.nodes.size(), 1u);
      for (const BoundaryNode& node : found.nodes) {
        // cosh(w / 2) overflows nowhere here; rk4 errs by (w h)^4 w / 120 a second
        EXPECT_NEAR(node.states[0], std::cosh(w * (node.time - 0.5)) / std::cosh(w / 2), 1e-5) << w << " " << node.time;
        if (settings.step) {
          EXPECT_NEAR(std::remainder(node.time, *settings.step), 0, 1e-12);
        }
      }
    }
  }
}

TEST(Shooting, NothingThatCouldChangeIt) {
  TwoPoints model(-1, std::acos(-1.0));  // at pi x is -1 whatever x'(0) is
  const BoundarySolution found = model.solve({.until = 4});
  ASSERT_TRUE(found.failure);
  EXPECT_EQ(found.failure->kind, "no_boundary_values");
  EXPECT_EQ(found.failure->line, 3u);
  EXPECT_NE(found.failure->text.find("off by 2"), std::string::npos) << found.failure->text;
  EXPECT_NE(found.failure->hint.find("`x'(0) ~ ..`"), std::string::npos) << found.failure->hint;
}

TEST(Shooting, StopsWhenAsked) {
  const std::atomic<bool> stop = true;
  const BoundarySolution found = TwoPoints(-2, 1).solve({.until = 1}, &stop);
  EXPECT_TRUE(found.is_interrupted);
  EXPECT_FALSE(found.failure);
}

}  // namespace
}  // namespace sim
