#include "driver/interrupt.h"

#include <signal.h>

namespace driver {
namespace {

// A signal handler reaches nothing but globals.
std::atomic<bool> stop_asked{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void ask_stop(int) { stop_asked.store(true, std::memory_order_relaxed); }

}  // namespace

Interrupt::Interrupt() {
  stop_asked = false;
  struct sigaction action = {};
  action.sa_handler = ask_stop;
  action.sa_flags = SA_RESTART | SA_RESETHAND;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

Interrupt::~Interrupt() {
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
}

const std::atomic<bool>& Interrupt::asked() const { return stop_asked; }

}  // namespace driver
