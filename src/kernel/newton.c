/* Newton's method with backtracking. Enters: a start z. Leaves: TACTUS_OK and a solution; or TACTUS_SINGULAR
 * (Jacobian), or TACTUS_DIVERGED, with z at the last point that lowered the residual. Dennis and Schnabel, Numerical
 * Methods for Unconstrained Optimization and Nonlinear Equations, SIAM 1996, algorithms A6.3.1 and D6.1.3.
 *
 *   J dz = -r;  z + lambda dz, lambda = 1, 1/2, 1/4, .. until max |r| falls by the fraction 1e-4 lambda
 *
 * A residual that is not finite counts as one that did not fall. Solved, when
 *   r is zero; or
 *   a full step was below 1e-8 |z_i| in every unknown: convergence is quadratic, so what remains is at rounding; or
 *   a full step was below 1e-8 (1 + |z_i|) and did not lower the residual by half: an unknown near zero in
 *   equations of larger terms moves in their rounding.
 *
 * The tangent of a solution, by the theorem of implicit functions: J dz = -(dr/dcaptured) dcaptured. */
#include "kernel/kernel.h"
#include "kernel/sections.h"

static double tk_largest(int n, const double* r) {
  double largest = 0.0;
  for (int i = 0; i < n; i++) {
    const double size = tk_abs(r[i]);
    if (!(size <= largest)) largest = size; /* keeps NaN: no later comparison replaces it unless by another NaN */
    if (!tk_is_finite(largest)) return largest;
  }
  return largest;
}

int tk_newton(int n, tk_residual* residual, const double* captured, double* z, double* work) {
  const int iterations = 50;
  const double step_tolerance = 1e-8;
  double* const jacobian = work;
  double* const r = work + (int64_t)n * n;
  double* const step = r + n;
  double* const trial = step + n;

  residual(captured, z, r, jacobian);
  double norm = tk_largest(n, r);
  if (!tk_is_finite(norm)) return TACTUS_DIVERGED;

  for (int iteration = 0; iteration < iterations; iteration++) {
    if (norm == 0.0) return TACTUS_OK;
    for (int i = 0; i < n; i++) step[i] = -r[i];
    const int status = tk_lu_solve(n, jacobian, step);
    if (status != TACTUS_OK) return status == TACTUS_SINGULAR ? TACTUS_SINGULAR : TACTUS_DIVERGED;

    int is_relatively_small = 1;
    int is_small = 1;
    for (int i = 0; i < n; i++) {
      const double size = tk_abs(step[i]);
      if (!(size <= step_tolerance * tk_abs(z[i]))) is_relatively_small = 0;
      if (!(size <= step_tolerance * (1.0 + tk_abs(z[i])))) is_small = 0;
    }

    double lambda = 1.0;
    double trial_norm;
    for (;;) {
      for (int i = 0; i < n; i++) trial[i] = z[i] + lambda * step[i];
      residual(captured, trial, r, jacobian);
      trial_norm = tk_largest(n, r);
      if (trial_norm <= (1.0 - 1e-4 * lambda) * norm) break;
      if (is_small && tk_is_finite(trial_norm)) break; /* in the rounding */
      lambda *= 0.5;
      if (lambda < 0x1p-30) return TACTUS_DIVERGED;
    }
    tk_copy((uint32_t)n, trial, z);
    if (lambda == 1.0 && (is_relatively_small || (is_small && !(trial_norm < 0.5 * norm)))) return TACTUS_OK;
    norm = trial_norm;
  }
  return norm == 0.0 ? TACTUS_OK : TACTUS_DIVERGED;
}

int tk_newton_tangent(int n, tk_residual_tangent* residual, const double* captured, const double* z,
                      const double* direction, double* work) {
  double* const jacobian = work;
  double* const dz = work + (int64_t)n * n;
  residual(captured, z, direction, dz, jacobian);
  for (int i = 0; i < n; i++) dz[i] = -dz[i];
  const int status = tk_lu_solve(n, jacobian, dz);
  return status == TACTUS_OK ? TACTUS_OK : TACTUS_SINGULAR;
}
