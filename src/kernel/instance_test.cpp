// Layout, reset and start of an Instance.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernel/kernel.h"

namespace {

tactus_model counted_model() {
  tactus_model model{};
  model.abi = TACTUS_ABI;
  model.state_count = 3;
  model.input_count = 2;
  model.parameter_count = 4;
  model.derived_count = 5;
  model.output_count = 6;
  model.warm_count = 7;
  model.work_count = 8;
  tk_layout(&model, &model.layout);
  return model;
}

TEST(Instance, SectionsFollowEachOtherWithoutOverlap) {
  const tactus_model model = counted_model();
  const tactus_layout& l = model.layout;
  EXPECT_EQ(l.states, 0u);
  EXPECT_EQ(l.inputs, l.states + 3);
  EXPECT_EQ(l.input_rates, l.inputs + 2);
  EXPECT_EQ(l.parameters, l.input_rates + 2);
  EXPECT_EQ(l.derived, l.parameters + 4);
  EXPECT_EQ(l.outputs, l.derived + 5);
  EXPECT_EQ(l.warm, l.outputs + 6);
  EXPECT_EQ(l.snapshot, l.warm + 7 + 3);
  EXPECT_EQ(l.work, l.snapshot);
  EXPECT_EQ(l.stages, l.work + 8);
  EXPECT_EQ(l.linear, l.stages + TACTUS_STAGE_VECTORS * 3 + 7);
  // A direction (t, states, inputs, rates, parameters, derived), its result, J, the factors and 2 n with them.
  EXPECT_EQ(l.size, l.linear + (1 + 3 + 2 + 2 + 4 + 5) + 3 + 9 + 9 + 6);
  EXPECT_EQ(sizeof(tactus_instance) % 8, 0u);
}

TEST(Instance, ResetZeroesSetsParametersAndPrepares) {
  tactus_model model = counted_model();
  const tactus_parameter parameters[4] = {
      {"a", "", 1.0, 0, 0}, {"b", "", 2.0, 0, 0}, {"c", "", 3.0, 0, 0}, {"d", "", 4.0, 0, 0}};
  model.parameters = parameters;
  model.starting_time = 1.5;
  model.prepare = [](const tactus_model* m, tactus_instance* i) {
    tactus_data(i)[m->layout.derived] = 10.0 * tactus_data(i)[m->layout.parameters + 3];
    return 0;
  };
  std::vector<double> block(tactus_instance_bytes(&model) / 8, NAN);
  auto* instance = reinterpret_cast<tactus_instance*>(block.data());
  ASSERT_EQ(tk_reset(&model, instance), TACTUS_OK);
  EXPECT_EQ(instance->time, 1.5);
  EXPECT_EQ(instance->start_time, 1.5);
  EXPECT_EQ(instance->steps, 0);
  EXPECT_EQ(instance->failed_block, -1);
  EXPECT_EQ(instance->failed_index, -1);
  EXPECT_EQ(instance->first_stage_valid, 0);
  for (std::uint32_t i = 0; i < 4; i++) EXPECT_EQ(tactus_data(instance)[model.layout.parameters + i], i + 1.0);
  EXPECT_EQ(tactus_data(instance)[model.layout.derived], 40.0);
  for (std::uint32_t i = 0; i < model.layout.size; i++) EXPECT_FALSE(std::isnan(tactus_data(instance)[i])) << i;

  // A changed parameter reaches what is derived from it when the run starts.
  tactus_data(instance)[model.layout.parameters + 3] = 7.0;
  model.initialize = [](const tactus_model*, tactus_instance* i) {
    tactus_data(i)[2] = 9.0;
    return 0;
  };
  ASSERT_EQ(tk_start(&model, instance), TACTUS_OK);
  EXPECT_EQ(tactus_data(instance)[model.layout.derived], 70.0);
  EXPECT_EQ(tactus_data(instance)[2], 9.0);
}

TEST(Instance, StartSaysWhichStateIsNotFinite) {
  tactus_model model = counted_model();
  const tactus_parameter parameters[4] = {};
  model.parameters = parameters;
  model.initialize = [](const tactus_model*, tactus_instance* i) {
    tactus_data(i)[1] = INFINITY;
    return 0;
  };
  std::vector<double> block(tactus_instance_bytes(&model) / 8);
  auto* instance = reinterpret_cast<tactus_instance*>(block.data());
  ASSERT_EQ(tk_reset(&model, instance), TACTUS_OK);
  EXPECT_EQ(tk_start(&model, instance), TACTUS_NOT_FINITE);
  EXPECT_EQ(instance->failed_index, 1);
}

TEST(Instance, FailuresOfPrepareAndInitializeComeThrough) {
  tactus_model model = counted_model();
  const tactus_parameter parameters[4] = {};
  model.parameters = parameters;
  model.initialize = [](const tactus_model*, tactus_instance* i) {
    i->failed_block = 2;
    return static_cast<int>(TACTUS_DIVERGED);
  };
  std::vector<double> block(tactus_instance_bytes(&model) / 8);
  auto* instance = reinterpret_cast<tactus_instance*>(block.data());
  ASSERT_EQ(tk_reset(&model, instance), TACTUS_OK);
  EXPECT_EQ(tk_start(&model, instance), TACTUS_DIVERGED);
  EXPECT_EQ(instance->status, TACTUS_DIVERGED);
  EXPECT_EQ(instance->failed_block, 2);
  model.prepare = [](const tactus_model*, tactus_instance*) { return static_cast<int>(TACTUS_SINGULAR); };
  EXPECT_EQ(tk_start(&model, instance), TACTUS_SINGULAR);
}

}  // namespace
