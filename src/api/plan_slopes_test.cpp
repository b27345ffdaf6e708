// Plans from the text: the Jacobian that comes with a motion (kernel/slopes.c) against central differences of whole
// motions and against closed forms, through jumps and changes of structure; and that searches which use it hit their
// targets.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "api/load.h"
#include "compiler/emit_llvm/jit.h"
#include "kernel/hybrid.h"
#include "kernel/kernel.h"
#include "runtime/sim/instance.h"

namespace {

struct Example {
  const char* name;
  const char* text;
  std::vector<double> u;  // where the Jacobian is asked for
};

// Events are located to 1e-12, which differences over 4e-4 do not see.
const Example examples[] = {
    {"a throw",
     R"(
simulation event_precision = 1e-12
automaton ball in Held, Thrown;
boundary p with p(0) = (0, 0);
system
  in ball.Held   { p' = (0, 0); }
  in ball.Thrown { p'' = (0, -9.81) - 0.1 * norm(p') * p'; }
  plan Throw in ball.Held when p[1] <= 0
    choose v = (5, 8), T = 1 { goto ball.Thrown;  next(p') = v; }
    for T reaching p = (4, 1), norm(p') = 6 { goto ball.Held; })",
     {5, 8, 1}},
    {"a bounce on a slope",
     R"(
simulation event_precision = 1e-12
automaton ball in Held, Thrown;
boundary p with p(0) = (0, 1);
system
  in ball.Held   { p' = (0, 0); }
  in ball.Thrown { p'' = (0, -9.81) - 0.05 * norm(p') * p'; }
  gap = p[2] - 0.2 * p[1] - 0.05 * sin(3 * p[1]);
  n = direction((-0.2 - 0.15 * cos(3 * p[1]), 1));
  transition Bounce in ball.Thrown when gap <= 0 && gap' < 0 { next(p') = p' - 1.7 * dot(p', n) * n; }
  plan Throw in ball.Held when p[1] <= 0
    choose v = (2, 1) { goto ball.Thrown;  next(p') = v; }
    for 1.3 reaching p = (2, 1) { goto ball.Held; })",
     {2, 1}},
    {"landing and rolling",
     R"(
simulation event_precision = 1e-12
constant m = 0.5, r = 0.1, I = 2/5 * m * r^2, g = 9.81;
automaton ball in Held, Flying, Rolling;
boundary
  p with p(0) = (0, 1), p'(0) = (0, 0);
  w with w(0) = 0;
system
  gap  = p[2] - r - 0.05 * p[1]^2;
  slip = p'[1] - r * w;
  m * p'' = (T + Fx - 0.1 * N * p[1] - 0.3 * p'[1], N - m * g + Fy);
  I * w'  = -r * T;
  in ball.Held    { N = 0; T = 0; p' = (0, 0); }
  in ball.Flying  { N = 0; T = 0; Fx = 0; Fy = 0; }
  in ball.Rolling { gap = 0; slip = 0; Fx = 0; Fy = 0; }
  transition Land in ball.Flying when gap <= 0 && gap' < 0 { goto ball.Rolling;  enforce velocities; }
  plan Throw in ball.Held when p[1] <= 0
    choose v = 2, D = 1 { goto ball.Flying;  next(p') = (v, 1);  next(w) = 0.3 * v; }
    for D reaching p[1] = 2 { }
    for 0.2 reaching w = 13 { goto ball.Held; })",
     {2, 1.2}},
    {"memories, behaviours, relations",
     R"(
simulation event_precision = 1e-12
automaton cart in Waiting, Pushed, Coasting;
boundary x with x(0) = 0, x'(0) = 0;
boundary mark with mark(0) = 0;
boundary force with force(0) = 0;
event clock every 0.25;
system
  mark' = 0;
  force' = 0;
  in cart.Waiting  { x'' = 0; }
  in cart.Pushed   { x'' = force - 0.2 * x' - held + mark; }
  in cart.Coasting { x'' = -(if x > 1.5 then 1 + 0.3 * x else 0.4) * x'; }
  transition Half in cart.Pushed when x >= 0.5 && mark < 0.001 { next(mark) = 0.2 * x' + t; }
  transition Coast in cart.Pushed when x >= 1 { goto cart.Coasting;  next(x') = 0.9 * x' + 0.1 * mark; }
  plan Push in cart.Waiting when x <= 0
    choose f = 2, D = 2 { goto cart.Pushed;  next(force) = f; }
    for D reaching x = 2.4, x' = 0.45 { goto cart.Waiting; }
reactive held = init h = 0 in { clock => h / 2 + 0.1 * x })",
     {2, 2.2}},
};

class PlanSlopes : public testing::TestWithParam<Example> {};
std::string example_name(const testing::TestParamInfo<Example>& info) {
  std::string name;
  for (const char c : std::string(info.param.name))
    if (c != ',') name += c == ' ' ? '_' : c;
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, PlanSlopes, testing::ValuesIn(examples), example_name);

// A model whose first plan is asked for at the start, and waits.
struct Asked {
  explicit Asked(const char* name, const char* text) {
    api::Compiled compiled = api::compile_text(name, text, {});
    EXPECT_TRUE(compiled.program) << diag::render_text(compiled.diags, compiled.sources, false);
    if (!compiled.program) return;
    jit = std::make_unique<emit_llvm::CompiledModel>(std::move(*compiled.program),
                                                     emit_llvm::JitOptions{.optimise = false});
    model = jit->current();
    instance = std::make_unique<sim::Instance>(*model);
    EXPECT_EQ(tk_reset(model, instance->get()), TACTUS_OK);
    (*instance)->plans_wait = 1;
    EXPECT_EQ(tk_start(model, instance->get()), TACTUS_OK);
    EXPECT_EQ(tk_begin_events(model, instance->get()), TACTUS_OK);
    EXPECT_EQ((*instance)->plans_asked, 1u);
  }
  int slopes(const std::vector<double>& u, std::vector<double>& left, std::vector<double>& matrix) {
    left.assign(u.size(), NAN);
    matrix.assign(u.size() * u.size(), NAN);
    return tk_plan_slopes(model, instance->get(), 0, u.data(), left.data(), matrix.data());
  }
  std::unique_ptr<emit_llvm::CompiledModel> jit;
  const tactus_model* model = nullptr;
  std::unique_ptr<sim::Instance> instance;
};

// Differences of motions at 1e-10, over 4e-4 and 8e-4: noise of 1e-10 / 4e-4, and extrapolated to an error of the
// fourth order.
TEST_P(PlanSlopes, AreThoseOfWholeMotions) {
  const Example& example = GetParam();
  Asked asked(example.name, example.text);
  ASSERT_TRUE(asked.model);
  std::vector<double> left, matrix;
  ASSERT_EQ(asked.slopes(example.u, left, matrix), TACTUS_OK);
  const std::size_t m = example.u.size();
  const auto difference = [&](std::size_t j, double h) {
    std::vector<double> after, before, unused, u = example.u;
    u[j] += h;
    EXPECT_EQ(asked.slopes(u, after, unused), TACTUS_OK);
    u[j] -= 2 * h;
    EXPECT_EQ(asked.slopes(u, before, unused), TACTUS_OK);
    for (std::size_t i = 0; i < m; ++i) after[i] = (after[i] - before[i]) / (2 * h);
    return after;
  };
  for (std::size_t j = 0; j < m; ++j) {
    const std::vector<double> wide = difference(j, 4e-4), narrow = difference(j, 2e-4);
    for (std::size_t i = 0; i < m; ++i) {
      const double expected = (4 * narrow[i] - wide[i]) / 3;
      EXPECT_NEAR(matrix[i * m + j], expected, 1e-6 * (1 + std::abs(expected))) << i << ", " << j;
    }
  }
}

TEST_P(PlanSlopes, LeadNewtonToTheTargets) {
  const Example& example = GetParam();
  Asked asked(example.name, example.text);
  ASSERT_TRUE(asked.model);
  std::vector<double> u(example.u.size()), left, matrix;
  tactus_instance* instance = asked.instance->get();
  ASSERT_EQ(tk_search_for_plan(asked.model, instance, 0, u.data()), TACTUS_OK);
  EXPECT_EQ(instance->plan_differences, 0);
  EXPECT_LE(instance->plan_runs, 12);
  ASSERT_EQ(asked.slopes(u, left, matrix), TACTUS_OK);
  for (const double off : left) EXPECT_LE(std::abs(off), 1e-9);
}

// A ball is dropped from height h with downward speed v and bounces once, at s = (sqrt(v^2 + 2 g h) - v) / g with speed
// w; at T it is at y = e w (T - s) - g (T - s)^2 / 2.
TEST(PlanSlopes, OfABounceInClosedForm) {
  Asked asked("bounce", R"(
simulation event_precision = 1e-13
automaton ball in Held, Dropped;
boundary y with y(0) = 1;
system
  in ball.Held    { y' = 0; }
  in ball.Dropped { y'' = -9.81; }
  transition Bounce in ball.Dropped when y <= 0 && y' < 0 { next(y') = -0.7 * y'; }
  plan Drop in ball.Held when y >= 1
    choose v = 1, T = 0.7 { goto ball.Dropped;  next(y') = -v; }
    for T reaching y = 0.3, y' = 0 { goto ball.Held; })");
  ASSERT_TRUE(asked.model);
  const double g = 9.81, e = 0.7, v = 1.2, T = 0.68;
  std::vector<double> left, matrix;
  ASSERT_EQ(asked.slopes({v, T}, left, matrix), TACTUS_OK);
  const double w = std::sqrt(v * v + 2 * g), s = (w - v) / g, flight = T - s;
  const double w_v = v / w, s_v = (w_v - 1) / g;
  const double speed = e * w - g * flight;
  EXPECT_NEAR(left[0], e * w * flight - g * flight * flight / 2 - 0.3, 1e-11);
  EXPECT_NEAR(left[1], speed, 1e-11);
  EXPECT_NEAR(matrix[0], e * w_v * flight - speed * s_v, 1e-10);
  EXPECT_NEAR(matrix[1], speed, 1e-10);
  EXPECT_NEAR(matrix[2], e * w_v + g * s_v, 1e-10);
  EXPECT_NEAR(matrix[3], -g, 1e-10);
}

// What is delayed, what rests on a surface, and positions that are moved onto constraints have no tangents: differences
// find the plan.
TEST(PlanSlopes, AreDifferencesWhereThereAreNoTangents) {
  for (const char* text : {R"(
automaton cart in Waiting, Pushed;
boundary x with x(0) = 0;
boundary y with y(0) = 0;
boundary force with force(0) = 0;
system
  y' = delay(x, 0.2) - y;
  force' = 0;
  in cart.Waiting { x' = 0; }
  in cart.Pushed  { x' = force - x; }
  plan Push in cart.Waiting when y <= 0
    choose f = 1 { goto cart.Pushed;  next(force) = f; } for 1 reaching y = 0.7 { goto cart.Waiting; })",
                           R"(
automaton block in Held, Free;
boundary x with x(0) = 0, x'(0) = 0;
boundary force with force(0) = 0;
system
  force' = 0;
  in block.Held { x'' = 0; }
  in block.Free { x'' = force - (if x' > 0 then 2 else -2) - 3 * x; }
  plan Push in block.Held when x <= 0
    choose f = 5 { goto block.Free;  next(force) = f; } for 2 reaching x = 1.5 { goto block.Held; })",
                           R"(
automaton ball in Held, Flying, Rolling;
boundary p with p(0) = (0, 1), p'(0) = (0, 0);
system
  p'' = (Fx - 0.3 * p'[1], N - 9.81 + Fy);
  in ball.Held    { N = 0;  p' = (0, 0); }
  in ball.Flying  { N = 0;  Fx = 0;  Fy = 0; }
  in ball.Rolling { p[2] = 0.1 * p[1];  Fx = 0;  Fy = 0; }
  transition Land in ball.Flying when p[2] <= 0.05 + 0.1 * p[1] && p'[2] < 0 {
    goto ball.Rolling;  next(p') = p'[1] * (1, 0.1);  enforce positions;
  }
  plan Throw in ball.Held when p[1] <= 0
    choose v = 2 { goto ball.Flying;  next(p') = (v, 1); } for 1.2 reaching p[1] = 2 { goto ball.Held; })"}) {
    Asked asked("without", text);
    ASSERT_TRUE(asked.model);
    double u = 0;
    ASSERT_EQ(tk_search_for_plan(asked.model, asked.instance->get(), 0, &u), TACTUS_OK) << text;
    EXPECT_GE((*asked.instance)->plan_differences, 1) << text;
    std::vector<double> left, matrix;
    EXPECT_EQ(asked.slopes({u}, left, matrix), TACTUS_SINGULAR) << text;
    EXPECT_LE(std::abs(left[0]), 1e-7) << text;
  }
}

}  // namespace
