/* The usual case of tk_project (project.c): few constraints, none of which nearly follows from others. Enters and
 * leaves the same, by Gram-Schmidt in the order of the rows, without pivots: then every index is known beforehand, and
 * where the model is a constant all of it is straight code over registers.
 *
 * Whatever is not usual, a row of which less than half is left (Kahan's criterion: such a row would have to be
 * orthogonalised twice), a step that is too long, a value that is not finite, is left to project.c, from the beginning
 * and with x untouched. The choice depends on values alone, so that every backend makes the same. */
#ifndef TACTUS_KERNEL_PROJECT_INLINE_H
#define TACTUS_KERNEL_PROJECT_INLINE_H

#include "kernel/kernel.h"
#include "kernel/sections.h"

/* gcc does not see that factors are used again only after they were made. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

/* So many constraints and states are few. */
#define TK_FEW_ROWS 4
#define TK_FEW_STATES 8

#define TK_PROJECTION_SMALL (8.0 * 0x1p-52)
#define TK_PROJECTION_TINY 0x1p-28     /* Newton's method leaves the square of a step: lost in rounding */
#define TK_PROJECTION_REUSABLE 0x1p-20 /* its cube is lost in rounding */
#define TK_PROJECTION_MOST 0.1         /* of a state's size: a step that drifted further is no solution */

TK_ALWAYS_INLINE int tk_has_few_constraints(const tactus_model* model) {
  return model->constraint_count > 0 && model->constraint_count <= TK_FEW_ROWS && model->state_count <= TK_FEW_STATES;
}

/* Doubles that tk_project_few works in. */
#define TK_FEW_ROOM (2 * TK_FEW_ROWS * TK_FEW_STATES + TK_FEW_ROWS * TK_FEW_ROWS + 4 * TK_FEW_ROWS + 3 * TK_FEW_STATES)

/* The rows a become orthonormal, a = T a with 1 / T_ii in `inverse`; whether every row keeps half of itself. */
TK_ALWAYS_INLINE int tk_few_orthonormal(uint32_t m, uint32_t n, double* a, double* triangle, double* inverse) {
  int is_good = 1;
  TK_UNROLL for (uint32_t i = 0; i < m; i++) {
    double whole = 0.0;
    TK_UNROLL for (uint32_t j = 0; j < n; j++) whole += a[i * n + j] * a[i * n + j];
    TK_UNROLL for (uint32_t k = 0; k < i; k++) {
      double along = 0.0;
      TK_UNROLL for (uint32_t j = 0; j < n; j++) along += a[i * n + j] * a[k * n + j];
      TK_UNROLL for (uint32_t j = 0; j < n; j++) a[i * n + j] -= along * a[k * n + j];
      triangle[i * m + k] = along;
    }
    double left = 0.0;
    TK_UNROLL for (uint32_t j = 0; j < n; j++) left += a[i * n + j] * a[i * n + j];
    is_good = is_good && left > 0.0 && 2.0 * left >= whole;
    inverse[i] = 1.0 / tk_sqrt(left);
    TK_UNROLL for (uint32_t j = 0; j < n; j++) a[i * n + j] *= inverse[i];
  }
  return is_good;
}

/* 1: x is on the constraints, as tk_project promises. 0: nothing was done. For few constraints. */
TK_ALWAYS_INLINE int tk_project_few(const tactus_model* model, tactus_instance* instance, double t, double* x,
                                    int iterations, double tolerance, double* room) {
  const uint32_t m = model->constraint_count;
  const uint32_t n = model->state_count;
  const uint32_t* const start = model->constraint_jacobian.start;
  const uint32_t* const index = model->constraint_jacobian.index;
  double* const made = room;
  double* const a = made + m + start[m];
  double* const triangle = a + m * n;
  double* const inverse = triangle + m * m;
  double* const scale = inverse + m;
  double* const y = scale + m;
  double* const weights = y + m;
  double* const at = weights + n;
  double* const step = at + n;
  TK_UNROLL for (uint32_t i = 0; i < n; i++) {
    at[i] = x[i];
    weights[i] = 1.0 + tk_abs(x[i]);
  }
  double off = 0.0;
  double last = 0.0;
  int is_again = 0; /* with the factors of the iteration before */
  int is_kept = 1;  /* the first stage */
  int is_last = iterations == 0;
  for (int k = 1;; k++) {
    if (model->constrain(model, instance, t, at, made) != TACTUS_OK) return 0;
    double sum = 0.0; /* not finite when one of them is not; should it overflow, that is unusual enough */
    off = 0.0;
    TK_UNROLL for (uint32_t i = 0; i < m; i++) {
      off = tk_max(off, tk_abs(made[i]));
      sum += made[i];
    }
    if (!tk_is_finite(sum)) return 0;
    if (is_last) break;
    if (!is_again) {
      TK_UNROLL for (uint32_t i = 0; i < m; i++) {
        scale[i] = 0.0;
        TK_UNROLL for (uint32_t j = 0; j < n; j++) a[i * n + j] = 0.0;
        TK_UNROLL for (uint32_t e = start[i]; e < start[i + 1]; e++) {
          const uint32_t j = index[e];
          a[i * n + j] = made[m + e] * weights[j];
          scale[i] += tk_abs(made[m + e]) * (1.0 + tk_abs(at[j]));
        }
        if (!tk_is_finite(scale[i])) return 0;
      }
    }
    int holds = 1;
    TK_UNROLL for (uint32_t i = 0; i < m; i++) holds = holds && tk_abs(made[i]) <= 0x1p-52 * scale[i];
    if (holds) break;
    if (!is_again && !tk_few_orthonormal(m, n, a, triangle, inverse)) return 0;
    TK_UNROLL for (uint32_t j = 0; j < n; j++) step[j] = 0.0;
    TK_UNROLL for (uint32_t i = 0; i < m; i++) {
      double rest = -made[i];
      TK_UNROLL for (uint32_t l = 0; l < i; l++) rest -= triangle[i * m + l] * y[l];
      y[i] = rest * inverse[i];
      TK_UNROLL for (uint32_t j = 0; j < n; j++) step[j] += y[i] * a[i * n + j];
    }
    double size = 0.0;
    TK_UNROLL for (uint32_t j = 0; j < n; j++) size = tk_max(size, tk_abs(step[j]));
    if (!(size <= TK_PROJECTION_MOST)) return 0;
    TK_UNROLL for (uint32_t j = 0; j < n; j++) at[j] += weights[j] * step[j];
    if (size > tolerance) is_kept = 0;
    is_last = k == iterations || size <= TK_PROJECTION_TINY || (is_again && size * size <= TK_PROJECTION_SMALL * last);
    is_again = size <= TK_PROJECTION_REUSABLE;
    last = size;
  }
  TK_UNROLL for (uint32_t i = 0; i < n; i++) x[i] = at[i];
  if (!is_kept) instance->first_stage_valid = 0;
  instance->constraint_residual = tk_max(instance->constraint_residual, off);
  return 1;
}

/* tk_project where the model may be a constant. */
TK_ALWAYS_INLINE int tk_project_here(const tactus_model* model, tactus_instance* instance, double t, double* x,
                                     int iterations, double tolerance, int specialised) {
  if (!specialised || !tk_has_few_constraints(model)) return tk_project(model, instance, t, x, iterations, tolerance);
  double room[TK_FEW_ROOM];
  if (tk_project_few(model, instance, t, x, iterations, tolerance, room)) return TACTUS_OK;
  /* x may live in registers: a copy goes out. */
  double out[TK_FEW_STATES];
  TK_UNROLL for (uint32_t i = 0; i < model->state_count; i++) out[i] = x[i];
  const int status = tk_project_any(model, instance, t, out, iterations, tolerance);
  TK_UNROLL for (uint32_t i = 0; i < model->state_count; i++) x[i] = out[i];
  return status;
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#endif
