// How fast a client may speak: an account that fills with time up to a bound (a token bucket). Enter costs and times,
// leave verdicts.
#pragma once

#include <algorithm>
#include <chrono>

namespace server {

class Allowance {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Allowance(double per_second, double at_once, Time now)
      : per_second_(per_second), at_once_(at_once), left_(at_once), last_(now) {}

  // False when the account does not hold `cost`; then nothing is taken. `now` never goes back.
  [[nodiscard]] bool take(double cost, Time now) {
    left_ = std::min(at_once_, left_ + per_second_ * std::chrono::duration<double>(now - last_).count());
    last_ = now;
    if (cost > left_) return false;
    left_ -= cost;
    return true;
  }

 private:
  double per_second_;
  double at_once_;
  double left_;
  Time last_;
};

}  // namespace server
