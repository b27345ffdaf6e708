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

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t frame = second / 120;  // shown at most so often, so that 60 a second never wait for one
constexpr std::int64_t idle = second / 200;   // between looks at the commands while nothing moves
constexpr int priority = 80;                  // above every ordinary thread, below the kernel's own at 99
constexpr std::size_t stack_touched = 256 * 1024;

std::int64_t now_ns() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * second + now.tv_nsec;
}

void sleep_until(std::int64_t deadline) {
  const timespec until = {deadline / second, deadline % second};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

// So that no page of the stack is missing later.
__attribute__((noinline)) void touch_stack() {
  std::array<volatile unsigned char, stack_touched> bytes;
  for (std::size_t i = 0; i < bytes.size(); i += 1024) bytes[i] = 1;
}

}  // namespace

Loop::Loop(std::unique_ptr<Running> first, const LoopOptions& options, bool begins_paused)
    : options_(options), current_(std::move(first)), is_paused_(begins_paused) {
  running_ = current_.get();
  period_ = running_->world->timing().period * second;
  thread_ = std::thread([this] { run(); });
  is_ready_.wait(false);
}

Loop::~Loop() {
  while (!commands_.put({.kind = Command::stop})) std::this_thread::yield();
  thread_.join();
}

bool Loop::pause() { return commands_.put({.kind = Command::pause}); }
bool Loop::resume() { return commands_.put({.kind = Command::resume}); }
bool Loop::step() { return commands_.put({.kind = Command::step}); }
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
  draft.heard = now_ns();
  pointer_.publish();
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
  last_tick_ = now;
}

void Loop::obey(const Command& command) {
  switch (command.kind) {
    case Command::pause:
      is_paused_ = true;
      has_news_ = true;
      break;
    case Command::resume:
      is_paused_ = false;
      rebase(now_ns());
      break;
    case Command::step:
      steps_once_ = true;
      is_paused_ = true;
      break;
    case Command::speed:
      speed_ = command.value;
      period_ = running_->world->timing().period * second / speed_;
      running_->world->set_speed(speed_);
      rebase(now_ns());
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
      if (command.value != 0) command.next->world->take_over(*old->world);
      running_ = command.next;
      period_ = running_->world->timing().period * second / speed_;
      running_->world->set_speed(speed_);
      rebase(now_ns());
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
  const Pointer& pointer = pointer_.newest();
  World& world = *running_->world;
  const double input_age = 1e-9 * static_cast<double>(now - pointer.heard);
  const double tick_age = 1e-9 * static_cast<double>(now - last_tick_);
  const int status = world.tick(running_->table.load(std::memory_order_acquire), pointer, input_age, tick_age);
  last_tick_ = now;
  const std::int64_t after = now_ns();
  statistics_.late.count(now - deadline);
  statistics_.compute.count(after - now);
  statistics_.ticks.store(statistics_.ticks.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (static_cast<double>(now - deadline) > period_)
    statistics_.missed.store(statistics_.missed.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (status != TACTUS_OK) {
    has_news_ = true;
    running_->status.store(status, std::memory_order_release);
  }
}

void Loop::publish(std::int64_t now) {
  running_->world->publish(is_paused_ ? flag::paused : 0u);
  last_published_ = now;
  has_news_ = false;
}

void Loop::run() {
  enter_real_time();
  touch_stack();
  rebase(now_ns());
  is_ready_ = true;
  is_ready_.notify_all();
  has_news_ = true;
  while (!is_stopping_) {
    for (int i = 0; i < 32; ++i) {
      const auto command = commands_.take();
      if (!command) break;
      obey(*command);
    }
    std::int64_t now = now_ns();
    const bool moves = !is_paused_ && running_->status == TACTUS_OK;
    if (!moves) {
      if (steps_once_ && running_->status == TACTUS_OK) {
        tick(now, now);
        has_news_ = true;
      } else {
        running_->world->rest(1e-9 * idle);
      }
      steps_once_ = false;
      if (has_news_ || now - last_published_ >= 8 * frame) publish(now);
      sleep_until(now + idle);
      rebase(now_ns());
      continue;
    }

    std::int64_t deadline = deadline_of(ticks_ + 1);
    if (now < deadline) {
      const auto spin = static_cast<std::int64_t>(options_.spin * second);
      if (deadline - spin - now > idle) {  // of a slow world: commands do not wait for its ticks
        if (has_news_ || now - last_published_ >= 8 * frame) publish(now);
        sleep_until(now + idle);
        continue;
      }
      if (deadline - spin > now) sleep_until(deadline - spin);
      while ((now = now_ns()) < deadline) {
      }
    }
    const auto lag = static_cast<double>(now - deadline);
    if (lag > options_.most_lag * second) {
      statistics_.slipped.store(statistics_.slipped.load(std::memory_order_relaxed) + (now - deadline),
                                std::memory_order_relaxed);
      const std::int64_t before = last_tick_;
      // A world that is too slow must not take the machine from everybody else.
      sleep_until(now + static_cast<std::int64_t>(options_.most_lag * second / 10));
      now = now_ns();
      rebase(now - static_cast<std::int64_t>(period_));
      last_tick_ = before;
      deadline = now;
    }
    ++ticks_;
    tick(deadline, now);
    if (has_news_ || now - last_published_ >= frame) publish(now);
  }
}

}  // namespace live
