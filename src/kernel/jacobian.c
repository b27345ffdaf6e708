/* The derivative's derivatives by x and by t from its tangents. Enters: a model with `tangent`, its pattern and its
 * colours. Leaves: values of the pattern's entries, or a whole matrix.
 *
 * A tangent along the sum of all columns of one colour has each of their entries in a row of its own (Curtis, Powell
 * and Reid, J. Inst. Maths Applics 13, 1974), so as many tangents as there are colours give all columns. */
#include "kernel/kernel.h"
#include "kernel/sections.h"

/* One tangent for every colour; entry k of the pattern goes to values[k], or with by_rows to its place in the
 * matrix. */
static int tk_by_colours(const tactus_model* model, tactus_instance* instance, double t, const double* x,
                         double* scratch, double* values, int by_rows) {
  const uint32_t n = model->state_count;
  const uint32_t* const start = model->jacobian.start;
  const uint32_t* const index = model->jacobian.index;
  double* const direction = scratch;
  double* const result = scratch + tactus_direction_size(model);
  double* const states = direction + tactus_direction_states(model);
  tk_zero((uint32_t)tactus_direction_size(model), direction);
  for (uint32_t colour = 0; colour < model->colour_count; colour++) {
    for (uint32_t column = 0; column < n; column++) states[column] = model->colours[column] == colour ? 1.0 : 0.0;
    const int status = model->tangent(model, instance, TACTUS_OF_DERIVATIVE, t, x, direction, result);
    if (status != TACTUS_OK) return status;
    for (uint32_t column = 0; column < n; column++) {
      if (model->colours[column] != colour) continue;
      for (uint32_t k = start[column]; k < start[column + 1]; k++) {
        const uint64_t place = by_rows ? (uint64_t)index[k] * n + column : k;
        values[place] = result[index[k]];
      }
    }
  }
  return TACTUS_OK;
}

int tk_jacobian(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* scratch,
                double* values) {
  return tk_by_colours(tk_active(model, instance), instance, t, x, scratch, values, 0);
}

int tk_dense_jacobian(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* scratch,
                      double* matrix) {
  for (uint32_t row = 0; row < model->state_count; row++) {
    tk_zero(model->state_count, matrix + (uint64_t)row * model->state_count);
  }
  return tk_by_colours(tk_active(model, instance), instance, t, x, scratch, matrix, 1);
}

int tk_time_derivative(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* scratch,
                       double* values) {
  tk_zero((uint32_t)tactus_direction_size(model), scratch);
  scratch[0] = 1.0;
  return model->tangent(model, instance, TACTUS_OF_DERIVATIVE, t, x, scratch, values);
}
