/* The state inside the last adaptive step, from what that step left in scratch: theta in [0, 1] over it.
 *
 *   bs3     cubic Hermite interpolation of both ends: order 3
 *   tsit5   the pair's own interpolant: order 4
 *   dop853  the interpolant of HNW II.6: order 7, with three more evaluations, made when a step is asked for first
 *   rosenbrock  the method's own, order 4, also with fixed steps: rosenbrock.c
 *   cvode   the polynomial that the host's step left as coefficients: of the method's order
 *
 * Both ends are met bit for bit. Looking does not change the run: warm starts are put back as they were. */
#include "kernel/kernel.h"
#include "kernel/runge_kutta.h"
#include "kernel/sections.h"

static void tk_dense_hermite(const tactus_model* model, tactus_instance* instance, int last, double theta, double* x) {
  const uint32_t n = model->state_count;
  const double h = instance->dense_step;
  const double* before = tk_stage_vector(model, instance, TK_BEFORE);
  const double* after = tk_stage_vector(model, instance, TK_AFTER);
  const double* slope = tk_stage_vector(model, instance, TK_STAGES);
  const double* slope_after = slope + (uint64_t)last * n;
  /* HNW II.6, (6.7) */
  for (uint32_t i = 0; i < n; i++) {
    const double rise = after[i] - before[i];
    const double bend = (1.0 - 2.0 * theta) * rise + (theta - 1.0) * h * slope[i] + theta * h * slope_after[i];
    x[i] = (1.0 - theta) * before[i] + theta * after[i] + theta * (theta - 1.0) * bend;
  }
}

/* x = before + h sum_m theta^m f_m, the four f_m computed when a step is asked for first: location asks often. */
static void tk_dense_tsit5(const tactus_model* model, tactus_instance* instance, double theta, double* x) {
  const uint32_t n = model->state_count;
  if (n == 0) return;
  const double* before = tk_stage_vector(model, instance, TK_BEFORE);
  double* f = tk_stage_vector(model, instance, TK_DENSE);
  double* ready = tk_stage_vector(model, instance, TK_DENSE_READY);
  if (*ready == 0.0) {
    const double* k = tk_stage_vector(model, instance, TK_STAGES);
    for (uint32_t m = 0; m < 4; m++) {
      for (uint32_t i = 0; i < n; i++) {
        double sum = m == 0 ? k[i] : 0.0; /* the other rows sum to 0: of differences, a straight line stays one */
        for (uint32_t j = 1; j < 7; j++) sum += tk_tsit5_dense[j][m] * (k[(uint64_t)j * n + i] - k[i]);
        f[(uint64_t)m * n + i] = instance->dense_step * sum;
      }
    }
    *ready = 1.0;
  }
  for (uint32_t i = 0; i < n; i++) {
    const double higher = f[2 * (uint64_t)n + i] + theta * f[3 * (uint64_t)n + i];
    x[i] = before[i] + theta * (f[i] + theta * (f[(uint64_t)n + i] + theta * higher));
  }
}

static double tk_dense_sum(const double* row, uint32_t stages, const double* k, uint32_t stride) {
  double sum = 0.0;
  for (uint32_t j = 0; j < stages; j++) {
    if (row[j] != 0.0) sum += row[j] * k[(uint64_t)j * stride];
  }
  return sum;
}

/* The last three stages and the seven coefficients. */
static int tk_dop853_prepare(const tactus_model* model, tactus_instance* instance) {
  const uint32_t n = model->state_count;
  const double h = instance->dense_step;
  const double* before = tk_stage_vector(model, instance, TK_BEFORE);
  const double* after = tk_stage_vector(model, instance, TK_AFTER);
  double* argument = tk_stage_vector(model, instance, TK_STAGE_ARGUMENT);
  double* k = tk_stage_vector(model, instance, TK_STAGES);

  double* warm = tactus_data(instance) + model->layout.warm;
  double* saved = tk_saved_warm(model, instance);
  const int32_t failed_block = instance->failed_block;
  tk_copy(model->warm_count, warm, saved);
  int status = TACTUS_OK;
  for (uint32_t s = 13; s < 16 && status == TACTUS_OK; s++) {
    const double* row = tk_dop853.a + s * (s - 1) / 2;
    for (uint32_t i = 0; i < n; i++) argument[i] = before[i] + h * tk_dense_sum(row, s, k + i, n);
    double* slope = k + (uint64_t)s * n;
    status = model->derivative(model, instance, instance->dense_from + tk_dop853.c[s] * h, argument, slope);
    if (status == TACTUS_OK && tk_first_not_finite(n, slope) >= 0) status = TACTUS_NOT_FINITE;
  }
  tk_copy(model->warm_count, saved, warm);
  instance->failed_block = failed_block;
  if (status != TACTUS_OK) return status;

  double* coefficient = tk_stage_vector(model, instance, TK_DENSE);
  for (uint32_t i = 0; i < n; i++) {
    const double rise = after[i] - before[i];
    const double bend = h * k[i] - rise;
    coefficient[i] = rise;
    coefficient[(uint64_t)n + i] = bend;
    coefficient[2 * (uint64_t)n + i] = rise - h * k[12 * (uint64_t)n + i] - bend;
    for (uint32_t m = 0; m < 4; m++) {
      coefficient[(3 + m) * (uint64_t)n + i] = h * tk_dense_sum(tk_dop853_dense[m], 16, k + i, n);
    }
  }
  return TACTUS_OK;
}

static void tk_dense_dop853(const tactus_model* model, tactus_instance* instance, double theta, double* x) {
  const uint32_t n = model->state_count;
  double* ready = tk_stage_vector(model, instance, TK_DENSE_READY);
  if (n == 0) return;
  if (*ready == 0.0 && tk_dop853_prepare(model, instance) == TACTUS_OK) *ready = 1.0;
  if (*ready == 0.0) {
    /* An equation that cannot be evaluated there; both ends are known to be good. */
    tk_dense_hermite(model, instance, 12, theta, x);
    return;
  }
  const double* before = tk_stage_vector(model, instance, TK_BEFORE);
  const double* f = tk_stage_vector(model, instance, TK_DENSE);
  const double rest = 1.0 - theta;
  for (uint32_t i = 0; i < n; i++) {
    double sum = 0.0;
    for (uint32_t m = 7; m-- > 0;) sum = (f[(uint64_t)m * n + i] + sum) * (m % 2 == 0 ? theta : rest);
    x[i] = before[i] + sum;
  }
}

/* Nordsieck's form, about the end of the step: x = sum_j z_j (theta - 1)^j. */
static void tk_dense_cvode(const tactus_model* model, tactus_instance* instance, double theta, double* x) {
  const uint32_t n = model->state_count;
  const double* z = tk_stage_vector(model, instance, TK_DENSE);
  const double s = theta - 1.0;
  for (uint32_t i = 0; i < n; i++) {
    double sum = 0.0;
    for (uint32_t j = TK_CVODE_COEFFICIENTS; j-- > 0;) sum = sum * s + z[(uint64_t)j * n + i];
    x[i] = sum;
  }
}

void tk_tsit5_as_cvode(const tactus_model* model, tactus_instance* instance) {
  const uint32_t n = model->state_count;
  if (n == 0 || instance->dense_step == 0.0) return;
  /* theta = 1 + s: the powers of theta by those of s, Pascal's triangle. */
  static const double pascal[5][5] = {
      {1, 0, 0, 0, 0}, {1, 1, 0, 0, 0}, {1, 2, 1, 0, 0}, {1, 3, 3, 1, 0}, {1, 4, 6, 4, 1}};
  tk_dense_tsit5(model, instance, 0.5, tk_stage_vector(model, instance, TK_STAGE_ARGUMENT)); /* makes the f_m */
  double* const z = tk_stage_vector(model, instance, TK_DENSE);
  const double* before = tk_stage_vector(model, instance, TK_BEFORE);
  for (uint32_t i = 0; i < n; i++) {
    double f[5];
    f[0] = before[i];
    for (uint32_t m = 1; m < 5; m++) f[m] = z[(uint64_t)(m - 1) * n + i];
    for (uint32_t j = 0; j < TK_CVODE_COEFFICIENTS; j++) {
      double sum = 0.0;
      for (uint32_t m = j; m < 5; m++) sum += pascal[m][j] * f[m];
      z[(uint64_t)j * n + i] = sum;
    }
  }
}

void tk_dense(const tactus_model* model, tactus_instance* instance, int solver, double t, double* x) {
  model = tk_active(model, instance);
  if (instance->dense_step == 0.0) {
    tk_copy(model->state_count, tk_states(model, instance), x);
    return;
  }
  const double theta = (t - instance->dense_from) / instance->dense_step;
  if (theta == 0.0 || theta == 1.0) {
    tk_copy(model->state_count, tk_stage_vector(model, instance, theta == 0.0 ? TK_BEFORE : TK_AFTER), x);
  } else if (solver == TACTUS_BS3) {
    tk_dense_hermite(model, instance, 3, theta, x);
  } else if (solver == TACTUS_TSIT5) {
    tk_dense_tsit5(model, instance, theta, x);
  } else if (solver == TACTUS_ROSENBROCK || solver == TACTUS_ROSENBROCK_FIXED) {
    tk_rosenbrock_dense(model, instance, theta, x);
  } else if (solver == TACTUS_CVODE) {
    tk_dense_cvode(model, instance, theta, x);
  } else {
    tk_dense_dop853(model, instance, theta, x);
  }
}
