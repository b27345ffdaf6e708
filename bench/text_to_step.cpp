// From a text to its first step: two-ball, and systems of 1,000 and 10,000 coupled equations, each in a process of its
// own that has compiled nothing before.
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>

#include "api/load.h"
#include "bench.h"
#include "compiler/emit_llvm/jit.h"
#include "kernel/kernel.h"
#include "runtime/sim/instance.h"

namespace bench {
namespace {

// n / 2 oscillators in a row, coupled by springs that stiffen: n equations.
std::string chain(int n) {
  std::string text = "simulation step_size = 0.001 ending_time = 1\nparameter k = 1, c = 0.1;\nsystem\n";
  int count = n / 2;
  for (int i = 1; i <= count; ++i) {
    std::string left = i == 1 ? "0" : fmt::format("f{}", i - 1);
    text += i == count ? fmt::format("  f{} = -k * x{};\n", i, i)
                       : fmt::format("  f{0} = k * (x{1} - x{0}) + c * (x{1} - x{0})^3;\n", i, i + 1);
    text += fmt::format("  x{0}'' = f{0} - {1};\n", i, left);
  }
  text += "boundary\n";
  for (int i = 1; i <= count; ++i) text += fmt::format("  x{0} with x{0}(0) = {1}, x{0}'(0) = 0;\n", i, i % 7);
  return text;
}

// n / 4 cells with a loop of two linear equations and a nonlinear one each, coupled to their neighbours: n equations.
std::string loops(int n) {
  std::string text = "simulation step_size = 0.001 ending_time = 1\nparameter k = 1;\nsystem\n";
  int count = n / 4;
  for (int i = 1; i <= count; ++i) {
    std::string neighbour = i == 1 ? "1" : fmt::format("x{}", i - 1);
    text += fmt::format("  x{0}' = w{0} - k * x{0};\n", i);
    text += fmt::format("  y{0} + 0.5 * z{0} = x{0};\n  z{0} - 0.25 * y{0} = {1};\n", i, neighbour);
    text += fmt::format("  w{0} + w{0}^3 / 10 = z{0};\n", i);
  }
  text += "boundary\n";
  for (int i = 1; i <= count; ++i) text += fmt::format("  x{0} with x{0}(0) = {1};\n", i, i % 5);
  return text;
}

struct Times {
  double total = 0;
  double compile = 0;
};

// Seconds from the text to the state after one step.
Times text_to_step(const std::string& name, const std::string& text) {
  Times times;
  auto before = Clock::now();
  auto compiled = api::compile_text(name, text, {});
  times.compile = seconds_since(before);
  if (!compiled.program) {
    fmt::print(stderr, "{}", diag::render_text(compiled.diags, compiled.sources, false));
    times.total = std::numeric_limits<double>::quiet_NaN();
    return times;
  }
  emit_llvm::CompiledModel jit(std::move(*compiled.program));
  const tactus_model* model = jit.current();
  sim::Instance instance(*model);
  int status = tk_reset(model, instance.get());
  if (status == TACTUS_OK) status = tk_start(model, instance.get());
  if (status == TACTUS_OK) status = model->fixed_steps(model, instance.get(), TACTUS_RK4, 0.001, 1);
  times.total = status == TACTUS_OK ? seconds_since(before) : std::numeric_limits<double>::quiet_NaN();
  return times;
}

// Median over processes of the total, and of the compiler's part.
Times measured(const std::string& name, const std::string& text, int runs) {
  std::vector<double> totals, compiles;
  for (int i = 0; i < runs; ++i) {
    totals.push_back(in_child([&] { return text_to_step(name, text).total; }));
    if (i == 0) compiles.push_back(in_child([&] { return text_to_step(name, text).compile; }));
  }
  return {median(totals), median(compiles)};
}

}  // namespace

std::vector<Figure> measure_text_to_step(const Options& options) {
  std::vector<Figure> figures;
  std::ifstream file(std::string(TACTUS_SOURCE_DIR) + "/examples/two_ball.tact");
  std::string two_ball{std::istreambuf_iterator<char>(file), {}};
  Times small = measured("two_ball.tact", two_ball, options.smoke ? 1 : std::max(30, options.pairs));
  figures.push_back({"text to first step, two-ball", small.total * 1e3, "ms", 30,
                     fmt::format("the compiler {:.2f} ms", small.compile * 1e3)});

  std::pair<const char*, std::string (*)(int)> families[] = {{"chain of oscillators", chain},
                                                             {"algebraic loops", loops}};
  for (auto [family, make] : families) {
    int sizes[2] = {1000, 10'000};
    double seconds[2];
    for (int i = 0; i < 2; ++i) {
      int n = options.smoke ? sizes[i] / 100 : sizes[i];
      Times times = measured("generated.tact", make(n), options.smoke ? 1 : i == 0 ? 7 : 3);
      seconds[i] = times.total;
      figures.push_back({fmt::format("text to first step, {} equations, {}", n, family), times.total, "s",
                         i == 0 ? 1.0 : 12.0, fmt::format("the compiler {:.3g} s", times.compile)});
    }
    figures.push_back(
        {fmt::format("time per equation, 10,000 / 1,000, {}", family), seconds[1] / seconds[0] / 10, "", 2, ""});
  }
  return figures;
}

}  // namespace bench
