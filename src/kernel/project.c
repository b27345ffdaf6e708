/* Room for putting states back onto constraints. */
#include "kernel/kernel.h"
#include "kernel/sections.h"

uint32_t tk_projection_size(const tactus_model* model) {
  const uint32_t rows = model->constraint_count + model->condition_count;
  if (rows == 0) return 0;
  const uint32_t n = model->state_count;
  const uint32_t entries = model->constraint_count > 0 ? model->constraint_jacobian.start[model->constraint_count] : 0;
  return rows + entries + rows * n + 4 * rows + 4 * n + (uint32_t)tactus_direction_size(model);
}
