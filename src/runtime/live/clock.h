// Time as a loop knows it. The system's monotonic clock, or one that a test moves.
#pragma once

#include <cstdint>

namespace live {

inline constexpr std::int64_t second = 1'000'000'000;  // ns

class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::int64_t now() = 0;  // ns; never goes back
  virtual void sleep_until(std::int64_t time) = 0;
};

// CLOCK_MONOTONIC: one system call to sleep, none to read.
Clock& monotonic_clock();

}  // namespace live
