/* Algorithm 1, the implicit midpoint rule and the discrete gradient method that stands on it: one step, and the loop
 * around it. What they are: balance.c. Enters: an Instance at (time, states), for the discrete gradient a table with
 * `energy` and a ledger. Leaves: the same `count` steps later, or at the last good step, with status.
 *
 * When `model` is a constant, its functions are inlined, and what they share is computed once. Tangents
 * are those of `table`, which may be the same model's with tangents. Up to TK_LOCAL states vectors are local arrays,
 * specialised or not; the operations and their order do not depend on it, hence neither do the bits. */
#ifndef TACTUS_KERNEL_BALANCE_INLINE_H
#define TACTUS_KERNEL_BALANCE_INLINE_H

#include "kernel/fixed_inline.h"
#include "kernel/kernel.h"
#include "kernel/sections.h"
#include "kernel/stepping.h"

/* Of Newton's method for an implicit step: rounds at most, and how many of them one Jacobian serves. */
#define TK_IMPLICIT_STEPS 30
#define TK_JACOBIAN_HOLDS 5
/* What is left of the rule, against the size of the states: below the first the energy is looked at, too; below the
 * second it is put right by the rule itself. */
#define TK_NEAR 2e-2
#define TK_SETTLED 1e-8
/* Corrections of an energy that one number makes, at most. */
#define TK_ENERGY_ROUNDS 5

/* In the integrators' scratch; an energy's result has one double more than a vector, and one with the flow before it is
 * 2 n + 1 doubles. */
enum {
  TK_FLOW = TK_STAGES,
  TK_GRADIENT = TK_STAGES + 1,
  TK_FLOW_THERE = TK_STAGES + 3,
  TK_GRADIENT_THERE = TK_STAGES + 4,
  TK_FIELD_2 = TK_STAGES + 6,
  TK_FIELD_3 = TK_STAGES + 9,
  TK_FIELD_TRY = TK_STAGES + 11,
  TK_RESIDUAL = TK_STAGES + 12
};

/* Even places and odd ones apart: half as long a chain of sums that wait for each other. */
TK_ALWAYS_INLINE double tk_inner(uint32_t n, const double* a, const double* b) {
  double even = 0.0;
  double odd = 0.0;
  for (uint32_t i = 0; i + 1 < n; i += 2) {
    even += a[i] * b[i];
    odd += a[i + 1] * b[i + 1];
  }
  if (n & 1u) even += a[n - 1] * b[n - 1];
  return even + odd;
}

/* tk_copy, in registers where `n` is a constant. */
TK_ALWAYS_INLINE void tk_move(uint32_t n, const double* from, double* to, int specialised) {
  if (specialised && n <= 2 * TK_LOCAL + 1) {
    TK_UNROLL for (uint32_t i = 0; i < n; i++) to[i] = from[i];
  } else {
    tk_copy(n, from, to);
  }
}

/* f at (t, x), behind it the energy's result: at once where the table can, which shares what both need. */
TK_ALWAYS_INLINE int tk_flow_and_energy(const tactus_model* model, tactus_instance* instance, double t, const double* x,
                                        double* both) {
  if (model->balance) return model->balance(model, instance, t, x, both);
  const int status = model->derivative(model, instance, t, x, both);
  return status == TACTUS_OK ? model->energy(model, instance, t, x, both + model->state_count) : status;
}

/* The energy's result at (t, x) into both + n; and f before it, where that is had almost for nothing. */
TK_ALWAYS_INLINE int tk_energy_at_end(const tactus_model* model, tactus_instance* instance, double t, const double* x,
                                      double* both, int* has_flow) {
  *has_flow = model->balance != 0;
  if (model->balance) return model->balance(model, instance, t, x, both);
  return model->energy(model, instance, t, x, both + model->state_count);
}

/* Whether an energy that is off by `error` counts as reached: as the model says, else within what rounding can do to a
 * sum of terms as large as these, `times` over. `there` is the energy's result at y. */
TK_ALWAYS_INLINE int tk_is_reached(const tactus_model* model, double error, double times, double wanted,
                                   const double* y, const double* there) {
  if (tk_abs(error) <= times * model->tolerance) return 1;
  const uint32_t n = model->state_count;
  double size = tk_abs(wanted) + tk_abs(there[n]);
  for (uint32_t i = 0; i < n; i++) size += tk_abs(there[i] * y[i]);
  return tk_abs(error) <= times * (4.0 * 0x1p-53) * size;
}

/* ---- Algorithm 1 ---- */

/* Of a search along a field line, at most: evaluations are bounded, so that a step's cost is. */
#define TK_FIELD_STEPS 40
/* A step along a field line that is shorter than this part of the longest is straight: what it misses is lost beside
 * the error of that one. */
#define TK_STRAIGHT 0x1p-6

/* Vectors of n, the energy's results of n + 1 behind as many of the flow, k of as many vectors as the predictor has
 * stages. */
typedef struct tk_passive {
  double* x;
  double* after;
  double* predicted;
  double* here;
  double* there;
  double* tried;
  double* trial;
  double* bend;
  double* k;
} tk_passive;

/* How far along the slopes at y + a g to go from y, g and H0 those there, so that H becomes H0 + error: of
 *   H0 + s g.g1 + s^2 / 2 g1.C g1 + s^3 / 6 T(g1, g1, g1)
 * the second derivative C and the third T, along g, are those of Hermite's cubic between y and y + a g; and C g is (g1
 * - g) / a, by which C grows from g to g1. What is left out is of the fourth order. `there` and `probe` are the
 * energy's results at both; s = 2 a is a guess. 0: no good. */
TK_ALWAYS_INLINE double tk_length_along(uint32_t n, const double* there, const double* probe, double squared,
                                        double error, double a) {
  const double across = tk_inner(n, there, probe);
  const double turned = tk_inner(n, probe, probe) - 2.0 * across + squared;
  const double over = 1.0 / a;
  const double rise = (probe[n] - there[n]) * over;
  const double second = (6.0 * rise - 4.0 * squared - 2.0 * across + 2.0 * turned) * over;
  const double third = (6.0 * (squared + across) - 12.0 * rise) * over * over;
  double s = 2.0 * a;
  const double slope = 1.0 / (across + s * (second + 0.5 * third * s));
  s -= (s * (across + s * (0.5 * second + third / 6.0 * s)) - error) * slope;
  s -= (s * (across + s * (0.5 * second + third / 6.0 * s)) - error) * slope;
  return s * over > 1.0 && s * over < 4.0 ? s : 0.0;
}

/* Moves `after`, where the energy's result is there + n, along the field line until H is `wanted`. 0: it does not get
 * there, and both are anything. A step is one of the explicit midpoint rule, as long as what it has seen of H on its
 * way says; the slopes at its end, which are needed anyway, make it one of Simpson's rule with the step that follows,
 * third order without a further evaluation. Steps that are short beside the longest are straight. */
TK_ALWAYS_INLINE int tk_follow_field_line(const tactus_model* model, tactus_instance* instance, const tk_passive* v,
                                          double t, double wanted, int* has_flow, int* status, int specialised) {
  const uint32_t n = model->state_count;
  double* const y = v->after;
  double* const there = v->there + n;
  double* const k2 = v->tried + n;
  double* const trial = v->trial;
  double* const bend = v->bend; /* by which y misses Simpson's rule */
  double limit = 1.0;
  double longest = 0.0;
  for (uint32_t i = 0; i < n; i++) bend[i] = 0.0;
  for (int round = 0; round < TK_FIELD_STEPS; round++) {
    const double error = wanted - there[n];
    if (tk_is_reached(model, error, 1.0, wanted, y, there)) return 1;
    const double slope = tk_inner(n, there, there);
    const double missing = error - tk_inner(n, there, bend);
    double s = limit * missing / slope;
    if (!(slope > 0.0) || !tk_is_finite(s)) return 0;
    const int is_straight = tk_abs(s) <= TK_STRAIGHT * longest;
    if (is_straight) {
      for (uint32_t i = 0; i < n; i++) trial[i] = y[i] + (bend[i] + s * there[i]);
    } else {
      for (uint32_t i = 0; i < n; i++) trial[i] = y[i] + (bend[i] + 0.5 * s * there[i]);
      *status = model->energy(model, instance, t, trial, k2);
      if (*status != TACTUS_OK) return 0;
      if (limit == 1.0 && round == 0) {
        const double better = tk_length_along(n, there, k2, slope, error, 0.5 * s);
        s = better != 0.0 ? better : s;
      }
      longest = tk_max(longest, tk_abs(s));
      for (uint32_t i = 0; i < n; i++) {
        trial[i] = y[i] + (bend[i] + s * k2[i]);
        bend[i] = s / 6.0 * (there[i] - 2.0 * k2[i]);
      }
    }
    int has_tried_flow = 0;
    *status = tk_energy_at_end(model, instance, t, trial, v->tried, &has_tried_flow);
    if (*status != TACTUS_OK) return 0;
    if (tk_abs(wanted - k2[n]) < tk_abs(error)) {
      for (uint32_t i = 0; i < n; i++) bend[i] = is_straight ? 0.0 : bend[i] + s / 6.0 * k2[i];
      tk_move(n, trial, y, specialised);
      if (has_tried_flow)
        tk_move(2 * n + 1, v->tried, v->there, specialised);
      else
        tk_move(n + 1, k2, there, specialised);
      *has_flow = has_tried_flow;
      limit = tk_min(1.0, 4.0 * limit);
    } else if (tk_is_reached(model, error, 64.0, wanted, y, there)) {
      return 1; /* as near as rounding lets it */
    } else {
      for (uint32_t i = 0; i < n; i++) bend[i] = 0.0;
      limit *= 0.25;
    }
  }
  return 0;
}

/* From x over a minimum in the direction of motion, along which H falls: to where H is `level`, as at x, once more.
 * `after` and `there` are that point and its energy. 0: H does not rise again. */
static inline int tk_leap(const tactus_model* model, tactus_instance* instance, double t, double h, double level,
                          const double* x, const double* flow, double* after, double* there, int* status) {
  const uint32_t n = model->state_count;
  double below = 0.0;
  double above = 0.0;
  double error_below = 0.0;
  double error_above = 0.0;
  double s = h;
  for (int round = 0; round < 2 * TK_FIELD_STEPS; round++) {
    for (uint32_t i = 0; i < n; i++) after[i] = x[i] + s * flow[i];
    *status = model->energy(model, instance, t, after, there);
    const double error = there[n] - level;
    if (*status != TACTUS_OK || !tk_is_finite(error)) return 0;
    if (tk_is_reached(model, error, 1.0, level, after, there)) return 1;
    if (error < 0.0) {
      /* Illinois: an end that stays counts half. */
      error_above = below > 0.0 ? 0.5 * error_above : error_above;
      below = s;
      error_below = error;
    } else {
      error_below = above > 0.0 ? 0.5 * error_below : error_below;
      above = s;
      error_above = error;
    }
    if (above == 0.0) {
      s = 2.0 * below;
    } else {
      s = below == 0.0 ? 0.5 * above : above - error_above * (above - below) / (error_above - error_below);
      if (!(s > below && s < above)) s = 0.5 * (below + above);
      if (!(s > below && s < above)) return 1; /* as near as rounding lets it */
    }
  }
  return 0;
}

/* The step of an explicit method from x to `predicted`, its first stage being `here`, the energy's slopes there behind
 * it; and the mean of the power g.f over its stages, weighted as the method does, which is how it integrates the
 * book. */
TK_ALWAYS_INLINE int tk_predict(const tactus_model* model, tactus_instance* instance, const tk_fixed_method* method,
                                const tk_passive* v, double t, double t_after, double h, double* power,
                                int specialised) {
  const uint32_t n = model->state_count;
  const tk_fixed_vectors stages = {n, v->x, v->predicted, v->trial, v->k};
  double* const slopes = v->tried + n;
  tk_move(n, v->here, v->k, specialised);
  double sum = 0.0;
  int is_started = 0;
  tk_add_term(method->b.weight[0], tk_inner(n, v->here + n, v->k), &is_started, &sum);
  for (int s = 1; s < method->stages; s++) {
    const double t_stage = t + method->c[s] * (t_after - t);
    int status = tk_fixed_stage(model, instance, method, &stages, s, t_stage, h, 0);
    if (status == TACTUS_OK) status = model->energy(model, instance, t_stage, v->trial, slopes);
    if (status != TACTUS_OK) return status;
    tk_add_term(method->b.weight[s], tk_inner(n, slopes, v->k + (uint64_t)s * n), &is_started, &sum);
  }
  for (uint32_t i = 0; i < n; i++) v->predicted[i] = tk_advance(&stages, &method->b, method->stages, h, i, 0);
  *power = method->b.numerator / method->b.denominator * sum;
  return TACTUS_OK;
}

/* One step of Algorithm 1 from x to `after`, with the predictor `method`. `here` is what holds at x, without f unless
 * `has_flow`; `there` and `has_flow` are then the same of `after`. */
TK_ALWAYS_INLINE int tk_passive_step(const tactus_model* model, tactus_instance* instance,
                                     const tk_fixed_method* method, const tk_passive* v, double t, double t_after,
                                     double h, double* ledger, int* has_flow, int specialised) {
  const uint32_t n = model->state_count;
  const double* const x = v->x;
  double* const after = v->after;
  const double* const flow = v->here;
  const double* const here = v->here + n;
  double* const there = v->there + n;
  double power = 0.0;
  int status = *has_flow ? TACTUS_OK : model->derivative(model, instance, t, x, v->here);
  *has_flow = 0;
  if (status == TACTUS_OK) status = tk_predict(model, instance, method, v, t, t_after, h, &power, specialised);
  if (status != TACTUS_OK) return status;
  const double level = here[n];
  const double due = level - ledger[TACTUS_LEDGER_BOOKED] + h * power;
  tk_move(n, v->predicted, after, specialised);
  status = model->energy(model, instance, t_after, after, there);
  if (status != TACTUS_OK) return status;

  int is_there = 0;
  const int is_deadlock = power == 0.0 && tk_inner(n, here, here) == 0.0;
  if (!is_deadlock) {
    is_there = tk_follow_field_line(model, instance, v, t_after, due, has_flow, &status, specialised);
    if (status != TACTUS_OK) return status;
    if (!is_there && tk_inner(n, here, flow) < 0.0) {
      *has_flow = 0;
      is_there = tk_leap(model, instance, t_after, h, level, x, flow, after, there, &status);
      if (status != TACTUS_OK) return status;
      if (is_there) {
        ledger[TACTUS_LEDGER_LEAPS] += 1.0;
        /* What stores nothing, as the book's own integrals, goes on for a step and not for as long as the leap is. */
        for (uint32_t i = 0; i < n; i++) {
          if (here[i] == 0.0 && there[i] == 0.0) after[i] = v->predicted[i];
        }
        status = model->energy(model, instance, t_after, after, there);
        if (status != TACTUS_OK) return status;
      }
    }
  }
  if (!is_there) {
    *has_flow = 0;
    tk_move(n, v->predicted, after, specialised);
    status = model->energy(model, instance, t_after, after, there);
    if (status != TACTUS_OK) return status;
    if (!tk_is_reached(model, there[n] - due, 1.0, due, after, there)) ledger[TACTUS_LEDGER_ESCAPES] += 1.0;
  }
  ledger[TACTUS_LEDGER_BOOKED] = there[n] - due;
  return TACTUS_OK;
}

/* `specialised` is a literal 1 when `model` and `method` are constants. */
TK_ALWAYS_INLINE int tk_passive_run(const tactus_model* model, tactus_instance* instance, const tk_fixed_method* method,
                                    double h, int64_t count, int specialised) {
  double local[4][TK_LOCAL];
  double both[3][2 * TK_LOCAL + 1];
  double local_k[TK_FIXED_STAGES * TK_LOCAL];
  const uint32_t n = model->state_count;
  const int small = n <= TK_LOCAL;
  const double start = tk_enter_grid(instance, h);
  if (!model->energy || model->ledger == 0) return tk_fail(instance, TACTUS_NO_SOLVER, -1);
  double* const ledger = tactus_data(instance) + model->layout.discrete + model->ledger - 1;
  tk_passive v;
  v.x = tk_states(model, instance);
  v.after = small ? local[0] : tk_stage_vector(model, instance, TK_AFTER);
  v.predicted = small ? local[1] : tk_stage_vector(model, instance, TK_RESIDUAL);
  v.here = small ? both[0] : tk_stage_vector(model, instance, TK_FLOW);
  v.there = small ? both[1] : tk_stage_vector(model, instance, TK_FLOW_THERE);
  v.tried = small ? both[2] : tk_stage_vector(model, instance, TK_FIELD_2);
  v.trial = small ? local[2] : tk_stage_vector(model, instance, TK_FIELD_TRY);
  v.bend = small ? local[3] : tk_stage_vector(model, instance, TK_FIELD_3);
  v.k = small ? local_k : tk_stage_vector(model, instance, TK_DENSE);
  if (n > 0 && count > 0) {
    const int status = model->energy(model, instance, instance->time, v.x, v.here + n);
    if (status != TACTUS_OK) return tk_fail(instance, status, -1);
  }
  int has_flow = 0;
  for (int64_t done = 0; done < count; done++) {
    const double t_after = start + (double)(instance->steps + 1) * h;
    if (n > 0) {
      int status =
          tk_passive_step(model, instance, method, &v, instance->time, t_after, h, ledger, &has_flow, specialised);
      if (status != TACTUS_OK) return tk_fail(instance, status, -1);
      const int32_t index = tk_first_not_finite(n, v.after);
      if (index >= 0) return tk_fail(instance, TACTUS_NOT_FINITE, index);
      if (model->constraint_count > 0) {
        double* const there = v.there + n;
        const double level = there[n];
        has_flow = 0;
        status = tk_project(model, instance, t_after, v.after, TK_FIXED_PROJECTIONS, 0.0);
        if (status != TACTUS_OK) return status;
        status = model->energy(model, instance, t_after, v.after, there);
        if (status != TACTUS_OK) return tk_fail(instance, status, -1);
        ledger[TACTUS_LEDGER_BOOKED] += there[n] - level;
      }
      tk_move(n, v.after, v.x, specialised);
      if (has_flow)
        tk_move(2 * n + 1, v.there, v.here, specialised);
      else
        tk_move(n + 1, v.there + n, v.here + n, specialised);
    }
    instance->steps++;
    instance->time = t_after;
  }
  return TACTUS_OK;
}

/* ---- the implicit midpoint rule, and the discrete gradient that stands on it ---- */

/* What an implicit run works on. Vectors of n; `here`, at the middle, and `there`, at the end, are the flow and behind
 * it the energy's result, then the flow's Jacobian over the core where the table has `slopes`. `core`: the states that
 * anything depends on, in this order rows and columns of `matrix`; the others follow from them. Empty where the matrix
 * is that of linear.c. Without `slopes` the matrix is made of tangents: columns of one colour share no row of the core,
 * so that one tangent gives them all: fewer than the table's own colours, which heed the other rows, too. Entry e of
 * the matrix, of colour k for colour_start[k] <= e < colour_start[k + 1], is at place[e] and comes from row[e] of the
 * tangent. With `slopes` the iteration sees nothing but the core: `seen` are its states, `seen_count` of them. Else all
 * n are seen, and `seen` is null. */
typedef struct tk_implicit {
  uint32_t n;
  double* x;
  double* after;
  double* middle;
  double* here;
  double* there;
  double* residual;
  double* along_slope;
  uint32_t seen_count;
  const uint8_t* seen;
  uint32_t core_count;
  const uint8_t* core;
  uint8_t* colour; /* by place in `core` */
  uint32_t colour_count;
  uint16_t* colour_start;
  uint8_t* place;
  uint8_t* row;
  double* matrix;
  double* kept;
} tk_implicit;

/* The state that comes k-th. */
TK_ALWAYS_INLINE uint32_t tk_seen(const tk_implicit* v, uint32_t k) { return v->seen ? v->seen[k] : k; }

/* tk_inner over what is seen. */
TK_ALWAYS_INLINE double tk_seen_inner(const tk_implicit* v, const double* a, const double* b) {
  if (!v->seen) return tk_inner(v->n, a, b);
  double even = 0.0;
  double odd = 0.0;
  for (uint32_t k = 0; k + 1 < v->seen_count; k += 2) {
    even += a[v->seen[k]] * b[v->seen[k]];
    odd += a[v->seen[k + 1]] * b[v->seen[k + 1]];
  }
  if (v->seen_count & 1u) even += a[v->seen[v->seen_count - 1]] * b[v->seen[v->seen_count - 1]];
  return even + odd;
}

/* Finds the core of at most TK_LOCAL states, colours it, and lists the entries of its matrix. */
TK_ALWAYS_INLINE void tk_find_core(const tactus_model* model, tk_implicit* v, uint8_t* core) {
  const uint32_t* const start = model->jacobian.start;
  uint32_t taken[TK_LOCAL]; /* by colour, a bit for each row */
  uint32_t rows_of[TK_LOCAL];
  uint32_t is_core = 0;
  v->core = core;
  v->core_count = 0;
  v->colour_count = 0;
  for (uint32_t i = 0; i < v->n; i++) {
    if (start && start[i] == start[i + 1]) continue;
    is_core |= 1u << i;
    core[v->core_count++] = (uint8_t)i;
  }
  for (uint32_t c = 0; c < v->core_count; c++) {
    uint32_t rows = 0xffffffffu; /* a table filled by hand need not have a pattern */
    if (start) {
      rows = 0;
      for (uint32_t e = start[v->core[c]]; e < start[v->core[c] + 1]; e++) rows |= 1u << model->jacobian.index[e];
    }
    rows &= is_core;
    rows_of[c] = rows;
    uint32_t colour = 0;
    while (colour < v->colour_count && (taken[colour] & rows) != 0) colour++;
    if (colour == v->colour_count) taken[v->colour_count++] = 0;
    taken[colour] |= rows;
    v->colour[c] = (uint8_t)colour;
  }
  uint32_t entry = 0;
  for (uint32_t colour = 0; colour < v->colour_count; colour++) {
    v->colour_start[colour] = (uint16_t)entry;
    for (uint32_t c = 0; c < v->core_count; c++) {
      if (v->colour[c] != colour) continue;
      for (uint32_t r = 0; r < v->core_count; r++) {
        if (!(rows_of[c] & (1u << v->core[r]))) continue;
        v->place[entry] = (uint8_t)(r * v->core_count + c);
        v->row[entry++] = v->core[r];
      }
    }
  }
  v->colour_start[v->colour_count] = (uint16_t)entry;
}

/* Before the first matrix of a run: the direction moves nothing but the core, and small matrices have their zeros for
 * all of it. */
TK_ALWAYS_INLINE int tk_begin_core(const tactus_model* model, const tactus_model* table, tactus_instance* instance,
                                   const tk_implicit* v) {
  if (!table->tangent || table->layout.size - table->layout.linear < tk_linear_size(table)) return TACTUS_NO_SOLVER;
  tk_zero((uint32_t)tactus_direction_size(model), tactus_data(instance) + model->layout.linear);
  tk_zero(TK_LOCAL, v->matrix);
  return TACTUS_OK;
}

/* Of the core's matrix: factored where it has more than 2 rows, else its determinant's inverse is kept. */
TK_ALWAYS_INLINE int tk_core_factor(const tk_implicit* v) {
  const uint32_t count = v->core_count;
  double* const w = v->matrix;
  if (count > 2) return tk_lu_factor((int)count, w, v->kept);
  const double size = count == 2 ? w[0] * w[3] - w[1] * w[2] : count == 1 ? w[0] : 1.0;
  v->kept[0] = 1.0 / size;
  if (!tk_is_finite(size)) return TACTUS_NOT_FINITE;
  return size == 0.0 ? TACTUS_SINGULAR : TACTUS_OK;
}

/* matrix = 1 - h / 2 df/dx over the core, of the Jacobian that `slopes` gave. */
TK_ALWAYS_INLINE int tk_matrix_of_slopes(const tk_implicit* v, const double* jacobian, double h) {
  const uint32_t count = v->core_count;
  for (uint32_t r = 0; r < count; r++) {
    for (uint32_t c = 0; c < count; c++)
      v->matrix[r * count + c] = (r == c ? 1.0 : 0.0) - 0.5 * h * jacobian[r * count + c];
  }
  return tk_core_factor(v);
}

/* matrix = 1 - h / 2 df/dx at (t, y) over the core, by tangents. */
TK_ALWAYS_INLINE int tk_core_matrix(const tactus_model* model, const tactus_model* table, tactus_instance* instance,
                                    const tk_implicit* v, double t, const double* y, double h) {
  const uint32_t count = v->core_count;
  double* const direction = tactus_data(instance) + model->layout.linear;
  double* const result = direction + tactus_direction_size(model);
  double* const moved = direction + tactus_direction_states(model);
  double* const w = v->matrix;
  if (count > 2) tk_zero(count * count, w);
  for (uint32_t c = 0; c < count; c++) w[c * count + c] = 0.0;
  for (uint32_t colour = 0; colour < v->colour_count; colour++) {
    for (uint32_t c = 0; c < count; c++) moved[v->core[c]] = v->colour[c] == colour ? 1.0 : 0.0;
    const int status = table->tangent(table, instance, TACTUS_OF_DERIVATIVE, t, y, direction, result);
    if (status != TACTUS_OK) return status;
    for (uint32_t e = v->colour_start[colour]; e < v->colour_start[colour + 1]; e++)
      w[v->place[e]] = -0.5 * h * result[v->row[e]];
  }
  for (uint32_t c = 0; c < count; c++) w[c * count + c] += 1.0;
  return tk_core_factor(v);
}

/* b, a vector of n, becomes the solution; outside of the core it stays. */
TK_ALWAYS_INLINE void tk_core_solve(const tk_implicit* v, double* b) {
  const uint32_t count = v->core_count;
  const double* const w = v->matrix;
  if (count == 2) {
    const double first = b[v->core[0]];
    const double second = b[v->core[1]];
    const double first_moved = (w[3] * first - w[1] * second) * v->kept[0];
    const double second_moved = (w[0] * second - w[2] * first) * v->kept[0];
    if (v->seen) {
      b[v->core[0]] = first_moved;
      b[v->core[1]] = second_moved;
      return;
    }
    /* Written whole: what reads it next need not wait for two places of it. */
    for (uint32_t i = 0; i < v->n; i++) b[i] = i == v->core[0] ? first_moved : i == v->core[1] ? second_moved : b[i];
  } else if (count == 1) {
    b[v->core[0]] = b[v->core[0]] * v->kept[0];
  } else if (count > 2) {
    double right[TK_LOCAL];
    for (uint32_t c = 0; c < count; c++) right[c] = b[v->core[c]];
    tk_lu_substitute((int)count, w, v->kept, right);
    for (uint32_t c = 0; c < count; c++) b[v->core[c]] = right[c];
  }
}

TK_ALWAYS_INLINE int tk_implicit_matrix(const tactus_model* model, const tactus_model* table, tactus_instance* instance,
                                        const tk_implicit* v, double t, const double* y, double h) {
  if (v->matrix) return tk_core_matrix(model, table, instance, v, t, y, h);
  const int status = tk_linear_differentiate(table, instance, t, y, 0);
  return status == TACTUS_OK ? tk_linear_factor(table, instance, 2.0 / h) : status;
}

/* b becomes the solution of (1 - h / 2 df/dx) z = b. */
TK_ALWAYS_INLINE void tk_implicit_solve(const tactus_model* table, tactus_instance* instance, const tk_implicit* v,
                                        double h, double* b) {
  if (v->matrix) {
    tk_core_solve(v, b);
    return;
  }
  for (uint32_t i = 0; i < v->n; i++) b[i] = 2.0 / h * b[i];
  tk_linear_solve(table, instance, b);
}

/* Newton's correction of `after`, whose residual x + h (f + along g) - after is given; with the energy's result there +
 * n at `after`, of `along` too, towards H = due. */
TK_ALWAYS_INLINE void tk_correct(const tactus_model* table, tactus_instance* instance, const tk_implicit* v, double h,
                                 int sees_energy, double due, double* along) {
  tk_implicit_solve(table, instance, v, h, v->residual);
  if (sees_energy) {
    const double* const gradient = v->here + v->n;
    const double* const there = v->there + v->n;
    for (uint32_t k = 0; k < v->seen_count; k++) v->along_slope[tk_seen(v, k)] = h * gradient[tk_seen(v, k)];
    tk_implicit_solve(table, instance, v, h, v->along_slope);
    const double change =
        (due - there[v->n] - tk_seen_inner(v, there, v->residual)) / tk_seen_inner(v, there, v->along_slope);
    if (tk_is_finite(change)) {
      *along += change;
      for (uint32_t k = 0; k < v->seen_count; k++) v->residual[tk_seen(v, k)] += change * v->along_slope[tk_seen(v, k)];
    }
  }
  for (uint32_t k = 0; k < v->seen_count; k++) v->after[tk_seen(v, k)] += v->residual[tk_seen(v, k)];
}

/* A first guess of `after`, and whether it is so near that the energy is to be looked at from the beginning. f(x), and
 * its Jacobian with `slopes`, are `there` where `has_flow`. With `slopes`: one of Newton's steps from x, which leaves
 * what is of the order h^3; the matrix for the steps that follow is then the next evaluation's. Else one from the
 * middle that f(x) leads to, which leaves what is of the order h^5, and its matrix stays. */
TK_ALWAYS_INLINE int tk_guess_step(const tactus_model* model, const tactus_model* table, tactus_instance* instance,
                                   const tk_implicit* v, double t, double t_middle, double h, int has_flow,
                                   int* is_near) {
  *is_near = 0;
  if (v->seen) {
    int status = has_flow ? TACTUS_OK : model->slopes(model, instance, t, v->x, v->there);
    if (status != TACTUS_OK) return status;
    status = tk_matrix_of_slopes(v, v->there + 2 * v->n + 1, h);
    for (uint32_t k = 0; k < v->seen_count; k++) v->residual[tk_seen(v, k)] = h * v->there[tk_seen(v, k)];
    if (status == TACTUS_OK) tk_core_solve(v, v->residual); /* else along the flow, which will do for a guess */
    for (uint32_t k = 0; k < v->seen_count; k++)
      v->after[tk_seen(v, k)] = v->x[tk_seen(v, k)] + v->residual[tk_seen(v, k)];
    return TACTUS_OK;
  }
  int status = has_flow ? TACTUS_OK : model->derivative(model, instance, t, v->x, v->there);
  if (status != TACTUS_OK) return status;
  for (uint32_t i = 0; i < v->n; i++) v->middle[i] = v->x[i] + 0.5 * h * v->there[i];
  status = tk_implicit_matrix(model, table, instance, v, t_middle, v->middle, h);
  if (status == TACTUS_OK) status = model->derivative(model, instance, t_middle, v->middle, v->here);
  if (status != TACTUS_OK) return status;
  double move = 0.0;
  double size = 0.0;
  for (uint32_t i = 0; i < v->n; i++) {
    v->after[i] = v->x[i] + h * v->there[i];
    v->residual[i] = h * (v->here[i] - v->there[i]);
    move = tk_max(move, tk_abs(v->residual[i]));
    size = tk_max(size, tk_abs(v->after[i]));
  }
  *is_near = move <= TK_NEAR * size;
  tk_implicit_solve(table, instance, v, h, v->residual);
  for (uint32_t i = 0; i < v->n; i++) v->after[i] += v->residual[i];
  return TACTUS_OK;
}

/* What holds at the middle, in `here`: the flow, and the energy's slopes where it `sees_energy` or has them anyway; the
 * matrix as well in the first round with `slopes`, and in any round where corrections do not shrink, since f has bent
 * since. */
TK_ALWAYS_INLINE int tk_look_at_middle(const tactus_model* model, const tactus_model* table, tactus_instance* instance,
                                       const tk_implicit* v, int keeps_energy, int round, int sees_energy,
                                       double t_middle, double h) {
  const int is_new = round % TK_JACOBIAN_HOLDS == 0;
  if (v->seen && is_new) {
    const int status = model->slopes(model, instance, t_middle, v->middle, v->here);
    return status == TACTUS_OK ? tk_matrix_of_slopes(v, v->here + 2 * v->n + 1, h) : status;
  }
  int status = TACTUS_OK;
  if (round > 0 && is_new) status = tk_implicit_matrix(model, table, instance, v, t_middle, v->middle, h);
  if (status != TACTUS_OK) return status;
  return sees_energy || (v->seen && keeps_energy) ? tk_flow_and_energy(model, instance, t_middle, v->middle, v->here)
                                                  : model->derivative(model, instance, t_middle, v->middle, v->here);
}

/* One implicit step from x to `after`: the midpoint rule, moved along g where the model's energy is to be kept.
 * `stored` is H(x), then H(after); `there` is what tk_guess_step wants of x where `has_flow`, and then the same of
 * `after`. */
TK_ALWAYS_INLINE int tk_implicit_step(const tactus_model* model, const tactus_model* table, tactus_instance* instance,
                                      const tk_implicit* v, int keeps_energy, double t, double t_after, double h,
                                      double* ledger, double* stored, int* has_flow) {
  const uint32_t n = v->n;
  const double t_middle = t + 0.5 * (t_after - t);
  const double level = keeps_energy ? *stored - ledger[TACTUS_LEDGER_BOOKED] : 0.0;
  double* const flow = v->here;
  double* const gradient = v->here + n;
  double* const there = v->there + n;
  int is_near = 0;
  int status = tk_guess_step(model, table, instance, v, t, t_middle, h, *has_flow, &is_near);
  *has_flow = 0;
  if (status != TACTUS_OK) return status;

  double along = 0.0;
  double change = 0.0;
  double due = level;
  double last = 0.0;
  int is_balanced = keeps_energy;
  int sees_energy = keeps_energy && is_near;
  for (int round = 0;; round++) {
    if (round == TK_IMPLICIT_STEPS) {
      /* Without the energy there may be a solution yet: the midpoint rule's, booked as an escape. */
      if (!is_balanced) return TACTUS_DIVERGED;
      is_balanced = 0;
      sees_energy = 0;
      along = 0.0;
      round = 0;
      for (uint32_t k = 0; k < v->seen_count; k++) v->after[tk_seen(v, k)] = v->x[tk_seen(v, k)];
    }
    for (uint32_t k = 0; k < v->seen_count; k++)
      v->middle[tk_seen(v, k)] = 0.5 * (v->x[tk_seen(v, k)] + v->after[tk_seen(v, k)]);
    status = tk_look_at_middle(model, table, instance, v, keeps_energy, round, sees_energy, t_middle, h);
    if (status == TACTUS_OK && sees_energy) status = model->energy(model, instance, t_after, v->after, there);
    if (status != TACTUS_OK) return status;
    if (sees_energy) due = level + h * tk_seen_inner(v, gradient, flow);
    double move = 0.0;
    double size = 0.0;
    double steepest = 0.0;
    for (uint32_t k = 0; k < v->seen_count; k++) {
      const uint32_t i = tk_seen(v, k);
      v->residual[i] = v->x[i] - v->after[i] + h * (sees_energy ? flow[i] + along * gradient[i] : flow[i]);
    }
    /* What follows from the core is put right by the rule itself. */
    for (uint32_t c = 0; c < (v->matrix ? v->core_count : n); c++) {
      const uint32_t i = v->matrix ? v->core[c] : c;
      move = tk_max(move, tk_abs(v->residual[i]));
      size = tk_max(size, tk_abs(v->after[i]));
      if (sees_energy) steepest = tk_max(steepest, tk_abs(gradient[i]));
    }
    if (!tk_is_finite(move)) return TACTUS_NOT_FINITE;
    /* What the energy still asks for moves the end, too. */
    if (sees_energy) {
      change = (due - there[n] - tk_seen_inner(v, there, v->residual)) / (h * tk_seen_inner(v, gradient, there));
      if (tk_is_finite(change)) move = tk_max(move, tk_abs(h * change) * steepest);
    }
    const int is_settled =
        move <= TK_SETTLED * size || (round > 4 && move >= 0.5 * last && move <= 1e3 * TK_SETTLED * size);
    if (is_settled && (sees_energy || !is_balanced)) break;
    if (is_balanced && !sees_energy && move <= TK_NEAR * size) {
      sees_energy = 1;
      if (!v->seen) status = model->energy(model, instance, t_middle, v->middle, gradient);
      due = level + h * tk_seen_inner(v, gradient, flow);
      if (status == TACTUS_OK) status = model->energy(model, instance, t_after, v->after, there);
      if (status != TACTUS_OK) return status;
    }
    tk_correct(table, instance, v, h, sees_energy, due, &along);
    last = move;
  }
  if (keeps_energy && !is_balanced) {
    status = model->energy(model, instance, t_middle, v->middle, gradient);
    if (status != TACTUS_OK) return status;
    due = level + h * tk_seen_inner(v, gradient, flow);
    ledger[TACTUS_LEDGER_ESCAPES] += 1.0;
  }

  /* The rule itself at this middle, so that what the equations integrate (the book) has the very power that `due` has;
   * and the energy by how far along g: first from where it was last looked at, which is no further than what is
   * settled. What rounding leaves is booked. */
  if (is_balanced && tk_is_finite(change)) along += change;
  if (v->seen) { /* what nothing depends on; the others follow */
    for (uint32_t i = 0; i < n; i++) v->after[i] = v->x[i] + h * flow[i];
  }
  for (int round = 0;; round++) {
    for (uint32_t k = 0; k < v->seen_count; k++) {
      const uint32_t i = tk_seen(v, k);
      v->after[i] = v->x[i] + h * (is_balanced ? flow[i] + along * gradient[i] : flow[i]);
    }
    if (!keeps_energy) return TACTUS_OK;
    *has_flow = v->seen || model->balance;
    status = v->seen     ? model->slopes(model, instance, t_after, v->after, v->there)
             : *has_flow ? model->balance(model, instance, t_after, v->after, v->there)
                         : model->energy(model, instance, t_after, v->after, there);
    if (status != TACTUS_OK) return status;
    *stored = there[n];
    const double error = due - *stored;
    ledger[TACTUS_LEDGER_BOOKED] = -error;
    if (!is_balanced || round == TK_ENERGY_ROUNDS - 1 || tk_is_reached(model, error, 1.0, due, v->after, there)) break;
    change = error / (h * tk_seen_inner(v, gradient, there));
    if (!tk_is_finite(change)) break;
    along += change;
  }
  return TACTUS_OK;
}

/* `specialised` is a literal 1 when `model` is a constant. */
TK_ALWAYS_INLINE int tk_implicit_run(const tactus_model* model, const tactus_model* table, tactus_instance* instance,
                                     int keeps_energy, double h, int64_t count, int specialised) {
  double local[5][TK_LOCAL];
  double both[2][2 * TK_LOCAL + 1 + TACTUS_CORE * TACTUS_CORE];
  double matrix[TK_LOCAL * TK_LOCAL];
  double kept[2 * TK_LOCAL];
  uint8_t core[TK_LOCAL];
  uint8_t colour[TK_LOCAL];
  uint16_t colour_start[TK_LOCAL + 1];
  uint8_t place[TK_LOCAL * TK_LOCAL];
  uint8_t row[TK_LOCAL * TK_LOCAL];
  const uint32_t n = model->state_count;
  const int small = n <= TK_LOCAL;
  double* const states = tk_states(model, instance);
  const double start = tk_enter_grid(instance, h);
  if (keeps_energy && (!model->energy || model->ledger == 0)) return tk_fail(instance, TACTUS_NO_SOLVER, -1);
  double* const ledger = keeps_energy ? tactus_data(instance) + model->layout.discrete + model->ledger - 1 : (double*)0;

  tk_implicit v;
  v.n = n;
  v.x = small ? local[4] : states;
  v.after = small ? local[0] : tk_stage_vector(model, instance, TK_AFTER);
  v.middle = small ? local[1] : tk_stage_vector(model, instance, TK_FIELD_TRY);
  v.here = small ? both[0] : tk_stage_vector(model, instance, TK_FLOW);
  v.there = small ? both[1] : tk_stage_vector(model, instance, TK_FLOW_THERE);
  v.residual = small ? local[2] : tk_stage_vector(model, instance, TK_RESIDUAL);
  v.along_slope = small ? local[3] : tk_stage_vector(model, instance, TK_FIELD_2);
  v.matrix = small ? matrix : (double*)0;
  v.kept = kept;
  v.seen = small && model->slopes ? model->core : (const uint8_t*)0;
  v.seen_count = v.seen ? model->core_count : n;
  v.core = model->core;
  v.core_count = model->core_count;
  v.colour = colour;
  v.colour_start = colour_start;
  v.place = place;
  v.row = row;
  v.colour_count = 0;
  if (small && !v.seen) {
    tk_find_core(model, &v, core);
    const int status = n > 0 && count > 0 ? tk_begin_core(model, table, instance, &v) : TACTUS_OK;
    if (status != TACTUS_OK) return tk_fail(instance, status, -1);
  }
  if (small) tk_move(n, states, v.x, specialised);

  double stored = 0.0;
  int status = TACTUS_OK;
  int32_t failed_index = -1;
  if (keeps_energy && n > 0 && count > 0) {
    status = model->energy(model, instance, instance->time, v.x, v.there + n);
    stored = v.there[2 * n];
  }
  int has_flow = 0;
  for (int64_t done = 0; done < count && status == TACTUS_OK; done++) {
    const double t = instance->time;
    const double t_after = start + (double)(instance->steps + 1) * h;
    if (n > 0) {
      status = tk_implicit_step(model, table, instance, &v, keeps_energy, t, t_after, h, ledger, &stored, &has_flow);
      if (status != TACTUS_OK) break;
      /* A sum of finite values may overflow; only a sum that is not finite asks for a look at each of them. */
      double sum = 0.0;
      for (uint32_t i = 0; i < n; i++) sum += v.after[i];
      failed_index = tk_is_finite(sum) ? -1 : tk_first_not_finite(n, v.after);
      if (failed_index >= 0) {
        status = TACTUS_NOT_FINITE;
        break;
      }
      if (model->constraint_count > 0) {
        has_flow = 0;
        status = tk_project(table, instance, t_after, v.after, TK_FIXED_PROJECTIONS, 0.0);
        if (status != TACTUS_OK) {
          failed_index = instance->failed_index;
          break;
        }
        if (keeps_energy) {
          status = model->energy(model, instance, t_after, v.after, v.there + n);
          if (status != TACTUS_OK) break;
          ledger[TACTUS_LEDGER_BOOKED] += v.there[2 * n] - stored;
          stored = v.there[2 * n];
        }
      }
      tk_move(n, v.after, v.x, specialised);
    }
    instance->steps++;
    instance->time = t_after;
  }
  if (small) tk_move(n, v.x, states, specialised);
  return status == TACTUS_OK ? TACTUS_OK : tk_fail(instance, status, failed_index);
}

#endif
