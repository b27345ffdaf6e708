// The clock's thread: ticks of a world at absolute deadlines. Others send it commands and read what it shows; none of
// them can make it wait. On it nothing allocates, locks, throws or blocks: its only system call is clock_nanosleep
// (docs/real-time.md). Beside it the guard, a thread that looks after the port to the hand every millisecond, whatever
// the loop is doing.
//
//   deadline n   = base + n * period / speed, on CLOCK_MONOTONIC
//   late         all ticks that are due are made up for, as long as that is within `most_lag`; beyond it the world's
//   time slips
//                against the clock, which is counted, and others get a tenth of the processor
//   failed       the world stands still, the force fades, until another world takes over
//   ended        the same, behind the tick that reached the world's end
//   too slow     ticks further apart than the limits' `tick_age` give no force
//   hung         a tick that has not ended after `longest_tick` is cancelled: the world has failed
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "runtime/live/clock.h"
#include "runtime/live/histogram.h"
#include "runtime/live/ring.h"
#include "runtime/live/world.h"

namespace live {

struct LoopOptions {
  double spin = 0;         // s before a deadline that are waited through awake
  double most_lag = 0.05;  // s
  bool real_time = true;   // SCHED_FIFO and locked memory, where allowed
  tk_limits limits = mouse_limits;
  Clock* clock = nullptr;   // null: the system's
  bool has_threads = true;  // false: the owner calls `turn` and `port().watch`
};

// Sizes in seconds. Written by the loop alone.
struct Statistics {
  Histogram late;     // from a deadline to the beginning of its tick
  Histogram compute;  // of one tick
  std::atomic<std::int64_t> ticks = 0;
  std::atomic<std::int64_t> missed = 0;   // ticks that began after the next one's deadline
  std::atomic<std::int64_t> slipped = 0;  // ns by which the world fell behind the clock
};

// A world with what it needs to run. The loop uses `table` until it hands the whole back.
struct Running {
  std::shared_ptr<void> owner;  // of the code; it outlives the world, whose planner runs it
  std::unique_ptr<World> world;
  // For the loop's thread.
  bool can_move() const { return status == TACTUS_OK && !world->has_ended(); }
  // The best code there is now: read at every tick.
  std::atomic<const tactus_model*> table = nullptr;
  std::uint32_t generation = 0;
  std::atomic<int> status = TACTUS_OK;  // not ok: it failed, and the loop leaves its Instance alone
};

class Loop {
 public:
  // Begins paused or not; `first` has been started.
  Loop(std::unique_ptr<Running> first, const LoopOptions& options, bool begins_paused);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // From one other thread, the owner's. False: 256 commands wait already.
  [[nodiscard]] bool pause();
  [[nodiscard]] bool resume();
  [[nodiscard]] bool step();  // one tick, then pause
  [[nodiscard]] bool set_speed(double speed);
  [[nodiscard]] bool set_parameter(std::uint32_t generation, std::uint32_t index, double value);
  // `next` was started and, if `goes_on`, planned to take over from current(). Refused, and `next` stays, while another
  // waits.
  [[nodiscard]] bool replace(std::unique_ptr<Running>& next, bool goes_on);
  void hand(const Pointer& pointer);

  // What runs, as far as the owner's thread has heard: call `settle` to hear more. Old worlds are freed there.
  Running& current() { return *current_; }
  // True while `next` has not taken over.
  bool settle();
  // Ends a tick that has been under way for longer than `longest_tick`; call it now and then. True: it did.
  bool cancel_long_tick();
  static constexpr std::int64_t longest_tick = 10 * second;

  // One round of the loop: commands, then a tick or some sleep. RT. Only without threads.
  void turn();
  Port& port() { return port_; }
  const Port& port() const { return port_; }
  // Ticks come too far apart for a force.
  bool is_too_slow() const { return is_too_slow_.load(std::memory_order_relaxed); }

  bool is_paused() const { return is_paused_.load(std::memory_order_relaxed); }
  const Statistics& statistics() const { return statistics_; }
  // "fifo" or "normal", and what was refused, in words.
  const std::string& scheduling() const { return scheduling_; }
  const std::vector<std::string>& notes() const { return notes_; }
  // The system's name of the thread, for tests.
  static constexpr const char* thread_name = "tactus-loop";
  static constexpr const char* guard_name = "tactus-guard";

 private:
  struct Command {
    enum Kind { pause, resume, step, speed, parameter, replace, stop } kind = pause;
    std::uint32_t generation = 0;
    std::uint32_t index = 0;
    double value = 0;
    Running* next = nullptr;
  };

  void run();
  void guard();
  void enter_real_time();
  std::int64_t now() { return clock_.now(); }
  void set_period();
  void obey(const Command& command);
  void tick(std::int64_t deadline, std::int64_t now);
  void publish(std::int64_t now);
  std::int64_t deadline_of(std::int64_t tick) const {
    return base_ + static_cast<std::int64_t>(std::min(static_cast<double>(tick) * period_, 4e18));  // 127 years
  }
  void rebase(std::int64_t now);
  // A command changes when ticks are due: what was late until then has slipped.
  void rebase_late(std::int64_t now);
  void count_slip(std::int64_t slipped);

  LoopOptions options_;
  Clock& clock_;
  Port port_;
  std::unique_ptr<Running> current_;  // the owner's view
  std::unique_ptr<Running> next_;     // until it has taken over
  Ring<Command, 256> commands_;
  Ring<Running*, 4> retired_;
  Mailbox<Pointer> pointer_;
  Statistics statistics_;
  std::string scheduling_ = "normal";
  std::vector<std::string> notes_;
  std::atomic<bool> is_paused_;
  std::atomic<bool> is_too_slow_ = false;
  std::atomic<bool> is_ready_ = false;
  std::atomic<bool> is_over_ = false;               // for the guard
  std::atomic<std::int64_t> tick_began_ = no_tick;  // ns, of the tick that is under way
  std::atomic<Running*> ticking_ = nullptr;         // whose tick that is

  // The thread's own.
  Running* running_ = nullptr;
  std::int64_t base_ = 0;   // ns
  std::int64_t ticks_ = 0;  // since base_
  double period_ = 1e6;     // ns from deadline to deadline
  double speed_ = 1;
  std::int64_t last_published_ = 0;
  bool has_news_ = false;
  bool is_stopping_ = false;
  bool steps_once_ = false;

  static constexpr std::int64_t no_tick = INT64_MAX;

  std::thread thread_;  // last: they use all of the above
  std::thread guard_;
};

}  // namespace live
