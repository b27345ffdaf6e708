/* One accepted step of an adaptive method. Enters: an Instance at (time, states) with next_step, 0 asking for a first
 * guess. Leaves: the Instance one step later, its scratch ready for tk_dense; or unchanged in time, states and steps, with
 * status. HNW II.4; pages as in runge_kutta.h.
 *
 *   error   root mean square of estimate_i / (tolerance * (1 + max(|x_i|, |x_i after|))), accepted when at most 1
 *   reject  h / min(1 / min_factor, error^alpha / .9); by min_factor when the error is not finite or a stage failed
 *   accept  h / clamp(error^alpha / (.9 previous^beta)), not larger than h right after a rejection
 *
 * t_end is hit exactly: a step that comes within 1% of it is stretched (as far as h_max allows, but for rounding), and one
 * that would leave less than another step is halved, so that no tiny step remains. A step cut short that way does not
 * shrink the next.
 *
 * `specialised` as in fixed_inline.h; the vectors stay in scratch. */
#ifndef TACTUS_KERNEL_ADAPTIVE_INLINE_H
#define TACTUS_KERNEL_ADAPTIVE_INLINE_H

#include "kernel/kernel.h"
#include "kernel/runge_kutta.h"
#include "kernel/sections.h"

/* Steps between two looks at stiffness, unless the last one found some. */
#define TK_FEEL_STRIDE 16

/* sum_j row[j] k_j[i], zeros skipped. */
TK_ALWAYS_INLINE double tk_weighted(const double* row, int stages, const double* k, uint32_t stride, int specialised) {
  double sum = 0.0;
  if (specialised) {
    TK_UNROLL for (int j = 0; j < stages; j++) {
      if (row[j] != 0.0) sum += row[j] * k[(uint64_t)j * stride];
    }
  } else {
    for (int j = 0; j < stages; j++) {
      if (row[j] != 0.0) sum += row[j] * k[(uint64_t)j * stride];
    }
  }
  return sum;
}

/* Stage s of a step from (t, x) to t_after; the last one's argument is the state after the step. */
TK_ALWAYS_INLINE int tk_adaptive_stage(const tactus_model* model, tactus_instance* instance,
                                       const tk_embedded_method* pair, int s, const double* x, double* argument,
                                       double* k, double t, double t_after, double h, int specialised) {
  const uint32_t n = model->state_count;
  const double* row = pair->a + s * (s - 1) / 2;
  for (uint32_t i = 0; i < n; i++) argument[i] = x[i] + h * tk_weighted(row, s, k + i, n, specialised);
  return model->derivative(model, instance, pair->c[s] < 1.0 ? t + pair->c[s] * h : t_after, argument,
                           k + (uint64_t)s * n);
}

/* x^p within 1% for x > 0, |p| <= 1/2; x below 1e-300 counts as 1e-300. Step control asks for no more, and a power to
 * the last bit costs as much as some stages. log2 and exp2 by parabolas between powers of two, continuous and increasing. */
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

/* The length of the trial that was asked for as *h, and where it ends. 0: it is lost in rounding. */
TK_ALWAYS_INLINE int tk_trial_length(double t, double t_end, double h_max, double* h, double* t_after) {
  const double remaining = t_end - t;
  *h = tk_min(*h, h_max);
  if (tk_min(1.01 * *h, h_max * (1.0 + 0x1p-40)) >= remaining) {
    *h = remaining;
    *t_after = t_end;
    return 1;
  }
  if (2.0 * *h > remaining) *h = 0.5 * remaining;
  *t_after = t + *h;
  if (*h < 16.0 * 0x1p-52 * tk_max(tk_abs(t), 0x1p-900)) return 0;
  *h = *t_after - t;
  return 1;
}

/* The scaled error of a step of length h, and into `errors` that of each state. */
TK_ALWAYS_INLINE double tk_error(const tk_embedded_method* pair, uint32_t n, const double* x, const double* after,
                                 const double* k, double h, double tolerance, double* errors, int specialised) {
  double squares = 0.0;
  double low_squares = 0.0;
  for (uint32_t i = 0; i < n; i++) {
    const double scale = tolerance * (1.0 + tk_max(tk_abs(x[i]), tk_abs(after[i])));
    const double error = h * tk_weighted(pair->error, pair->last + 1, k + i, n, specialised) / scale;
    errors[i] = error;
    squares += error * error;
    if (pair->error_low) {
      const double low = h * tk_weighted(pair->error_low, pair->last + 1, k + i, n, specialised) / scale;
      low_squares += low * low;
    }
  }
  if (!pair->error_low) return n == 0 ? 0.0 : tk_sqrt(squares / n);
  /* HNW II.10, (10.17): the estimate of order 5, corrected by that of order 3, behaves like one of order 7. */
  const double both = squares + 0.01 * low_squares;
  return both > 0.0 || both != both ? squares / tk_sqrt(both * n) : 0.0;
}

TK_ALWAYS_INLINE int tk_adaptive_run(const tactus_model* model, tactus_instance* instance,
                                     const tk_embedded_method* pair, double t_end, double h_max, double tolerance,
                                     int specialised) {
  const double safety = 0.9;
  const uint32_t n = model->state_count;
  double* const x = tk_states(model, instance);
  double* const argument = tk_stage_vector(model, instance, TK_STAGE_ARGUMENT);
  double* const after = tk_stage_vector(model, instance, TK_AFTER);
  double* const k = tk_stage_vector(model, instance, TK_STAGES);
  double* const errors = tk_stage_vector(model, instance, TK_ERRORS);
  const double t = instance->time;
  const double remaining = t_end - t;

  tk_clear_failure(instance);
  if (!(remaining > 0.0)) return TACTUS_OK;
  if (!(h_max > 0.0) || h_max > remaining) h_max = remaining;

  int status = tk_first_stage(model, instance);
  if (status != TACTUS_OK) return status;
  instance->dense_step = 0.0;
  double wanted = instance->next_step;
  if (!(wanted > 0.0)) wanted = tk_first_step(model, instance, pair->order, h_max, tolerance);
  tk_copy(n, tk_kept_derivative(model, instance), k);

  double h = wanted;
  double t_after;
  double error;
  int was_rejected = 0;
  for (;;) {
    if (!tk_trial_length(t, t_end, h_max, &h, &t_after)) {
      return status != TACTUS_OK
                 ? tk_fail(instance, status, status == TACTUS_OFF_CONSTRAINTS ? instance->failed_index : -1)
                 : tk_fail(instance, TACTUS_STEP_TOO_SMALL, tk_worst_state(model, instance, was_rejected));
    }

    if (specialised) {
      TK_UNROLL for (int s = 1; s <= pair->last; s++) {
        status =
            tk_adaptive_stage(model, instance, pair, s, x, s == pair->last ? after : argument, k, t, t_after, h, 1);
        if (status != TACTUS_OK) break;
      }
    } else {
      for (int s = 1; s <= pair->last; s++) {
        status =
            tk_adaptive_stage(model, instance, pair, s, x, s == pair->last ? after : argument, k, t, t_after, h, 0);
        if (status != TACTUS_OK) break;
      }
    }
    error = 0.0;
    if (status == TACTUS_OK) {
      error = tk_error(pair, n, x, after, k, h, tolerance, errors, specialised);
      if (error <= 1.0 && tk_first_not_finite(n, k + (uint64_t)pair->last * n) < 0) {
        if (model->constraint_count == 0) break;
        status = tk_project(model, instance, t_after, after, TK_ADAPTIVE_PROJECTIONS);
        if (status == TACTUS_OK) break;
        instance->first_stage_valid = 1; /* still the one at (time, states) */
      }
    }
    instance->rejected++;
    was_rejected = 1;
    h = status == TACTUS_OK && error > 1.0 && tk_is_finite(error)
            ? h / tk_min(1.0 / pair->min_factor, tk_rough_power(error, pair->alpha) / safety)
            : h * pair->min_factor;
  }

  double divisor = tk_rough_power(error, pair->alpha) / safety;
  if (pair->beta != 0.0) divisor /= tk_rough_power(tk_max(instance->last_error, 1e-4), pair->beta);
  const double next = h / tk_min(tk_max(divisor, 1.0 / pair->max_factor), 1.0 / pair->min_factor);
  instance->next_step = was_rejected ? tk_min(next, h) : h < wanted ? tk_max(next, wanted) : next;
  instance->last_error = error;
  if (instance->stiff_steps > 0 || instance->steps % TK_FEEL_STRIDE == 0) {
    tk_feel_stiffness(model, instance, pair->last, pair->stability, h);
  }

  tk_copy(n, x, tk_stage_vector(model, instance, TK_BEFORE));
  tk_copy(n, after, x);
  tk_copy(n, k + (uint64_t)pair->last * n, tk_kept_derivative(model, instance));
  if (n > 0) *tk_stage_vector(model, instance, TK_DENSE_READY) = 0.0;
  instance->dense_from = t;
  instance->dense_step = h;
  instance->time = t_after;
  instance->steps++;
  if (model->constraint_count == 0) instance->first_stage_valid = 1;
  tk_clear_failure(instance);
  return TACTUS_OK;
}

#endif
