// The RC chain of the reference problems (7): n cells from text to t = 1, compiled and simulated, each in a process of
// its own.
#include <fmt/format.h>

#include <limits>

#include "api/load.h"
#include "bench.h"
#include "compiler/emit_llvm/jit.h"
#include "compiler/ir/uses.h"
#include "compiler/reroll/reroll.h"
#include "runtime/sim/plan.h"
#include "runtime/sim/run.h"

namespace bench {
namespace {

api::Compiled chain(int n) {
  return api::compile_files({std::string(TACTUS_SOURCE_DIR) + "/examples/rc_chain.tact"},
                            {.overrides = {{"n", static_cast<double>(n)}}}, false);
}

double seconds_of_run(int n) {
  const auto before = Clock::now();
  auto compiled = chain(n);
  if (!compiled.program) {
    fmt::print(stderr, "{}", diag::render_text(compiled.diags, compiled.sources, false));
    return std::numeric_limits<double>::quiet_NaN();
  }
  emit_llvm::CompiledModel jit(std::move(*compiled.program));
  std::string failure;
  const auto plan = sim::make_plan(*jit.current(), {.until = 1}, failure);
  if (!plan) return std::numeric_limits<double>::quiet_NaN();
  sim::Request request;
  request.table = [&] { return jit.current(); };
  request.plan = *plan;
  const sim::Outcome outcome = sim::run(request, nullptr);
  return outcome.ending == sim::Ending::done ? seconds_since(before) : std::numeric_limits<double>::quiet_NaN();
}

double code_size(int n, bool with_loops) {
  const auto compiled = chain(n);
  return static_cast<double>(
      ir::instruction_count(with_loops ? reroll::with_loops(*compiled.program) : *compiled.program));
}

double seconds_of_optimised(int n) {
  auto compiled = chain(n);
  emit_llvm::CompiledModel jit(std::move(*compiled.program));
  jit.wait_optimised();
  return jit.times().optimised;
}

}  // namespace

std::vector<Figure> measure_scale(const Options& options) {
  std::vector<Figure> figures;
  struct Size {
    int cells;
    double goal;
    const char* others;
  };
  for (const Size& size :
       {Size{5, 0, "published: OpenModelica 2.97 s"}, Size{1000, 1, "published: OpenModelica 75.7 s, Dymola 6.83 s"},
        Size{9000, 12, "published: OpenModelica 1,591 s"}}) {
    const int n = options.smoke ? std::min(size.cells, 50) : size.cells;
    std::vector<double> seconds;
    for (int k = 0; k < (options.smoke ? 1 : 3); ++k) seconds.push_back(in_child([&] { return seconds_of_run(n); }));
    figures.push_back(
        {fmt::format("RC chain of {} cells, text to t = 1", n), median(seconds), "s", size.goal, size.others});
    if (size.goal == 0) continue;
    const double without = in_child([&] { return code_size(n, false); });
    figures.push_back({fmt::format("RC chain of {} cells, instructions of its code", n),
                       in_child([&] { return code_size(n, true); }), "", 0, fmt::format("without loops {}", without)});
    figures.push_back({fmt::format("RC chain of {} cells, time of the optimised tier", n),
                       in_child([&] { return seconds_of_optimised(n); }), "s", 0, ""});
  }
  return figures;
}

}  // namespace bench
