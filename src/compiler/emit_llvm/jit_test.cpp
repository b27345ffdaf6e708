// The JIT: its tables lie where C expects them, failures come out with their block, threads end when they are told.
#include "compiler/emit_llvm/jit.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "compiler/emit_llvm/testing/sample_programs.h"
#include "compiler/ir/layout.h"
#include "kernel/kernel.h"

namespace emit_llvm {
namespace {

class Running {
 public:
  explicit Running(const tactus_model* model) : model_(model), memory_(tactus_instance_bytes(model) / 8 + 1) {
    EXPECT_EQ(tk_reset(model, instance()), TACTUS_OK);
    EXPECT_EQ(tk_start(model, instance()), TACTUS_OK);
  }
  tactus_instance* instance() { return reinterpret_cast<tactus_instance*>(memory_.data()); }
  int steps(int solver, double h, std::int64_t count) {
    return model_->fixed_steps(model_, instance(), solver, h, count);
  }
  double state(std::size_t k) { return tactus_data(instance())[model_->layout.states + k]; }

 private:
  const tactus_model* model_;
  std::vector<double> memory_;
};

// Every field through the C struct: a table laid out otherwise would show wrong numbers or names.
void expect_table(const tactus_model& m, ir::Program p) {
  p.tangent_work_count = tangent::work_count(p);  // a table has room for tangents that are asked for later
  EXPECT_EQ(m.abi, TACTUS_ABI);
  EXPECT_EQ(m.state_count, p.state_names.size());
  EXPECT_EQ(m.input_count, p.input_count);
  EXPECT_EQ(m.parameter_count, p.parameters.size());
  EXPECT_EQ(m.derived_count, p.derived_count);
  EXPECT_EQ(m.output_count, p.output_count);
  EXPECT_EQ(m.warm_count, p.warm_count);
  EXPECT_EQ(m.work_count, ir::work_count(p));
  EXPECT_EQ(m.discrete_count, p.discrete_count);
  EXPECT_EQ(m.watch_count, p.watch_count);
  EXPECT_EQ(m.history_count, ir::history_count(p));
  const tactus_layout layout = ir::layout_of(p);
  EXPECT_EQ(std::memcmp(&m.layout, &layout, sizeof layout), 0);
  EXPECT_STREQ(m.name, p.name.c_str());
  ASSERT_EQ(m.channel_count, p.channels.size());
  for (std::size_t k = 0; k < p.channels.size(); ++k) {
    EXPECT_STREQ(m.channels[k].name, p.channels[k].name.c_str());
    EXPECT_STREQ(m.channels[k].unit, p.channels[k].unit.c_str());
    EXPECT_EQ(m.channels[k].at, p.channels[k].at);
    EXPECT_EQ(m.channels[k].rows, p.channels[k].rows);
    EXPECT_EQ(m.channels[k].columns, p.channels[k].columns);
    EXPECT_EQ(m.channels[k].flags, p.channels[k].flags);
  }
  ASSERT_EQ(m.input_channel_count, p.input_channels.size());
  for (std::size_t k = 0; k < p.input_channels.size(); ++k)
    EXPECT_STREQ(m.input_channels[k].name, p.input_channels[k].name.c_str());
  for (std::size_t k = 0; k < p.parameters.size(); ++k) {
    EXPECT_STREQ(m.parameters[k].name, p.parameters[k].name.c_str());
    EXPECT_STREQ(m.parameters[k].unit, p.parameters[k].unit.c_str());
    EXPECT_EQ(m.parameters[k].initial, p.parameters[k].initial);
    EXPECT_EQ(m.parameters[k].low, p.parameters[k].low);
    EXPECT_EQ(m.parameters[k].high, p.parameters[k].high);
  }
  ASSERT_EQ(m.port_count, p.ports.size());
  for (std::size_t k = 0; k < p.ports.size(); ++k) {
    EXPECT_STREQ(m.ports[k].device, p.ports[k].device.c_str());
    EXPECT_EQ(m.ports[k].channel, p.ports[k].channel);
    EXPECT_EQ(m.ports[k].is_input, p.ports[k].is_input ? 1u : 0u);
  }
  ASSERT_EQ(m.block_count, p.blocks.size());
  for (std::size_t k = 0; k < p.blocks.size(); ++k) {
    EXPECT_STREQ(m.blocks[k].equations, p.blocks[k].equations.c_str());
    EXPECT_STREQ(m.blocks[k].unknowns, p.blocks[k].unknowns.c_str());
    EXPECT_EQ(m.blocks[k].line, p.blocks[k].line);
    EXPECT_EQ(m.blocks[k].count, p.blocks[k].count);
    EXPECT_EQ(m.blocks[k].warm, p.blocks[k].warm);
  }
  ASSERT_EQ(m.event_count, p.events.size());
  for (std::size_t k = 0; k < p.events.size(); ++k) {
    EXPECT_STREQ(m.events[k].name, p.events[k].name.c_str());
    EXPECT_EQ(m.events[k].kind, p.events[k].kind);
    EXPECT_EQ(m.events[k].line, p.events[k].line);
    EXPECT_EQ(m.events[k].period, p.events[k].period);
    EXPECT_EQ(m.events[k].from, p.events[k].from);
    if (p.events[k].kind == TACTUS_WHEN) {
      EXPECT_EQ(m.events[k].first, p.events[k].watched);
    }
    if (p.events[k].kind != TACTUS_AT) continue;
    ASSERT_EQ(m.events[k].count, p.events[k].times.size());
    for (std::size_t n = 0; n < p.events[k].times.size(); ++n)
      EXPECT_EQ(m.event_times[m.events[k].first + n], p.events[k].times[n]);
  }
  EXPECT_EQ(m.fire == nullptr, p.events.empty());
  EXPECT_EQ(m.watch == nullptr, p.watch_count == 0);
  ASSERT_EQ(m.delay_count, p.delays.size());
  std::uint32_t ring = 0;
  for (std::size_t k = 0; k < p.delays.size(); ++k) {
    EXPECT_EQ(m.delays[k].source, p.delays[k].source);
    EXPECT_EQ(m.delays[k].duration, p.delays[k].duration);
    EXPECT_EQ(m.delays[k].capacity, p.delays[k].capacity);
    EXPECT_EQ(m.delays[k].is_rate, p.delays[k].is_rate ? 1u : 0u);
    EXPECT_EQ(m.delays[k].history, ring);
    ring += 2 + 2 * p.delays[k].capacity;
  }
  ASSERT_EQ(m.table_count, p.tables.size());
  for (std::size_t k = 0; k < p.tables.size(); ++k) {
    EXPECT_EQ(m.tables[k].method, p.tables[k].method);
    ASSERT_EQ(m.tables[k].x_count, p.tables[k].x.size());
    ASSERT_EQ(m.tables[k].y_count, p.tables[k].y.size());
    for (std::size_t n = 0; n < p.tables[k].x.size(); ++n) EXPECT_EQ(m.tables[k].x[n], p.tables[k].x[n]);
    for (std::size_t n = 0; n < p.tables[k].y.size(); ++n) EXPECT_EQ(m.tables[k].y[n], p.tables[k].y[n]);
    for (std::size_t n = 0; n < p.tables[k].values.size(); ++n) EXPECT_EQ(m.tables[k].values[n], p.tables[k].values[n]);
    for (std::size_t n = 0; n < p.tables[k].slopes.size(); ++n) EXPECT_EQ(m.tables[k].slopes[n], p.tables[k].slopes[n]);
  }
  for (std::size_t k = 0; k < p.state_names.size(); ++k) EXPECT_STREQ(m.state_names[k], p.state_names[k].c_str());
  EXPECT_EQ(m.starting_time, p.starting_time);
  EXPECT_EQ(m.ending_time, p.ending_time);
  EXPECT_EQ(m.step_size, p.step_size);
  EXPECT_EQ(m.tolerance, p.tolerance);
  EXPECT_EQ(m.record_period, p.record_period);
  EXPECT_EQ(m.event_precision, p.event_precision);
  EXPECT_EQ(m.solver, p.solver);
  EXPECT_EQ(m.max_transitions, p.max_transitions);
}

TEST(Jit, BothTablesHaveTheLayoutOfTheAbi) {
  ir::Program program = backend_testing::driven();
  program.starting_time = 1.5;
  program.ending_time = 2.5;
  program.step_size = 0.125;
  program.tolerance = 1e-7;
  program.record_period = 0.75;
  program.solver = TACTUS_DOP853;
  CompiledModel model(program);
  model.wait_optimised();
  expect_table(*model.quick(), program);
  ASSERT_NE(model.optimised(), nullptr);
  expect_table(*model.optimised(), program);
  EXPECT_EQ(model.current(), model.optimised());
}

TEST(Jit, TablesOfEventsHaveTheLayoutOfTheAbi) {
  for (const ir::Program& program : {backend_testing::reactive(), backend_testing::sampled()}) {
    CompiledModel model(program);
    model.wait_optimised();
    expect_table(*model.quick(), program);
    expect_table(*model.optimised(), program);
  }
}

double channel_value(const tactus_model& model, tactus_instance* instance, const std::string& name) {
  for (std::uint32_t k = 0; k < model.channel_count; ++k) {
    if (model.channels[k].name == name) return tactus_data(instance)[model.layout.outputs + model.channels[k].at];
  }
  ADD_FAILURE() << name;
  return 0;
}

TEST(Jit, TablesAreDifferentiatedByTheArgumentThatIsMeant) {
  CompiledModel model(backend_testing::sampled());
  model.wait_optimised();
  for (const tactus_model* table : {model.quick(), model.optimised()}) {
    Running run(table);
    const double x[] = {0.25, 0.5};
    ASSERT_EQ(table->outputs(table, run.instance(), 0, x), TACTUS_OK);
    const auto value = [&](const char* name) { return channel_value(*table, run.instance(), name); };
    EXPECT_EQ(value("table0_0"), -1);    // held since 0
    EXPECT_EQ(value("table1_0"), 0.25);  // from (-1, -1) to (0.5, 0.5)
    EXPECT_EQ(value("table1_1"), 1);
    EXPECT_EQ(value("table1_2"), 0);
    EXPECT_EQ(value("table3_0_0"), 1.25);  // 2 x + (y + 1) / 2
    EXPECT_EQ(value("table3_1_0"), 2);
    EXPECT_EQ(value("table3_0_1"), 0.5);
    EXPECT_EQ(value("table3_1_1"), 0);
  }
}

TEST(Jit, DelaysReadTheirRingAndNoiseItsPhase) {
  CompiledModel model(backend_testing::sampled());
  model.wait_optimised();
  for (const tactus_model* table : {model.quick(), model.optimised()}) {
    Running run(table);
    double* const ring = tactus_data(run.instance()) + table->layout.history + table->delays[0].history;
    double* const values = ring + 2 + table->delays[0].capacity;
    ring[0] = 0;
    ring[1] = 2;
    ring[2] = 0;
    ring[3] = 1;
    values[0] = 3;
    values[1] = 5;
    run.instance()->time = 0.875;
    const double x[] = {0.25, 0.5};
    double dx[2] = {};
    ASSERT_EQ(table->outputs(table, run.instance(), 0.875, x), TACTUS_OK);
    EXPECT_EQ(channel_value(*table, run.instance(), "late"), 4);  // halfway, at 0.875 - 0.375
    ASSERT_EQ(table->derivative(table, run.instance(), 0.875, x, dx), TACTUS_OK);
    EXPECT_EQ(dx[1], 0.1 * tk_noise(42, 20 * 0.875) - (0.25 + 0.25 * 4));
  }
}

// z with z + z^3 = b, by bisection.
double root_of_cubic(double b) {
  double low = -10;
  double high = 10;
  for (int k = 0; k < 200; ++k) {
    const double middle = 0.5 * (low + high);
    (middle + middle * middle * middle < b ? low : high) = middle;
  }
  return low;
}

TEST(Jit, HandlersChangeDiscreteValuesInTheirOrder) {
  CompiledModel model(backend_testing::reactive());
  model.wait_optimised();
  for (const tactus_model* table : {model.quick(), model.optimised()}) {
    Running run(table);
    double* const data = tactus_data(run.instance());
    const double* const discrete = data + table->layout.discrete;
    EXPECT_EQ(discrete[0], 1);
    EXPECT_NEAR(discrete[1], std::cos(0.5), 1e-15);
    run.instance()->time = 3;
    data[table->layout.states] = 2;
    ASSERT_EQ(table->fire(table, run.instance(), 0), TACTUS_OK);
    EXPECT_EQ(discrete[0], 1.5);  // 1 + 2 / 4
    EXPECT_EQ(discrete[1], 4.5);  // the new a + t
    for (std::uint32_t nothing : {1u, 3u, 0xffffffffu}) {
      ASSERT_EQ(table->fire(table, run.instance(), nothing), TACTUS_OK);
      EXPECT_EQ(discrete[0], 1.5);
      EXPECT_EQ(discrete[1], 4.5);
    }
    ASSERT_EQ(table->fire(table, run.instance(), 2), TACTUS_OK);
    EXPECT_NEAR(discrete[1], -root_of_cubic(4.5), 1e-12);
    EXPECT_EQ(discrete[0], 0.5 * discrete[1]);
  }
}

TEST(Jit, WatchingAndFiringLeaveWarmStartsAsTheyWere) {
  CompiledModel model(backend_testing::reactive());
  model.wait_optimised();
  for (const tactus_model* table : {model.quick(), model.optimised()}) {
    Running run(table);
    ASSERT_EQ(run.steps(TACTUS_RK4, 0.01, 10), TACTUS_OK);
    double* const data = tactus_data(run.instance());
    double* const warm = data + table->layout.warm;
    const double before = warm[0];
    EXPECT_NE(before, 0);
    warm[1] = 0.125;
    const double x = 7;
    ASSERT_EQ(table->watch(table, run.instance(), 0, &x), TACTUS_OK);
    EXPECT_NEAR(data[table->layout.watched], root_of_cubic(7), 1e-12);
    EXPECT_EQ(data[table->layout.watched + 1], 0);
    ASSERT_EQ(table->fire(table, run.instance(), 2), TACTUS_OK);
    EXPECT_EQ(warm[0], before);
    EXPECT_EQ(warm[1], 0.125);
  }
}

// x = cos(w t), w = 1.25; rk4 at h = 0.001 is exact to about 1e-13.
TEST(Jit, OscillatorFollowsItsClosedForm) {
  CompiledModel model(backend_testing::harmonic_oscillator());
  model.wait_optimised();
  for (const tactus_model* table : {model.quick(), model.optimised()}) {
    Running run(table);
    ASSERT_EQ(run.steps(TACTUS_RK4, 0.001, 5000), TACTUS_OK);
    EXPECT_NEAR(run.state(0), std::cos(1.25 * 5), 1e-11);
    EXPECT_NEAR(run.state(1), -1.25 * std::sin(1.25 * 5), 1e-11);
  }
}

TEST(Jit, FailingNewtonReturnsItsStatusAndBlock) {
  CompiledModel model(backend_testing::failing_newton());
  model.wait_optimised();
  for (const tactus_model* table : {model.quick(), model.optimised()}) {
    Running run(table);
    const int status = run.steps(TACTUS_RK4, 0.01, 1000);
    EXPECT_TRUE(status == TACTUS_DIVERGED || status == TACTUS_SINGULAR) << status;
    EXPECT_EQ(run.instance()->status, status);
    EXPECT_EQ(run.instance()->failed_block, 1);
    EXPECT_NEAR(run.instance()->time, 1, 0.05);  // x = 2 - t meets 1 there
  }
}

TEST(Jit, SingularLinearBlockReturnsItsStatusAndBlock) {
  CompiledModel model(backend_testing::singular_block());
  model.wait_optimised();
  for (const tactus_model* table : {model.quick(), model.optimised()}) {
    Running run(table);
    EXPECT_EQ(run.steps(TACTUS_EULER, 0.0625, 1000), TACTUS_SINGULAR);
    EXPECT_EQ(run.instance()->failed_block, 0);
    EXPECT_EQ(run.instance()->time, 1.5);
  }
}

TEST(Jit, WithoutOptimisedTierTheQuickOneStays) {
  CompiledModel model(backend_testing::van_der_pol(), {.optimise = false});
  EXPECT_EQ(model.wait_optimised(), model.quick());
  EXPECT_EQ(model.optimised(), nullptr);
  CompiledModel large(backend_testing::van_der_pol(), {.optimisation_limit = 5});
  EXPECT_EQ(large.wait_optimised(), large.quick());
}

// Optimising 60,000 instructions takes seconds; giving up must not. The bound is generous: builds share the machine.
TEST(Jit, DestructorDoesNotWaitForTheOptimisedTier) {
  auto model = std::make_unique<CompiledModel>(backend_testing::long_chain(2000));
  EXPECT_EQ(model->current(), model->quick());
  const auto start = std::chrono::steady_clock::now();
  model.reset();
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 3.0);
}

TEST(Jit, ManyModelsLiveSideBySide) {
  std::vector<std::unique_ptr<CompiledModel>> models;
  for (int k = 0; k < 8; ++k) {
    ir::Program program = backend_testing::van_der_pol();
    program.parameters[0].initial = k;
    models.push_back(std::make_unique<CompiledModel>(std::move(program)));
  }
  for (int k = 0; k < 8; ++k) {
    Running run(models[static_cast<std::size_t>(k)]->wait_optimised());
    EXPECT_EQ(run.steps(TACTUS_RK4, 0.01, 100), TACTUS_OK);
    EXPECT_EQ(tactus_data(run.instance())[models[0]->quick()->layout.parameters], k);
  }
}

}  // namespace
}  // namespace emit_llvm
