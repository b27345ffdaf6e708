// The port to a hand: the last thing between worlds and the device. Enters: a force a tick, and the news of the hand.
// Leaves: samples of what the device gets, each limited by the clock time since the one before it (kernel/limiter.c).
//
// It outlives worlds. Two threads take samples: the loop at the end of each tick, the guard every millisecond. So a
// force ends when it must, whatever the loop is doing: a tick that does not end, a hand that left or fell silent, a
// pause. Between slow ticks the guard brings the force to where the world wants it, by the same limits.
//
// Neither thread waits: of two that come at the same time one takes the sample, and the other leaves it at that.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "kernel/touch.h"
#include "runtime/live/mailbox.h"

namespace live {

using Force = std::array<double, 3>;

struct Sample {
  Force force = {};
  std::int64_t at = 0;     // ns
  std::int32_t acts = 0;   // TK_LIMIT_..
  std::int32_t count = 0;  // of samples so far, modulo 2^31
};

class Port {
 public:
  explicit Port(const tk_limits& limits);
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  // The hand's news, from one thread. `mute`: no force until `unmute`, whatever the loop says.
  void hear(std::int64_t now) { heard_.store(now, std::memory_order_relaxed); }
  void leave() { heard_.store(never, std::memory_order_relaxed); }
  void mute() { is_muted_.store(true, std::memory_order_relaxed); }
  void unmute() { is_muted_.store(false, std::memory_order_relaxed); }

  // The loop's. A tick ended, and the world gives this force until the next one.
  void give(std::int64_t now, const Force& force);
  // No world gives any: it is paused, has failed or has ended.
  void withdraw(std::int64_t now);
  // The mean of what the device got since the last call: what a hand that moved evenly since then took or gave is that
  // force times its way.
  [[nodiscard]] Force mean(std::int64_t now);
  // Another world gives the force from here on.
  void begin_world();

  // The guard's: a sample, unless the last one is younger than `guard_period`.
  void watch(std::int64_t now);

  // Anybody's.
  [[nodiscard]] Sample newest() const;
  // How often ticks failed to come while a world was to give a force.
  [[nodiscard]] std::int64_t stalls() const { return stalls_.load(std::memory_order_relaxed); }
  [[nodiscard]] const tk_limits& limits() const { return limiter_.limits; }

 private:
  struct Target {
    Force force = {};
    std::int64_t at = never;
    std::int32_t world = 0;
    bool is_withdrawn = true;
  };

  bool try_to_own() { return !is_owned_.test_and_set(std::memory_order_acquire); }
  void disown() { is_owned_.clear(std::memory_order_release); }
  // The owner's.
  void sample(std::int64_t now);
  void hold_until(std::int64_t now);
  void show(std::int64_t now);

  static constexpr std::int64_t never = INT64_MIN / 2;

  std::atomic<std::int64_t> heard_ = never;
  std::atomic<bool> is_muted_ = false;
  Mailbox<Target> target_;  // from the loop to the owner
  std::int32_t world_ = 0;  // the loop's: which one gives
  Force mean_ = {};         // the loop's: the last that it was told
  std::atomic<std::int64_t> stalls_ = 0;

  // Of whoever owns it.
  std::atomic_flag is_owned_ = ATOMIC_FLAG_INIT;
  tk_limiter limiter_ = {};
  std::int64_t last_ = never;        // when the last sample was taken
  std::int64_t mean_from_ = never;   // since when the mean is taken
  std::int64_t counted_to_ = never;  // how far `impulse_` goes
  Force impulse_ = {};               // N s, from mean_from_ to counted_to_
  bool has_changed_ = false;         // the force, since mean_from_
  bool was_stalled_ = false;
  std::int32_t world_heard_ = 0;

  // Sequence lock: odd while it is written.
  std::atomic<std::uint32_t> sequence_ = 0;
  std::array<std::atomic<double>, 3> shown_force_ = {};
  std::atomic<std::int64_t> shown_at_ = 0;
  std::atomic<std::int32_t> shown_acts_ = 0;
};

inline constexpr std::int64_t guard_period = 1'000'000;  // ns

}  // namespace live
