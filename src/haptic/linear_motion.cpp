#include "haptic/linear_motion.h"

#include <cmath>
#include <limits>

#include "base/check.h"

namespace haptic {

LinearMotion::LinearMotion(double mass, double damping, double stiffness) : p_(damping / mass), q_(stiffness / mass) {
  TACTUS_CHECK(mass > 0 && damping >= 0 && stiffness >= 0 && std::isfinite(p_) && std::isfinite(q_));
  const double squared = q_ - p_ * p_ / 4;
  quarter_ = squared > 0 ? 1.5707963267948966 / std::sqrt(squared) : std::numeric_limits<double>::infinity();
}

Transition LinearMotion::after(double time) const {
  double t = time;
  int halvings = 0;
  while (p_ * t > 0.5 || q_ * t * t > 0.25) {
    t /= 2;
    ++halvings;
  }
  // The terms P_n t^n from n = 2 on. At most 0.5^n / n! in size beyond, so twelve of them reach rounding.
  const double pt = p_ * t, qtt = q_ * t * t;
  double before = 0, term = t * t / 2;
  double sum = 0, sum_n = 0, sum_nn = 0;  // of P_n t^n, n P_n t^n, n (n - 1) P_n t^n
  for (int n = 2; n < 16; ++n) {
    sum += term;
    sum_n += n * term;
    sum_nn += n * (n - 1) * term;
    const double next = -(pt * term + qtt * before / n) / (n + 1);
    before = term;
    term = next;
  }
  Transition of;
  of.time = time;
  if (!(t > 0)) return of;
  of.p = sum;
  of.s = sum_n / t;
  of.s_rate = sum_nn / (t * t);
  of.c = of.s_rate + p_ * of.s;
  of.j = of.s + p_ * of.p;
  for (; halvings > 0; --halvings) {
    const Transition half = of;
    of.p = half.p + half.j * half.s + half.p * half.s_rate;
    of.j = half.j + half.j * half.c - half.p * q_ * half.s;
    of.s = half.s * (half.c + half.s_rate);
    of.c = half.c * half.c - q_ * half.s * half.s;
    of.s_rate = half.s_rate * half.s_rate - q_ * half.s * half.s;
  }
  return of;
}

}  // namespace haptic
