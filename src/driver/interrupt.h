// Ctrl-C and kill: the run ends well, with its rows kept. A second signal ends the program at once.
#pragma once

#include <atomic>

namespace driver {

// While one exists, SIGINT and SIGTERM set `asked()`. One at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  const std::atomic<bool>& asked() const;
};

}  // namespace driver
