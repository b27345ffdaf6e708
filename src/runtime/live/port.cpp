#include "runtime/live/port.h"

#include <algorithm>
#include <cmath>

namespace live {
namespace {

double seconds(std::int64_t ns) { return 1e-9 * static_cast<double>(ns); }

}  // namespace

Port::Port(const tk_limits& limits) { tk_begin_limiting(&limiter_, &limits); }

void Port::give(std::int64_t now, const Force& force) {
  target_.draft() = {force, now, world_, false};
  target_.publish();
  if (!try_to_own()) return;  // the guard takes the new force with its next sample
  sample(now);
  disown();
}

void Port::withdraw(std::int64_t now) {
  target_.draft() = {{}, now, world_, true};
  target_.publish();
  if (!try_to_own()) return;
  sample(now);
  disown();
}

void Port::begin_world() { ++world_; }

void Port::watch(std::int64_t now) {
  if (!try_to_own()) return;
  if (now - last_ >= guard_period) sample(now);
  disown();
}

Force Port::mean(std::int64_t now) {
  if (!try_to_own()) return mean_;
  hold_until(now);
  const double length = seconds(counted_to_ - mean_from_);
  for (std::size_t i = 0; i < 3; ++i) mean_[i] = has_changed_ && length > 0 ? impulse_[i] / length : limiter_.force[i];
  mean_from_ = counted_to_;
  impulse_ = {};
  has_changed_ = false;
  disown();
  return mean_;
}

// The force stayed as it is from counted_to_ until now.
void Port::hold_until(std::int64_t now) {
  if (now <= counted_to_) return;
  if (counted_to_ == never) counted_to_ = mean_from_ = now;
  for (std::size_t i = 0; i < 3; ++i) impulse_[i] += limiter_.force[i] * seconds(now - counted_to_);
  counted_to_ = now;
}

void Port::sample(std::int64_t now) {
  now = std::max(now, last_);
  hold_until(now);
  target_.refresh();
  const Target& target = target_.newest();
  if (target.world != world_heard_) {
    world_heard_ = target.world;
    tk_forgive(&limiter_);
  }
  const bool may_push = !target.is_withdrawn && !is_muted_.load(std::memory_order_relaxed);
  const double input_age = may_push ? seconds(now - heard_.load(std::memory_order_relaxed)) : HUGE_VAL;
  // Where nothing is to be given, no tick is missing.
  const bool is_missing = may_push && input_age <= limiter_.limits.input_age;
  const double tick_age = is_missing ? seconds(now - target.at) : 0.0;
  Force force = target.force;
  const Force before = {limiter_.force[0], limiter_.force[1], limiter_.force[2]};
  // A first sample has no time behind it.
  tk_limit(&limiter_, last_ == never ? 0.0 : seconds(now - last_), input_age, tick_age, force.data());
  has_changed_ = has_changed_ || (force != before && mean_from_ != now);
  last_ = now;
  const bool is_stalled = (limiter_.acts & TK_LIMIT_STALLED) != 0;
  if (is_stalled && !was_stalled_) stalls_.fetch_add(1, std::memory_order_relaxed);
  was_stalled_ = is_stalled;
  show(now);
}

void Port::show(std::int64_t now) {
  sequence_.fetch_add(1, std::memory_order_acq_rel);
  std::atomic_thread_fence(std::memory_order_release);
  for (std::size_t i = 0; i < 3; ++i) shown_force_[i].store(limiter_.force[i], std::memory_order_relaxed);
  shown_at_.store(now, std::memory_order_relaxed);
  shown_acts_.store(limiter_.acts, std::memory_order_relaxed);
  sequence_.fetch_add(1, std::memory_order_release);
}

Sample Port::newest() const {
  for (;;) {
    const std::uint32_t before = sequence_.load(std::memory_order_acquire);
    Sample sample;
    for (std::size_t i = 0; i < 3; ++i) sample.force[i] = shown_force_[i].load(std::memory_order_relaxed);
    sample.at = shown_at_.load(std::memory_order_relaxed);
    sample.acts = shown_acts_.load(std::memory_order_relaxed);
    sample.count = static_cast<std::int32_t>(before / 2);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 == 0 && sequence_.load(std::memory_order_relaxed) == before) return sample;
  }
}

}  // namespace live
