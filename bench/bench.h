// The benchmarks' common ground: what is measured, how it is told.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace bench {

struct Options {
  bool json = false;
  bool smoke = false;  // the least work that shows that everything runs
  int pairs = 51;      // interleaved
  // "steps", "text", "memory", "editor", "stiff", "events", "mechanics", "hybrid", "energy", "scale", "play"; empty: all
  std::string only;
};

// One line of the table.
struct Figure {
  std::string what;
  double value = 0;
  std::string unit;
  double goal = 0;  // at most; 0: none, for information
  std::string detail;
  bool met() const { return goal == 0 || value <= goal; }
};

std::vector<Figure> measure_fixed_steps(const Options& options);
std::vector<Figure> measure_scale(const Options& options);
std::vector<Figure> measure_stiff(const Options& options);
std::vector<Figure> measure_events(const Options& options);
std::vector<Figure> measure_mechanics(const Options& options);
std::vector<Figure> measure_hybrid(const Options& options);
std::vector<Figure> measure_energy(const Options& options);
std::vector<Figure> measure_text_to_step(const Options& options);
std::vector<Figure> measure_editor(const Options& options);
std::vector<Figure> measure_memory(const Options& options);
std::vector<Figure> measure_play(const Options& options);

double median(std::vector<double> values);

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point before) {
  return std::chrono::duration<double>(Clock::now() - before).count();
}

// Of this thread alone: what other processes do meanwhile does not count.
double thread_seconds();

// One of several ways to the same result, which has its `seconds`.
template <class Result>
struct Way {
  const char* name;
  std::function<Result()> run;
  std::vector<double> seconds = {};
  Result last = {};
};

// In turn, so that what else the machine does meets all of them.
template <class Result>
void interleave(std::vector<Way<Result>>& ways, int times) {
  for (int k = 0; k < times; ++k) {
    for (Way<Result>& way : ways) {
      way.last = way.run();
      way.seconds.push_back(way.last.seconds);
    }
  }
}

// Runs `work` in a child process, as if for the first time, and returns the number it computed. NaN when it failed.
double in_child(const std::function<double()>& work);
// The same for `count` numbers.
std::vector<double> numbers_in_child(std::size_t count, const std::function<std::vector<double>()>& work);

}  // namespace bench
