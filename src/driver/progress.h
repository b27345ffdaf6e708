// A progress bar on a terminal: percent and the time that remains, at most ten times a second; nothing in a pipe.
#pragma once

#include <chrono>
#include <string>

namespace driver {

class Progress {
 public:
  // Shows nothing unless `wanted` and stderr is a terminal.
  Progress(double start, double end, bool wanted);
  ~Progress() { erase(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(double time);
  // Leaves no trace on the terminal.
  void erase();

 private:
  using Clock = std::chrono::steady_clock;

  double start_;
  double end_;
  bool enabled_;
  bool drawn_ = false;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_ = begin_;
};

// "12 s", "3 min 20 s", "5 h 10 min".
std::string duration_text(double seconds);

}  // namespace driver
