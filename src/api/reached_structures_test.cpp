// Structures that are compiled when a run reaches them: what is known of them before is what is there afterwards, only
// those that are reached are compiled, and the motion is that of a model that was compiled whole.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

#include "api/load.h"
#include "compiler/emit_llvm/jit.h"
#include "kernel/kernel.h"
#include "runtime/sim/instance.h"
#include "runtime/sim/run.h"

namespace {

// Three structures: a free mass, one that is held on a slope (with its reaction), one that stands still. What `weight`
// and the place of `Stop` are is worked out from parameters, and only by structures that are not there when these are
// set.
constexpr const char* landing = R"(simulation starting_time = 0 ending_time = 3 event_precision = 1e-12
constant m = 2, slope = 0.5;
parameter g = 9.81, far = 2;
automaton block in Falling, Sliding, Resting;
boundary p with p(0) = (0, 1), p'(0) = (0, 0);
system
  height = p[2] - slope * p[1];
  in block.Falling { p'' = (0, -g); }
  in block.Sliding { weight = m * g;  m * p'' = N * (-slope, 1) - (0, weight);  height = 0; }
  in block.Resting { p' = (0, 0); }
  transition Land in block.Falling when height <= 0 && height' < 0 { goto block.Sliding;  enforce velocities; }
  transition Stop in block.Sliding when p[1] <= -far * 0.5 { goto block.Resting; }
)";

emit_llvm::JitOptions when_reached() {
  emit_llvm::JitOptions options;
  options.compile_when_reached = true;
  return options;
}

ir::Program program_of(const char* text) {
  auto compiled = api::compile_text("landing.tact", text, {});
  EXPECT_TRUE(compiled.program) << diag::render_text(compiled.diags, compiled.sources, false);
  return std::move(*compiled.program);
}

TEST(ReachedStructures, AreKnownByTheSameNumbersBeforeAndAfterwards) {
  emit_llvm::CompiledModel jit(program_of(landing), when_reached());
  const tactus_model* whole = jit.current();
  ASSERT_EQ(whole->structure_count, 3u);
  std::vector<tactus_model> before;
  for (std::uint32_t k = 0; k < 3; ++k) before.push_back(*whole->structures[k]);
  (void)jit.wait_optimised();
  for (std::uint32_t k = 0; k < 3; ++k) {
    tactus_model after = *whole->structures[k];
    EXPECT_EQ(before[k].watch == nullptr, after.watch == nullptr);
    EXPECT_EQ(before[k].constrain == nullptr, after.constrain == nullptr);
    EXPECT_EQ(before[k].fire == nullptr, after.fire == nullptr);
    EXPECT_EQ(before[k].tangent == nullptr, after.tangent == nullptr);
    for (std::size_t i = 0; i < after.state_count; ++i) EXPECT_STREQ(before[k].state_names[i], after.state_names[i]);
    after.state_names = before[k].state_names;  // doors are found by it
    EXPECT_EQ(std::memcmp(&before[k], &after, offsetof(tactus_model, prepare)), 0) << "structure " << k;
  }
}

struct Motion {
  std::vector<double> outputs;  // at its end, with their bits
  std::vector<bool> is_new;     // whether another table stands for a structure than before the run
  double end = 0;
};

Motion run_until(double end, bool is_reached_later, tactus_solver solver) {
  emit_llvm::JitOptions options;
  options.compile_when_reached = is_reached_later;
  options.optimise = false;  // a better table would be new, too
  emit_llvm::CompiledModel jit(program_of(landing), options);
  sim::Settings settings = {.solver = solver, .step = 0.01, .tolerance = 1e-8, .until = end, .recording = false};
  std::string failure;
  sim::Request request;
  request.table = [&jit] { return jit.current(); };
  request.plan = sim::make_plan(*jit.current(), settings, failure).value();
  request.parameters = {{0, 9.5}, {1, 3}};
  const std::vector<const tactus_model*> before(jit.current()->structures, jit.current()->structures + 3);
  const sim::Outcome outcome = sim::run(request, nullptr);
  EXPECT_EQ(outcome.ending, sim::Ending::done);
  Motion motion = {outcome.outputs, {}, outcome.time};
  for (std::uint32_t k = 0; k < 3; ++k) motion.is_new.push_back(jit.current()->structures[k] != before[k]);
  return motion;
}

TEST(ReachedStructures, AreCompiledOnlyWhenReached) {
  EXPECT_EQ(run_until(0.2, true, TACTUS_TSIT5).is_new, (std::vector<bool>{false, false, false}));
  EXPECT_EQ(run_until(0.6, true, TACTUS_TSIT5).is_new, (std::vector<bool>{false, true, false}));
  EXPECT_EQ(run_until(3, true, TACTUS_TSIT5).is_new, (std::vector<bool>{false, true, true}));
  EXPECT_EQ(run_until(3, false, TACTUS_TSIT5).is_new, (std::vector<bool>{false, false, false}));
}

TEST(ReachedStructures, MoveAsThoseThatWereCompiledBefore) {
  for (const tactus_solver solver : {TACTUS_TSIT5, TACTUS_RK4, TACTUS_DOP853}) {
    for (const double end : {0.2, 0.6, 3.0}) {
      const Motion later = run_until(end, true, solver);
      const Motion before = run_until(end, false, solver);
      EXPECT_EQ(later.end, end);
      ASSERT_EQ(later.outputs.size(), before.outputs.size());
      EXPECT_EQ(std::memcmp(later.outputs.data(), before.outputs.data(), 8 * before.outputs.size()), 0)
          << solver << ' ' << end;
    }
  }
}

}  // namespace
