/* What events.c, parts.c, locate.c and delays.c share. Times are compared with a little slack, since grids, ticks and
 * delayed instants are different sums: two instants closer than rounding makes them are one. */
#ifndef TACTUS_KERNEL_HYBRID_H
#define TACTUS_KERNEL_HYBRID_H

#include "kernel/kernel.h"
#include "kernel/sections.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Instants closer to the grid than this part of a step are on it. */
#define TK_GRID_SLACK 1e-9

TK_ALWAYS_INLINE double tk_infinite(void) { return tk_from_bits(0x7ff0000000000000u); }

/* How far apart two sums may be that mean the instant t. */
TK_ALWAYS_INLINE double tk_time_slack(const tactus_model* model, double t) {
  return 0x1p-49 * (tk_abs(t) + tk_abs(model->starting_time));
}

/* The structure of the present modes: modes.c. 0 when there is none, since nothing was said to lead there. */
int tk_choose_structure(const tactus_model* model, tactus_instance* instance);

/* Events: events.c. */
/* Scheduled events up to `slack` after the present time become due. */
void tk_mark_scheduled(const tactus_model* model, tactus_instance* instance, double slack);
/* The next tick of any scheduled event that is not due now. */
double tk_next_tick(const tactus_model* model, const tactus_instance* instance);
/* `watch` at (t, x), if there is anything to watch. */
int tk_watch(const tactus_model* model, tactus_instance* instance, double t, const double* x);
/* Whether a condition that did not hold does in what was watched last. */
int tk_has_risen(const tactus_model* model, const tactus_instance* instance);
/* Whether a relation is not what is held, by what was watched last. */
int tk_is_crossed(const tactus_model* model, const tactus_instance* instance, uint32_t relation);
int32_t tk_first_crossed(const tactus_model* model, const tactus_instance* instance);
/* max_transitions, or what it is when none is given. */
uint32_t tk_most_transitions(const tactus_model* model);
/* The first event that is due, or -1. */
int32_t tk_first_due(const tactus_model* model, const tactus_instance* instance);
/* From what was watched last: conditions that rose become due, those that fell may rise again. */
void tk_mark_conditions(const tactus_model* model, tactus_instance* instance);

/* The place of a change inside a part: locate.c. */
/* Copies the guards of what was watched last into copy `which`. */
void tk_keep_guards(const tactus_model* model, tactus_instance* instance, uint32_t which);
/* The first change, of a relation or by a condition that rises, in the part from `from` to *end; then *end is the right
 * end of its bracket, where it has happened, and *is_found 1. Copy 0 has the guards at `from`; without a change those
 * at the end. */
int tk_locate(const tactus_model* model, tactus_instance* instance, int solver, double from, double* end,
              int* is_found);
/* How long a bracket may be at most around t. */
double tk_event_precision(const tactus_model* model, double t);
/* The same where a guard moves with `slope` and may be only guard_precision from zero. */
double tk_guard_precision(const tactus_model* model, double t, double slope);

/* The plan that an event begins, or -1. */
int32_t tk_plan_of(const tactus_model* model, uint32_t event);
/* Finds its values, by trying out the motion; the Instance is then as it was but for them. TACTUS_NO_PLAN when there
 * are none. */
int tk_find_plan(const tactus_model* whole, tactus_instance* instance, uint32_t plan);
/* From another thread: what the Instance is in ends soon. A search has found nothing, steps end with
 * TACTUS_ENDLESS_EVENTS and no index. */
void tk_cancel(const tactus_model* whole, tactus_instance* instance);
static inline int tk_is_cancelled(const tactus_instance* instance) {
  return *(const volatile int32_t*)&instance->plans_wait < 0;
}
/* Behind a search that found nothing: the values that came nearest, then, from tk_most_chosen on, what their targets
 * leave over; not finite when no motion reached its end. */
const double* tk_nearest_plan(const tactus_model* whole, const tactus_instance* instance);
/* Unknowns of a plan of this model, at most. */
uint32_t tk_most_chosen(const tactus_model* model);
/* What a motion that leaves `left` over of the targets of a plan moves by when the chosen values u do: `matrix`, as
 * many rows as columns. The Instance is then as it was. TACTUS_SINGULAR where the tangents do not tell (slopes.c). */
int tk_plan_slopes(const tactus_model* whole, tactus_instance* instance, uint32_t plan, const double* u, double* left,
                   double* matrix);
/* The host's answer to a plan that was asked for: it begins now, with these values, whatever its guard says; or it has
 * failed. */
int tk_begin_plan(const tactus_model* whole, tactus_instance* instance, uint32_t plan, const double* u);
int tk_refuse_plan(const tactus_model* whole, tactus_instance* instance, uint32_t plan);
/* A plan's values at the present time, into u; the Instance is then as it was. TACTUS_NO_PLAN when there are none. */
int tk_search_for_plan(const tactus_model* whole, tactus_instance* instance, uint32_t plan, double* u);

/* How a motion moves with what was chosen at its beginning: slopes.c. Scratch behind that of the plans. */
uint32_t tk_slopes_size(const tactus_model* model, uint32_t columns);
/* The states at `places` are what moves, one a column. */
void tk_begin_slopes(const tactus_model* model, tactus_instance* instance, uint32_t columns, const uint32_t* places);
/* Behind a part by tsit5 from `from`, before anything fires. */
void tk_follow_part(const tactus_model* model, tactus_instance* instance, double from);
/* Around all that happens at one instant: how fast the instant itself moves, by the guard of `event` or, when that is
 * -1, by what has changed; and the flow behind it. */
void tk_open_instant(const tactus_model* model, tactus_instance* instance, int32_t event);
void tk_close_instant(const tactus_model* model, tactus_instance* instance);
/* Before an event fires; after a jump was put onto the constraints of its mode. */
void tk_follow_firing(const tactus_model* model, tactus_instance* instance, uint32_t event);
void tk_follow_entry(const tactus_model* model, tactus_instance* instance, uint32_t event);
/* Inside an instant: how `count` values watched from `first` on move, a row each, into matrix. */
void tk_slopes_of_watched(const tactus_model* model, tactus_instance* instance, uint32_t first, uint32_t count,
                          double* matrix);
/* 0 when something happened on the way of which there is no tangent. */
int tk_are_slopes_known(const tactus_model* model, tactus_instance* instance);
/* The slope of a state that is put onto the constraints, of which `rates` says how they move along it: project.c. */
int tk_project_slope(const tactus_model* model, tactus_instance* instance, double t, const double* x,
                     const double* rates, double* slope);
/* One transition with all that follows at its instant, whatever its guard says. events.c */
int tk_take(const tactus_model* whole, tactus_instance* instance, uint32_t event);
/* What tk_fire does, due or not. */
int tk_fire_all(const tactus_model* whole, tactus_instance* instance);

/* Rest and sliding: ties.h. */
int tk_is_event_tied(const tactus_model* model, const tactus_instance* instance, uint32_t event);
int tk_is_relation_tied(const tactus_model* model, const tactus_instance* instance, uint32_t relation);
/* Nothing rests nor slides, and what happened before is forgotten. */
void tk_forget_ties(const tactus_model* model, tactus_instance* instance);
/* A relation changed now. */
void tk_note_crossing(const tactus_model* model, tactus_instance* instance, uint32_t relation);
/* Around a jump, by what was watched before and after it: one that accumulates ends in rest. */
void tk_before_jump(const tactus_model* model, tactus_instance* instance, uint32_t event);
int tk_after_jump(const tactus_model* model, tactus_instance* instance, uint32_t event);
/* A relation that changes to and fro as soon as a part begins is slid along from here on. Whether one is. */
int tk_begin_slide(const tactus_model* model, tactus_instance* instance);
/* A relation that has changed to and fro for very long as soon as it could, or -1. */
int32_t tk_first_endless(const tactus_model* model, tactus_instance* instance);
/* The table whose motion keeps to the surfaces, into `tied`. */
void tk_tie(const tactus_model* model, tactus_model* tied);
int tk_is_tie(const tactus_model* model);
/* Around a part: from here to there the ties of its beginning are those of which rows inside it speak; those that have
 * become loose at its end are released when it is settled, before anything happens. */
void tk_open_part(const tactus_model* model, tactus_instance* instance);
void tk_settle_ties(const tactus_model* model, tactus_instance* instance);
/* Behind a part of such a motion from `from`, with so many steps of the grid before it, to the present time: back onto
 * the surfaces, and up to where it leaves one. */
int tk_end_tied_part(const tactus_model* tied, tactus_instance* instance, int solver, double from, int64_t steps);
/* Where something was changed, or has happened: leaves the surfaces that no longer hold the motion. */
void tk_release_loose(const tactus_model* model, tactus_instance* instance);

/* Delays: delays.c. */
/* Every history begins here, with what its source is at the present time. */
int tk_begin_histories(const tactus_model* model, tactus_instance* instance);
/* What was watched last joins the histories at time t. After a jump at t: beside the value before it. */
void tk_remember(const tactus_model* model, tactus_instance* instance, double t);
void tk_remember_jump(const tactus_model* model, tactus_instance* instance, double t, int only_changes);
/* The least positive duration; infinity without. */
double tk_shortest_delay(const tactus_model* model, const tactus_instance* instance);
/* How far apart samples need to be at most, for all delays. */
double tk_history_spacing(const tactus_model* model, const tactus_instance* instance);
/* The first time in (now, t_end) at which some delay gives a jump of its past; else t_end. */
double tk_next_jump(const tactus_model* model, const tactus_instance* instance, double t_end);
/* Whether some delay gives a jump of its past at t. */
int tk_is_jump(const tactus_model* model, const tactus_instance* instance, double t);

#ifdef __cplusplus
}
#endif

#endif
