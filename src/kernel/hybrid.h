/* Declarations shared by events.c, parts.c, locate.c, delays.c, ties*.c, plan.c and slopes.c. Times are compared with a
 * little slack, since grid points, ticks and delayed instants are different sums: two instants that differ by rounding
 * are one. */
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

/* The largest rounding difference of two sums that mean the instant t. */
TK_ALWAYS_INLINE double tk_time_slack(const tactus_model* model, double t) {
  return 0x1p-49 * (tk_abs(t) + tk_abs(model->starting_time));
}

/* Selects the structure of the present modes: modes.c. Returns 0 when the combination of modes has none. */
int tk_choose_structure(const tactus_model* model, tactus_instance* instance);

/* Events: events.c. */
/* Scheduled events up to `slack` after the present time become due. */
void tk_mark_scheduled(const tactus_model* model, tactus_instance* instance, double slack);
/* The next tick of any scheduled event that is not due now. */
double tk_next_tick(const tactus_model* model, const tactus_instance* instance);
/* `watch` at (t, x), if there is anything to watch. */
int tk_watch(const tactus_model* model, tactus_instance* instance, double t, const double* x);
/* Whether a condition that was false is true in the watched section. */
int tk_has_risen(const tactus_model* model, const tactus_instance* instance);
/* Whether the held value of a relation differs from that of the watched section. */
int tk_is_crossed(const tactus_model* model, const tactus_instance* instance, uint32_t relation);
int32_t tk_first_crossed(const tactus_model* model, const tactus_instance* instance);
/* max_transitions, or its default. */
uint32_t tk_most_transitions(const tactus_model* model);
/* The first event that is due, or -1. */
int32_t tk_first_due(const tactus_model* model, const tactus_instance* instance);
/* From the watched section: conditions that became true become due, those that became false may become true again. */
void tk_mark_conditions(const tactus_model* model, tactus_instance* instance);

/* Location of zero crossings inside a part: locate.c. */
/* Copies the guards of what was watched last into copy `which`. */
void tk_keep_guards(const tactus_model* model, tactus_instance* instance, uint32_t which);
/* Locates the first zero crossing of a relation, or condition that becomes true, in the part from `from` to *end. If
 * there is one, *is_found is 1 and *end is the right end of its bracket, behind the crossing. Guard copy 0 holds the
 * guards at `from`; without a crossing it then holds those at the end. */
int tk_locate(const tactus_model* model, tactus_instance* instance, int solver, double from, double* end,
              int* is_found);
/* The largest length of a bracket around t. */
double tk_event_precision(const tactus_model* model, double t);
/* The same for a guard that changes at the rate `slope` and may be at most guard_precision from zero. */
double tk_guard_precision(const tactus_model* model, double t, double slope);

/* The plan that an event begins, or -1. */
int32_t tk_plan_of(const tactus_model* model, uint32_t event);
/* Finds the values of a plan by simulating the motion; otherwise the Instance is unchanged. TACTUS_NO_PLAN when the
 * search fails. */
int tk_find_plan(const tactus_model* whole, tactus_instance* instance, uint32_t plan);
/* Called from another thread: ends the present work on the Instance soon. A search fails; steps end with
 * TACTUS_ENDLESS_EVENTS and no index. */
void tk_cancel(const tactus_model* whole, tactus_instance* instance);
static inline int tk_is_cancelled(const tactus_instance* instance) {
  return *(const volatile int32_t*)&instance->plans_wait < 0;
}
/* After a failed search: the values that came nearest, then, at offset tk_most_chosen, the residuals of their targets;
 * not finite when no motion reached its end. */
const double* tk_nearest_plan(const tactus_model* whole, const tactus_instance* instance);
/* The largest number of unknowns of a plan of this model. */
uint32_t tk_most_chosen(const tactus_model* model);
/* The Jacobian of a plan's target residuals `left` by the chosen values u, into the square `matrix`. The Instance is
 * unchanged. TACTUS_SINGULAR where there is no tangent (slopes.c). */
int tk_plan_slopes(const tactus_model* whole, tactus_instance* instance, uint32_t plan, const double* u, double* left,
                   double* matrix);
/* The host's answer to a requested plan: it begins now with these values, whatever its guard says; or it has failed. */
int tk_begin_plan(const tactus_model* whole, tactus_instance* instance, uint32_t plan, const double* u);
int tk_refuse_plan(const tactus_model* whole, tactus_instance* instance, uint32_t plan);
/* Computes a plan's values at the present time into u; the Instance is unchanged. TACTUS_NO_PLAN when the search
 * fails. */
int tk_search_for_plan(const tactus_model* whole, tactus_instance* instance, uint32_t plan, double* u);

/* Sensitivity of a motion to the values chosen at its beginning: slopes.c. Its scratch lies behind that of the
 * plans. */
uint32_t tk_slopes_size(const tactus_model* model, uint32_t columns);
/* Begins with the identity: one column for each state at `places`. */
void tk_begin_slopes(const tactus_model* model, tactus_instance* instance, uint32_t columns, const uint32_t* places);
/* Propagates the sensitivities over a part by tsit5 from `from`; called before anything fires. */
void tk_follow_part(const tactus_model* model, tactus_instance* instance, double from);
/* Bracket the events of one instant (saltation matrix): the derivative of the instant itself, by the guard of `event`
 * or, when that is -1, by the relation that crossed zero; and the flow behind the instant. */
void tk_open_instant(const tactus_model* model, tactus_instance* instance, int32_t event);
void tk_close_instant(const tactus_model* model, tactus_instance* instance);
/* Called before an event fires; and after a jump was projected onto the constraints of its mode. */
void tk_follow_firing(const tactus_model* model, tactus_instance* instance, uint32_t event);
void tk_follow_entry(const tactus_model* model, tactus_instance* instance, uint32_t event);
/* Inside an instant: the sensitivities of `count` watched values from `first` on, one row each, into matrix. */
void tk_slopes_of_watched(const tactus_model* model, tactus_instance* instance, uint32_t first, uint32_t count,
                          double* matrix);
/* 0 when an event on the way has no tangent. */
int tk_are_slopes_known(const tactus_model* model, tactus_instance* instance);
/* Projects a sensitivity together with its state onto the constraints, whose rates of change along it are `rates`:
 * project.c. */
int tk_project_slope(const tactus_model* model, tactus_instance* instance, double t, const double* x,
                     const double* rates, double* slope);
/* Takes one transition and all that follows at its instant, whatever its guard says: events.c. */
int tk_take(const tactus_model* whole, tactus_instance* instance, uint32_t event);
/* What tk_fire does, due or not. */
int tk_fire_all(const tactus_model* whole, tactus_instance* instance);

/* Rest and sliding: ties.h. */
int tk_is_event_tied(const tactus_model* model, const tactus_instance* instance, uint32_t event);
int tk_is_relation_tied(const tactus_model* model, const tactus_instance* instance, uint32_t relation);
/* Removes all ties, and clears the history from which they begin. */
void tk_forget_ties(const tactus_model* model, tactus_instance* instance);
/* Notes a zero crossing of a relation at the present time. */
void tk_note_crossing(const tactus_model* model, tactus_instance* instance, uint32_t relation);
/* Bracket a jump, by the guards before and after it: a jump that accumulates ends in rest. */
void tk_before_jump(const tactus_model* model, tactus_instance* instance, uint32_t event);
int tk_after_jump(const tactus_model* model, tactus_instance* instance, uint32_t event);
/* Begins to slide along a relation that chatters. Returns whether there is one. */
int tk_begin_slide(const tactus_model* model, tactus_instance* instance);
/* The first relation that has chattered for too long without sliding, or -1. */
int32_t tk_first_endless(const tactus_model* model, tactus_instance* instance);
/* Fills `tied` with the table whose flow stays on the surfaces of the ties. */
void tk_tie(const tactus_model* model, tactus_model* tied);
int tk_is_tie(const tactus_model* model);
/* Bracket a part: rows recorded inside it refer to the ties at its beginning; ties that are loose at its end are
 * released when it is settled, before anything fires. */
void tk_open_part(const tactus_model* model, tactus_instance* instance);
void tk_settle_ties(const tactus_model* model, tactus_instance* instance);
/* After a part of a tied motion from `from`, with `steps` grid steps before it, to the present time: projects onto the
 * surfaces, and ends the part where the motion leaves one. */
int tk_end_tied_part(const tactus_model* tied, tactus_instance* instance, int solver, double from, int64_t steps);
/* After a change from outside or an event: releases the surfaces that no longer hold the motion. */
void tk_release_loose(const tactus_model* model, tactus_instance* instance);

/* Delays: delays.c. */
/* Begins every history with the value of its source at the present time. */
int tk_begin_histories(const tactus_model* model, tactus_instance* instance);
/* Appends the watched sources to the histories at time t. After a jump at t: beside the value before it. */
void tk_remember(const tactus_model* model, tactus_instance* instance, double t);
void tk_remember_jump(const tactus_model* model, tactus_instance* instance, double t, int only_changes);
/* The least positive duration; infinity without. */
double tk_shortest_delay(const tactus_model* model, const tactus_instance* instance);
/* The largest admissible distance between samples, for all delays. */
double tk_history_spacing(const tactus_model* model, const tactus_instance* instance);
/* The first time in (now, t_end) at which a delay reproduces a jump of its past; else t_end. */
double tk_next_jump(const tactus_model* model, const tactus_instance* instance, double t_end);
/* Whether a delay reproduces a jump of its past at t. */
int tk_is_jump(const tactus_model* model, const tactus_instance* instance, double t);

#ifdef __cplusplus
}
#endif

#endif
