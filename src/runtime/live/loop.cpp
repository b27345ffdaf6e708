#include "runtime/live/loop.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace live {
namespace {

constexpr std::int64_t frame = second / 120;  // shown at most so often, so that 60 a second never wait for one
constexpr std::int64_t idle = second / 200;   // between looks at the commands while nothing moves
constexpr int priority = 80;                  // above every ordinary thread, below the kernel's own at 99
constexpr std::size_t stack_touched = 256 * 1024;

// So that no page of the stack is missing later.
__attribute__((noinline)) void touch_stack() {
  std::array<volatile unsigned char, stack_touched> bytes;
  for (std::size_t i = 0; i < bytes.size(); i += 1024) bytes[i] = 1;
}

}  // namespace

Loop::Loop(std::unique_ptr<Running> first, const LoopOptions& options, bool begins_paused)
    : options_(options),
      clock_(options.clock ? *options.clock : monotonic_clock()),
      port_(options.limits),
      current_(std::move(first)),
      is_paused_(begins_paused) {
  running_ = current_.get();
  if (begins_paused) port_.mute();
  set_period();
  if (!options_.has_threads) {
    rebase(now());
    return;
  }
  thread_ = std::thread([this] { run(); });
  is_ready_.wait(false);
  guard_ = std::thread([this] { guard(); });
}

Loop::~Loop() {
  if (!options_.has_threads) return;
  port_.mute();
  current_->world->cancel();
  if (next_) next_->world->cancel();
  while (!commands_.put({.kind = Command::stop})) std::this_thread::yield();
  thread_.join();
  is_over_ = true;
  guard_.join();
}

// The port hears of a pause at once, not when the tick that is under way has ended.
bool Loop::pause() {
  const bool is_taken = commands_.put({.kind = Command::pause});
  if (is_taken) port_.mute();
  return is_taken;
}
bool Loop::resume() {
  const bool is_taken = commands_.put({.kind = Command::resume});
  if (is_taken) port_.unmute();
  return is_taken;
}
bool Loop::step() {
  const bool is_taken = commands_.put({.kind = Command::step});
  if (is_taken) port_.mute();
  return is_taken;
}
bool Loop::set_speed(double speed) { return commands_.put({.kind = Command::speed, .value = speed}); }
bool Loop::set_parameter(std::uint32_t generation, std::uint32_t index, double value) {
  return commands_.put({.kind = Command::parameter, .generation = generation, .index = index, .value = value});
}

bool Loop::replace(std::unique_ptr<Running>& next, bool goes_on) {
  if (next_) return false;
  if (!commands_.put({.kind = Command::replace, .value = goes_on ? 1.0 : 0.0, .next = next.get()})) return false;
  next_ = std::move(next);
  return true;
}

bool Loop::settle() {
  while (const auto old = retired_.take()) {
    TACTUS_CHECK(*old == current_.get());
    current_ = std::move(next_);
  }
  return next_ != nullptr;
}

void Loop::hand(const Pointer& pointer) {
  Pointer& draft = pointer_.draft();
  draft = pointer;
  draft.heard = now();
  pointer_.publish();
  if (pointer.is_present) {
    port_.hear(draft.heard);
  } else {
    port_.leave();
  }
}

void Loop::enter_real_time() {
  prctl(PR_SET_NAME, thread_name);
  prctl(PR_SET_TIMERSLACK, 1);
  if (!options_.real_time) return;
  // Pages are locked as they are touched: the compiler's own need not be here.
  if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0)
    notes_.push_back(
        fmt::format("memory is not locked ({}): a page may have to be fetched; `ulimit -l unlimited` allows it",
                    std::strerror(errno)));
  const sched_param wanted = {.sched_priority = priority};
  if (const int refused = pthread_setschedparam(pthread_self(), SCHED_FIFO, &wanted)) {
    notes_.push_back(
        fmt::format("the loop has no real-time priority ({}): other programs can delay it; "
                    "`ulimit -r {}`, or CAP_SYS_NICE, allows it",
                    std::strerror(refused), priority));
  } else {
    scheduling_ = "fifo";
  }
}

void Loop::rebase(std::int64_t now) {
  base_ = now;
  ticks_ = 0;
}

void Loop::count_slip(std::int64_t slipped) {
  statistics_.slipped.store(statistics_.slipped.load(std::memory_order_relaxed) + slipped, std::memory_order_relaxed);
}

void Loop::rebase_late(std::int64_t now) {
  if (!is_paused_ && running_->can_move()) count_slip(std::max<std::int64_t>(0, now - deadline_of(ticks_ + 1)));
  rebase(now);
}

void Loop::set_period() {
  period_ = running_->world->timing().period * second / speed_;
  is_too_slow_.store(period_ > options_.limits.tick_age * second, std::memory_order_relaxed);
}

bool Loop::cancel_long_tick() {
  const std::int64_t began = tick_began_.load(std::memory_order_acquire);
  if (began == no_tick || now() - began < longest_tick) return false;
  // Only the owner, whose thread this is, frees worlds: the one that ticks is among these. Another that waits to take
  // over is spared.
  Running* const in = ticking_.load(std::memory_order_relaxed);
  if (tick_began_.load(std::memory_order_acquire) != began) return false;
  if (in == current_.get()) {
    current_->world->cancel();
  } else if (next_ && in == next_.get()) {
    next_->world->cancel();
  }
  return true;
}

void Loop::obey(const Command& command) {
  switch (command.kind) {
    case Command::pause:
      is_paused_ = true;
      has_news_ = true;
      break;
    case Command::resume:
      rebase_late(now());
      is_paused_ = false;
      break;
    case Command::step:
      steps_once_ = true;
      is_paused_ = true;
      break;
    case Command::speed:
      rebase_late(now());
      speed_ = command.value;
      set_period();
      running_->world->set_speed(speed_);
      break;
    case Command::parameter:
      // One that was meant for a world that is gone says nothing about this one.
      if (command.generation != running_->generation || running_->status != TACTUS_OK) break;
      running_->status =
          running_->world->set_parameter(running_->table.load(std::memory_order_acquire), command.index, command.value);
      has_news_ = true;
      break;
    case Command::replace: {
      Running* const old = running_;
      rebase_late(now());
      // One that has failed since the command was given has nothing to go on from.
      if (command.value != 0 && old->status == TACTUS_OK) command.next->world->take_over(*old->world);
      running_ = command.next;
      set_period();
      running_->world->set_speed(speed_);
      port_.begin_world();
      (void)retired_.put(old);  // at most one waits: see replace
      has_news_ = true;
      break;
    }
    case Command::stop:
      is_stopping_ = true;
      break;
  }
}

void Loop::tick(std::int64_t deadline, std::int64_t now) {
  pointer_.refresh();
  World& world = *running_->world;
  ticking_.store(running_, std::memory_order_relaxed);
  tick_began_.store(now, std::memory_order_release);
  const int status = world.tick(running_->table.load(std::memory_order_acquire), pointer_.newest(), now);
  const std::int64_t after = clock_.now();
  tick_began_.store(no_tick, std::memory_order_release);
  if (status != TACTUS_OK || is_too_slow_.load(std::memory_order_relaxed)) {
    port_.withdraw(after);
  } else {
    world.give_force(port_, after);
  }
  statistics_.late.count(now - deadline);
  statistics_.compute.count(after - now);
  statistics_.ticks.store(statistics_.ticks.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (static_cast<double>(now - deadline) > period_)
    statistics_.missed.store(statistics_.missed.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (status != TACTUS_OK) running_->status.store(status, std::memory_order_release);
  if (!running_->can_move()) has_news_ = true;
}

void Loop::publish(std::int64_t now) {
  World& world = *running_->world;
  world.publish((is_paused_ ? flag::paused : 0u) | (world.has_ended() ? flag::ended : 0u));
  last_published_ = now;
  has_news_ = false;
}

void Loop::run() {
  enter_real_time();
  touch_stack();
  rebase(now());
  is_ready_ = true;
  is_ready_.notify_all();
  has_news_ = true;
  while (!is_stopping_) turn();
}

// A step above the loop: one that never sleeps must not keep the guard from the processor.
void Loop::guard() {
  prctl(PR_SET_NAME, guard_name);
  prctl(PR_SET_TIMERSLACK, 1);
  const sched_param wanted = {.sched_priority = priority + 1};
  if (options_.real_time) (void)pthread_setschedparam(pthread_self(), SCHED_FIFO, &wanted);
  std::int64_t next = now();
  while (!is_over_.load(std::memory_order_relaxed)) {
    next = std::max(next + guard_period, now());
    clock_.sleep_until(next);
    port_.watch(now());
  }
}

void Loop::turn() {
  for (int i = 0; i < 32; ++i) {
    const auto command = commands_.take();
    if (!command) break;
    obey(*command);
  }
  std::int64_t now = clock_.now();
  const bool moves = !is_paused_ && running_->can_move();
  if (!moves) {
    if (steps_once_ && running_->can_move()) {
      tick(now, now);
      has_news_ = true;
    } else {
      running_->world->rest(port_, now);
    }
    steps_once_ = false;
    if (has_news_ || now - last_published_ >= 8 * frame) publish(now);
    clock_.sleep_until(now + idle);
    rebase(clock_.now());
    return;
  }

  std::int64_t deadline = deadline_of(ticks_ + 1);
  if (now < deadline) {
    const auto spin = static_cast<std::int64_t>(options_.spin * second);
    if (deadline - spin - now > idle) {  // of a slow world: commands do not wait for its ticks
      if (has_news_ || now - last_published_ >= 8 * frame) publish(now);
      clock_.sleep_until(now + idle);
      return;
    }
    if (deadline - spin > now) clock_.sleep_until(deadline - spin);
    while ((now = clock_.now()) < deadline) {
    }
  }
  const auto lag = static_cast<double>(now - deadline);
  if (lag > options_.most_lag * second) {
    count_slip(now - deadline);
    // A world that is too slow must not take the machine from everybody else.
    clock_.sleep_until(now + static_cast<std::int64_t>(options_.most_lag * second / 10));
    now = clock_.now();
    rebase(now - static_cast<std::int64_t>(period_));
    deadline = now;
  }
  ++ticks_;
  tick(deadline, now);
  if (has_news_ || now - last_published_ >= frame) publish(now);
}

}  // namespace live
