#include "runtime/sim/plan.h"

#include <gtest/gtest.h>

#include <limits>

#include "runtime/sim/models_for_tests.h"

namespace sim {
namespace {

Plan plan_for(const tactus_model& model, const Settings& settings = {}) {
  std::string failure;
  auto plan = make_plan(model, settings, failure);
  EXPECT_TRUE(plan) << failure;
  return plan.value_or(Plan{});
}

std::string failure_for(const tactus_model& model, const Settings& settings) {
  std::string failure;
  EXPECT_FALSE(make_plan(model, settings, failure));
  return failure;
}

TEST(Plan, ANamedSolverComesFirst) {
  Decay model;
  model.table.step_size = 0.01;
  model.table.solver = TACTUS_EULER;
  EXPECT_EQ(plan_for(model.table).solver, TACTUS_EULER);
  EXPECT_EQ(plan_for(model.table, {.solver = TACTUS_DOP853}).solver, TACTUS_DOP853);
}

TEST(Plan, RunsThatNeverEndAreRefused) {
  Decay model;
  EXPECT_EQ(plan_for(model.table, {.step = 1e-3, .until = 1e9}).full_steps, 1'000'000'000'000);
  EXPECT_NE(failure_for(model.table, {.step = 1e-3, .until = 2e12}).find("makes 2e+15 steps"), std::string::npos);
  tactus_event clock = {};
  clock.name = "beat";
  clock.kind = TACTUS_EVERY;
  clock.period = 1e-300;
  model.table.events = &clock;
  model.table.event_count = 1;
  EXPECT_NE(failure_for(model.table, {.until = 1}).find("`beat` happens every 1e-300 s, 1e+300 times"),
            std::string::npos);
}

TEST(Plan, AStepAloneMeansRk4) {
  Decay model;
  EXPECT_EQ(plan_for(model.table, {.step = 0.1}).solver, TACTUS_RK4);
  model.table.step_size = 0.1;
  EXPECT_EQ(plan_for(model.table).solver, TACTUS_RK4);
}

TEST(Plan, NothingMeansTsit5AtTheDefaultTolerance) {
  Decay model;
  Plan plan = plan_for(model.table);
  EXPECT_EQ(plan.solver, TACTUS_TSIT5);
  EXPECT_EQ(plan.tolerance, 1e-6);
}

TEST(Plan, Bs3IsFixedWithAStepAndWithoutATolerance) {
  Decay model;
  EXPECT_EQ(plan_for(model.table, {.solver = TACTUS_BS3, .step = 0.1}).solver, TACTUS_BS3_FIXED);
  EXPECT_EQ(plan_for(model.table, {.solver = TACTUS_BS3}).solver, TACTUS_BS3);
  Plan both = plan_for(model.table, {.solver = TACTUS_BS3, .step = 0.1, .tolerance = 1e-4});
  EXPECT_EQ(both.solver, TACTUS_BS3);
  EXPECT_EQ(both.step, 0.1);  // the largest step
}

TEST(Plan, WithoutAnEndTheRunLastsTenSecondsAndSaysSo) {
  Decay model;
  model.table.starting_time = 2;
  Plan plan = plan_for(model.table);
  EXPECT_EQ(plan.end, 12);
  ASSERT_EQ(plan.notes.size(), 1u);
  EXPECT_NE(plan.notes[0].find("ending_time"), std::string::npos);
  EXPECT_TRUE(plan_for(model.table, {.until = 3.0}).notes.empty());
}

TEST(Plan, StepsFillTheSpanExactlyOrTheLastIsShorter) {
  Decay model;
  Plan whole = plan_for(model.table, {.step = 0.1, .until = 0.3});  // 0.3 / 0.1 is 2.9999999999999996
  EXPECT_EQ(whole.full_steps, 3);
  EXPECT_EQ(whole.last_step, 0);
  Plan rest = plan_for(model.table, {.step = 0.1, .until = 0.35});
  EXPECT_EQ(rest.full_steps, 3);
  EXPECT_NEAR(rest.last_step, 0.05, 1e-15);
  Plan one = plan_for(model.table, {.step = 1.0, .until = 0.25});
  EXPECT_EQ(one.full_steps, 0);
  EXPECT_EQ(one.last_step, 0.25);
}

TEST(Plan, AboutAThousandRowsOnWholeSteps) {
  Decay model;
  Plan exact = plan_for(model.table, {.step = 0.001, .until = 10.0});
  EXPECT_EQ(exact.period_steps, 10);
  Plan up = plan_for(model.table, {.step = 0.001, .until = 10.5});
  EXPECT_EQ(up.period_steps, 11);
  Plan few = plan_for(model.table, {.step = 0.1, .until = 1.0});
  EXPECT_EQ(few.period_steps, 1);
  EXPECT_EQ(plan_for(model.table, {.until = 5.0}).period, 0.005);
}

TEST(Plan, AGivenPeriodMayFallBetweenSteps) {
  Decay model;
  EXPECT_EQ(plan_for(model.table, {.step = 0.1, .every = 0.3}).period_steps, 3);
  EXPECT_EQ(plan_for(model.table, {.step = 0.1, .every = 0.25}).period_steps, 0);
  model.table.record_period = 0.5;
  EXPECT_EQ(plan_for(model.table, {.step = 0.1}).period, 0.5);
}

TEST(Plan, RefusesWhatMakesNoSense) {
  Decay model;
  double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(failure_for(model.table, {.until = -1.0}).find("cannot end"), std::string::npos);
  EXPECT_NE(failure_for(model.table, {.until = nan}).find("cannot end"), std::string::npos);
  EXPECT_NE(failure_for(model.table, {.step = 0.0}).find("positive"), std::string::npos);
  EXPECT_NE(failure_for(model.table, {.step = nan}).find("positive"), std::string::npos);
  EXPECT_NE(failure_for(model.table, {.tolerance = -1.0}).find("positive"), std::string::npos);
  EXPECT_NE(failure_for(model.table, {.every = 0.0}).find("positive"), std::string::npos);
  EXPECT_NE(failure_for(model.table, {.step = 1e-30}).find("rounding"), std::string::npos);
  EXPECT_NE(failure_for(model.table, {.solver = TACTUS_RK4}).find("--step"), std::string::npos);
}

TEST(Plan, RosenbrockIsFixedWithAStepAndAdaptiveWithATolerance) {
  Decay model;
  EXPECT_EQ(plan_for(model.table, {.solver = TACTUS_ROSENBROCK, .step = 0.1}).solver, TACTUS_ROSENBROCK_FIXED);
  EXPECT_EQ(plan_for(model.table, {.solver = TACTUS_ROSENBROCK}).solver, TACTUS_ROSENBROCK);
  EXPECT_EQ(plan_for(model.table, {.solver = TACTUS_ROSENBROCK, .step = 0.1, .tolerance = 1e-4}).solver,
            TACTUS_ROSENBROCK);
  EXPECT_TRUE(plan_for(model.table, {.solver = TACTUS_ROSENBROCK}).is_chosen);
  EXPECT_FALSE(plan_for(model.table).is_chosen);
  model.table.layout.size = model.table.layout.linear;  // as for a model with too many states
  EXPECT_NE(failure_for(model.table, {.solver = TACTUS_ROSENBROCK}).find("--solver cvode"), std::string::npos);
}

TEST(Plan, EverySolverHasItsName) {
  for (const std::string& name : solver_names()) EXPECT_EQ(solver_name(find_solver(name).value()), name);
  EXPECT_EQ(solver_name(TACTUS_BS3_FIXED), "bs3");
  EXPECT_FALSE(find_solver("rk5"));
}

}  // namespace
}  // namespace sim
