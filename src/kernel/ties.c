/* Surfaces that the motion rests on or slides along.
 *
 * Rest. A jump that accumulates (a ball that bounces lower and lower) fires in ever shorter intervals, and changes no more than the motion
 * does meanwhile. From then on its surface is kept to by a reaction in the direction in which the jump would act now, were the surface
 * approached slowly: tried anew at each evaluation. The guard is the least of its parts: the part c that the jump changes (how fast it
 * closes) stays 0 by x' = f + l d, d the jump's direction, c' = 0; parts that it leaves alone (how far it is) stay 0 with it. It
 * rests as long as l pushes, l >= 0: as long as the free flow would enable the jump.
 *
 * Sliding. A relation that changes to and fro without end, for each side drives the motion to the other (dry friction): Filippov,
 * Differential Equations with Discontinuous Righthand Sides, 1988. x' = f0 + l (f1 - f0), with f0 and f1 the flows where the relation
 * does not hold and where it does, and l in [0, 1] such that its guard stays 0. It leaves when l leaves [0, 1]. Where the guard
 * does not change with l, as where switchings accumulate in a point (Fuller), l makes the motion as slow as can be, and the state is
 * put where it stands still: c' = 0 along d, c = 0 along J d.
 *
 * Modes in turn. Transitions that only change modes may follow each other without end, too. Then the flow is a mixture of those of the
 * modes that they leave (Filippov again), such that their guards stay as still as can be. Where that is 0, it slides. Where it is not and
 * the intervals have become shorter and shorter before (two tanks of Zeno and one pipe), the run is at the point in which they accumulate, and
 * rests there by reactions along the normals of the guards' surfaces, as long as these push. Where neither is so, it is a cycle of transitions
 * at one instant, and no motion.
 *
 * All are ties: a function c of (t, x) that stays 0, and a direction d; several at once solve sum_j (grad c_i . d_j) l_j = - c_i' along f.
 * Derivatives of c are central differences over a power of two, exact where c is linear.
 *
 * In an Instance, at layout.ties: of the last TK_TIES_TOLD ties that began or ended TK_TOLD doubles each, for notes; for each event and each
 * relation TK_HAPPENING doubles: when it last happened, how often in a row as soon as it could, the last interval between two that was not 0,
 * how often in a row that had become shorter, then of an event the largest jump of its part, of a relation how often in a row it changed not much
 * later, when a slide along it last began, and how often in a row that was again; for each of tk_most_ties TK_TIE doubles (tk_tie_entry: its
 * number is an event, or behind them a relation; its place that of c in watched), n of d, n of J d, the direction in which c's other parts are put
 * back, n of the normal against which a surface is approached, and for each relation its side: 1 where its guard is c, -1 where it is -c, else 0
 * (sign(v) and abs(v) change together, and so they are slid along together); then, of transitions that lately followed each other, how many were
 * kept, for each of TK_MOST_TURNS its event and the discrete section before it, and room for another one; the room of tk_room; and tk_last_part. */
#include "kernel/hybrid.h"

/* Ties at once, and transitions among modes in turn. */
#define TK_MOST_TIES 32
#define TK_MOST_TURNS 4
/* So many in a row, each within so many times event_precision of the last, are without end. */
static const double tk_often = 4.0;
static const double tk_soon = 16.0;
/* Of comparisons so many more, each within as many more: where switchings accumulate in a point slowly, that they are located to
 * event_precision keeps them apart. */
static const double tk_many = 32.0;
static const double tk_lately = 128.0;
/* A slide that begins again so many times event_precision after it began goes on in vain. */
static const double tk_again = 1e4;
/* What is so near to 0 is there, where a motion comes to rest; further off it has left. */
static const double tk_near = 1e-6;
/* What the reactions of modes in turn may be off by. */
static const double tk_slack = 1e-7;

enum { TK_TOLD = 3, TK_HAPPENING = 7, TK_TIE = 6, TK_LAST_PART = 4 };
/* Of a tie. Those of modes in turn: with a reaction; without; and one whose surface is another's. */
enum { TK_OF_ONE = 0, TK_RESTING_MODE = 1, TK_SLIDING_MODE = 2, TK_OTHER_SIDE = 3 };
/* Intervals that became shorter so often in a row accumulate. */
static const double tk_shorter = 3.0;

typedef struct tk_tie_entry {
  double* number;
  double* place; /* of c in watched */
  double* kind;
  double* left;    /* its place among the modes that were left */
  double* near;    /* rest: which other parts of the guard are 0, by bits; the first part is bit 1 */
  double* residue; /* rest: 1 where the jump changes something however slow the approach, as a count of jumps */
  double* direction;
  double* lift;  /* J d */
  double* probe; /* rest: against it the motion approaches the surface */
  double* sides; /* by relation */
} tk_tie_entry;

static uint32_t tk_happening_count(const tactus_model* model) { return model->event_count + model->relation_count; }

static uint32_t tk_tie_size(const tactus_model* model) {
  return TK_TIE + 3 * model->state_count + model->relation_count;
}

uint32_t tk_most_ties(const tactus_model* model) {
  return model->relation_count < TK_MOST_TIES ? model->relation_count : TK_MOST_TIES;
}

uint32_t tk_ties_size(const tactus_model* model) {
  if (model->relation_count == 0) return 0;
  return TK_HAPPENING * tk_happening_count(model) + tk_most_ties(model) * tk_tie_size(model) + 1 +
         (TK_MOST_TURNS + 1) * (1 + model->discrete_count) + model->discrete_count + 4 * model->state_count +
         TK_TOLD * TK_TIES_TOLD + TK_LAST_PART + model->discrete_count + model->watch_count + 2 * model->output_count;
}

/* What has become of ties lately stands first, for it outlasts structures. */
static double* tk_told_at(const tactus_model* model, tactus_instance* instance, int64_t index) {
  return tactus_data(instance) + model->layout.ties + TK_TOLD * (index % TK_TIES_TOLD);
}

int64_t tk_ties_told(const tactus_instance* instance) {
  return (int64_t)instance->rests + instance->slides + instance->releases;
}

tk_tie_told tk_told_of_tie(const tactus_model* model, const tactus_instance* instance, int64_t index) {
  const double* at = tk_told_at(model, (tactus_instance*)instance, index);
  const tk_tie_told told = {at[0], (int32_t)at[1], (int32_t)at[2]};
  return told;
}

/* Before it is counted. */
static void tk_tell(const tactus_model* model, tactus_instance* instance, int32_t what, uint32_t number) {
  double* at = tk_told_at(model, instance, tk_ties_told(instance));
  at[0] = instance->time;
  at[1] = (double)what;
  at[2] = (double)number;
}

static double* tk_happenings(const tactus_model* model, tactus_instance* instance) {
  return tactus_data(instance) + model->layout.ties + TK_TOLD * TK_TIES_TOLD;
}

static tk_tie_entry tk_tie_of(const tactus_model* model, tactus_instance* instance, int32_t tie) {
  double* at =
      tk_happenings(model, instance) + TK_HAPPENING * tk_happening_count(model) + (uint64_t)tie * tk_tie_size(model);
  tk_tie_entry entry;
  entry.number = at;
  entry.place = at + 1;
  entry.kind = at + 2;
  entry.left = at + 3;
  entry.near = at + 4;
  entry.residue = at + 5;
  entry.direction = at + TK_TIE;
  entry.lift = entry.direction + model->state_count;
  entry.probe = entry.lift + model->state_count;
  entry.sides = entry.probe + model->state_count;
  return entry;
}

/* How many modes were kept that transitions left; each is its event and the discrete section before it. */
static double* tk_left_count(const tactus_model* model, tactus_instance* instance) {
  return tk_tie_of(model, instance, (int32_t)tk_most_ties(model)).number;
}

static double* tk_left_mode(const tactus_model* model, tactus_instance* instance, uint32_t index) {
  return tk_left_count(model, instance) + 1 + index * (1 + (uint64_t)model->discrete_count);
}

/* Room for the discrete section and two states while a jump is tried, and for two more: what lies in the stage vectors at the end of a part is
 * asked for until the next. */
static double* tk_room(const tactus_model* model, tactus_instance* instance) {
  return tk_left_mode(model, instance, TK_MOST_TURNS + 1);
}

/* A part that ended, until what has become of its ties is settled: for rows inside it. */
typedef struct tk_last_part {
  double* is_open;
  double* ties;  /* so many held the motion in it, the first ones; others have begun at its end */
  double* loose; /* 1 + the tie that it ended by, or 0 */
  double* share; /* of that one, there */
  double* room;  /* for outputs: a discrete section, what is watched, and two of outputs */
} tk_last_part;

static tk_last_part tk_last_part_of(const tactus_model* model, tactus_instance* instance) {
  double* at = tk_room(model, instance) + model->discrete_count + 4 * (uint64_t)model->state_count;
  const tk_last_part part = {at, at + 1, at + 2, at + 3, at + TK_LAST_PART};
  return part;
}

/* The first tie of modes in turn, or -1. */
static int32_t tk_first_mode_tie(const tactus_model* model, tactus_instance* instance) {
  for (int32_t i = 0; i < instance->tie_count; i++) {
    if (*tk_tie_of(model, instance, i).kind != (double)TK_OF_ONE) return i;
  }
  return -1;
}

static int tk_is_tied(const tactus_model* model, const tactus_instance* instance, uint32_t number) {
  for (int32_t i = 0; i < instance->tie_count; i++) {
    if (*tk_tie_of(model, (tactus_instance*)instance, i).number == (double)number) return 1;
  }
  return 0;
}

int tk_is_event_tied(const tactus_model* model, const tactus_instance* instance, uint32_t event) {
  return tk_is_tied(model, instance, event);
}

/* A relation that is slid along, or that watches the guard of a jump on which the motion rests. */
int tk_is_relation_tied(const tactus_model* model, const tactus_instance* instance, uint32_t relation) {
  for (int32_t i = 0; i < instance->tie_count; i++) {
    if (tk_tie_of(model, (tactus_instance*)instance, i).sides[relation] != 0.0) return 1;
  }
  const uint32_t event = model->relations[relation].source;
  return model->relations[relation].kind == TACTUS_TRUTH && event > 0 && tk_is_tied(model, instance, event - 1);
}

void tk_forget_ties(const tactus_model* model, tactus_instance* instance) {
  if (model->relation_count == 0) return;
  double* happened = tk_happenings(model, instance);
  for (uint32_t i = 0; i < tk_happening_count(model); i++) {
    happened[TK_HAPPENING * i] = -tk_infinite();
    happened[TK_HAPPENING * i + 1] = 0.0;
    happened[TK_HAPPENING * i + 2] = tk_infinite();
    happened[TK_HAPPENING * i + 3] = 0.0;
    happened[TK_HAPPENING * i + 4] = 0.0;
    happened[TK_HAPPENING * i + 5] = -tk_infinite();
    happened[TK_HAPPENING * i + 6] = 0.0;
  }
  instance->tie_count = 0;
  *tk_left_count(model, instance) = 0.0;
  *tk_last_part_of(model, instance).is_open = 0.0;
}

/* It happens now: how often in a row as soon as it could. */
static double tk_note(const tactus_model* model, tactus_instance* instance, uint32_t number) {
  double* happened = tk_happenings(model, instance) + TK_HAPPENING * number;
  const double interval = instance->time - happened[0];
  const int is_soon = interval <= tk_soon * tk_event_precision(model, instance->time);
  happened[1] = is_soon ? happened[1] + 1.0 : 0.0;
  if (interval > 0.0) {
    if (interval < 0.9 * happened[2]) {
      happened[3] += 1.0;
    } else if (!is_soon) { /* how long what is soon takes is a matter of location */
      happened[3] = 0.0;
    }
    happened[2] = interval;
  }
  happened[0] = instance->time;
  return happened[1];
}

void tk_note_crossing(const tactus_model* model, tactus_instance* instance, uint32_t relation) {
  const uint32_t number = model->event_count + relation;
  double* happened = tk_happenings(model, instance) + TK_HAPPENING * number;
  const int is_lately = instance->time - happened[0] <= tk_lately * tk_event_precision(model, instance->time);
  happened[4] = is_lately ? happened[4] + 1.0 : 0.0;
  (void)tk_note(model, instance, number);
}

int32_t tk_first_endless(const tactus_model* model, tactus_instance* instance) {
  const double* happened = tk_happenings(model, instance) + TK_HAPPENING * model->event_count;
  for (uint32_t k = 0; k < model->relation_count; k++) {
    const double often = tk_max(happened[TK_HAPPENING * k + 4], happened[TK_HAPPENING * k + 6]);
    if (often > 10.0 * (double)tk_most_transitions(model)) return (int32_t)k;
  }
  return -1;
}

/* --- Derivatives ---------------------------------------------------------------------------------------------------- */

/* A power of two by which x may move along `direction` without leaving its neighbourhood. */
static double tk_small_step(const tactus_model* model, const double* x, const double* direction) {
  double most = 0.0;
  for (uint32_t i = 0; i < model->state_count; i++) {
    most = tk_max(tk_abs(direction[i]) / (1.0 + tk_abs(x[i])), most);
  }
  double step = 0x1p-17; /* the cube root of rounding */
  while (step * most > 0x1p-16) step *= 0.5;
  return step;
}

/* While modes in turn are looked at, the present discrete section is put aside. */
static void tk_leave_present(const tactus_model* model, tactus_instance* instance) {
  tk_copy(model->discrete_count, tactus_data_const(instance) + model->layout.discrete,
          tk_left_mode(model, instance, TK_MOST_TURNS));
}
static void tk_return_to_present(const tactus_model* model, tactus_instance* instance) {
  tk_copy(model->discrete_count, tk_left_mode(model, instance, TK_MOST_TURNS),
          tactus_data(instance) + model->layout.discrete);
}

/* The discrete section as it is when the transition of a tie is about to leave its mode: what is the same in all modes that take turns is
 * as it is now. */
static void tk_enter_mode(const tactus_model* model, tactus_instance* instance, int32_t tie) {
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

/* c of each tie at (t, x), those of modes in turn in their modes. */
static int tk_watch_ties(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* c) {
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
static int tk_tie_slopes(const tactus_model* model, tactus_instance* instance, double t, const double* x, double speed,
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

/* What the relations of a tie hold where its c is positive, or where it is not. */
static void tk_take_side(const tactus_model* model, tactus_instance* instance, const tk_tie_entry* tie,
                         int is_positive) {
  double* discrete = tactus_data(instance) + model->layout.discrete;
  for (uint32_t k = 0; k < model->relation_count; k++) {
    if (tie->sides[k] != 0.0) discrete[model->relations[k].held] = (tie->sides[k] > 0.0) == is_positive ? 1.0 : 0.0;
  }
}

/* The flow with all that is slid along not holding; and the directions of the ties. */
static int tk_flows(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* flow) {
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

/* Which relations have the guard of relation `first`, or its opposite: at the present state and beside it, along `aside`. */
static int tk_find_sides(const tactus_model* model, tactus_instance* instance, uint32_t first, const double* aside,
                         double* sides) {
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  const double* x = tk_states(model, instance);
  double* moved = tk_stage_vector(model, instance, TK_ERRORS);
  const double step = tk_small_step(model, x, aside);
  for (int point = 0; point < 2; point++) {
    for (uint32_t i = 0; i < model->state_count; i++) moved[i] = x[i] + (point == 0 ? -step : step) * aside[i];
    const int status = tk_watch(model, instance, instance->time, moved);
    if (status != TACTUS_OK) return status;
    const double c = watched[model->relations[first].guard];
    for (uint32_t k = 0; k < model->relation_count; k++) {
      const tactus_relation* relation = &model->relations[k];
      const double guard = watched[relation->guard];
      const double side = relation->kind != TACTUS_TRUTH || relation->source > 0 || c == 0.0 ? 0.0
                          : guard == c                                                       ? 1.0
                          : guard == -c                                                      ? -1.0
                                                                                             : 0.0;
      sides[k] = point == 0 || sides[k] == side ? side : 0.0;
    }
  }
  sides[first] = 1.0;
  return TACTUS_OK;
}

/* The shares of the shortest point in the convex hull of `count` points of `size` doubles each: from equal ones, the best exchange between two
 * of them in turn. */
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

/* The flow of modes in turn: their mixture, and the share of each, in the order of their ties, if there is room for them. Flows are kept where lifts are, which such
 * ties do not need. */
static int tk_mixed_flow(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* flow,
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
static double tk_least_felt(const tactus_model* model, double t) {
  return tk_max(1e-9, 4.0 * tk_soon * tk_event_precision(model, t));
}

/* What the jump `event` makes of x at t, whoever listens hearing nothing of it: `after`, which may not be x. */
static int tk_try_jump(const tactus_model* model, tactus_instance* instance, uint32_t event, double t, const double* x,
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

/* The direction of the reaction at (t, x): what the jump changes when the motion approaches its surface slowly, less what it changes even
 * when the motion does not approach it. Behind a step of the length that differences have; a jump that returns a part of the speed is
 * linear in it. */
static int tk_react(const tactus_model* model, tactus_instance* instance, double t, const double* x,
                    const tk_tie_entry* tie) {
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

/* Whether a tie is that of one jump. */
static int tk_is_rest(const tactus_model* model, const tk_tie_entry* tie) {
  return *tie->number < (double)model->event_count && *tie->kind == (double)TK_OF_ONE;
}

/* How strongly each tie acts at (t, x), and the shares of modes in turn, if there is room for them; `flow` becomes the motion that keeps to them. */
static int tk_tied_flow(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* flow,
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

/* --- What is recorded ------------------------------------------------------------------------------------------------- */

/* What is recorded of the present side of all ties. */
static int tk_add_outputs(const tactus_model* model, tactus_instance* instance, double t, const double* x, double share,
                          const double* less, double* sum) {
  const double* outputs = tactus_data_const(instance) + model->layout.outputs;
  const int status = model->outputs(model, instance, t, x);
  for (uint32_t k = 0; k < model->output_count && status == TACTUS_OK; k++) {
    const double by = less ? outputs[k] - less[k] : outputs[k];
    if (by != 0.0 && share != 0.0) sum[k] += share * by;
  }
  return status;
}

/* The mixture of what is recorded on all sides, by the strengths and shares that mix the flow: into `sum`. */
static int tk_mix_outputs(const tactus_model* model, tactus_instance* instance, double t, const double* x,
                          double* sum, double* base) {
  double strength[TK_MOST_TIES];
  double share[TK_MOST_TURNS];
  double* flow = tk_room(model, instance) + model->discrete_count + 2 * (uint64_t)model->state_count;
  int status = tk_tied_flow(model, instance, t, x, flow, strength, share);
  const int has_modes = tk_first_mode_tie(model, instance) >= 0;
  int32_t mode = 0;
  tk_zero(model->output_count, sum);
  if (status == TACTUS_OK && !has_modes) status = tk_add_outputs(model, instance, t, x, 1.0, 0, sum);
  if (has_modes) tk_leave_present(model, instance);
  for (int32_t i = 0; i < instance->tie_count && has_modes && status == TACTUS_OK; i++) {
    if (*tk_tie_of(model, instance, i).kind == (double)TK_OF_ONE) continue;
    tk_enter_mode(model, instance, i);
    status = tk_add_outputs(model, instance, t, x, share[mode++], 0, sum);
  }
  if (has_modes) tk_return_to_present(model, instance);
  int has_base = 0;
  for (int32_t i = 0; i < instance->tie_count && status == TACTUS_OK; i++) {
    const tk_tie_entry tie = tk_tie_of(model, instance, i);
    if (*tie.number < (double)model->event_count) continue;
    if (!has_base) {
      tk_zero(model->output_count, base);
      status = tk_add_outputs(model, instance, t, x, 1.0, 0, base);
      has_base = 1;
    }
    if (status != TACTUS_OK) break;
    tk_take_side(model, instance, &tie, 1);
    status = tk_add_outputs(model, instance, t, x, tk_min(tk_max(strength[i], 0.0), 1.0), base, sum);
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
  int status = tk_mix_outputs(model, instance, t, x, sum, sum + model->output_count);
  instance->tie_count = ties;
  tk_copy(model->discrete_count, part.room, discrete);
  tk_copy(model->watch_count, kept_watched, watched);
  if (status == TACTUS_OK) status = model->outputs(model, instance, t, x);
  if (status != TACTUS_OK) return status;
  for (uint32_t k = 0; k < model->channel_count; k++) { /* modes are not mixed */
    const tactus_channel* channel = &model->channels[k];
    if ((channel->flags & TACTUS_CHANNEL_DISCRETE) != 0) continue;
    tk_copy(channel->rows * channel->columns, sum + channel->at, outputs + channel->at);
  }
  return TACTUS_OK;
}

/* --- Beginning ------------------------------------------------------------------------------------------------------ */

/* A transition that follows the last of its kind as soon as it could is about to leave its mode. */
static void tk_keep_mode(const tactus_model* model, tactus_instance* instance, uint32_t event) {
  if (tk_happenings(model, instance)[TK_HAPPENING * event + 1] < 1.0) return;
  if (instance->tie_count > 0 && tk_first_mode_tie(model, instance) >= 0) return;
  double* count = tk_left_count(model, instance);
  uint32_t index = 0;
  while (index < (uint32_t)*count && tk_left_mode(model, instance, index)[0] != (double)event) index++;
  if (index == TK_MOST_TURNS) { /* the oldest goes */
    for (index = 0; index + 1 < TK_MOST_TURNS; index++) {
      tk_copy(1 + model->discrete_count, tk_left_mode(model, instance, index + 1),
              tk_left_mode(model, instance, index));
    }
  }
  *count = tk_max(*count, (double)index + 1.0);
  double* kept = tk_left_mode(model, instance, index);
  kept[0] = (double)event;
  tk_copy(model->discrete_count, tactus_data_const(instance) + model->layout.discrete, kept + 1);
}

void tk_before_jump(const tactus_model* model, tactus_instance* instance, uint32_t event) {
  if (model->events[event].count < 2) return;
  tk_keep_mode(model, instance, event);
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  double* kept = tk_stage_vector(model, instance, TK_STAGES);
  tk_copy(model->state_count, tk_states(model, instance), tk_stage_vector(model, instance, TK_BEFORE));
  /* The parts of the guard before it; more than there is room for are not looked at. */
  for (uint32_t i = 1; i < model->events[event].count && i <= 16 * model->state_count; i++) {
    kept[i - 1] = watched[model->events[event].first + i];
  }
}

/* Newton along `direction`: the part of a guard at `place` in watched becomes 0. */
static int tk_put_on(const tactus_model* model, tactus_instance* instance, uint32_t place, const double* direction) {
  double* x = tk_states(model, instance);
  double* moved = tk_stage_vector(model, instance, TK_ERRORS);
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  for (int round = 0; round < 4; round++) {
    int status = tk_watch(model, instance, instance->time, x);
    if (status != TACTUS_OK) return status;
    const double off = watched[place];
    if (off == 0.0) break;
    const double step = tk_small_step(model, x, direction);
    for (uint32_t i = 0; i < model->state_count; i++) moved[i] = x[i] + step * direction[i];
    status = tk_watch(model, instance, instance->time, moved);
    if (status != TACTUS_OK) return status;
    double slope = watched[place];
    for (uint32_t i = 0; i < model->state_count; i++) moved[i] = x[i] - step * direction[i];
    status = tk_watch(model, instance, instance->time, moved);
    if (status != TACTUS_OK) return status;
    slope = (slope - watched[place]) / (2.0 * step);
    if (!(tk_abs(slope) > 1e-9)) break;
    for (uint32_t i = 0; i < model->state_count; i++) x[i] -= off / slope * direction[i];
  }
  return TACTUS_OK;
}

static int tk_lift(const tactus_model* model, tactus_instance* instance, const tk_tie_entry* tie);

/* Back onto the surface of a tie. */
static int tk_put_back_on_tie(const tactus_model* model, tactus_instance* instance, int32_t tie) {
  const tk_tie_entry entry = tk_tie_of(model, instance, tie);
  int status = TACTUS_OK;
  if (tk_is_rest(model, &entry)) {
    const tactus_event* event = &model->events[(uint32_t)*entry.number];
    const uint64_t near = (uint64_t)*entry.near;
    status = tk_react(model, instance, instance->time, tk_states(model, instance), &entry);
    if (status == TACTUS_OK) status = tk_lift(model, instance, &entry);
    for (uint32_t i = 1; i < event->count && i < 50 && status == TACTUS_OK; i++) {
      if ((near >> i & 1) != 0) status = tk_put_on(model, instance, event->first + i, entry.lift);
    }
    if (status == TACTUS_OK) status = tk_put_on(model, instance, (uint32_t)*entry.place, entry.direction);
    if (status == TACTUS_OK) tk_copy(model->state_count, entry.direction, entry.probe);
    return status;
  }
  const int is_mode = *entry.kind != (double)TK_OF_ONE;
  if (is_mode) {
    tk_leave_present(model, instance);
    tk_enter_mode(model, instance, tie);
  }
  status = tk_put_on(model, instance, (uint32_t)*entry.place, entry.direction);
  if (is_mode) tk_return_to_present(model, instance);
  return status;
}

/* J d by a difference of the flow. */
static int tk_lift(const tactus_model* model, tactus_instance* instance, const tk_tie_entry* tie) {
  const double* x = tk_states(model, instance);
  double* moved = tk_stage_vector(model, instance, TK_ERRORS);
  double* flow = tk_stage_vector(model, instance, TK_STAGE_ARGUMENT);
  const double step = tk_small_step(model, x, tie->direction);
  for (uint32_t i = 0; i < model->state_count; i++) moved[i] = x[i] + step * tie->direction[i];
  int status = model->derivative(model, instance, instance->time, moved, tie->lift);
  for (uint32_t i = 0; i < model->state_count; i++) moved[i] = x[i] - step * tie->direction[i];
  if (status == TACTUS_OK) status = model->derivative(model, instance, instance->time, moved, flow);
  for (uint32_t i = 0; i < model->state_count; i++) tie->lift[i] = (tie->lift[i] - flow[i]) / (2.0 * step);
  return status;
}

/* Whether tie i holds, of these strengths. */
static int tk_is_held(const tactus_model* model, tactus_instance* instance, int32_t i, const double* strength) {
  const tk_tie_entry tie = tk_tie_of(model, instance, i);
  if (*tie.kind == (double)TK_RESTING_MODE) return strength[i] >= -tk_slack;
  if (*tie.kind == (double)TK_SLIDING_MODE) return tk_abs(strength[i]) <= tk_slack;
  if (*tie.kind == (double)TK_OTHER_SIDE) return 1;
  const int is_slide = *tie.number >= (double)model->event_count;
  return strength[i] >= 0.0 && (!is_slide || strength[i] <= 1.0);
}

/* From the surface at `place` in watched back along its normal, so that c falls by 1. 0 when c does not depend on x. */
static int tk_normal(const tactus_model* model, tactus_instance* instance, uint32_t place, double* direction) {
  const uint32_t n = model->state_count;
  const double* x = tk_states(model, instance);
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  double* moved = tk_stage_vector(model, instance, TK_ERRORS);
  double square = 0.0;
  tk_copy(n, x, moved);
  for (uint32_t i = 0; i < n; i++) {
    double step = 0x1p-17;
    while (step < 0x1p-18 * tk_abs(x[i])) step *= 2.0;
    moved[i] = x[i] + step;
    if (tk_watch(model, instance, instance->time, moved) != TACTUS_OK) return 0;
    direction[i] = watched[place];
    moved[i] = x[i] - step;
    if (tk_watch(model, instance, instance->time, moved) != TACTUS_OK) return 0;
    direction[i] = (watched[place] - direction[i]) / (2.0 * step);
    moved[i] = x[i];
    square += direction[i] * direction[i];
  }
  if (!(square > 1e-18) || !tk_is_finite(square)) return 0;
  for (uint32_t i = 0; i < n; i++) direction[i] /= square;
  return 1;
}

/* Whether the normal of a tie is that of an earlier one of modes in turn, or its opposite. */
static int tk_is_other_side(const tactus_model* model, tactus_instance* instance, int32_t tie) {
  const double* own = tk_tie_of(model, instance, tie).direction;
  for (int32_t j = 0; j < tie; j++) {
    const tk_tie_entry other = tk_tie_of(model, instance, j);
    if (*other.kind == (double)TK_OF_ONE) continue;
    double product = 0.0;
    double square = 0.0;
    double other_square = 0.0;
    for (uint32_t k = 0; k < model->state_count; k++) {
      product += own[k] * other.direction[k];
      square += own[k] * own[k];
      other_square += other.direction[k] * other.direction[k];
    }
    if (product * product > (1.0 - 1e-9) * square * other_square) return 1;
  }
  return 0;
}

/* A tie for a transition of modes in turn, kept at `left`: on the first part of its guard that is 0 and depends on x. 0 when there is
 * none. */
static int tk_add_mode_tie(const tactus_model* model, tactus_instance* instance, uint32_t left) {
  const tk_tie_entry tie = tk_tie_of(model, instance, instance->tie_count);
  const double* kept = tk_left_mode(model, instance, left);
  const uint32_t event = (uint32_t)kept[0];
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  uint32_t place = 0;
  tk_leave_present(model, instance);
  tk_copy(model->discrete_count, kept + 1, tactus_data(instance) + model->layout.discrete);
  for (uint32_t i = 1; i < model->events[event].count && place == 0; i++) {
    const uint32_t part = model->events[event].first + i;
    if (tk_watch(model, instance, instance->time, tk_states(model, instance)) != TACTUS_OK) break;
    if (tk_abs(watched[part]) < 1e-6 && tk_normal(model, instance, part, tie.direction)) place = part;
  }
  tk_return_to_present(model, instance);
  if (place == 0) return 0;
  *tie.number = (double)event;
  *tie.place = (double)place;
  *tie.left = (double)left;
  *tie.kind = (double)TK_RESTING_MODE;
  tk_zero(model->relation_count, tie.sides);
  if (tk_is_other_side(model, instance, instance->tie_count)) {
    *tie.kind = (double)TK_OTHER_SIDE;
    tk_zero(model->state_count, tie.direction);
  }
  instance->tie_count++;
  return 1;
}

/* Transitions that only change modes follow each other as soon as they can: the motion becomes a mixture of those of their modes, if one
 * keeps to their surfaces. */
static int tk_begin_turns(const tactus_model* model, tactus_instance* instance, uint32_t number) {
  const int32_t before = instance->tie_count;
  const double* happened = tk_happenings(model, instance);
  const uint32_t kept = (uint32_t)*tk_left_count(model, instance);
  const double soon = tk_soon * tk_event_precision(model, instance->time);
  int accumulates = 1;
  if (before > 0 && tk_first_mode_tie(model, instance) >= 0) return TACTUS_OK;
  for (uint32_t k = 0; k < kept && instance->tie_count < (int32_t)tk_most_ties(model); k++) {
    const uint32_t event = (uint32_t)tk_left_mode(model, instance, k)[0];
    const double* mine = happened + TK_HAPPENING * event;
    if (mine[1] + 1.0 < tk_often || instance->time - mine[0] > soon || tk_is_tied(model, instance, event)) continue;
    if (tk_add_mode_tie(model, instance, k)) accumulates = accumulates && mine[3] >= tk_shorter;
  }
  double strength[TK_MOST_TIES];
  int is_held = instance->tie_count - before >= 2;
  for (int32_t i = before; i < instance->tie_count; i++) {
    double* kind = tk_tie_of(model, instance, i).kind;
    if (!accumulates && *kind == (double)TK_RESTING_MODE) *kind = (double)TK_SLIDING_MODE;
  }
  if (is_held) {
    double* flow = tk_stage_vector(model, instance, TK_STAGE_ARGUMENT);
    is_held = tk_tied_flow(model, instance, instance->time, tk_states(model, instance), flow, strength, 0) == TACTUS_OK;
  }
  for (int32_t i = before; is_held && i < instance->tie_count; i++) is_held = tk_is_held(model, instance, i, strength);
  if (!is_held) {
    instance->tie_count = before;
    tk_clear_failure(instance);
    return tk_settle(model, instance);
  }
  for (int32_t i = before; i < instance->tie_count; i++) {
    const int status = tk_put_back_on_tie(model, instance, i);
    if (status != TACTUS_OK) return status;
  }
  tk_tell(model, instance, accumulates ? TK_TOLD_REST : TK_TOLD_SLIDE, number);
  if (accumulates) {
    instance->rests++;
  } else {
    instance->slides++;
  }
  instance->last_tie = (int32_t)number;
  instance->short_parts = 0;
  instance->first_stage_valid = 0;
  instance->next_step = 0.0;
  return tk_settle(model, instance);
}

/* How fast what is watched at `place` changes along (1, flow) from the present state. */
static int tk_slope_of(const tactus_model* model, tactus_instance* instance, uint32_t place, const double* flow,
                       double* slope) {
  const double* x = tk_states(model, instance);
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  double* moved = tk_stage_vector(model, instance, TK_ERRORS);
  const double step = tk_small_step(model, x, flow);
  for (int side = 0; side < 2; side++) {
    const double by = side == 0 ? step : -step;
    for (uint32_t i = 0; i < model->state_count; i++) moved[i] = x[i] + by * flow[i];
    const int status = tk_watch(model, instance, instance->time + by, moved);
    if (status != TACTUS_OK) return status;
    *slope = side == 0 ? watched[place] : (*slope - watched[place]) / (2.0 * step);
  }
  return TACTUS_OK;
}

/* Whether a jump that changes the part at `place` of its guard by `size` is among those that accumulate: it is no more than what the motion
 * makes of that part while events cannot be told apart, and small beside the states or beside what it has been. One that repeats at one
 * instant, each time as much, is none of them. */
static int tk_is_accumulating(const tactus_model* model, tactus_instance* instance, uint32_t place, double size,
                              double largest) {
  const double* x = tk_states(model, instance);
  const double* before = tk_stage_vector(model, instance, TK_BEFORE);
  double* flow = tk_stage_vector(model, instance, TK_STAGE_ARGUMENT);
  double strength[TK_MOST_TIES];
  double slope = 0.0;
  double most = 0.0;
  int is_little = 1;
  for (uint32_t i = 0; i < model->state_count; i++) {
    is_little = is_little && tk_abs(x[i] - before[i]) <= 1e-3 * (1.0 + tk_abs(x[i]));
    most = tk_max(tk_abs(x[i]), most);
  }
  if (!is_little && !(size <= 1e-3 * largest)) return 0;
  if (size <= 1e-12 * (1.0 + most)) return 1;
  const int status = instance->tie_count > 0 ? tk_tied_flow(model, instance, instance->time, x, flow, strength, 0)
                                             : model->derivative(model, instance, instance->time, x, flow);
  if (status != TACTUS_OK || tk_slope_of(model, instance, place, flow, &slope) != TACTUS_OK) {
    tk_clear_failure(instance);
    return 0;
  }
  return size <= 4.0 * tk_abs(slope) * tk_soon * tk_event_precision(model, instance->time);
}

/* What infinitely many jumps of a tie leave of the states that each of them changes however slow the approach: where these go to a limit, as
 * a spin of which each takes a part, they are there; a count stays as it is. 0 when the motion would change such a state while it rests:
 * the jumps hold it, and how is not known. */
static int tk_put_at_limits(const tactus_model* model, tactus_instance* instance, const tk_tie_entry* tie) {
  const uint32_t n = model->state_count;
  const uint32_t event = (uint32_t)*tie->number;
  double* x = tk_states(model, instance);
  double* now = tk_stage_vector(model, instance, TK_STAGE_ARGUMENT);
  double* next = tk_stage_vector(model, instance, TK_ERRORS);
  if (tk_try_jump(model, instance, event, instance->time, x, now) != TACTUS_OK) return 0;
  *tie->residue = 0.0;
  for (uint32_t i = 0; i < n; i++) {
    if (tk_abs(now[i] - x[i]) > 1e-9 * (1.0 + tk_abs(x[i]))) *tie->residue = 1.0;
  }
  if (*tie->residue == 0.0) return 1;
  double* changed = tk_stage_vector(model, instance, TK_AFTER); /* 1: it changes */
  for (uint32_t i = 0; i < n; i++) changed[i] = tk_abs(now[i] - x[i]) > 1e-9 * (1.0 + tk_abs(x[i])) ? 1.0 : 0.0;
  for (int round = 0; round < 1000; round++) {
    if (tk_try_jump(model, instance, event, instance->time, now, next) != TACTUS_OK) return 0;
    int is_there = 1;
    for (uint32_t i = 0; i < n; i++) is_there = is_there && next[i] == now[i];
    if (is_there) break;
    if (round < 999) tk_copy(n, next, now);
  }
  double* flow = tk_stage_vector(model, instance, TK_STAGES);
  if (model->derivative(model, instance, instance->time, x, flow) != TACTUS_OK) return 0;
  for (uint32_t i = 0; i < n; i++) {
    if (changed[i] == 0.0 || tk_abs(next[i] - now[i]) > 1e-9 * (1.0 + tk_abs(now[i]))) continue;
    if (flow[i] != 0.0) return 0;
    x[i] = next[i];
  }
  return 1;
}

int tk_after_jump(const tactus_model* model, tactus_instance* instance, uint32_t number) {
  const tactus_event* event = &model->events[number];
  const uint32_t n = model->state_count;
  if (event->count < 2 || n == 0) return TACTUS_OK;
  double* happened = tk_happenings(model, instance) + TK_HAPPENING * number;
  const int is_at_once = happened[0] == instance->time;
  const int is_often = tk_note(model, instance, number) >= tk_often;
  const double* x = tk_states(model, instance);
  const double* before = tk_stage_vector(model, instance, TK_BEFORE);
  const double* parts = tk_stage_vector(model, instance, TK_STAGES);
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  /* The part that the jump turns round. */
  uint32_t closing = 0;
  double most = 0.0;
  for (uint32_t i = 1; i < event->count && i <= 16 * n; i++) {
    const double after = watched[event->first + i];
    if (parts[i - 1] > 0.0 && after <= 0.0 && parts[i - 1] - after > most) {
      most = parts[i - 1] - after;
      closing = i;
    }
  }
  const double largest = happened[4] = tk_max(happened[4], most);
  if (!(happened[1] > 0.0)) return TACTUS_OK;
  int is_changed = 0;
  for (uint32_t i = 0; i < n; i++) is_changed = is_changed || x[i] != before[i];
  if (!is_changed || (closing == 0 && !is_at_once)) {
    return is_often ? tk_begin_turns(model, instance, number) : TACTUS_OK;
  }
  if (closing == 0 || !tk_is_accumulating(model, instance, event->first + closing, most, largest)) {
    happened[1] = 0.0;
    return tk_watch(model, instance, instance->time, x);
  }
  int status = tk_watch(model, instance, instance->time, x);
  if (status != TACTUS_OK || !is_often || instance->tie_count >= (int32_t)tk_most_ties(model)) return status;
  const tk_tie_entry tie = tk_tie_of(model, instance, instance->tie_count);
  *tie.number = (double)number;
  *tie.place = (double)(event->first + closing);
  *tie.kind = (double)TK_OF_ONE;
  tk_zero(model->relation_count, tie.sides);
  uint64_t near = 0;
  for (uint32_t i = 1; i < event->count && i < 50; i++) {
    if (i != closing && tk_abs(watched[event->first + i]) < tk_near) near |= (uint64_t)1 << i;
  }
  *tie.near = (double)near;
  if (!tk_normal(model, instance, (uint32_t)*tie.place, tie.probe)) return tk_settle(model, instance);
  tk_copy(n, x, tk_stage_vector(model, instance, TK_BEFORE)); /* if nothing holds it there */
  instance->tie_count++;
  status = tk_put_on(model, instance, (uint32_t)*tie.place, tie.probe);
  if (status == TACTUS_OK && !tk_put_at_limits(model, instance, &tie)) status = TACTUS_SINGULAR;
  if (status == TACTUS_OK) status = tk_put_back_on_tie(model, instance, instance->tie_count - 1);
  double strength[TK_MOST_TIES];
  if (status == TACTUS_OK) {
    status =
        tk_tied_flow(model, instance, instance->time, x, tk_stage_vector(model, instance, TK_STAGE_ARGUMENT), strength, 0);
  }
  if (status != TACTUS_OK || !(strength[instance->tie_count - 1] >= 0.0)) {
    instance->tie_count--; /* nothing holds it there */
    tk_copy(n, before, tk_states(model, instance));
    if (status != TACTUS_OK && status != TACTUS_SINGULAR) return tk_fail(instance, status, -1);
    tk_clear_failure(instance);
    return tk_settle(model, instance);
  }
  tk_tell(model, instance, TK_TOLD_REST, number);
  instance->rests++;
  instance->last_tie = (int32_t)number;
  instance->short_parts = 0;
  instance->first_stage_valid = 0;
  instance->next_step = 0.0;
  return tk_settle(model, instance);
}

static int tk_is_zero(uint32_t count, const double* values) {
  for (uint32_t i = 0; i < count; i++) {
    if (values[i] != 0.0) return 0;
  }
  return 1;
}

/* How fast c of a tie changes at x with these strengths; scratch: a stage vector. */
static int tk_slope_at(const tactus_model* model, tactus_instance* instance, const double* x, const double* strength,
                       int32_t tie, double* result) {
  double slope[TK_MOST_TIES];
  double* flow = tk_stage_vector(model, instance, TK_STAGE_ARGUMENT);
  int status = tk_flows(model, instance, instance->time, x, flow);
  for (int32_t i = 0; i < instance->tie_count; i++) {
    const double* direction = tk_tie_of(model, instance, i).direction;
    for (uint32_t k = 0; k < model->state_count; k++) flow[k] += strength[i] * direction[k];
  }
  if (status == TACTUS_OK) status = tk_tie_slopes(model, instance, instance->time, x, 1.0, flow, slope);
  *result = slope[tie];
  return status;
}

/* Where c does not feel its tie: to where it stands still, c' = 0 along d, c = 0 along J d. 0 when that is not here. */
static int tk_put_still(const tactus_model* model, tactus_instance* instance, int32_t index, const double* strength) {
  const uint32_t n = model->state_count;
  const tk_tie_entry tie = tk_tie_of(model, instance, index);
  double* x = tk_states(model, instance);
  double* moved = tie.lift;
  double slope[TK_MOST_TIES];
  if (tk_tie_slopes(model, instance, instance->time, x, 0.0, tie.direction, slope) != TACTUS_OK) return 0;
  if (tk_abs(slope[index]) > tk_least_felt(model, instance->time)) return 1;
  for (int round = 0; round < 3; round++) {
    double here = 0.0;
    double ahead = 0.0;
    double behind = 0.0;
    const double step = tk_small_step(model, x, tie.direction);
    if (tk_slope_at(model, instance, x, strength, index, &here) != TACTUS_OK) return 0;
    if (here == 0.0) break;
    for (uint32_t i = 0; i < n; i++) moved[i] = x[i] + step * tie.direction[i];
    if (tk_slope_at(model, instance, moved, strength, index, &ahead) != TACTUS_OK) return 0;
    for (uint32_t i = 0; i < n; i++) moved[i] = x[i] - step * tie.direction[i];
    if (tk_slope_at(model, instance, moved, strength, index, &behind) != TACTUS_OK) return 0;
    const double change = (ahead - behind) / (2.0 * step);
    /* Further than a small step: it moves on. */
    if (!(tk_abs(here) < step * tk_abs(change))) return 0;
    for (uint32_t i = 0; i < n; i++) x[i] -= here / change * tie.direction[i];
  }
  return tk_lift(model, instance, &tie) == TACTUS_OK &&
         tk_put_on(model, instance, (uint32_t)*tie.place, tie.lift) == TACTUS_OK;
}

static int tk_is_whole(double x) { return x == tk_floor(x); }

int tk_begin_slide(const tactus_model* model, tactus_instance* instance) {
  double* happened = tk_happenings(model, instance);
  if (model->state_count == 0) return 0;
  for (uint32_t k = 0; k < model->relation_count; k++) {
    const uint32_t number = model->event_count + k;
    if (model->relations[k].kind != TACTUS_TRUTH || model->relations[k].source > 0) continue;
    const double* mine = happened + TK_HAPPENING * number;
    const int is_often = mine[1] >= tk_often || (mine[4] >= tk_many && tk_is_whole(mine[4] / tk_many));
    if (!is_often || tk_is_relation_tied(model, instance, k)) continue;
    if (instance->tie_count >= (int32_t)tk_most_ties(model)) return 0;
    const tk_tie_entry tie = tk_tie_of(model, instance, instance->tie_count);
    const double was = tactus_data(instance)[model->layout.discrete + model->relations[k].held];
    /* Beside the surface along the flow, which crosses it. */
    if (model->derivative(model, instance, instance->time, tk_states(model, instance), tie.lift) != TACTUS_OK ||
        tk_find_sides(model, instance, k, tie.lift, tie.sides) != TACTUS_OK) {
      tk_clear_failure(instance);
      continue;
    }
    *tie.number = (double)number;
    *tie.place = (double)model->relations[k].guard;
    *tie.kind = (double)TK_OF_ONE;
    happened[TK_HAPPENING * number + 1] = 0.0;
    tk_zero(model->state_count, tie.lift);
    instance->tie_count++;
    double strength[TK_MOST_TIES];
    double* flow = tk_stage_vector(model, instance, TK_STAGE_ARGUMENT);
    int status = tk_tied_flow(model, instance, instance->time, tk_states(model, instance), flow, strength, 0);
    double share = status == TACTUS_OK ? strength[instance->tie_count - 1] : -1.0;
    if (tk_is_zero(model->state_count, tie.direction)) share = -1.0; /* the flow is the same on both sides */
    if (share >= 0.0 && share <= 1.0 && !tk_put_still(model, instance, instance->tie_count - 1, strength)) share = -1.0;
    if (!(share >= 0.0 && share <= 1.0)) {
      instance->tie_count--;
      tk_take_side(model, instance, &tie, was > 0.5);
      tk_clear_failure(instance);
      continue;
    }
    status = tk_put_back_on_tie(model, instance, instance->tie_count - 1);
    tk_tell(model, instance, TK_TOLD_SLIDE, number);
    double* begun = happened + TK_HAPPENING * number + 5;
    const int is_again = instance->time - begun[0] <= tk_again * tk_event_precision(model, instance->time);
    begun[0] = instance->time;
    begun[1] = is_again ? begun[1] + 1.0 : 0.0;
    instance->slides++;
    instance->last_tie = (int32_t)number;
    instance->short_parts = 0;
    instance->first_stage_valid = 0;
    instance->next_step = 0.0;
    return status == TACTUS_OK;
  }
  return 0;
}

/* --- On the way ----------------------------------------------------------------------------------------------------- */

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

/* Modes in turn all at once, a little along their mixture, or they would go on taking turns where they are; which of them it leaves with is
 * for their guards to say. */
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

/* The first tie that the present state is not on, by more than `most`, or -1: its surface was moved away, as by a kink of its motion. */
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
