// A thousand random programs compute the same bits on the quick tier, the optimised tier, in C and in wasm. Batches share one
// C library and one wasm module each; TACTUS_RANDOM_MODELS sets another number of programs, TACTUS_RANDOM_SEED another start.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "compiler/emit_llvm/jit.h"
#include "compiler/emit_llvm/testing/compare.h"
#include "compiler/emit_llvm/testing/random_program.h"

namespace backend_testing {
namespace {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(RandomBackends, AgreeBitForBit) {
  const std::uint64_t count = setting("TACTUS_RANDOM_MODELS", 1000);
  const std::uint64_t first = setting("TACTUS_RANDOM_SEED", 1);
  constexpr std::uint64_t batch = 250;
  const bool node = has_node();
  std::size_t ran_to_the_end = 0;
  std::size_t finite_values = 0;
  std::size_t values = 0;
  for (std::uint64_t from = first; from < first + count; from += batch) {
    const std::uint64_t to = std::min(from + batch, first + count);
    std::vector<ir::Program> programs;
    std::vector<WasmRun> runs;
    for (std::uint64_t seed = from; seed < to; ++seed) {
      programs.push_back(random_program(seed));
      runs.push_back({programs.size() - 1, random_plan(seed)});
    }
    const CLibrary library(programs, "cc -O1");
    const std::vector<Trail> wasm = node ? run_wasm_batch(programs, runs) : std::vector<Trail>();
    // Models ahead of the one that is compared: their optimised tiers are compiled meanwhile, one on each processor.
    std::deque<std::unique_ptr<emit_llvm::CompiledModel>> ahead;
    std::size_t started = 0;
    for (std::size_t k = 0; k < programs.size(); ++k) {
      const Plan& plan = runs[k].plan;
      for (; started < programs.size() && ahead.size() < std::max(1u, std::thread::hardware_concurrency()); ++started) {
        emit_llvm::JitOptions options;
        options.solver = runs[started].plan.solver;
        ahead.push_back(std::make_unique<emit_llvm::CompiledModel>(programs[started], options));
      }
      const auto owned = std::move(ahead.front());
      ahead.pop_front();
      emit_llvm::CompiledModel& model = *owned;
      const Trail quick = run_table(model.quick(), plan);
      model.wait_optimised();
      const std::string where = programs[k].name + ", solver " + std::to_string(plan.solver);
      ASSERT_EQ(first_difference(quick, run_table(library.model(k), plan)), "") << "C: " << where << "\n" << ir::dump(programs[k]);
      ASSERT_EQ(first_difference(quick, run_table(model.optimised(), plan)), "") << "optimised: " << where << "\n" << ir::dump(programs[k]);
      if (node) {
        ASSERT_EQ(first_difference(quick, wasm[k]), "") << "wasm: " << where << "\n" << ir::dump(programs[k]);
      }
      const std::size_t record = 5 + programs[k].state_names.size() + programs[k].output_count;
      ran_to_the_end += quick[quick.size() - record] == 0;
      for (double value : quick) finite_values += std::isfinite(value);
      values += quick.size();
    }
  }
  // The programs are worth comparing: most run, most values are numbers.
  EXPECT_GT(ran_to_the_end, count / 2);
  EXPECT_GT(finite_values, values / 2);
  std::printf("%zu of %llu ran to the end; %.1f%% of %zu values are finite\n", ran_to_the_end,
              static_cast<unsigned long long>(count), 100.0 * static_cast<double>(finite_values) / static_cast<double>(values), values);
}

}  // namespace
}  // namespace backend_testing
