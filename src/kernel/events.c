/* When events are due, and what happens then. Enters: an Instance at some time, its clocks (abi/model.h). Leaves: the
 * discrete section as the handlers made it, and states and modes as transitions did, at the same time.
 *
 * First the relations hold what they are: what is held changes what other guards read, so they are looked at again
 * until nothing changes. A clock with a fraction is due. Firing rounds it up, then calls the model's handlers. Events
 * of one instant fire in the order of the table; then the conditions are watched again, and those that rose fire too,
 * until none does or max_transitions rounds have passed.
 *
 * When no event is due, the first transition that is enabled fires, then the handlers that answer it, which see the
 * values after it; then all is watched again. So it goes on until nothing is due and no transition is enabled. Last,
 * what is required is asked for. */
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

/* Where the events of one sort are in the table: from `first` up to `end`, between others. What happens at an instant
 * goes over the events a dozen times, each time for one sort. */
typedef struct tk_event_range {
  uint32_t first;
  uint32_t end;
} tk_event_range;

typedef struct tk_sorts {
  tk_event_range due; /* those that a clock can mark: every, at, when */
  tk_event_range conditions;
  tk_event_range transitions;
  tk_event_range musts;  /* require, expect, stop */
  tk_event_range checks; /* without those with a pulse, which are notes */
  tk_event_range notes;
  tk_event_range pulses;
} tk_sorts;

static tk_event_range tk_widened(tk_event_range range, uint32_t event) {
  if (range.end == 0) range.first = event;
  range.end = event + 1;
  return range;
}

/* All structures of a model have the same events. */
static tk_sorts tk_sort_events(const tactus_model* model) {
  tk_event_range none; /* no initialiser: a compiler might call memset for it */
  tk_sorts sorts;
  none.first = none.end = 0;
  sorts.due = sorts.conditions = sorts.transitions = sorts.musts = sorts.checks = sorts.notes = sorts.pulses = none;
  for (uint32_t e = 0; e < model->event_count; e++) {
    const tactus_event* event = &model->events[e];
    if (event->kind == TACTUS_CHECK) {
      if (event->pulse > 0) {
        sorts.notes = tk_widened(sorts.notes, e);
      } else {
        sorts.checks = tk_widened(sorts.checks, e);
      }
      continue;
    }
    if (event->pulse > 0) sorts.pulses = tk_widened(sorts.pulses, e);
    if (event->kind == TACTUS_TRANSITION) {
      sorts.transitions = tk_widened(sorts.transitions, e);
    } else if (event->kind <= TACTUS_WHEN) {
      sorts.due = tk_widened(sorts.due, e);
      if (event->kind == TACTUS_WHEN) sorts.conditions = tk_widened(sorts.conditions, e);
    } else if (event->kind == TACTUS_REQUIRE || event->kind == TACTUS_EXPECT || event->kind == TACTUS_STOP) {
      sorts.musts = tk_widened(sorts.musts, e);
    }
  }
  return sorts;
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

static void tk_mark_conditions_in(const tactus_model* model, tactus_instance* instance, tk_event_range range) {
  double* clocks = tactus_data(instance) + model->layout.clocks;
  for (uint32_t e = range.first; e < range.end; e++) {
    if (model->events[e].kind != TACTUS_WHEN) continue;
    const int holds = tk_holds(model, instance, &model->events[e]);
    if (holds && clocks[e] == 0.0) clocks[e] = 0.5;
    if (!holds && clocks[e] == 1.0) clocks[e] = 0.0;
  }
}

void tk_mark_conditions(const tactus_model* model, tactus_instance* instance) {
  const tk_event_range all = {0, model->event_count};
  tk_mark_conditions_in(model, instance, all);
}

static int32_t tk_first_due_in(const tactus_model* model, const tactus_instance* instance, tk_event_range range) {
  const double* clocks = tk_clocks_const(model, instance);
  for (uint32_t e = range.first; e < range.end; e++) {
    if (tk_is_marked(clocks[e])) return (int32_t)e;
  }
  return -1;
}

int32_t tk_first_due(const tactus_model* model, const tactus_instance* instance) {
  const tk_event_range all = {0, model->event_count};
  return tk_first_due_in(model, instance, all);
}

int tk_is_due(const tactus_model* model, const tactus_instance* instance) {
  return instance->is_crossed || tk_first_due(model, instance) >= 0;
}

static inline double tk_relation_value(const double* watched, const tactus_relation* relation) {
  if (relation->kind == TACTUS_FLOOR) return tk_floor(watched[relation->source]);
  const double guard = watched[relation->guard];
  return guard > 0.0 || (guard == 0.0 && !relation->is_strict) ? 1.0 : 0.0;
}

int tk_is_crossed(const tactus_model* model, const tactus_instance* instance, uint32_t relation) {
  if (instance->tie_count > 0 && tk_is_relation_tied(model, instance, relation)) return 0;
  const tactus_relation* entry = &model->relations[relation];
  const double value = tk_relation_value(tactus_data_const(instance) + model->layout.watched, entry);
  return value != tactus_data_const(instance)[model->layout.discrete + entry->held] && value == value;
}

int32_t tk_first_crossed(const tactus_model* model, const tactus_instance* instance) {
  for (uint32_t k = 0; k < model->relation_count; k++) {
    if (tk_is_crossed(model, instance, k)) return (int32_t)k;
  }
  return -1;
}

/* Relations depend on each other without cycles: as often as there are relations is enough. Leaves what was watched
 * last. What the guard of an event holds nobody reads, so that where only such have changed, nothing would be watched
 * that was not. */
int tk_settle(const tactus_model* model, tactus_instance* instance) {
  model = tk_active(model, instance);
  double* discrete = tactus_data(instance) + model->layout.discrete;
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  for (uint32_t round = 0; round <= model->relation_count + 1; round++) {
    const int status = tk_watch(model, instance, instance->time, tk_states(model, instance));
    if (status != TACTUS_OK) return status;
    int is_changed = 0;
    int is_settled = 1;
    for (uint32_t k = 0; k < model->relation_count; k++) {
      const tactus_relation* relation = &model->relations[k];
      const double value = tk_relation_value(watched, relation);
      if (value == discrete[relation->held] || !tk_is_crossed(model, instance, k)) continue;
      discrete[relation->held] = value;
      tk_note_crossing(model, instance, k);
      instance->crossings++;
      is_changed = 1;
      is_settled = is_settled && relation->kind == TACTUS_TRUTH && relation->source > 0;
    }
    if (is_changed) {
      instance->first_stage_valid = 0;
      instance->is_crossed = 1; /* until conditions are marked */
    }
    if (is_settled) break;
  }
  return TACTUS_OK;
}

uint32_t tk_most_transitions(const tactus_model* model) {
  return model->max_transitions > 0 ? model->max_transitions : 1000;
}

static int tk_is_asked_for(const tactus_instance* instance, int32_t plan) {
  return plan >= 0 && plan < TACTUS_MOST_ASKED && (instance->plans_asked >> plan & 1) != 0;
}

/* Of a transition whose guard holds. */
static int tk_is_free(const tactus_model* model, const tactus_instance* instance, uint32_t event) {
  if (instance->is_planning && tk_plan_of(model, event) >= 0) return 0;
  if (instance->plans_asked != 0 && tk_is_asked_for(instance, tk_plan_of(model, event))) return 0;
  return !tk_is_event_tied(model, instance, event);
}

static int tk_is_enabled(const tactus_model* model, const tactus_instance* instance, uint32_t event) {
  const tactus_event* entry = &model->events[event];
  return entry->kind == TACTUS_TRANSITION && tk_holds(model, instance, entry) && tk_is_free(model, instance, event);
}

static int32_t tk_first_enabled(const tactus_model* model, const tactus_instance* instance, tk_event_range range) {
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  for (uint32_t e = range.first; e < range.end; e++) {
    if (!(watched[model->events[e].first] > 0.5) || model->events[e].kind != TACTUS_TRANSITION) continue;
    if (tk_is_free(model, instance, e)) return (int32_t)e;
  }
  return -1;
}

/* A `check` with a pulse is a note: where it holds, what monitors remember is changed. A note makes itself untrue, and
 * may make others true: each as often as there are events is enough. Leaves what is watched as it is then. */
static void tk_take_notes(const tactus_model* model, tactus_instance* instance, tk_event_range range) {
  for (uint32_t round = 0; round < model->event_count; round++) {
    int is_quiet = 1;
    for (uint32_t e = range.first; e < range.end; e++) {
      if (model->events[e].kind != TACTUS_CHECK || model->events[e].pulse == 0 || !model->fire) continue;
      if (!tk_holds(model, instance, &model->events[e])) continue;
      is_quiet = 0;
      if (model->fire(model, instance, e) != TACTUS_OK) return;
      if (tk_watch(model, instance, instance->time, tk_states(model, instance)) != TACTUS_OK) return;
    }
    if (is_quiet) return;
  }
}

/* What `check`s say, by what was watched last. */
static void tk_ask_for_checks(const tactus_model* model, tactus_instance* instance, const tk_sorts* sorts) {
  double* clocks = tactus_data(instance) + model->layout.clocks;
  tk_take_notes(model, instance, sorts->notes);
  for (uint32_t e = sorts->checks.first; e < sorts->checks.end; e++) {
    if (model->events[e].kind != TACTUS_CHECK || model->events[e].pulse > 0 || clocks[e] != 0.0 ||
        !tk_holds(model, instance, &model->events[e])) {
      continue;
    }
    clocks[e] = 1.0;
    instance->broken_checks++;
    if (model->fire) (void)model->fire(model, instance, e); /* nothing happens: whoever listens hears of it now */
  }
}

/* Its handlers; whoever asks for it as a truth value finds it true until the instant is over. A `check` that does so
 * sees what was before it. */
static int tk_fire_one(const tactus_model* model, tactus_instance* instance, uint32_t event, const tk_sorts* sorts) {
  if (model->events[event].pulse > 0) {
    const int has_checks = sorts->checks.end > 0 || sorts->notes.end > 0;
    tactus_data(instance)[model->layout.discrete + model->events[event].pulse - 1] = 1.0;
    if (has_checks && tk_watch(model, instance, instance->time, tk_states(model, instance)) == TACTUS_OK) {
      tk_ask_for_checks(model, instance, sorts);
    }
    tk_clear_failure(instance);
  }
  if (instance->is_planning == 2) tk_follow_firing(model, instance, event);
  const int status = model->fire ? model->fire(model, instance, event) : TACTUS_OK;
  return status == TACTUS_OK ? TACTUS_OK : tk_fail(instance, status, -1);
}

/* The jump `event`, by what was watched last; then its handlers. Leaves what is held and watched as they are after
 * it. */
static int tk_jump(const tactus_model* whole, tactus_instance* instance, uint32_t event, const tk_sorts* sorts) {
  const tactus_model* model = tk_active(whole, instance);
  if (whole->conflicts.start) {
    for (uint32_t k = whole->conflicts.start[event]; k < whole->conflicts.start[event + 1]; k++) {
      if (!tk_is_enabled(model, instance, whole->conflicts.index[k])) continue;
      tk_fail(instance, TACTUS_CONFLICT, (int32_t)event);
      instance->failed_block = (int32_t)whole->conflicts.index[k];
      return TACTUS_CONFLICT;
    }
  }
  tk_before_jump(model, instance, event);
  int status = tk_fire_one(model, instance, event, sorts);
  if (status != TACTUS_OK) return status;
  instance->transitions++;
  instance->last_transition = (int32_t)event;
  instance->first_stage_valid = 0;
  if (whole->structure_count > 0) {
    const int32_t left = instance->structure;
    if (!tk_choose_structure(whole, instance)) return tk_fail(instance, TACTUS_ENDLESS_EVENTS, (int32_t)event);
    model = tk_active(whole, instance);
    if (instance->structure != left) tk_forget_ties(model, instance); /* other equations, other surfaces */
  }
  const int32_t index = tk_first_not_finite(model->state_count, tk_states(model, instance));
  if (index >= 0) return tk_fail(instance, TACTUS_NOT_FINITE, index);
  if (model->constraint_count > 0) {
    status = tk_enter_constraints(model, instance, (model->events[event].flags & TACTUS_ENFORCES_POSITIONS) != 0);
    if (status == TACTUS_OFF_ENTRY) instance->failed_block = (int32_t)event;
    if (status != TACTUS_OK) return status;
    if (instance->is_planning == 2) tk_follow_entry(model, instance, event);
  }
  status = tk_settle(model, instance);
  if (status != TACTUS_OK) return status;
  if (event + 1 < model->event_count && model->events[event + 1].kind == TACTUS_AFTER) {
    status = tk_fire_one(model, instance, event + 1, sorts);
    if (status == TACTUS_OK) status = tk_settle(model, instance);
    if (status != TACTUS_OK) return status;
  }
  return tk_after_jump(model, instance, event);
}

int tk_take(const tactus_model* whole, tactus_instance* instance, uint32_t event) {
  const tk_sorts sorts = tk_sort_events(whole);
  const int status = tk_jump(whole, instance, event, &sorts);
  if (status != TACTUS_OK) return status;
  tk_mark_conditions(tk_active(whole, instance), instance);
  instance->is_crossed = 0;
  return tk_fire_all(whole, instance);
}

/* The instant is over: nothing happens now. Whether anything did that somebody asks for. */
static int tk_end_pulses(const tactus_model* model, tactus_instance* instance, tk_event_range range) {
  double* discrete = tactus_data(instance) + model->layout.discrete;
  int any = 0;
  for (uint32_t e = range.first; e < range.end; e++) {
    if (model->events[e].pulse == 0 || model->events[e].kind == TACTUS_CHECK) continue;
    any = any || discrete[model->events[e].pulse - 1] != 0.0;
    discrete[model->events[e].pulse - 1] = 0.0;
  }
  return any;
}

/* What is required and what is expected, by what was watched last. */
static int tk_ask_for_musts(const tactus_model* model, tactus_instance* instance, tk_event_range range) {
  for (uint32_t e = range.first; e < range.end; e++) {
    const uint32_t kind = model->events[e].kind;
    if (kind != TACTUS_REQUIRE && kind != TACTUS_EXPECT && kind != TACTUS_STOP) continue;
    if (!tk_holds(model, instance, &model->events[e])) continue;
    if (kind == TACTUS_REQUIRE) return tk_fail(instance, TACTUS_BREACHED, (int32_t)e);
    if (kind == TACTUS_STOP) return tk_fail(instance, TACTUS_STOPPED, (int32_t)e);
    instance->expectations++;
  }
  return TACTUS_OK;
}

int tk_fire_all(const tactus_model* whole, tactus_instance* instance) {
  const tactus_model* model = tk_active(whole, instance);
  double* clocks = tactus_data(instance) + model->layout.clocks;
  const uint32_t most = tk_most_transitions(model);
  const tk_sorts sorts = tk_sort_events(whole);
  uint32_t jumps = 0;
  tk_clear_failure(instance);
  instance->first_stage_valid = 0;
  if (model->relation_count > 0) {
    const int status = tk_settle(model, instance);
    if (status != TACTUS_OK) return status;
    tk_mark_conditions_in(model, instance, sorts.conditions);
    instance->is_crossed = 0;
  }
  for (uint32_t round = 0;;) {
    int status = TACTUS_OK;
    if (tk_first_due_in(model, instance, sorts.due) >= 0) {
      for (uint32_t e = sorts.due.first; e < sorts.due.end; e++) {
        if (!tk_is_marked(clocks[e])) continue;
        if (round == most) return tk_fail(instance, TACTUS_ENDLESS_EVENTS, (int32_t)e);
        clocks[e] = tk_ceil(clocks[e]);
        status = tk_fire_one(model, instance, e, &sorts);
        if (status != TACTUS_OK) return status;
      }
      round++;
      status = tk_settle(model, instance);
    } else {
      const int32_t enabled = model->relation_count > 0 ? tk_first_enabled(model, instance, sorts.transitions) : -1;
      if (enabled < 0) break;
      if (jumps++ == most) return tk_fail(instance, TACTUS_ENDLESS_EVENTS, enabled);
      uint32_t taken = (uint32_t)enabled;
      const int32_t plan = tk_plan_of(whole, taken);
      if (plan >= 0 && plan < TACTUS_MOST_ASKED && instance->plans_wait) {
        instance->plans_asked |= (uint64_t)1 << plan;
        continue;
      }
      if (plan >= 0) {
        status = tk_find_plan(whole, instance, (uint32_t)plan);
        if (status == TACTUS_NO_PLAN && whole->plans[plan].has_otherwise) {
          taken = whole->plans[plan].failed;
          status = TACTUS_OK;
          tk_clear_failure(instance);
        }
        if (status == TACTUS_OK) status = tk_settle(model, instance);
      }
      if (status == TACTUS_OK) status = tk_jump(whole, instance, taken, &sorts);
      model = tk_active(whole, instance);
    }
    if (status != TACTUS_OK) return status;
    tk_mark_conditions_in(model, instance, sorts.conditions);
    instance->is_crossed = 0;
  }
  int status = model->relation_count > 0 ? tk_ask_for_musts(model, instance, sorts.musts) : TACTUS_OK;
  if (tk_end_pulses(model, instance, sorts.pulses) && status == TACTUS_OK) {
    status = tk_settle(model, instance);
    tk_mark_conditions_in(model, instance, sorts.conditions);
    instance->is_crossed = 0;
  }
  if (status == TACTUS_OK && model->relation_count > 0) tk_ask_for_checks(model, instance, &sorts);
  tk_remember_jump(model, instance, instance->time, 0);
  return status;
}

static int tk_has_guard(const tactus_model* model, uint32_t event) {
  for (uint32_t k = 0; k < model->relation_count; k++) {
    if (model->relations[k].kind == TACTUS_TRUTH && model->relations[k].source == event + 1) return 1;
  }
  return 0;
}

/* A `check` without a guard is asked for where steps end. */
static void tk_ask_at_steps(const tactus_model* model, tactus_instance* instance) {
  double* clocks = tactus_data(instance) + model->layout.clocks;
  int is_watched = 0;
  for (uint32_t e = 0; e < model->event_count; e++) {
    const tactus_event* event = &model->events[e];
    if (event->kind != TACTUS_CHECK || event->pulse > 0 || clocks[e] != 0.0 || tk_has_guard(model, e)) continue;
    if (!is_watched && tk_watch(model, instance, instance->time, tk_states(model, instance)) != TACTUS_OK) {
      tk_clear_failure(instance);
      return;
    }
    is_watched = 1;
    if (!tk_holds(model, instance, event)) continue;
    clocks[e] = 1.0;
    instance->broken_checks++;
    if (model->fire) (void)model->fire(model, instance, e); /* whoever listens hears of it now */
  }
}

int tk_fire(const tactus_model* whole, tactus_instance* instance) {
  tk_settle_ties(tk_active(whole, instance), instance);
  const int is_due = tk_is_due(whole, instance);
  const int status = is_due ? tk_fire_all(whole, instance) : TACTUS_OK;
  const tactus_model* model = tk_active(whole, instance);
  /* Where something has happened all checks have been asked for, if relations say when. */
  if (status == TACTUS_OK && !(is_due && model->relation_count > 0)) tk_ask_at_steps(model, instance);
  return status;
}

/* The end of the run is an event that no time makes happen: TACTUS_AT without times, there if a monitor asks for it. */
int tk_end_run(const tactus_model* whole, tactus_instance* instance) {
  const tactus_model* model = tk_active(whole, instance);
  double* clocks = tactus_data(instance) + model->layout.clocks;
  int is_asked_for = 0;
  for (uint32_t e = 0; e < model->event_count; e++) {
    if (model->events[e].kind != TACTUS_AT || model->events[e].count > 0 || clocks[e] != 0.0) continue;
    clocks[e] = 0.5;
    is_asked_for = 1;
  }
  return is_asked_for ? tk_fire_all(whole, instance) : TACTUS_OK;
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

/* Whether anything happens because of what is, not because it has come to be: then it is asked for at the start,
 * too. */
static int tk_is_level_sensitive(const tactus_model* model) {
  for (uint32_t e = 0; e < model->event_count; e++) {
    if (model->events[e].kind >= TACTUS_TRANSITION) return 1;
  }
  return 0;
}

int tk_begin_events(const tactus_model* whole, tactus_instance* instance) {
  const tactus_model* model = tk_active(whole, instance);
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
  tk_forget_ties(model, instance);
  for (uint32_t e = 0; e < model->event_count; e++) {
    const tactus_event* event = &model->events[e];
    clocks[e] =
        event->kind == TACTUS_WHEN ? (double)tk_holds(model, instance, event) : tk_first_clock(model, instance, event);
  }
  tk_mark_scheduled(model, instance, tk_time_slack(model, instance->time));
  if (!tk_is_due(model, instance) && !tk_is_level_sensitive(model)) return TACTUS_OK;
  status = tk_fire_all(whole, instance);
  return status == TACTUS_OK ? tk_begin_histories(tk_active(whole, instance), instance) : status;
}
