// From the text to sensitivities: what lifted runs carry along against differences of whole runs, by every parameter
// and by the start of every state, through blocks, clocks, events and relations.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "api/load.h"
#include "compiler/emit_llvm/jit.h"
#include "kernel/kernel.h"
#include "runtime/sim/instance.h"
#include "runtime/sim/lifted.h"

namespace {

struct Example {
  const char* name;
  const char* text;
  double end;
};

// Events are located to 1e-12, so that differences over 2e-5 see them to 1e-7.
const Example examples[] = {
    {"smooth", R"(
simulation event_precision = 1e-12
parameter k = 0.7, m = 1.5;
boundary x(0) = 0.3 * k;  x'(0) = 1;
system m * x'' = -k * sin(x) - 0.1 * x'^3 + cos(t) * k;)",
     4},
    {"blocks", R"(
simulation event_precision = 1e-12
parameter k = 0.7, c = 1.5;
boundary x(0) = 1;  y(0) = 0.5;
system
  x' = -z;
  z + z^3 = k * x + y;
  a + c * b = x;  b - k * a + d = y;  d + a * c - e = 1 + x;  e + d + b = x * k;
  y' = a - b - y + e;)",
     2},
    {"thermostat", R"(
simulation event_precision = 1e-12
parameter outside = 5, gain = 30, tau = 5, low = 19, high = 21;
event cold when T < low;
event warm when T > high;
boundary T(0) = 15;
system
  tau * T' = outside - T + gain * heater;
  hours_on' = heater;
boundary hours_on(0) = 0;
reactive heater = init 1 in { cold => 1, warm => 0 })",
     7.3},
    {"switched equation", R"(
simulation event_precision = 1e-12
parameter p = 1.3, q = 0.4, r = 1;
boundary x(0) = 0;  y(0) = 0;
system
  x' = if x < r then p else q * y;
  y' = if y > 2 * q then x^2 else x + q;)",
     3},
    {"sampled", R"(
simulation event_precision = 1e-12
parameter k = 1.7, d = 0.4;
event clock every 0.25;
boundary x(0) = 1;  x'(0) = 0;
system x'' = u - d * x';
reactive u = init 0 in { clock => -k * x - 0.3 * x' })",
     2.1},
    {"values taken at events", R"(
simulation event_precision = 1e-12
parameter w = 2, g = 0.6;
event top when sin(w * t) > g;
boundary x(0) = 1;  y(0) = 0;
system
  x' = -0.3 * x + sin(t * w);
  y' = taken * x + last;
reactive
  taken = init 0 in { top => x^2 + t },
  last = init s = 0 in { top => s / 2 + x })",
     7},
    {"kinks", R"(
simulation event_precision = 1e-12
parameter k = 2, c = 0.5;
boundary x(0) = 1;  x'(0) = 0;
system x'' = -k * x - c * abs(x) + max(x, 0.2 * k) - 0.1 * x';)",
     5},
    {"jumps", R"(
simulation event_precision = 1e-12
parameter g = 9.81, e = 0.8, c = 0.1;
boundary y(0) = 1;  y'(0) = 0.3;
boundary hits(0) = 0;
system
  y'' = -g - c * y' * abs(y');
  hits' = 0;
  transition Bounce when y <= 0 && y' < 0 { next(y') = -e * y' + 0.05 * t;  next(hits) = hits + y'^2; })",
     1.7},
};

class Sensitivities : public testing::TestWithParam<Example> {};
std::string example_name(const testing::TestParamInfo<Example>& info) {
  std::string name = info.param.name;
  for (char& c : name) c = c == ' ' ? '_' : c;
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, Sensitivities, testing::ValuesIn(examples), example_name);

// The states at the end after `change` was made: before the start to parameters, after it to states.
std::vector<double> run_changed(const tactus_model* model, double end, const sim::Seed& seed, double change) {
  sim::Instance instance(*model);
  EXPECT_EQ(tk_reset(model, instance.get()), TACTUS_OK);
  if (seed.kind == sim::Seed::parameter) instance.section(model->layout.parameters)[seed.index] += change;
  EXPECT_EQ(tk_start(model, instance.get()), TACTUS_OK);
  if (seed.kind == sim::Seed::start_of_state) instance.states()[seed.index] += change;
  EXPECT_EQ(tk_begin_events(model, instance.get()), TACTUS_OK);
  while (instance->time < end) {
    EXPECT_EQ(tk_part(model, instance.get(), TACTUS_DOP853, 0.05, 1e-12, end), TACTUS_OK);
    EXPECT_EQ(tk_fire(model, instance.get()), TACTUS_OK);
  }
  return {instance.states().begin(), instance.states().end()};
}

TEST_P(Sensitivities, AreThoseOfWholeRuns) {
  const Example& example = GetParam();
  api::Compiled compiled = api::compile_text(example.name, example.text, {});
  ASSERT_TRUE(compiled.program) << diag::render_text(compiled.diags, compiled.sources, false);
  emit_llvm::CompiledModel jit(std::move(*compiled.program), {.optimise = false});
  const tactus_model* model = jit.with_tangents();
  ASSERT_EQ(sim::Lifted::obstacle(*model), "");
  std::vector<sim::Seed> seeds;
  for (std::uint32_t k = 0; k < model->parameter_count; ++k) seeds.push_back({sim::Seed::parameter, k});
  for (std::uint32_t k = 0; k < model->state_count; ++k) seeds.push_back({sim::Seed::start_of_state, k});

  const sim::Lifted lifted(*model, seeds);
  sim::Instance instance(lifted.model());
  ASSERT_EQ(tk_reset(&lifted.model(), instance.get()), TACTUS_OK);
  ASSERT_EQ(tk_start(&lifted.model(), instance.get()), TACTUS_OK);
  ASSERT_EQ(tk_begin_events(&lifted.model(), instance.get()), TACTUS_OK);
  ASSERT_EQ(lifted.run(instance.get(), TACTUS_DOP853, 0.05, 1e-12, example.end), TACTUS_OK);

  const double h = 1e-5;
  for (std::size_t k = 0; k < seeds.size(); ++k) {
    const auto after = run_changed(model, example.end, seeds[k], h);
    const auto before = run_changed(model, example.end, seeds[k], -h);
    for (std::size_t i = 0; i < model->state_count; ++i) {
      const double difference = (after[i] - before[i]) / (2 * h);
      EXPECT_NEAR(lifted.sensitivity(instance.get(), k)[i], difference, 2e-6 * (1 + std::abs(difference)))
          << lifted.model().state_names[model->state_count * (1 + k) + i];
    }
  }
}

// T between events is an exponential, so when the heater goes off, and how that moves, has a closed form.
TEST(Sensitivities, OfTheThermostatInClosedForm) {
  api::Compiled compiled = api::compile_text("thermostat", examples[2].text, {});
  ASSERT_TRUE(compiled.program);
  emit_llvm::CompiledModel jit(std::move(*compiled.program), {.optimise = false});
  const tactus_model* model = jit.with_tangents();
  std::uint32_t high = 0;
  while (std::string(model->parameters[high].name) != "high") ++high;
  const sim::Lifted lifted(*model, {{sim::Seed::parameter, high}});
  sim::Instance instance(lifted.model());
  ASSERT_EQ(tk_reset(&lifted.model(), instance.get()), TACTUS_OK);
  ASSERT_EQ(tk_start(&lifted.model(), instance.get()), TACTUS_OK);
  ASSERT_EQ(tk_begin_events(&lifted.model(), instance.get()), TACTUS_OK);
  ASSERT_EQ(lifted.run(instance.get(), TACTUS_DOP853, 0.05, 1e-12, 2.2), TACTUS_OK);
  // On up to off = tau log(20 / (35 - high)); then T = 5 + (high - 5) exp(-(t - off) / tau).
  const double tau = 5, off = tau * std::log(20.0 / 14), moved = tau / 14;
  const double decay = std::exp(-(2.2 - off) / tau);
  std::size_t T = 0;
  while (std::string(model->state_names[T]) != "T") ++T;
  EXPECT_NEAR(instance.states()[T], 5 + 16 * decay, 1e-9);
  EXPECT_NEAR(lifted.sensitivity(instance.get(), 0)[T], decay + 16 * decay * moved / tau, 1e-9);
  EXPECT_NEAR(lifted.sensitivity(instance.get(), 0)[1 - T], moved, 1e-9);
}

}  // namespace
