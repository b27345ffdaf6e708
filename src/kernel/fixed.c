/* tk_fixed_steps: the loop of fixed_inline.h, or that of rosenbrock.c or balance.c, for any model. */
#include "kernel/fixed_inline.h"

int tk_fixed_steps(const tactus_model* model, tactus_instance* instance, int solver, double h, int64_t count) {
  if (solver == TACTUS_ROSENBROCK_FIXED) return tk_rosenbrock_steps(model, instance, h, count);
  if (solver >= TACTUS_MIDPOINT) return tk_balanced_steps(model, instance, solver, h, count);
  const tk_fixed_method* method = solver == TACTUS_EULER ? &tk_euler : solver == TACTUS_RK4 ? &tk_rk4 : &tk_bs3_fixed;
  return tk_fixed_run(model, instance, method, h, count, 0);
}
