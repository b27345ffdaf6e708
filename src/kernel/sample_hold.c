/* The Passive Sample and Hold between a fast and a slow system: Algorithm 2 of Borghesan, Macchelli, Melchiorri (seed
 * 001).
 *
 * Enters: each fast sample u_f of what the fast system gives, and at each slow sample y_s, what the slow one gives.
 * Leaves: u_s, what the slow system gets for its next period. y_s itself is what the fast one gets, held. What the fast
 * system's samples since the last slow one carried beyond what u_s did is kept as energy, and given back or taken at
 * later slow samples, as much as the change of u_f allows.
 *
 * As listed in the paper; its Eq. 18 does not bound |u_s(n) - u_s(n-1)| as its Eq. 14 says, so nothing of the kind is
 * promised. */
#include "kernel/kernel.h"
#include "kernel/sections.h"

/* The power that is given back goes along y, where there are several components. */
void tk_hold_release(uint32_t count, double period, double energy, const double* y, double sign, const double* u_f,
                     double* u_s) {
  double speed = 0.0;
  double change = 0.0;
  for (uint32_t i = 0; i < count; i++) {
    const double by = sign * u_f[i] - u_s[i];
    speed += y[i] * y[i];
    change += by * by;
  }
  double released = 0.0;
  if (speed > 0.0) {
    released = 2.0 * tk_sqrt(change) * tk_sqrt(speed);
    released = tk_min(released, tk_abs(energy) / period);
    if (energy <= 0.0) released = -released;
    released /= speed;
  }
  for (uint32_t i = 0; i < count; i++) u_s[i] = sign * u_f[i] + released * y[i];
}

double tk_hold_slow_sample(double* hold, double period, double y_s, double u_f) {
  const double samples = hold[TK_HOLD_SAMPLES];
  if (samples > 0.0) {
    /* Eq. 21 of the period that ends here. */
    hold[TK_HOLD_ENERGY] += period * hold[TK_HOLD_Y] * (hold[TK_HOLD_SUM] / samples - hold[TK_HOLD_U_FAST]) -
                            period * hold[TK_HOLD_RELEASED];
  } else {
    hold[TK_HOLD_U_SLOW] = u_f;
  }
  double released = 0.0;
  double u_s = u_f;
  if (y_s != 0.0) {
    released = 2.0 * tk_abs(u_f - hold[TK_HOLD_U_SLOW]) * tk_abs(y_s);
    released = tk_min(released, tk_abs(hold[TK_HOLD_ENERGY]) / period);
    if (hold[TK_HOLD_ENERGY] <= 0.0) released = -released;
    u_s = u_f + released / y_s;
  }
  hold[TK_HOLD_U_SLOW] = u_s;
  hold[TK_HOLD_U_FAST] = u_f;
  hold[TK_HOLD_Y] = y_s;
  hold[TK_HOLD_RELEASED] = released;
  hold[TK_HOLD_SUM] = 0.0;
  hold[TK_HOLD_SAMPLES] = 0.0;
  return u_s;
}

void tk_hold_fast_sample(double* hold, double u_f) {
  hold[TK_HOLD_SUM] += u_f;
  hold[TK_HOLD_SAMPLES] += 1.0;
}
