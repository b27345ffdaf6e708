#include "cpu_limit.h"

#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace fuzz {
namespace {

extern "C" void too_slow(int) {
  constexpr char text[] = "fuzz: broken: an input ends within its processor time\n";
  (void)!write(STDERR_FILENO, text, sizeof text - 1);
  std::abort();
}

void set_timer(int seconds) {
  const itimerval value = {{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &value, nullptr);
}

}  // namespace

CpuLimit::CpuLimit(int seconds) {
  static const bool is_set = std::signal(SIGPROF, too_slow) != SIG_ERR;
  if (is_set) set_timer(seconds);
}

CpuLimit::~CpuLimit() { set_timer(0); }

}  // namespace fuzz
