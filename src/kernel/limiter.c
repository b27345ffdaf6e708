/* The last thing before a hand. Enters: any force at all. Leaves: one that a hand may get; see touch.h. */
#include "kernel/elementary.h"
#include "kernel/sections.h"
#include "kernel/touch.h"

static double tk_length(const double* v) { return tk_sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* v no longer than that; whether it had to be cut. Squares of large components overflow, so they are counted in the
 * largest. */
static int tk_shorten_to(double longest, double* v) {
  double largest = 0.0;
  for (int i = 0; i < 3; i++) largest = tk_max(largest, tk_abs(v[i]));
  if (!(largest > 0.0)) return 0;
  const double part[3] = {v[0] / largest, v[1] / largest, v[2] / largest};
  const double length = tk_length(part);
  if (largest * length <= longest) return 0;
  /* A rounding less, so that what leaves is never longer. */
  const double factor = longest / length * (1.0 - 0x1p-50);
  for (int i = 0; i < 3; i++) v[i] = part[i] * factor;
  return 1;
}

void tk_begin_limiting(tk_limiter* limiter, const tk_limits* limits) {
  limiter->limits.force = limits->force;
  limiter->limits.change = limits->change;
  limiter->limits.jump = limits->jump;
  limiter->limits.release = limits->release;
  limiter->limits.input_age = limits->input_age;
  limiter->limits.tick_age = limits->tick_age;
  for (int i = 0; i < 3; i++) limiter->force[i] = 0.0;
  limiter->fall = 0.0;
  limiter->acts = 0;
  limiter->is_broken = 0;
}

void tk_forgive(tk_limiter* limiter) { limiter->is_broken = 0; }

void tk_limit(tk_limiter* limiter, double dt, double input_age, double tick_age, double* force) {
  const tk_limits* limits = &limiter->limits;
  if (!(dt > 0.0)) dt = 0.0;
  limiter->acts = 0;
  for (int i = 0; i < 3; i++) limiter->is_broken |= !tk_is_finite(force[i]);
  if (limiter->is_broken) limiter->acts |= TK_LIMIT_NOT_FINITE;
  if (!(input_age <= limits->input_age)) limiter->acts |= TK_LIMIT_LOST;
  if (!(tick_age <= limits->tick_age)) limiter->acts |= TK_LIMIT_STALLED;

  if (limiter->acts) {
    /* Straight down from where it was; the time since the last call counts, so the fall begins there. */
    const double length = tk_length(limiter->force);
    if (!(limiter->fall > 0.0)) limiter->fall = length / limits->release;
    const double left = length - limiter->fall * dt;
    const double factor = left > 1e-9 * length ? left / length : 0.0;
    for (int i = 0; i < 3; i++) force[i] = limiter->force[i] *= factor;
    return;
  }
  limiter->fall = 0.0;

  if (tk_shorten_to(limits->force, force)) limiter->acts |= TK_LIMIT_FORCE;
  double change[3];
  for (int i = 0; i < 3; i++) change[i] = force[i] - limiter->force[i];
  if (tk_shorten_to(tk_min(limits->change * dt, limits->jump), change)) {
    limiter->acts |= TK_LIMIT_CHANGE;
    for (int i = 0; i < 3; i++) force[i] = limiter->force[i] + change[i];
    tk_shorten_to(limits->force, force);
  }
  for (int i = 0; i < 3; i++) limiter->force[i] = force[i];
}
