/* The kernel's loops around one constant model: `fixed_steps` and `adaptive_step` of its table. Only where that model
 * is at hand as a constant: bitcode for the JIT, wasm, exported C. Never in the native library.
 *
 * tk_model_fixed_steps and tk_model_adaptive_step serve every solver, at the price of one copy of the loop for each.
 * The others serve the solver they are named for with code of its own, and any other through the generic functions and
 * the table that they are called with, which may be this model's with tangents. Whoever compiles keeps one entry of
 * each kind and makes the rest internal, so that it vanishes before optimisation. */
#include "kernel/adaptive_inline.h"
#include "kernel/balance_inline.h"
#include "kernel/fixed_inline.h"
#include "kernel/kernel.h"

extern const tactus_model tk_the_model;

int tk_model_fixed_steps(const tactus_model* model, tactus_instance* instance, int solver, double h, int64_t count);
int tk_model_euler_steps(const tactus_model* model, tactus_instance* instance, int solver, double h, int64_t count);
int tk_model_rk4_steps(const tactus_model* model, tactus_instance* instance, int solver, double h, int64_t count);
int tk_model_bs3_steps(const tactus_model* model, tactus_instance* instance, int solver, double h, int64_t count);
int tk_model_midpoint_steps(const tactus_model* model, tactus_instance* instance, int solver, double h, int64_t count);
int tk_model_discrete_gradient_steps(const tactus_model* model, tactus_instance* instance, int solver, double h,
                                     int64_t count);
int tk_model_passive_steps(const tactus_model* model, tactus_instance* instance, int solver, double h, int64_t count);
int tk_model_adaptive_step(const tactus_model* model, tactus_instance* instance, int solver, double t_end, double h_max,
                           double tolerance);
int tk_model_bs3_step(const tactus_model* model, tactus_instance* instance, int solver, double t_end, double h_max,
                      double tolerance);
int tk_model_tsit5_step(const tactus_model* model, tactus_instance* instance, int solver, double t_end, double h_max,
                        double tolerance);
int tk_model_dop853_step(const tactus_model* model, tactus_instance* instance, int solver, double t_end, double h_max,
                         double tolerance);

int tk_model_fixed_steps(const tactus_model* model, tactus_instance* instance, int solver, double h, int64_t count) {
  switch (solver) {
    case TACTUS_EULER:
      return tk_fixed_run(&tk_the_model, instance, &tk_euler, h, count, 1);
    case TACTUS_RK4:
      return tk_fixed_run(&tk_the_model, instance, &tk_rk4, h, count, 1);
    case TACTUS_BS3_FIXED:
      return tk_fixed_run(&tk_the_model, instance, &tk_bs3_fixed, h, count, 1);
    default:
      return tk_fixed_steps(model, instance, solver, h, count);
  }
}

int tk_model_euler_steps(const tactus_model* model, tactus_instance* instance, int solver, double h, int64_t count) {
  if (solver != TACTUS_EULER) return tk_fixed_steps(model, instance, solver, h, count);
  return tk_fixed_run(&tk_the_model, instance, &tk_euler, h, count, 1);
}

int tk_model_rk4_steps(const tactus_model* model, tactus_instance* instance, int solver, double h, int64_t count) {
  if (solver != TACTUS_RK4) return tk_fixed_steps(model, instance, solver, h, count);
  return tk_fixed_run(&tk_the_model, instance, &tk_rk4, h, count, 1);
}

int tk_model_bs3_steps(const tactus_model* model, tactus_instance* instance, int solver, double h, int64_t count) {
  if (solver != TACTUS_BS3_FIXED) return tk_fixed_steps(model, instance, solver, h, count);
  return tk_fixed_run(&tk_the_model, instance, &tk_bs3_fixed, h, count, 1);
}

int tk_model_midpoint_steps(const tactus_model* model, tactus_instance* instance, int solver, double h, int64_t count) {
  if (solver != TACTUS_MIDPOINT) return tk_fixed_steps(model, instance, solver, h, count);
  return tk_implicit_run(&tk_the_model, model, instance, 0, h, count, 1);
}

int tk_model_discrete_gradient_steps(const tactus_model* model, tactus_instance* instance, int solver, double h,
                                     int64_t count) {
  if (solver != TACTUS_DISCRETE_GRADIENT) return tk_fixed_steps(model, instance, solver, h, count);
  return tk_implicit_run(&tk_the_model, model, instance, 1, h, count, 1);
}

int tk_model_passive_steps(const tactus_model* model, tactus_instance* instance, int solver, double h, int64_t count) {
  if (solver != TACTUS_PASSIVE) return tk_fixed_steps(model, instance, solver, h, count);
  return tk_passive_run(&tk_the_model, instance, &tk_euler, h, count, 1);
}

int tk_model_adaptive_step(const tactus_model* model, tactus_instance* instance, int solver, double t_end, double h_max,
                           double tolerance) {
  switch (solver) {
    case TACTUS_BS3:
      return tk_adaptive_run(&tk_the_model, instance, &tk_bs3, t_end, h_max, tolerance, 1);
    case TACTUS_TSIT5:
      return tk_adaptive_run(&tk_the_model, instance, &tk_tsit5, t_end, h_max, tolerance, 1);
    case TACTUS_DOP853:
      return tk_adaptive_run(&tk_the_model, instance, &tk_dop853, t_end, h_max, tolerance, 1);
    default:
      return tk_adaptive_step(model, instance, solver, t_end, h_max, tolerance);
  }
}

int tk_model_bs3_step(const tactus_model* model, tactus_instance* instance, int solver, double t_end, double h_max,
                      double tolerance) {
  if (solver != TACTUS_BS3) return tk_adaptive_step(model, instance, solver, t_end, h_max, tolerance);
  return tk_adaptive_run(&tk_the_model, instance, &tk_bs3, t_end, h_max, tolerance, 1);
}

int tk_model_tsit5_step(const tactus_model* model, tactus_instance* instance, int solver, double t_end, double h_max,
                        double tolerance) {
  if (solver != TACTUS_TSIT5) return tk_adaptive_step(model, instance, solver, t_end, h_max, tolerance);
  return tk_adaptive_run(&tk_the_model, instance, &tk_tsit5, t_end, h_max, tolerance, 1);
}

int tk_model_dop853_step(const tactus_model* model, tactus_instance* instance, int solver, double t_end, double h_max,
                         double tolerance) {
  if (solver != TACTUS_DOP853) return tk_adaptive_step(model, instance, solver, t_end, h_max, tolerance);
  return tk_adaptive_run(&tk_the_model, instance, &tk_dop853, t_end, h_max, tolerance, 1);
}
