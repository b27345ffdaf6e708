// A thousand random programs compute the same bits on the quick tier, the optimised tier, in C and in wasm.
// TACTUS_RANDOM_MODELS sets another number of programs, TACTUS_RANDOM_SEED another start.
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "compiler/emit_llvm/testing/agreement.h"
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
  Agreement all;
  for (std::uint64_t from = first; from < first + count; from += batch) {
    std::vector<ir::Program> programs;
    std::vector<Plan> plans;
    for (std::uint64_t seed = from; seed < std::min(from + batch, first + count); ++seed) {
      programs.push_back(random_program(seed));
      plans.push_back(random_plan(seed));
    }
    Agreement agreement = compare_all_backends(programs, plans);
    ASSERT_EQ(agreement.difference, "");
    all.ran_to_the_end += agreement.ran_to_the_end;
    all.jumped += agreement.jumped;
    all.finite_values += agreement.finite_values;
    all.values += agreement.values;
  }
  // The programs are worth comparing: most run, most values are numbers, in many something jumps.
  EXPECT_GT(all.ran_to_the_end, count / 2);
  EXPECT_GT(all.finite_values, all.values / 2);
  EXPECT_GT(all.jumped, count / 4);
}

}  // namespace
}  // namespace backend_testing
