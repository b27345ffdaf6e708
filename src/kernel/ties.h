/* Ties: surfaces that the motion rests on or slides along.
 *
 * Rest (Zeno). A jump that accumulates, as of a ball that bounces lower and lower, fires in ever shorter intervals, and
 * changes no more than the motion does meanwhile. From then on a reaction keeps the motion on its surface. The reaction
 * has the direction in which the jump would act now if the surface were approached slowly; the direction is computed
 * anew at each evaluation. The guard is the least of its terms. The term c that the jump changes (the closing speed) is
 * kept at 0 by x' = f + l d, with d the jump's direction and l such that c' = 0; terms that the jump does not change
 * (the distance) stay 0 with it. The rest lasts as long as the reaction pushes, l >= 0: as long as the free flow would
 * enable the jump.
 *
 * Sliding (chattering). A relation changes to and fro without end because each side drives the motion to the other, as
 * in dry friction: Filippov, Differential Equations with Discontinuous Righthand Sides, 1988. The flow is x' = f0 + l
 * (f1 - f0), with f0 and f1 the flows where the relation does not hold and where it does, and l in [0, 1] such that the
 * guard stays 0. The sliding ends when l leaves [0, 1]. Where the guard does not depend on l, as where switchings
 * accumulate in a point (Fuller), l makes the motion as slow as possible, and the state is moved to where it stands
 * still: c' = 0 along d, c = 0 along J d.
 *
 * Alternating modes. Transitions that only change modes may also follow each other without end. Then the flow is a
 * mixture of the flows of the modes that they leave (Filippov again), such that their guards change as little as
 * possible. If the guards can be kept at 0, the motion slides. If they cannot, and the intervals became shorter and
 * shorter before (Zeno's two tanks with one pipe), the run is at the accumulation point and rests there by reactions
 * along the normals of the guards' surfaces, as long as these push. Otherwise the transitions are a cycle at one
 * instant, without a motion.
 *
 * Every tie is a function c of (t, x) that stays 0, and a direction d. Several ties at once solve sum_j (grad c_i .
 * d_j) l_j = - c_i' along f. Derivatives of c are central differences over a power of two, exact where c is linear. */
#ifndef TACTUS_KERNEL_TIES_H
#define TACTUS_KERNEL_TIES_H

#include "kernel/hybrid.h"

/* The largest number of simultaneous ties, and of transitions among alternating modes. */
#define TK_MOST_TIES 32
#define TK_MOST_TURNS 4
/* `tk_often` crossings in a row, each within `tk_soon` event precisions of the last, count as chattering. */
static const double tk_often = 4.0;
static const double tk_soon = 16.0;
/* A guard within this distance of zero counts as zero when a rest begins; beyond it the surface has been left. */
static const double tk_near = 1e-6;
/* Tolerance of the reactions of alternating modes. */
static const double tk_slack = 1e-7;

enum { TK_TOLD = 3, TK_HAPPENING = 7, TK_TIE = 6, TK_LAST_PART = 4 };
/* Kind of a tie: single event or relation; alternating mode with a reaction force; alternating mode without;
 * alternating mode that shares another tie's surface. */
enum { TK_OF_ONE = 0, TK_RESTING_MODE = 1, TK_SLIDING_MODE = 2, TK_OTHER_SIDE = 3 };

typedef struct tk_tie_entry {
  double* number;
  double* place; /* of c in watched */
  double* kind;
  double* left;    /* index of its mode among those that transitions left (tk_left_mode) */
  double* near;    /* rest: bit mask of the other terms of the guard that are 0; the first term is bit 1 */
  double* residue; /* rest: 1 where the jump changes something however slow the approach, such as a counter */
  double* direction;
  double* lift;  /* J d */
  double* probe; /* rest: the motion approaches the surface against this direction */
  double* sides; /* by relation */
} tk_tie_entry;

/* The last part, until the changes of its ties are settled: needed for rows recorded inside it. */
typedef struct tk_last_part {
  double* is_open;
  double* ties;  /* number of ties that held during the part, the first ones; later ones began at its end */
  double* loose; /* 1 + the tie whose release ended it, or 0 */
  double* share; /* strength of that tie at the end of the part; 2 or -1 where the motion is off its surface */
  double* room;  /* scratch for outputs: a discrete section, the watched section, and two output sections */
} tk_last_part;

/* Storage: ties.c. */
uint32_t tk_tie_size(const tactus_model* model);
double* tk_happenings(const tactus_model* model, tactus_instance* instance);
tk_tie_entry tk_tie_of(const tactus_model* model, tactus_instance* instance, int32_t tie);
/* Number of stored modes that transitions left; each is its event and the discrete section before it. */
double* tk_left_count(const tactus_model* model, tactus_instance* instance);
double* tk_left_mode(const tactus_model* model, tactus_instance* instance, uint32_t index);
/* Scratch for the discrete section and two states while a jump is tried, and for two more states: the stage vectors at
 * the end of a part must last until the next part. */
double* tk_room(const tactus_model* model, tactus_instance* instance);
tk_last_part tk_last_part_of(const tactus_model* model, tactus_instance* instance);
/* The first tie of an alternating mode, or -1. */
int32_t tk_first_mode_tie(const tactus_model* model, tactus_instance* instance);
int tk_is_tied(const tactus_model* model, const tactus_instance* instance, uint32_t number);
/* Notes that `number` happens now. Returns how often in a row it has happened within `tk_soon` event precisions. */
double tk_note(const tactus_model* model, tactus_instance* instance, uint32_t number);
/* Records, for the notes of a run, that a tie began or ended. */
void tk_tell(const tactus_model* model, tactus_instance* instance, int32_t what, uint32_t number);

/* The flow along the ties: tied_flow.c. */
/* A power of two by which x may move along `direction` without leaving its neighbourhood. */
double tk_small_step(const tactus_model* model, const double* x, const double* direction);
/* While alternating modes are evaluated, the present discrete section is saved. */
void tk_leave_present(const tactus_model* model, tactus_instance* instance);
void tk_return_to_present(const tactus_model* model, tactus_instance* instance);
/* Sets the discrete section to its values just before the transition of a tie leaves its mode. */
void tk_enter_mode(const tactus_model* model, tactus_instance* instance, int32_t tie);
/* c of each tie at (t, x), for alternating modes in their own mode; and its rate of change along (speed, direction). */
int tk_watch_ties(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* c);
int tk_tie_slopes(const tactus_model* model, tactus_instance* instance, double t, const double* x, double speed,
                  const double* direction, double* slope);
/* Sets the held values of a tie's relations to those where its c is positive, or where it is not. */
void tk_take_side(const tactus_model* model, tactus_instance* instance, const tk_tie_entry* tie, int is_positive);
/* The flow with all sliding relations false, and the directions of the ties; for alternating modes, their mixture. */
int tk_flows(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* flow);
int tk_mixed_flow(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* flow,
                  double* shares);
/* The strength l of each tie at (t, x) and, unless null, the shares of alternating modes; `flow` becomes the flow along
 * the ties. */
int tk_tied_flow(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* flow,
                 double* strength, double* shares);
/* The least change of c by a tie that suffices to hold it. */
double tk_least_felt(const tactus_model* model, double t);
/* The state after the jump `event` from x at t, with no handler called; and the direction of the resulting reaction. */
int tk_try_jump(const tactus_model* model, tactus_instance* instance, uint32_t event, double t, const double* x,
                double* after);
int tk_react(const tactus_model* model, tactus_instance* instance, double t, const double* x, const tk_tie_entry* tie);
/* Whether a tie is the rest of a single jump. */
int tk_is_rest(const tactus_model* model, const tk_tie_entry* tie);

/* Beginning of ties: ties_begin.c. Whether the strength of a tie is one that holds it; projection onto its surface. */
int tk_is_held(const tactus_model* model, tactus_instance* instance, int32_t i, const double* strength);
int tk_put_back_on_tie(const tactus_model* model, tactus_instance* instance, int32_t tie);

#endif
