/* The program around an exported model: what `tactus run --out -` does without devices, its inputs being zero. The rows are
 * the same, bit for bit: the plan is that of runtime/sim/plan.cpp, the loop that of runtime/sim/run.cpp.
 *
 * Before this text stand the kernel, the model, and: RUN_MODEL (its table), RUN_DOUBLES (layout.size), RUN_STATES and RUN_WARM
 * (counts, at least 1), run_header (the first line), run_columns (places in the outputs section), RUN_COLUMNS (their number). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double run_memory[sizeof(tactus_instance) / sizeof(double) + RUN_DOUBLES];
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
} run_state;

static const double run_grid_slack = 1e-9;

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
  if (tactus_needs_structure(solver) && !RUN_MODEL.structure) {
    return run_usage("this solver asks for x' = (J - R) dH/dx + G u, and that form of the model is not known");
  }
  plan->solver = solver;

  const int adaptive = tactus_is_adaptive(solver);
  if (adaptive) {
    plan->tolerance = has_tolerance ? tolerance : 1e-6;
    const int is_blind = RUN_MODEL.warm_count > 0 || RUN_MODEL.table_count > 0 || RUN_MODEL.delay_count > 0 ||
                         (RUN_MODEL.watch_count > 0 && RUN_MODEL.relation_count == 0);
    const double longest = is_blind ? span / 1000.0 : RUN_MODEL.relation_count > 0 ? span / 100.0 : span;
    plan->step = has_step ? step : longest > 0.0 ? longest : 1.0;
  } else {
    if (!has_step) return run_usage("this solver takes fixed steps: give --step");
    plan->step = step;
    const double ratio = span / step;
    if (ratio > 9e15 || plan->start + step == plan->start || (span > 0.0 && plan->end - step == plan->end)) {
      return run_usage("the step is lost in rounding");
    }
    if (!run_whole(ratio, &plan->full_steps)) {
      plan->full_steps = (int64_t)tk_floor(ratio);
      /* A rate has no shorter step: the run ends before it. */
      plan->last_step =
          RUN_MODEL.subsystem_count > 0 ? 0.0 : plan->end - (plan->start + (double)plan->full_steps * step);
    }
  }

  const int has_every = every == every;
  if (!has_every) every = RUN_MODEL.record_period;
  if (has_every || every != 0.0) {
    if (!(every > 0.0 && every < nothing)) return run_usage("the record period must be positive");
    plan->period = every;
    if (!adaptive) run_whole(every / plan->step, &plan->period_steps);
  } else if (adaptive) {
    plan->period = span > 0.0 ? span / 1000.0 : 1.0;
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

/* The shortest text that reads back as the same bits, as `tactus run` writes it: 15 digits when they do, then 16, then 17, without
 * zeros at their end; as a plain number or with an exponent, whichever is shorter. */
static void run_print(double value) {
  char text[40];
  char digits[20];
  int count = 0;
  int exponent = 0;
  if (value != value || value - value != 0.0) {
    fputs(value != value ? "nan" : value > 0.0 ? "inf" : "-inf", stdout);
    return;
  }
  for (int precision = 14; precision <= 16; precision++) {
    snprintf(text, sizeof text, "%.*e", precision, value);
    if (strtod(text, NULL) == value) break;
    /* Below a power of two doubles lie closer together than above: the next number of so many digits may be it. */
    char* last = strchr(text, 'e') - 1;
    if (precision < 16 && *last < '9') {
      ++*last;
      if (strtod(text, NULL) == value) break;
    }
  }
  for (const char* c = text; *c; c++) {
    if (*c == 'e') {
      exponent = atoi(c + 1);
      break;
    }
    if (*c >= '0' && *c <= '9') digits[count++] = *c;
  }
  while (count > 1 && digits[count - 1] == '0') count--;
  const int size = exponent < 0 ? -exponent : exponent;
  const int with_exponent = count + (count > 1) + (size < 100 ? 4 : 5);
  const int plain = exponent < 0 ? 1 + count - exponent : exponent + 1 < count ? count + 1 : exponent + 1;
  if (text[0] == '-') putchar('-');
  if (with_exponent < plain) {
    putchar(digits[0]);
    if (count > 1) printf(".%.*s", count - 1, digits + 1);
    printf("e%c%02d", exponent < 0 ? '-' : '+', size);
    return;
  }
  if (exponent < 0) {
    fputs("0.", stdout);
    for (int k = 1; k < size; k++) putchar('0');
    printf("%.*s", count, digits);
    return;
  }
  /* An integer is written with all its digits. */
  if (exponent + 1 >= count) {
    printf("%.0f", text[0] == '-' ? -value : value);
    return;
  }
  printf("%.*s.%.*s", exponent + 1, digits, count - exponent - 1, digits + exponent + 1);
}

/* Recording leaves no trace in what the motion depends on. */
static int run_record(run_state* run, double t, const double* x) {
  run_keep_warm(run);
  const int status = tk_outputs(&RUN_MODEL, run->instance, t, x);
  run_restore_warm(run);
  if (status != TACTUS_OK) return status;
  run->has_row = 1;
  run->recorded = t;
  run_print(t);
  for (int k = 0; k < RUN_COLUMNS; k++) {
    putchar(',');
    run_print(tactus_data(run->instance)[RUN_MODEL.layout.outputs + run_columns[k]]);
  }
  putchar('\n');
  return TACTUS_OK;
}

/* The row at t inside a step, from run_x. */
static int run_record_between(run_state* run, double t) {
  tk_put_back(&RUN_MODEL, run->instance, t, run_x);
  return run_record(run, t, run_x);
}

static int run_derivative(run_state* run, double t, double* f) {
  run_keep_warm(run);
  const int status = RUN_MODEL.derivative(&RUN_MODEL, run->instance, t, run_states(run), f);
  run_restore_warm(run);
  return status;
}

static int run_has_events(void) { return tk_runs_in_parts(&RUN_MODEL); }

static int run_advance_to(run_state* run, int64_t step) {
  const int64_t left = step - run->instance->steps;
  if (left <= 0) return TACTUS_OK;
  if (run_has_events()) return tk_event_steps(&RUN_MODEL, run->instance, run->plan.solver, run->plan.step, left);
  return RUN_MODEL.fixed_steps(&RUN_MODEL, run->instance, run->plan.solver, run->plan.step, left);
}

/* The rows strictly inside the last part, then what is due at its end. Rows closer to the end than `close` are after it. */
static int run_end_part(run_state* run, double close) {
  for (double t = run_row_time(run, run->next_row); t < run->instance->time - close;
       t = run_row_time(run, ++run->next_row)) {
    tk_between(&RUN_MODEL, run->instance, run->plan.solver, t, run_x);
    const int status = run_record_between(run, t);
    if (status != TACTUS_OK) return status;
  }
  return tk_fire(&RUN_MODEL, run->instance);
}

/* One step of length h in parts, and the rows before its end. */
static int run_parts_with_rows(run_state* run, double h) {
  const int64_t end = run->instance->steps + 1;
  const double close = run_grid_slack * h;
  while (run->instance->steps < end) {
    int status = tk_part(&RUN_MODEL, run->instance, run->plan.solver, h, 0.0, tk_from_bits(0x7ff0000000000000u));
    if (status == TACTUS_OK) status = run_end_part(run, close);
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
  if (status != TACTUS_OK || !rows) return status;
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

static int run_adaptive(run_state* run) {
  const run_plan* plan = &run->plan;
  while (run_has_events() && run->instance->time < plan->end) {
    const double close = run_grid_slack * plan->period;
    int status = tk_part(&RUN_MODEL, run->instance, plan->solver, plan->step, plan->tolerance, plan->end);
    if (status == TACTUS_OK) status = run_end_part(run, close);
    for (; status == TACTUS_OK && run->instance->time < plan->end &&
           run_row_time(run, run->next_row) <= run->instance->time + close;
         run->next_row++) {
      status = run_record(run, run_row_time(run, run->next_row), run_states(run));
    }
    if (status != TACTUS_OK) return status;
  }
  while (run->instance->time < plan->end) {
    int status =
        RUN_MODEL.adaptive_step(&RUN_MODEL, run->instance, plan->solver, plan->end, plan->step, plan->tolerance);
    if (status != TACTUS_OK) return status;
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
  }
  return TACTUS_OK;
}

/* The last row, at the end or wherever the motion got to. */
static int run_last_row(run_state* run) {
  for (uint32_t i = 0; i < RUN_MODEL.state_count; i++) {
    if (!(run_states(run)[i] - run_states(run)[i] == 0.0)) return TACTUS_OK;
  }
  const double close = run_grid_slack * (tactus_is_adaptive(run->plan.solver) ? run->plan.period : run->plan.step);
  if (run->has_row && run->instance->time - run->recorded <= close) return TACTUS_OK;
  return run_record(run, run->instance->time, run_states(run));
}

static void run_explain(const run_state* run, int status) {
  static const char* const words[] = {"",
                                      "a value is no longer finite",
                                      "no solution was found",
                                      "a system is singular",
                                      "the step became too small",
                                      "events follow one another without end"};
  fprintf(stderr, "%s: the run failed at t = %.17g: %s\n", RUN_MODEL.name, run->instance->time,
          status > 0 && status < (int)(sizeof words / sizeof *words) ? words[status] : "it cannot be computed");
  if (run->instance->failed_block >= 0) {
    const tactus_block* block = &RUN_MODEL.blocks[run->instance->failed_block];
    fprintf(stderr, "  line %u: %s\n  unknown: %s\n", (unsigned)block->line, block->equations, block->unknowns);
  }
  if (run->instance->failed_index >= 0 && status == TACTUS_ENDLESS_EVENTS) {
    const uint32_t index = (uint32_t)run->instance->failed_index;
    if (index < RUN_MODEL.event_count) {
      fprintf(stderr, "  line %u: %s\n", (unsigned)RUN_MODEL.events[index].line, RUN_MODEL.events[index].name);
    } else {
      fprintf(stderr, "  line %u\n", (unsigned)RUN_MODEL.relations[index - RUN_MODEL.event_count].line);
    }
  } else if (run->instance->failed_index >= 0)
    fprintf(stderr, "  in %s\n", RUN_MODEL.state_names[run->instance->failed_index]);
}

/* What `check` says and was broken; how many. */
static int run_tell_checks(const run_state* run) {
  int broken = 0;
  for (uint32_t e = 0; e < RUN_MODEL.event_count; e++) {
    const tactus_event* event = &RUN_MODEL.events[e];
    if (event->kind != TACTUS_CHECK || event->pulse > 0) continue;
    if (tactus_data(run->instance)[RUN_MODEL.layout.clocks + e] == 0.0) continue;
    fprintf(stderr, "%s: check broken (line %u): %s\n", RUN_MODEL.name, (unsigned)event->line, event->name);
    broken++;
  }
  return broken;
}

/* Whether every delay is positive and, with fixed steps, no shorter than one. */
static int run_check_delays(const run_state* run) {
  for (uint32_t i = 0; i < RUN_MODEL.delay_count; i++) {
    const double duration = tactus_data(run->instance)[RUN_MODEL.layout.derived + RUN_MODEL.delays[i].duration];
    const int is_short = !tactus_is_adaptive(run->plan.solver) && duration < run->plan.step * (1.0 - run_grid_slack);
    if (duration > 0.0 && duration - duration == 0.0 && !is_short) continue;
    fprintf(stderr, "%s: a delay lasts %.17g: it must be positive and, with fixed steps, not shorter than --step\n",
            RUN_MODEL.name, duration);
    return 0;
  }
  return 1;
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

  fputs(run_header, stdout);
  if (status == TACTUS_OK) status = tk_start(&RUN_MODEL, run.instance);
  if (status == TACTUS_OK && !run_check_delays(&run)) return 4;
  if (status == TACTUS_OK) status = tk_begin_events(&RUN_MODEL, run.instance);
  if (status == TACTUS_OK) {
    status = run_record(&run, run.instance->time, run_states(&run));
    run.next_row = 1;
    if (status == TACTUS_OK) status = tactus_is_adaptive(run.plan.solver) ? run_adaptive(&run) : run_fixed(&run);
    const int last = run_last_row(&run);
    const int is_stopped = status == TACTUS_STOPPED;
    if (is_stopped) {
      status = TACTUS_OK; /* `stop when`: it ends well */
      run.instance->status = TACTUS_OK;
    }
    if (status == TACTUS_OK) status = last;
    if (status == TACTUS_OK && !is_stopped && run_has_events()) status = tk_end_run(&RUN_MODEL, run.instance);
  }
  if (status != TACTUS_OK) run_explain(&run, status);
  if (run.instance->stiff_steps >= TACTUS_STIFF) {
    fprintf(stderr, "%s: note: the system is stiff: --solver rosenbrock would take longer steps\n", RUN_MODEL.name);
  }
  const int broken = run_tell_checks(&run);
  if (fflush(stdout) != 0 || status != TACTUS_OK) return 4;
  return broken > 0 ? 3 : 0;
}
