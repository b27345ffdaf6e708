/* The loop of the fixed-step methods. Enters: an Instance at (time, states). Leaves: the same `count` steps later, or
 * at the last step whose state was finite and whose stages could be computed, with status and failed_index or
 * failed_block.
 *
 * Time does not drift: stage s of step k is at start_time + (k + c_s) h, so that the last stage of a step (c = 1) and
 * the first of the next are at the same instant, bit for bit, and time = start_time + steps * h: stepping.h.
 *
 * `specialised` is a literal 1 when `model` and `method` are constants: the loops over stages then vanish, and for a
 * small state all vectors are local arrays, which full unrolling turns into registers for the whole run. The operations
 * and their order do not depend on it, hence neither do the bits. */
#ifndef TACTUS_KERNEL_FIXED_INLINE_H
#define TACTUS_KERNEL_FIXED_INLINE_H

#include "kernel/kernel.h"
#include "kernel/runge_kutta.h"
#include "kernel/sections.h"
#include "kernel/stepping.h"

/* States up to this many live in registers (and spill slots) during a specialised run. */
#define TK_LOCAL 16

/* Steps between two questions whether the state is finite. */
#define TK_FINITE_STRIDE 256

/* What a run works on; all vectors have n values, k one vector for each stage. */
typedef struct tk_fixed_vectors {
  uint32_t n;
  double* x;
  double* after;
  double* argument;
  double* k;
} tk_fixed_vectors;

TK_ALWAYS_INLINE void tk_add_term(double weight, double k, int* is_started, double* sum) {
  if (weight == 0.0) return;
  *sum = *is_started ? *sum + weight * k : weight * k;
  *is_started = 1;
}

/* x + h numerator / denominator * sum_j weight[j] k_j[i], in the order of j. */
TK_ALWAYS_INLINE double tk_advance(const tk_fixed_vectors* v, const tk_row* row, int stages, double h, uint32_t i,
                                   int specialised) {
  double sum = 0.0;
  int is_started = 0;
  if (specialised) {
    TK_UNROLL for (int j = 0; j < stages; j++) {
      tk_add_term(row->weight[j], v->k[(uint64_t)j * v->n + i], &is_started, &sum);
    }
  } else {
    for (int j = 0; j < stages; j++) {
      tk_add_term(row->weight[j], v->k[(uint64_t)j * v->n + i], &is_started, &sum);
    }
  }
  return v->x[i] + h * row->numerator / row->denominator * sum;
}

TK_ALWAYS_INLINE int tk_fixed_stage(const tactus_model* model, tactus_instance* instance, const tk_fixed_method* method,
                                    const tk_fixed_vectors* v, int s, double t, double h, int specialised) {
  if (s > 0) {
    if (specialised && v->n <= TK_LOCAL) {
      TK_UNROLL for (uint32_t i = 0; i < v->n; i++) v->argument[i] = tk_advance(v, &method->a[s], s, h, i, 1);
    } else {
      for (uint32_t i = 0; i < v->n; i++) v->argument[i] = tk_advance(v, &method->a[s], s, h, i, specialised);
    }
  }
  return model->derivative(model, instance, t, s > 0 ? v->argument : v->x, v->k + (uint64_t)s * v->n);
}

TK_ALWAYS_INLINE int tk_fixed_run(const tactus_model* model, tactus_instance* instance, const tk_fixed_method* method,
                                  double h, int64_t count, int specialised) {
  double local_x[TK_LOCAL];
  double local_saved[TK_LOCAL];
  double local_argument[TK_LOCAL];
  double local_k[TK_FIXED_STAGES * TK_LOCAL];

  const uint32_t n = model->state_count;
  const int small = specialised && n <= TK_LOCAL;
  double* const states = tk_states(model, instance);
  tk_fixed_vectors v;
  v.n = n;
  v.x = small ? local_x : states;
  v.after = small ? v.x : tk_stage_vector(model, instance, TK_AFTER);
  v.argument = small ? local_argument : tk_stage_vector(model, instance, TK_STAGE_ARGUMENT);
  v.k = small ? local_k : tk_stage_vector(model, instance, TK_STAGES);

  const double start = tk_enter_grid(instance, h);
  const int64_t first = instance->steps;
  double steps = (double)first;

  if (small) {
    TK_UNROLL for (uint32_t i = 0; i < n; i++) v.x[i] = states[i];
  }

  /* Whether the state is finite is asked once for `stride` steps: a state that is not stays so, for x_{k+1} = x_k + ...
   * . When the answer is no, these steps are taken again one by one. Newton's warm starts would not be the same then,
   * so with them, with constraints, and with a large state, every step is asked for. */
  int64_t stride = small && model->warm_count == 0 && model->constraint_count == 0 ? TK_FINITE_STRIDE : 1;
  int status = TACTUS_OK;
  int32_t failed_index = -1;
  int64_t done = 0;
  while (done < count) {
    const int64_t asked_at = done;
    const double steps_asked_at = steps;
    const int64_t end = count - done < stride ? count : done + stride;
    if (small) {
      TK_UNROLL for (uint32_t i = 0; i < n; i++) local_saved[i] = v.x[i];
    }
    for (; done < end; done++) {
      if (specialised) {
        TK_UNROLL for (int s = 0; s < method->stages; s++) {
          status = tk_fixed_stage(model, instance, method, &v, s, start + (steps + method->c[s]) * h, h, 1);
          if (status != TACTUS_OK) goto stop;
        }
      } else {
        for (int s = 0; s < method->stages; s++) {
          status = tk_fixed_stage(model, instance, method, &v, s, start + (steps + method->c[s]) * h, h, 0);
          if (status != TACTUS_OK) goto stop;
        }
      }
      if (small) {
        TK_UNROLL for (uint32_t i = 0; i < n; i++) v.x[i] = tk_advance(&v, &method->b, method->stages, h, i, 1);
      } else {
        for (uint32_t i = 0; i < n; i++) v.after[i] = tk_advance(&v, &method->b, method->stages, h, i, specialised);
        double* const before = v.x;
        v.x = v.after;
        v.after = before;
      }
      steps += 1.0;
      if (model->constraint_count > 0) {
        status = tk_project_here(model, instance, start + steps * h, v.x, TK_FIXED_PROJECTIONS, 0.0, specialised);
        if (status != TACTUS_OK) {
          failed_index = instance->failed_index;
          if (small) {
            TK_UNROLL for (uint32_t i = 0; i < n; i++) v.x[i] = local_saved[i];
          } else {
            v.x = v.after;
          }
          goto stop;
        }
      }
    }

    /* A sum of finite values may overflow; only a sum that is not finite asks for a look at each of them. */
    double sum = 0.0;
    if (small) {
      TK_UNROLL for (uint32_t i = 0; i < n; i++) sum = i == 0 ? v.x[i] : sum + v.x[i];
    } else {
      for (uint32_t i = 0; i < n; i++) sum += v.x[i];
    }
    if (tk_is_finite(sum)) continue;
    failed_index = tk_first_not_finite(n, v.x);
    if (failed_index < 0) continue;
    /* Back to the last state that was finite. */
    done = asked_at;
    steps = steps_asked_at;
    if (small) {
      TK_UNROLL for (uint32_t i = 0; i < n; i++) v.x[i] = local_saved[i];
    } else {
      v.x = v.after;
    }
    if (stride == 1) {
      status = TACTUS_NOT_FINITE;
      goto stop;
    }
    stride = 1;
  }

stop:
  if (small) {
    TK_UNROLL for (uint32_t i = 0; i < n; i++) states[i] = v.x[i];
  } else if (v.x != states) {
    tk_copy(n, v.x, states);
  }
  instance->steps = first + done;
  instance->time = start + (double)instance->steps * h;
  return status == TACTUS_OK ? TACTUS_OK : tk_fail(instance, status, failed_index);
}

#endif
