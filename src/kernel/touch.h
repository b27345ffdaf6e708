/* Signal chain between a model and a hand, once a tick and in this order:
 *
 *   position of the device -> tk_follow -> position and velocity for the model
 *   force of the model     -> tk_keep_passive -> tk_limit -> the device
 *
 * Vectors have three components; a hand with fewer leaves the others 0. `force` acts on the hand. SI units. Nothing
 * here allocates, loops without bound or can be switched off by a model. */
#ifndef TACTUS_KERNEL_TOUCH_H
#define TACTUS_KERNEL_TOUCH_H

#include "abi/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A device reports positions irregularly, with steps and jitter; a model needs a position and its derivative at every
 * tick. The estimate p follows the last reported position r by p'' = w^2 (r - p) - 2 w p', critically damped. It never
 * overshoots, p' is its exact derivative, and a steady motion is followed with a delay of 2 / w. Solved in closed form
 * over a tick: follow.c. */
typedef struct tk_follower {
  double frequency; /* w, 1/s */
  double position[3];
  double velocity[3];
} tk_follower;

/* Starts at rest at that position: a hand that appears has no velocity yet. */
void tk_begin_following(tk_follower* follower, double frequency, const double* told);
/* Advances the estimate by dt. */
void tk_follow(tk_follower* follower, double dt, const double* told);

/* Passivity observer and controller in the time domain: B. Hannaford and J.-H. Ryu, IEEE Trans. Robot. Autom. 18(1),
 * 2002. The energy that the world took in from the hand so far, computed exactly for a force that is held over each
 * tick,
 *
 *   taken_k = taken_{k-1} - force_{k-1} . (position_k - position_{k-1})
 *
 * may not fall below -reserve: what would go beyond is taken out by a damper at the hand, force - d velocity, with
 * d = -(taken + reserve) / (dt |velocity|^2), at most most_damping. What it could not take out yet stays owed.
 * passivity.c. */
typedef struct tk_passivity {
  double reserve;      /* J that the world may give of its own */
  double most_damping; /* N s/m */
  double taken;        /* J, net, from the hand */
  double removed;      /* J, by the controller so far */
  double force[3];     /* what the device was given last */
  double position[3];  /* of the last tick */
  double damping;      /* of this tick; 0: it does nothing */
  int32_t has_position;
} tk_passivity;

/* After the hand came: energy counts from here. */
void tk_begin_passivity(tk_passivity* passivity);
/* The hand is at `position` with `velocity`; changes `force`, which will be held for dt. */
void tk_keep_passive(tk_passivity* passivity, double dt, const double* position, const double* velocity, double* force);
/* Reports the force that the device was given, after the limiter. */
void tk_gave(tk_passivity* passivity, const double* force);

/* Bounds of the limiter, the last element of the chain. */
typedef struct tk_limits {
  double force;  /* N, the largest */
  double change; /* N/s, the largest */
  double jump; /* N, the largest change from one call to the next, however late that is; a fall to zero may be larger */
  double release;   /* s, within which a force that must end falls to zero */
  double input_age; /* s without a report of the hand after which it counts as lost */
  double tick_age;  /* s without a tick after which the world counts as stalled */
} tk_limits;

enum {
  TK_LIMIT_FORCE = 1,      /* the force was too large */
  TK_LIMIT_CHANGE = 2,     /* it changed too fast */
  TK_LIMIT_NOT_FINITE = 4, /* NaN or infinite: no force until tk_forgive */
  TK_LIMIT_LOST = 8,       /* no report of the hand for too long */
  TK_LIMIT_STALLED = 16    /* no tick for too long */
};

typedef struct tk_limiter {
  tk_limits limits;
  double force[3]; /* what was given last */
  double fall;     /* N/s of the release that is under way; 0: none */
  int32_t acts;    /* TK_LIMIT_.. of the last call */
  int32_t is_broken;
} tk_limiter;

void tk_begin_limiting(tk_limiter* limiter, const tk_limits* limits);
/* Replaces `force`, the world's, by the force that the device gets now. dt: seconds of the clock since the last call;
 * input_age: since the last report of the hand; tick_age: since the world's last tick. Whatever the input, the result
 * is finite and at most limits.force long; it differs from the last by at most limits.change * dt and limits.jump.
 * After a fault, a lost hand or a stall it falls straight to zero, within limits.release of the clock. */
void tk_limit(tk_limiter* limiter, double dt, double input_age, double tick_age, double* force);
/* Called when another world begins: clears a fault of the previous one. The force continues from its present value. */
void tk_forgive(tk_limiter* limiter);

#ifdef __cplusplus
}
#endif

#endif
