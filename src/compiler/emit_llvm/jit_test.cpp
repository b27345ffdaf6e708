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
void expect_table(const tactus_model& m, const ir::Program& p) {
  EXPECT_EQ(m.abi, TACTUS_ABI);
  EXPECT_EQ(m.state_count, p.state_names.size());
  EXPECT_EQ(m.input_count, p.input_count);
  EXPECT_EQ(m.parameter_count, p.parameters.size());
  EXPECT_EQ(m.derived_count, p.derived_count);
  EXPECT_EQ(m.output_count, p.output_count);
  EXPECT_EQ(m.warm_count, p.warm_count);
  EXPECT_EQ(m.work_count, p.work_count);
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
  for (std::size_t k = 0; k < p.state_names.size(); ++k) EXPECT_STREQ(m.state_names[k], p.state_names[k].c_str());
  EXPECT_EQ(m.starting_time, p.starting_time);
  EXPECT_EQ(m.ending_time, p.ending_time);
  EXPECT_EQ(m.step_size, p.step_size);
  EXPECT_EQ(m.tolerance, p.tolerance);
  EXPECT_EQ(m.record_period, p.record_period);
  EXPECT_EQ(m.solver, p.solver);
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
