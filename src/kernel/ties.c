/* Storage of the ties of ties.h in an Instance, and the history of events and crossings from which ties begin.
 *
 * At layout.ties, in this order:
 *
 * - TK_TIES_TOLD records of TK_TOLD doubles: the last ties that began or ended, for the notes of a run.
 * - For each event and each relation TK_HAPPENING doubles: 0 the last time; 1 how often in a row it happened within
 *   tk_soon; 2 the last interval that was not 0; 3 how often in a row the interval became shorter; 4 event: the largest
 *   jump of its guard term, relation: how often in a row it changed within tk_lately; 5 relation: when a slide along it
 *   last began; 6 how often in a row that was soon again.
 * - For each of tk_most_ties a tk_tie_entry: TK_TIE doubles (`number` is an event or, counted behind the events, a
 *   relation; `place` is that of c in watched), n doubles of d, n of J d (the direction in which other terms of c are
 *   put back), n of the normal against which the surface is approached, and for each relation its side: 1 where its
 *   guard is c, -1 where it is -c, else 0. sign(v) and abs(v) change together, and so the motion slides along both.
 * - The modes that recent transitions left: their number, for each of TK_MOST_TURNS its event and the discrete section
 *   before it, and room for one more.
 * - The scratch of tk_room, and tk_last_part. */
#include "kernel/ties.h"

/* A relation that changes again within this many event precisions, though later than `tk_soon`, changes lately. */
static const double tk_lately = 128.0;

static uint32_t tk_happening_count(const tactus_model* model) { return model->event_count + model->relation_count; }

uint32_t tk_tie_size(const tactus_model* model) { return TK_TIE + 3 * model->state_count + model->relation_count; }

uint32_t tk_most_ties(const tactus_model* model) {
  return model->relation_count < TK_MOST_TIES ? model->relation_count : TK_MOST_TIES;
}

uint32_t tk_ties_size(const tactus_model* model) {
  if (model->relation_count == 0) return 0;
  return TK_HAPPENING * tk_happening_count(model) + tk_most_ties(model) * tk_tie_size(model) + 1 +
         (TK_MOST_TURNS + 1) * (1 + model->discrete_count) + model->discrete_count + 4 * model->state_count +
         TK_TOLD * TK_TIES_TOLD + TK_LAST_PART + model->discrete_count + model->watch_count + 2 * model->output_count;
}

/* The records of ties come first, since they outlast a change of structure. */
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

/* Called before instance->rests, slides or releases is incremented. */
void tk_tell(const tactus_model* model, tactus_instance* instance, int32_t what, uint32_t number) {
  double* at = tk_told_at(model, instance, tk_ties_told(instance));
  at[0] = instance->time;
  at[1] = (double)what;
  at[2] = (double)number;
}

double* tk_happenings(const tactus_model* model, tactus_instance* instance) {
  return tactus_data(instance) + model->layout.ties + TK_TOLD * TK_TIES_TOLD;
}

tk_tie_entry tk_tie_of(const tactus_model* model, tactus_instance* instance, int32_t tie) {
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

double* tk_left_count(const tactus_model* model, tactus_instance* instance) {
  return tk_tie_of(model, instance, (int32_t)tk_most_ties(model)).number;
}

double* tk_left_mode(const tactus_model* model, tactus_instance* instance, uint32_t index) {
  return tk_left_count(model, instance) + 1 + index * (1 + (uint64_t)model->discrete_count);
}

double* tk_room(const tactus_model* model, tactus_instance* instance) {
  return tk_left_mode(model, instance, TK_MOST_TURNS + 1);
}

tk_last_part tk_last_part_of(const tactus_model* model, tactus_instance* instance) {
  double* at = tk_room(model, instance) + model->discrete_count + 4 * (uint64_t)model->state_count;
  const tk_last_part part = {at, at + 1, at + 2, at + 3, at + TK_LAST_PART};
  return part;
}

int32_t tk_first_mode_tie(const tactus_model* model, tactus_instance* instance) {
  for (int32_t i = 0; i < instance->tie_count; i++) {
    if (*tk_tie_of(model, instance, i).kind != (double)TK_OF_ONE) return i;
  }
  return -1;
}

int tk_is_tied(const tactus_model* model, const tactus_instance* instance, uint32_t number) {
  for (int32_t i = 0; i < instance->tie_count; i++) {
    if (*tk_tie_of(model, (tactus_instance*)instance, i).number == (double)number) return 1;
  }
  return 0;
}

int tk_is_event_tied(const tactus_model* model, const tactus_instance* instance, uint32_t event) {
  return tk_is_tied(model, instance, event);
}

/* Whether the motion slides along a relation, or rests on the jump whose guard the relation watches. */
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

double tk_note(const tactus_model* model, tactus_instance* instance, uint32_t number) {
  double* happened = tk_happenings(model, instance) + TK_HAPPENING * number;
  const double interval = instance->time - happened[0];
  const int is_soon = interval <= tk_soon * tk_event_precision(model, instance->time);
  happened[1] = is_soon ? happened[1] + 1.0 : 0.0;
  if (interval > 0.0) {
    if (interval < 0.9 * happened[2]) {
      happened[3] += 1.0;
    } else if (!is_soon) { /* an interval below tk_soon is an artefact of location */
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
