#include "words/failure.h"

#include "kernel/hybrid.h"
#include "kernel/sections.h"

enum { TK_VALUES_SHOWN = 8, TK_TEXT_SHOWN = 400, TK_OTHERS_SHOWN = 4, TK_OTHER_SHOWN = 80 };

const char* tk_status_name(int status) {
  switch (status) {
    case TACTUS_OK:
      return "ok";
    case TACTUS_NOT_FINITE:
      return "not_finite";
    case TACTUS_DIVERGED:
      return "diverged";
    case TACTUS_SINGULAR:
      return "singular";
    case TACTUS_STEP_TOO_SMALL:
      return "step_too_small";
    case TACTUS_ENDLESS_EVENTS:
      return "endless_events";
    case TACTUS_OFF_CONSTRAINTS:
      return "off_constraints";
    case TACTUS_NO_START:
      return "no_start";
    case TACTUS_NO_SOLVER:
      return "no_solver";
    case TACTUS_BREACHED:
      return "breached";
    case TACTUS_STOPPED:
      return "stopped";
    case TACTUS_CONFLICT:
      return "conflict";
    case TACTUS_OFF_ENTRY:
      return "off_entry";
    case TACTUS_NO_PLAN:
      return "no_plan";
    case TACTUS_NOT_LOCATED:
      return "not_located";
    default:
      return "unknown";
  }
}

/* ---- parts of sentences ---- */

/* words, a number, words. */
static void tk_put_around(tk_text* text, const char* before, int64_t number, const char* behind) {
  tk_put(text, before);
  tk_put_integer(text, number);
  tk_put(text, behind);
}

/* " (line 3)"; nothing for 0. */
static void tk_put_line(tk_text* text, uint32_t line) {
  if (line > 0) tk_put_around(text, " (line ", line, ")");
}

static void tk_put_quoted(tk_text* text, const char* words) {
  tk_put(text, "`");
  tk_put(text, words);
  tk_put(text, "`");
}

/* "at t = 1", "by t = 1": rounded to so many digits, 0 for all. */
static void tk_put_time(tk_text* text, const char* before, double time, int32_t digits) {
  tk_put(text, before);
  tk_put(text, "t = ");
  if (digits > 0) {
    tk_put_rounded(text, time, digits);
  } else {
    tk_put_number(text, time);
  }
}

/* ", x = 1" of a list whose entry number `index` of `count` this is; false when it is the first that is not shown. */
static int tk_put_entry(tk_text* text, uint32_t index, uint32_t count, const char* name, uint64_t length,
                        double value) {
  if (index == TK_VALUES_SHOWN) {
    tk_put_around(text, ", .. (", count, " in all)");
    return 0;
  }
  if (index > 0) tk_put(text, ", ");
  tk_put_some(text, name, length);
  tk_put(text, " = ");
  tk_put_number(text, value);
  return 1;
}

static uint64_t tk_text_length(const char* words) {
  uint64_t length = 0;
  while (words[length]) length++;
  return length;
}

static void tk_put_states(tk_text* text, const tactus_model* model, const tactus_instance* instance) {
  const double* x = tactus_data_const(instance) + model->layout.states;
  for (uint32_t i = 0; i < model->state_count; i++) {
    const char* name = model->state_names[i];
    if (!tk_put_entry(text, i, model->state_count, name, tk_text_length(name), x[i])) return;
  }
}

/* The length of the first of "a; b; c"; *rest is what stands behind it, or null. */
static uint64_t tk_first_of_list(const char* list, const char** rest) {
  for (uint64_t i = 0; list[i]; i++) {
    if (list[i] != ';' || list[i + 1] != ' ') continue;
    *rest = list + i + 2;
    return i;
  }
  *rest = 0;
  return tk_text_length(list);
}

/* "a; b; c" as "a, b, c", shortened. */
static void tk_put_list(tk_text* text, const char* list) {
  const char* rest = list;
  while (rest) {
    const char* name = rest;
    const uint64_t length = tk_first_of_list(name, &rest);
    const uint64_t before = (uint64_t)(name - list);
    if (before + length > TK_TEXT_SHOWN) {
      tk_put_shortened(text, name, before < TK_TEXT_SHOWN ? TK_TEXT_SHOWN - before : 0);
      return;
    }
    tk_put_some(text, name, length);
    if (rest) tk_put(text, ", ");
  }
}

/* The part of a name before its index. */
static uint64_t tk_base_length(const char* name, uint64_t length) {
  uint64_t base = 0;
  while (base < length && name[base] != '[') base++;
  return base;
}

static int tk_begins_with(const char* words, const char* with) {
  while (*with && *with == *words) {
    with++;
    words++;
  }
  return *with == 0;
}

static int tk_same_words(const char* a, const char* b) { return tk_begins_with(a, b) && tk_begins_with(b, a); }

/* ---- trying the last instant again ---- */

static void tk_copy_bytes(void* to, const void* from, uint64_t count) {
  unsigned char* const into = (unsigned char*)to;
  const unsigned char* const out_of = (const unsigned char*)from;
  for (uint64_t i = 0; i < count; i++) {
    into[i] = out_of[i];
    TK_HIDE(i);
  }
}

/* The parts of the room, one behind the other. */
typedef struct tk_rooms {
  tk_heard* heard;
  tactus_model* whole;
  tk_listening* parts; /* one a structure, at least one */
  const tactus_model** tables;
  tactus_instance* instance;
  double* states;
} tk_rooms;

static tk_rooms tk_divide(void* room, const tactus_model* model) {
  const uint64_t parts = (uint64_t)model->structure_count + 1;
  unsigned char* at = (unsigned char*)room;
  tk_rooms rooms;
  rooms.heard = (tk_heard*)(void*)at;
  at += (sizeof(tk_heard) + 7) / 8 * 8;
  rooms.whole = (tactus_model*)(void*)at;
  at += sizeof(tactus_model);
  rooms.parts = (tk_listening*)(void*)at;
  at += parts * sizeof(tk_listening);
  rooms.tables = (const tactus_model**)(void*)at;
  at += (parts * sizeof(void*) + 7) / 8 * 8;
  rooms.instance = (tactus_instance*)(void*)at;
  at += sizeof(tactus_instance) + 8 * (uint64_t)model->layout.size;
  rooms.states = (double*)(void*)at;
  return rooms;
}

static int tk_hear(const tactus_model* model, tactus_instance* instance, uint32_t event) {
  const tk_listening* part = (const tk_listening*)(const void*)model;
  tk_heard* heard = part->heard;
  const uint32_t kind = model->events[event].kind;
  const int is_heard = kind != TACTUS_AFTER && kind != TACTUS_CHECK && kind != TACTUS_CHOOSE;
  if (is_heard && instance->is_planning == 0 && heard->count < TK_MOST_HEARD) heard->events[heard->count++] = event;
  return part->inner->fire(part->inner, instance, event);
}

/* Goes on for a while at this instant with a copy of the Instance, and notes which events fire. */
static const tk_heard* tk_listen(const tactus_model* whole, const tactus_instance* instance, void* room) {
  const uint32_t most = 64;
  const tk_rooms rooms = tk_divide(room, whole);
  const uint32_t count = whole->structure_count > 0 ? whole->structure_count : 1;
  tk_copy_bytes(rooms.instance, instance, tactus_instance_bytes(whole));
  tk_copy_bytes(rooms.whole, whole, sizeof *whole);
  rooms.heard->count = 0;
  for (uint32_t k = 0; k < count; k++) {
    const tactus_model* inner = whole->structure_count > 0 ? whole->structures[k] : whole;
    tk_listening* part = &rooms.parts[k];
    tk_copy_bytes(&part->table, inner, sizeof *inner);
    part->inner = inner;
    part->heard = rooms.heard;
    part->table.max_transitions = most;
    if (inner->fire) part->table.fire = tk_hear;
    rooms.tables[k] = &part->table;
  }
  rooms.whole->structures = rooms.tables;
  rooms.instance->is_crossed = 1;
  rooms.instance->plans_wait = 1;
  (void)tk_fire(whole->structure_count > 0 ? rooms.whole : rooms.tables[0], rooms.instance);
  return rooms.heard;
}

/* The events that follow one another for ever at this instant: *first is the place of that which stands first in the
 * text among the last so many that were heard. 0 where they do not repeat. */
static uint32_t tk_endless_chain(const tk_heard* heard, uint32_t* first) {
  const uint32_t count = heard->count;
  for (uint32_t period = 1; 3 * period <= count; period++) {
    int repeats = 1;
    for (uint32_t i = count - 2 * period; i < count && repeats; i++)
      repeats = heard->events[i] == heard->events[i - period];
    if (!repeats) continue;
    *first = count - period;
    for (uint32_t i = *first; i < count; i++) {
      if (heard->events[i] < heard->events[*first]) *first = i;
    }
    return period;
  }
  return 0;
}

static int tk_is_same(const double* a, const double* b, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (a[i] != b[i]) return 0;
  }
  return 1;
}

/* Whether the jump leaves all as it is. */
static int tk_changes_nothing(const tactus_model* whole, const tactus_instance* instance, uint32_t event, void* room) {
  tactus_instance* again = tk_divide(room, whole).instance;
  tk_copy_bytes(again, instance, tactus_instance_bytes(whole));
  const tactus_model* model = tk_active(whole, again);
  again->is_planning = 1; /* it is tried out: nobody is told */
  if (!model->fire || model->fire(model, again, event) != TACTUS_OK) return 0;
  const double* before = tactus_data_const(instance);
  const double* after = tactus_data_const(again);
  return tk_is_same(before + model->layout.states, after + model->layout.states, model->state_count) &&
         tk_is_same(before + model->layout.discrete, after + model->layout.discrete, model->discrete_count);
}

static int tk_note_derivative(const tactus_model* model, tactus_instance* instance, double t, const double* x,
                              double* dx) {
  tk_listening* noting = (tk_listening*)(uintptr_t)(const void*)model;
  noting->time = t;
  noting->is_asked = 1;
  tk_copy_bytes(noting->states, x, 8 * (uint64_t)noting->inner->state_count);
  return noting->inner->derivative(noting->inner, instance, t, x, dx);
}

int tk_find_failed_evaluation(const tactus_model* model, const tactus_instance* instance, int solver, double h,
                              void* room, double* time, const double** states) {
  if (instance->failed_block < 0 || tactus_is_adaptive(solver)) return 0;
  const tk_rooms rooms = tk_divide(room, model);
  tactus_instance* again = rooms.instance;
  tk_copy_bytes(again, instance, tactus_instance_bytes(model));
  const tactus_model* inner = tk_active(model, again);
  tk_listening* noting = rooms.parts;
  tk_copy_bytes(&noting->table, inner, sizeof *inner);
  noting->inner = inner;
  noting->states = rooms.states;
  noting->is_asked = 0;
  noting->table.derivative = tk_note_derivative;
  const int status = tk_fixed_steps(&noting->table, again, solver, h, 1);
  if (status != instance->status || again->failed_block != instance->failed_block || !noting->is_asked) return 0;
  *time = noting->time;
  *states = noting->states;
  return 1;
}

/* ---- what failed ---- */

/* A sentence under construction. */
typedef struct tk_story {
  const tactus_model* whole;
  const tactus_model* model; /* the structure that holds */
  const tactus_instance* instance;
  int status;
  int is_starting;
  void* room;
  tk_text* text;
  tk_text* hint;
  uint32_t line;
} tk_story;

static const tactus_event* tk_event_at(const tactus_model* model, int32_t index) {
  return index >= 0 && (uint32_t)index < model->event_count ? &model->events[index] : 0;
}

/* "`Jump` (line 3)" */
static void tk_put_event(tk_text* text, const tactus_event* event) {
  tk_put_quoted(text, event->name);
  tk_put_line(text, event->line);
}

static void tk_tell_of_block(tk_story* s, const tactus_block* block) {
  const tactus_model* model = s->model;
  const char* rest;
  s->line = block->line;
  if (s->status == TACTUS_SINGULAR) {
    tk_put(s->text, ", the equations");
    tk_put_line(s->text, block->line);
    tk_put(s->text, " do not determine ");
  } else {
    tk_put(s->text, ", no solution was found for ");
  }
  tk_put_list(s->text, block->unknowns);
  if (s->status == TACTUS_SINGULAR) {
    tk_put(s->text, ": their matrix is singular\n  ");
    tk_put_shortened(s->text, block->equations, TK_TEXT_SHOWN);
    tk_put(s->hint, "two of them may have become the same there, or a factor zero");
  } else {
    tk_put(s->text, " in the equations");
    tk_put_line(s->text, block->line);
    tk_put(s->text, "\n  ");
    tk_put_shortened(s->text, block->equations, TK_TEXT_SHOWN);
    const char* first = block->unknowns[0] ? block->unknowns : "x";
    if (tk_begins_with(first, "next(")) {
      tk_put(s->hint,
             "there may be no solution there; the search begins with the values before the jump: equations that are "
             "linear in what is asked for need none");
    } else {
      const uint64_t base = tk_base_length(first, tk_first_of_list(first, &rest));
      tk_put(s->hint, "there may be no solution there; or give a better first guess: `boundary ");
      tk_put_some(s->hint, first, base);
      tk_put(s->hint, " with ");
      tk_put_some(s->hint, first, base);
      tk_put(s->hint, "(0) ~ 1;`");
    }
  }
  if (block->warm == UINT32_MAX || !block->unknowns[0]) return;
  const double* values = tactus_data_const(s->instance) + model->layout.warm + block->warm;
  uint32_t named = 0;
  for (rest = block->unknowns; rest && named < block->count; named++) (void)tk_first_of_list(rest, &rest);
  tk_put(s->text, "\n  the search stopped with ");
  rest = block->unknowns;
  for (uint32_t i = 0; i < named; i++) {
    const char* name = rest;
    const uint64_t length = tk_first_of_list(name, &rest);
    if (!tk_put_entry(s->text, i, named, name, length, values[i])) return;
  }
}

static void tk_tell_of_comparison(tk_story* s, const tactus_relation* relation) {
  s->line = relation->line;
  tk_put(s->text, ", a comparison");
  tk_put_line(s->text, s->line);
  tk_put(s->text, " changes to and fro without end and time stands still: each side drives the motion to the other");
  tk_put(s->hint,
         "let it change in two thresholds instead of one, or steeply instead of at once: `clamp(v / 0.001, -1, 1)` for "
         "`sign(v)`; `smooth(..)` around it switches at the ends of steps only");
}

static void tk_tell_of_endless(tk_story* s) {
  const tactus_model* model = s->model;
  const int32_t failed = s->instance->failed_index;
  const tactus_event* event = tk_event_at(model, failed);
  const tactus_relation* relation = 0;
  if (failed >= 0 && !event && (uint32_t)failed - model->event_count < model->relation_count)
    relation = &model->relations[(uint32_t)failed - model->event_count];
  if (relation && relation->kind == TACTUS_TRUTH && relation->source > 0) { /* the guard of an event */
    event = tk_event_at(model, (int32_t)(relation->source - 1));
    relation = 0;
  }
  const uint32_t ties = (uint32_t)s->instance->tie_count;
  const int are_ties_full = ties >= tk_most_ties(model) && ties < model->relation_count;
  if (are_ties_full) tk_put_around(s->hint, "it can rest on, or slide along, at most ", ties, " surfaces at once; ");
  if (relation) {
    tk_tell_of_comparison(s, relation);
  } else {
    s->line = event ? event->line : 0;
    tk_put(s->text, ", events follow one another without end and time stands still: ");
    uint32_t first = 0;
    const tk_heard* heard = s->room ? tk_listen(s->whole, s->instance, s->room) : 0;
    const uint32_t period = heard ? tk_endless_chain(heard, &first) : 0;
    for (uint32_t k = 0; k < period; k++) {
      const uint32_t from = heard->count - period;
      tk_put_event(s->text, &model->events[heard->events[from + (first - from + k) % period]]);
      tk_put(s->text, " -> ");
    }
    if (period > 0) {
      s->line = model->events[heard->events[first]].line;
      tk_put_quoted(s->text, model->events[heard->events[first]].name);
    } else {
      if (event) {
        tk_put_event(s->text, event);
      } else {
        tk_put(s->text, "one");
      }
      tk_put(s->text, " is one of them");
    }
    const int is_jump = event && event->kind == TACTUS_TRANSITION;
    if (is_jump && s->room && tk_changes_nothing(s->whole, s->instance, (uint32_t)(event - model->events), s->room)) {
      tk_put(s->text, "; ");
      tk_put_quoted(s->text, event->name);
      tk_put(s->text, " leaves everything as it is");
      tk_put(
          s->hint,
          "its equations hold already for the values before it, from which the search begins, as a balance of energy "
          "does: use one that only the values after it meet, such as `next(v) - next(w) = -(v - w)` for the speeds of "
          "an elastic impact");
    } else {
      tk_put(
          s->hint,
          "let what an event changes keep its condition false for a while, such as by two thresholds instead of one; "
          "a longer chain that does end needs `simulation max_transitions = ..`");
    }
  }
  if (are_ties_full) tk_put_around(s->text, "; the motion already keeps to ", ties, " surfaces");
}

/* The constraint, or behind them the condition, that failed. */
typedef struct tk_failed_row {
  const char* text;
  uint32_t line;
  int32_t constraint; /* or -1 */
} tk_failed_row;

static tk_failed_row tk_failed_place(const tactus_model* model, int32_t row) {
  tk_failed_row place = {"", 0, -1};
  if (row < 0) return place;
  const uint32_t index = (uint32_t)row;
  if (index < model->constraint_count) {
    place.text = model->constraints[index].text;
    place.line = model->constraints[index].line;
    place.constraint = row;
  } else if (index - model->constraint_count < model->condition_count) {
    place.text = model->conditions[index - model->constraint_count].text;
    place.line = model->conditions[index - model->constraint_count].line;
  }
  return place;
}

/* The states of a constraint that the person gave a start, or the others: how many, and into `text` their names if
 * there is one. */
static uint32_t tk_put_states_of(tk_text* text, const tactus_model* model, int32_t constraint, int are_given) {
  uint32_t count = 0;
  if (constraint < 0) return 0;
  const tactus_pattern* rows = &model->constraint_jacobian;
  for (uint32_t k = rows->start[constraint]; k < rows->start[constraint + 1]; k++) {
    const uint32_t state = rows->index[k];
    const int is_given = model->state_flags && model->state_flags[state] == TACTUS_STATE_GIVEN;
    if (is_given != are_given) continue;
    if (text && count > 0) tk_put(text, ", ");
    if (text) tk_put_quoted(text, model->state_names[state]);
    count++;
  }
  return count;
}

static int tk_share_states(const tactus_pattern* rows, uint32_t a, uint32_t b) {
  for (uint32_t i = rows->start[a]; i < rows->start[a + 1]; i++) {
    for (uint32_t j = rows->start[b]; j < rows->start[b + 1]; j++) {
      if (rows->index[i] == rows->index[j]) return 1;
    }
  }
  return 0;
}

/* As a person wrote them, those that share a state with a constraint. */
static void tk_put_other_constraints(tk_text* text, const tactus_model* model, int32_t constraint) {
  uint32_t count = 0;
  if (constraint < 0) return;
  const tactus_constraint* own = &model->constraints[constraint];
  for (uint32_t i = 0; i < model->constraint_count && count < TK_OTHERS_SHOWN; i++) {
    const tactus_constraint* other = &model->constraints[i];
    if (other->order > 0 || other->line == 0) continue;
    if (other->line == own->line && tk_same_words(other->text, own->text)) continue;
    if (!tk_share_states(&model->constraint_jacobian, (uint32_t)constraint, i)) continue;
    tk_put(text, count == 0 ? "; or it contradicts " : ", ");
    tk_put(text, "`");
    tk_put_shortened(text, other->text, TK_OTHER_SHOWN);
    tk_put_around(text, "` (line ", other->line, ")");
    count++;
  }
  if (count > 0) tk_put(text, ", which it shares states with");
}

static void tk_put_place(tk_text* text, const tk_failed_row* place) {
  tk_put(text, "`");
  tk_put_shortened(text, place->text, TK_TEXT_SHOWN);
  tk_put(text, "`");
  tk_put_line(text, place->line);
}

static void tk_tell_of_constraint(tk_story* s) {
  const tactus_model* model = s->model;
  const tk_failed_row place = tk_failed_place(model, s->instance->failed_index);
  s->line = place.line;
  if (s->status == TACTUS_OFF_CONSTRAINTS) {
    tk_put(s->text, ", a step left the constraint ");
    tk_put_place(s->text, &place);
    tk_put(s->text, " so far behind that it cannot be put back");
    tk_put(s->hint,
           "if it jumps there, the states would have to jump with it: let it change in a short time instead, such as "
           "`clamp((t - 1) / 0.01, 0, 1)`; if not, the step is too long: try a smaller --step or --tolerance");
  } else {
    const uint32_t given = tk_put_states_of(0, model, place.constraint, 1);
    const uint32_t free = tk_put_states_of(0, model, place.constraint, 0);
    if (free == 0 && given > 0) {
      tk_put(s->text, ", the starts contradict ");
      tk_put(s->hint, "drop the start of one of ");
      (void)tk_put_states_of(s->hint, model, place.constraint, 1);
      tk_put(s->hint, ", and it will be found; or write `~` for `=` to make it a guess");
    } else {
      tk_put(s->text, ", no start was found that satisfies ");
      if (free == 0) {
        tk_put(s->hint,
               "there may be none; or give better guesses of the starts that are free: `boundary x with x(0) ~ 1;`");
      } else {
        tk_put(s->hint, "the starts that are given may contradict each other; or give a better guess of ");
        (void)tk_put_states_of(s->hint, model, place.constraint, 0);
        tk_put(s->hint, ": `.. ~ 1`");
      }
    }
    tk_put_place(s->text, &place);
    tk_put_other_constraints(s->hint, model, place.constraint);
  }
  if (!s->is_starting) return;
  tk_put(s->text, "\n  the states: ");
  tk_put_states(s->text, model, s->instance);
}

/* What a plan chooses, by the name it has inside the plan. Null in a table that was filled by hand. */
static const char* tk_chosen_name(const tactus_model* whole, const tactus_plan* plan, uint32_t index) {
  const uint32_t state = whole->plan_places[plan->first_chosen + index];
  if (!whole->state_names || state >= whole->state_count) return 0;
  const char* name = whole->state_names[state];
  const uint64_t prefix = tk_text_length(plan->name);
  return tk_begins_with(name, plan->name) && name[prefix] == '.' ? name + prefix + 1 : name;
}

/* " for `v`, `T`": each vector once. */
static void tk_put_chosen(tk_text* text, const tactus_model* whole, const tactus_plan* plan) {
  const char* last = 0;
  uint64_t last_length = 0;
  for (uint32_t k = 0; k < plan->chosen_count; k++) {
    if (!tk_chosen_name(whole, plan, k)) return;
  }
  for (uint32_t k = 0; k < plan->chosen_count; k++) {
    const char* name = tk_chosen_name(whole, plan, k);
    const uint64_t length = tk_base_length(name, tk_text_length(name));
    int is_same = last && length == last_length;
    for (uint64_t i = 0; is_same && i < length; i++) is_same = name[i] == last[i];
    if (!is_same) {
      tk_put(text, last ? ", `" : " for `");
      tk_put_some(text, name, length);
      tk_put(text, "`");
    }
    last = name;
    last_length = length;
  }
}

/* How near a search that found nothing came. In real time the search was made in a copy, and nothing is known here. */
static void tk_put_nearest(tk_story* s, const tactus_plan* plan) {
  if (s->instance->plans_wait) return;
  const double* values = tk_nearest_plan(s->whole, s->instance);
  const double* left = values + tk_most_chosen(s->whole);
  for (uint32_t i = 0; i < plan->chosen_count; i++) {
    if (tk_is_finite(left[i])) continue;
    tk_put(s->text,
           "\n  with the values it begins with, the motion does not get as far as all targets, or one of them is not a "
           "finite number there");
    return;
  }
  tk_put(s->text, "\n  nearest: ");
  for (uint32_t i = 0; i < plan->chosen_count; i++) {
    const char* name = tk_chosen_name(s->whole, plan, i);
    if (!name || !tk_put_entry(s->text, i, plan->chosen_count, name, tk_text_length(name), values[i])) break;
  }
  tk_put(s->text, "; the targets, in their order, are then off by ");
  for (uint32_t i = 0; i < plan->chosen_count; i++) {
    if (i > 0) tk_put(s->text, ", ");
    tk_put_rounded(s->text, left[i], 3);
  }
}

static void tk_tell_of_plan(tk_story* s, const tactus_event* event, const tactus_plan* plan) {
  s->line = event->line;
  tk_put(s->text, ", the plan ");
  tk_put_event(s->text, event);
  tk_put(s->text, " found no values");
  tk_put_chosen(s->text, s->whole, plan);
  tk_put(s->text, " with which its targets are reached");
  tk_put_nearest(s, plan);
  tk_put(s->hint,
         "begin the search nearer to a solution: the values behind `choose` are where it begins; or say what happens "
         "then: `else { .. }`, and the run goes on");
}

static void tk_tell_of_entry(tk_story* s) {
  const tk_failed_row place = tk_failed_place(s->model, s->instance->failed_index);
  const tactus_event* event = tk_event_at(s->model, s->instance->failed_block);
  s->line = place.line;
  tk_put(s->text, ", ");
  tk_put_quoted(s->text, event ? event->name : "a jump");
  tk_put(s->text, " leads to where ");
  tk_put_place(s->text, &place);
  tk_put(s->text, " does not hold, and that must hold in the mode it enters");
  tk_put(s->hint,
         "`enforce velocities;` in the jump lets impulses of the constraint's force make it hold; `enforce positions;` "
         "moves the states there; or say what they are, `next(..) = ..;`");
}

static void tk_tell_of_state(tk_story* s, const char* state) {
  if (s->status == TACTUS_STEP_TOO_SMALL) {
    tk_put(s->text, ", the step shrank to nothing");
    if (state) {
      tk_put(s->text, " because of ");
      tk_put(s->text, state);
    }
    tk_put(s->text, ": no step is short enough for the tolerance");
    tk_put(s->hint,
           "the solution may grow without bound there, or jump; a larger --tolerance or a fixed --step may pass it");
    return;
  }
  tk_put(s->text, ", ");
  tk_put(s->text, state ? state : "a value");
  tk_put(s->text, s->is_starting ? " is not a finite number" : " ceased to be a finite number");
  tk_put(s->hint,
         s->is_starting
             ? "look at its boundary condition: a division by zero, or a root or logarithm of a negative number?"
             : "the step may be too long for this model: try a smaller --step, or --solver tsit5");
}

static void tk_tell_failure(tk_story* s) {
  const tactus_model* model = s->model;
  const tactus_instance* instance = s->instance;
  const int has_block = instance->failed_block >= 0 && (uint32_t)instance->failed_block < model->block_count;
  const int has_state = instance->failed_index >= 0 && (uint32_t)instance->failed_index < model->state_count;
  const char* state = has_state ? model->state_names[instance->failed_index] : 0;
  const tactus_event* event = tk_event_at(model, instance->failed_index);
  const tactus_event* second = tk_event_at(model, instance->failed_block);
  const int32_t plan = event ? tk_plan_of(s->whole, (uint32_t)instance->failed_index) : -1;
  const int status = s->status;
  const int is_unsolved = status == TACTUS_DIVERGED || status == TACTUS_SINGULAR;
  if (has_block && (is_unsolved || status == TACTUS_NOT_FINITE)) {
    tk_tell_of_block(s, &model->blocks[instance->failed_block]);
  } else if (status == TACTUS_STEP_TOO_SMALL || status == TACTUS_NOT_FINITE) {
    tk_tell_of_state(s, state);
  } else if (status == TACTUS_ENDLESS_EVENTS) {
    tk_tell_of_endless(s);
  } else if (status == TACTUS_OFF_CONSTRAINTS || status == TACTUS_NO_START) {
    tk_tell_of_constraint(s);
  } else if (status == TACTUS_BREACHED && event) {
    s->line = event->line;
    tk_put_around(s->text, ", what line ", event->line, " requires does not hold: ");
    tk_put(s->text, event->name);
    tk_put(s->hint, "the rows up to here are kept; `expect` instead of `require` warns and goes on");
  } else if (status == TACTUS_CONFLICT && event && second) {
    s->line = event->line;
    tk_put(s->text, ", the transitions ");
    tk_put_event(s->text, event);
    tk_put(s->text, " and ");
    tk_put_event(s->text, second);
    tk_put(s->text, " are both enabled and disagree");
    tk_put(s->hint, "let their guards exclude each other: `tactus check` shows where both hold");
  } else if (status == TACTUS_NO_PLAN && plan >= 0) {
    tk_tell_of_plan(s, event, &s->whole->plans[plan]);
  } else if (status == TACTUS_OFF_ENTRY) {
    tk_tell_of_entry(s);
  } else if (status == TACTUS_NOT_LOCATED) {
    const int64_t index = (int64_t)instance->failed_index - (int64_t)model->event_count;
    s->line = index >= 0 && index < (int64_t)model->relation_count ? model->relations[index].line : 0;
    tk_put(s->text, ", where a comparison");
    tk_put_line(s->text, s->line);
    tk_put_around(s->text, " changes was not found in ", model->location_steps, " trials");
    tk_put(s->hint, "it may jump there; allow more trials, or ask for less precision");
  } else if (status == TACTUS_NO_SOLVER) {
    tk_put(s->text, ", the solver asks for the model's Jacobian or its energy, and this table has neither or no room");
    tk_put(s->hint, "take an explicit solver: --solver tsit5");
  } else if (is_unsolved) {
    tk_put(s->text, ", the equations of an implicit step were not solved");
    tk_put(
        s->hint,
        "a kink or a stiff contact inside the step, as a rule: try a smaller --step, or --solver discrete_gradient or "
        "passive");
  } else {
    tk_put(s->text, ", the run failed (");
    tk_put(s->text, tk_status_name(status));
    tk_put(s->text, ")");
  }
}

/* "\n  in `ball.Rolling`, `clock.Stopped`"; nothing without modes. */
static void tk_put_modes(tk_text* text, const tactus_model* whole, const tactus_instance* instance) {
  const double* discrete = tactus_data_const(instance) + whole->layout.discrete;
  for (uint32_t i = 0; i < whole->automaton_count; i++) {
    const tactus_automaton* automaton = &whole->automata[i];
    const double mode = discrete[automaton->slot];
    tk_put(text, i == 0 ? "\n  in `" : ", `");
    tk_put(text, automaton->name);
    tk_put(text, ".");
    tk_put(text, mode >= 0.0 && mode < automaton->mode_count ? automaton->modes[(uint32_t)mode] : "?");
    tk_put(text, "`");
  }
}

uint32_t tk_describe_failure(const tactus_model* model, const tactus_instance* instance, int status, int is_starting,
                             void* room, tk_text* text, tk_text* hint) {
  tk_story story;
  story.whole = model;
  story.model = tk_active(model, instance);
  story.instance = instance;
  story.status = status;
  story.is_starting = is_starting;
  story.room = room;
  story.text = text;
  story.hint = hint;
  story.line = 0;
  tk_put_time(text, is_starting ? "at the start, " : "at ", instance->time, 0);
  tk_tell_failure(&story);
  tk_put_modes(text, model, instance);
  if (!is_starting && story.model->state_count > 0) {
    tk_put(text, "\n  the state then: ");
    tk_put_states(text, story.model, instance);
  }
  return story.line;
}

void tk_describe_short_delay(const tactus_model* model, double duration, double step, tk_text* text, tk_text* hint) {
  tk_put(text, "in model ");
  tk_put_quoted(text, model->name);
  if (duration > 0.0 && tk_is_finite(duration)) {
    tk_put(text, ", a delay of ");
    tk_put_number(text, duration);
    tk_put(text, " is shorter than the step of ");
    tk_put_number(text, step);
    tk_put(text, ": its past is not known yet");
    tk_put(hint, "take --step ");
    tk_put_number(hint, duration);
    tk_put(hint, " or shorter, or an adaptive solver: --solver tsit5");
  } else {
    tk_put(text, ", a delay lasts ");
    tk_put_number(text, duration);
    tk_put(text, ": it must be positive");
    tk_put(hint, "look at the second argument of `delay`, and the parameters in it");
  }
}

/* ---- notes ---- */

void tk_note_stop(const tactus_model* model, const tactus_instance* instance, tk_text* text) {
  const tactus_event* event = tk_event_at(tk_active(model, instance), instance->failed_index);
  tk_put_time(text, "stopped at ", instance->time, 9);
  tk_put(text, ": ");
  tk_put(text, event ? event->name : "a `stop when` holds");
}

void tk_note_expectations(const tactus_instance* instance, tk_text* text) {
  tk_put_around(text, "what an `expect` says did not hold at ", instance->expectations, " instants");
}

void tk_note_failed_plan(const tactus_instance* instance, tk_text* text) {
  tk_put_time(text, "by ", instance->time, 9);
  tk_put(text, " a plan found no values that reach its targets");
}

void tk_note_tie(const tactus_model* model, const tk_tie_told* told, tk_text* text) {
  const tactus_event* event = tk_event_at(model, told->number);
  tk_put_time(text, "by ", told->time, 9);
  if (told->what == TK_TOLD_REST && event) {
    tk_put(text, " the jumps of ");
    tk_put_quoted(text, event->name);
    tk_put(text, " follow each other without end: the motion rests on its surface");
  } else if (told->what == TK_TOLD_SLIDE && event) {
    tk_put(text, " the mode changes to and fro by ");
    tk_put_quoted(text, event->name);
    tk_put(text, " and others: the motion is between them, along their surface");
  } else if (told->what == TK_TOLD_SLIDE) {
    const uint32_t relation = (uint32_t)told->number - model->event_count;
    tk_put(text, " the comparison");
    if (relation < model->relation_count) tk_put_around(text, " in line ", model->relations[relation].line, "");
    tk_put(text, " changes to and fro: the motion slides along it");
  } else {
    tk_put(text, " the motion leaves the surface it kept to");
  }
}

void tk_note_check(const tactus_model* model, uint32_t event, double time, tk_text* text) {
  tk_put_time(text, "by ", time, 9);
  tk_put_around(text, " (line ", model->events[event].line, "): ");
  tk_put(text, model->events[event].name);
}

void tk_note_stiffness(const tactus_instance* instance, int solver, tk_text* text) {
  tk_put_time(text, "the system is stiff: at ", instance->time, 6);
  tk_put(text, " stability and not the tolerance sets the steps of ");
  tk_put_quoted(text, tactus_solver_name(solver));
  tk_put(text, ", ");
  tk_put_rounded(text, instance->dense_step, 3);
  tk_put(text, " long");
}
