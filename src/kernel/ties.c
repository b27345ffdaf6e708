/* Surfaces that the motion rests on or slides along.
 *
 * Rest. A jump that accumulates (a ball that bounces lower and lower) fires in ever shorter intervals. From then on its surface is
 * kept to by a reaction along the last jump. The guard is the least of its parts: the part c that the jump changes (how fast it
 * closes) stays 0 by x' = f + l d, d the jump's direction, c' = 0; parts that it leaves alone (how far it is) stay 0 with it. It
 * rests as long as l pushes, l >= 0: as long as the free flow would enable the jump.
 *
 * Sliding. A relation that changes to and fro without end, for each side drives the motion to the other (dry friction): Filippov,
 * Differential Equations with Discontinuous Righthand Sides, 1988. x' = f0 + l (f1 - f0), with f0 and f1 the flows where the relation
 * does not hold and where it does, and l in [0, 1] such that its guard stays 0. It leaves when l leaves [0, 1]. Where the guard
 * does not change with l, as where switchings accumulate in a point (Fuller), l makes the motion as slow as can be.
 *
 * Both are a tie: a function c of (t, x) that stays 0, and a direction d; several at once solve sum_j (grad c_i . d_j) l_j = - c_i' along f.
 * Derivatives of c are central differences over a power of two, exact where c is linear.
 *
 * In an Instance, at layout.ties: for each event and each relation when it last happened and how often in a row as soon as it could;
 * then for each of TK_MOST_TIES its number (an event, or behind them a relation), the place of c in watched, n doubles of d
 * and n of J d, the direction in which c's other parts are put back. */
#include "kernel/hybrid.h"

#define TK_MOST_TIES 4
/* So many in a row, each within so many times event_precision of the last, are without end. */
static const double tk_often = 4.0;
static const double tk_soon = 16.0;

typedef struct tk_tie_entry {
  double* number;
  double* place; /* of c in watched */
  double* direction;
  double* lift; /* J d */
} tk_tie_entry;

static uint32_t tk_happening_count(const tactus_model* model) { return model->event_count + model->relation_count; }

uint32_t tk_ties_size(const tactus_model* model) {
  if (model->relation_count == 0) return 0;
  return 2 * tk_happening_count(model) + TK_MOST_TIES * (2 + 2 * model->state_count);
}

static double* tk_happenings(const tactus_model* model, tactus_instance* instance) {
  return tactus_data(instance) + model->layout.ties;
}

static tk_tie_entry tk_tie_of(const tactus_model* model, tactus_instance* instance, int32_t tie) {
  double* at = tk_happenings(model, instance) + 2 * tk_happening_count(model) +
               (uint64_t)tie * (2 + 2 * (uint64_t)model->state_count);
  tk_tie_entry entry;
  entry.number = at;
  entry.place = at + 1;
  entry.direction = at + 2;
  entry.lift = entry.direction + model->state_count;
  return entry;
}

static int tk_is_tied(const tactus_model* model, const tactus_instance* instance, uint32_t number) {
  for (int32_t i = 0; i < instance->tie_count; i++) {
    if (*tk_tie_of(model, (tactus_instance*)instance, i).number == (double)number) return 1;
  }
  return 0;
}

int tk_is_event_tied(const tactus_model* model, const tactus_instance* instance, uint32_t event) {
  return tk_is_tied(model, instance, event);
}

/* A relation that is slid along, or that watches the guard of a jump on which the motion rests. */
int tk_is_relation_tied(const tactus_model* model, const tactus_instance* instance, uint32_t relation) {
  if (tk_is_tied(model, instance, model->event_count + relation)) return 1;
  const uint32_t event = model->relations[relation].source;
  return model->relations[relation].kind == TACTUS_TRUTH && event > 0 && tk_is_tied(model, instance, event - 1);
}

void tk_forget_ties(const tactus_model* model, tactus_instance* instance) {
  if (model->relation_count == 0) return;
  double* happened = tk_happenings(model, instance);
  for (uint32_t i = 0; i < tk_happening_count(model); i++) {
    happened[2 * i] = -tk_infinite();
    happened[2 * i + 1] = 0.0;
  }
  instance->tie_count = 0;
}

/* It happens now: how often in a row as soon as it could. */
static double tk_note(const tactus_model* model, tactus_instance* instance, uint32_t number) {
  double* happened = tk_happenings(model, instance) + 2 * number;
  const int is_soon = instance->time - happened[0] <= tk_soon * tk_event_precision(model, instance->time);
  happened[1] = is_soon ? happened[1] + 1.0 : 0.0;
  happened[0] = instance->time;
  return happened[1];
}

void tk_note_crossing(const tactus_model* model, tactus_instance* instance, uint32_t relation) {
  (void)tk_note(model, instance, model->event_count + relation);
}

/* --- Derivatives ---------------------------------------------------------------------------------------------------- */

/* A power of two by which x may move along `direction` without leaving its neighbourhood. */
static double tk_small_step(const tactus_model* model, const double* x, const double* direction) {
  double most = 0.0;
  for (uint32_t i = 0; i < model->state_count; i++) {
    most = tk_max(tk_abs(direction[i]) / (1.0 + tk_abs(x[i])), most);
  }
  double step = 0x1p-17; /* the cube root of rounding */
  while (step * most > 0x1p-16) step *= 0.5;
  return step;
}

/* How fast each tie's c changes along (speed, direction) from (t, x). Scratch: two stage vectors. */
static int tk_tie_slopes(const tactus_model* model, tactus_instance* instance, double t, const double* x, double speed,
                         const double* direction, double* slope) {
  double* moved = tk_stage_vector(model, instance, TK_ERRORS);
  const double step = tk_small_step(model, x, direction);
  for (int side = 0; side < 2; side++) {
    const double by = side == 0 ? step : -step;
    for (uint32_t i = 0; i < model->state_count; i++) moved[i] = x[i] + by * direction[i];
    const int status = tk_watch(model, instance, t + by * speed, moved);
    if (status != TACTUS_OK) return status;
    const double* watched = tactus_data_const(instance) + model->layout.watched;
    for (int32_t i = 0; i < instance->tie_count; i++) {
      const double c = watched[(uint32_t)*tk_tie_of(model, instance, i).place];
      slope[i] = side == 0 ? c : (slope[i] - c) / (2.0 * step);
    }
  }
  return TACTUS_OK;
}

/* The flow with all that is slid along not holding; and the directions of the ties. */
static int tk_flows(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* flow) {
  double* discrete = tactus_data(instance) + model->layout.discrete;
  const uint32_t n = model->state_count;
  for (int32_t i = 0; i < instance->tie_count; i++) {
    const uint32_t number = (uint32_t)*tk_tie_of(model, instance, i).number;
    if (number >= model->event_count) discrete[model->relations[number - model->event_count].held] = 0.0;
  }
  int status = model->derivative(model, instance, t, x, flow);
  for (int32_t i = 0; i < instance->tie_count && status == TACTUS_OK; i++) {
    const tk_tie_entry tie = tk_tie_of(model, instance, i);
    const uint32_t number = (uint32_t)*tie.number;
    if (number < model->event_count) continue;
    double* held = &discrete[model->relations[number - model->event_count].held];
    *held = 1.0;
    status = model->derivative(model, instance, t, x, tie.direction);
    *held = 0.0;
    for (uint32_t k = 0; k < n; k++) tie.direction[k] -= flow[k];
  }
  return status;
}

/* How strongly each tie acts at (t, x); `flow` becomes the motion that keeps to them. */
static int tk_tied_flow(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* flow,
                        double* strength) {
  const uint32_t n = model->state_count;
  const int32_t m = instance->tie_count;
  double matrix[TK_MOST_TIES * TK_MOST_TIES];
  double slope[TK_MOST_TIES];
  int status = tk_flows(model, instance, t, x, flow);
  if (status == TACTUS_OK) status = tk_tie_slopes(model, instance, t, x, 1.0, flow, slope);
  for (int32_t i = 0; i < m && status == TACTUS_OK; i++) strength[i] = -slope[i];
  for (int32_t j = 0; j < m && status == TACTUS_OK; j++) {
    status = tk_tie_slopes(model, instance, t, x, 0.0, tk_tie_of(model, instance, j).direction, slope);
    for (int32_t i = 0; i < m; i++) matrix[i * m + j] = slope[i];
  }
  if (status != TACTUS_OK) return status;
  for (int32_t i = 0; i < m; i++) {
    double size = 0.0;
    for (int32_t j = 0; j < m; j++) size = tk_max(tk_abs(matrix[i * m + j]), size);
    if (size > 1e-9) continue;
    /* c does not feel it: as slow as can be. */
    const tk_tie_entry tie = tk_tie_of(model, instance, i);
    double along = 0.0;
    double square = 0.0;
    for (uint32_t k = 0; k < n; k++) {
      along += tie.direction[k] * flow[k];
      square += tie.direction[k] * tie.direction[k];
    }
    for (int32_t j = 0; j < m; j++) matrix[i * m + j] = i == j ? 1.0 : 0.0;
    strength[i] = square > 0.0 ? -along / square : 0.0;
  }
  status = tk_lu_solve(m, matrix, strength);
  if (status != TACTUS_OK) return status;
  for (int32_t i = 0; i < m; i++) {
    const double* direction = tk_tie_of(model, instance, i).direction;
    for (uint32_t k = 0; k < n; k++) flow[k] += strength[i] * direction[k];
  }
  return TACTUS_OK;
}

static int tk_tied_derivative(const tactus_model* tied, tactus_instance* instance, double t, const double* x,
                              double* dx) {
  double strength[TK_MOST_TIES];
  return tk_tied_flow(tied->structures[0], instance, t, x, dx, strength);
}

/* --- Beginning ------------------------------------------------------------------------------------------------------ */

void tk_before_jump(const tactus_model* model, tactus_instance* instance, uint32_t event) {
  if (model->events[event].count < 2) return;
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  double* kept = tk_stage_vector(model, instance, TK_STAGES);
  tk_copy(model->state_count, tk_states(model, instance), tk_stage_vector(model, instance, TK_BEFORE));
  /* The parts of the guard before it; more than there is room for are not looked at. */
  for (uint32_t i = 1; i < model->events[event].count && i <= 16 * model->state_count; i++) {
    kept[i - 1] = watched[model->events[event].first + i];
  }
}

/* Newton along `direction`: the part of a guard at `place` in watched becomes 0. */
static int tk_put_on(const tactus_model* model, tactus_instance* instance, uint32_t place, const double* direction) {
  double* x = tk_states(model, instance);
  double* moved = tk_stage_vector(model, instance, TK_ERRORS);
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  for (int round = 0; round < 4; round++) {
    int status = tk_watch(model, instance, instance->time, x);
    if (status != TACTUS_OK) return status;
    const double off = watched[place];
    if (off == 0.0) break;
    const double step = tk_small_step(model, x, direction);
    for (uint32_t i = 0; i < model->state_count; i++) moved[i] = x[i] + step * direction[i];
    status = tk_watch(model, instance, instance->time, moved);
    if (status != TACTUS_OK) return status;
    double slope = watched[place];
    for (uint32_t i = 0; i < model->state_count; i++) moved[i] = x[i] - step * direction[i];
    status = tk_watch(model, instance, instance->time, moved);
    if (status != TACTUS_OK) return status;
    slope = (slope - watched[place]) / (2.0 * step);
    if (!(tk_abs(slope) > 1e-9)) break;
    for (uint32_t i = 0; i < model->state_count; i++) x[i] -= off / slope * direction[i];
  }
  return TACTUS_OK;
}

/* Back onto the surface of a tie. */
static int tk_put_back_on_tie(const tactus_model* model, tactus_instance* instance, int32_t tie) {
  const tk_tie_entry entry = tk_tie_of(model, instance, tie);
  const uint32_t number = (uint32_t)*entry.number;
  int status = TACTUS_OK;
  if (number < model->event_count) {
    const tactus_event* event = &model->events[number];
    for (uint32_t i = 1; i < event->count && status == TACTUS_OK; i++) {
      if (event->first + i == (uint32_t)*entry.place) continue;
      const double* watched = tactus_data_const(instance) + model->layout.watched;
      status = tk_watch(model, instance, instance->time, tk_states(model, instance));
      /* Only what is at 0: a guard may have parts that hold by a margin. */
      const double close = 1e-6;
      if (status == TACTUS_OK && tk_abs(watched[event->first + i]) < close) {
        status = tk_put_on(model, instance, event->first + i, entry.lift);
      }
    }
    if (status == TACTUS_OK) status = tk_put_on(model, instance, (uint32_t)*entry.place, entry.direction);
    return status;
  }
  return tk_put_on(model, instance, (uint32_t)*entry.place, entry.direction);
}

/* J d by a difference of the flow. */
static int tk_lift(const tactus_model* model, tactus_instance* instance, const tk_tie_entry* tie) {
  const double* x = tk_states(model, instance);
  double* moved = tk_stage_vector(model, instance, TK_ERRORS);
  double* flow = tk_stage_vector(model, instance, TK_STAGE_ARGUMENT);
  const double step = tk_small_step(model, x, tie->direction);
  for (uint32_t i = 0; i < model->state_count; i++) moved[i] = x[i] + step * tie->direction[i];
  int status = model->derivative(model, instance, instance->time, moved, tie->lift);
  for (uint32_t i = 0; i < model->state_count; i++) moved[i] = x[i] - step * tie->direction[i];
  if (status == TACTUS_OK) status = model->derivative(model, instance, instance->time, moved, flow);
  for (uint32_t i = 0; i < model->state_count; i++) tie->lift[i] = (tie->lift[i] - flow[i]) / (2.0 * step);
  return status;
}

int tk_after_jump(const tactus_model* model, tactus_instance* instance, uint32_t number) {
  const tactus_event* event = &model->events[number];
  const uint32_t n = model->state_count;
  if (event->count < 2 || n == 0 || tk_note(model, instance, number) < tk_often ||
      instance->tie_count >= TK_MOST_TIES) {
    return TACTUS_OK;
  }
  const double* x = tk_states(model, instance);
  const double* before = tk_stage_vector(model, instance, TK_BEFORE);
  const double* parts = tk_stage_vector(model, instance, TK_STAGES);
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  /* The part that the jump turns round. */
  uint32_t closing = 0;
  double most = 0.0;
  for (uint32_t i = 1; i < event->count && i <= 16 * n; i++) {
    const double after = watched[event->first + i];
    if (parts[i - 1] > 0.0 && after <= 0.0 && parts[i - 1] - after > most) {
      most = parts[i - 1] - after;
      closing = i;
    }
  }
  if (closing == 0) return TACTUS_OK;
  const tk_tie_entry tie = tk_tie_of(model, instance, instance->tie_count);
  double size = 0.0;
  for (uint32_t i = 0; i < n; i++) {
    tie.direction[i] = x[i] - before[i];
    size = tk_max(tk_abs(tie.direction[i]), size);
  }
  if (!(size > 0.0)) return TACTUS_OK;
  for (uint32_t i = 0; i < n; i++) tie.direction[i] /= size;
  *tie.number = (double)number;
  *tie.place = (double)(event->first + closing);
  int status = tk_lift(model, instance, &tie);
  if (status != TACTUS_OK) return tk_fail(instance, status, -1);
  instance->tie_count++;
  status = tk_put_back_on_tie(model, instance, instance->tie_count - 1);
  if (status != TACTUS_OK) return status;
  double strength[TK_MOST_TIES];
  status =
      tk_tied_flow(model, instance, instance->time, x, tk_stage_vector(model, instance, TK_STAGE_ARGUMENT), strength);
  if (status != TACTUS_OK || !(strength[instance->tie_count - 1] >= 0.0)) {
    instance->tie_count--; /* nothing holds it there */
    return status == TACTUS_SINGULAR ? TACTUS_OK : status;
  }
  instance->rests++;
  instance->last_tie = (int32_t)number;
  instance->short_parts = 0;
  instance->first_stage_valid = 0;
  instance->next_step = 0.0;
  return tk_settle(model, instance);
}

int tk_begin_slide(const tactus_model* model, tactus_instance* instance) {
  double* happened = tk_happenings(model, instance);
  if (model->state_count == 0) return 0;
  for (uint32_t k = 0; k < model->relation_count; k++) {
    const uint32_t number = model->event_count + k;
    if (model->relations[k].kind != TACTUS_TRUTH || model->relations[k].source > 0) continue;
    if (happened[2 * number + 1] < tk_often || tk_is_tied(model, instance, number)) continue;
    if (instance->tie_count >= TK_MOST_TIES) return 0;
    const tk_tie_entry tie = tk_tie_of(model, instance, instance->tie_count);
    double* held = tactus_data(instance) + model->layout.discrete + model->relations[k].held;
    const double was = *held;
    *tie.number = (double)number;
    *tie.place = (double)model->relations[k].guard;
    happened[2 * number + 1] = 0.0;
    tk_zero(model->state_count, tie.lift);
    instance->tie_count++;
    double strength[TK_MOST_TIES];
    double* flow = tk_stage_vector(model, instance, TK_STAGE_ARGUMENT);
    int status = tk_tied_flow(model, instance, instance->time, tk_states(model, instance), flow, strength);
    const double share = status == TACTUS_OK ? strength[instance->tie_count - 1] : -1.0;
    if (!(share >= 0.0 && share <= 1.0)) {
      instance->tie_count--;
      *held = was;
      tk_clear_failure(instance);
      continue;
    }
    status = tk_put_back_on_tie(model, instance, instance->tie_count - 1);
    instance->slides++;
    instance->last_tie = (int32_t)number;
    instance->short_parts = 0;
    instance->first_stage_valid = 0;
    instance->next_step = 0.0;
    return status == TACTUS_OK;
  }
  return 0;
}

/* --- On the way ----------------------------------------------------------------------------------------------------- */

void tk_tie(const tactus_model* model, tactus_model* tied) {
  const uint64_t* from = (const uint64_t*)(const void*)model;
  uint64_t* to = (uint64_t*)(void*)tied;
  for (uint64_t i = 0; i < sizeof(tactus_model) / sizeof(uint64_t); i++) {
    to[i] = from[i];
    TK_HIDE(i);
  }
  tied->derivative = tk_tied_derivative;
  tied->fixed_steps = tk_fixed_steps;
  tied->adaptive_step = tk_adaptive_step;
}

int tk_is_tie(const tactus_model* model) { return model->derivative == tk_tied_derivative; }

/* The first tie that no longer acts, or -1. */
static int32_t tk_first_loose(const tactus_model* model, tactus_instance* instance, double t, const double* x,
                              double* share) {
  double strength[TK_MOST_TIES];
  double* flow = tk_stage_vector(model, instance, TK_STAGES);
  if (tk_tied_flow(model, instance, t, x, flow, strength) != TACTUS_OK) return 0;
  for (int32_t i = 0; i < instance->tie_count; i++) {
    const int is_slide = *tk_tie_of(model, instance, i).number >= (double)model->event_count;
    *share = strength[i];
    if (!(strength[i] >= 0.0) || (is_slide && strength[i] > 1.0)) return i;
  }
  return -1;
}

static void tk_release(const tactus_model* model, tactus_instance* instance, int32_t loose, double share) {
  const tk_tie_entry tie = tk_tie_of(model, instance, loose);
  const uint32_t number = (uint32_t)*tie.number;
  double* happened = tk_happenings(model, instance) + 2 * number;
  happened[0] = -tk_infinite();
  happened[1] = 0.0;
  if (number >= model->event_count) {
    tactus_data(instance)[model->layout.discrete + model->relations[number - model->event_count].held] =
        share > 1.0 ? 1.0 : 0.0;
  }
  const uint32_t size = 2 + 2 * model->state_count;
  for (int32_t i = loose + 1; i < instance->tie_count; i++) {
    tk_copy(size, tk_tie_of(model, instance, i).number, tk_tie_of(model, instance, i - 1).number);
  }
  instance->tie_count--;
  instance->releases++;
  instance->first_stage_valid = 0;
  instance->next_step = 0.0;
}

void tk_release_loose(const tactus_model* model, tactus_instance* instance) {
  for (int round = 0; round < TK_MOST_TIES && instance->tie_count > 0; round++) {
    double share = 0.0;
    const int32_t loose = tk_first_loose(model, instance, instance->time, tk_states(model, instance), &share);
    if (loose < 0) return;
    tk_release(model, instance, loose, share);
  }
}

int tk_end_tied_part(const tactus_model* tied, tactus_instance* instance, int solver, double from, int64_t steps) {
  const tactus_model* model = tied->structures[0];
  double* x = tk_states(model, instance);
  double* between = tk_stage_vector(model, instance, TK_ERRORS);
  double share = 0.0;
  const double precision = tk_event_precision(model, instance->time);
  int32_t loose = tk_first_loose(model, instance, instance->time, x, &share);
  if (loose >= 0 && instance->time - from > precision) {
    double low = from;
    double high = instance->time;
    while (high - low > precision) {
      const double t = low + 0.5 * (high - low);
      double at = 0.0;
      tk_between(tied, instance, solver, t, between);
      /* `between` is scratch of what follows. */
      tk_copy(model->state_count, between, tk_stage_vector(model, instance, TK_AFTER));
      const int32_t found = tk_first_loose(model, instance, t, tk_stage_vector(model, instance, TK_AFTER), &at);
      if (found >= 0) {
        high = t;
        loose = found;
        share = at;
      } else {
        low = t;
      }
    }
    tk_between(tied, instance, solver, high, x);
    if (high < instance->time) instance->steps = steps;
    instance->time = high;
  }
  for (int32_t i = 0; i < instance->tie_count; i++) {
    const int status = tk_put_back_on_tie(model, instance, i);
    if (status != TACTUS_OK) return status;
  }
  if (loose >= 0) tk_release(model, instance, loose, share);
  return TACTUS_OK;
}
