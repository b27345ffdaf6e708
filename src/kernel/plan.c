/* Plans: values chosen now so that targets hold later. Enters: an Instance in which the jump that begins a plan is enabled. Leaves: the
 * same with the chosen states set; or as it was, with TACTUS_NO_PLAN.
 *
 * The motion is tried out from the jump on, through all that happens, until the last phase has ended; what its targets leave over when
 * each phase ends is a function r(u) of the chosen values. r(u) = 0 by Newton's method, its Jacobian by differences of whole motions,
 * which know of every jump on the way; steps are halved until what is left over, each target for its size, has become less. At most
 * TK_PLAN_ROUNDS of them: it ends in bounded time, whatever happens.
 *
 * While a motion is tried out, inputs stand still and no plan begins.
 *
 * Scratch, at layout.plan: the header and the snapshot of the Instance as it was, then vectors and the matrix of the search. */
#include "kernel/hybrid.h"

#define TK_PLAN_ROUNDS 40
#define TK_PLAN_HALVINGS 10
/* Parts of one motion, at most. */
#define TK_PLAN_PARTS 200000

static const double tk_plan_tolerance = 1e-10; /* of the motion */
static const double tk_plan_close = 1e-9;      /* of what is left over, for the size of the target */

static uint32_t tk_header_size(void) { return (uint32_t)(sizeof(tactus_instance) / sizeof(double)); }

uint32_t tk_plan_size(const tactus_model* model, uint32_t snapshot) {
  if (model->plan_count == 0) return 0;
  const uint32_t m = TACTUS_MOST_CHOSEN;
  return tk_header_size() + snapshot + m * m + 6 * m;
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

typedef struct tk_search {
  uint32_t count;
  double* u;
  double* left; /* what is left over */
  double* scale;
  double* trial;
  double* trial_left;
  double* step;
  double* matrix;
} tk_search;

static tk_search tk_search_of(const tactus_model* model, tactus_instance* instance, uint32_t count) {
  tk_search s;
  const uint32_t m = TACTUS_MOST_CHOSEN;
  s.count = count;
  s.u = tactus_data(instance) + model->layout.plan + tk_header_size() + model->layout.snapshot;
  s.left = s.u + m;
  s.scale = s.left + m;
  s.trial = s.scale + m;
  s.trial_left = s.trial + m;
  s.step = s.trial_left + m;
  s.matrix = s.step + m;
  return s;
}

/* The motion with these values, from the Instance that was put aside, and what its targets leave over. */
static int tk_try_out(const tactus_model* whole, tactus_instance* instance, const tactus_plan* plan, const double* u,
                      double* left) {
  const uint32_t* places = whole->plan_places + plan->first_chosen;
  tk_take_back(whole, instance);
  instance->is_planning = 1;
  instance->plan_runs++;
  tactus_instance* saved = (tactus_instance*)(void*)(tactus_data(instance) + whole->layout.plan);
  saved->plan_runs = instance->plan_runs;
  tk_zero(whole->input_count, tactus_data(instance) + whole->layout.input_rates);
  for (uint32_t i = 0; i < plan->chosen_count; i++) tk_states(whole, instance)[places[i]] = u[i];
  int status = tk_settle(whole, instance);
  if (status == TACTUS_OK) status = tk_take(whole, instance, plan->event);
  uint32_t at = 0;
  uint32_t phase = 0;
  instance->next_step = 0.0;
  const tactus_plan_phase* phases = whole->plan_phases + plan->first_phase;
  for (int part = 0; status == TACTUS_OK && phase < plan->phase_count; part++) {
    if (part == TK_PLAN_PARTS) return TACTUS_NO_PLAN;
    const tactus_model* model = tk_active(whole, instance);
    status = tk_watch(model, instance, instance->time, tk_states(model, instance));
    if (status != TACTUS_OK) break;
    const double* watched = tactus_data_const(instance) + model->layout.watched;
    if (watched[model->events[phases[phase].event].first] > 0.5) {
      for (uint32_t i = 0; i < phases[phase].target_count; i++) left[at++] = watched[phases[phase].target + i];
      phase++;
      if (phase == plan->phase_count) break;
      status = tk_fire_all(whole, instance);
      continue;
    }
    if (tk_is_due(model, instance)) status = tk_fire_all(whole, instance);
    if (status == TACTUS_OK) {
      status = tk_part(whole, instance, TACTUS_TSIT5, 0.0, tk_plan_tolerance, instance->time + 1e6);
    }
  }
  if (status != TACTUS_OK) return status;
  return at == plan->chosen_count && tk_first_not_finite(at, left) < 0 ? TACTUS_OK : TACTUS_NO_PLAN;
}

static double tk_plan_norm(const tk_search* s, const double* left) {
  double most = 0.0;
  for (uint32_t i = 0; i < s->count; i++) most = tk_max(tk_abs(left[i]) / s->scale[i], most);
  return most;
}

static int tk_search_plan(const tactus_model* whole, tactus_instance* instance, const tactus_plan* plan, tk_search* s) {
  const uint32_t m = s->count;
  int status = tk_try_out(whole, instance, plan, s->u, s->left);
  if (status != TACTUS_OK) return status;
  for (uint32_t i = 0; i < m; i++) s->scale[i] = 1.0;
  double off = tk_plan_norm(s, s->left);
  for (int round = 0; round < TK_PLAN_ROUNDS; round++) {
    if (off <= tk_plan_close) return TACTUS_OK;
    for (uint32_t j = 0; j < m; j++) {
      const double by = 0x1p-17 * (1.0 + tk_abs(s->u[j]));
      for (uint32_t i = 0; i < m; i++) s->trial[i] = s->u[i];
      s->trial[j] += by;
      status = tk_try_out(whole, instance, plan, s->trial, s->trial_left);
      if (status != TACTUS_OK) return status;
      for (uint32_t i = 0; i < m; i++) s->matrix[i * m + j] = (s->trial_left[i] - s->left[i]) / by;
    }
    for (uint32_t i = 0; i < m; i++) s->step[i] = -s->left[i];
    status = tk_lu_solve((int)m, s->matrix, s->step);
    if (status != TACTUS_OK) return status;
    double share = 1.0;
    int is_better = 0;
    for (int halving = 0; halving < TK_PLAN_HALVINGS && !is_better; halving++, share *= 0.5) {
      for (uint32_t i = 0; i < m; i++) s->trial[i] = s->u[i] + share * s->step[i];
      if (tk_try_out(whole, instance, plan, s->trial, s->trial_left) != TACTUS_OK) continue;
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

int tk_find_plan(const tactus_model* whole, tactus_instance* instance, uint32_t index) {
  const tactus_plan* plan = &whole->plans[index];
  const tactus_model* model = tk_active(whole, instance);
  tk_search s = tk_search_of(whole, instance, plan->chosen_count);
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  tk_copy(s.count, watched + plan->guess, s.u);
  instance->plan_runs = 0;
  tk_put_aside(whole, instance);
  const int status = tk_search_plan(whole, instance, plan, &s);
  const int32_t runs = instance->plan_runs;
  tk_take_back(whole, instance);
  instance->plan_runs = runs;
  if (status != TACTUS_OK) {
    instance->plans_failed++;
    return tk_fail(instance, TACTUS_NO_PLAN, (int32_t)plan->event);
  }
  instance->plans_made++;
  for (uint32_t i = 0; i < s.count; i++) {
    tk_states(whole, instance)[whole->plan_places[plan->first_chosen + i]] = s.u[i];
  }
  instance->first_stage_valid = 0;
  return TACTUS_OK;
}
