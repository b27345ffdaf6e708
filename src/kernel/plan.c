/* Plans: values chosen now so that targets hold later. Enters: an Instance in which the jump that begins a plan is
 * enabled. Leaves: the same with the chosen states set; or as it was, with TACTUS_NO_PLAN.
 *
 * The motion is tried out from the jump on, through all that happens, until the last phase has ended; what its targets
 * leave over when each phase ends is a function r(u) of the chosen values. r(u) = 0 by Newton's method. Its Jacobian
 * comes with the motion itself, by tangents and their jumps at events (slopes.c); where these do not tell, by
 * differences of whole motions. Steps are halved until what is left over, of the target that is off most, has become
 * less. At most TK_PLAN_ROUNDS of them: it ends in bounded time, whatever happens.
 *
 * While a motion is tried out, inputs stand still and no plan begins.
 *
 * Scratch, at layout.plan: the header and the snapshot of the Instance as it was, then vectors and the matrix of the
 * search, then slopes. */
#include "kernel/hybrid.h"

#define TK_PLAN_ROUNDS 40
#define TK_PLAN_HALVINGS 10
/* Parts of one motion, at most, and of all motions of a search: some seconds. */
#define TK_PLAN_PARTS 200000
#define TK_PLAN_ALL_PARTS 4000000

static const double tk_plan_tolerance = 1e-10; /* of the motion */
static const double tk_plan_close = 1e-9;      /* what may be left over of a target */

static uint32_t tk_header_size(void) { return (uint32_t)(sizeof(tactus_instance) / sizeof(double)); }

uint32_t tk_most_chosen(const tactus_model* model) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < model->plan_count; i++) {
    if (model->plans[i].chosen_count > most) most = model->plans[i].chosen_count;
  }
  return most;
}

uint32_t tk_plan_size(const tactus_model* model, uint32_t snapshot) {
  if (model->plan_count == 0) return 0;
  const uint32_t m = tk_most_chosen(model);
  return tk_header_size() + snapshot + m * m + 6 * m + tk_slopes_size(model, m);
}

int32_t tk_plan_of(const tactus_model* model, uint32_t event) {
  for (uint32_t i = 0; i < model->plan_count; i++) {
    if (model->plans[i].event == event) return (int32_t)i;
  }
  return -1;
}

static void tk_put_aside(const tactus_model* model, tactus_instance* instance) {
  double* aside = tactus_data(instance) + model->layout.plan;
  tk_copy(tk_header_size(), (const double*)(const void*)instance, aside);
  tk_copy(model->layout.snapshot, tactus_data(instance), aside + tk_header_size());
}

static void tk_take_back(const tactus_model* model, tactus_instance* instance) {
  double* aside = tactus_data(instance) + model->layout.plan;
  tk_copy(tk_header_size(), aside, (double*)(void*)instance);
  tk_copy(model->layout.snapshot, aside + tk_header_size(), tactus_data(instance));
}

/* In the Instance and in what was put aside of it, of which either becomes the other. */
void tk_cancel(const tactus_model* whole, tactus_instance* instance) {
  if (whole->plan_count > 0) {
    tactus_instance* aside = (tactus_instance*)(void*)(tactus_data(instance) + whole->layout.plan);
    *(volatile int32_t*)&aside->plans_wait = -1;
  }
  *(volatile int32_t*)&instance->plans_wait = -1;
}

typedef struct tk_search {
  uint32_t count;
  double* u;
  double* left; /* what is left over */
  double* trial;
  double* trial_left;
  double* step;
  double* matrix; /* by how much more of each target is left over when one of u grows */
  int64_t parts;  /* that motions may still have */
} tk_search;

static tk_search tk_search_of(const tactus_model* model, tactus_instance* instance, uint32_t count) {
  tk_search s;
  const uint32_t m = tk_most_chosen(model);
  s.count = count;
  s.u = tactus_data(instance) + model->layout.plan + tk_header_size() + model->layout.snapshot;
  s.left = s.u + m;
  s.trial = s.left + m;
  s.trial_left = s.trial + m;
  s.step = s.trial_left + m;
  s.matrix = s.step + 2 * m;
  s.parts = TK_PLAN_ALL_PARTS;
  return s;
}

/* What the targets leave over where a phase ends, and, if `matrix`, how that moves. */
static void tk_take_targets(const tactus_model* model, tactus_instance* instance, const tactus_plan_phase* phase,
                            double* left, double* matrix) {
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  tk_copy(phase->target_count, watched + phase->target, left);
  if (matrix) tk_slopes_of_watched(model, instance, phase->target, phase->target_count, matrix);
}

/* The motion with these values, from the Instance that was put aside, and what its targets leave over; and, if
 * `matrix`, how that moves with the values, if tk_are_slopes_known. */
static int tk_try_out(const tactus_model* whole, tactus_instance* instance, const tactus_plan* plan, const double* u,
                      double* left, double* matrix, int64_t* parts) {
  const uint32_t* places = whole->plan_places + plan->first_chosen;
  tk_take_back(whole, instance);
  instance->is_planning = matrix ? 2 : 1;
  instance->plan_runs++;
  tactus_instance* saved = (tactus_instance*)(void*)(tactus_data(instance) + whole->layout.plan);
  saved->plan_runs = instance->plan_runs;
  tk_zero(whole->input_count, tactus_data(instance) + whole->layout.input_rates);
  for (uint32_t i = 0; i < plan->chosen_count; i++) tk_states(whole, instance)[places[i]] = u[i];
  if (matrix) tk_begin_slopes(tk_active(whole, instance), instance, plan->chosen_count, places);
  int status = tk_settle(whole, instance);
  if (status == TACTUS_OK) status = tk_take(whole, instance, plan->event);
  uint32_t at = 0;
  uint32_t phase = 0;
  instance->next_step = 0.0;
  const tactus_plan_phase* phases = whole->plan_phases + plan->first_phase;
  for (int part = 0; status == TACTUS_OK && phase < plan->phase_count; part++) {
    if (part == TK_PLAN_PARTS || --*parts < 0 || tk_is_cancelled(instance)) return TACTUS_NO_PLAN;
    const tactus_model* model = tk_active(whole, instance);
    const double from = instance->time;
    status = tk_watch(model, instance, from, tk_states(model, instance));
    if (status != TACTUS_OK) break;
    const double* watched = tactus_data_const(instance) + model->layout.watched;
    const int ends = watched[model->events[phases[phase].event].first] > 0.5;
    if (matrix && (ends || tk_is_due(model, instance))) {
      tk_open_instant(model, instance, ends ? (int32_t)phases[phase].event : -1);
    }
    if (ends) {
      if (at + phases[phase].target_count > plan->chosen_count) return TACTUS_NO_PLAN;
      tk_take_targets(model, instance, &phases[phase], left + at, matrix ? matrix + at * plan->chosen_count : 0);
      at += phases[phase].target_count;
      phase++;
      if (phase == plan->phase_count) break;
    }
    if (ends || tk_is_due(model, instance)) status = tk_fire_all(whole, instance);
    if (matrix) tk_close_instant(tk_active(whole, instance), instance);
    if (ends || status != TACTUS_OK) continue;
    model = tk_active(whole, instance);
    status = tk_part(whole, instance, TACTUS_TSIT5, 0.0, tk_plan_tolerance, from + 1e6);
    tk_settle_ties(model, instance);
    if (matrix && status == TACTUS_OK) tk_follow_part(model, instance, from);
  }
  if (status != TACTUS_OK) return status;
  return at == plan->chosen_count && tk_first_not_finite(at, left) < 0 ? TACTUS_OK : TACTUS_NO_PLAN;
}

static double tk_plan_norm(const tk_search* s, const double* left) {
  double most = 0.0;
  for (uint32_t i = 0; i < s->count; i++) most = tk_max(tk_abs(left[i]), most);
  return most;
}

/* The Jacobian by differences of whole motions. */
static int tk_plan_differences(const tactus_model* whole, tactus_instance* instance, const tactus_plan* plan,
                               tk_search* s) {
  const uint32_t m = s->count;
  tactus_instance* saved = (tactus_instance*)(void*)(tactus_data(instance) + whole->layout.plan);
  saved->plan_differences++;
  for (uint32_t j = 0; j < m; j++) {
    const double by = 0x1p-17 * (1.0 + tk_abs(s->u[j]));
    tk_copy(m, s->u, s->trial);
    s->trial[j] += by;
    const int status = tk_try_out(whole, instance, plan, s->trial, s->trial_left, 0, &s->parts);
    if (status != TACTUS_OK) return status;
    for (uint32_t i = 0; i < m; i++) s->matrix[i * m + j] = (s->trial_left[i] - s->left[i]) / by;
  }
  return TACTUS_OK;
}

static int tk_search_plan(const tactus_model* whole, tactus_instance* instance, const tactus_plan* plan, tk_search* s) {
  const uint32_t m = s->count;
  int status = tk_try_out(whole, instance, plan, s->u, s->left, s->matrix, &s->parts);
  if (status != TACTUS_OK) return status;
  double off = tk_plan_norm(s, s->left);
  for (int round = 0; round < TK_PLAN_ROUNDS; round++) {
    if (off <= tk_plan_close) return TACTUS_OK;
    if (!tk_are_slopes_known(whole, instance)) {
      status = tk_plan_differences(whole, instance, plan, s);
      if (status != TACTUS_OK) return status;
    }
    for (uint32_t i = 0; i < m; i++) s->step[i] = -s->left[i];
    status = tk_lu_solve((int)m, s->matrix, s->step);
    if (status != TACTUS_OK) return status;
    double share = 1.0;
    int is_better = 0;
    for (int halving = 0; halving < TK_PLAN_HALVINGS && !is_better; halving++, share *= 0.5) {
      for (uint32_t i = 0; i < m; i++) s->trial[i] = s->u[i] + share * s->step[i];
      if (tk_try_out(whole, instance, plan, s->trial, s->trial_left, s->matrix, &s->parts) != TACTUS_OK) continue;
      const double now = tk_plan_norm(s, s->trial_left);
      if (!(now < off)) continue;
      is_better = 1;
      off = now;
    }
    if (!is_better) return off <= 100.0 * tk_plan_close ? TACTUS_OK : TACTUS_NO_PLAN;
    tk_copy(m, s->trial, s->u);
    tk_copy(m, s->trial_left, s->left);
  }
  return off <= 100.0 * tk_plan_close ? TACTUS_OK : TACTUS_NO_PLAN;
}

/* What was watched last says where the search begins. What it cost stays noted. */
int tk_search_for_plan(const tactus_model* whole, tactus_instance* instance, uint32_t index, double* u) {
  const tactus_plan* plan = &whole->plans[index];
  const tactus_model* model = tk_active(whole, instance);
  tk_search s = tk_search_of(whole, instance, plan->chosen_count);
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  tk_copy(s.count, watched + plan->guess, s.u);
  for (uint32_t i = 0; i < s.count; i++) s.left[i] = tk_infinite();
  instance->plan_runs = 0;
  instance->plan_differences = 0;
  if (s.count > TACTUS_MOST_CHOSEN) return TACTUS_NO_PLAN; /* the compiler refuses such a plan: u has no more places */
  tk_put_aside(whole, instance);
  const int status = tk_search_plan(whole, instance, plan, &s);
  const int32_t runs = instance->plan_runs;
  tk_take_back(whole, instance);
  instance->plan_runs = runs;
  tk_copy(s.count, s.u, u);
  return status == TACTUS_OK ? TACTUS_OK : TACTUS_NO_PLAN;
}

const double* tk_nearest_plan(const tactus_model* whole, const tactus_instance* instance) {
  return tactus_data_const(instance) + whole->layout.plan + tk_header_size() + whole->layout.snapshot;
}

int tk_plan_slopes(const tactus_model* whole, tactus_instance* instance, uint32_t index, const double* u, double* left,
                   double* matrix) {
  int64_t parts = TK_PLAN_PARTS;
  tk_put_aside(whole, instance);
  const int status = tk_try_out(whole, instance, &whole->plans[index], u, left, matrix, &parts);
  const int is_known = tk_are_slopes_known(whole, instance);
  tk_take_back(whole, instance);
  return status != TACTUS_OK ? status : is_known ? TACTUS_OK : TACTUS_SINGULAR;
}

static void tk_choose(const tactus_model* whole, tactus_instance* instance, const tactus_plan* plan, const double* u) {
  for (uint32_t i = 0; i < plan->chosen_count; i++) {
    tk_states(whole, instance)[whole->plan_places[plan->first_chosen + i]] = u[i];
  }
  instance->plans_made++;
  instance->first_stage_valid = 0;
}

int tk_find_plan(const tactus_model* whole, tactus_instance* instance, uint32_t index) {
  const tactus_plan* plan = &whole->plans[index];
  double u[TACTUS_MOST_CHOSEN];
  if (tk_search_for_plan(whole, instance, index, u) != TACTUS_OK) {
    instance->plans_failed++;
    return tk_fail(instance, TACTUS_NO_PLAN, (int32_t)plan->event);
  }
  tk_choose(whole, instance, plan, u);
  return TACTUS_OK;
}

static void tk_answer(tactus_instance* instance, uint32_t plan) { instance->plans_asked &= ~((uint64_t)1 << plan); }

int tk_begin_plan(const tactus_model* whole, tactus_instance* instance, uint32_t index, const double* u) {
  const tactus_plan* plan = &whole->plans[index];
  tk_answer(instance, index);
  tk_choose(whole, instance, plan, u);
  const int status = tk_settle(whole, instance);
  return status == TACTUS_OK ? tk_take(whole, instance, plan->event) : status;
}

int tk_refuse_plan(const tactus_model* whole, tactus_instance* instance, uint32_t index) {
  const tactus_plan* plan = &whole->plans[index];
  tk_answer(instance, index);
  instance->plans_failed++;
  if (!plan->has_otherwise) return tk_fail(instance, TACTUS_NO_PLAN, (int32_t)plan->event);
  const int status = tk_settle(whole, instance);
  return status == TACTUS_OK ? tk_take(whole, instance, plan->failed) : status;
}
