/* The program around an exported model: what `tactus run --out -` does without devices, its inputs being zero. The rows are
 * the same, bit for bit: the plan is that of runtime/sim/plan.cpp, the loop that of runtime/sim/run.cpp. So are the words.
 *
 * Before this text stand the kernel, the words, the model, and: RUN_MODEL (its table), RUN_DOUBLES (layout.size), RUN_STATES,
 * RUN_WARM and RUN_EVENTS (counts, at least 1), RUN_STRUCTURES (their number), run_header (the first line), run_columns (places in the
 * outputs section), RUN_COLUMNS (their number). */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__unix__) || defined(__APPLE__)
#define RUN_POSIX
#include <sys/stat.h>
#include <unistd.h>
#endif

#include "kernel/creeping.h"
#include "words/failure.h"

static double run_memory[sizeof(tactus_instance) / sizeof(double) + RUN_DOUBLES];
static double run_room[TK_WORDS_ROOM(RUN_STRUCTURES, RUN_DOUBLES, RUN_STATES) / sizeof(double) + 1];
static double run_warm[RUN_WARM];
static double run_x[RUN_STATES];
static double run_x0[RUN_STATES];
static double run_f0[RUN_STATES];
static double run_f1[RUN_STATES];

typedef struct run_plan {
  int solver;
  double start;
  double end;
  double step;
  int64_t full_steps;
  double last_step;
  double tolerance;
  double period;
  int64_t period_steps;
} run_plan;

typedef struct run_state {
  tactus_instance* instance;
  run_plan plan;
  int64_t next_row;
  int has_row;
  double recorded;
  int has_failed; /* run_why says why */
  int is_stopped; /* by a `stop when` */
  int is_stiff;   /* and that was told */
  int64_t ties_known;
  int64_t ties_told;
  int32_t plans_failed;
  int32_t plans_told;
  tk_creeping creeping;
} run_state;

/* Beside tactus_status: the rows cannot be written; somebody wants an end. */
enum { RUN_NOT_KEPT = -1, RUN_INTERRUPTED = -2 };

static char run_why[1 << 14];
static char run_hint[1 << 12];

static const double run_grid_slack = 1e-9;

/* Steps, and times that an event is due: more take years. As `tactus run` has it. */
static const double run_most_steps = 1e15;

static int run_usage(const char* what) {
  fprintf(stderr, "%s: %s\n", RUN_MODEL.name, what);
  fprintf(stderr,
          "usage: [--until T] [--step H] [--every T] [--solver euler|rk4|bs3|tsit5|dop853|rosenbrock] [--tolerance E] "
          "[--set "
          "NAME=VALUE]..\n");
  return 2;
}

/* Whether `ratio` is a whole number, at least 1; then *count is it. */
static int run_whole(double ratio, int64_t* count) {
  double nearest = tk_floor(ratio);
  if (ratio - nearest >= 0.5) nearest += 1.0;
  if (!(nearest >= 1.0) || nearest > 9e15 || tk_abs(ratio - nearest) > run_grid_slack * nearest) return 0;
  *count = (int64_t)nearest;
  return 1;
}

/* Whether going on by `length` leaves the time where it is, at either end. */
static int run_is_lost(const run_plan* plan, double length) {
  return plan->start + length == plan->start || (plan->end > plan->start && plan->end - length == plan->end);
}

/* NaN in the arguments: not given. 0, or the exit code. */
static int run_make_plan(run_plan* plan, double until, double step, double every, int solver, double tolerance) {
  const double nothing = 1e300 * 1e300;
  plan->start = RUN_MODEL.starting_time;
  if (until == until) {
    plan->end = until;
    if (!(until >= plan->start) || until >= nothing) return run_usage("the run cannot end before it starts");
  } else if (RUN_MODEL.ending_time > RUN_MODEL.starting_time) {
    plan->end = RUN_MODEL.ending_time;
  } else {
    plan->end = plan->start + 10.0;
  }
  const double span = plan->end - plan->start;

  int has_step = step == step;
  if (!has_step && RUN_MODEL.step_size != 0.0) {
    step = RUN_MODEL.step_size;
    has_step = 1;
  }
  int has_tolerance = tolerance == tolerance;
  if (!has_tolerance && RUN_MODEL.tolerance != 0.0) {
    tolerance = RUN_MODEL.tolerance;
    has_tolerance = 1;
  }
  if (has_step && !(step > 0.0 && step < nothing)) return run_usage("the step must be positive");
  if (has_tolerance && !(tolerance > 0.0 && tolerance < nothing)) return run_usage("the tolerance must be positive");
  if (solver < 0) solver = RUN_MODEL.solver;
  solver = tactus_choose_solver(solver, has_step, has_tolerance);
  if (RUN_MODEL.subsystem_count > 0) {
    solver = tactus_fixed_form(solver);
    if (tactus_is_adaptive(solver))
      return run_usage("the model has rates: a solver that chooses its steps itself is no help");
    if (step != RUN_MODEL.step_size) return run_usage("the rates of the model set its step");
  }
  if (solver == TACTUS_CVODE) {
    return run_usage("`cvode` stays at home: it is a library of the program `tactus`; `--solver rosenbrock` travels");
  }
  if (tactus_is_stiff_solver(solver) && (!RUN_MODEL.tangent || RUN_MODEL.layout.size == RUN_MODEL.layout.linear) &&
      RUN_MODEL.state_count > 0) {
    return run_usage("this solver has no room for the Jacobian of so many states");
  }
  if (tactus_needs_energy(solver) && RUN_MODEL.ledger == 0) {
    return run_usage("this solver keeps the balance of an energy, and the model declares none");
  }
  const tactus_model* any = RUN_MODEL.structure_count > 0 ? RUN_MODEL.structures[0] : &RUN_MODEL;
  if (tactus_needs_structure(solver) && !any->structure) {
    return run_usage("this solver asks for x' = (J - R) dH/dx + G u, and that form of the model is not known");
  }
  plan->solver = solver;

  const int adaptive = tactus_is_adaptive(solver);
  if (adaptive) {
    plan->tolerance = has_tolerance ? tolerance : 1e-6;
    if (plan->tolerance < 1e-14) return run_usage("such a tolerance cannot be met: 1e-14 is the least");
    const int is_blind = RUN_MODEL.warm_count > 0 || RUN_MODEL.table_count > 0 || RUN_MODEL.delay_count > 0 ||
                         (RUN_MODEL.watch_count > 0 && RUN_MODEL.relation_count == 0);
    const double longest = is_blind ? span / 1000.0 : RUN_MODEL.relation_count > 0 ? span / 100.0 : span;
    plan->step = has_step ? step : longest > 0.0 ? longest : 1.0;
    if (has_step && run_is_lost(plan, step)) return run_usage("the step is lost in rounding");
  } else {
    if (!has_step) return run_usage("this solver takes fixed steps: give --step");
    plan->step = step;
    const double ratio = span / step;
    if (ratio > 9e15 || run_is_lost(plan, step)) {
      return run_usage("the step is lost in rounding");
    }
    if (ratio > run_most_steps) return run_usage("more than 1e15 steps: take a longer one, or a shorter time");
    if (!run_whole(ratio, &plan->full_steps)) {
      plan->full_steps = (int64_t)tk_floor(ratio);
      /* A rate has no shorter step: the run ends before it. */
      plan->last_step =
          RUN_MODEL.subsystem_count > 0 ? 0.0 : plan->end - (plan->start + (double)plan->full_steps * step);
    }
  }

  const uint32_t tables = RUN_MODEL.structure_count > 0 ? RUN_MODEL.structure_count : 1;
  for (uint32_t k = 0; k < tables; k++) {
    const tactus_model* table = RUN_MODEL.structure_count > 0 ? RUN_MODEL.structures[k] : &RUN_MODEL;
    for (uint32_t e = 0; e < table->event_count; e++) {
      const tactus_event* event = &table->events[e];
      if (event->kind == TACTUS_EVERY && span / event->period > run_most_steps) {
        fprintf(stderr, "%s: `%s` happens every %g s\n", RUN_MODEL.name, event->name, event->period);
        return run_usage("more than 1e15 times in this run: take a shorter time");
      }
    }
  }

  const int has_every = every == every;
  if (!has_every) every = RUN_MODEL.record_period;
  if (has_every || every != 0.0) {
    if (!(every > 0.0 && every < nothing)) return run_usage("the record period must be positive");
    plan->period = every;
    if (run_is_lost(plan, every)) return run_usage("the record period is lost in rounding");
    if (span / every > 1e9 * (1.0 + run_grid_slack))
      return run_usage("more than 1e9 rows: take a longer record period");
    if (!adaptive) run_whole(every / plan->step, &plan->period_steps);
  } else if (adaptive) {
    plan->period = span > 0.0 ? span / 1000.0 : 1.0;
    if (span > 0.0 && run_is_lost(plan, plan->period)) plan->period = span;
  } else {
    plan->period_steps = (int64_t)tk_ceil(span / plan->step / 1000.0 * (1.0 - run_grid_slack));
    if (plan->period_steps < 1) plan->period_steps = 1;
    plan->period = (double)plan->period_steps * plan->step;
  }
  return 0;
}

static double* run_states(run_state* run) { return tactus_data(run->instance) + RUN_MODEL.layout.states; }
static double run_row_time(const run_state* run, int64_t index) {
  return run->plan.start + (double)index * run->plan.period;
}

static void run_keep_warm(run_state* run) {
  for (uint32_t i = 0; i < RUN_MODEL.warm_count; i++)
    run_warm[i] = tactus_data(run->instance)[RUN_MODEL.layout.warm + i];
}
static void run_restore_warm(run_state* run) {
  for (uint32_t i = 0; i < RUN_MODEL.warm_count; i++)
    tactus_data(run->instance)[RUN_MODEL.layout.warm + i] = run_warm[i];
}

/* ---- what is told ---- */

static volatile sig_atomic_t run_signal;
static void run_interrupt(int number) {
  run_signal = number;
  (void)signal(number, SIG_DFL); /* a second time it ends at once */
}

static void run_note(const tk_text* words) {
  if (words->length > 0) fprintf(stderr, "%s: note: %s\n", RUN_MODEL.name, words->at);
}

/* Keeps why a call failed, the first time; returns its status. */
static int run_fail(run_state* run, int status, int is_starting) {
  if (status == TACTUS_STOPPED) {
    char note[1024];
    tk_text words = tk_text_in(note, sizeof note);
    tk_note_stop(&RUN_MODEL, run->instance, &words);
    run_note(&words);
    run->is_stopped = 1;
    return status;
  }
  if (run->has_failed) return status;
  tk_text why = tk_text_in(run_why, sizeof run_why);
  tk_text hint = tk_text_in(run_hint, sizeof run_hint);
  (void)tk_describe_failure(&RUN_MODEL, run->instance, status, is_starting, run_room, &why, &hint);
  run->has_failed = 1;
  return status;
}

/* A fixed step failed: told of the instant at which it did, not of the step's beginning. */
static int run_fail_in_step(run_state* run, int status, double h) {
  double time;
  const double* states;
  const uint32_t count = tk_active(&RUN_MODEL, run->instance)->state_count;
  run->instance->status = status;
  if (run->has_failed ||
      !tk_find_failed_evaluation(&RUN_MODEL, run->instance, run->plan.solver, h, run_room, &time, &states))
    return run_fail(run, status, 0);
  const double from = run->instance->time;
  for (uint32_t i = 0; i < count; i++) {
    run_x[i] = run_states(run)[i];
    run_states(run)[i] = states[i];
  }
  run->instance->time = time;
  (void)run_fail(run, status, 0);
  run->instance->time = from;
  for (uint32_t i = 0; i < count; i++) run_states(run)[i] = run_x[i];
  return status;
}

/* A table that hears of each broken `check`; all else is that of `inner`. */
typedef struct run_listening {
  tactus_model table; /* first: the kernel hands back its address */
  const tactus_model* inner;
} run_listening;
static run_listening run_parts[RUN_STRUCTURES + 1];
static const tactus_model* run_structures[RUN_STRUCTURES + 1];
static double run_broken[RUN_EVENTS]; /* when it was */

static int run_hear(const tactus_model* model, tactus_instance* instance, uint32_t event) {
  const tactus_model* inner = ((const run_listening*)(const void*)model)->inner;
  const int is_check = inner->events[event].kind == TACTUS_CHECK && inner->events[event].pulse == 0;
  if (is_check && instance->is_planning == 0) run_broken[event] = instance->time;
  return inner->fire ? inner->fire(inner, instance, event) : TACTUS_OK;
}

static const tactus_model* run_listen_to(const tactus_model* inner, uint32_t part) {
  run_parts[part].table = *inner;
  run_parts[part].inner = inner;
  run_parts[part].table.fire = run_hear;
  return &run_parts[part].table;
}

/* The table that events are run by. */
static const tactus_model* run_listen(void) {
  static tactus_model whole;
  if (RUN_MODEL.structure_count == 0) return run_listen_to(&RUN_MODEL, 0);
  for (uint32_t k = 0; k < RUN_MODEL.structure_count; k++)
    run_structures[k] = run_listen_to(RUN_MODEL.structures[k], k);
  whole = RUN_MODEL;
  whole.structures = run_structures;
  return &whole;
}
static const tactus_model* run_table;

/* The motion has come to rest on a surface, or slides along one, or left one; a plan found nothing: never silently. */
static void run_tell(run_state* run) {
  enum { most = 6 };
  const tactus_model* model = tk_active(&RUN_MODEL, run->instance);
  char note[1024];
  const int64_t ties = tk_ties_told(run->instance);
  for (; run->ties_known < ties; run->ties_known++) {
    if (ties - run->ties_known > TK_TIES_TOLD || ++run->ties_told > most) continue;
    const tk_tie_told told = tk_told_of_tie(model, run->instance, run->ties_known);
    tk_text words = tk_text_in(note, sizeof note);
    tk_note_tie(model, &told, &words);
    run_note(&words);
  }
  for (; run->plans_failed < run->instance->plans_failed; run->plans_failed++) {
    if (++run->plans_told > most) continue;
    tk_text words = tk_text_in(note, sizeof note);
    tk_note_failed_plan(run->instance, &words);
    run_note(&words);
  }
}

/* Once, after an adaptive step: stability and not accuracy may set the steps of an explicit method. */
static void run_tell_of_stiffness(run_state* run) {
  char note[1024];
  if (run->is_stiff || run->instance->stiff_steps < TACTUS_STIFF) return;
  run->is_stiff = 1;
  tk_text words = tk_text_in(note, sizeof note);
  tk_note_stiffness(run->instance, run->plan.solver, &words);
  tk_put(&words, "; --solver rosenbrock would take longer ones");
  run_note(&words);
}

/* What `check` says and was broken; how many. */
static int run_tell_of_checks(const run_state* run) {
  int broken = 0;
  for (uint32_t e = 0; e < RUN_MODEL.event_count; e++) {
    const tactus_event* event = &RUN_MODEL.events[e];
    if (event->kind != TACTUS_CHECK || event->pulse > 0) continue;
    if (tactus_data(run->instance)[RUN_MODEL.layout.clocks + e] == 0.0) continue;
    char note[1024];
    tk_text words = tk_text_in(note, sizeof note);
    tk_note_check(&RUN_MODEL, e, run_broken[e], &words);
    fprintf(stderr, "%s: check broken %s\n", RUN_MODEL.name, note);
    broken++;
  }
  return broken;
}

/* ---- rows ---- */

/* Whole rows that were not yet written. A number has at most 24 characters and a separator. */
#define RUN_ROW (25 * (RUN_COLUMNS + 1) + 1)
static char run_rows[(1 << 16) + RUN_ROW + sizeof run_header];
static uint64_t run_used;
static int run_error; /* errno of the first write that failed */

#ifdef RUN_POSIX
/* A disk that is full takes a part of what it is given: a file ends with the last whole row. */
static void run_cut_to_rows(long long begin) {
  struct stat about;
  if (begin < 0 || fstat(STDOUT_FILENO, &about) != 0 || !S_ISREG(about.st_mode)) return;
  const long long end = (long long)lseek(STDOUT_FILENO, 0, SEEK_CUR);
  if (end < begin || end - begin > (long long)run_used) return;
  long long whole = end - begin;
  while (whole > 0 && run_rows[whole - 1] != '\n') whole--;
  if (ftruncate(STDOUT_FILENO, (off_t)(begin + whole)) != 0) return;
  (void)lseek(STDOUT_FILENO, (off_t)(begin + whole), SEEK_SET);
}
#endif

/* Whether all rows so far were taken. */
static int run_flush(void) {
  if (run_error) return 0;
  errno = 0;
#ifdef RUN_POSIX
  const long long begin = (long long)lseek(STDOUT_FILENO, 0, SEEK_CUR);
#endif
  if (fwrite(run_rows, 1, (size_t)run_used, stdout) != run_used || fflush(stdout) != 0) {
    run_error = errno ? errno : EIO;
#ifdef RUN_POSIX
    run_cut_to_rows(begin);
#endif
  }
  run_used = 0;
  return run_error == 0;
}

/* Recording leaves no trace in what the motion depends on. */
static int run_record(run_state* run, double t, const double* x) {
  run_keep_warm(run);
  const int status = tk_outputs(&RUN_MODEL, run->instance, t, x);
  if (status != TACTUS_OK) {
    const double time = run->instance->time;
    run->instance->time = t;
    (void)run_fail(run, status, 0); /* while the warm starts are where the search ended */
    run->instance->time = time;
    run_restore_warm(run);
    return status;
  }
  run_restore_warm(run);
  run->has_row = 1;
  run->recorded = t;
  tk_text row = tk_text_in(run_rows + run_used, sizeof run_rows - run_used);
  tk_put_cell(&row, t);
  for (int k = 0; k < RUN_COLUMNS; k++) {
    tk_put(&row, ",");
    tk_put_cell(&row, tactus_data(run->instance)[RUN_MODEL.layout.outputs + run_columns[k]]);
  }
  tk_put(&row, "\n");
  run_used += row.length;
  if (run_used > (1u << 16) - 1 && !run_flush()) return RUN_NOT_KEPT;
  return run_signal ? RUN_INTERRUPTED : TACTUS_OK;
}

/* The row at t inside a step, from run_x. */
static int run_record_between(run_state* run, double t) {
  tk_put_back(&RUN_MODEL, run->instance, t, run_x);
  return run_record(run, t, run_x);
}

static int run_derivative(run_state* run, double t, double* f) {
  run_keep_warm(run);
  const int status = RUN_MODEL.derivative(&RUN_MODEL, run->instance, t, run_states(run), f);
  if (status != TACTUS_OK) return run_fail(run, status, 0);
  run_restore_warm(run);
  return TACTUS_OK;
}

static int run_has_events(void) { return tk_runs_in_parts(&RUN_MODEL); }

static int run_advance_to(run_state* run, int64_t step) {
  const int64_t at_once = 1024; /* then it is asked whether somebody wants an end */
  while (run->instance->steps < step) {
    const int64_t left = step - run->instance->steps;
    const int64_t count = left < at_once ? left : at_once;
    if (run_signal) return RUN_INTERRUPTED;
    const int status = run_has_events()
                           ? tk_event_steps(run_table, run->instance, run->plan.solver, run->plan.step, count)
                           : RUN_MODEL.fixed_steps(&RUN_MODEL, run->instance, run->plan.solver, run->plan.step, count);
    if (run_has_events()) run_tell(run);
    if (status != TACTUS_OK) return run_fail_in_step(run, status, run->plan.step);
  }
  return TACTUS_OK;
}

/* The rows strictly inside the last part, then what is due at its end. Rows closer to the end than `close` are after it. */
static int run_end_part(run_state* run, double close) {
  for (double t = run_row_time(run, run->next_row); t < run->instance->time - close;
       t = run_row_time(run, ++run->next_row)) {
    tk_between(&RUN_MODEL, run->instance, run->plan.solver, t, run_x);
    const int status = run_record_between(run, t);
    if (status != TACTUS_OK) return status;
  }
  const int status = tk_fire(run_table, run->instance);
  run_tell(run);
  if (status != TACTUS_OK) return run_fail(run, status, 0);
  return run_signal ? RUN_INTERRUPTED : TACTUS_OK;
}

/* One step of length h in parts, and the rows before its end. */
static int run_parts_with_rows(run_state* run, double h) {
  const int64_t end = run->instance->steps + 1;
  const double close = run_grid_slack * h;
  while (run->instance->steps < end) {
    int status = tk_part(run_table, run->instance, run->plan.solver, h, 0.0, tk_from_bits(0x7ff0000000000000u));
    if (status != TACTUS_OK) return run_fail_in_step(run, status, h);
    status = run_end_part(run, close);
    for (; status == TACTUS_OK && run->instance->steps < end &&
           run_row_time(run, run->next_row) <= run->instance->time + close;
         run->next_row++) {
      status = run_record(run, run_row_time(run, run->next_row), run_states(run));
    }
    if (status != TACTUS_OK) return status;
  }
  return TACTUS_OK;
}

/* The cubic through (x0, f0) at 0 and (x1, f1) at h, at s * h. */
static double run_hermite(double s, double h, double x0, double x1, double f0, double f1) {
  const double r = 1.0 - s;
  return r * x0 + s * x1 + s * (s - 1.0) * ((1.0 - 2.0 * s) * (x1 - x0) + (s - 1.0) * h * f0 + s * h * f1);
}

/* One step of length h and the rows strictly inside it. */
static int run_step_with_rows(run_state* run, double h) {
  if (run_has_events()) return run_parts_with_rows(run, h);
  const double from = run->instance->time;
  const double inside = from + h * (1.0 - run_grid_slack);
  const int rows = run_row_time(run, run->next_row) < inside;
  int status;
  const int is_stiff = tactus_is_stiff_solver(run->plan.solver) && RUN_MODEL.subsystem_count == 0;
  if (rows && !is_stiff) {
    for (uint32_t i = 0; i < RUN_MODEL.state_count; i++) run_x0[i] = run_states(run)[i];
    status = run_derivative(run, from, run_f0);
    if (status != TACTUS_OK) return status;
  }
  status = RUN_MODEL.fixed_steps(&RUN_MODEL, run->instance, run->plan.solver, h, 1);
  if (status != TACTUS_OK) return run_fail_in_step(run, status, h);
  if (!rows) return TACTUS_OK;
  if (!is_stiff) {
    status = run_derivative(run, run->instance->time, run_f1);
    if (status != TACTUS_OK) return status;
  }
  for (double t = run_row_time(run, run->next_row); t < inside; t = run_row_time(run, ++run->next_row)) {
    const double s =
        RUN_MODEL.subsystem_count > 0 ? 0.0 : (t - from) / h; /* with rates nothing moves inside of a step */
    for (uint32_t i = 0; i < RUN_MODEL.state_count && !is_stiff; i++) {
      run_x[i] = run_hermite(s, h, run_x0[i], run_states(run)[i], run_f0[i], run_f1[i]);
    }
    if (is_stiff) tk_between(&RUN_MODEL, run->instance, run->plan.solver, t, run_x);
    status = run_record_between(run, t);
    if (status != TACTUS_OK) return status;
  }
  return TACTUS_OK;
}

static int run_fixed(run_state* run) {
  const run_plan* plan = &run->plan;
  int status = TACTUS_OK;
  if (plan->period_steps > 0) {
    while (run->instance->steps < plan->full_steps) {
      const int64_t row = run->next_row * plan->period_steps;
      status = run_advance_to(run, row < plan->full_steps ? row : plan->full_steps);
      if (status != TACTUS_OK) return status;
      if (run->instance->steps == row) {
        status = run_record(run, run->instance->time, run_states(run));
        if (status != TACTUS_OK) return status;
        run->next_row++;
      }
    }
  }
  while (run->instance->steps < plan->full_steps) {
    const double steps = (run_row_time(run, run->next_row) - plan->start) / plan->step;
    const double full_steps = (double)plan->full_steps;
    status = run_advance_to(run, (int64_t)(steps + run_grid_slack < full_steps ? steps + run_grid_slack : full_steps));
    if (status != TACTUS_OK) return status;
    if (tk_abs(steps - (double)run->instance->steps) <= run_grid_slack) {
      status = run_record(run, run->instance->time, run_states(run));
      run->next_row++;
    } else if (run->instance->steps < plan->full_steps) {
      status = run_step_with_rows(run, plan->step);
    }
    if (status != TACTUS_OK) return status;
  }
  if (plan->last_step > 0.0) {
    const int64_t steps = run->instance->steps;
    run->instance->start_time = run->instance->time;
    run->instance->steps = 0;
    status = run_step_with_rows(run, plan->last_step);
    run->instance->steps += steps;
    if (status == TACTUS_OK) run->instance->time = plan->end;
  }
  return status;
}

/* After an adaptive step. A motion that creeps is given up (kernel/creeping.h). */
static int run_comes_along(run_state* run) {
  run_tell_of_stiffness(run);
  if (run_signal) return RUN_INTERRUPTED;
  if (!tk_creeps(&run->creeping, run->instance, run->plan.end)) return TACTUS_OK;
  run->instance->failed_block = -1;
  run->instance->failed_index = tk_worst_state(tk_active(&RUN_MODEL, run->instance), run->instance, 1);
  return run_fail(run, TACTUS_STEP_TOO_SMALL, 0);
}

static int run_adaptive(run_state* run) {
  const run_plan* plan = &run->plan;
  while (run_has_events() && run->instance->time < plan->end) {
    const double close = run_grid_slack * plan->period;
    int status = tk_part(run_table, run->instance, plan->solver, plan->step, plan->tolerance, plan->end);
    if (status != TACTUS_OK) return run_fail(run, status, 0);
    status = run_end_part(run, close);
    for (; status == TACTUS_OK && run->instance->time < plan->end &&
           run_row_time(run, run->next_row) <= run->instance->time + close;
         run->next_row++) {
      status = run_record(run, run_row_time(run, run->next_row), run_states(run));
    }
    if (status == TACTUS_OK) status = run_comes_along(run);
    if (status != TACTUS_OK) return status;
  }
  while (run->instance->time < plan->end) {
    int status =
        RUN_MODEL.adaptive_step(&RUN_MODEL, run->instance, plan->solver, plan->end, plan->step, plan->tolerance);
    if (status != TACTUS_OK) return run_fail(run, status, 0);
    for (double t = run_row_time(run, run->next_row); t <= run->instance->time && t < plan->end;
         t = run_row_time(run, ++run->next_row)) {
      if (t == run->instance->time) {
        status = run_record(run, t, run_states(run));
      } else {
        tk_dense(&RUN_MODEL, run->instance, plan->solver, t, run_x);
        status = run_record_between(run, t);
      }
      if (status != TACTUS_OK) return status;
    }
    status = run_comes_along(run);
    if (status != TACTUS_OK) return status;
  }
  return TACTUS_OK;
}

static int run_is_finite(run_state* run) {
  for (uint32_t i = 0; i < RUN_MODEL.state_count; i++) {
    if (!(run_states(run)[i] - run_states(run)[i] == 0.0)) return 0;
  }
  return 1;
}

/* The last row, at the end or wherever the motion got to. */
static int run_last_row(run_state* run) {
  const int is_adaptive = tactus_is_adaptive(run->plan.solver);
  const double least = run->plan.period < run->plan.step ? run->plan.period : run->plan.step;
  const double close = run_grid_slack * (is_adaptive ? least : run->plan.step);
  if (!run_is_finite(run) || (run->has_row && run->instance->time - run->recorded <= close)) return TACTUS_OK;
  return run_record(run, run->instance->time, run_states(run));
}

/* Whether every delay is positive and, with fixed steps, no shorter than one. */
static int run_check_delays(run_state* run) {
  for (uint32_t i = 0; i < RUN_MODEL.delay_count; i++) {
    const double duration = tactus_data(run->instance)[RUN_MODEL.layout.derived + RUN_MODEL.delays[i].duration];
    const int is_short = !tactus_is_adaptive(run->plan.solver) && duration < run->plan.step * (1.0 - run_grid_slack);
    if (duration > 0.0 && duration - duration == 0.0 && !is_short) continue;
    tk_text why = tk_text_in(run_why, sizeof run_why);
    tk_text hint = tk_text_in(run_hint, sizeof run_hint);
    tk_describe_short_delay(&RUN_MODEL, duration, run->plan.step, &why, &hint);
    run->has_failed = 1;
    return 0;
  }
  return 1;
}

/* To the starting time, behind all that happens there. */
static int run_begin(run_state* run, int status) {
  if (status == TACTUS_OK) status = tk_start(&RUN_MODEL, run->instance);
  if (status == TACTUS_OK && !run_check_delays(run)) return 0;
  if (status == TACTUS_OK) status = tk_begin_events(run_table, run->instance);
  if (status != TACTUS_OK) (void)run_fail(run, status, 1);
  if (status == TACTUS_OK && run_has_events()) run_tell(run);
  return status == TACTUS_OK;
}

/* To the end, with all rows. */
static void run_go(run_state* run) {
  int status = run_record(run, run->instance->time, run_states(run));
  run->next_row = 1;
  if (status == TACTUS_OK) status = tactus_is_adaptive(run->plan.solver) ? run_adaptive(run) : run_fixed(run);
  /* A failure of the last row is told only when nothing else ended the run. */
  const int has_failed = run->has_failed;
  if (status != RUN_NOT_KEPT) (void)run_last_row(run);
  if (run->is_stopped) run->has_failed = has_failed; /* `stop when`: it ends well */
  if (run->has_failed || run_error || (status != TACTUS_OK && !run->is_stopped)) return;
  run->instance->status = TACTUS_OK;
  if (!run_has_events() || !run_is_finite(run)) return;
  status = tk_end_run(run_table, run->instance);
  run_tell(run);
  if (status != TACTUS_OK) (void)run_fail(run, status, 0);
}

static int run_read_number(const char* text, double* value) {
  char* end;
  *value = strtod(text, &end);
  return end != text && *end == '\0' && *value - *value == 0.0;
}

int main(int count, char** words) {
  static const char* const names[] = {"--until", "--step", "--every", "--tolerance"};
  const double not_given = tk_from_bits(0x7ff8000000000000u);
  double given[4] = {not_given, not_given, not_given, not_given};
  int solver = -1;
  run_state run = {0};
  run.instance = (tactus_instance*)(void*)run_memory;
  int status = tk_reset(&RUN_MODEL, run.instance);

  for (int k = 1; k < count; k += 2) {
    const char* word = words[k];
    const char* value = k + 1 < count ? words[k + 1] : 0;
    int known = 0;
    if (!value) return run_usage("an option without a value, or help");
    for (int n = 0; n < 4; n++) {
      if (strcmp(word, names[n]) != 0) continue;
      known = 1;
      if (!run_read_number(value, &given[n])) return run_usage("not a number");
    }
    if (strcmp(word, "--solver") == 0) {
      known = 1;
      solver = tactus_find_solver(value);
      if (solver < 0) return run_usage("no such solver");
    }
    if (strcmp(word, "--set") == 0) {
      const char* equals = strchr(value, '=');
      for (uint32_t n = 0; equals && n < RUN_MODEL.parameter_count; n++) {
        const char* name = RUN_MODEL.parameters[n].name;
        if (strlen(name) != (size_t)(equals - value) || strncmp(name, value, strlen(name)) != 0) continue;
        known = 1;
        if (!run_read_number(equals + 1, &tactus_data(run.instance)[RUN_MODEL.layout.parameters + n]))
          return run_usage("not a number");
      }
      if (!known) return run_usage("no such parameter");
    }
    if (!known) return run_usage("no such option");
  }
  const int mistake = run_make_plan(&run.plan, given[0], given[1], given[2], solver, given[3]);
  if (mistake) return mistake;

  /* What cannot be written is an error of the write; an interrupted run keeps its rows. */
#ifdef SIGPIPE
  (void)signal(SIGPIPE, SIG_IGN);
#endif
#ifdef SIGXFSZ
  (void)signal(SIGXFSZ, SIG_IGN);
#endif
  (void)signal(SIGINT, run_interrupt);
  (void)signal(SIGTERM, run_interrupt);
  (void)setvbuf(stdout, NULL, _IONBF, 0); /* the rows have a buffer of their own */
  run_table = run_listen();
  memcpy(run_rows, run_header, sizeof run_header - 1);
  run_used = sizeof run_header - 1;

  const int is_begun = run_begin(&run, status);
  if (is_begun) run_go(&run);
  if (run.ties_told > 6) {
    fprintf(stderr, "%s: note: and %lld more rests, slides and releases like these\n", RUN_MODEL.name,
            (long long)(run.ties_told - 6));
  }
  if (run.instance->expectations > 0) {
    char note[256];
    tk_text words = tk_text_in(note, sizeof note);
    tk_note_expectations(run.instance, &words);
    run_note(&words);
  }
  (void)run_flush();
  const int broken = run_tell_of_checks(&run);
  if (run.has_failed) {
    fprintf(stderr, "%s: error: the run failed: %s\n", RUN_MODEL.name, run_why);
    if (run_hint[0]) fprintf(stderr, "  hint: %s\n", run_hint);
  }
  if (run_error)
    fprintf(stderr, "%s: error: cannot write to standard output: %s\n", RUN_MODEL.name, strerror(run_error));
  if (run.has_failed || run_error) return 4;
  if (run_signal) {
    fprintf(stderr, "%s: interrupted at t = %.9g\n", RUN_MODEL.name, run.instance->time);
    return 128 + run_signal;
  }
  return broken > 0 ? 3 : 0;
}
