// 10^7 steps without recording: does memory grow?
#include <fmt/format.h>
#include <sys/resource.h>

#include <limits>

#include "api/load.h"
#include "bench.h"
#include "compiler/emit_llvm/jit.h"
#include "runtime/sim/run.h"

namespace bench {
namespace {

// The most memory this process ever held, in MB, after that many steps.
double peak_after(double steps) {
  auto compiled = api::compile_files({std::string(TACTUS_SOURCE_DIR) + "/examples/ball_on_spring.tact"}, {}, false);
  if (!compiled.program) return std::numeric_limits<double>::quiet_NaN();
  emit_llvm::CompiledModel jit(std::move(*compiled.program));
  jit.wait_optimised();
  sim::Request request;
  request.table = [&jit] { return jit.current(); };
  std::string failure;
  auto plan = sim::make_plan(*jit.current(), {.step = 1e-3, .until = steps * 1e-3}, failure);
  if (!plan) return std::numeric_limits<double>::quiet_NaN();
  request.plan = *plan;
  sim::Outcome outcome = sim::run(request, nullptr);
  if (outcome.ending != sim::Ending::done) return std::numeric_limits<double>::quiet_NaN();
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace

std::vector<Figure> measure_memory(const Options& options) {
  // The median of a few: how much of LLVM's pages is touched varies.
  auto peak = [&](double steps) {
    std::vector<double> values;
    for (int i = 0; i < (options.smoke ? 1 : 5); ++i) values.push_back(in_child([&] { return peak_after(steps); }));
    return median(values);
  };
  double few = peak(1e5);
  double many = peak(options.smoke ? 2e5 : 1e7);
  return {
      {"peak memory, 10^5 steps", few, "MB", 0, ""},
      {"peak memory, 10^7 steps", many, "MB", 0, ""},
      {"peak memory, 10^7 / 10^5 steps", many / few, "", 1.02, "without recording; 2% is the noise of LLVM's pages"}};
}

}  // namespace bench
