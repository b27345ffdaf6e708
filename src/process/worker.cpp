#include "process/worker.h"

#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <sstream>
#include <thread>
#include <vector>

#include "base/check.h"
#include "process/child.h"

namespace process {
namespace {

constexpr int niceness = 5;

// Address space, for that is what can be bounded; a sanitizer's shadow is larger than any bound.
void bound_memory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  std::ifstream statistics("/proc/self/statm");
  std::size_t pages = 0;
  if (!(statistics >> pages)) return;
  const rlim_t most = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + most_memory;
  rlimit limit = {};
  if (::getrlimit(RLIMIT_AS, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(most, limit.rlim_max);
  ::setrlimit(RLIMIT_AS, &limit);
#endif
}

void end_with_the_parent() {
  std::thread([] {
    pollfd parent{STDIN_FILENO, 0, 0};  // no events: wakes when the other end is closed
    while (::poll(&parent, 1, -1) < 0 && errno == EINTR) {
    }
    std::_Exit(EXIT_SUCCESS);
  }).detach();
}

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winfinite-recursion"
#elif defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winfinite-recursion"
#endif
__attribute__((noinline)) int take_all_stack(volatile char* before) {
  volatile char here[4096];
  here[0] = before ? before[0] : '\0';
  return take_all_stack(here) + here[0];
}
#if defined(__clang__)
#pragma clang diagnostic pop
#elif defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

void spring(std::string_view kind) {
  if (kind == "crash") ::raise(SIGSEGV);
  if (kind == "abort") std::abort();
  if (kind == "stack") (void)take_all_stack(nullptr);
  if (kind == "check") TACTUS_CHECK(kind != "check");
  if (kind == "memory") {
    std::vector<void*> all;
    for (;;) all.push_back(::operator new(std::size_t{1} << 24));  // kept, not touched: it is the bound that is met
  }
  volatile bool is_for_ever = true;
  while (kind == "hang" && is_for_ever) {
  }
  while (kind == "sleep" && is_for_ever) ::pause();
}

}  // namespace

void become_worker() {
  ::prctl(PR_SET_NAME, "tactus-worker");
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  (void)!::nice(niceness);
  ::mallopt(M_ARENA_MAX, 2);  // each reserves 64 MB of the address space
  bound_memory();
  std::set_new_handler([] { std::_Exit(out_of_memory_code); });
  end_with_the_parent();
}

double work_seconds() {
  const char* given = std::getenv("TACTUS_WORKER_SECONDS");
  const double seconds = given ? std::atof(given) : 0;
  return seconds > 0 ? seconds : longest_work;
}

void begin_work(double seconds) {
  rusage used = {};
  ::getrusage(RUSAGE_SELF, &used);
  const auto before = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                      1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  rlimit limit = {};
  if (::getrlimit(RLIMIT_CPU, &limit) != 0) return;
  limit.rlim_cur = std::min(static_cast<rlim_t>(std::ceil(before + seconds)), limit.rlim_max);
  ::setrlimit(RLIMIT_CPU, &limit);
}

void spring_traps(std::string_view text, std::string_view phase) {
  const char* traps = std::getenv("TACTUS_WORKER_TRAP");
  if (!traps) return;
  std::istringstream words(traps);
  for (std::string trap; words >> trap;) {
    if (!trap.starts_with(phase)) continue;
    trap.erase(0, phase.size());
    const std::size_t colon = trap.find(':');
    if (colon != std::string::npos && text.find(trap.substr(colon + 1)) != std::string_view::npos)
      spring(std::string_view(trap).substr(0, colon));
  }
}

bool write_message(int to, std::string_view message) {
  const std::uint64_t length = message.size();
  char header[sizeof length];
  std::memcpy(header, &length, sizeof length);
  return write_all(to, {header, sizeof header}) && write_all(to, message);
}

bool read_message(int from, std::string& message) {
  const auto read_bytes = [&](char* into, std::size_t count) {
    while (count > 0) {
      const ssize_t got = ::read(from, into, count);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      into += got;
      count -= static_cast<std::size_t>(got);
    }
    return true;
  };
  std::uint64_t length = 0;
  char header[sizeof length];
  if (!read_bytes(header, sizeof header)) return false;
  std::memcpy(&length, header, sizeof length);
  if (length > longest_message) return false;
  message.resize(length);
  return read_bytes(message.data(), length);
}

}  // namespace process
