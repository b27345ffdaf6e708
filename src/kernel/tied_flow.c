/* The motion along ties (ties.h). Enters: an Instance with ties, (t, x) on their surfaces. Leaves: the flow that keeps
 * to them, by strengths and shares; the table of that motion; and what is recorded of it. */
#include "kernel/ties.h"

double tk_small_step(const tactus_model* model, const double* x, const double* direction) {
  double most = 0.0;
  for (uint32_t i = 0; i < model->state_count; i++) {
    most = tk_max(tk_abs(direction[i]) / (1.0 + tk_abs(x[i])), most);
  }
  double step = 0x1p-17; /* the cube root of rounding */
  while (step * most > 0x1p-16) step *= 0.5;
  return step;
}

void tk_leave_present(const tactus_model* model, tactus_instance* instance) {
  tk_copy(model->discrete_count, tactus_data_const(instance) + model->layout.discrete,
          tk_left_mode(model, instance, TK_MOST_TURNS));
}
void tk_return_to_present(const tactus_model* model, tactus_instance* instance) {
  tk_copy(model->discrete_count, tk_left_mode(model, instance, TK_MOST_TURNS),
          tactus_data(instance) + model->layout.discrete);
}

/* The discrete section as it is when the transition of a tie is about to leave its mode: what is the same in all modes
 * that take turns is as it is now. */
void tk_enter_mode(const tactus_model* model, tactus_instance* instance, int32_t tie) {
  double* discrete = tactus_data(instance) + model->layout.discrete;
  const double* present = tk_left_mode(model, instance, TK_MOST_TURNS);
  const double* own = tk_left_mode(model, instance, (uint32_t)*tk_tie_of(model, instance, tie).left) + 1;
  for (uint32_t k = 0; k < model->discrete_count; k++) {
    discrete[k] = present[k];
    for (int32_t j = 0; j < instance->tie_count; j++) {
      const tk_tie_entry other = tk_tie_of(model, instance, j);
      if (*other.kind == (double)TK_OF_ONE) continue;
      if (tk_left_mode(model, instance, (uint32_t)*other.left)[1 + k] != own[k]) discrete[k] = own[k];
    }
  }
}

int tk_watch_ties(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* c) {
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  int status = tk_watch(model, instance, t, x);
  int has_modes = 0;
  for (int32_t i = 0; i < instance->tie_count; i++) {
    const tk_tie_entry tie = tk_tie_of(model, instance, i);
    has_modes = has_modes || *tie.kind != (double)TK_OF_ONE;
    c[i] = watched[(uint32_t)*tie.place];
  }
  if (!has_modes) return status;
  tk_leave_present(model, instance);
  for (int32_t i = 0; i < instance->tie_count && status == TACTUS_OK; i++) {
    const tk_tie_entry tie = tk_tie_of(model, instance, i);
    if (*tie.kind == (double)TK_OF_ONE) continue;
    tk_enter_mode(model, instance, i);
    status = tk_watch(model, instance, t, x);
    c[i] = watched[(uint32_t)*tie.place];
  }
  tk_return_to_present(model, instance);
  return status;
}

/* How fast each tie's c changes along (speed, direction) from (t, x). Scratch: two stage vectors. */
int tk_tie_slopes(const tactus_model* model, tactus_instance* instance, double t, const double* x, double speed,
                  const double* direction, double* slope) {
  double* moved = tk_stage_vector(model, instance, TK_ERRORS);
  const double step = tk_small_step(model, x, direction);
  for (int side = 0; side < 2; side++) {
    const double by = side == 0 ? step : -step;
    for (uint32_t i = 0; i < model->state_count; i++) moved[i] = x[i] + by * direction[i];
    double c[TK_MOST_TIES];
    const int status = tk_watch_ties(model, instance, t + by * speed, moved, c);
    if (status != TACTUS_OK) return status;
    for (int32_t i = 0; i < instance->tie_count; i++) slope[i] = side == 0 ? c[i] : (slope[i] - c[i]) / (2.0 * step);
  }
  return TACTUS_OK;
}

void tk_take_side(const tactus_model* model, tactus_instance* instance, const tk_tie_entry* tie, int is_positive) {
  double* discrete = tactus_data(instance) + model->layout.discrete;
  for (uint32_t k = 0; k < model->relation_count; k++) {
    if (tie->sides[k] != 0.0) discrete[model->relations[k].held] = (tie->sides[k] > 0.0) == is_positive ? 1.0 : 0.0;
  }
}

int tk_flows(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* flow) {
  const uint32_t n = model->state_count;
  for (int32_t i = 0; i < instance->tie_count; i++) {
    const tk_tie_entry tie = tk_tie_of(model, instance, i);
    if (*tie.number >= (double)model->event_count) tk_take_side(model, instance, &tie, 0);
  }
  int status = model->derivative(model, instance, t, x, flow);
  for (int32_t i = 0; i < instance->tie_count && status == TACTUS_OK; i++) {
    const tk_tie_entry tie = tk_tie_of(model, instance, i);
    if (*tie.number < (double)model->event_count) continue;
    tk_take_side(model, instance, &tie, 1);
    status = model->derivative(model, instance, t, x, tie.direction);
    tk_take_side(model, instance, &tie, 0);
    for (uint32_t k = 0; k < n; k++) tie.direction[k] -= flow[k];
  }
  return status;
}

/* The shares of the shortest point in the convex hull of `count` points of `size` doubles each: from equal ones, the
 * best exchange between two of them in turn. */
static void tk_shortest_mixture(int32_t count, uint32_t size, const double* const* points, double* share) {
  for (int32_t i = 0; i < count; i++) share[i] = 1.0 / (double)count;
  for (int round = 0; round < 60; round++) {
    double moved = 0.0;
    for (int32_t i = 0; i < count; i++) {
      for (int32_t j = i + 1; j < count; j++) {
        double along = 0.0;
        double square = 0.0;
        for (uint32_t k = 0; k < size; k++) {
          double at = 0.0;
          for (int32_t q = 0; q < count; q++) at += share[q] * points[q][k];
          const double difference = points[j][k] - points[i][k];
          along += difference * at;
          square += difference * difference;
        }
        if (!(square > 0.0)) continue;
        double by = -along / square;
        by = tk_min(tk_max(by, -share[j]), share[i]);
        share[i] -= by;
        share[j] += by;
        moved = tk_max(moved, tk_abs(by));
      }
    }
    if (!(moved > 1e-15)) break;
  }
}

/* The flow of modes in turn: their mixture, and the share of each, in the order of their ties, if there is room for
 * them. Flows are kept where lifts are, which such ties do not need. */
int tk_mixed_flow(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* flow,
                  double* shares) {
  const uint32_t n = model->state_count;
  double own[TK_MOST_TURNS];
  double* share = shares ? shares : own;
  double slope[TK_MOST_TURNS][TK_MOST_TIES];
  const double* flows[TK_MOST_TURNS];
  const double* slopes[TK_MOST_TURNS];
  int32_t ties[TK_MOST_TURNS];
  int32_t count = 0;
  int status = TACTUS_OK;
  tk_leave_present(model, instance);
  for (int32_t i = 0; i < instance->tie_count && status == TACTUS_OK; i++) {
    const tk_tie_entry tie = tk_tie_of(model, instance, i);
    if (*tie.kind == (double)TK_OF_ONE) continue;
    tk_enter_mode(model, instance, i);
    status = tk_flows(model, instance, t, x, tie.lift);
    flows[count] = tie.lift;
    slopes[count] = slope[count];
    ties[count++] = i;
  }
  tk_return_to_present(model, instance);
  for (int32_t i = 0; i < count && status == TACTUS_OK; i++) {
    status = tk_tie_slopes(model, instance, t, x, 1.0, flows[i], slope[i]);
  }
  if (status != TACTUS_OK) return status;
  /* By what their guards feel of it; where they feel nothing, by the flow itself. */
  double felt = 0.0;
  for (int32_t i = 1; i < count; i++) {
    for (int32_t j = 0; j < count; j++) felt = tk_max(felt, tk_abs(slope[i][ties[j]] - slope[0][ties[j]]));
  }
  if (felt > tk_slack) {
    tk_shortest_mixture(count, (uint32_t)instance->tie_count, slopes, share);
  } else {
    tk_shortest_mixture(count, n, flows, share);
  }
  for (uint32_t k = 0; k < n; k++) {
    flow[k] = 0.0;
    for (int32_t i = 0; i < count; i++) flow[k] += share[i] * flows[i][k];
  }
  return TACTUS_OK;
}

/* What a tie must change c by to hold it: more than what happens while events cannot be told apart. */
double tk_least_felt(const tactus_model* model, double t) {
  return tk_max(1e-9, 4.0 * tk_soon * tk_event_precision(model, t));
}

/* What the jump `event` makes of x at t, whoever listens hearing nothing of it: `after`, which may not be x. */
int tk_try_jump(const tactus_model* model, tactus_instance* instance, uint32_t event, double t, const double* x,
                double* after) {
  const uint32_t n = model->state_count;
  double* discrete = tactus_data(instance) + model->layout.discrete;
  double* kept = tk_room(model, instance);
  double* states = tk_states(model, instance);
  double* kept_states = kept + model->discrete_count;
  const double now = instance->time;
  const int32_t is_planning = instance->is_planning;
  tk_copy(model->discrete_count, discrete, kept);
  tk_copy(n, states, kept_states);
  if (x != states) tk_copy(n, x, states);
  instance->time = t;
  if (is_planning == 0) instance->is_planning = 1;
  const int status = model->fire(model, instance, event);
  instance->is_planning = is_planning;
  instance->time = now;
  tk_copy(n, states, after);
  tk_copy(n, kept_states, states);
  tk_copy(model->discrete_count, kept, discrete);
  return status;
}

/* The direction of the reaction at (t, x): what the jump changes when the motion approaches its surface slowly, less
 * what it changes even when the motion does not approach it. Behind a step of the length that differences have; a jump
 * that returns a part of the speed is linear in it. */
int tk_react(const tactus_model* model, tactus_instance* instance, double t, const double* x, const tk_tie_entry* tie) {
  const uint32_t n = model->state_count;
  const uint32_t event = (uint32_t)*tie->number;
  double* moved = tk_room(model, instance) + model->discrete_count + n;
  const double step = tk_small_step(model, x, tie->probe);
  for (uint32_t i = 0; i < n; i++) moved[i] = x[i] - step * tie->probe[i];
  int status = tk_try_jump(model, instance, event, t, moved, tie->direction);
  for (uint32_t i = 0; i < n && status == TACTUS_OK; i++) tie->direction[i] -= moved[i];
  if (status == TACTUS_OK && *tie->residue != 0.0) {
    status = tk_try_jump(model, instance, event, t, x, moved);
    for (uint32_t i = 0; i < n; i++) tie->direction[i] -= moved[i] - x[i];
  }
  double size = 0.0;
  for (uint32_t i = 0; i < n; i++) size = tk_max(tk_abs(tie->direction[i]), size);
  if (status != TACTUS_OK) return status;
  if (!(size > 0.0) || !tk_is_finite(size)) return TACTUS_SINGULAR;
  for (uint32_t i = 0; i < n; i++) tie->direction[i] /= size;
  return TACTUS_OK;
}

int tk_is_rest(const tactus_model* model, const tk_tie_entry* tie) {
  return *tie->number < (double)model->event_count && *tie->kind == (double)TK_OF_ONE;
}

int tk_tied_flow(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* flow,
                 double* strength, double* shares) {
  const uint32_t n = model->state_count;
  const int32_t m = instance->tie_count;
  double matrix[TK_MOST_TIES * TK_MOST_TIES];
  double slope[TK_MOST_TIES];
  int status = TACTUS_OK;
  for (int32_t i = 0; i < m && status == TACTUS_OK; i++) {
    const tk_tie_entry tie = tk_tie_of(model, instance, i);
    if (tk_is_rest(model, &tie)) status = tk_react(model, instance, t, x, &tie);
  }
  if (status != TACTUS_OK) return status;
  status = tk_first_mode_tie(model, instance) >= 0 ? tk_mixed_flow(model, instance, t, x, flow, shares)
                                                   : tk_flows(model, instance, t, x, flow);
  if (status == TACTUS_OK) status = tk_tie_slopes(model, instance, t, x, 1.0, flow, slope);
  for (int32_t i = 0; i < m && status == TACTUS_OK; i++) strength[i] = -slope[i];
  for (int32_t j = 0; j < m && status == TACTUS_OK; j++) {
    status = tk_tie_slopes(model, instance, t, x, 0.0, tk_tie_of(model, instance, j).direction, slope);
    for (int32_t i = 0; i < m; i++) matrix[i * m + j] = slope[i];
  }
  if (status != TACTUS_OK) return status;
  for (int32_t i = 0; i < m; i++) {
    const tk_tie_entry tie = tk_tie_of(model, instance, i);
    double size = 0.0;
    for (int32_t j = 0; j < m; j++) size = tk_max(tk_abs(matrix[i * m + j]), size);
    if (size > tk_least_felt(model, t) && *tie.kind != (double)TK_OTHER_SIDE) continue;
    /* c does not feel it: as slow as can be. */
    double along = 0.0;
    double square = 0.0;
    for (uint32_t k = 0; k < n; k++) {
      along += tie.direction[k] * flow[k];
      square += tie.direction[k] * tie.direction[k];
    }
    for (int32_t j = 0; j < m; j++) matrix[i * m + j] = i == j ? 1.0 : 0.0;
    strength[i] = square > 0.0 ? -along / square : 0.0;
  }
  status = tk_lu_solve(m, matrix, strength);
  if (status != TACTUS_OK) return status;
  for (int32_t i = 0; i < m; i++) {
    const double* direction = tk_tie_of(model, instance, i).direction;
    for (uint32_t k = 0; k < n; k++) flow[k] += strength[i] * direction[k];
  }
  return TACTUS_OK;
}

static int tk_tied_derivative(const tactus_model* tied, tactus_instance* instance, double t, const double* x,
                              double* dx) {
  double strength[TK_MOST_TIES];
  return tk_tied_flow(tied->structures[0], instance, t, x, dx, strength, 0);
}

void tk_tie(const tactus_model* model, tactus_model* tied) {
  const uint64_t* from = (const uint64_t*)(const void*)model;
  uint64_t* to = (uint64_t*)(void*)tied;
  for (uint64_t i = 0; i < sizeof(tactus_model) / sizeof(uint64_t); i++) {
    to[i] = from[i];
    TK_HIDE(i);
  }
  tied->derivative = tk_tied_derivative;
  tied->balance = 0; /* these two have the flow without ties */
  tied->slopes = 0;
  tied->fixed_steps = tk_fixed_steps;
  tied->adaptive_step = tk_adaptive_step;
}

int tk_is_tie(const tactus_model* model) { return model->derivative == tk_tied_derivative; }

/* --- What is recorded
 * ------------------------------------------------------------------------------------------------- */

/* Whether anything is slid along: at rest there are no sides. */
static int tk_has_sides(const tactus_model* model, tactus_instance* instance) {
  for (int32_t i = 0; i < instance->tie_count; i++) {
    const tk_tie_entry tie = tk_tie_of(model, instance, i);
    if (!tk_is_rest(model, &tie)) return 1;
  }
  return 0;
}

/* What is recorded on the present sides: into `base` the first time, then that share of how it differs from there is
 * added to `sum`. */
static int tk_add_outputs(const tactus_model* model, tactus_instance* instance, double t, const double* x, double share,
                          int is_first, double* base, double* sum) {
  const double* outputs = tactus_data_const(instance) + model->layout.outputs;
  const int status = model->outputs(model, instance, t, x);
  if (status != TACTUS_OK) return status;
  if (is_first) {
    tk_copy(model->output_count, outputs, base);
    return TACTUS_OK;
  }
  for (uint32_t k = 0; k < model->output_count; k++) {
    if (outputs[k] != base[k]) sum[k] += share * (outputs[k] - base[k]);
  }
  return TACTUS_OK;
}

/* The mixture of what is recorded on all sides, by the strengths and shares that mix the flow: into `sum`. */
static int tk_mix_outputs(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* sum,
                          double* base) {
  double strength[TK_MOST_TIES];
  double share[TK_MOST_TURNS];
  double* flow = tk_room(model, instance) + model->discrete_count + 2 * (uint64_t)model->state_count;
  int status = tk_tied_flow(model, instance, t, x, flow, strength, share);
  tk_zero(model->output_count, sum);
  for (int32_t i = 0; i < instance->tie_count; i++) {
    const tk_tie_entry tie = tk_tie_of(model, instance, i);
    if (*tie.number >= (double)model->event_count) tk_take_side(model, instance, &tie, 0);
  }
  int32_t mode = 0;
  tk_leave_present(model, instance);
  for (int32_t i = 0; i < instance->tie_count && status == TACTUS_OK; i++) {
    if (*tk_tie_of(model, instance, i).kind == (double)TK_OF_ONE) continue;
    tk_enter_mode(model, instance, i);
    status = tk_add_outputs(model, instance, t, x, share[mode], mode == 0, base, sum);
    mode++;
  }
  tk_return_to_present(model, instance);
  for (uint32_t k = 0; k < model->output_count && mode > 0; k++) sum[k] += base[k];
  if (status == TACTUS_OK) status = tk_add_outputs(model, instance, t, x, 1.0, 1, base, sum);
  if (mode == 0) tk_copy(model->output_count, base, sum);
  for (int32_t i = 0; i < instance->tie_count && status == TACTUS_OK; i++) {
    const tk_tie_entry tie = tk_tie_of(model, instance, i);
    if (*tie.number < (double)model->event_count) continue;
    tk_take_side(model, instance, &tie, 1);
    status = tk_add_outputs(model, instance, t, x, tk_min(tk_max(strength[i], 0.0), 1.0), 0, base, sum);
    tk_take_side(model, instance, &tie, 0);
  }
  return status;
}

int tk_outputs(const tactus_model* whole, tactus_instance* instance, double t, const double* x) {
  const tactus_model* model = tk_active(whole, instance);
  if (model->relation_count == 0) return model->outputs(model, instance, t, x);
  const tk_last_part part = tk_last_part_of(model, instance);
  const int32_t ties = instance->tie_count;
  const int32_t held = *part.is_open != 0.0 ? (int32_t)*part.ties : ties;
  if (held == 0) return model->outputs(model, instance, t, x);
  double* discrete = tactus_data(instance) + model->layout.discrete;
  double* watched = tactus_data(instance) + model->layout.watched;
  double* outputs = tactus_data(instance) + model->layout.outputs;
  double* kept_watched = part.room + model->discrete_count;
  double* sum = kept_watched + model->watch_count;
  tk_copy(model->discrete_count, discrete, part.room);
  tk_copy(model->watch_count, watched, kept_watched);
  instance->tie_count = held;
  const int has_sides = tk_has_sides(model, instance);
  const int is_mixed = has_sides && tk_mix_outputs(model, instance, t, x, sum, sum + model->output_count) == TACTUS_OK;
  instance->tie_count = ties;
  tk_copy(model->discrete_count, part.room, discrete);
  tk_copy(model->watch_count, kept_watched, watched);
  if (has_sides && !is_mixed) tk_clear_failure(instance);
  const int status = model->outputs(model, instance, t, x);
  if (status != TACTUS_OK || !is_mixed) return status;
  for (uint32_t k = 0; k < model->channel_count; k++) { /* modes are not mixed */
    const tactus_channel* channel = &model->channels[k];
    if ((channel->flags & TACTUS_CHANNEL_DISCRETE) != 0) continue;
    tk_copy(channel->rows * channel->columns, sum + channel->at, outputs + channel->at);
  }
  return TACTUS_OK;
}
