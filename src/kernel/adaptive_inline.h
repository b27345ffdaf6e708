/* One accepted step of an adaptive method. Enters: an Instance at (time, states) with next_step, 0 asking for a first
 * guess. Leaves: the Instance one step later, its scratch ready for tk_dense; or unchanged in time, states and steps,
 * with status. HNW II.4; pages as in runge_kutta.h.
 *
 *   error  root mean square of estimate_i / (tolerance * (1 + max(|x_i|, |x_i after|))), accepted when at most 1
 *   next   h / clamp(error^alpha / (.9 previous^beta)); trials and their lengths: stepping.h
 *
 * `specialised` as in fixed_inline.h; the vectors stay in scratch. */
#ifndef TACTUS_KERNEL_ADAPTIVE_INLINE_H
#define TACTUS_KERNEL_ADAPTIVE_INLINE_H

#include "kernel/kernel.h"
#include "kernel/runge_kutta.h"
#include "kernel/sections.h"
#include "kernel/stepping.h"

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

/* The scaled error of a step of length h, and into `errors` that of each state. */
TK_ALWAYS_INLINE double tk_error(const tk_embedded_method* pair, uint32_t n, const double* x, const double* after,
                                 const double* k, double h, double tolerance, double* errors, int specialised) {
  double squares = 0.0;
  double low_squares = 0.0;
  for (uint32_t i = 0; i < n; i++) {
    const double scale = tk_error_scale(tolerance, x[i], after[i]);
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
  const tk_factors factors = {pair->alpha, pair->min_factor, pair->max_factor};
  const uint32_t n = model->state_count;
  double* const x = tk_states(model, instance);
  double* const argument = tk_stage_vector(model, instance, TK_STAGE_ARGUMENT);
  double* const after = tk_stage_vector(model, instance, TK_AFTER);
  double* const k = tk_stage_vector(model, instance, TK_STAGES);
  double* const last = k + (uint64_t)pair->last * n;
  double* const errors = tk_stage_vector(model, instance, TK_ERRORS);

  tk_clear_failure(instance);
  if (!(t_end - instance->time > 0.0)) return TACTUS_OK;
  tk_trial trial;
  int status = tk_begin_step(model, instance, pair->order, t_end, h_max, tolerance, &trial);
  if (status != TACTUS_OK) return status;
  tk_copy(n, tk_kept_derivative(model, instance), k);

  double error;
  for (;;) {
    if (!tk_next_trial(&trial)) return tk_give_up(model, instance, &trial, status);
    if (specialised) {
      TK_UNROLL for (int s = 1; s <= pair->last; s++) {
        status = tk_adaptive_stage(model, instance, pair, s, x, s == pair->last ? after : argument, k, trial.t,
                                   trial.t_after, trial.h, 1);
        if (status != TACTUS_OK) break;
      }
    } else {
      for (int s = 1; s <= pair->last; s++) {
        status = tk_adaptive_stage(model, instance, pair, s, x, s == pair->last ? after : argument, k, trial.t,
                                   trial.t_after, trial.h, 0);
        if (status != TACTUS_OK) break;
      }
    }
    error = 0.0;
    if (status == TACTUS_OK) {
      error = tk_error(pair, n, x, after, k, trial.h, tolerance, errors, specialised);
      if (tk_is_accepted(model, instance, &trial, error, last, after, &status, specialised)) break;
    }
    tk_reject(instance, &trial, &factors, error, status);
  }

  double divisor = tk_rough_power(error, pair->alpha) / TK_SAFETY;
  if (pair->beta != 0.0) divisor /= tk_rough_power(tk_max(instance->last_error, 1e-4), pair->beta);
  tk_choose_next(instance, &trial, &factors, error, divisor);
  /* Where h_max or t_end set the length, stability does not, and differences of stages may be nothing but Newton's
   * rest. */
  const int is_cut = !trial.was_rejected && trial.h < 0.99 * trial.wanted;
  if (!is_cut && (instance->stiff_steps > 0 || instance->steps % TK_FEEL_STRIDE == 0)) {
    tk_feel_stiffness(model, instance, pair->last, pair->stability, trial.h);
  }
  tk_take_step(model, instance, &trial, x, after);
  tk_copy(n, last, tk_kept_derivative(model, instance));
  return TACTUS_OK;
}

#endif
