/* A hand followed smoothly. Enters: positions told now and then. Leaves: position and velocity at every tick; see
 * touch.h.
 *
 * With e = p - told, e'' + 2 w e' + w^2 e = 0 has the solution e = (e0 + (v0 + w e0) t) exp(-w t), v = (v0 - w (v0 + w
 * e0) t) exp(-w t). */
#include "kernel/elementary.h"
#include "kernel/touch.h"

void tk_begin_following(tk_follower* follower, double frequency, const double* told) {
  follower->frequency = frequency;
  for (int i = 0; i < 3; i++) {
    follower->position[i] = told[i];
    follower->velocity[i] = 0.0;
  }
}

void tk_follow(tk_follower* follower, double dt, const double* told) {
  const double w = follower->frequency;
  const double decay = tk_exp(-w * dt);
  for (int i = 0; i < 3; i++) {
    const double e = follower->position[i] - told[i];
    const double slope = follower->velocity[i] + w * e;
    follower->position[i] = told[i] + (e + slope * dt) * decay;
    follower->velocity[i] = (follower->velocity[i] - w * slope * dt) * decay;
  }
}
