/* When events are due, and what happens then. Enters: an Instance at some time, its clocks (abi/model.h). Leaves: the discrete
 * section as the handlers made it, at the same time.
 *
 * First the relations hold what they are: what is held changes what other guards read, so they are looked at again until nothing
 * changes. A clock with a fraction is due. Firing rounds it up, then calls the model's handlers. Events of one instant fire in the order of
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

int tk_is_due(const tactus_model* model, const tactus_instance* instance) {
  return instance->is_crossed || tk_first_due(model, instance) >= 0;
}

static double tk_relation_value(const tactus_model* model, const tactus_instance* instance,
                                const tactus_relation* relation) {
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  if (relation->kind == TACTUS_FLOOR) return tk_floor(watched[relation->source]);
  const double guard = watched[relation->guard];
  return guard > 0.0 || (guard == 0.0 && !relation->is_strict) ? 1.0 : 0.0;
}

int tk_is_crossed(const tactus_model* model, const tactus_instance* instance, uint32_t relation) {
  const tactus_relation* entry = &model->relations[relation];
  const double value = tk_relation_value(model, instance, entry);
  return value != tactus_data_const(instance)[model->layout.discrete + entry->held] && value == value;
}

int32_t tk_first_crossed(const tactus_model* model, const tactus_instance* instance) {
  for (uint32_t k = 0; k < model->relation_count; k++) {
    if (tk_is_crossed(model, instance, k)) return (int32_t)k;
  }
  return -1;
}

/* Relations depend on each other without cycles: as often as there are relations is enough. Leaves what was watched last. */
int tk_settle(const tactus_model* model, tactus_instance* instance) {
  double* discrete = tactus_data(instance) + model->layout.discrete;
  for (uint32_t round = 0; round <= model->relation_count + 1; round++) {
    const int status = tk_watch(model, instance, instance->time, tk_states(model, instance));
    if (status != TACTUS_OK) return status;
    int is_settled = 1;
    for (uint32_t k = 0; k < model->relation_count; k++) {
      if (!tk_is_crossed(model, instance, k)) continue;
      discrete[model->relations[k].held] = tk_relation_value(model, instance, &model->relations[k]);
      instance->crossings++;
      is_settled = 0;
    }
    if (is_settled) break;
    instance->first_stage_valid = 0;
    instance->is_crossed = 1; /* until conditions are marked */
  }
  return TACTUS_OK;
}

uint32_t tk_most_transitions(const tactus_model* model) {
  return model->max_transitions > 0 ? model->max_transitions : 1000;
}

int tk_fire(const tactus_model* model, tactus_instance* instance) {
  double* clocks = tactus_data(instance) + model->layout.clocks;
  const uint32_t most = tk_most_transitions(model);
  if (!tk_is_due(model, instance)) return TACTUS_OK;
  tk_clear_failure(instance);
  instance->first_stage_valid = 0;
  if (model->relation_count > 0) {
    const int status = tk_settle(model, instance);
    if (status != TACTUS_OK) return status;
    tk_mark_conditions(model, instance);
    instance->is_crossed = 0;
  }
  for (uint32_t round = 0; tk_first_due(model, instance) >= 0; round++) {
    for (uint32_t e = 0; e < model->event_count; e++) {
      if (!tk_is_marked(clocks[e])) continue;
      if (round == most) return tk_fail(instance, TACTUS_ENDLESS_EVENTS, (int32_t)e);
      clocks[e] = tk_ceil(clocks[e]);
      const int status = model->fire ? model->fire(model, instance, e) : TACTUS_OK;
      if (status != TACTUS_OK) return tk_fail(instance, status, -1);
    }
    const int status = tk_settle(model, instance);
    if (status != TACTUS_OK) return status;
    tk_mark_conditions(model, instance);
    instance->is_crossed = 0;
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
  if (!tk_runs_in_parts(model)) return TACTUS_OK;
  tk_clear_failure(instance);
  instance->first_stage_valid = 0;
  int status = tk_begin_histories(model, instance);
  if (status == TACTUS_OK && model->relation_count > 0) {
    status = tk_settle(model, instance);
    if (status == TACTUS_OK && model->delay_count > 0) status = tk_begin_histories(model, instance);
    if (status == TACTUS_OK) status = tk_settle(model, instance);
    instance->crossings = 0;
    instance->is_crossed = 0;
  }
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
