// A mass on a spring and a damper whose far end moves steadily, under a constant force: the exact motion, for any time.
//
//   m x'' + c x' + k (x - r) = f,   r' constant
//
// Then w = x' - r' obeys w'' + p w' + q w = 0 with p = c/m, q = k/m, so with a = w'
//
//   x(t) = x + r' t + w J + a P,   w(t) = w C + a S,   a(t) = -q S w + S' a
//
// where P'' + p P' + q P = 1, P(0) = P'(0) = 0, and S = P', C = S' + p S, J = S + p P. P is summed as its Taylor series
// over a short time and doubled up (the functional equations of the matrix exponential of (x, w, a)). Only sums,
// products and quotients: the same bits on every machine. Nothing divides by c or k, so a free mass is no special case.
// Source: C. Moler and C. Van Loan, SIAM Review 45(1), 2003, method 3.
#pragma once

namespace haptic {

// The coefficients of the motion above, after one length of time.
struct Transition {
  double time = 0;
  double p = 0, s = 0, s_rate = 1;  // P, S, S'
  double c = 1, j = 0;              // C, J
};

class LinearMotion {
 public:
  LinearMotion() = default;
  // mass > 0, damping and stiffness >= 0, all finite.
  LinearMotion(double mass, double damping, double stiffness);

  // time >= 0.
  [[nodiscard]] Transition after(double time) const;

  double p() const { return p_; }
  double q() const { return q_; }
  // No longer than this, w and a change their signs at most once; infinite where they never do so twice.
  double quarter() const { return quarter_; }

 private:
  double p_ = 0, q_ = 0, quarter_ = 0;
};

}  // namespace haptic
