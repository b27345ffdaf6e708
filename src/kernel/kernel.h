/* The kernel's interface: freestanding C11, no allocation, no globals, no library. It travels with every model: native
 * in the runtime, as bitcode into the JIT, as text into exported C, as wasm32.
 *
 * Only abi/model.h and elementary.h are included. Every loop's bits are the same in all four uses: no contraction, one
 * order of operations. */
#ifndef TACTUS_KERNEL_H
#define TACTUS_KERNEL_H

#include "abi/model.h"
#include "kernel/elementary.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Modes: modes.c. The table of the active structure; the model itself when it has no modes. */
static inline const tactus_model* tk_active(const tactus_model* model, const tactus_instance* instance) {
  return model->structure_count > 0 ? model->structures[instance->structure] : model;
}
/* The functions of the table that stands for all structures: each calls that of the active structure. */
int tk_modes_prepare(const tactus_model* model, tactus_instance* instance);
int tk_modes_initialize(const tactus_model* model, tactus_instance* instance);
int tk_modes_derivative(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* dx);
int tk_modes_outputs(const tactus_model* model, tactus_instance* instance, double t, const double* x);
int tk_modes_fire(const tactus_model* model, tactus_instance* instance, uint32_t event);
int tk_modes_watch(const tactus_model* model, tactus_instance* instance, double t, const double* x);
int tk_modes_constrain(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* result);
int tk_modes_tangent(const tactus_model* model, tactus_instance* instance, uint32_t function, double t, const double* x,
                     const double* direction, double* result);
int tk_modes_fixed_steps(const tactus_model* model, tactus_instance* instance, int solver, double h, int64_t count);
int tk_modes_adaptive_step(const tactus_model* model, tactus_instance* instance, int solver, double t_end, double h_max,
                           double tolerance);

/* Fills the sections' offsets of a layout from the counts of the model. */
void tk_layout(const tactus_model* model, tactus_layout* layout);

/* Computes every recorded name at (t, x) into the outputs section; hosts call this instead of the table's `outputs`.
 * While the motion slides, names other than modes are the mixture of both sides that keeps it on the surface:
 * tied_flow.c. */
int tk_outputs(const tactus_model* model, tactus_instance* instance, double t, const double* x);
/* Ties, the surfaces of rest and sliding: ties.h. Number of doubles that they need in an Instance. */
uint32_t tk_ties_size(const tactus_model* model);
/* The largest number of simultaneous ties: ties.h. */
uint32_t tk_most_ties(const tactus_model* model);
/* Log of the ties that began or ended since the start. tk_ties_told is its length; the last TK_TIES_TOLD entries can be
 * read, by their index from 0 on. */
enum { TK_TIES_TOLD = 16, TK_TOLD_REST = 0, TK_TOLD_SLIDE = 1, TK_TOLD_RELEASE = 2 };
typedef struct tk_tie_told {
  double time;
  int32_t what;   /* TK_TOLD_.. */
  int32_t number; /* an event or, counted behind the events, a relation */
} tk_tie_told;
int64_t tk_ties_told(const tactus_instance* instance);
tk_tie_told tk_told_of_tie(const tactus_model* model, const tactus_instance* instance, int64_t index);
/* Plans: plan.c. Doubles of scratch that they need; `snapshot` is the number of doubles of a snapshot. */
uint32_t tk_plan_size(const tactus_model* model, uint32_t snapshot);
/* Constraints: project.c. Doubles of scratch that the projection needs. */
uint32_t tk_projection_size(const tactus_model* model);
/* Projects x onto the model's constraints at t by at most `iterations` of Newton's method; constraint_residual is the
 * largest residual ever measured after the last of them. If x moves by more than the tolerance, the first stage is no
 * longer its derivative. Only for a model with constraints. */
int tk_project(const tactus_model* model, tactus_instance* instance, double t, double* x, int iterations,
               double tolerance);
/* The same for any number of constraints, dependent or not: the fallback of tk_project. */
int tk_project_any(const tactus_model* model, tactus_instance* instance, double t, double* x, int iterations,
                   double tolerance);
/* The same for an interpolated x, which meets the constraints only to the accuracy of the interpolation; changes
 * nothing of the instance but scratch. On failure x is the best approximation found. Does nothing without
 * constraints. */
void tk_put_back(const tactus_model* model, tactus_instance* instance, double t, double* x);
/* After a jump: projects the states onto the constraints of the mode that was entered. TACTUS_OFF_ENTRY with
 * failed_index when they are off by more than the jump's location explains and `enforces_positions` is not set. */
int tk_enter_constraints(const tactus_model* model, tactus_instance* instance, int enforces_positions);
/* For each constraint at (t, x) whether it follows, in its derivatives, from others: into `depends`, constraint_count
 * doubles, 1 or
 * 0. Returns how many do; -1 when they cannot be evaluated there. */
int tk_dependent_constraints(const tactus_model* model, tactus_instance* instance, double t, const double* x,
                             double* depends);
/* Computes the free initial states from constraints and conditions. Only for a model that has some. */
int tk_solve_start(const tactus_model* model, tactus_instance* instance);
/* The shortest u with A u = b; a: `rows` rows of n doubles, destroyed. Returns the rank; b becomes what cannot be met.
 * work: rows * rows + 3 * rows doubles, the last `rows` of which are 0 for rows that depend on others. */
uint32_t tk_least_norm(uint32_t rows, uint32_t n, double* a, double* b, double* u, double* work);
/* The same for another b; a and work as tk_least_norm left them. */
void tk_least_norm_again(uint32_t rows, uint32_t n, const double* a, const double* b, double* u, double* work);

/* The matrix of the stiff methods, shift * I - J with J = df/dx: linear.c. Doubles of scratch that it needs; 0 when the
 * model has too many states for it. */
uint32_t tk_linear_size(const tactus_model* model);
/* J at (t, x) by tangents into that scratch, and df/dt unless that is null. TACTUS_NO_SOLVER without `tangent` or
 * room. */
int tk_linear_differentiate(const tactus_model* model, tactus_instance* instance, double t, const double* x,
                            double* df_dt);
/* Factors shift * I - J. TACTUS_SINGULAR or TACTUS_NOT_FINITE when that fails. */
int tk_linear_factor(const tactus_model* model, tactus_instance* instance, double shift);
/* b becomes the solution. */
void tk_linear_solve(const tactus_model* model, tactus_instance* instance, double* b);

/* Zeroes the block, sets every parameter to its initial value, time to starting_time, and prepares. The states are set
 * by tk_start, after the caller changed parameters and inputs. */
int tk_reset(const tactus_model* model, tactus_instance* instance);
/* Calls prepare and initialize, and checks that every state is finite. */
int tk_start(const tactus_model* model, tactus_instance* instance);

/* Generic forms of the table's entries of the same name. Solver: one of tactus_solver. On failure the Instance stays at
 * the last good step, with status, failed_index or failed_block; the methods are in fixed_inline.h, adaptive_inline.h
 * and rosenbrock.c, how long steps are in stepping.h. h_max <= 0: no limit. */
int tk_fixed_steps(const tactus_model* model, tactus_instance* instance, int solver, double h, int64_t count);
int tk_adaptive_step(const tactus_model* model, tactus_instance* instance, int solver, double t_end, double h_max,
                     double tolerance);
/* The state at t inside the last adaptive step, by that method's dense output. x: state_count doubles. Changes nothing
 * but scratch; with dop853 the first call after a step evaluates the derivative three times. */
void tk_dense(const tactus_model* model, tactus_instance* instance, int solver, double t, double* x);
/* After a step of tsit5: leaves its interpolant in the form that tk_dense reads for cvode. */
void tk_tsit5_as_cvode(const tactus_model* model, tactus_instance* instance);

/* Events, relations and delays: events.c, parts.c, locate.c, delays.c. A run of a model with any of them is a sequence
 * of parts: tk_part goes on to the next point of the grid, accepted step, or event or change of a relation inside it,
 * and stops there BEFORE anything fires, so that the caller can record what lies between; then tk_fire fires what is
 * due at the present time, and relations hold what they are there. */
static inline int tk_runs_in_parts(const tactus_model* model) {
  return model->event_count > 0 || model->delay_count > 0 || model->relation_count > 0;
}
/* After tk_start: begins relations, clocks and histories, and fires the events that are due at the start. */
int tk_begin_events(const tactus_model* model, tactus_instance* instance);
/* The next time that an `every` or `at` event is due; infinity when none is. */
double tk_next_event(const tactus_model* model, const tactus_instance* instance);
/* One part of a run, not beyond t_end. Fixed-step solver: to the next point of the grid start_time + steps * h, or to
 * an event before it; a part that ends off the grid leaves start_time and steps as they are, so that the next part
 * completes the step. Adaptive: one accepted step (h is its largest length), or the piece of it up to an event. An
 * event closer to the grid than 1e-9 h is on it. */
int tk_part(const tactus_model* model, tactus_instance* instance, int solver, double h, double tolerance, double t_end);
/* After states, inputs or parameters were changed from outside, for a host that reads values before the next part:
 * updates the held values of relations. Events that this makes due fire with the next tk_fire. */
int tk_settle(const tactus_model* model, tactus_instance* instance);
/* Whether tk_fire has something to do. */
int tk_is_due(const tactus_model* model, const tactus_instance* instance);
int tk_fire(const tactus_model* model, tactus_instance* instance);
/* Called once, after the last part: a check that waits for something that has not happened is broken now. */
int tk_end_run(const tactus_model* model, tactus_instance* instance);
/* The state at t inside the last part: dense output or, for fixed steps, cubic Hermite interpolation. To be called
 * before tk_fire, since it may evaluate the derivative. */
void tk_between(const tactus_model* model, tactus_instance* instance, int solver, double t, double* x);
/* `count` whole steps of the grid, events fired where they fall: what model->fixed_steps is for a model without
 * events. */
int tk_event_steps(const tactus_model* model, tactus_instance* instance, int solver, double h, int64_t count);
/* The value of delay `index` at t. */
double tk_delayed(const tactus_model* model, const tactus_instance* instance, uint32_t index, double t);

/* Sampled data: table.c. `order` and `order_y`: how often differentiated. */
double tk_table(const tactus_table* table, int order, double x);
double tk_table_2(const tactus_table* table, int order_x, int order_y, double x, double y);
/* Band-limited noise: noise.c. Normal, mean 0, variance 1, a pure function of its arguments; its spectrum is flat below
 * and empty above half a cycle in one unit of `phase`. */
double tk_noise(double seed, double phase);

/* Rare cases of the inlined adaptive step: adaptive.c. */
/* Makes sure that tk_kept_derivative (sections.h) is the derivative at (time, states). */
int tk_first_stage(const tactus_model* model, tactus_instance* instance);
/* A first guess at the step of a method of that order, at most h_max; one more evaluation. */
double tk_first_step(const tactus_model* model, tactus_instance* instance, int order, double h_max, double tolerance);
/* After an accepted step of length h: counts it in stiff_steps when |h lambda| is at `limit`, the edge of stability. */
void tk_feel_stiffness(const tactus_model* model, tactus_instance* instance, int last, double limit, double h);
/* The state that makes the step too small: with the largest scaled error of the last trial, one that is not finite
 * before all others; without a trial, the one that changes fastest for its size. */
int32_t tk_worst_state(const tactus_model* model, tactus_instance* instance, int was_tried);

/* The stiff method with fixed and with adaptive steps: rosenbrock.c; tk_fixed_steps and tk_adaptive_step call them. */
int tk_rosenbrock_steps(const tactus_model* model, tactus_instance* instance, double h, int64_t count);
int tk_rosenbrock_step(const tactus_model* model, tactus_instance* instance, double t_end, double h_max,
                       double tolerance);

void tk_rosenbrock_dense(const tactus_model* model, tactus_instance* instance, double theta, double* x);

/* midpoint, passive, discrete_gradient: balance.c; tk_fixed_steps calls it. */
int tk_balanced_steps(const tactus_model* model, tactus_instance* instance, int solver, double h, int64_t count);

/* The Passive Sample and Hold: sample_hold.c. Its memory, TK_HOLD_SIZE doubles from 0 on. */
enum {
  TK_HOLD_ENERGY = 0, /* what it keeps, at the last slow sample */
  TK_HOLD_U_SLOW = 1,
  TK_HOLD_U_FAST = 2,
  TK_HOLD_Y = 3,
  TK_HOLD_RELEASED = 4, /* power, since then */
  TK_HOLD_SUM = 5,
  TK_HOLD_SAMPLES = 6,
  TK_HOLD_SIZE = 7
};
/* At the start of a slow period: what the slow system gets, from what it gives and what the fast one gives now. Then a
 * fast sample at every fast step of the period, the first one included. */
double tk_hold_slow_sample(double* hold, double period, double y_s, double u_f);
void tk_hold_fast_sample(double* hold, double u_f);
/* The same step of it for `count` components and energy that is known: u_s is what the slow system got, and becomes
 * what it gets for the next period, from what it gives, y, and sign * u_f. */
void tk_hold_release(uint32_t count, double period, double energy, const double* y, double sign, const double* u_f,
                     double* u_s);

/* Rates: rates.c. The most states that a subsystem has. */
static inline uint32_t tk_largest_subsystem(const tactus_model* model) {
  uint32_t most = 0;
  for (uint32_t k = 0; k < model->subsystem_count; k++) {
    if (model->subsystems[k].state_count > most) most = model->subsystems[k].state_count;
  }
  return most;
}
/* After the states are set: the first samples. */
int tk_begin_rates(const tactus_model* model, tactus_instance* instance);
/* The table's fixed_steps of a model with rates. */
int tk_rated_steps(const tactus_model* model, tactus_instance* instance, int solver, double h, int64_t count);

/* Solves A x = b in place by LU with partial pivoting: a is n x n row-major and destroyed, b becomes x. Else
 * TACTUS_SINGULAR, or TACTUS_NOT_FINITE when a holds NaN or infinities. */
int tk_lu_solve(int n, double* a, double* b);
/* The same in two pieces: a becomes its factors, `kept` (2 n doubles) what belongs to them; then any number of b. */
int tk_lu_factor(int n, double* a, double* kept);
void tk_lu_substitute(int n, const double* a, const double* kept, double* b);

/* The same for equations of which some may follow from others, as those of constraints do: TACTUS_OK also when A is
 * singular but the equations agree and the first `essential` unknowns are determined; the others are then the shortest
 * that do. work: 2 * n * n + 5 * n doubles. least_norm.c. */
int tk_solve_constrained(int n, int essential, double* a, double* b, double* work);

/* Residual r[n] and Jacobian j[n * n] (row-major, dr_i/dz_k) at z, given the captured values. */
typedef void tk_residual(const double* captured, const double* z, double* r, double* j);
/* Damped Newton from z; on TACTUS_OK z is the solution, on TACTUS_SINGULAR and TACTUS_DIVERGED some point on the way,
 * not fit for a warm start. work: n * n + 3 * n doubles. */
int tk_newton(int n, tk_residual* residual, const double* captured, double* z, double* work);

/* At a solution z of a residual: how fast the residual changes while the captured values move along `direction` and z
 * stands still, dr[n], and its Jacobian j[n * n] by z. */
typedef void tk_residual_tangent(const double* captured, const double* z, const double* direction, double* dr,
                                 double* j);
/* How fast the solution moves then: work[n * n .. n * n + n). work: n * n + n doubles. */
int tk_newton_tangent(int n, tk_residual_tangent* residual, const double* captured, const double* z,
                      const double* direction, double* work);

/* The derivative's derivatives, for models with tangents; jacobian.c. scratch: tk_jacobian_scratch doubles. */
static inline uint64_t tk_jacobian_scratch(const tactus_model* model) {
  return tactus_direction_size(model) + model->state_count;
}
/* By x: the entries of model->jacobian, column by column; colour_count tangents. */
int tk_jacobian(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* scratch,
                double* values);
/* The same as a whole matrix, state_count x state_count by rows. */
int tk_dense_jacobian(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* scratch,
                      double* matrix);
/* By t alone: x stands still, inputs move with their rates. */
int tk_time_derivative(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* scratch,
                       double* values);

#ifdef __cplusplus
}
#endif

#endif
