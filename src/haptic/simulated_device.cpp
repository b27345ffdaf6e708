#include "haptic/simulated_device.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace haptic {
namespace {

// The time in (low, high) at which `at(t)` = {value, rate} is zero; value changes sign there once, from `sign` to
// -sign. Newton's method, halving where it would leave the bracket; to the last bits.
template <class Function>
double locate(double low, double high, double sign, const Function& at) {
  double t = (low + high) / 2;
  for (int i = 0; i < 100; ++i) {
    const auto [value, rate] = at(t);
    if (value == 0) return t;
    (sign * value > 0 ? low : high) = t;
    double next = t - value / rate;
    if (!(next > low && next < high)) next = (low + high) / 2;
    if (std::abs(next - t) <= 1e-15 * high || next == low || next == high) return next;
    t = next;
  }
  return t;
}

struct ValueAndRate {
  double value, rate;
};

}  // namespace

SimulatedDevice::SimulatedDevice(const Device& device, const Arm& arm, double period, int delay)
    : device_(device),
      arm_(arm),
      period_(period),
      mass_(device.mass + arm.mass),
      motion_(mass_, device.damping + arm.damping, arm.stiffness),
      under_way_(static_cast<std::size_t>(delay)) {
  TACTUS_CHECK(period > 0 && delay >= 0 && device.coulomb >= 0 && device.encoder >= 0 && device.force_limit >= 0);
  whole_ = motion_.after(period);
}

double quantise(double position, double encoder) {
  return encoder > 0 ? encoder * std::floor(position / encoder + 0.5) : position;
}

void SimulatedDevice::hold_at(double position, double force, double target) {
  position_ = position;
  velocity_ = 0;
  target_ = target;
  acted_ = std::clamp(force, -device_.force_limit, device_.force_limit);
  std::fill(under_way_.begin(), under_way_.end(), acted_);
  reading_ = {quantise(position_, device_.encoder), 0};
}

double SimulatedDevice::energy() const {
  const double stretch = position_ - target_;
  return (mass_ * velocity_ * velocity_ + arm_.stiffness * stretch * stretch) / 2;
}

Reading SimulatedDevice::tick(double force, double target) {
  acted_ = std::clamp(force, -device_.force_limit, device_.force_limit);
  if (!under_way_.empty()) {
    std::swap(acted_, under_way_[oldest_]);
    oldest_ = oldest_ + 1 == under_way_.size() ? 0 : oldest_ + 1;
  }
  const double target_rate = (target - target_) / period_;
  move(acted_ + arm_.damping * target_rate, target_rate);
  target_ = target;
  const double seen = quantise(position_, device_.encoder);
  reading_ = {seen, (seen - reading_.position) / period_};
  return reading_;
}

void SimulatedDevice::advance(const Transition& by, double w, double a, double target_rate) {
  position_ += target_rate * by.time + w * by.j + a * by.p;
  velocity_ = target_rate + w * by.c + a * by.s;
  target_ += target_rate * by.time;
}

// `force`: all that does not depend on where the handle is and how fast it moves, but friction.
void SimulatedDevice::move(double force, double target_rate) {
  if (!(device_.coulomb > 0)) {
    const double a =
        (force + arm_.stiffness * (target_ - position_) - (device_.damping + arm_.damping) * velocity_) / mass_;
    advance(whole_, velocity_ - target_rate, a, target_rate);
    return;
  }
  double remaining = period_;
  // A phase ends where friction stops the device or lets go of it, and after a quarter of a swing: more than a few in a
  // tick only if the arm is far stiffer than the loop is fast.
  constexpr int most_phases = 10'000;
  for (int phase = 0; remaining > 0 && phase < most_phases; ++phase) {
    if (velocity_ != 0) {
      slide(velocity_ > 0 ? 1 : -1, false, force, target_rate, remaining);
      continue;
    }
    const double pull = force + arm_.stiffness * (target_ - position_);
    if (std::abs(pull) > device_.coulomb) {
      slide(pull > 0 ? 1 : -1, false, force, target_rate, remaining);
      continue;
    }
    // It holds, until the arm that draws on its spring has drawn enough.
    const double growth = arm_.stiffness * target_rate;
    const double left = (growth > 0 ? device_.coulomb - pull : device_.coulomb + pull) / std::abs(growth);
    const double held = growth != 0 ? std::min(left, remaining) : remaining;
    target_ += target_rate * held;
    remaining -= held;
    if (remaining > 0) slide(growth > 0 ? 1 : -1, true, force, target_rate, remaining);
  }
}

// Friction against `direction`, until the device stops or the time is over; at most a quarter of a swing. `is_leaving`:
// it was held until now, so that the forces balance.
void SimulatedDevice::slide(int direction, bool is_leaving, double force, double target_rate, double& remaining) {
  const double sign = direction;
  const double w = velocity_ - target_rate;
  double a = (force + arm_.stiffness * (target_ - position_) - (device_.damping + arm_.damping) * velocity_ -
              sign * device_.coulomb) /
             mass_;
  if (is_leaving) a = 0;
  const double h = std::min(remaining, motion_.quarter());
  const Transition end = h == period_ ? whole_ : motion_.after(h);
  const auto speed = [&](double t) -> ValueAndRate {
    const Transition by = motion_.after(t);
    return {target_rate + w * by.c + a * by.s, -motion_.q() * by.s * w + by.s_rate * a};
  };
  const auto acceleration = [&](double t) -> ValueAndRate {
    const Transition by = motion_.after(t);
    const double rate = -motion_.q() * by.s * w + by.s_rate * a;
    return {rate, -motion_.p() * rate - motion_.q() * (w * by.c + a * by.s)};
  };
  const double end_speed = sign * (target_rate + w * end.c + a * end.s);
  const double end_rate = sign * (-motion_.q() * end.s * w + end.s_rate * a);
  const bool starts = velocity_ == 0;
  const auto stay = [&] {
    velocity_ = 0;
    target_ += target_rate * h;
    remaining -= h;
  };

  // When it stops first. Over h the speed has one extreme at most.
  double low = 0, high = 0;
  if (end_speed <= 0) {
    high = h;
    if (starts) {
      // From rest it speeds up before it stops; if not even that can be seen, the forces balance to the last bit.
      if (!(end_rate < 0) || !(sign * a >= 0)) return stay();
      low = sign * a > 0 || is_leaving ? locate(0, h, sign, acceleration) : 0;
      if (!(sign * speed(low).value > 0)) return stay();
    }
  } else if (!starts && sign * a < 0 && end_rate > 0) {
    const double slowest = locate(0, h, -sign, acceleration);
    if (sign * speed(slowest).value <= 0) high = slowest;
  }
  if (!(high > 0)) {
    advance(end, w, a, target_rate);
    remaining -= h;
    return;
  }
  const double stop = locate(low, high, sign, speed);
  advance(motion_.after(stop), w, a, target_rate);
  velocity_ = 0;
  remaining -= stop;
}

}  // namespace haptic
