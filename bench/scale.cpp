// The RC chain of the reference problems (7): n cells from text to t = 1, compiled and simulated, each in a process of its own.
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

std::string cells(int n) {
  return fmt::format(R"(simulation ending_time = 1
parameter n = {};
module Cell = (
  ports left, v, i, i_out;
  parameter R = 1, C = 1;
  boundary v(0) = 0;
  system
    left - v = R * i;
    C * v' = i - i_out;
)
system
  cell[k in 1..n] = Cell();
  cell[1].left = 1;
  for k in 2..n {{ cell[k].left = cell[k - 1].v;  cell[k - 1].i_out = cell[k].i; }}
  cell[n].i_out = 0;
)",
                     n);
}

double seconds_of_run(const std::string& text) {
  const auto before = Clock::now();
  auto compiled = api::compile_text("rc_chain.tact", text, {});
  if (!compiled.program) {
    fmt::print(stderr, "{}", diag::render_text(compiled.diags, compiled.sources, false));
    return std::numeric_limits<double>::quiet_NaN();
  }
  emit_llvm::CompiledModel jit(std::move(*compiled.program));
  std::string failure;
  const auto plan = sim::make_plan(*jit.current(), {}, failure);
  if (!plan) return std::numeric_limits<double>::quiet_NaN();
  sim::Request request;
  request.table = [&] { return jit.current(); };
  request.plan = *plan;
  const sim::Outcome outcome = sim::run(request, nullptr);
  return outcome.ending == sim::Ending::done ? seconds_since(before) : std::numeric_limits<double>::quiet_NaN();
}

double code_size(const std::string& text, bool with_loops) {
  const auto compiled = api::compile_text("rc_chain.tact", text, {});
  return static_cast<double>(
      ir::instruction_count(with_loops ? reroll::with_loops(*compiled.program) : *compiled.program));
}

double seconds_of_optimised(const std::string& text) {
  auto compiled = api::compile_text("rc_chain.tact", text, {});
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
    const std::string text = cells(n);
    std::vector<double> seconds;
    for (int k = 0; k < (options.smoke ? 1 : 3); ++k) seconds.push_back(in_child([&] { return seconds_of_run(text); }));
    figures.push_back(
        {fmt::format("RC chain of {} cells, text to t = 1", n), median(seconds), "s", size.goal, size.others});
    if (size.goal == 0) continue;
    const double without = in_child([&] { return code_size(text, false); });
    figures.push_back({fmt::format("RC chain of {} cells, instructions of its code", n),
                       in_child([&] { return code_size(text, true); }), "", 0,
                       fmt::format("without loops {}", without)});
    figures.push_back({fmt::format("RC chain of {} cells, time of the optimised tier", n),
                       in_child([&] { return seconds_of_optimised(text); }), "s", 0, ""});
  }
  return figures;
}

}  // namespace bench
