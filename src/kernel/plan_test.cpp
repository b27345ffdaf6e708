// Plans on a table filled by hand: a ball that is thrown down and bounces; how its targets move has a closed form.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "kernel/hybrid.h"
#include "kernel/kernel.h"

namespace {

constexpr double g = 9.81;
constexpr double restitution = 0.7;

// States: height, speed; chosen: the speed downwards, the duration; when it began.
enum { height, speed, down, duration, begun, states };
enum { begins, bounces, ends, fails, events };
// Watched: truths of the events, two guards, two targets, two guesses.
enum { guard_of_bounce = events, guard_of_end, target, guess = target + 2, watched = guess + 2 };

class Ball {
 public:
  explicit Ball(bool has_tangents) {
    for (std::uint32_t e = 0; e < events; ++e) events_.push_back({"", TACTUS_TRANSITION, e, 1, 1, 0, 0, 0, 0});
    relations_ = {{TACTUS_TRUTH, guard_of_bounce, 0, bounces + 1, 1, 1},
                  {TACTUS_TRUTH, guard_of_end, 1, ends + 1, 0, 1}};
    plan_ = {"Drop", begins, fails, 0, 2, guess, 0, 1, 1, 1};
    model.abi = TACTUS_ABI;
    model.state_count = states;
    model.discrete_count = 3;  // what the relations hold, and whether it has begun
    model.event_count = events;
    model.events = events_.data();
    model.watch_count = watched;
    model.relation_count = 2;
    model.relations = relations_.data();
    model.plans = &plan_;
    model.plan_phases = &phase_;
    model.plan_places = places_;
    model.plan_count = 1;
    model.event_precision = 1e-13;
    model.initialize = [](const tactus_model* m, tactus_instance* i) {
      double* x = tactus_data(i) + m->layout.states;
      x[height] = 1;
      for (int k = speed; k < states; ++k) x[k] = 0;
      for (int k = 0; k < 3; ++k) tactus_data(i)[m->layout.discrete + k] = 0;
      return int{TACTUS_OK};
    };
    model.derivative = [](const tactus_model* m, tactus_instance* i, double, const double* x, double* dx) {
      const bool moves = tactus_data(i)[m->layout.discrete + 2] > 0;
      dx[height] = moves ? x[speed] : 0;
      dx[speed] = moves ? -g : 0;
      dx[down] = dx[duration] = dx[begun] = 0;
      return int{TACTUS_OK};
    };
    model.watch = [](const tactus_model* m, tactus_instance* i, double t, const double* x) {
      double* w = tactus_data(i) + m->layout.watched;
      const double* held = tactus_data(i) + m->layout.discrete;
      w[begins] = held[2] == 0;
      w[guard_of_bounce] = std::fmin(-x[height], -x[speed]);
      w[guard_of_end] = held[2] > 0 ? t - x[begun] - x[duration] : -1;
      w[bounces] = w[guard_of_bounce] > 0 && held[2] > 0;
      w[ends] = w[guard_of_end] >= 0 && held[2] == 1;
      w[fails] = 0;
      w[target] = x[height] - 0.6;
      w[target + 1] = x[speed];
      w[guess] = 1;
      w[guess + 1] = 0.7;
      return int{TACTUS_OK};
    };
    model.fire = [](const tactus_model* m, tactus_instance* i, std::uint32_t event) {
      double* x = tactus_data(i) + m->layout.states;
      double* d = tactus_data(i) + m->layout.discrete;
      if (event == begins) {
        x[speed] = -x[down];
        x[begun] = i->time;
        d[2] = 1;
      }
      if (event == bounces) x[speed] = -restitution * x[speed];
      if (event == ends) d[2] = 2;
      return int{TACTUS_OK};
    };
    if (has_tangents) {
      model.tangent = [](const tactus_model* m, tactus_instance* i, std::uint32_t function, double, const double* x,
                         const double* along, double* result) {
        const double* dx = along + tactus_direction_states(m);
        const double* dd = along + tactus_direction_discrete(m);
        const bool moves = tactus_data(i)[m->layout.discrete + 2] > 0;
        if (function == TACTUS_OF_DERIVATIVE) {
          for (int k = 0; k < states; ++k) result[k] = 0;
          result[height] = moves ? dx[speed] : 0;
          return int{TACTUS_OK};
        }
        if (function == TACTUS_OF_WATCH) {
          for (int k = 0; k < watched; ++k) result[k] = 0;
          result[guard_of_bounce] = -x[height] < -x[speed] ? -dx[height] : -dx[speed];
          result[guard_of_end] = along[0] - dx[begun] - dx[duration];
          result[target] = dx[height];
          result[target + 1] = dx[speed];
          return int{TACTUS_OK};
        }
        if (function < TACTUS_OF_FIRE) return -1;
        double* after = result + m->discrete_count;
        for (int k = 0; k < 3; ++k) result[k] = dd[k];
        for (int k = 0; k < states; ++k) after[k] = dx[k];
        if (function == std::uint32_t{TACTUS_OF_FIRE} + begins) {
          after[speed] = -dx[down];
          after[begun] = along[0];
        }
        if (function == std::uint32_t{TACTUS_OF_FIRE} + bounces) after[speed] = -restitution * dx[speed];
        return int{TACTUS_OK};
      };
    }
    model.fixed_steps = tk_fixed_steps;
    model.adaptive_step = tk_adaptive_step;
    tk_layout(&model, &model.layout);
    block_.assign(tactus_instance_bytes(&model) / 8 + 1, 0.0);
    EXPECT_EQ(tk_reset(&model, instance()), TACTUS_OK);
    instance()->plans_wait = 1;
    EXPECT_EQ(tk_start(&model, instance()), TACTUS_OK);
    EXPECT_EQ(tk_begin_events(&model, instance()), TACTUS_OK);
  }
  tactus_instance* instance() { return reinterpret_cast<tactus_instance*>(block_.data()); }
  double* x() { return tactus_data(instance()) + model.layout.states; }
  std::vector<double> snapshot() { return {tactus_data(instance()), tactus_data(instance()) + model.layout.snapshot}; }

  tactus_model model = {};

 private:
  std::vector<tactus_event> events_;
  std::vector<tactus_relation> relations_;
  tactus_plan plan_;
  tactus_plan_phase phase_ = {ends, target, 2};
  std::uint32_t places_[2] = {down, duration};
  std::vector<double> block_;
};

TEST(Plan, WaitsForTheHostWhenAskedTo) {
  Ball ball(true);
  EXPECT_EQ(ball.instance()->plans_asked, 1u);
  EXPECT_EQ(ball.instance()->plans_made, 0);
  ASSERT_EQ(tk_part(&ball.model, ball.instance(), TACTUS_TSIT5, 0, 1e-8, 1), TACTUS_OK);
  EXPECT_EQ(ball.x()[height], 1);
  const double u[2] = {2, 0.5};
  ASSERT_EQ(tk_begin_plan(&ball.model, ball.instance(), 0, u), TACTUS_OK);
  EXPECT_EQ(ball.x()[speed], -2);
  EXPECT_EQ(ball.instance()->plans_asked, 0u);
  EXPECT_EQ(ball.instance()->plans_made, 1);
}

TEST(Plan, SlopesThroughABounceInClosedForm) {
  Ball ball(true);
  const double v = 1.2, T = 0.68;
  const double u[2] = {v, T};
  double left[2], matrix[4];
  const std::vector<double> before = ball.snapshot();
  ASSERT_EQ(tk_plan_slopes(&ball.model, ball.instance(), 0, u, left, matrix), TACTUS_OK);
  EXPECT_EQ(ball.snapshot(), before);
  const double w = std::sqrt(v * v + 2 * g), s = (w - v) / g, flight = T - s;
  const double w_v = v / w, s_v = (w_v - 1) / g;
  const double last = restitution * w - g * flight;
  EXPECT_NEAR(left[0], restitution * w * flight - g * flight * flight / 2 - 0.6, 1e-11);
  EXPECT_NEAR(left[1], last, 1e-11);
  EXPECT_NEAR(matrix[0], restitution * w_v * flight - last * s_v, 1e-10);
  EXPECT_NEAR(matrix[1], last, 1e-10);
  EXPECT_NEAR(matrix[2], restitution * w_v + g * s_v, 1e-10);
  EXPECT_NEAR(matrix[3], -g, 1e-10);
}

// At the top of its flight, 0.6 high: it came down with w = sqrt(2 g 0.6) / e.
TEST(Plan, IsFoundWithTangentsAndWithout) {
  for (const bool has_tangents : {true, false}) {
    Ball ball(has_tangents);
    double u[2];
    ASSERT_EQ(tk_settle(&ball.model, ball.instance()), TACTUS_OK);
    ASSERT_EQ(tk_search_for_plan(&ball.model, ball.instance(), 0, u), TACTUS_OK);
    const double w = std::sqrt(2 * g * 0.6) / restitution;
    EXPECT_EQ(ball.instance()->plan_differences > 0, !has_tangents);
    EXPECT_NEAR(u[0] * u[0] + 2 * g, w * w, 1e-7);
    EXPECT_NEAR(u[1], (w - u[0]) / g + restitution * w / g, 1e-8);
  }
}

TEST(Plan, ASearchThatIsCancelledEnds) {
  Ball ball(true);
  double u[2];
  ASSERT_EQ(tk_settle(&ball.model, ball.instance()), TACTUS_OK);
  tk_cancel(&ball.model, ball.instance());
  EXPECT_EQ(tk_search_for_plan(&ball.model, ball.instance(), 0, u), TACTUS_NO_PLAN);
  EXPECT_EQ(ball.instance()->plan_runs, 1);
  EXPECT_FALSE(std::isfinite(tk_nearest_plan(&ball.model, ball.instance())[tk_most_chosen(&ball.model)]));
}

TEST(Plan, SlopesAreNotKnownWithoutTangents) {
  Ball ball(false);
  const double u[2] = {1.2, 0.68};
  double left[2], matrix[4];
  EXPECT_EQ(tk_plan_slopes(&ball.model, ball.instance(), 0, u, left, matrix), TACTUS_SINGULAR);
}

}  // namespace
