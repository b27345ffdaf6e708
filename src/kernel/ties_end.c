/* How ties (ties.h) end. Enters: an Instance behind a part along them. Leaves: the same back on their surfaces, or,
 * where one no longer holds the motion, at the instant at which that is so, and without it when the part is settled. */
#include "kernel/ties.h"

/* The first tie that no longer acts, or -1. */
static int32_t tk_first_loose(const tactus_model* model, tactus_instance* instance, double t, const double* x,
                              double* share) {
  double strength[TK_MOST_TIES];
  double* flow = tk_room(model, instance) + model->discrete_count + 2 * (uint64_t)model->state_count;
  if (tk_tied_flow(model, instance, t, x, flow, strength, 0) != TACTUS_OK) return 0;
  for (int32_t i = 0; i < instance->tie_count; i++) {
    *share = strength[i];
    if (!tk_is_held(model, instance, i, strength)) return i;
  }
  return -1;
}

static void tk_release_one(const tactus_model* model, tactus_instance* instance, int32_t loose, double share) {
  const tk_tie_entry tie = tk_tie_of(model, instance, loose);
  const uint32_t number = (uint32_t)*tie.number;
  double* happened = tk_happenings(model, instance) + TK_HAPPENING * number;
  happened[0] = -tk_infinite();
  happened[1] = 0.0;
  happened[2] = tk_infinite();
  happened[3] = 0.0;
  if (number >= model->event_count) {
    tk_take_side(model, instance, &tie, share > 1.0);
    for (uint32_t k = 0; k < model->relation_count; k++) {
      if (tie.sides[k] == 0.0) continue;
      double* other = tk_happenings(model, instance) + TK_HAPPENING * (model->event_count + k);
      other[0] = -tk_infinite();
      other[1] = 0.0;
    }
  }
  const uint32_t size = tk_tie_size(model);
  for (int32_t i = loose + 1; i < instance->tie_count; i++) {
    tk_copy(size, tk_tie_of(model, instance, i).number, tk_tie_of(model, instance, i - 1).number);
  }
  instance->tie_count--;
}

/* Modes in turn all at once, a little along their mixture, or they would go on taking turns where they are; which of
 * them it leaves with is for their guards to say. */
static void tk_release(const tactus_model* model, tactus_instance* instance, int32_t loose, double share) {
  const int is_mode = *tk_tie_of(model, instance, loose).kind != (double)TK_OF_ONE;
  double* flow = tk_stage_vector(model, instance, TK_STAGE_ARGUMENT);
  double* x = tk_states(model, instance);
  if (is_mode && tk_mixed_flow(model, instance, instance->time, x, flow, 0) == TACTUS_OK) {
    const double little = 4.0 * tk_soon * tk_event_precision(model, instance->time);
    for (uint32_t i = 0; i < model->state_count; i++) x[i] += little * flow[i];
  }
  if (is_mode) instance->is_crossed = 1;
  tk_tell(model, instance, TK_TOLD_RELEASE, (uint32_t)*tk_tie_of(model, instance, loose).number);
  tk_release_one(model, instance, loose, share);
  for (int32_t i = is_mode ? tk_first_mode_tie(model, instance) : -1; i >= 0; i = tk_first_mode_tie(model, instance)) {
    tk_release_one(model, instance, i, share);
  }
  instance->releases++;
  instance->first_stage_valid = 0;
  instance->next_step = 0.0;
}

/* The first tie that the present state is not on, by more than `most`, or -1: its surface was moved away, as by a kink
 * of its motion. */
static int32_t tk_first_off(const tactus_model* model, tactus_instance* instance, double most, double* share) {
  double c[TK_MOST_TIES];
  if (tk_watch_ties(model, instance, instance->time, tk_states(model, instance), c) != TACTUS_OK) return 0;
  for (int32_t i = 0; i < instance->tie_count; i++) {
    const tk_tie_entry tie = tk_tie_of(model, instance, i);
    if (*tie.kind == (double)TK_OTHER_SIDE) continue;
    *share = c[i] > 0.0 ? 2.0 : -1.0;
    if (tk_abs(c[i]) > most) return i;
  }
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  if (tk_watch(model, instance, instance->time, tk_states(model, instance)) != TACTUS_OK) return 0;
  for (int32_t i = 0; i < instance->tie_count; i++) {
    const tk_tie_entry tie = tk_tie_of(model, instance, i);
    if (!tk_is_rest(model, &tie)) continue;
    const tactus_event* event = &model->events[(uint32_t)*tie.number];
    for (uint32_t k = 1; k < event->count && k < 50; k++) {
      if (((uint64_t)*tie.near >> k & 1) != 0 && tk_abs(watched[event->first + k]) > most) return i;
    }
  }
  return -1;
}

void tk_release_loose(const tactus_model* model, tactus_instance* instance) {
  for (int round = 0; round < TK_MOST_TIES && instance->tie_count > 0; round++) {
    double share = 0.0;
    int32_t loose = tk_first_off(model, instance, tk_near, &share);
    if (loose < 0) loose = tk_first_loose(model, instance, instance->time, tk_states(model, instance), &share);
    if (loose < 0) return;
    tk_release(model, instance, loose, share);
  }
}

void tk_open_part(const tactus_model* model, tactus_instance* instance) {
  if (model->relation_count == 0) return;
  const tk_last_part part = tk_last_part_of(model, instance);
  *part.is_open = 1.0;
  *part.ties = (double)instance->tie_count;
  *part.loose = 0.0;
}

void tk_settle_ties(const tactus_model* model, tactus_instance* instance) {
  if (model->relation_count == 0) return;
  const tk_last_part part = tk_last_part_of(model, instance);
  if (*part.is_open == 0.0) return;
  *part.is_open = 0.0;
  if (*part.loose > 0.0) tk_release(model, instance, (int32_t)*part.loose - 1, *part.share);
}

/* It is released when the part is settled. */
static void tk_mark_loose(const tactus_model* model, tactus_instance* instance, int32_t loose, double share) {
  const tk_last_part part = tk_last_part_of(model, instance);
  *part.loose = (double)loose + 1.0;
  *part.share = share;
}

int tk_end_tied_part(const tactus_model* tied, tactus_instance* instance, int solver, double from, int64_t steps) {
  const tactus_model* model = tied->structures[0];
  double* x = tk_states(model, instance);
  double* between = tk_room(model, instance) + model->discrete_count + 3 * (uint64_t)model->state_count;
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
      const int32_t found = tk_first_loose(model, instance, t, between, &at);
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
  double off = 0.0;
  double most = 0.0;
  for (uint32_t i = 0; i < model->state_count; i++) most = tk_max(tk_abs(x[i]), most);
  /* So far no step goes astray. */
  const int32_t torn = tk_first_off(model, instance, 1e-3 * (1.0 + most), &off);
  if (torn >= 0) {
    tk_mark_loose(model, instance, torn, off);
    return TACTUS_OK;
  }
  /* What puts one back moves others. */
  for (int round = 0; round < (instance->tie_count > 1 ? 2 : 1); round++) {
    for (int32_t i = 0; i < instance->tie_count; i++) {
      const int status = tk_put_back_on_tie(model, instance, i);
      if (status != TACTUS_OK) return status;
    }
  }
  if (loose >= 0) tk_mark_loose(model, instance, loose, share);
  return TACTUS_OK;
}
