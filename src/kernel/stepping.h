/* What every method does around its stages: the grid of fixed steps, and the trials of an adaptive one. Enters: an
 * Instance at (time, states). Leaves: where the next step begins and ends; after an accepted one the Instance at its
 * end, its scratch ready for tk_dense. The methods themselves: fixed_inline.h, adaptive_inline.h, rosenbrock.c.
 *
 * Grid of fixed steps: step k begins at start_time + k h, so that time does not drift. When time = start_time + steps *
 * h does not hold on entry (another h, an adaptive step before, a host that moved time) the count starts anew at the
 * present time.
 *
 * Trials of an adaptive step, HNW II.4:
 *   accept  the scaled error is at most 1, and constraints can be met
 *   reject  h / min(1 / min_factor, error^alpha / .9); by min_factor when the error is not finite or a stage failed
 *   next    h / divisor within the factors, not larger than h right after a rejection; the divisor is the method's
 *
 * t_end is hit exactly: a step that comes within 1% of it is stretched (as far as h_max allows, but for rounding), and
 * one that would leave less than another step is halved, so that no tiny step remains. A step cut short that way does
 * not shrink the next. */
#ifndef TACTUS_KERNEL_STEPPING_H
#define TACTUS_KERNEL_STEPPING_H

#include "kernel/kernel.h"
#include "kernel/project_inline.h"
#include "kernel/sections.h"

/* Where the first of a run of fixed steps is counted from. */
TK_ALWAYS_INLINE double tk_enter_grid(tactus_instance* instance, double h) {
  tk_clear_failure(instance);
  instance->first_stage_valid = 0;
  instance->dense_step = 0.0;
  if (instance->start_time + (double)instance->steps * h != instance->time) {
    instance->start_time = instance->time;
    instance->steps = 0;
  }
  return instance->start_time;
}

/* How far the length may go down or up from one step to the next, and with which power of the error. */
typedef struct tk_factors {
  double alpha;
  double min_factor;
  double max_factor;
} tk_factors;

/* A step that is being tried. */
typedef struct tk_trial {
  double t;
  double t_end;
  double h_max;
  double wanted;   /* before it was cut short by t_end or by errors */
  double previous; /* the length of the last step, 0 when there was none */
  double h;
  double t_after;
  double tolerance;
  int was_rejected;
} tk_trial;

/* A part of the length that errors leave, for what an estimate cannot know. */
#define TK_SAFETY 0.9

/* What an error is measured in. */
TK_ALWAYS_INLINE double tk_error_scale(double tolerance, double x, double after) {
  return tolerance * (1.0 + tk_max(tk_abs(x), tk_abs(after)));
}

/* x^p within 1% for x > 0, |p| <= 1/2; x below 1e-300 counts as 1e-300. Step control asks for no more, and a power to
 * the last bit costs as much as some stages. log2 and exp2 by parabolas between powers of two, continuous and
 * increasing. */
TK_ALWAYS_INLINE double tk_rough_power(double x, double p) {
  const double bend = 0.344;
  const uint64_t bits = tk_bits(x > 1e-300 ? x : 1e-300);
  const double mantissa = tk_from_bits((bits & 0x000fffffffffffffu) | 0x3ff0000000000000u) - 1.0;
  const double log2 = (double)((int64_t)(bits >> 52) - 1023) + mantissa + bend * mantissa * (1.0 - mantissa);
  const double y = p * log2;
  const double whole = tk_floor(y);
  const double part = y - whole;
  return tk_from_bits((uint64_t)((int64_t)whole + 1023) << 52) * (1.0 + part - bend * part * (1.0 - part));
}

/* Begins a step towards t_end, which lies ahead; f at (time, states) is kept from then on. */
TK_ALWAYS_INLINE int tk_begin_step(const tactus_model* model, tactus_instance* instance, int order, double t_end,
                                   double h_max, double tolerance, tk_trial* trial) {
  trial->t = instance->time;
  trial->t_end = t_end;
  const double remaining = t_end - trial->t;
  if (!(h_max > 0.0) || h_max > remaining) h_max = remaining;
  trial->h_max = h_max;
  const int status = tk_first_stage(model, instance);
  if (status != TACTUS_OK) return status;
  trial->previous = instance->dense_step;
  instance->dense_step = 0.0;
  trial->wanted = instance->next_step;
  if (!(trial->wanted > 0.0)) trial->wanted = tk_first_step(model, instance, order, h_max, tolerance);
  trial->h = trial->wanted;
  trial->was_rejected = 0;
  trial->tolerance = tolerance;
  return TACTUS_OK;
}

/* Settles where the next trial ends, and its length. 0: it is lost in rounding. */
TK_ALWAYS_INLINE int tk_next_trial(tk_trial* trial) {
  const double remaining = trial->t_end - trial->t;
  trial->h = tk_min(trial->h, trial->h_max);
  if (tk_min(1.01 * trial->h, trial->h_max * (1.0 + 0x1p-40)) >= remaining) {
    trial->h = remaining;
    trial->t_after = trial->t_end;
    return 1;
  }
  if (2.0 * trial->h > remaining) trial->h = 0.5 * remaining;
  trial->t_after = trial->t + trial->h;
  if (trial->h < 16.0 * 0x1p-52 * tk_max(tk_abs(trial->t), 0x1p-900)) return 0;
  trial->h = trial->t_after - trial->t;
  return 1;
}

/* No trial is left; `status` is that of the last one. */
TK_ALWAYS_INLINE int tk_give_up(const tactus_model* model, tactus_instance* instance, const tk_trial* trial,
                                int status) {
  return status != TACTUS_OK
             ? tk_fail(instance, status, status == TACTUS_OFF_CONSTRAINTS ? instance->failed_index : -1)
             : tk_fail(instance, TACTUS_STEP_TOO_SMALL, tk_worst_state(model, instance, trial->was_rejected));
}

/* Whether the trial that led to `after` stands: its error is small, `finite` is so, and `after` can be moved onto the
 * constraints. */
TK_ALWAYS_INLINE int tk_is_accepted(const tactus_model* model, tactus_instance* instance, const tk_trial* trial,
                                    double error, const double* finite, double* after, int* status, int specialised) {
  if (!(error <= 1.0) || tk_first_not_finite(model->state_count, finite) >= 0) return 0;
  if (model->constraint_count == 0) return 1;
  *status =
      tk_project_here(model, instance, trial->t_after, after, TK_ADAPTIVE_PROJECTIONS, trial->tolerance, specialised);
  if (*status == TACTUS_OK) return 1;
  instance->first_stage_valid = 1; /* still the one at (time, states) */
  return 0;
}

TK_ALWAYS_INLINE void tk_reject(tactus_instance* instance, tk_trial* trial, const tk_factors* factors, double error,
                                int status) {
  instance->rejected++;
  trial->was_rejected = 1;
  trial->h = status == TACTUS_OK && error > 1.0 && tk_is_finite(error)
                 ? trial->h / tk_min(1.0 / factors->min_factor, tk_rough_power(error, factors->alpha) / TK_SAFETY)
                 : trial->h * factors->min_factor;
}

TK_ALWAYS_INLINE void tk_choose_next(tactus_instance* instance, const tk_trial* trial, const tk_factors* factors,
                                     double error, double divisor) {
  const double next = trial->h / tk_min(tk_max(divisor, 1.0 / factors->max_factor), 1.0 / factors->min_factor);
  instance->next_step = trial->was_rejected        ? tk_min(next, trial->h)
                        : trial->h < trial->wanted ? tk_max(next, trial->wanted)
                                                   : next;
  instance->last_error = error;
}

/* Moves the Instance from `x`, its states, to the end of the step. */
TK_ALWAYS_INLINE void tk_take_step(const tactus_model* model, tactus_instance* instance, const tk_trial* trial,
                                   double* x, const double* after) {
  const uint32_t n = model->state_count;
  tk_copy(n, x, tk_stage_vector(model, instance, TK_BEFORE));
  tk_copy(n, after, x);
  if (n > 0) *tk_stage_vector(model, instance, TK_DENSE_READY) = 0.0;
  instance->dense_from = trial->t;
  instance->dense_step = trial->h;
  instance->time = trial->t_after;
  instance->steps++;
  tk_clear_failure(instance);
}

#endif
