/* How ties (ties.h) begin. Enters: an Instance behind a jump or a change of a relation, with what has happened before.
 * Leaves: the same on a surface that it keeps to from here on, where jumps accumulate, comparisons change to and fro or
 * modes take turns; else as it was. */
#include "kernel/ties.h"

/* Of comparisons so many more, each within as many more: where switchings accumulate in a point slowly, that they are
 * located to event_precision keeps them apart. */
static const double tk_many = 32.0;
/* A slide that begins again so many times event_precision after it began goes on in vain. */
static const double tk_again = 1e4;
/* Intervals that became shorter so often in a row accumulate. */
static const double tk_shorter = 3.0;

/* A transition that follows the last of its kind as soon as it could is about to leave its mode. */
static void tk_keep_mode(const tactus_model* model, tactus_instance* instance, uint32_t event) {
  if (tk_happenings(model, instance)[TK_HAPPENING * event + 1] < 1.0) return;
  if (instance->tie_count > 0 && tk_first_mode_tie(model, instance) >= 0) return;
  double* count = tk_left_count(model, instance);
  uint32_t index = 0;
  while (index < (uint32_t)*count && tk_left_mode(model, instance, index)[0] != (double)event) index++;
  if (index == TK_MOST_TURNS) { /* the oldest goes */
    for (index = 0; index + 1 < TK_MOST_TURNS; index++) {
      tk_copy(1 + model->discrete_count, tk_left_mode(model, instance, index + 1),
              tk_left_mode(model, instance, index));
    }
  }
  *count = tk_max(*count, (double)index + 1.0);
  double* kept = tk_left_mode(model, instance, index);
  kept[0] = (double)event;
  tk_copy(model->discrete_count, tactus_data_const(instance) + model->layout.discrete, kept + 1);
}

void tk_before_jump(const tactus_model* model, tactus_instance* instance, uint32_t event) {
  if (model->events[event].count < 2) return;
  tk_keep_mode(model, instance, event);
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

static int tk_lift(const tactus_model* model, tactus_instance* instance, const tk_tie_entry* tie);

/* Back onto the surface of a tie. */
int tk_put_back_on_tie(const tactus_model* model, tactus_instance* instance, int32_t tie) {
  const tk_tie_entry entry = tk_tie_of(model, instance, tie);
  int status = TACTUS_OK;
  if (tk_is_rest(model, &entry)) {
    const tactus_event* event = &model->events[(uint32_t)*entry.number];
    const uint64_t near = (uint64_t)*entry.near;
    status = tk_react(model, instance, instance->time, tk_states(model, instance), &entry);
    if (status == TACTUS_OK) status = tk_lift(model, instance, &entry);
    for (uint32_t i = 1; i < event->count && i < 50 && status == TACTUS_OK; i++) {
      if ((near >> i & 1) != 0) status = tk_put_on(model, instance, event->first + i, entry.lift);
    }
    if (status == TACTUS_OK) status = tk_put_on(model, instance, (uint32_t)*entry.place, entry.direction);
    if (status == TACTUS_OK) tk_copy(model->state_count, entry.direction, entry.probe);
    return status;
  }
  const int is_mode = *entry.kind != (double)TK_OF_ONE;
  if (is_mode) {
    tk_leave_present(model, instance);
    tk_enter_mode(model, instance, tie);
  }
  status = tk_put_on(model, instance, (uint32_t)*entry.place, entry.direction);
  if (is_mode) tk_return_to_present(model, instance);
  return status;
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

/* Whether tie i holds, of these strengths. */
int tk_is_held(const tactus_model* model, tactus_instance* instance, int32_t i, const double* strength) {
  const tk_tie_entry tie = tk_tie_of(model, instance, i);
  if (*tie.kind == (double)TK_RESTING_MODE) return strength[i] >= -tk_slack;
  if (*tie.kind == (double)TK_SLIDING_MODE) return tk_abs(strength[i]) <= tk_slack;
  if (*tie.kind == (double)TK_OTHER_SIDE) return 1;
  const int is_slide = *tie.number >= (double)model->event_count;
  return strength[i] >= 0.0 && (!is_slide || strength[i] <= 1.0);
}

/* From the surface at `place` in watched back along its normal, so that c falls by 1. 0 when c does not depend on x. */
static int tk_normal(const tactus_model* model, tactus_instance* instance, uint32_t place, double* direction) {
  const uint32_t n = model->state_count;
  const double* x = tk_states(model, instance);
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  double* moved = tk_stage_vector(model, instance, TK_ERRORS);
  double square = 0.0;
  tk_copy(n, x, moved);
  for (uint32_t i = 0; i < n; i++) {
    double step = 0x1p-17;
    while (step < 0x1p-18 * tk_abs(x[i])) step *= 2.0;
    moved[i] = x[i] + step;
    if (tk_watch(model, instance, instance->time, moved) != TACTUS_OK) return 0;
    direction[i] = watched[place];
    moved[i] = x[i] - step;
    if (tk_watch(model, instance, instance->time, moved) != TACTUS_OK) return 0;
    direction[i] = (watched[place] - direction[i]) / (2.0 * step);
    moved[i] = x[i];
    square += direction[i] * direction[i];
  }
  if (!(square > 1e-18) || !tk_is_finite(square)) return 0;
  for (uint32_t i = 0; i < n; i++) direction[i] /= square;
  return 1;
}

/* Whether the normal of a tie is that of an earlier one of modes in turn, or its opposite. */
static int tk_is_other_side(const tactus_model* model, tactus_instance* instance, int32_t tie) {
  const double* own = tk_tie_of(model, instance, tie).direction;
  for (int32_t j = 0; j < tie; j++) {
    const tk_tie_entry other = tk_tie_of(model, instance, j);
    if (*other.kind == (double)TK_OF_ONE) continue;
    double product = 0.0;
    double square = 0.0;
    double other_square = 0.0;
    for (uint32_t k = 0; k < model->state_count; k++) {
      product += own[k] * other.direction[k];
      square += own[k] * own[k];
      other_square += other.direction[k] * other.direction[k];
    }
    if (product * product > (1.0 - 1e-9) * square * other_square) return 1;
  }
  return 0;
}

/* A tie for a transition of modes in turn, kept at `left`: on the first part of its guard that is 0 and depends on x. 0
 * when there is none. */
static int tk_add_mode_tie(const tactus_model* model, tactus_instance* instance, uint32_t left) {
  const tk_tie_entry tie = tk_tie_of(model, instance, instance->tie_count);
  const double* kept = tk_left_mode(model, instance, left);
  const uint32_t event = (uint32_t)kept[0];
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  uint32_t place = 0;
  tk_leave_present(model, instance);
  tk_copy(model->discrete_count, kept + 1, tactus_data(instance) + model->layout.discrete);
  for (uint32_t i = 1; i < model->events[event].count && place == 0; i++) {
    const uint32_t part = model->events[event].first + i;
    if (tk_watch(model, instance, instance->time, tk_states(model, instance)) != TACTUS_OK) break;
    if (tk_abs(watched[part]) < 1e-6 && tk_normal(model, instance, part, tie.direction)) place = part;
  }
  tk_return_to_present(model, instance);
  if (place == 0) return 0;
  *tie.number = (double)event;
  *tie.place = (double)place;
  *tie.left = (double)left;
  *tie.kind = (double)TK_RESTING_MODE;
  tk_zero(model->relation_count, tie.sides);
  if (tk_is_other_side(model, instance, instance->tie_count)) {
    *tie.kind = (double)TK_OTHER_SIDE;
    tk_zero(model->state_count, tie.direction);
  }
  instance->tie_count++;
  return 1;
}

/* Transitions that only change modes follow each other as soon as they can: the motion becomes a mixture of those of
 * their modes, if one keeps to their surfaces. */
static int tk_begin_turns(const tactus_model* model, tactus_instance* instance, uint32_t number) {
  const int32_t before = instance->tie_count;
  const double* happened = tk_happenings(model, instance);
  const uint32_t kept = (uint32_t)*tk_left_count(model, instance);
  const double soon = tk_soon * tk_event_precision(model, instance->time);
  int accumulates = 1;
  if (before > 0 && tk_first_mode_tie(model, instance) >= 0) return TACTUS_OK;
  for (uint32_t k = 0; k < kept && instance->tie_count < (int32_t)tk_most_ties(model); k++) {
    const uint32_t event = (uint32_t)tk_left_mode(model, instance, k)[0];
    const double* mine = happened + TK_HAPPENING * event;
    if (mine[1] + 1.0 < tk_often || instance->time - mine[0] > soon || tk_is_tied(model, instance, event)) continue;
    if (tk_add_mode_tie(model, instance, k)) accumulates = accumulates && mine[3] >= tk_shorter;
  }
  double strength[TK_MOST_TIES];
  int is_held = instance->tie_count - before >= 2;
  for (int32_t i = before; i < instance->tie_count; i++) {
    double* kind = tk_tie_of(model, instance, i).kind;
    if (!accumulates && *kind == (double)TK_RESTING_MODE) *kind = (double)TK_SLIDING_MODE;
  }
  if (is_held) {
    double* flow = tk_stage_vector(model, instance, TK_STAGE_ARGUMENT);
    is_held = tk_tied_flow(model, instance, instance->time, tk_states(model, instance), flow, strength, 0) == TACTUS_OK;
  }
  for (int32_t i = before; is_held && i < instance->tie_count; i++) is_held = tk_is_held(model, instance, i, strength);
  if (!is_held) {
    instance->tie_count = before;
    tk_clear_failure(instance);
    return tk_settle(model, instance);
  }
  for (int32_t i = before; i < instance->tie_count; i++) {
    const int status = tk_put_back_on_tie(model, instance, i);
    if (status != TACTUS_OK) return status;
  }
  tk_tell(model, instance, accumulates ? TK_TOLD_REST : TK_TOLD_SLIDE, number);
  if (accumulates) {
    instance->rests++;
  } else {
    instance->slides++;
  }
  instance->last_tie = (int32_t)number;
  instance->short_parts = 0;
  instance->first_stage_valid = 0;
  instance->next_step = 0.0;
  return tk_settle(model, instance);
}

/* How fast what is watched at `place` changes along (1, flow) from the present state. */
static int tk_slope_of(const tactus_model* model, tactus_instance* instance, uint32_t place, const double* flow,
                       double* slope) {
  const double* x = tk_states(model, instance);
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  double* moved = tk_stage_vector(model, instance, TK_ERRORS);
  const double step = tk_small_step(model, x, flow);
  for (int side = 0; side < 2; side++) {
    const double by = side == 0 ? step : -step;
    for (uint32_t i = 0; i < model->state_count; i++) moved[i] = x[i] + by * flow[i];
    const int status = tk_watch(model, instance, instance->time + by, moved);
    if (status != TACTUS_OK) return status;
    *slope = side == 0 ? watched[place] : (*slope - watched[place]) / (2.0 * step);
  }
  return TACTUS_OK;
}

/* Whether a jump that changes the part at `place` of its guard by `size` is among those that accumulate: it is no more
 * than what the motion makes of that part while events cannot be told apart, and small beside the states or beside what
 * it has been. One that repeats at one instant, each time as much, is none of them. */
static int tk_is_accumulating(const tactus_model* model, tactus_instance* instance, uint32_t place, double size,
                              double largest) {
  const double* x = tk_states(model, instance);
  const double* before = tk_stage_vector(model, instance, TK_BEFORE);
  double* flow = tk_stage_vector(model, instance, TK_STAGE_ARGUMENT);
  double strength[TK_MOST_TIES];
  double slope = 0.0;
  double most = 0.0;
  int is_little = 1;
  for (uint32_t i = 0; i < model->state_count; i++) {
    is_little = is_little && tk_abs(x[i] - before[i]) <= 1e-3 * (1.0 + tk_abs(x[i]));
    most = tk_max(tk_abs(x[i]), most);
  }
  if (!is_little && !(size <= 1e-3 * largest)) return 0;
  if (size <= 1e-12 * (1.0 + most)) return 1;
  const int status = instance->tie_count > 0 ? tk_tied_flow(model, instance, instance->time, x, flow, strength, 0)
                                             : model->derivative(model, instance, instance->time, x, flow);
  if (status != TACTUS_OK || tk_slope_of(model, instance, place, flow, &slope) != TACTUS_OK) {
    tk_clear_failure(instance);
    return 0;
  }
  return size <= 4.0 * tk_abs(slope) * tk_soon * tk_event_precision(model, instance->time);
}

/* What infinitely many jumps of a tie leave of the states that each of them changes however slow the approach: where
 * these go to a limit, as a spin of which each takes a part, they are there; a count stays as it is. 0 when the motion
 * would change such a state while it rests: the jumps hold it, and how is not known. */
static int tk_put_at_limits(const tactus_model* model, tactus_instance* instance, const tk_tie_entry* tie) {
  const uint32_t n = model->state_count;
  const uint32_t event = (uint32_t)*tie->number;
  double* x = tk_states(model, instance);
  double* now = tk_stage_vector(model, instance, TK_STAGE_ARGUMENT);
  double* next = tk_stage_vector(model, instance, TK_ERRORS);
  if (tk_try_jump(model, instance, event, instance->time, x, now) != TACTUS_OK) return 0;
  *tie->residue = 0.0;
  for (uint32_t i = 0; i < n; i++) {
    if (tk_abs(now[i] - x[i]) > 1e-9 * (1.0 + tk_abs(x[i]))) *tie->residue = 1.0;
  }
  if (*tie->residue == 0.0) return 1;
  double* changed = tk_stage_vector(model, instance, TK_AFTER); /* 1: it changes */
  for (uint32_t i = 0; i < n; i++) changed[i] = tk_abs(now[i] - x[i]) > 1e-9 * (1.0 + tk_abs(x[i])) ? 1.0 : 0.0;
  for (int round = 0; round < 1000; round++) {
    if (tk_try_jump(model, instance, event, instance->time, now, next) != TACTUS_OK) return 0;
    int is_there = 1;
    for (uint32_t i = 0; i < n; i++) is_there = is_there && next[i] == now[i];
    if (is_there) break;
    if (round < 999) tk_copy(n, next, now);
  }
  double* flow = tk_stage_vector(model, instance, TK_STAGES);
  if (model->derivative(model, instance, instance->time, x, flow) != TACTUS_OK) return 0;
  for (uint32_t i = 0; i < n; i++) {
    if (changed[i] == 0.0 || tk_abs(next[i] - now[i]) > 1e-9 * (1.0 + tk_abs(now[i]))) continue;
    if (flow[i] != 0.0) return 0;
    x[i] = next[i];
  }
  return 1;
}

int tk_after_jump(const tactus_model* model, tactus_instance* instance, uint32_t number) {
  const tactus_event* event = &model->events[number];
  const uint32_t n = model->state_count;
  if (event->count < 2 || n == 0) return TACTUS_OK;
  double* happened = tk_happenings(model, instance) + TK_HAPPENING * number;
  const int is_at_once = happened[0] == instance->time;
  const int is_often = tk_note(model, instance, number) >= tk_often;
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
  const double largest = happened[4] = tk_max(happened[4], most);
  if (!(happened[1] > 0.0)) return TACTUS_OK;
  int is_changed = 0;
  for (uint32_t i = 0; i < n; i++) is_changed = is_changed || x[i] != before[i];
  if (!is_changed || (closing == 0 && !is_at_once)) {
    return is_often ? tk_begin_turns(model, instance, number) : TACTUS_OK;
  }
  if (closing == 0 || !tk_is_accumulating(model, instance, event->first + closing, most, largest)) {
    happened[1] = 0.0;
    return tk_watch(model, instance, instance->time, x);
  }
  int status = tk_watch(model, instance, instance->time, x);
  if (status != TACTUS_OK || !is_often || instance->tie_count >= (int32_t)tk_most_ties(model)) return status;
  const tk_tie_entry tie = tk_tie_of(model, instance, instance->tie_count);
  *tie.number = (double)number;
  *tie.place = (double)(event->first + closing);
  *tie.kind = (double)TK_OF_ONE;
  tk_zero(model->relation_count, tie.sides);
  uint64_t near = 0;
  for (uint32_t i = 1; i < event->count && i < 50; i++) {
    if (i != closing && tk_abs(watched[event->first + i]) < tk_near) near |= (uint64_t)1 << i;
  }
  *tie.near = (double)near;
  if (!tk_normal(model, instance, (uint32_t)*tie.place, tie.probe)) return tk_settle(model, instance);
  tk_copy(n, x, tk_stage_vector(model, instance, TK_BEFORE)); /* if nothing holds it there */
  instance->tie_count++;
  status = tk_put_on(model, instance, (uint32_t)*tie.place, tie.probe);
  if (status == TACTUS_OK && !tk_put_at_limits(model, instance, &tie)) status = TACTUS_SINGULAR;
  if (status == TACTUS_OK) status = tk_put_back_on_tie(model, instance, instance->tie_count - 1);
  double strength[TK_MOST_TIES];
  if (status == TACTUS_OK) {
    status = tk_tied_flow(model, instance, instance->time, x, tk_stage_vector(model, instance, TK_STAGE_ARGUMENT),
                          strength, 0);
  }
  if (status != TACTUS_OK || !(strength[instance->tie_count - 1] >= 0.0)) {
    instance->tie_count--; /* nothing holds it there */
    tk_copy(n, before, tk_states(model, instance));
    if (status != TACTUS_OK && status != TACTUS_SINGULAR) return tk_fail(instance, status, -1);
    tk_clear_failure(instance);
    return tk_settle(model, instance);
  }
  tk_tell(model, instance, TK_TOLD_REST, number);
  instance->rests++;
  instance->last_tie = (int32_t)number;
  instance->short_parts = 0;
  instance->first_stage_valid = 0;
  instance->next_step = 0.0;
  return tk_settle(model, instance);
}

static int tk_is_zero(uint32_t count, const double* values) {
  for (uint32_t i = 0; i < count; i++) {
    if (values[i] != 0.0) return 0;
  }
  return 1;
}

/* How fast c of a tie changes at x with these strengths; scratch: a stage vector. */
static int tk_slope_at(const tactus_model* model, tactus_instance* instance, const double* x, const double* strength,
                       int32_t tie, double* result) {
  double slope[TK_MOST_TIES];
  double* flow = tk_stage_vector(model, instance, TK_STAGE_ARGUMENT);
  int status = tk_flows(model, instance, instance->time, x, flow);
  for (int32_t i = 0; i < instance->tie_count; i++) {
    const double* direction = tk_tie_of(model, instance, i).direction;
    for (uint32_t k = 0; k < model->state_count; k++) flow[k] += strength[i] * direction[k];
  }
  if (status == TACTUS_OK) status = tk_tie_slopes(model, instance, instance->time, x, 1.0, flow, slope);
  *result = slope[tie];
  return status;
}

/* Where c does not feel its tie: to where it stands still, c' = 0 along d, c = 0 along J d. 0 when that is not here. */
static int tk_put_still(const tactus_model* model, tactus_instance* instance, int32_t index, const double* strength) {
  const uint32_t n = model->state_count;
  const tk_tie_entry tie = tk_tie_of(model, instance, index);
  double* x = tk_states(model, instance);
  double* moved = tie.lift;
  double slope[TK_MOST_TIES];
  if (tk_tie_slopes(model, instance, instance->time, x, 0.0, tie.direction, slope) != TACTUS_OK) return 0;
  if (tk_abs(slope[index]) > tk_least_felt(model, instance->time)) return 1;
  for (int round = 0; round < 3; round++) {
    double here = 0.0;
    double ahead = 0.0;
    double behind = 0.0;
    const double step = tk_small_step(model, x, tie.direction);
    if (tk_slope_at(model, instance, x, strength, index, &here) != TACTUS_OK) return 0;
    if (here == 0.0) break;
    for (uint32_t i = 0; i < n; i++) moved[i] = x[i] + step * tie.direction[i];
    if (tk_slope_at(model, instance, moved, strength, index, &ahead) != TACTUS_OK) return 0;
    for (uint32_t i = 0; i < n; i++) moved[i] = x[i] - step * tie.direction[i];
    if (tk_slope_at(model, instance, moved, strength, index, &behind) != TACTUS_OK) return 0;
    const double change = (ahead - behind) / (2.0 * step);
    /* Further than a small step: it moves on. */
    if (!(tk_abs(here) < step * tk_abs(change))) return 0;
    for (uint32_t i = 0; i < n; i++) x[i] -= here / change * tie.direction[i];
  }
  return tk_lift(model, instance, &tie) == TACTUS_OK &&
         tk_put_on(model, instance, (uint32_t)*tie.place, tie.lift) == TACTUS_OK;
}

/* Which relations have the guard of relation `first`, or its opposite: on both sides of the present state along
 * `aside`, and on both sides of it where every state has moved by a part of its own, for guards may agree along the
 * motion (two equal blocks) and nowhere else. */
static int tk_find_sides(const tactus_model* model, tactus_instance* instance, uint32_t first, const double* aside,
                         double* sides) {
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  const double* x = tk_states(model, instance);
  double* moved = tk_stage_vector(model, instance, TK_ERRORS);
  const double step = tk_small_step(model, x, aside);
  double size = 0.0;
  for (uint32_t i = 0; i < model->state_count; i++) size = tk_max(tk_abs(aside[i]), size);
  for (int point = 0; point < 4; point++) {
    double part = 0.0;
    for (uint32_t i = 0; i < model->state_count; i++) {
      part = part + 0.6180339887498949 - tk_floor(part + 0.6180339887498949); /* no two alike */
      const double by = point < 2 ? aside[i] : aside[i] * (0.5 + part) + 0.25 * size * (0.5 + part);
      moved[i] = x[i] + (point % 2 == 0 ? -step : step) * by;
    }
    const int status = tk_watch(model, instance, instance->time, moved);
    if (status != TACTUS_OK) return status;
    const double c = watched[model->relations[first].guard];
    for (uint32_t k = 0; k < model->relation_count; k++) {
      const tactus_relation* relation = &model->relations[k];
      const double guard = watched[relation->guard];
      const double side = relation->kind != TACTUS_TRUTH || relation->source > 0 || c == 0.0 ? 0.0
                          : guard == c                                                       ? 1.0
                          : guard == -c                                                      ? -1.0
                                                                                             : 0.0;
      sides[k] = point == 0 || sides[k] == side ? side : 0.0;
    }
  }
  sides[first] = 1.0;
  return TACTUS_OK;
}

static int tk_is_whole(double x) { return x == tk_floor(x); }

int tk_begin_slide(const tactus_model* model, tactus_instance* instance) {
  double* happened = tk_happenings(model, instance);
  if (model->state_count == 0) return 0;
  for (uint32_t k = 0; k < model->relation_count; k++) {
    const uint32_t number = model->event_count + k;
    if (model->relations[k].kind != TACTUS_TRUTH || model->relations[k].source > 0) continue;
    const double* mine = happened + TK_HAPPENING * number;
    const int is_often = mine[1] >= tk_often || (mine[4] >= tk_many && tk_is_whole(mine[4] / tk_many));
    if (!is_often || tk_is_relation_tied(model, instance, k)) continue;
    if (instance->tie_count >= (int32_t)tk_most_ties(model)) return 0;
    const tk_tie_entry tie = tk_tie_of(model, instance, instance->tie_count);
    const double was = tactus_data(instance)[model->layout.discrete + model->relations[k].held];
    /* Beside the surface along the flow, which crosses it. */
    if (model->derivative(model, instance, instance->time, tk_states(model, instance), tie.lift) != TACTUS_OK ||
        tk_find_sides(model, instance, k, tie.lift, tie.sides) != TACTUS_OK) {
      tk_clear_failure(instance);
      continue;
    }
    *tie.number = (double)number;
    *tie.place = (double)model->relations[k].guard;
    *tie.kind = (double)TK_OF_ONE;
    happened[TK_HAPPENING * number + 1] = 0.0;
    tk_zero(model->state_count, tie.lift);
    instance->tie_count++;
    double strength[TK_MOST_TIES];
    double* flow = tk_stage_vector(model, instance, TK_STAGE_ARGUMENT);
    int status = tk_tied_flow(model, instance, instance->time, tk_states(model, instance), flow, strength, 0);
    double share = status == TACTUS_OK ? strength[instance->tie_count - 1] : -1.0;
    if (tk_is_zero(model->state_count, tie.direction)) share = -1.0; /* the flow is the same on both sides */
    if (share >= 0.0 && share <= 1.0 && !tk_put_still(model, instance, instance->tie_count - 1, strength)) share = -1.0;
    if (!(share >= 0.0 && share <= 1.0)) {
      instance->tie_count--;
      tk_take_side(model, instance, &tie, was > 0.5);
      tk_clear_failure(instance);
      continue;
    }
    status = tk_put_back_on_tie(model, instance, instance->tie_count - 1);
    tk_tell(model, instance, TK_TOLD_SLIDE, number);
    double* begun = happened + TK_HAPPENING * number + 5;
    const int is_again = instance->time - begun[0] <= tk_again * tk_event_precision(model, instance->time);
    begun[0] = instance->time;
    begun[1] = is_again ? begun[1] + 1.0 : 0.0;
    instance->slides++;
    instance->last_tie = (int32_t)number;
    instance->short_parts = 0;
    instance->first_stage_valid = 0;
    instance->next_step = 0.0;
    return status == TACTUS_OK;
  }
  return 0;
}
