/* Surfaces that the motion rests on or slides along.
 *
 * Rest. A jump that accumulates (a ball that bounces lower and lower) fires in ever shorter intervals, and changes no
 * more than the motion does meanwhile. From then on its surface is kept to by a reaction in the direction in which the
 * jump would act now, were the surface approached slowly: tried anew at each evaluation. The guard is the least of its
 * parts: the part c that the jump changes (how fast it closes) stays 0 by x' = f + l d, d the jump's direction, c' = 0;
 * parts that it leaves alone (how far it is) stay 0 with it. It rests as long as l pushes, l >= 0: as long as the free
 * flow would enable the jump.
 *
 * Sliding. A relation that changes to and fro without end, for each side drives the motion to the other (dry friction):
 * Filippov, Differential Equations with Discontinuous Righthand Sides, 1988. x' = f0 + l (f1 - f0), with f0 and f1 the
 * flows where the relation does not hold and where it does, and l in [0, 1] such that its guard stays 0. It leaves when
 * l leaves [0, 1]. Where the guard does not change with l, as where switchings accumulate in a point (Fuller), l makes
 * the motion as slow as can be, and the state is put where it stands still: c' = 0 along d, c = 0 along J d.
 *
 * Modes in turn. Transitions that only change modes may follow each other without end, too. Then the flow is a mixture
 * of those of the modes that they leave (Filippov again), such that their guards stay as still as can be. Where that is
 * 0, it slides. Where it is not and the intervals have become shorter and shorter before (two tanks of Zeno and one
 * pipe), the run is at the point in which they accumulate, and rests there by reactions along the normals of the
 * guards' surfaces, as long as these push. Where neither is so, it is a cycle of transitions at one instant, and no
 * motion.
 *
 * All are ties: a function c of (t, x) that stays 0, and a direction d; several at once solve sum_j (grad c_i . d_j)
 * l_j = - c_i' along f. Derivatives of c are central differences over a power of two, exact where c is linear. */
#ifndef TACTUS_KERNEL_TIES_H
#define TACTUS_KERNEL_TIES_H

#include "kernel/hybrid.h"

/* Ties at once, and transitions among modes in turn. */
#define TK_MOST_TIES 32
#define TK_MOST_TURNS 4
/* So many in a row, each within so many times event_precision of the last, are without end. */
static const double tk_often = 4.0;
static const double tk_soon = 16.0;
/* What is so near to 0 is there, where a motion comes to rest; further off it has left. */
static const double tk_near = 1e-6;
/* What the reactions of modes in turn may be off by. */
static const double tk_slack = 1e-7;

enum { TK_TOLD = 3, TK_HAPPENING = 7, TK_TIE = 6, TK_LAST_PART = 4 };
/* Of a tie. Those of modes in turn: with a reaction; without; and one whose surface is another's. */
enum { TK_OF_ONE = 0, TK_RESTING_MODE = 1, TK_SLIDING_MODE = 2, TK_OTHER_SIDE = 3 };

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

/* A part that ended, until what has become of its ties is settled: for rows inside it. */
typedef struct tk_last_part {
  double* is_open;
  double* ties;  /* so many held the motion in it, the first ones; others have begun at its end */
  double* loose; /* 1 + the tie that it ended by, or 0 */
  double* share; /* of that one, there */
  double* room;  /* for outputs: a discrete section, what is watched, and two of outputs */
} tk_last_part;

/* Where they lie: ties.c. */
uint32_t tk_tie_size(const tactus_model* model);
double* tk_happenings(const tactus_model* model, tactus_instance* instance);
tk_tie_entry tk_tie_of(const tactus_model* model, tactus_instance* instance, int32_t tie);
/* How many modes were kept that transitions left; each is its event and the discrete section before it. */
double* tk_left_count(const tactus_model* model, tactus_instance* instance);
double* tk_left_mode(const tactus_model* model, tactus_instance* instance, uint32_t index);
/* Room for the discrete section and two states while a jump is tried, and for two more: what lies in the stage vectors
 * at the end of a part is asked for until the next. */
double* tk_room(const tactus_model* model, tactus_instance* instance);
tk_last_part tk_last_part_of(const tactus_model* model, tactus_instance* instance);
/* The first tie of modes in turn, or -1. */
int32_t tk_first_mode_tie(const tactus_model* model, tactus_instance* instance);
int tk_is_tied(const tactus_model* model, const tactus_instance* instance, uint32_t number);
/* It happens now: how often in a row as soon as it could. */
double tk_note(const tactus_model* model, tactus_instance* instance, uint32_t number);
/* For notes: a tie began or ended. */
void tk_tell(const tactus_model* model, tactus_instance* instance, int32_t what, uint32_t number);

/* The flow along them: tied_flow.c. */
/* A power of two by which x may move along `direction` without leaving its neighbourhood. */
double tk_small_step(const tactus_model* model, const double* x, const double* direction);
/* While modes in turn are looked at, the present discrete section is put aside. */
void tk_leave_present(const tactus_model* model, tactus_instance* instance);
void tk_return_to_present(const tactus_model* model, tactus_instance* instance);
/* The discrete section as it is when the transition of a tie is about to leave its mode. */
void tk_enter_mode(const tactus_model* model, tactus_instance* instance, int32_t tie);
/* c of each tie at (t, x), those of modes in turn in their modes; and how fast it changes along (speed, direction). */
int tk_watch_ties(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* c);
int tk_tie_slopes(const tactus_model* model, tactus_instance* instance, double t, const double* x, double speed,
                  const double* direction, double* slope);
/* What the relations of a tie hold where its c is positive, or where it is not. */
void tk_take_side(const tactus_model* model, tactus_instance* instance, const tk_tie_entry* tie, int is_positive);
/* The flow with all that is slid along not holding, and the directions of the ties; of modes in turn, their mixture. */
int tk_flows(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* flow);
int tk_mixed_flow(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* flow,
                  double* shares);
/* How strongly each tie acts at (t, x), and the shares of modes in turn, if there is room for them; `flow` becomes the
 * motion that keeps to them. */
int tk_tied_flow(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* flow,
                 double* strength, double* shares);
/* What a tie must change c by to hold it. */
double tk_least_felt(const tactus_model* model, double t);
/* What the jump `event` makes of x at t, whoever listens hearing nothing of it; and the direction of the reaction that
 * follows from it. */
int tk_try_jump(const tactus_model* model, tactus_instance* instance, uint32_t event, double t, const double* x,
                double* after);
int tk_react(const tactus_model* model, tactus_instance* instance, double t, const double* x, const tk_tie_entry* tie);
/* Whether a tie is that of one jump. */
int tk_is_rest(const tactus_model* model, const tk_tie_entry* tie);

/* Beginning: ties_begin.c. Whether a tie acts as one of its kind does; back onto its surface. */
int tk_is_held(const tactus_model* model, tactus_instance* instance, int32_t i, const double* strength);
int tk_put_back_on_tie(const tactus_model* model, tactus_instance* instance, int32_t tie);

#endif
