#include "runtime/live/clock.h"

#include <time.h>

#include <cerrno>

namespace live {
namespace {

class MonotonicClock final : public Clock {
 public:
  std::int64_t now() override {
    timespec time = {};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * second + time.tv_nsec;
  }
  void sleep_until(std::int64_t time) override {
    const timespec until = {time / second, time % second};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
  }
};

}  // namespace

Clock& monotonic_clock() {
  static MonotonicClock clock;
  return clock;
}

}  // namespace live
