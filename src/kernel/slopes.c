/* How a motion moves with what was chosen at its beginning: the columns s_k = dx/du_k along it.
 *
 * Between events by the exact derivative of the step that was taken (Bock, in: Ebert, Deuflhard, Jaeger, Modelling of
 * Chemical Reaction Systems, Springer 1981, "internal numerical differentiation"): the stages of tsit5, x_i = x + h
 * sum_j a_ij k_j, have
 *
 *   s_i = s + h sum_j a_ij k'_j        k'_i = (df/dx)(x_i) s_i        by tangents of the derivative
 *
 * and its interpolant the same weights; so what Newton's method solves and what it is told of it fit to rounding,
 * whatever the tolerance.
 *
 * At an instant tau that moves (Rozenvasser, Autom. Remote Control 28, 1967; Galan, Feehery and Barton, Appl. Numer.
 * Math. 31, 1999), with the guard g of the relation that changed, f the flow before it and f+ behind it:
 *
 *   dtau = -(g_x s) / (g_t + g_x f)
 *   X = s + f dtau                     of the states where it happens; through each jump by the tangent of its `fire`
 *   along (dtau, X)
 *   s+ = X - f+ dtau                   saltation
 *
 * Into the constraints of a mode X is put as the states are, but to first order. Clocks' ticks do not move: dtau = 0,
 * unless a relation changes at the same instant. Of several relations that do the first in the table gives dtau; where
 * a phase of a plan ends, its own.
 *
 * There is no tangent, and the columns are not known, where there is no `tangent` in the table, with delays, on
 * surfaces that the motion rests on or slides along, where `enforce positions` moves it by a finite length, and where
 * it only touches the surface of a guard.
 *
 * Scratch: see tk_slopes_of. While instance->is_planning is 2, events.c calls tk_follow_firing and tk_follow_entry. */
#include "kernel/hybrid.h"
#include "kernel/runge_kutta.h"

enum { TK_SLOPE_STAGES = 7, TK_SLOPE_HEAD = 4 };

typedef struct tk_slopes {
  uint32_t columns;
  double* is_unknown;
  double* is_open; /* inside an instant: then `states` are X */
  double* ties;    /* how often the motion had come to rest or begun to slide */
  double* moved;   /* dtau, by column */
  double* states;  /* by column */
  double* discrete;
  double* flow;
  double* arguments; /* x_i */
  double* stages;    /* k'_i of one column */
  double* direction;
  double* result; /* last: structures watch more or less */
} tk_slopes;

uint32_t tk_slopes_size(const tactus_model* model, uint32_t columns) {
  const uint32_t n = model->state_count;
  const uint32_t d = model->discrete_count;
  const uint32_t fired = n + d;
  const uint32_t most = model->watch_count + fired + model->constraint_count;
  return TK_SLOPE_HEAD + columns * (1 + n + d) + n + 2 * TK_SLOPE_STAGES * n + (uint32_t)tactus_direction_size(model) +
         most;
}

static tk_slopes tk_slopes_of(const tactus_model* model, tactus_instance* instance) {
  const uint32_t n = model->state_count;
  const uint32_t most = tk_most_chosen(model);
  double* at = tactus_data(instance) + model->layout.plan + sizeof(tactus_instance) / sizeof(double) +
               model->layout.snapshot + (uint64_t)most * most + 6 * (uint64_t)most;
  tk_slopes s;
  s.columns = (uint32_t)at[0];
  s.is_unknown = at + 1;
  s.is_open = at + 2;
  s.ties = at + 3;
  s.moved = at + TK_SLOPE_HEAD;
  s.states = s.moved + most;
  s.discrete = s.states + (uint64_t)most * n;
  s.flow = s.discrete + (uint64_t)most * model->discrete_count;
  s.arguments = s.flow + n;
  s.stages = s.arguments + TK_SLOPE_STAGES * (uint64_t)n;
  s.direction = s.stages + TK_SLOPE_STAGES * (uint64_t)n;
  s.result = s.direction + tactus_direction_size(model);
  return s;
}

static double tk_tie_events(const tactus_instance* instance) {
  return (double)instance->rests + (double)instance->slides + (double)instance->tie_count;
}

void tk_begin_slopes(const tactus_model* model, tactus_instance* instance, uint32_t columns, const uint32_t* places) {
  const uint32_t n = model->state_count;
  tk_slopes s = tk_slopes_of(model, instance);
  s.moved[-TK_SLOPE_HEAD] = (double)columns;
  *s.is_unknown = !model->tangent || model->delay_count > 0 || instance->tie_count > 0 ? 1.0 : 0.0;
  *s.is_open = 0.0;
  *s.ties = tk_tie_events(instance);
  tk_zero(columns, s.moved);
  tk_zero(columns * n, s.states);
  tk_zero(columns * model->discrete_count, s.discrete);
  for (uint32_t k = 0; k < columns; k++) s.states[(uint64_t)k * n + places[k]] = 1.0;
}

int tk_are_slopes_known(const tactus_model* model, tactus_instance* instance) {
  return *tk_slopes_of(model, instance).is_unknown == 0.0;
}

/* Nothing is known any more, for good, when this is 1. */
static int tk_is_lost(tk_slopes* s, int is_lost) {
  if (is_lost) *s->is_unknown = 1.0;
  return *s->is_unknown != 0.0;
}

/* The direction of column k, x moving along `states`. */
static void tk_point_along(const tactus_model* model, const tk_slopes* s, uint32_t k, double moved,
                           const double* states) {
  tk_zero((uint32_t)tactus_direction_size(model), s->direction);
  s->direction[0] = moved;
  tk_copy(model->state_count, states, s->direction + tactus_direction_states(model));
  tk_copy(model->discrete_count, s->discrete + (uint64_t)k * model->discrete_count,
          s->direction + tactus_direction_discrete(model));
}

static double* tk_column(const tactus_model* model, const tk_slopes* s, uint32_t k) {
  return s->states + (uint64_t)k * model->state_count;
}

void tk_follow_part(const tactus_model* model, tactus_instance* instance, double from) {
  tk_slopes s = tk_slopes_of(model, instance);
  const uint32_t n = model->state_count;
  if (tk_is_lost(&s, tk_tie_events(instance) != *s.ties || !model->tangent)) return;
  if (!(instance->time > from) || n == 0) return;
  const double h = instance->dense_step;
  const double theta = (instance->time - from) / h;
  const double* before = tk_stage_vector(model, instance, TK_BEFORE);
  const double* k = tk_stage_vector(model, instance, TK_STAGES);
  if (tk_is_lost(&s, instance->dense_from != from || !(theta <= 1.0))) return;
  for (uint32_t stage = 0; stage < TK_SLOPE_STAGES; stage++) {
    const double* row = tk_tsit5.a + stage * (stage - 1) / 2;
    double* x = s.arguments + (uint64_t)stage * n;
    for (uint32_t i = 0; i < n; i++) {
      double sum = 0.0;
      for (uint32_t j = 0; j < stage; j++) sum += row[j] * k[(uint64_t)j * n + i];
      x[i] = before[i] + h * sum;
    }
  }
  /* The last stage is needed by the interpolant alone. */
  const uint32_t count = theta < 1.0 ? TK_SLOPE_STAGES : TK_SLOPE_STAGES - 1;
  for (uint32_t column = 0; column < s.columns; column++) {
    double* slope = tk_column(model, &s, column);
    double* moving = s.direction + tactus_direction_states(model);
    tk_point_along(model, &s, column, 0.0, slope);
    for (uint32_t stage = 0; stage < count; stage++) {
      const double* row = tk_tsit5.a + stage * (stage - 1) / 2;
      for (uint32_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (uint32_t j = 0; j < stage; j++) sum += row[j] * s.stages[(uint64_t)j * n + i];
        moving[i] = slope[i] + h * sum;
      }
      const int status = model->tangent(model, instance, TACTUS_OF_DERIVATIVE, from + tk_tsit5.c[stage] * h,
                                        s.arguments + (uint64_t)stage * n, s.direction, s.stages + (uint64_t)stage * n);
      if (tk_is_lost(&s, status != TACTUS_OK)) return;
    }
    const double* last = tk_tsit5.a + (TK_SLOPE_STAGES - 1) * (TK_SLOPE_STAGES - 2) / 2;
    for (uint32_t i = 0; i < n; i++) {
      double sum = 0.0;
      for (uint32_t j = 0; j < count; j++) {
        const double* d = tk_tsit5_dense[j];
        const double weight = theta < 1.0 ? theta * (d[0] + theta * (d[1] + theta * (d[2] + theta * d[3]))) : last[j];
        sum += weight * s.stages[(uint64_t)j * n + i];
      }
      slope[i] += h * sum;
    }
    if (tk_is_lost(&s, tk_first_not_finite(n, slope) >= 0)) return;
  }
}

/* The relation that gives dtau: that of the guard of `event`, if it is one; else the first that has changed, or -1. */
static int32_t tk_moving_relation(const tactus_model* model, const tactus_instance* instance, int32_t event) {
  for (uint32_t k = 0; k < model->relation_count && event >= 0; k++) {
    const tactus_relation* relation = &model->relations[k];
    if (relation->kind == TACTUS_TRUTH && relation->source == (uint32_t)event + 1) return (int32_t)k;
  }
  return instance->is_crossed ? tk_first_crossed(model, instance) : -1;
}

void tk_open_instant(const tactus_model* model, tactus_instance* instance, int32_t event) {
  tk_slopes s = tk_slopes_of(model, instance);
  const uint32_t n = model->state_count;
  const double* x = tk_states(model, instance);
  if (tk_is_lost(&s, tk_tie_events(instance) != *s.ties) || *s.is_open != 0.0) return;
  *s.is_open = 1.0;
  tk_zero(s.columns, s.moved);
  if (!instance->is_crossed && event < 0) return;
  if (tk_is_lost(&s, tk_watch(model, instance, instance->time, x) != TACTUS_OK)) return;
  const int32_t crossed = tk_moving_relation(model, instance, event);
  if (crossed < 0) return;
  const uint32_t guard = model->relations[crossed].guard;
  if (tk_is_lost(&s, model->derivative(model, instance, instance->time, x, s.flow) != TACTUS_OK)) return;
  tk_zero((uint32_t)tactus_direction_size(model), s.direction);
  s.direction[0] = 1.0;
  tk_copy(n, s.flow, s.direction + tactus_direction_states(model));
  int status = model->tangent(model, instance, TACTUS_OF_WATCH, instance->time, x, s.direction, s.result);
  const double rate = s.result[guard];
  for (uint32_t k = 0; k < s.columns && status == TACTUS_OK; k++) {
    tk_point_along(model, &s, k, 0.0, tk_column(model, &s, k));
    status = model->tangent(model, instance, TACTUS_OF_WATCH, instance->time, x, s.direction, s.result);
    s.moved[k] = s.result[guard] == 0.0 ? 0.0 : -s.result[guard] / rate;
    if (!tk_is_finite(s.moved[k])) status = TACTUS_SINGULAR;
  }
  if (tk_is_lost(&s, status != TACTUS_OK)) return;
  for (uint32_t k = 0; k < s.columns; k++) {
    double* slope = tk_column(model, &s, k);
    if (s.moved[k] == 0.0) continue;
    for (uint32_t i = 0; i < n; i++) slope[i] += s.flow[i] * s.moved[k];
  }
}

void tk_follow_firing(const tactus_model* model, tactus_instance* instance, uint32_t event) {
  tk_slopes s = tk_slopes_of(model, instance);
  if (tk_is_lost(&s, !model->tangent)) return;
  for (uint32_t k = 0; k < s.columns; k++) {
    double* slope = tk_column(model, &s, k);
    tk_point_along(model, &s, k, s.moved[k], slope);
    const int status = model->tangent(model, instance, TACTUS_OF_FIRE + event, instance->time,
                                      tk_states(model, instance), s.direction, s.result);
    if (tk_is_lost(&s, status != TACTUS_OK)) return;
    tk_copy(model->discrete_count, s.result, s.discrete + (uint64_t)k * model->discrete_count);
    tk_copy(model->state_count, s.result + model->discrete_count, slope);
  }
}

void tk_follow_entry(const tactus_model* model, tactus_instance* instance, uint32_t event) {
  tk_slopes s = tk_slopes_of(model, instance);
  const double* x = tk_states(model, instance);
  const int is_far = (model->events[event].flags & TACTUS_ENFORCES_POSITIONS) != 0;
  if (tk_is_lost(&s, is_far || !model->tangent)) return;
  for (uint32_t k = 0; k < s.columns; k++) {
    double* slope = tk_column(model, &s, k);
    tk_point_along(model, &s, k, s.moved[k], slope);
    int status = model->tangent(model, instance, TACTUS_OF_CONSTRAINTS, instance->time, x, s.direction, s.result);
    if (status == TACTUS_OK) status = tk_project_slope(model, instance, instance->time, x, s.result, slope);
    if (tk_is_lost(&s, status != TACTUS_OK)) return;
  }
}

void tk_close_instant(const tactus_model* model, tactus_instance* instance) {
  tk_slopes s = tk_slopes_of(model, instance);
  const uint32_t n = model->state_count;
  if (tk_is_lost(&s, tk_tie_events(instance) != *s.ties) || *s.is_open == 0.0) return;
  *s.is_open = 0.0;
  int moves = 0;
  for (uint32_t k = 0; k < s.columns; k++) moves = moves || s.moved[k] != 0.0;
  if (!moves) return;
  const int status = model->derivative(model, instance, instance->time, tk_states(model, instance), s.flow);
  if (tk_is_lost(&s, status != TACTUS_OK)) return;
  for (uint32_t k = 0; k < s.columns; k++) {
    double* slope = tk_column(model, &s, k);
    if (s.moved[k] == 0.0) continue;
    for (uint32_t i = 0; i < n; i++) slope[i] -= s.flow[i] * s.moved[k];
    s.moved[k] = 0.0;
  }
}

void tk_slopes_of_watched(const tactus_model* model, tactus_instance* instance, uint32_t first, uint32_t count,
                          double* matrix) {
  tk_slopes s = tk_slopes_of(model, instance);
  if (tk_is_lost(&s, !model->tangent)) return;
  for (uint32_t k = 0; k < s.columns; k++) {
    tk_point_along(model, &s, k, s.moved[k], tk_column(model, &s, k));
    const int status = model->tangent(model, instance, TACTUS_OF_WATCH, instance->time, tk_states(model, instance),
                                      s.direction, s.result);
    if (tk_is_lost(&s, status != TACTUS_OK)) return;
    for (uint32_t i = 0; i < count; i++) matrix[(uint64_t)i * s.columns + k] = s.result[first + i];
  }
}
