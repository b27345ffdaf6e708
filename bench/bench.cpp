// tactus_bench [--json] [--smoke] [--pairs N] [--only
// steps|text|memory|editor|stiff|events|mechanics|hybrid|energy|scale|play]
//
// Each comparison is the median of interleaved pairs in one process, so that a noisy machine disturbs both sides alike;
// both sides have this processor's instruction set, no contraction, no fast-math. Exit code 0, whether goals are met or
// not.
#include "bench.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

namespace bench {

double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double thread_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::vector<double> numbers_in_child(std::size_t count, const std::function<std::vector<double>()>& work) {
  std::vector<double> result(count, std::numeric_limits<double>::quiet_NaN());
  int ends[2];
  if (pipe(ends) != 0) return result;
  std::fflush(nullptr);
  const auto size = static_cast<ssize_t>(count * sizeof(double));
  pid_t child = fork();
  if (child == 0) {
    std::vector<double> values = work();
    values.resize(count, std::numeric_limits<double>::quiet_NaN());
    bool told = write(ends[1], values.data(), static_cast<std::size_t>(size)) == size;
    _exit(told ? 0 : 1);
  }
  close(ends[1]);
  std::vector<double> values(count);
  if (child > 0 && read(ends[0], values.data(), static_cast<std::size_t>(size)) == size) result = values;
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return result;
}

double in_child(const std::function<double()>& work) {
  return numbers_in_child(1, [&] { return std::vector<double>{work()}; })[0];
}

}  // namespace bench

int main(int argc, char** argv) {
  bench::Options options;
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (word == "--json") {
      options.json = true;
    } else if (word == "--smoke") {
      options.smoke = true;
      options.pairs = 3;
    } else if (word == "--pairs" && i + 1 < argc) {
      options.pairs = std::max(1, std::atoi(argv[++i]));
    } else if (word == "--only" && i + 1 < argc) {
      options.only = argv[++i];
    } else {
      fmt::print(stderr,
                 "usage: tactus_bench [--json] [--smoke] [--pairs N] [--only "
                 "steps|text|memory|editor|stiff|events|mechanics|hybrid|energy|scale|play]\n");
      return 2;
    }
  }

  std::vector<bench::Figure> figures;
  auto add = [&](std::string_view name, auto measure) {
    if (!options.only.empty() && options.only != name) return;
    for (bench::Figure& figure : measure(options)) figures.push_back(std::move(figure));
  };
  // Those that fork come first: a child must not inherit a running JIT.
  add("text", bench::measure_text_to_step);
  add("scale", bench::measure_scale);
  add("memory", bench::measure_memory);
  add("editor", bench::measure_editor);
  add("hybrid", bench::measure_hybrid);
  add("steps", bench::measure_fixed_steps);
  add("stiff", bench::measure_stiff);
  add("events", bench::measure_events);
  add("mechanics", bench::measure_mechanics);
  add("energy", bench::measure_energy);
  add("play", bench::measure_play);

  if (options.json) {
    auto array = nlohmann::ordered_json::array();
    for (const bench::Figure& figure : figures) {
      nlohmann::ordered_json entry = {{"what", figure.what}, {"value", figure.value}, {"unit", figure.unit}};
      if (figure.goal != 0) {
        entry["goal"] = figure.goal;
        entry["met"] = figure.met();
      }
      if (!figure.detail.empty()) entry["detail"] = figure.detail;
      array.push_back(std::move(entry));
    }
    fmt::print("{}\n", array.dump(2));
    return 0;
  }
  std::size_t width = 0;
  for (const bench::Figure& figure : figures) width = std::max(width, figure.what.size());
  fmt::print("{:<{}} {:>10} {:<5} {:>9}  {:<4} {}\n", "what", width, "measured", "", "at most", "met", "");
  for (const bench::Figure& figure : figures) {
    fmt::print("{:<{}} {:>10.4g} {:<5} {:>9}  {:<4} {}\n", figure.what, width, figure.value, figure.unit,
               figure.goal != 0 ? fmt::format("{:g}", figure.goal) : "",
               figure.goal == 0 ? ""
               : figure.met()   ? "yes"
                                : "NO",
               figure.detail);
  }
  return 0;
}
