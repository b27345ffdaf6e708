/* Where things lie in an Instance, and the loops that move them.
 *
 * The integrators' scratch is TACTUS_STAGE_VECTORS vectors of state_count doubles, then room for the warm starts:
 *
 *   0       the argument of a stage
 *   1       the state after the step
 *   2       the state before it (dense output)
 *   3..18   the stages' derivatives: dop853 has 13, and 3 more for its dense output; rosenbrock: 8 stages, f and df/dt
 *   19..25  the coefficients of dop853's dense output; tsit5's 4; rosenbrock's 3; cvode's 6
 *   26      its first double is 1 when 19..25 belong to the last step
 *   27      the scaled error of each state
 *
 * A part of a fixed-step run (parts.c) leaves the same for tk_between: 1 and 2 the states at its ends, 3 and 4, once
 * they are asked for, the derivatives there, and 26 whether they were. */
#ifndef TACTUS_KERNEL_SECTIONS_H
#define TACTUS_KERNEL_SECTIONS_H

#include "kernel/kernel.h"

#if defined(__GNUC__)
#define TK_ALWAYS_INLINE static inline __attribute__((always_inline))
#else
#define TK_ALWAYS_INLINE static inline
#endif

/* Before a loop that must vanish when its bounds are constants, so that arrays it indexes become registers. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#define TK_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define TK_UNROLL _Pragma("GCC unroll 16")
#else
#define TK_UNROLL
#endif

/* In a loop that only copies or fills: hides the counter, so that no compiler makes it a call of memcpy or memset,
 * which a freestanding program need not have. */
#if defined(__GNUC__)
#define TK_HIDE(counter) __asm__("" : "+r"(counter))
#else
#define TK_HIDE(counter) ((void)0)
#endif

/* Iterations of the projection onto constraints: after a fixed step, whose cost is bounded, and after an accepted
 * one. */
#define TK_FIXED_PROJECTIONS 2
#define TK_ADAPTIVE_PROJECTIONS 10

/* Where the guards are looked at in a piece of a part, and the parts of jumps' guards are kept: locate.c. */
#define TK_NODES 5
/* And how far its search goes, which a bound on its cost needs: pieces are no shorter than this part of a part, */
#define TK_PIECES 64
/* a guard is followed to its extremum in so many steps, */
#define TK_DESCENTS 6
/* and an instant is found to this precision where none is asked for. */
#define TK_DEFAULT_PRECISION 1e-9

enum {
  TK_STAGE_ARGUMENT = 0,
  TK_AFTER = 1,
  TK_BEFORE = 2,
  TK_STAGES = 3,
  TK_DENSE = 19,
  TK_DENSE_READY = 26,
  TK_ERRORS = 27,
  TK_CVODE_COEFFICIENTS = 6
};

TK_ALWAYS_INLINE double* tk_states(const tactus_model* model, tactus_instance* instance) {
  return tactus_data(instance) + model->layout.states;
}

/* The derivative at (time, states), kept from one adaptive step to the next; see first_stage_valid. */
TK_ALWAYS_INLINE double* tk_kept_derivative(const tactus_model* model, tactus_instance* instance) {
  return tactus_data(instance) + model->layout.snapshot - model->state_count;
}

TK_ALWAYS_INLINE double* tk_stage_vector(const tactus_model* model, tactus_instance* instance, uint32_t vector) {
  return tactus_data(instance) + model->layout.stages + (uint64_t)vector * model->state_count;
}

TK_ALWAYS_INLINE double* tk_saved_warm(const tactus_model* model, tactus_instance* instance) {
  return tk_stage_vector(model, instance, TACTUS_STAGE_VECTORS);
}

TK_ALWAYS_INLINE void tk_copy(uint32_t count, const double* from, double* to) {
  for (uint32_t i = 0; i < count; i++) {
    to[i] = from[i];
    TK_HIDE(i);
  }
}

TK_ALWAYS_INLINE void tk_zero(uint32_t count, double* to) {
  for (uint32_t i = 0; i < count; i++) {
    to[i] = 0.0;
    TK_HIDE(i);
  }
}

TK_ALWAYS_INLINE double tk_max(double a, double b) { return a > b ? a : b; }
TK_ALWAYS_INLINE double tk_min(double a, double b) { return a < b ? a : b; }

TK_ALWAYS_INLINE int tk_is_finite(double x) { return x - x == 0.0; }

/* Index of the first value that is NaN or infinite, or -1. */
TK_ALWAYS_INLINE int32_t tk_first_not_finite(uint32_t count, const double* values) {
  for (uint32_t i = 0; i < count; i++) {
    if (!tk_is_finite(values[i])) return (int32_t)i;
  }
  return -1;
}

TK_ALWAYS_INLINE void tk_clear_failure(tactus_instance* instance) {
  instance->status = TACTUS_OK;
  instance->failed_block = -1;
  instance->failed_index = -1;
}

/* Returns `status`, having noted it; failed_block stays as the model left it. */
TK_ALWAYS_INLINE int tk_fail(tactus_instance* instance, int status, int32_t index) {
  instance->status = status;
  instance->failed_index = index;
  return status;
}

#endif
