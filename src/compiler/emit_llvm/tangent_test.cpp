// Tangents as compiled: the same bits on both tiers, in C and in wasm, compiled with the model or on their own; and right, held
// against complex steps of an interpreter of the instructions, central differences and dense patterns.
#include "compiler/tangent/tangent.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "compiler/emit_llvm/jit.h"
#include "compiler/emit_llvm/testing/compare.h"
#include "compiler/emit_llvm/testing/random_program.h"
#include "compiler/emit_llvm/testing/sample_programs.h"
#include "compiler/tangent/testing/interpreter.h"
#include "kernel/kernel.h"

namespace backend_testing {
namespace {

using tangent_testing::Scene;

class Running {
 public:
  explicit Running(const tactus_model* model) : model_(model), memory_(tactus_instance_bytes(model) / 8 + 1) {
    ok_ = tk_reset(model, get()) == TACTUS_OK;
    for (std::uint32_t k = 0; k < model->input_count; ++k) {
      data()[model->layout.inputs + k] = 0.5 + 0.25 * k;
      data()[model->layout.input_rates + k] = 0.125 * (k + 1);
    }
    ok_ = ok_ && tk_start(model, get()) == TACTUS_OK && tk_begin_events(model, get()) == TACTUS_OK;
  }
  bool ok() const { return ok_; }
  void step(double h, int count) {
    for (int k = 0; k < count && ok_; ++k) {
      ok_ = tk_part(model_, get(), TACTUS_RK4, h, 0, 1e9) == TACTUS_OK && tk_fire(model_, get()) == TACTUS_OK;
    }
  }
  tactus_instance* get() { return reinterpret_cast<tactus_instance*>(memory_.data()); }
  double* data() { return tactus_data(get()); }
  const double* x() { return data() + model_->layout.states; }
  std::vector<double> snapshot() { return {data(), data() + model_->layout.snapshot}; }
  bool snapshot_is(const std::vector<double>& before) {
    return std::memcmp(before.data(), data(), 8 * before.size()) == 0;
  }

  int tangent(std::uint32_t function, const std::vector<double>& direction, std::vector<double>& result) {
    return model_->tangent(model_, get(), function, get()->time, x(), direction.data(), result.data());
  }

 private:
  const tactus_model* model_;
  std::vector<double> memory_;
  bool ok_ = false;
};

std::vector<double> some_direction(const tactus_model* model, std::uint64_t seed) {
  std::vector<double> direction(tactus_direction_size(model));
  for (double& d : direction) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    d = static_cast<double>(seed >> 40) / 0x1p23 - 1;
  }
  return direction;
}

std::vector<std::uint32_t> functions_of(const ir::Program& program) {
  std::vector<std::uint32_t> functions;
  for (std::uint32_t f = 0; f < TACTUS_OF_FIRE + program.events.size(); ++f) functions.push_back(f);
  return functions;
}

// Noise and delayed values count as constant, which differences do not know.
bool is_smooth(const ir::Program& program) {
  const auto has_rough = [](const ir::Chunk& chunk) {
    return std::ranges::any_of(
        chunk.instructions, [](const ir::Instruction& i) { return i.op == ir::Op::noise || i.op == ir::Op::delayed; });
  };
  std::vector<ir::Function> functions = program.handlers;
  functions.insert(functions.end(),
                   {program.prepare, program.initialize, program.derivative, program.outputs, program.watch});
  return std::ranges::none_of(program.residuals, has_rough) &&
         std::ranges::none_of(functions,
                              [&](const ir::Function& f) { return std::ranges::any_of(f.chunks, has_rough); });
}

// Counts how often the compiled tangent and another computation of it agree, entry by entry.
struct Score {
  int agree = 0;
  int differ = 0;
  std::string first;
};

void compare(const std::vector<double>& tangent, const std::vector<double>& other, double tolerance,
             const std::string& what, Score& score) {
  for (std::size_t k = 0; k < tangent.size(); ++k) {
    if (!std::isfinite(tangent[k]) || !std::isfinite(other[k])) continue;
    if (std::abs(tangent[k] - other[k]) <= tolerance * (1 + std::abs(tangent[k]) + std::abs(other[k]))) {
      ++score.agree;
    } else if (score.differ++ == 0) {
      score.first = what + ": " + std::to_string(tangent[k]) + " and " + std::to_string(other[k]);
    }
  }
}

// The real part is not moved, so kinks do not matter: every finite entry must agree. How much rounding a random program
// magnifies is not known: 1e-6 is far above what was seen and far below a wrong rule.
TEST(CompiledTangents, AreThoseOfComplexSteps) {
  Score score;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const ir::Program program = random_program(seed);
    emit_llvm::CompiledModel compiled(program, {.optimise = false});
    const tactus_model* model = compiled.with_tangents();
    Running running(model);
    for (int visit = 0; visit < 3 && running.ok(); ++visit) {
      const std::vector<double> direction = some_direction(model, seed + 1000 * visit);
      for (std::uint32_t function : functions_of(program)) {
        const Scene<double> scene = tangent_testing::scene_of(program, model, running.get());
        const std::vector<double> before = running.snapshot();
        bool ok = false;
        const std::vector<double> other = tangent_testing::complex_step(program, function, scene, direction, ok);
        std::vector<double> result(other.size());
        const int status = running.tangent(function, direction, result);
        if (!ok || status != TACTUS_OK) continue;
        compare(result, other, 1e-6, program.name + " function " + std::to_string(function), score);
        // Whoever asks for tangents leaves no trace in what the motion depends on.
        EXPECT_TRUE(running.snapshot_is(before)) << program.name << " function " << function;
      }
      running.step(0.02, 3);
    }
  }
  EXPECT_EQ(score.differ, 0) << score.first;
  EXPECT_GT(score.agree, 5000);
}

// Where the function is smooth around the point: the two one-sided differences agree. Most entries are of that kind.
TEST(CompiledTangents, AreThoseOfCentralDifferences) {
  Score score;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    const ir::Program program = random_program(seed);
    if (!is_smooth(program)) continue;
    emit_llvm::CompiledModel compiled(program, {.optimise = false});
    const tactus_model* model = compiled.with_tangents();
    Running running(model);
    if (!running.ok()) continue;
    const std::vector<double> direction = some_direction(model, seed);
    for (std::uint32_t function : functions_of(program)) {
      const Scene<double> scene = tangent_testing::scene_of(program, model, running.get());
      std::vector<double> result(tangent_testing::result_size(program, function));
      if (running.tangent(function, direction, result) != TACTUS_OK) continue;
      bool ok[3] = {};
      const double h = 1e-6;
      const auto here = tangent_testing::moved(program, function, scene, direction, 0, ok[0]);
      const auto after = tangent_testing::moved(program, function, scene, direction, h, ok[1]);
      const auto before = tangent_testing::moved(program, function, scene, direction, -h, ok[2]);
      if (!ok[0] || !ok[1] || !ok[2]) continue;
      std::vector<double> central(result.size(), NAN);
      for (std::size_t k = 0; k < result.size(); ++k) {
        const double right = (after[k] - here[k]) / h;
        const double left = (here[k] - before[k]) / h;
        if (std::abs(right - left) <= 1e-3 * (1 + std::abs(right))) central[k] = 0.5 * (right + left);
      }
      compare(result, central, 1e-3, program.name + " function " + std::to_string(function), score);
    }
  }
  // A comparison may hold at the point only, where differences see both sides alike.
  EXPECT_GT(score.agree, 1000);
  EXPECT_LT(score.differ, score.agree / 200) << score.first;
}

// Whatever a dense set of tangents shows to move is in the pattern, and columns of one colour share no row.
TEST(CompiledTangents, ThePatternMissesNoEntry) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const ir::Program program = random_program(seed);
    emit_llvm::CompiledModel compiled(program, {.optimise = false});
    const tactus_model* model = compiled.with_tangents();
    Running running(model);
    running.step(0.02, 2);
    if (!running.ok()) continue;
    const std::uint32_t n = model->state_count;
    std::vector<double> scratch(tk_jacobian_scratch(model)), matrix(n * n), column(n), time(n);
    std::vector<double> entries(model->jacobian.start[n]);
    if (tk_dense_jacobian(model, running.get(), running.get()->time, running.x(), scratch.data(), matrix.data()) !=
        TACTUS_OK) {
      continue;
    }
    ASSERT_EQ(tk_jacobian(model, running.get(), running.get()->time, running.x(), scratch.data(), entries.data()),
              TACTUS_OK);
    for (std::uint32_t k = 0; k < n; ++k) {
      std::vector<double> direction(tactus_direction_size(model));
      direction[tactus_direction_states(model) + k] = 1;
      ASSERT_EQ(running.tangent(TACTUS_OF_DERIVATIVE, direction, column), TACTUS_OK);
      std::uint32_t next = model->jacobian.start[k];
      for (std::uint32_t row = 0; row < n; ++row) {
        const bool is_entry = next < model->jacobian.start[k + 1] && model->jacobian.index[next] == row;
        // A NaN elsewhere in the same colour, or a value that is none, spoils what it meets.
        if (std::isnan(matrix[row * n + k]) || std::isnan(column[row])) continue;
        EXPECT_EQ(column[row], matrix[row * n + k]) << program.name << " row " << row << " column " << k;
        EXPECT_TRUE(!is_entry || entries[next] == matrix[row * n + k]);
        next += is_entry;
      }
    }
    std::vector<double> direction(tactus_direction_size(model));
    direction[0] = 1;
    ASSERT_EQ(running.tangent(TACTUS_OF_DERIVATIVE, direction, column), TACTUS_OK);
    ASSERT_EQ(tk_time_derivative(model, running.get(), running.get()->time, running.x(), scratch.data(), time.data()),
              TACTUS_OK);
    EXPECT_EQ(std::memcmp(column.data(), time.data(), 8 * n), 0);
  }
}

TEST(CompiledTangents, HaveTheSameBitsEverywhere) {
  std::vector<ir::Program> programs = all_samples();
  std::vector<Plan> plans;
  for (const ir::Program& program : programs) {
    Plan plan;
    plan.h = program.step_size;
    plan.t_end = program.ending_time;
    plan.parts = true;
    plans.push_back(plan);
  }
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    programs.push_back(random_program(seed));
    plans.push_back(random_plan(seed));
  }
  for (ir::Program& program : programs) tangent::add(program, tangent::all);
  std::vector<WasmRun> runs;
  for (std::size_t k = 0; k < plans.size(); ++k) {
    plans[k].tangents = true;
    plans[k].records = 12;
    runs.push_back({k, plans[k]});
  }
  const CLibrary library(programs, "cc -O1");
  const std::vector<Trail> wasm = has_node() ? run_wasm_batch(programs, runs) : std::vector<Trail>();
  for (std::size_t k = 0; k < programs.size(); ++k) {
    SCOPED_TRACE(programs[k].name);
    emit_llvm::CompiledModel with(programs[k], {.solver = plans[k].solver});
    with.wait_optimised();
    const Trail quick = run_table(with.quick(), plans[k]);
    EXPECT_EQ(first_difference(quick, run_table(with.optimised(), plans[k])), "") << "optimised";
    EXPECT_EQ(first_difference(quick, run_table(library.model(k), plans[k])), "") << "C";
    EXPECT_EQ(wasm.empty() ? "" : first_difference(quick, wasm[k]), "") << "wasm";
    // Compiled later, on their own.
    ir::Program without_tangents = programs[k];
    without_tangents.tangents.reset();
    emit_llvm::CompiledModel without(without_tangents, {.solver = plans[k].solver});
    EXPECT_EQ(without.current()->tangent, nullptr);
    const tactus_model* first = without.with_tangents();
    EXPECT_EQ(first_difference(quick, run_table(first, plans[k])), "") << "on their own";
    without.wait_optimised();
    const tactus_model* second = without.with_tangents();
    EXPECT_NE(first->tangent, second->tangent);
    EXPECT_EQ(second, without.with_tangents());
    EXPECT_EQ(first_difference(quick, run_table(second, plans[k])), "") << "on their own, optimised";
    EXPECT_EQ(first->layout.size, without.current()->layout.size);
  }
}

TEST(CompiledTangents, AFunctionThatWasNotAskedForSaysSo) {
  const emit_llvm::CompiledModel compiled(van_der_pol(),
                                          {.optimise = false, .tangents = tangent::only(TACTUS_OF_DERIVATIVE)});
  const tactus_model* model = compiled.current();
  Running running(model);
  std::vector<double> result(10);
  const std::vector<double> direction = some_direction(model, 1);
  EXPECT_EQ(running.tangent(TACTUS_OF_DERIVATIVE, direction, result), TACTUS_OK);
  EXPECT_EQ(running.tangent(TACTUS_OF_OUTPUTS, direction, result), -1);
  EXPECT_EQ(running.tangent(TACTUS_OF_FIRE, direction, result), -1);
}

// A table that was given stays as it is when more is asked for.
TEST(CompiledTangents, MoreMayBeAskedForLater) {
  emit_llvm::CompiledModel compiled(van_der_pol());
  const tactus_model* first = compiled.with_tangents(tangent::only(TACTUS_OF_DERIVATIVE));
  Running running(first);
  std::vector<double> result(10), again(10);
  const std::vector<double> direction = some_direction(first, 1);
  EXPECT_EQ(running.tangent(TACTUS_OF_DERIVATIVE, direction, result), TACTUS_OK);
  EXPECT_EQ(running.tangent(TACTUS_OF_OUTPUTS, direction, result), -1);
  const tactus_model* second = compiled.with_tangents();
  EXPECT_EQ(second->tangent(second, running.get(), TACTUS_OF_OUTPUTS, 0, running.x(), direction.data(), again.data()),
            TACTUS_OK);
  EXPECT_EQ(running.tangent(TACTUS_OF_OUTPUTS, direction, result), -1);
  compiled.wait_optimised();
  const tactus_model* third = compiled.with_tangents(tangent::only(TACTUS_OF_DERIVATIVE));
  EXPECT_EQ(third->tangent(third, running.get(), TACTUS_OF_OUTPUTS, 0, running.x(), direction.data(), result.data()),
            TACTUS_OK);
  EXPECT_EQ(result, again);
}

// x'' = mu (1 - x^2) x' - x
TEST(CompiledTangents, JacobianOfVanDerPol) {
  emit_llvm::CompiledModel compiled(van_der_pol(), {.optimise = false});
  const tactus_model* model = compiled.with_tangents();
  Running running(model);
  const double x[] = {0.5, -2};
  const double mu = running.data()[model->layout.parameters];
  std::vector<double> scratch(tk_jacobian_scratch(model)), matrix(4);
  ASSERT_EQ(tk_dense_jacobian(model, running.get(), 0, x, scratch.data(), matrix.data()), TACTUS_OK);
  EXPECT_EQ(matrix[0], 0);
  EXPECT_EQ(matrix[1], 1);
  EXPECT_NEAR(matrix[2], mu * -2 * 0.5 * -2 - 1, 1e-14);
  EXPECT_NEAR(matrix[3], mu * (1 - 0.25), 1e-14);
}

}  // namespace
}  // namespace backend_testing
