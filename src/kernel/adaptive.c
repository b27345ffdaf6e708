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
double tk_first_step(const tactus_model* model, tactus_instance* instance, const tk_embedded_method* pair, double h_max,
                     double tolerance) {
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
  const double guess = largest <= 1e-15 ? tk_max(1e-6, 1e-3 * h) : tk_rough_power(0.01 / largest, 1.0 / pair->order);
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

int tk_adaptive_step(const tactus_model* model, tactus_instance* instance, int solver, double t_end, double h_max,
                     double tolerance) {
  const tk_embedded_method* pair = solver == TACTUS_BS3 ? &tk_bs3 : solver == TACTUS_TSIT5 ? &tk_tsit5 : &tk_dop853;
  return tk_adaptive_run(model, instance, pair, t_end, h_max, tolerance, 0);
}
