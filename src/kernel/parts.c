/* A run in parts. Enters: an Instance at (time, states), its events fired. Leaves: the same at the next point of the
 * grid, accepted step or event, whichever is first, with what is due there marked; or unchanged, with status.
 *
 * A scheduled event and a jump out of a delay's past end a part exactly. A relation that changes, or a condition that
 * rises, inside a part is located (locate.c) and ends it, with the interpolant's state there or, for fixed steps, that
 * of a shorter one. When that happens part after part as soon as each begins, time stands still for all practical
 * purposes (chattering, or jumps that accumulate): after max_transitions such parts the run fails.
 *
 * While something is evaluated inside a part or at its end, instance->time is where it began: a delay gives the value
 * before a jump at its end. */
#include "kernel/hybrid.h"

static int tk_part_is_adaptive(int solver) { return tactus_is_adaptive(solver); }

/* The derivatives at both ends of a fixed part; where they cannot be had, those of the chord. */
static void tk_part_slopes(const tactus_model* model, tactus_instance* instance) {
  const uint32_t n = model->state_count;
  const double* before = tk_stage_vector(model, instance, TK_BEFORE);
  const double* after = tk_stage_vector(model, instance, TK_AFTER);
  double* slope = tk_stage_vector(model, instance, TK_STAGES);
  double* slope_after = slope + n;
  double* warm = tactus_data(instance) + model->layout.warm;
  double* saved = tk_saved_warm(model, instance);
  const int32_t failed_block = instance->failed_block;
  const double now = instance->time;
  const double from = instance->dense_from;
  const double h = instance->dense_step;

  tk_copy(model->warm_count, warm, saved);
  instance->time = from;
  int status = model->derivative(model, instance, from, before, slope);
  if (status == TACTUS_OK) status = model->derivative(model, instance, from + h, after, slope_after);
  instance->time = now;
  tk_copy(model->warm_count, saved, warm);
  instance->failed_block = failed_block;
  if (status != TACTUS_OK || tk_first_not_finite(2 * n, slope) >= 0) {
    for (uint32_t i = 0; i < n; i++) slope[i] = slope_after[i] = (after[i] - before[i]) / h;
  }
}

void tk_between(const tactus_model* model, tactus_instance* instance, int solver, double t, double* x) {
  model = tk_active(model, instance);
  tactus_model tied;
  const tactus_model* inner[1] = {model};
  if (instance->tie_count > 0 && !tk_is_tie(model)) {
    tk_tie(model, &tied);
    tied.structures = inner;
    model = &tied;
  }
  const uint32_t n = model->state_count;
  const double h = instance->dense_step;
  const double theta = (t - instance->dense_from) / h;
  if (model->subsystem_count > 0 && h > 0.0 && theta < 1.0) { /* nothing moves between samples */
    tk_copy(n, tk_stage_vector(model, instance, TK_BEFORE), x);
    return;
  }
  if (tk_part_is_adaptive(solver) || solver == TACTUS_ROSENBROCK_FIXED || h == 0.0 || theta == 0.0 || theta == 1.0) {
    tk_dense(model, instance, solver, t, x);
    return;
  }
  if (n == 0) return;
  double* ready = tk_stage_vector(model, instance, TK_DENSE_READY);
  if (*ready == 0.0) tk_part_slopes(model, instance);
  *ready = 1.0;
  const double* before = tk_stage_vector(model, instance, TK_BEFORE);
  const double* after = tk_stage_vector(model, instance, TK_AFTER);
  const double* slope = tk_stage_vector(model, instance, TK_STAGES);
  const double* slope_after = slope + n;
  const double rest = 1.0 - theta;
  /* HNW II.6, (6.7) */
  for (uint32_t i = 0; i < n; i++) {
    x[i] =
        rest * before[i] + theta * after[i] +
        theta * (theta - 1.0) *
            ((1.0 - 2.0 * theta) * (after[i] - before[i]) + (theta - 1.0) * h * slope[i] + theta * h * slope_after[i]);
  }
}

/* The ledger of a solver that keeps the balance of energy (balance.c) before a fixed part, in scratch that no such
 * solver uses: a part that is taken again begins with it, as with the states. */
enum { TK_LEDGER_BEFORE = TK_STAGES + 20 };

/* An energy with its gradient, in scratch that is free behind a part. */
enum { TK_ENERGY_AT = TK_STAGES + 12 };

static void tk_copy_ledger(const tactus_model* model, tactus_instance* instance, int is_back) {
  if (model->ledger == 0 || model->state_count == 0) return;
  double* const ledger = tactus_data(instance) + model->layout.discrete + model->ledger - 1;
  double* const before = tk_stage_vector(model, instance, TK_LEDGER_BEFORE);
  for (int i = 0; i < 3; i++) *(is_back ? ledger + i : before + i) = *(is_back ? before + i : ledger + i);
}

/* A fixed step from the present time to `end`: the grid's own when `whole`, else one of another length beside its
 * count. */
static int tk_fixed_part(const tactus_model* model, tactus_instance* instance, int solver, double h, double end,
                         int whole) {
  const uint32_t n = model->state_count;
  const double from = instance->time;
  const double start_time = instance->start_time;
  const int64_t steps = instance->steps;
  tk_copy(n, tk_states(model, instance), tk_stage_vector(model, instance, TK_BEFORE));
  tk_copy_ledger(model, instance, 0);
  int status;
  if (whole && start_time + (double)steps * h == from) {
    status = model->fixed_steps(model, instance, solver, h, 1);
  } else {
    instance->start_time = from;
    instance->steps = 0;
    status = model->fixed_steps(model, instance, solver, end - from, 1);
    instance->start_time = start_time;
    instance->steps = status == TACTUS_OK && whole ? steps + 1 : steps;
  }
  if (status != TACTUS_OK) {
    instance->time = from;
    return status;
  }
  instance->time = end;
  instance->dense_from = from;
  instance->dense_step = end - from;
  tk_copy(n, tk_states(model, instance), tk_stage_vector(model, instance, TK_AFTER));
  if (n > 0) *tk_stage_vector(model, instance, TK_DENSE_READY) = 0.0;
  return TACTUS_OK;
}

/* Delays' sources inside an adaptive step: its ends alone are too far apart to interpolate between. With 64 pieces the
 * cubic through their ends is off by at most a 40th of the fourth power of a 64th of the step, 1e-9 of what changes in
 * it; more of them would only cost time, a look into the past being linear in what lies inside the step. */
static int tk_remember_inside(const tactus_model* model, tactus_instance* instance, int solver, double from,
                              double end) {
  double* x = tk_stage_vector(model, instance, TK_STAGE_ARGUMENT);
  const double pieces = tk_min(64.0, tk_ceil((end - from) / tk_history_spacing(model, instance)));
  for (double k = 1.0; k < pieces; k += 1.0) {
    const double t = from + (end - from) * (k / pieces);
    tk_between(model, instance, solver, t, x);
    const int status = tk_watch(model, instance, t, x);
    if (status != TACTUS_OK) return status;
    tk_remember(model, instance, t);
  }
  return TACTUS_OK;
}

/* A fixed part that a change ends at *end, by the interpolant: taken again up to there, so that events cost the method
 * no order (the cubic of Hermite has one less than rk4). Where the change happens then is found from the guard that
 * changed first and its slope. The time stays where the part begins. */
static int tk_retake(const tactus_model* model, tactus_instance* instance, int solver, double full, double* end) {
  double* x = tk_states(model, instance);
  double* between = tk_stage_vector(model, instance, TK_STAGE_ARGUMENT);
  const double from = instance->time;
  const double precision = tk_event_precision(model, full);
  const double back = tk_max(1e-3 * (*end - from), tk_min(precision, 0.5 * (*end - from)));
  double t = *end;
  tk_between(model, instance, solver, t, between);
  int status = tk_watch(model, instance, t, between);
  if (status != TACTUS_OK) return status;
  const int32_t crossed = tk_first_crossed(model, instance);
  if (crossed < 0) { /* a condition without a guard */
    tk_between(model, instance, solver, t, x);
    return TACTUS_OK;
  }
  const double* guard = tactus_data_const(instance) + model->layout.watched + model->relations[crossed].guard;
  const double sign = *guard > 0.0 ? -1.0 : 1.0; /* positive: what is held */
  double slope = sign * *guard;
  tk_between(model, instance, solver, t - back, between);
  status = tk_watch(model, instance, t - back, between);
  if (status != TACTUS_OK) return status;
  slope = (slope - sign * *guard) / back;
  const double close = tk_guard_precision(model, full, slope);
  /* Before `low` nothing has changed, at `high` something has; of neither is anything known yet. */
  double low = from;
  double high = full;
  double reach = close; /* beyond `low`, until it is known where something has changed */
  for (int round = 0;; round++) {
    tk_copy(model->state_count, tk_stage_vector(model, instance, TK_BEFORE), x);
    tk_copy_ledger(model, instance, 1);
    status = tk_fixed_part(model, instance, solver, 0.0, t, 0);
    instance->time = from;
    if (status == TACTUS_OK) status = tk_watch(model, instance, t, x);
    if (status != TACTUS_OK) return status;
    *end = t;
    const double shift = -sign * *guard / slope;
    const int is_falling = slope < 0.0; /* but for rounding, it is */
    if (tk_first_crossed(model, instance) >= 0) {
      high = t;
      if ((is_falling && shift >= -close) || high - low <= close) break;
    } else {
      low = t;
    }
    if (round == 60) break;
    t += shift + 0.5 * close;
    /* A guard that jumps has no slope to go by. */
    if (round >= 4 || !is_falling || !(t > low && t < high)) {
      t = high - low <= close ? high : high < full ? low + 0.5 * (high - low) : low + reach;
      reach *= 2.0;
    }
    if (!(t > from && t < full)) break;
  }
  return TACTUS_OK;
}

/* The model behind a table that tk_tie made. */
static const tactus_model* tk_untied(const tactus_model* model, const tactus_instance* instance) {
  return instance->tie_count > 0 ? model->structures[0] : model;
}

/* What a step from `from` to the present time passed: located, remembered, marked. */
static int tk_end_part(const tactus_model* model, tactus_instance* instance, int solver, double from,
                       int64_t steps_before, double grid_slack) {
  double* x = tk_states(model, instance);
  const double full = instance->time;
  double end = full;
  int is_found = 0;
  instance->time = from;
  int status;
  if (model->subsystem_count > 0) {
    /* Subsystems do not go back: what changed inside of the step is found where it ends. */
    status = tk_watch(model, instance, full, x);
    is_found = status == TACTUS_OK && (tk_first_crossed(model, instance) >= 0 || tk_has_risen(model, instance));
  } else {
    status = tk_locate(model, instance, solver, from, &end, &is_found);
  }
  if (status != TACTUS_OK) return status;
  if (is_found) {
    if (full - end <= grid_slack) end = full;
    if (end < full) {
      if (tk_part_is_adaptive(solver)) {
        tk_between(model, instance, solver, end, x);
      } else {
        status = tk_retake(model, instance, solver, full, &end);
        instance->steps = steps_before;
        if (status != TACTUS_OK) return status;
      }
      instance->first_stage_valid = 0;
    }
  }
  /* Where no relation changed, what was watched is needed by delays and by conditions without guards. */
  if (is_found || model->delay_count > 0 || model->relation_count == 0) {
    status = tk_watch(model, instance, end, x);
    if (status != TACTUS_OK) return status;
  }
  const int32_t crossed = is_found ? tk_first_crossed(model, instance) : -1;
  if (model->delay_count > 0) {
    if (tk_part_is_adaptive(solver)) {
      status = tk_remember_inside(model, instance, solver, from, end);
      if (status == TACTUS_OK) status = tk_watch(model, instance, end, x);
      if (status != TACTUS_OK) return status;
    }
    tk_remember(model, instance, end);
  }
  instance->time = end;
  if (model->delay_count > 0 && tk_is_jump(model, instance, end)) {
    instance->first_stage_valid = 0;
    status = tk_watch(model, instance, end, x);
    if (status != TACTUS_OK) return status;
    /* The start is a kink of every past: one duration later the motion has one of the next order, and so on. Order 4
     * asks for the first three. */
    const int is_later = end - model->starting_time > 2.5 * tk_shortest_delay(model, instance);
    tk_remember_jump(model, instance, end, is_later);
  }
  if (model->relation_count == 0) tk_mark_conditions(model, instance);
  instance->is_crossed = is_found;
  instance->short_parts =
      end < full && end - from <= 2.0 * tk_event_precision(model, end) ? instance->short_parts + 1 : 0;
  if (is_found && crossed >= 0 && end - from <= 128.0 * tk_event_precision(model, end)) {
    const int slides = tk_begin_slide(tk_untied(model, instance), instance);
    if (slides) instance->is_crossed = 0;
    const int32_t endless = tk_first_endless(model, instance);
    if (endless >= 0) return tk_fail(instance, TACTUS_ENDLESS_EVENTS, (int32_t)model->event_count + endless);
    if (slides) return TACTUS_OK;
  }
  if (instance->short_parts > (int64_t)tk_most_transitions(model)) {
    const int32_t due = tk_first_due(model, instance);
    const int32_t index = due >= 0 || crossed < 0 ? due : (int32_t)model->event_count + crossed;
    return tk_fail(instance, TACTUS_ENDLESS_EVENTS, index);
  }
  return TACTUS_OK;
}

/* Whether a relation is not what is held where a part begins, by what was watched last: something was changed from
 * outside. A guard that is exactly zero changes nothing before it has left zero, for what brought it there may have
 * fired at this very instant. */
static int tk_is_changed_outside(const tactus_model* model, const tactus_instance* instance) {
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  for (uint32_t k = 0; k < model->relation_count; k++) {
    if (tk_is_crossed(model, instance, k) && watched[model->relations[k].guard] != 0.0) return 1;
  }
  return 0;
}

static int tk_free_part(const tactus_model* model, tactus_instance* instance, int solver, double h, double tolerance,
                        double t_end, int are_guards_kept) {
  const double from = instance->time;
  const double rounding = tk_time_slack(model, from) + (tk_is_finite(t_end) ? tk_time_slack(model, t_end) : 0.0);
  const double slack = tk_part_is_adaptive(solver) ? rounding : tk_max(TK_GRID_SLACK * h, rounding);
  const double tick = tk_next_tick(model, instance);
  const double shortest = tk_shortest_delay(model, instance);
  tk_clear_failure(instance);
  if (!(t_end > from) || tick <= from) {
    tk_mark_scheduled(model, instance, slack);
    return TACTUS_OK;
  }
  int64_t steps_before = instance->steps;
  int status;
  if (model->relation_count > 0 && !are_guards_kept) {
    status = tk_watch(model, instance, from, tk_states(model, instance));
    if (status != TACTUS_OK) return status;
    if (instance->is_crossed || tk_is_changed_outside(model, instance)) {
      const int32_t crossed = tk_first_crossed(model, instance);
      if (++instance->short_parts > (int64_t)tk_most_transitions(model)) {
        return tk_fail(instance, TACTUS_ENDLESS_EVENTS, crossed < 0 ? -1 : (int32_t)model->event_count + crossed);
      }
      instance->is_crossed = 1;
      tk_mark_scheduled(model, instance, slack);
      return TACTUS_OK;
    }
    tk_keep_guards(model, instance, 0);
  }
  if (tk_part_is_adaptive(solver)) {
    double end = tick < t_end - slack ? tick : t_end;
    end = tk_next_jump(model, instance, end);
    const double h_max = h > 0.0 ? tk_min(h, shortest) : tk_is_finite(shortest) ? shortest : 0.0;
    status = model->adaptive_step(model, instance, solver, end, h_max, tolerance);
  } else {
    if (instance->start_time + (double)steps_before * h > from ||
        instance->start_time + (double)(steps_before + 1) * h <= from) {
      instance->start_time = from;
      instance->steps = steps_before = 0;
    }
    const double grid = instance->start_time + (double)(steps_before + 1) * h;
    double end = t_end < grid - slack ? t_end : grid;
    if (from + shortest < end - slack) end = from + shortest;
    if (tick < end - slack) end = tick;
    end = tk_next_jump(model, instance, end);
    if (model->subsystem_count > 0) end = grid; /* their steps are not cut */
    status = tk_fixed_part(model, instance, solver, h, end, end == grid);
  }
  if (status != TACTUS_OK) return status;
  if (model->watch_count > 0) {
    status = tk_end_part(model, instance, solver, from, steps_before, slack);
    if (status != TACTUS_OK) {
      tk_copy(model->state_count, tk_stage_vector(model, instance, TK_BEFORE), tk_states(model, instance));
      instance->time = from;
      instance->steps = steps_before;
      instance->first_stage_valid = 0;
      instance->dense_step = 0.0;
      return status;
    }
  }
  tk_mark_scheduled(model, instance, slack);
  return TACTUS_OK;
}

/* Along ties: tsit5 for the host's cvode, which knows nothing of them; the midpoint rule for the discrete gradients,
 * whose balance is that of the motion without ties. */
static int tk_tied_solver(int solver) {
  switch (solver) {
    case TACTUS_CVODE:
      return TACTUS_TSIT5;
    case TACTUS_DISCRETE_GRADIENT:
    case TACTUS_GONZALEZ:
    case TACTUS_MEAN_VALUE:
      return TACTUS_MIDPOINT;
    default:
      return solver;
  }
}

/* What the states say of the balance of energy: stored - supplied + dissipated. */
static int tk_account(const tactus_model* model, tactus_instance* instance, double* account) {
  const double* x = tk_states(model, instance);
  double* at = tk_stage_vector(model, instance, TK_ENERGY_AT);
  const int status = model->energy(model, instance, instance->time, x, at);
  if (status != TACTUS_OK) return tk_fail(instance, status, -1);
  *account = at[model->state_count];
  if (model->book_supplied != 0) *account -= x[model->book_supplied - 1];
  if (model->book_dissipated != 0) *account += x[model->book_dissipated - 1];
  return TACTUS_OK;
}

/* are_guards_kept: copy 0 has the guards at the present time. */
static int tk_next_part(const tactus_model* model, tactus_instance* instance, int solver, double h, double tolerance,
                        double t_end, int are_guards_kept) {
  tk_settle_ties(model, instance);
  const int was_tied = instance->tie_count > 0;
  if (was_tied) tk_release_loose(model, instance);
  tk_open_part(model, instance);
  if (instance->tie_count == 0) {
    return tk_free_part(model, instance, solver, h, tolerance, t_end, are_guards_kept && !was_tied);
  }
  tactus_model tied;
  const tactus_model* inner[1] = {model};
  const double from = instance->time;
  const int64_t steps = instance->steps;
  tk_tie(model, &tied);
  tied.structures = inner;
  const int used = tk_tied_solver(solver);
  /* What the part, and being put back onto the surface, changes in the balance is booked. */
  const int keeps_energy = tactus_needs_energy(solver) && model->ledger != 0 && model->state_count > 0;
  double* booked = tactus_data(instance) + model->layout.discrete + model->ledger - 1 + TACTUS_LEDGER_BOOKED;
  double account = 0.0;
  double owed = 0.0;
  int status = TACTUS_OK;
  if (keeps_energy) {
    owed = *booked;
    status = tk_account(model, instance, &account);
    owed -= account;
  }
  if (status == TACTUS_OK) status = tk_free_part(&tied, instance, used, h, tolerance, t_end, 0);
  if (status != TACTUS_OK || !(instance->time > from)) return status;
  status = tk_end_tied_part(&tied, instance, used, from, steps);
  if (status == TACTUS_OK && keeps_energy) {
    status = tk_account(model, instance, &account);
    *booked = account + owed;
  }
  if (solver == TACTUS_CVODE) tk_tsit5_as_cvode(model, instance);
  return status;
}

int tk_part(const tactus_model* model, tactus_instance* instance, int solver, double h, double tolerance,
            double t_end) {
  return tk_next_part(tk_active(model, instance), instance, solver, h, tolerance, t_end, 0);
}

int tk_event_steps(const tactus_model* all, tactus_instance* instance, int solver, double h, int64_t count) {
  if (instance->start_time + (double)instance->steps * h != instance->time) {
    instance->start_time = instance->time;
    instance->steps = 0;
  }
  const int64_t goal = instance->steps + count;
  int status = TACTUS_OK;
  int is_quiet = 0; /* nothing happened where the last part ended: tk_locate has left the guards there */
  while (status == TACTUS_OK && instance->steps < goal) {
    if (tk_is_cancelled(instance)) return tk_fail(instance, TACTUS_ENDLESS_EVENTS, -1);
    const tactus_model* model = tk_active(all, instance);
    int64_t whole = 0;
    double slack = 0.0;
    /* With nothing to watch, all steps up to the next tick at once. */
    if (model->watch_count == 0 && instance->start_time + (double)instance->steps * h == instance->time) {
      const double tick = tk_next_tick(model, instance);
      slack = tk_max(TK_GRID_SLACK * h, tk_is_finite(tick) ? 2.0 * tk_time_slack(model, tick) : 0.0);
      const double ahead = (tick - instance->time + slack) / h;
      whole = goal - instance->steps;
      if (ahead < (double)whole) whole = ahead > 0.0 ? (int64_t)ahead : 0;
    }
    if (whole > 0) {
      status = model->fixed_steps(model, instance, solver, h, whole);
      if (status == TACTUS_OK) tk_mark_scheduled(model, instance, slack);
    } else {
      status = tk_next_part(model, instance, solver, h, 0.0, tk_infinite(), is_quiet);
      tk_settle_ties(model, instance);
    }
    is_quiet = status == TACTUS_OK && whole == 0 && !tk_is_due(model, instance);
    if (status == TACTUS_OK) status = tk_fire(all, instance);
  }
  return status;
}
