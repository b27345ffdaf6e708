/* When events are due, and what happens then. Enters: an Instance at some time, its clocks (abi/model.h). Leaves: the discrete
 * section as the handlers made it, at the same time.
 *
 * A clock with a fraction is due. Firing rounds it up, then calls the model's handlers. Events of one instant fire in the order of
 * the table; then the conditions are watched again, and those that rose fire too, until none does or max_transitions rounds have
 * passed. */
#include "kernel/hybrid.h"

static const double* tk_clocks_const(const tactus_model* model, const tactus_instance* instance) {
  return tactus_data_const(instance) + model->layout.clocks;
}

static int tk_is_marked(double clock) { return clock != tk_floor(clock); }

/* The time of tick or entry number `passed`. */
static double tk_scheduled_time(const tactus_model* model, const tactus_event* event, double passed) {
  if (event->kind == TACTUS_EVERY) {
    if (!(event->period > 0.0) && passed > 0.0) return tk_infinite();
    return model->starting_time + event->from + passed * event->period;
  }
  if (event->kind == TACTUS_AT && passed < (double)event->count) {
    return model->event_times[event->first + (uint32_t)passed];
  }
  return tk_infinite();
}

double tk_next_tick(const tactus_model* model, const tactus_instance* instance) {
  const double* clocks = tk_clocks_const(model, instance);
  double next = tk_infinite();
  for (uint32_t e = 0; e < model->event_count; e++) {
    next = tk_min(tk_scheduled_time(model, &model->events[e], tk_ceil(clocks[e])), next);
  }
  return next;
}

double tk_next_event(const tactus_model* model, const tactus_instance* instance) {
  const double* clocks = tk_clocks_const(model, instance);
  for (uint32_t e = 0; e < model->event_count; e++) {
    if (tk_is_marked(clocks[e]) && model->events[e].kind != TACTUS_WHEN) return instance->time;
  }
  return tk_next_tick(model, instance);
}

void tk_mark_scheduled(const tactus_model* model, tactus_instance* instance, double slack) {
  double* clocks = tactus_data(instance) + model->layout.clocks;
  for (uint32_t e = 0; e < model->event_count; e++) {
    if (tk_is_marked(clocks[e])) continue;
    if (tk_scheduled_time(model, &model->events[e], clocks[e]) <= instance->time + slack) clocks[e] += 0.5;
  }
}

int tk_watch(const tactus_model* model, tactus_instance* instance, double t, const double* x) {
  if (model->watch_count == 0) return TACTUS_OK;
  const int status = model->watch(model, instance, t, x);
  return status == TACTUS_OK ? TACTUS_OK : tk_fail(instance, status, -1);
}

static int tk_holds(const tactus_model* model, const tactus_instance* instance, const tactus_event* event) {
  return tactus_data_const(instance)[model->layout.watched + event->first] > 0.5;
}

int tk_has_risen(const tactus_model* model, const tactus_instance* instance) {
  const double* clocks = tk_clocks_const(model, instance);
  for (uint32_t e = 0; e < model->event_count; e++) {
    if (model->events[e].kind == TACTUS_WHEN && clocks[e] == 0.0 && tk_holds(model, instance, &model->events[e])) {
      return 1;
    }
  }
  return 0;
}

void tk_mark_conditions(const tactus_model* model, tactus_instance* instance) {
  double* clocks = tactus_data(instance) + model->layout.clocks;
  for (uint32_t e = 0; e < model->event_count; e++) {
    if (model->events[e].kind != TACTUS_WHEN) continue;
    const int holds = tk_holds(model, instance, &model->events[e]);
    if (holds && clocks[e] == 0.0) clocks[e] = 0.5;
    if (!holds && clocks[e] == 1.0) clocks[e] = 0.0;
  }
}

int32_t tk_first_due(const tactus_model* model, const tactus_instance* instance) {
  const double* clocks = tk_clocks_const(model, instance);
  for (uint32_t e = 0; e < model->event_count; e++) {
    if (tk_is_marked(clocks[e])) return (int32_t)e;
  }
  return -1;
}

int tk_is_due(const tactus_model* model, const tactus_instance* instance) { return tk_first_due(model, instance) >= 0; }

uint32_t tk_most_transitions(const tactus_model* model) {
  return model->max_transitions > 0 ? model->max_transitions : 1000;
}

int tk_fire(const tactus_model* model, tactus_instance* instance) {
  double* clocks = tactus_data(instance) + model->layout.clocks;
  const uint32_t most = tk_most_transitions(model);
  if (!tk_is_due(model, instance)) return TACTUS_OK;
  tk_clear_failure(instance);
  instance->first_stage_valid = 0;
  for (uint32_t round = 0; tk_is_due(model, instance); round++) {
    for (uint32_t e = 0; e < model->event_count; e++) {
      if (!tk_is_marked(clocks[e])) continue;
      if (round == most) return tk_fail(instance, TACTUS_ENDLESS_EVENTS, (int32_t)e);
      clocks[e] = tk_ceil(clocks[e]);
      const int status = model->fire ? model->fire(model, instance, e) : TACTUS_OK;
      if (status != TACTUS_OK) return tk_fail(instance, status, -1);
    }
    const int status = tk_watch(model, instance, instance->time, tk_states(model, instance));
    if (status != TACTUS_OK) return status;
    tk_mark_conditions(model, instance);
  }
  tk_remember_jump(model, instance, instance->time, 0);
  return TACTUS_OK;
}

/* The first tick or entry not before now. */
static double tk_first_clock(const tactus_model* model, const tactus_instance* instance, const tactus_event* event) {
  const double now = instance->time - tk_time_slack(model, instance->time);
  double passed = 0.0;
  if (event->kind == TACTUS_EVERY && event->period > 0.0) {
    const double behind = now - (model->starting_time + event->from);
    if (behind > 0.0) passed = tk_ceil(behind / event->period);
  }
  while (tk_scheduled_time(model, event, passed) < now) passed += 1.0;
  return passed;
}

int tk_begin_events(const tactus_model* model, tactus_instance* instance) {
  double* clocks = tactus_data(instance) + model->layout.clocks;
  if (model->event_count == 0 && model->delay_count == 0) return TACTUS_OK;
  tk_clear_failure(instance);
  instance->first_stage_valid = 0;
  int status = tk_begin_histories(model, instance);
  if (status != TACTUS_OK) return status;
  for (uint32_t e = 0; e < model->event_count; e++) {
    const tactus_event* event = &model->events[e];
    clocks[e] =
        event->kind == TACTUS_WHEN ? (double)tk_holds(model, instance, event) : tk_first_clock(model, instance, event);
  }
  tk_mark_scheduled(model, instance, tk_time_slack(model, instance->time));
  if (!tk_is_due(model, instance)) return TACTUS_OK;
  status = tk_fire(model, instance);
  return status == TACTUS_OK ? tk_begin_histories(model, instance) : status;
}
