/* tk_adaptive_step: the step of adaptive_inline.h for any model, and what a run needs only once. */
#include "kernel/adaptive_inline.h"

int tk_first_stage(const tactus_model* model, tactus_instance* instance) {
  if (instance->first_stage_valid) return TACTUS_OK;
  double* kept = tk_kept_derivative(model, instance);
  const int status = model->derivative(model, instance, instance->time, tk_states(model, instance), kept);
  if (status != TACTUS_OK) return tk_fail(instance, status, -1);
  const int32_t index = tk_first_not_finite(model->state_count, kept);
  if (index >= 0) return tk_fail(instance, TACTUS_NOT_FINITE, index);
  instance->first_stage_valid = 1;
  return TACTUS_OK;
}

/* HNW II.4, "starting step size". Uses the stage argument and stage 1 as scratch. */
double tk_first_step(const tactus_model* model, tactus_instance* instance, int order, double h_max, double tolerance) {
  const uint32_t n = model->state_count;
  if (n == 0) return h_max;
  const double* x = tk_states(model, instance);
  const double* slope = tk_kept_derivative(model, instance);
  double* argument = tk_stage_vector(model, instance, TK_STAGE_ARGUMENT);
  double* other = tk_stage_vector(model, instance, TK_STAGES + 1);

  double size = 0.0;
  double speed = 0.0;
  for (uint32_t i = 0; i < n; i++) {
    const double scale = tolerance * (1.0 + tk_abs(x[i]));
    size += x[i] / scale * (x[i] / scale);
    speed += slope[i] / scale * (slope[i] / scale);
  }
  size = tk_sqrt(size / n);
  speed = tk_sqrt(speed / n);
  double h = size < 1e-5 || speed < 1e-5 ? 1e-6 : 0.01 * (size / speed);
  if (!(h < h_max)) h = h_max;

  for (uint32_t i = 0; i < n; i++) argument[i] = x[i] + h * slope[i];
  const int status = model->derivative(model, instance, instance->time + h, argument, other);
  double bend = 0.0;
  for (uint32_t i = 0; i < n; i++) {
    const double difference = (other[i] - slope[i]) / (tolerance * (1.0 + tk_abs(x[i])));
    bend += difference * difference;
  }
  bend = tk_sqrt(bend / n) / h;
  if (status != TACTUS_OK || !tk_is_finite(bend)) {
    tk_clear_failure(instance);
    return 1e-3 * h;
  }
  const double largest = tk_max(speed, bend);
  const double guess = largest <= 1e-15 ? tk_max(1e-6, 1e-3 * h) : tk_rough_power(0.01 / largest, 1.0 / order);
  return tk_min(tk_min(100.0 * h, guess), h_max);
}

int32_t tk_worst_state(const tactus_model* model, tactus_instance* instance, int was_tried) {
  const double* x = tk_states(model, instance);
  const double* slope = tk_kept_derivative(model, instance);
  const double* errors = tk_stage_vector(model, instance, TK_ERRORS);
  int32_t worst = -1;
  double largest = -1.0;
  for (uint32_t i = 0; i < model->state_count; i++) {
    const double size = tk_abs(was_tried ? errors[i] : slope[i] / (1.0 + tk_abs(x[i])));
    if (!tk_is_finite(size)) return (int32_t)i;
    if (size > largest) {
      largest = size;
      worst = (int32_t)i;
    }
  }
  return worst;
}

/* Hairer and Wanner, Solving ODEs II, IV.2, (2.3): the arguments of the last two stages, both at the step's end, differ
 * mostly along what the method does not damp, so the ratio of the differences of f and of them is near the largest
 * eigenvalue. Those of bs3 are at 3/4 and 1; there the third differences of all four are taken, at 0, 1/2, 3/4 and 1,
 * in which the motion itself does not show. As in their DOPRI5: 15 steps at the edge, forgotten after 6 in a row that
 * are not. */
void tk_feel_stiffness(const tactus_model* model, tactus_instance* instance, int last, double limit, double h) {
  const uint32_t n = model->state_count;
  const double* x = tk_states(model, instance);
  const double* argument = tk_stage_vector(model, instance, TK_STAGE_ARGUMENT);
  const double* after = tk_stage_vector(model, instance, TK_AFTER);
  const double* k = tk_stage_vector(model, instance, TK_STAGES);
  const double* slope = k + (uint64_t)(last - 1) * n;
  const double* slope_after = slope + n;
  double slopes = 0.0;
  double arguments = 0.0;
  for (uint32_t i = 0; i < n; i++) {
    double rise = slope_after[i] - slope[i];
    double move = after[i] - argument[i];
    if (last == 3) {
      rise = slope_after[i] - 8.0 / 3.0 * slope[i] + 2.0 * k[n + i] - 1.0 / 3.0 * k[i];
      move = after[i] - 8.0 / 3.0 * argument[i] + 2.0 * (x[i] + 0.5 * h * k[i]) - 1.0 / 3.0 * x[i];
    }
    slopes += rise * rise;
    arguments += move * move;
  }
  if (h * h * slopes > limit * limit * arguments) {
    instance->loose_steps = 0;
    if (instance->stiff_steps < TACTUS_STIFF) instance->stiff_steps++;
  } else if (++instance->loose_steps >= 6) {
    instance->stiff_steps = 0;
    instance->loose_steps = 0;
  }
}

int tk_adaptive_step(const tactus_model* model, tactus_instance* instance, int solver, double t_end, double h_max,
                     double tolerance) {
  if (solver == TACTUS_ROSENBROCK) return tk_rosenbrock_step(model, instance, t_end, h_max, tolerance);
  if (solver == TACTUS_CVODE) return tk_fail(instance, TACTUS_NO_SOLVER, -1);
  const tk_embedded_method* pair = solver == TACTUS_BS3 ? &tk_bs3 : solver == TACTUS_TSIT5 ? &tk_tsit5 : &tk_dop853;
  return tk_adaptive_run(model, instance, pair, t_end, h_max, tolerance, 0);
}
