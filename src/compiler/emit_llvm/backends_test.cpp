// Every backend computes the same bits: hand-written programs on both JIT tiers, C by two compilers and two levels, and wasm.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "compiler/emit_llvm/jit.h"
#include "compiler/emit_llvm/testing/compare.h"
#include "compiler/emit_llvm/testing/sample_programs.h"
#include "compiler/emit_llvm/wasm.h"
#include "compiler/tangent/tangent.h"

namespace backend_testing {
namespace {

// So that the stiff solvers run, too.
std::vector<ir::Program> samples_with_tangents() {
  std::vector<ir::Program> samples = all_samples();
  for (ir::Program& sample : samples) tangent::add(sample, tangent::only(TACTUS_OF_DERIVATIVE));
  return samples;
}

class Backends : public testing::TestWithParam<std::size_t> {
 protected:
  const ir::Program program = samples_with_tangents()[GetParam()];
  const std::vector<Plan> plans = plans_of_all_solvers(program.step_size, program.ending_time, Parts::too);
};

std::string sample_name(const testing::TestParamInfo<std::size_t>& info) {
  static const std::vector<ir::Program> samples = all_samples();
  const std::string& name = samples[info.param].name;
  return name.substr(0, name.find(' '));
}

INSTANTIATE_TEST_SUITE_P(Samples, Backends, testing::Range(std::size_t{0}, all_samples().size()), sample_name);

TEST_P(Backends, OptimisedTierHasTheBitsOfTheQuickTier) {
  std::unique_ptr<emit_llvm::CompiledModel> compiled;
  int solver = -1;
  for (const Plan& plan : plans) {
    if (plan.solver != solver) {  // those of one solver stand together
      emit_llvm::JitOptions options;
      options.solver = solver = plan.solver;
      compiled = std::make_unique<emit_llvm::CompiledModel>(program, options);
      compiled->wait_optimised();
    }
    const emit_llvm::CompiledModel& model = *compiled;
    ASSERT_NE(model.optimised(), nullptr);
    const Trail quick = run_table(model.quick(), plan);
    EXPECT_GT(quick.size(), 10u);
    EXPECT_EQ(first_difference(quick, run_table(model.optimised(), plan)), "") << "solver " << plan.solver;
    EXPECT_EQ(first_difference(quick, run_alternating(model.quick(), model.optimised(), plan)), "")
        << "solver " << plan.solver;
  }
}

TEST_P(Backends, WasmHasTheBitsOfTheQuickTier) {
  if (!has_node()) GTEST_SKIP() << "no node";
  emit_llvm::CompiledModel model(program, {.optimise = false});
  const std::vector<int> solvers = {TACTUS_EULER, TACTUS_RK4,    TACTUS_BS3_FIXED, TACTUS_BS3,
                                    TACTUS_TSIT5, TACTUS_DOP853, TACTUS_ROSENBROCK};
  // Every other one, those between with the next sample: a module takes seconds to be made.
  for (std::size_t i = GetParam() % 2; i < solvers.size(); i += 2) {
    const int solver = solvers[i];
    ir::Program specialised = program;
    specialised.solver = solver;
    // All plans on each: the specialised loop and the generic ones beside it.
    const std::vector<Trail> trails = run_wasm(specialised, plans);
    for (std::size_t k = 0; k < plans.size(); ++k) {
      EXPECT_EQ(first_difference(run_table(model.quick(), plans[k]), trails[k]), "")
          << "solvers " << solver << ", " << plans[k].solver;
    }
  }
}

// All samples in one library for each compiler.
class CCompilers : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, CCompilers,
                         testing::Values("gcc -O2", "gcc -O0", "gcc -O3 -march=native", "clang-19 -O2", "clang-19 -O0",
                                         "clang-19 -O3 -march=native"));

// A module would start from the guess and say nothing.
TEST(Wasm, RefusesToStartWhereItCannotSearch) {
  ir::Program program = all_samples().front();
  program.conditions.push_back({"x(2) = 1", 1, program.starting_time + 2});
  std::string failure;
  EXPECT_TRUE(emit_llvm::emit_wasm(program, failure).empty());
  EXPECT_NE(failure.find("`x(2) = 1`"), std::string::npos) << failure;
}

TEST_P(CCompilers, HaveTheBitsOfTheQuickTier) {
  const std::vector<ir::Program> programs = samples_with_tangents();
  const CLibrary library(programs, GetParam());
  for (std::size_t k = 0; k < programs.size(); ++k) {
    emit_llvm::CompiledModel model(programs[k], {.optimise = false});
    for (const Plan& plan : plans_of_all_solvers(programs[k].step_size, programs[k].ending_time, Parts::too)) {
      EXPECT_EQ(first_difference(run_table(model.quick(), plan), run_table(library.model(k), plan)), "")
          << programs[k].name << ", solver " << plan.solver;
    }
  }
}

}  // namespace
}  // namespace backend_testing
