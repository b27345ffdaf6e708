/* States put back onto their constraints, and a start that satisfies them.
 *
 * Projection. Enters: (t, x) near the constraints g(t, x) = 0. Leaves: the x on them that is nearest in the norm
 * weighted with 1 / (1 + |x_i|), by Newton: G dx = -g with the least dx; or TACTUS_OFF_CONSTRAINTS. Hairer and Wanner,
 * Solving Ordinary Differential Equations II, 2nd edition, VII.2 "projection methods"; Eich, SIAM J. Numer. Anal.
 * 30(5), 1993. Constraints that follow from others are harmless: least_norm.c; few that do not: project_inline.h. A
 * small step's factors serve the next one too, which then leaves the cube of the first and not its fourth power; behind
 * a tiny one there is none, for its square does not matter. What is left is measured.
 *
 * Start. Enters: states as `initialize` made them, some given, some free. Leaves: the given ones kept, the free ones
 * changed as little as makes constraints and the conditions of the start hold; or TACTUS_NO_START with failed_index,
 * the constraint (or, behind them, the condition) that is off most. Newton with backtracking; where it fails, along
 * g(x) = (1 - s) g(x_0) for s from 0 to 1; where that fails too, from other guesses around the first, the nearest of
 * which that lead anywhere are taken. From what is found it goes on to the nearest: least d with G d = G (x - guess) -
 * g.
 *
 * Scratch, at layout.projection, with m rows (constraints, then conditions) and n states:
 *   m * n   rows, m * m + 3 m   least_norm.c, 2 m   what is left over and its scale, 4 n vectors,
 *   what `constrain` makes, what `condition` makes, a direction, m for the path's first rows */
#include "kernel/hybrid.h"
#include "kernel/kernel.h"
#include "kernel/project_inline.h"
#include "kernel/sections.h"

static const double tk_start_tolerance = 1e-8; /* of the size of a constraint's terms */

typedef struct tk_rows {
  uint32_t rows;
  uint32_t n;
  double* a;
  double* work;
  double* left; /* what is left over of each row */
  double* scale;
  double* weights;
  double* step;
  double* saved;
  double* trial;
  double* made;
  double* conditions;
  double* direction;
  double* target;
} tk_rows;

static uint32_t tk_constraint_entries(const tactus_model* model) {
  return model->constraint_count > 0 ? model->constraint_jacobian.start[model->constraint_count] : 0;
}

uint32_t tk_projection_size(const tactus_model* model) {
  const uint32_t m = model->constraint_count + model->condition_count;
  const uint32_t n = model->state_count;
  if (m == 0) return 0;
  return m * n + m * m + 3 * m + 2 * m + 4 * n + model->constraint_count + tk_constraint_entries(model) +
         model->condition_count + (uint32_t)tactus_direction_size(model) + m;
}

static tk_rows tk_rows_of(const tactus_model* model, tactus_instance* instance, uint32_t rows) {
  const uint32_t m = model->constraint_count + model->condition_count;
  const uint32_t n = model->state_count;
  tk_rows r;
  r.rows = rows;
  r.n = n;
  r.a = tactus_data(instance) + model->layout.projection;
  r.work = r.a + (uint64_t)m * n;
  r.left = r.work + (uint64_t)m * m + 3 * m;
  r.scale = r.left + m;
  r.weights = r.scale + m;
  r.step = r.weights + n;
  r.saved = r.step + n;
  r.trial = r.saved + n;
  r.made = r.trial + n;
  r.conditions = r.made + model->constraint_count + tk_constraint_entries(model);
  r.direction = r.conditions + model->condition_count;
  r.target = r.direction + tactus_direction_size(model);
  return r;
}

/* Constraints and their derivatives at (t, x): left = -g, the rows of `a` scaled by the weights. */
static int tk_constraint_rows(const tactus_model* model, tactus_instance* instance, const tk_rows* r, double t,
                              const double* x) {
  const int status = model->constrain(model, instance, t, x, r->made);
  if (status != TACTUS_OK) return status;
  const uint32_t m = model->constraint_count;
  const double* entry = r->made + m;
  tk_zero(m * r->n, r->a);
  for (uint32_t i = 0; i < m; i++) {
    r->left[i] = -r->made[i];
    r->scale[i] = 0.0;
    for (uint32_t k = model->constraint_jacobian.start[i]; k < model->constraint_jacobian.start[i + 1]; k++) {
      const uint32_t j = model->constraint_jacobian.index[k];
      r->a[(uint64_t)i * r->n + j] = entry[k] * r->weights[j];
      r->scale[i] += tk_abs(entry[k]) * (1.0 + tk_abs(x[j]));
    }
  }
  const int32_t bad = tk_first_not_finite(m + tk_constraint_entries(model), r->made);
  return bad < 0 ? TACTUS_OK : TACTUS_NOT_FINITE;
}

/* The constraints alone: left = -g. */
static int tk_constraint_values(const tactus_model* model, tactus_instance* instance, const tk_rows* r, double t,
                                const double* x) {
  const int status = model->constrain(model, instance, t, x, r->made);
  if (status != TACTUS_OK) return status;
  for (uint32_t i = 0; i < model->constraint_count; i++) r->left[i] = -r->made[i];
  return tk_first_not_finite(model->constraint_count, r->made) < 0 ? TACTUS_OK : TACTUS_NOT_FINITE;
}

static double tk_largest_of(uint32_t count, const double* values) {
  double largest = 0.0;
  for (uint32_t i = 0; i < count; i++) {
    if (!(tk_abs(values[i]) <= largest)) largest = tk_abs(values[i]);
  }
  return largest;
}

/* The index of the row that is off most for the size of its terms, and by how much. */
static int32_t tk_worst_row(const tk_rows* r, double* size) {
  int32_t worst = -1;
  *size = 0.0;
  for (uint32_t i = 0; i < r->rows; i++) {
    const double off = tk_abs(r->left[i]) / (r->scale[i] > 0.0 ? r->scale[i] : 1.0);
    if (!(off <= *size)) {
      *size = off;
      worst = (int32_t)i;
    }
  }
  return worst;
}

/* Whether every row is nothing but rounding of its terms. */
static int tk_rows_hold(const tk_rows* r) {
  for (uint32_t i = 0; i < r->rows; i++) {
    if (!(tk_abs(r->left[i]) <= 0x1p-52 * r->scale[i])) return 0;
  }
  return 1;
}

int tk_project(const tactus_model* model, tactus_instance* instance, double t, double* x, int iterations,
               double tolerance) {
  model = tk_active(model, instance);
  double* const room = tactus_data(instance) + model->layout.projection;
  if (tk_has_few_constraints(model) && tk_project_few(model, instance, t, x, iterations, tolerance, room))
    return TACTUS_OK;
  return tk_project_any(model, instance, t, x, iterations, tolerance);
}

int tk_project_any(const tactus_model* model, tactus_instance* instance, double t, double* x, int iterations,
                   double tolerance) {
  const uint32_t n = model->state_count;
  const tk_rows r = tk_rows_of(model, instance, model->constraint_count);
  if (r.rows == 0) return TACTUS_OK; /* this mode has none */
  for (uint32_t i = 0; i < n; i++) r.weights[i] = 1.0 + tk_abs(x[i]);
  double off = 0.0;
  double last = tk_infinite();
  int is_last = iterations == 0;
  for (int k = 1;; k++) {
    const int is_again = last <= TK_PROJECTION_REUSABLE;
    const int status =
        is_again ? tk_constraint_values(model, instance, &r, t, x) : tk_constraint_rows(model, instance, &r, t, x);
    if (status != TACTUS_OK) return tk_fail(instance, status, -1);
    off = tk_largest_of(r.rows, r.left);
    if (is_last || tk_rows_hold(&r)) break;
    if (is_again) {
      tk_least_norm_again(r.rows, n, r.a, r.left, r.step, r.work);
    } else {
      tk_least_norm(r.rows, n, r.a, r.left, r.step, r.work);
    }
    const double size = tk_largest_of(n, r.step);
    if (!(size <= TK_PROJECTION_MOST)) {
      double share;
      tk_constraint_rows(model, instance, &r, t, x);
      return tk_fail(instance, TACTUS_OFF_CONSTRAINTS, tk_worst_row(&r, &share));
    }
    for (uint32_t i = 0; i < n; i++) x[i] += r.weights[i] * r.step[i];
    if (size > tolerance) instance->first_stage_valid = 0;
    is_last = k == iterations || size <= TK_PROJECTION_TINY || (is_again && size * size <= TK_PROJECTION_SMALL * last);
    last = size;
  }
  instance->constraint_residual = tk_max(instance->constraint_residual, off);
  return TACTUS_OK;
}

/* What is left over of the constraints at (t, x), and the size of their terms; no rows. */
static int tk_constraint_sizes(const tactus_model* model, tactus_instance* instance, const tk_rows* r, double t,
                               const double* x) {
  const uint32_t m = model->constraint_count;
  const int status = model->constrain(model, instance, t, x, r->made);
  if (status != TACTUS_OK) return status;
  for (uint32_t i = 0; i < m; i++) {
    r->left[i] = -r->made[i];
    r->scale[i] = 0.0;
    for (uint32_t k = model->constraint_jacobian.start[i]; k < model->constraint_jacobian.start[i + 1]; k++) {
      r->scale[i] += tk_abs(r->made[m + k]) * (1.0 + tk_abs(x[model->constraint_jacobian.index[k]]));
    }
  }
  return tk_first_not_finite(m + tk_constraint_entries(model), r->made) < 0 ? TACTUS_OK : TACTUS_NOT_FINITE;
}

int tk_enter_constraints(const tactus_model* model, tactus_instance* instance, int enforces_positions) {
  double* x = tk_states(model, instance);
  if (!enforces_positions) {
    const double most =
        1e-6; /* of the size of a constraint's terms: a jump is located, and where that is, the surface is nearly met */
    const tk_rows r = tk_rows_of(model, instance, model->constraint_count);
    double share;
    const int status = tk_constraint_sizes(model, instance, &r, instance->time, x);
    if (status != TACTUS_OK) return tk_fail(instance, status, -1);
    const int32_t worst = tk_worst_row(&r, &share);
    if (!(share <= most)) return tk_fail(instance, TACTUS_OFF_ENTRY, worst);
    if (tk_rows_hold(&r)) { /* the projection would find so and leave x where it is */
      instance->constraint_residual = tk_max(instance->constraint_residual, tk_largest_of(r.rows, r.left));
      return TACTUS_OK;
    }
  }
  return tk_project(model, instance, instance->time, x, 20, 0.0);
}

int tk_project_slope(const tactus_model* model, tactus_instance* instance, double t, const double* x,
                     const double* rates, double* slope) {
  const uint32_t n = model->state_count;
  const tk_rows r = tk_rows_of(model, instance, model->constraint_count);
  for (uint32_t i = 0; i < n; i++) r.weights[i] = 1.0 + tk_abs(x[i]);
  const int status = tk_constraint_rows(model, instance, &r, t, x);
  if (status != TACTUS_OK) return status;
  for (uint32_t i = 0; i < r.rows; i++) r.left[i] = -rates[i];
  tk_least_norm(r.rows, n, r.a, r.left, r.step, r.work);
  for (uint32_t i = 0; i < n; i++) slope[i] += r.weights[i] * r.step[i];
  return TACTUS_OK;
}

void tk_put_back(const tactus_model* model, tactus_instance* instance, double t, double* x) {
  model = tk_active(model, instance);
  if (model->constraint_count == 0) return;
  const double residual = instance->constraint_residual;
  const int32_t is_valid = instance->first_stage_valid;
  const int32_t status = instance->status;
  const int32_t index = instance->failed_index;
  const int32_t block = instance->failed_block;
  tk_project(model, instance, t, x, TK_FIXED_PROJECTIONS, 0.0);
  instance->constraint_residual = residual;
  instance->first_stage_valid = is_valid;
  instance->status = status;
  instance->failed_index = index;
  instance->failed_block = block;
}

int tk_dependent_constraints(const tactus_model* model, tactus_instance* instance, double t, const double* x,
                             double* depends) {
  model = tk_active(model, instance);
  const uint32_t n = model->state_count;
  const uint32_t m = model->constraint_count;
  const tk_rows r = tk_rows_of(model, instance, m);
  for (uint32_t i = 0; i < n; i++) r.weights[i] = 1.0 + tk_abs(x[i]);
  if (tk_constraint_rows(model, instance, &r, t, x) != TACTUS_OK) return -1;
  tk_least_norm(m, n, r.a, r.left, r.step, r.work);
  const double* const is_used = r.work + (uint64_t)m * m + 2 * m;
  int count = 0;
  for (uint32_t i = 0; i < m; i++) {
    depends[i] = is_used[i] == 0.0 ? 1.0 : 0.0;
    count += is_used[i] == 0.0;
  }
  return count;
}

/* --- The start ---------------------------------------------------------------------------------------------------- */

static int tk_is_at_start(const tactus_model* model, const tactus_condition* condition) {
  return condition->time == model->starting_time;
}

static int tk_has_start_conditions(const tactus_model* model) {
  for (uint32_t i = 0; i < model->condition_count; i++) {
    if (tk_is_at_start(model, &model->conditions[i])) return 1;
  }
  return 0;
}

/* All rows at (t, x): constraints, then the conditions of the start, those of other times as rows of zeros. */
static int tk_start_rows(const tactus_model* model, tactus_instance* instance, const tk_rows* r, double t,
                         const double* x, int with_derivatives) {
  int status = TACTUS_OK;
  if (model->constraint_count > 0) status = tk_constraint_rows(model, instance, r, t, x);
  if (status != TACTUS_OK || model->condition_count == 0) return status;
  const uint32_t first = model->constraint_count;
  const uint32_t n = r->n;
  if (!tk_has_start_conditions(model)) {
    tk_zero(model->condition_count * n, r->a + (uint64_t)first * n);
    tk_zero(model->condition_count, r->left + first);
    tk_zero(model->condition_count, r->scale + first);
    return TACTUS_OK;
  }
  status = model->condition(model, instance, t, x, r->conditions);
  if (status != TACTUS_OK) return status;
  for (uint32_t i = 0; i < model->condition_count; i++) {
    const int counts = tk_is_at_start(model, &model->conditions[i]);
    r->left[first + i] = counts ? -r->conditions[i] : 0.0;
    r->scale[first + i] = 0.0;
    if (!tk_is_finite(r->left[first + i])) return TACTUS_NOT_FINITE;
  }
  if (!with_derivatives) return TACTUS_OK;
  tk_zero(model->condition_count * n, r->a + (uint64_t)first * n);
  tk_zero((uint32_t)tactus_direction_size(model), r->direction);
  for (uint32_t j = 0; j < n; j++) {
    double* const along = r->direction + tactus_direction_states(model) + j;
    *along = 1.0;
    status = model->tangent(model, instance, TACTUS_OF_CONDITIONS, t, x, r->direction, r->conditions);
    *along = 0.0;
    if (status != TACTUS_OK) return status;
    for (uint32_t i = 0; i < model->condition_count; i++) {
      if (!tk_is_at_start(model, &model->conditions[i])) continue;
      r->a[(uint64_t)(first + i) * n + j] = r->conditions[i] * r->weights[j];
      r->scale[first + i] += tk_abs(r->conditions[i]) * (1.0 + tk_abs(x[j]));
    }
  }
  return TACTUS_OK;
}

static double tk_sum_of_squares(uint32_t count, const double* values) {
  double sum = 0.0;
  for (uint32_t i = 0; i < count; i++) sum += values[i] * values[i];
  return sum;
}

/* Newton from x to rows = share * (rows at the first guess). Whether it got there; *worst: the row that did not. */
static int tk_start_newton(const tactus_model* model, tactus_instance* instance, const tk_rows* r, double* x,
                           double share, int32_t* worst) {
  const double t = instance->time;
  const uint32_t n = r->n;
  double last = tk_infinite();
  for (int k = 0; k < 60; k++) {
    if (tk_start_rows(model, instance, r, t, x, 1) != TACTUS_OK) return 0;
    for (uint32_t i = 0; i < r->rows; i++) r->left[i] += share * r->target[i];
    double off;
    const int32_t row = tk_worst_row(r, &off);
    const double squares = tk_sum_of_squares(r->rows, r->left);
    tk_least_norm(r->rows, n, r->a, r->left, r->step, r->work);
    const double size = tk_largest_of(n, r->step);
    if (!tk_is_finite(size)) return 0;
    const int is_still = size <= 1e-14 || (size <= 1e-9 && size >= 0.5 * last);
    *worst = row;
    if (is_still) return off <= tk_start_tolerance;
    last = size;
    double lambda = 1.0;
    for (;;) {
      for (uint32_t i = 0; i < n; i++) r->trial[i] = x[i] + lambda * r->weights[i] * r->step[i];
      int status = tk_start_rows(model, instance, r, t, r->trial, 0);
      for (uint32_t i = 0; i < r->rows; i++) r->left[i] += share * r->target[i];
      const double now = tk_sum_of_squares(r->rows, r->left);
      if (status == TACTUS_OK && (now <= (1.0 - 1e-4 * lambda) * squares || size <= 1e-8)) break;
      lambda *= 0.5;
      if (lambda < 0x1p-20) {
        return off <= tk_start_tolerance;
      }
    }
    tk_copy(n, r->trial, x);
  }
  return 0;
}

/* Along rows(x) = (1 - s) rows(first guess). */
static int tk_start_path(const tactus_model* model, tactus_instance* instance, const tk_rows* r, double* x,
                         int32_t* worst) {
  const uint32_t n = r->n;
  if (tk_start_rows(model, instance, r, instance->time, x, 0) != TACTUS_OK) return 0;
  for (uint32_t i = 0; i < r->rows; i++) r->target[i] = -r->left[i];
  double reached = 0.0;
  double stride = 0.25;
  while (reached < 1.0) {
    const double next = tk_min(1.0, reached + stride);
    tk_copy(n, x, r->saved);
    if (tk_start_newton(model, instance, r, x, 1.0 - next, worst)) {
      reached = next;
      stride *= 2.0;
    } else {
      tk_copy(n, r->saved, x);
      stride *= 0.5;
      if (stride < 1e-3) return 0;
    }
  }
  return 1;
}

/* How far x is from the guess, in the norm of the weights. */
static double tk_start_distance(const tk_rows* r, const double* x, const double* guess) {
  double sum = 0.0;
  for (uint32_t i = 0; i < r->n; i++) {
    const double off = r->weights[i] > 0.0 ? (x[i] - guess[i]) / r->weights[i] : 0.0;
    sum += off * off;
  }
  return sum;
}

/* From a solution x to the nearest one: towards the point nearest to the guess of all that satisfy the rows linearised
 * at x, put back by Newton, as long as that comes nearer. `room`: 2 n doubles. */
static void tk_start_nearest(const tactus_model* model, tactus_instance* instance, const tk_rows* r, double* x,
                             const double* guess, double* room) {
  const uint32_t n = r->n;
  tk_zero(r->rows, r->target);
  double distance = tk_start_distance(r, x, guess);
  double* const last = room + n; /* the last move */
  tk_zero(n, last);
  double share = 1.0; /* of the way: less where the rows are bent */
  for (int k = 0; k < 60 && distance > 0.0; k++) {
    if (tk_start_rows(model, instance, r, instance->time, x, 1) != TACTUS_OK) break;
    for (uint32_t i = 0; i < r->rows; i++) {
      for (uint32_t j = 0; j < n; j++) {
        if (r->weights[j] > 0.0) r->left[i] += r->a[(uint64_t)i * n + j] * ((x[j] - guess[j]) / r->weights[j]);
      }
    }
    tk_least_norm(r->rows, n, r->a, r->left, r->step, r->work);
    for (uint32_t i = 0; i < n; i++) room[i] = x[i] + share * (guess[i] + r->weights[i] * r->step[i] - x[i]);
    int32_t worst;
    const int is_found = tk_start_newton(model, instance, r, room, 0.0, &worst);
    const double now = is_found ? tk_start_distance(r, room, guess) : tk_infinite();
    if (now < (1.0 - 1e-12) * distance) {
      double along = 0.0;
      for (uint32_t i = 0; i < n; i++) {
        const double moved = r->weights[i] > 0.0 ? (room[i] - x[i]) / r->weights[i] : 0.0;
        along += moved * last[i];
        last[i] = moved;
      }
      if (along < 0.0) share *= 0.5; /* to and fro */
      tk_copy(n, room, x);
      distance = now;
    } else {
      share *= 0.5;
      if (share < 0.01) break;
    }
  }
  for (uint32_t i = 0; i < n; i++) {
    if (tk_abs(x[i] - guess[i]) <= 4.0 * 0x1p-52 * r->weights[i]) x[i] = guess[i]; /* off by rounding */
  }
}

int tk_solve_start(const tactus_model* model, tactus_instance* instance) {
  model = tk_active(model, instance);
  if (!model->tangent && tk_has_start_conditions(model)) return tk_fail(instance, TACTUS_NO_SOLVER, -1);
  const uint32_t n = model->state_count;
  const tk_rows r = tk_rows_of(model, instance, model->constraint_count + model->condition_count);
  double* const x = tk_states(model, instance);
  double* const guess = tk_stage_vector(model, instance, TK_BEFORE); /* the integrators do not run yet */
  double* const best = tk_stage_vector(model, instance, TK_AFTER);
  double* const room = tk_stage_vector(model, instance, TK_STAGES);
  tk_copy(n, x, guess);
  for (uint32_t i = 0; i < n; i++) {
    const int is_given = !model->state_flags || model->state_flags[i] == TACTUS_STATE_GIVEN;
    r.weights[i] = is_given ? 0.0 : 1.0 + tk_abs(x[i]);
  }
  tk_zero(r.rows, r.target);
  int32_t worst = -1;
  const int is_found = tk_start_newton(model, instance, &r, x, 0.0, &worst);
  const int32_t first_worst = worst;
  if (!is_found) tk_copy(n, guess, x);
  if (is_found || tk_start_path(model, instance, &r, x, &worst)) {
    tk_start_nearest(model, instance, &r, x, guess, room);
    return TACTUS_OK;
  }
  /* From around the guess, further and further away: there all rows may be independent, or it is another side of a
   * fold. First with what is assumed left as it is, then with all. 0.618.. is the number whose multiples are spread
   * most evenly. */
  static const double radii[4] = {1.0 / 64.0, 1.0 / 8.0, 1.0, 4.0};
  for (int ring = 0; ring < 4; ring++) {
    double nearest = tk_infinite();
    for (int attempt = 0; attempt < 4; attempt++) {
      const double radius = attempt % 2 == 0 ? radii[ring] : -radii[ring];
      double spread = 0.0;
      for (uint32_t i = 0; i < n; i++) {
        spread += 0.6180339887498949;
        spread -= tk_floor(spread);
        const int stays = attempt < 2 && model->state_flags && model->state_flags[i] == TACTUS_STATE_ASSUMED;
        x[i] = guess[i] + (stays ? 0.0 : radius * (0.5 + spread) * r.weights[i]);
      }
      tk_copy(n, x, room);
      tk_zero(r.rows, r.target);
      if (!tk_start_newton(model, instance, &r, x, 0.0, &worst)) {
        if (ring < 2) continue;
        tk_copy(n, room, x);
        if (!tk_start_path(model, instance, &r, x, &worst)) continue;
      }
      tk_start_nearest(model, instance, &r, x, guess, room);
      const double distance = tk_start_distance(&r, x, guess);
      if (distance < nearest) {
        nearest = distance;
        tk_copy(n, x, best);
      }
    }
    if (nearest < tk_infinite()) {
      tk_copy(n, best, x);
      return TACTUS_OK;
    }
  }
  tk_copy(n, guess, x);
  return tk_fail(instance, TACTUS_NO_START, first_worst);
}
