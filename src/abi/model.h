/* The model table and the Instance: everything that compiler, kernel and runtime share. Plain C11, also C++20.
 *
 * A compiled model is a constant table of functions and metadata. A running model is an Instance: one contiguous block
 * without pointers, a header followed by sections of doubles at the offsets of the model's layout. A snapshot is a
 * memcpy of the header and `layout.snapshot` doubles. Beyond them lies scratch, which no function expects to survive
 * between two calls, except the dense output of the last adaptive step.
 *
 * Every function returns a tactus_status. None allocates, prints, or keeps anything outside its Instance. */
#ifndef TACTUS_ABI_MODEL_H
#define TACTUS_ABI_MODEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tactus_model tactus_model;
typedef struct tactus_instance tactus_instance;

typedef enum tactus_status {
  TACTUS_OK = 0,
  TACTUS_NOT_FINITE = 1,     /* a state or derivative became NaN or infinite; see failed_index */
  TACTUS_DIVERGED = 2,       /* a Newton block found no solution; see failed_block */
  TACTUS_SINGULAR = 3,       /* a linear block or a Jacobian is singular; see failed_block */
  TACTUS_STEP_TOO_SMALL = 4, /* the adaptive step shrank to rounding; see failed_index for the worst state */
  /* A chain of events at one instant does not end, or time no longer advances. failed_index: one of the events. */
  TACTUS_ENDLESS_EVENTS = 5,
  /* The projection cannot bring a step back onto the constraints. failed_index: one of the constraints. */
  TACTUS_OFF_CONSTRAINTS = 6,
  /* Starts, constraints and conditions contradict each other. failed_index: the one with the largest residual, a
   * constraint or, counted behind the constraints, a condition. */
  TACTUS_NO_START = 7,
  /* The solver needs what this table lacks: `tangent`, scratch for the Jacobian, `energy`, or the host's cvode. */
  TACTUS_NO_SOLVER = 8,
  TACTUS_BREACHED = 9,  /* a `require` does not hold; failed_index: its event */
  TACTUS_STOPPED = 10,  /* a `stop when` holds: the run ends well; failed_index: its event */
  TACTUS_CONFLICT = 11, /* two transitions disagree: failed_index and failed_block are their events */
  /* No values were found for which a plan's targets hold. failed_index: the event that begins the plan. */
  TACTUS_NO_PLAN = 13,
  /* A jump leads off the constraints of the mode that it enters. failed_index: one of them; failed_block: the event. */
  TACTUS_OFF_ENTRY = 12,
  /* A zero crossing was not located within location_steps evaluations. failed_index: the relation, counted behind the
   * events. */
  TACTUS_NOT_LOCATED = 14,
} tactus_status;

typedef enum tactus_solver {
  TACTUS_EULER = 0,
  TACTUS_RK4 = 1,
  TACTUS_BS3_FIXED = 2,
  TACTUS_ROSENBROCK_FIXED = 3,
  TACTUS_BS3 = 4, /* from here on adaptive */
  TACTUS_TSIT5 = 5,
  TACTUS_DOP853 = 6,
  TACTUS_ROSENBROCK = 7, /* from here on for stiff systems */
  TACTUS_CVODE = 8,      /* of the host alone: the kernel does not have it */
  TACTUS_MIDPOINT = 9,   /* from here on with fixed steps again */
  TACTUS_PASSIVE = 10,   /* this and all below keep the balance of `energy` */
  TACTUS_DISCRETE_GRADIENT = 11,
  TACTUS_PASSIVE_BS3 = 12, /* with another predictor than Euler's */
  TACTUS_PASSIVE_RK4 = 13,
  TACTUS_GONZALEZ = 14, /* these two ask for `structure` besides */
  TACTUS_MEAN_VALUE = 15,
} tactus_solver;

enum { TACTUS_SOLVER_COUNT = 16 };

/* As a person writes it; a method with fixed and with adaptive steps has one name. Null: no such solver. */
static inline const char* tactus_solver_name(int solver) {
  switch (solver) {
    case TACTUS_EULER:
      return "euler";
    case TACTUS_RK4:
      return "rk4";
    case TACTUS_BS3_FIXED:
    case TACTUS_BS3:
      return "bs3";
    case TACTUS_TSIT5:
      return "tsit5";
    case TACTUS_DOP853:
      return "dop853";
    case TACTUS_ROSENBROCK_FIXED:
    case TACTUS_ROSENBROCK:
      return "rosenbrock";
    case TACTUS_CVODE:
      return "cvode";
    case TACTUS_MIDPOINT:
      return "midpoint";
    case TACTUS_PASSIVE:
      return "passive";
    case TACTUS_DISCRETE_GRADIENT:
      return "discrete_gradient";
    case TACTUS_PASSIVE_BS3:
      return "passive_bs3";
    case TACTUS_PASSIVE_RK4:
      return "passive_rk4";
    case TACTUS_GONZALEZ:
      return "gonzalez";
    case TACTUS_MEAN_VALUE:
      return "mean_value";
    default:
      return 0;
  }
}

static inline int tactus_is_adaptive(int solver) { return solver >= TACTUS_BS3 && solver <= TACTUS_CVODE; }
/* Whether it solves with the Jacobian, so that a step's length does not depend on how fast what has died out was. */
static inline int tactus_is_stiff_solver(int solver) {
  return solver == TACTUS_ROSENBROCK_FIXED || solver == TACTUS_ROSENBROCK || solver == TACTUS_CVODE ||
         solver == TACTUS_MIDPOINT || solver == TACTUS_DISCRETE_GRADIENT || solver == TACTUS_GONZALEZ ||
         solver == TACTUS_MEAN_VALUE;
}
/* Whether it asks the table for `energy`. */
static inline int tactus_needs_energy(int solver) { return solver >= TACTUS_PASSIVE && solver <= TACTUS_MEAN_VALUE; }
/* Whether it asks the table for `structure`. */
static inline int tactus_needs_structure(int solver) {
  return solver == TACTUS_GONZALEZ || solver == TACTUS_MEAN_VALUE;
}

/* The other form of a method that has two, fixed or adaptive; else the solver itself. */
static inline int tactus_fixed_form(int solver) {
  return solver == TACTUS_BS3 ? TACTUS_BS3_FIXED : solver == TACTUS_ROSENBROCK ? TACTUS_ROSENBROCK_FIXED : solver;
}
static inline int tactus_adaptive_form(int solver) {
  return solver == TACTUS_BS3_FIXED ? TACTUS_BS3 : solver == TACTUS_ROSENBROCK_FIXED ? TACTUS_ROSENBROCK : solver;
}

/* The solver of that name, the adaptive form when there are two; -1 when there is none. */
static inline int tactus_find_solver(const char* name) {
  for (int solver = TACTUS_SOLVER_COUNT - 1; solver >= 0; solver--) {
    const char* known = tactus_solver_name(solver);
    int i = 0;
    while (known[i] != 0 && known[i] == name[i]) i++;
    if (known[i] == name[i]) return solver;
  }
  return -1;
}

/* The solver of a run: the one that was named (-1: none), in its fixed form when a step and no tolerance is given; without a
 * name rk4 at the given step, else tsit5. */
static inline int tactus_choose_solver(int named, int has_step, int has_tolerance) {
  if (named < 0) return has_step ? TACTUS_RK4 : TACTUS_TSIT5;
  if (!has_step) return tactus_adaptive_form(named);
  return has_tolerance ? named : tactus_fixed_form(named);
}

struct tactus_instance {
  double time;
  double start_time;          /* fixed steps: time = start_time + steps * h, without drift */
  int64_t steps;              /* accepted steps since start_time */
  int64_t rejected;           /* adaptive: rejected steps */
  double input_time;          /* an input is input + input_rate * (t - input_time) */
  double next_step;           /* adaptive: the step to try next; 0 asks for a first guess */
  double last_error;          /* adaptive: the scaled error of the last accepted step (PI control) */
  double dense_from;          /* adaptive, or parts: the last step began here ... */
  double dense_step;          /* ... and has this length; 0 before the first step */
  int64_t short_parts;        /* consecutive parts that a condition or a relation ended as soon as they began */
  int64_t crossings;          /* zero crossings of relations since the start */
  double constraint_residual; /* the largest residual of a constraint at the end of a step, in its own unit */
  /* Adaptive, explicit: steps whose length is set by stability and not by accuracy; TACTUS_STIFF of them: stiff. */
  int32_t stiff_steps;
  /* Steps since then whose length was set by accuracy. */
  int32_t loose_steps;
  int32_t status;
  int32_t failed_block; /* index into model->blocks, or -1 */
  /* Index of a state, or -1. With TACTUS_ENDLESS_EVENTS: of an event or, counted behind the events, of a relation. With
   * TACTUS_OFF_CONSTRAINTS: of a constraint. */
  int32_t failed_index;
  /* Adaptive: 1 while the kept derivative (see tactus_layout.snapshot) is the one at (time, states). A host that
   * changes states, inputs or parameters between two steps writes 0; the kernel's own functions do so themselves. */
  int32_t first_stage_valid;
  /* 1: the guard of a relation has crossed zero since its value was held; tk_fire updates it */
  int32_t is_crossed;
  int32_t structure;       /* which of model->structures holds */
  int64_t transitions;     /* transitions since the start */
  int32_t last_transition; /* the event of the last one, or -1 */
  int32_t expectations;    /* violations of an `expect` */
  int32_t broken_checks;   /* how many of the model's `check`s are broken */
  int32_t tie_count;       /* surfaces that the motion rests on or slides along at present: kernel/ties.h */
  int32_t rests;           /* how often jumps accumulated (Zeno) and the motion came to rest */
  int32_t slides;          /* how often a relation chattered and the motion began to slide along its surface */
  int32_t last_tie;        /* the last rest or slide: an event or, counted behind the events, a relation */
  int32_t releases;        /* how often the motion left a surface */
  /* 1 while a plan is being searched for, when no other may begin; 2: tangents are followed too */
  int32_t is_planning;
  int32_t plans_made; /* searches for a plan that succeeded ... */
  int32_t plans_failed;
  int32_t plan_runs;        /* motions simulated by the last search ... */
  int32_t plan_differences; /* ... and its Jacobians that were finite differences, for lack of tangents */
  /* 1: the kernel does not search for a plan when its guard holds. It sets bit k of plans_asked for plan k <
   * TACTUS_MOST_ASKED, and the plan does not begin before the host has answered with tk_begin_plan or tk_refuse_plan.
   * Negative: the work on this Instance was cancelled (tk_cancel). */
  int32_t plans_wait;
  uint64_t plans_asked;
  /* double data[model->layout.size] follows */
};

/* Offsets in doubles from the first byte behind the header. Sections do not overlap; counts are in the model. */
typedef struct tactus_layout {
  uint32_t states;
  uint32_t inputs;
  uint32_t input_rates;
  uint32_t parameters;
  uint32_t derived; /* values that depend on parameters only, computed by `prepare` */
  uint32_t outputs;
  uint32_t warm;     /* last solution of every Newton block, its next start */
  uint32_t discrete; /* memories of reactive behaviours, then the held values of relations: constant between events */
  /* One double an event. every: ticks so far; at: times passed so far; when: 1 while its condition holds. A fraction of
   * 0.5 marks an event that is due at the present time and has not fired yet (when: 0.5, its condition has become
   * true); tk_fire rounds it up. */
  uint32_t clocks;
  uint32_t history; /* the ring buffers of the delays: tactus_delay */
  uint32_t ties;    /* the surfaces of rest and sliding: kernel/ties.h; empty without relations */
  /* End of the sections above and, behind them, of the derivative that adaptive steps keep (state_count). */
  uint32_t snapshot;
  uint32_t watched; /* scratch: the results of `watch`, then TACTUS_GUARD_COPIES * relation_count for the kernel */
  uint32_t work;    /* scratch of the model's own functions: linear and Newton blocks, values between chunks of code */
  /* Scratch of the integrator: TACTUS_STAGE_VECTORS * state_count + warm_count; with rates, the same again for the
   * largest subsystem. */
  uint32_t stages;
  uint32_t projection; /* scratch of projection and start: see kernel/project.c */
  uint32_t plan;       /* scratch: the Instance saved during the search for a plan; empty without plans */
  /* Scratch of the stiff methods: kernel/linear.c; empty when the model is too large for them. */
  uint32_t linear;
  uint32_t size; /* doubles in all */
} tactus_layout;

/* Vectors of state_count doubles in the scratch of the integrators. */
#define TACTUS_STAGE_VECTORS 28
/* Copies of the relations' guards that the kernel keeps while it looks for the first change. */
#define TACTUS_GUARD_COPIES 7

/* A system counts as stiff after this many steps at the edge of stability (instance->stiff_steps). */
#define TACTUS_STIFF 15

/* The largest number of states whose Jacobian is kept as a full matrix; beyond it only the entries of `factors` are
 * kept. Two full matrices of this size are 0.6 MB of scratch in every Instance, and one factorisation is 3 million
 * operations, a millisecond. */
#define TACTUS_DENSE_STATES 200

/* A named value: `rows * columns` doubles, row-major, at `at` in its section. A scalar is 1 x 1, a vector n x 1. */
typedef struct tactus_channel {
  const char* name; /* as the user writes it: "p", "p'" */
  const char* unit; /* "" when none is known */
  uint32_t at;
  uint32_t rows;
  uint32_t columns;
  uint32_t flags;
} tactus_channel;

enum {
  TACTUS_CHANNEL_DERIVATIVE = 1, /* a primed name: recorded only when asked for */
  TACTUS_CHANNEL_CONSTANT = 2,   /* does not change during a run */
  TACTUS_CHANNEL_WRITTEN = 4,    /* an `external .. writes` it */
  TACTUS_CHANNEL_DISCRETE = 8,   /* constant between events: drawn as a staircase */
  TACTUS_CHANNEL_SCENE = 16      /* made for an option of a drawing: the user gave it no name */
};

/* An option of a drawing: `at`, `radius`, .. `trace` has `point`, `mesh` has `file`, `plot` one option for each
 * `value`, `text` its `values`, one scalar for each placeholder. */
typedef struct tactus_drawing_option {
  const char* name;
  const char* text; /* colours and files; else null, and `channel` gives the value */
  uint32_t channel;
} tactus_drawing_option;

/* A statement of the scene, in the order of the text. */
typedef struct tactus_drawing {
  const char* kind;
  const char* text; /* of `text`: {0}, {1} .. stand for its values, {{ and }} for braces; else null */
  uint32_t first_option;
  uint32_t option_count;
  uint32_t line;
} tactus_drawing;

/* A value that may be changed during a run. `low <= high` when the user gave a range, else low = high = 0. */
typedef struct tactus_parameter {
  const char* name;
  const char* unit;
  double initial;
  double low;
  double high;
} tactus_parameter;

/* One connection of an `external`: the input channel (reads) or output channel (writes) `channel`. */
typedef struct tactus_port {
  const char* device; /* "GUI", "hand" */
  uint32_t channel;
  uint32_t is_input;
} tactus_port;

/* Equations solved together, for messages: text of the equations and names of the unknowns, "; "-separated. */
typedef struct tactus_block {
  const char* equations;
  const char* unknowns;
  uint32_t line;  /* of the first equation */
  uint32_t count; /* unknowns */
  uint32_t warm;  /* Newton: offset of its unknowns in the warm section; else UINT32_MAX */
} tactus_block;

typedef enum tactus_event_kind {
  TACTUS_EVERY = 0, /* ticks at starting_time + from + k * period, k = 0, 1, .. : a product, so it does not drift */
  TACTUS_AT = 1,    /* at event_times[first .. first + count), increasing */
  TACTUS_WHEN = 2,  /* when watched[first] goes from 0 to 1, located to event_precision */
  /* A jump, taken while watched[first] is 1: `fire` changes states, modes and memories. Handlers that respond to it
   * belong to the event right behind it, if that is TACTUS_AFTER. watched[first + 1 .. first + count) are the terms of
   * its guard, which must all be positive; they serve jumps that accumulate (kernel/ties.h). */
  TACTUS_TRANSITION = 3,
  TACTUS_AFTER = 4,
  TACTUS_REQUIRE = 5, /* the run fails when watched[first] is 1 */
  TACTUS_EXPECT = 6,  /* the violation is counted when watched[first] is 1 */
  TACTUS_STOP = 7,    /* the run ends successfully when watched[first] is 1 */
  TACTUS_CHECK = 9,   /* a `check` is broken when watched[first] is 1; its clock is then 1 until the end */
  TACTUS_CHOOSE = 8,  /* fired once, at the start: sets the modes that the starting values require */
} tactus_event_kind;

enum { TACTUS_ENFORCES_POSITIONS = 1 };

/* Events that are due at one instant fire in the order of this table. */
typedef struct tactus_event {
  const char* name;
  uint32_t kind;
  uint32_t first;
  uint32_t count;
  uint32_t line; /* where it is declared */
  double period;
  double from;
  uint32_t flags;
  uint32_t pulse; /* discrete[pulse - 1] is 1 at the instants at which it happens; 0: no expression reads it */
} tactus_event;

/* A mode variable. discrete[slot] is its mode; the index of a combination of modes is the sum of mode * stride. */
typedef struct tactus_automaton {
  const char* name;
  const char* const* modes;
  uint32_t mode_count;
  uint32_t slot;
  uint32_t stride;
} tactus_automaton;

#define TACTUS_NO_STRUCTURE 0xffffffffu

/* A plan: before the jump `event`, values of the states plan_places[first_chosen ..] are computed such that the targets
 * of each phase, watched[target ..], are 0 when that phase ends. */
typedef struct tactus_plan_phase {
  uint32_t event; /* the transition that ends the phase */
  uint32_t target;
  uint32_t target_count;
} tactus_plan_phase;

typedef struct tactus_plan {
  const char* name;
  uint32_t event;
  uint32_t failed; /* the jump that is taken when the search fails */
  uint32_t first_chosen;
  uint32_t chosen_count;
  uint32_t guess; /* in watched: the initial guess, chosen_count values */
  uint32_t first_phase;
  uint32_t phase_count;
  uint32_t has_otherwise; /* 0: a search that fails ends the run */
  uint32_t line;
} tactus_plan;

/* The ledger of a solver that keeps the energy balance: the energy that it added, less what it has removed since; how
 * often a step leapt over a minimum of the energy; how often it left one. */
enum { TACTUS_LEDGER_BOOKED = 0, TACTUS_LEDGER_LEAPS = 1, TACTUS_LEDGER_ESCAPES = 2, TACTUS_LEDGER = 3 };

/* A subsystem: a part of the model with a step of its own, `multiple` steps of the whole model. Its states are
 * contiguous. Values from other subsystems are held in the discrete section during its step: kernel/rates.c. */
typedef struct tactus_subsystem {
  uint32_t multiple;
  uint32_t first_state;
  uint32_t state_count;
  uint32_t ledger;  /* as tactus_model.ledger; 0: the subsystem stores no energy */
  uint32_t phase;   /* in discrete: steps of the whole model since its own last step */
  uint32_t samples; /* index of its first sample among those of all subsystems */
} tactus_subsystem;

typedef enum tactus_join_manner {
  TACTUS_JOIN_HOLD = 0,
  TACTUS_JOIN_EXTRAPOLATE = 1,
  TACTUS_JOIN_PASSIVE = 2
} tactus_join_manner;

/* Ports of two subsystems that exchange `count` samples each: port 0 receives the output of port 1, and port 1 receives
 * that of port 0 with the sign changed. */
typedef struct tactus_join {
  uint32_t manner;
  uint32_t count;
  uint32_t subsystem[2];
  uint32_t sample[2]; /* index of the port's output among all subsystems' samples */
  uint32_t held[2];   /* in discrete: the held input of the port; extrapolate: followed by its `count` slopes */
  uint32_t since;     /* extrapolate, in discrete: the time of the last sample */
  uint32_t work[2];   /* one more than the state that integrates the energy through the port; 0: none */
} tactus_join;

/* The functions of subsystem k are TACTUS_SUBSYSTEM_FUNCTIONS * k plus one of these. Results: the derivatives of its
 * states; the derivatives of its energy by its states, then its energy; the outputs of its joined ports. */
enum {
  TACTUS_SUBSYSTEM_DERIVATIVE = 0,
  TACTUS_SUBSYSTEM_ENERGY = 1,
  TACTUS_SUBSYSTEM_SAMPLES = 2,
  TACTUS_SUBSYSTEM_FUNCTIONS = 3
};

/* The largest number of unknowns of a plan. */
#define TACTUS_MOST_CHOSEN 24
/* Only the first plans of a model, this many, can be left to the host; the kernel searches for the others at once. */
#define TACTUS_MOST_ASKED 64

/* delay(e, d). Its ring buffer in the history section: 2 doubles (index of the oldest sample, number of samples), then
 * `capacity` times, then `capacity` values. e is watched[source]; d is derived[duration], which `prepare` computes.
 * Before the start, e has its value at the start; a rate, which is the derivative of another delay's source, is 0. */
typedef struct tactus_delay {
  uint32_t source;
  uint32_t duration;
  uint32_t history; /* offset in the history section; 2 + 2 * capacity doubles */
  uint32_t capacity;
  uint32_t is_rate;
} tactus_delay;

typedef enum tactus_table_method { TACTUS_HOLD = 0, TACTUS_LINEAR = 1, TACTUS_CUBIC = 2 } tactus_table_method;

/* Sampled data: values[i] at x[i] or, with y_count > 0, values[i * y_count + j] at (x[i], y[j]); x and y increase.
 * Cubic is the monotone piecewise cubic of Fritsch and Butland; slopes[i] are its derivatives along x (in two
 * dimensions along y, for each x). Beyond the ends the value is that at the end. */
typedef struct tactus_table {
  uint32_t method;
  uint32_t x_count;
  uint32_t y_count; /* 0: one dimension */
  const double* x;
  const double* y;
  const double* values;
  const double* slopes; /* cubic only */
} tactus_table;

/* A comparison, or the kink of min, max, abs, sign, floor. Its value is held between events and updated where its guard
 * crosses zero, which is located. TRUTH: the held value is 1 when watched[guard] > 0, or when watched[guard] is 0 and
 * is_strict is not set; else 0. The held value of an event's guard is read by no equation. FLOOR: the held value is
 * floor(watched[source]); watched[guard] is positive inside the interval of that value. */
typedef enum tactus_relation_kind { TACTUS_TRUTH = 0, TACTUS_FLOOR = 1 } tactus_relation_kind;
typedef struct tactus_relation {
  uint32_t kind;
  uint32_t guard;  /* in watched */
  uint32_t held;   /* in discrete */
  uint32_t source; /* floor: in watched; truth: one more than the event whose guard it is, or 0 */
  uint32_t is_strict;
  uint32_t line;
} tactus_relation;

/* g(t, x) = 0: an equation that index reduction differentiated, or one of its derivatives. Steps drift from it and are
 * projected back onto it. */
typedef struct tactus_constraint {
  const char* text;
  uint32_t line;
  uint32_t order; /* how often the equation was differentiated */
} tactus_constraint;

/* A boundary condition r(t, x) = 0 at `time`, unless it simply gives a state its start. */
typedef struct tactus_condition {
  const char* text;
  uint32_t line;
  double time;
} tactus_condition;

/* How the initial value of a state is determined. */
enum {
  TACTUS_STATE_FREE = 0,    /* `initialize` gives a guess; constraints and conditions may change it */
  TACTUS_STATE_GIVEN = 1,   /* the user gave it: it is kept */
  TACTUS_STATE_ASSUMED = 2, /* not given and not determined by an equation: it stays as near to 0 as possible */
};

/* Which entries of a matrix may differ from zero: line k (a row, or a column) has index[start[k] .. start[k + 1]),
 * increasing. */
typedef struct tactus_pattern {
  const uint32_t* start;
  const uint32_t* index;
} tactus_pattern;

/* The functions that `tangent` differentiates. TACTUS_OF_FIRE + e is the firing of event e. TACTUS_OF_SUBSYSTEM + k is
 * the derivative of subsystem k, whose direction has only its own states. */
#define TACTUS_OF_SUBSYSTEM 0x80000000u
typedef enum tactus_function {
  TACTUS_OF_PREPARE = 0,     /* result: derived */
  TACTUS_OF_INITIALIZE = 1,  /* result: states, then discrete */
  TACTUS_OF_DERIVATIVE = 2,  /* result: state_count */
  TACTUS_OF_OUTPUTS = 3,     /* result: output_count */
  TACTUS_OF_WATCH = 4,       /* result: watch_count */
  TACTUS_OF_CONSTRAINTS = 5, /* result: constraint_count */
  TACTUS_OF_CONDITIONS = 6,  /* result: condition_count */
  TACTUS_OF_FIRE = 7,        /* result: discrete_count, then state_count values after the event */
} tactus_function;

/* The largest number of states for which `slopes` has a matrix. */
#define TACTUS_CORE 8

struct tactus_model {
  uint32_t abi; /* TACTUS_ABI */
  uint32_t state_count;
  uint32_t input_count; /* scalars */
  uint32_t parameter_count;
  uint32_t derived_count;
  uint32_t output_count; /* scalars */
  uint32_t warm_count;
  uint32_t work_count;
  uint32_t discrete_count; /* scalars */
  uint32_t event_count;
  uint32_t watch_count; /* scalars that `watch` computes */
  uint32_t delay_count;
  uint32_t table_count;
  uint32_t history_count; /* doubles */
  uint32_t relation_count;
  uint32_t constraint_count;
  uint32_t condition_count;
  uint32_t colour_count;
  tactus_layout layout;

  const char* name;
  const tactus_channel* channels; /* recorded names; their values are in the outputs section */
  const tactus_channel* input_channels;
  const tactus_parameter* parameters;
  const tactus_port* ports;
  const tactus_block* blocks;
  const tactus_event* events;
  const double* event_times; /* of all TACTUS_AT events */
  const tactus_delay* delays;
  const tactus_table* tables;
  const tactus_relation* relations;
  const tactus_constraint* constraints;
  const tactus_condition* conditions;
  const char* const* state_names; /* one for each scalar state: "p[1]", "p'[2]" */
  const uint32_t* state_flags;    /* one for each state: TACTUS_STATE_..; null: all are given */
  /* The Jacobian of `derivative` by x, stored by columns. Columns of one colour (0 .. colour_count - 1) share no row,
   * so that one tangent gives them all. */
  tactus_pattern jacobian;
  const uint32_t* colours;
  /* Storage of Gaussian elimination without pivoting for a matrix with these entries and a full diagonal. Row and
   * column k are those of state factor_order[k]. Row k has the columns factors.index[factors.start[k] ..], fill-in
   * included, with the diagonal at factor_diagonal[k]. Entry e of `jacobian` is at factor_places[e]. All null: the full
   * matrix is cheaper. */
  tactus_pattern factors;
  const uint32_t* factor_order;
  const uint32_t* factor_diagonal;
  const uint32_t* factor_places;
  tactus_pattern constraint_jacobian; /* by rows */
  uint32_t channel_count;
  uint32_t input_channel_count;
  uint32_t port_count;
  uint32_t block_count;

  /* The model's `scene`. Empty in a program exported as C. */
  const tactus_drawing* drawings;
  const tactus_drawing_option* drawing_options;
  uint32_t drawing_count;
  uint32_t drawing_option_count;
  int32_t dimensions; /* of the picture: 2 when all drawn points have two components, else 3 */

  /* The model's `simulation` section. step_size 0: none given. solver -1: none given. */
  double starting_time;
  double ending_time;
  double step_size;
  double tolerance;
  double record_period;
  double event_precision; /* 0: none given */
  int32_t solver;
  uint32_t max_transitions; /* 0: none given */
  double hand_period;       /* `external hand every 0.001`; 0: none given */
  /* Not from the model's text: options that a run may set. A zero crossing is located to event_precision and, when this
   * is positive, also until the guard behind the crossing is no further from zero than this. */
  double guard_precision;
  uint32_t location_steps; /* the largest number of evaluations to locate one zero crossing; 0: no limit */

  /* A model with modes has one table for each structure that its equations can have, all with this layout, and this
   * table for all of them: its counts are the largest, and its functions call those of the active structure
   * (kernel/modes.c). Zero and null without modes. */
  const tactus_automaton* automata;
  const tactus_model* const* structures;
  const uint32_t* structure_of; /* by combination of modes; TACTUS_NO_STRUCTURE: cannot be reached */
  uint32_t automaton_count;
  uint32_t structure_count;
  tactus_pattern conflicts; /* by event: later events that jump elsewhere; null without modes */
  const tactus_plan* plans;
  const tactus_plan_phase* plan_phases;
  const uint32_t* plan_places;
  uint32_t plan_count;
  /* One more than the place in discrete of the energy's ledger, TACTUS_LEDGER values that start at 0; 0: no energy is
   * declared. */
  uint32_t ledger;
  /* One more than the index of the states that integrate the supplied and the dissipated energy; 0: there is none. */
  uint32_t book_supplied;
  uint32_t book_dissipated;
  /* The states of the matrix of `slopes`: those that `derivative` or `energy` reads, increasing. */
  uint32_t core_count;
  uint8_t core[TACTUS_CORE];
  /* With rates; else null and 0. */
  const tactus_subsystem* subsystems;
  const tactus_join* joins;
  uint32_t subsystem_count;
  uint32_t join_count;
  uint32_t samples; /* in work: sample_count samples, then for each subsystem whether its samples are up to date */
  uint32_t sample_count;

  /* Computes the derived section; called after parameters changed. */
  int (*prepare)(const tactus_model*, tactus_instance*);
  /* Sets states and discrete values at instance->time from the boundary conditions and `init`s. */
  int (*initialize)(const tactus_model*, tactus_instance*);
  /* dx = f(t, x). Reads inputs, parameters, derived; may change only warm starts, work and failed_block. */
  int (*derivative)(const tactus_model*, tactus_instance*, double t, const double* x, double* dx);
  /* Computes every recorded name at (t, x) into the outputs section. */
  int (*outputs)(const tactus_model*, tactus_instance*, double t, const double* x);
  /* Fires event `event` at (instance->time, states): its handlers change the discrete section. An event that does not
   * exist changes nothing. Warm starts stay as they were unless it fails, so that neither this nor `watch` changes a
   * bit of the motion. May be null without events. */
  int (*fire)(const tactus_model*, tactus_instance*, uint32_t event);
  /* Computes conditions of events (1 or 0), sources of delays, and guards and sources of relations at (t, x) into the
   * watched section. Warm starts as with `fire`. May be null when watch_count is 0. */
  int (*watch)(const tactus_model*, tactus_instance*, double t, const double* x);
  /* The residuals of the constraints at (t, x), constraint_count doubles; behind them their derivatives by x, the
   * entries of constraint_jacobian row by row. Warm starts as with `fire`. May be null when constraint_count is 0. */
  int (*constrain)(const tactus_model*, tactus_instance*, double t, const double* x, double* result);
  /* The residuals of the conditions at (t, x), whatever their times. Warm starts as with `fire`. May be null when
   * condition_count is 0. */
  int (*condition)(const tactus_model*, tactus_instance*, double t, const double* x, double* result);
  /* The derivative of the stored energy by each state at (t, x), then the energy itself: state_count + 1 doubles. Null
   * without energy. */
  int (*energy)(const tactus_model*, tactus_instance*, double t, const double* x, double* result);
  /* A = J - R by rows, of equations x' = A dH/dx + b with b the contribution of the ports; then 1 for each state that
   * the energy depends on, else 0: state_count * (state_count + 1) doubles. Null where that form is not known. */
  int (*structure)(const tactus_model*, tactus_instance*, double t, const double* x, double* result);
  /* `derivative` and behind it `energy`, bit for bit the same: 2 state_count + 1 doubles. Common subexpressions, such
   * as the sine and cosine of an angle, are computed once. Null where nothing is gained, and where `derivative` has
   * warm starts. */
  int (*balance)(const tactus_model*, tactus_instance*, double t, const double* x, double* result);
  /* `balance`, bit for bit the same, and behind it the derivative of `derivative` by the states of `core`, rows and
   * columns of those states only, by rows: 2 state_count + 1 + core_count^2 doubles. Null where `balance` is null, with
   * more than TACTUS_CORE such states, and where blocks are solved. */
  int (*slopes)(const tactus_model*, tactus_instance*, double t, const double* x, double* result);
  /* Function `function` (TACTUS_SUBSYSTEM_..) of a subsystem at (t, x), with x its own states. Warm starts as with
   * `derivative` for the derivative, else as with `fire`. Null without rates. */
  int (*subsystem)(const tactus_model*, tactus_instance*, uint32_t function, double t, const double* x, double* result);
  /* The directional derivative of `function` (a tactus_function) at (t, x) along `direction` (tactus_direction_..).
   * Warm starts as with `fire`. The values of delays count as constant. fire, initialize: t and x are those of the
   * instance. Returns -1 for a function whose tangent was not requested. Null unless any was: most runs need none. */
  int (*tangent)(const tactus_model*, tactus_instance*, uint32_t function, double t, const double* x,
                 const double* direction, double* result);
  /* `count` steps of length h with a fixed-step solver; stops at the first failure. The kernel's own loop: either
   * tk_fixed_steps as it is, or the same inlined around this model. */
  int (*fixed_steps)(const tactus_model*, tactus_instance*, int solver, double h, int64_t count);
  /* One accepted adaptive step, not beyond t_end nor longer than h_max. tk_adaptive_step, or the same inlined. */
  int (*adaptive_step)(const tactus_model*, tactus_instance*, int solver, double t_end, double h_max, double tolerance);
};

#define TACTUS_ABI 10u

/* Offsets of the parts of a direction, in doubles; the change of t comes first. */
static inline uint64_t tactus_direction_states(const tactus_model* model) {
  (void)model;
  return 1;
}
static inline uint64_t tactus_direction_inputs(const tactus_model* model) { return 1 + (uint64_t)model->state_count; }
static inline uint64_t tactus_direction_input_rates(const tactus_model* model) {
  return tactus_direction_inputs(model) + model->input_count;
}
static inline uint64_t tactus_direction_parameters(const tactus_model* model) {
  return tactus_direction_input_rates(model) + model->input_count;
}
static inline uint64_t tactus_direction_derived(const tactus_model* model) {
  return tactus_direction_parameters(model) + model->parameter_count;
}
static inline uint64_t tactus_direction_discrete(const tactus_model* model) {
  return tactus_direction_derived(model) + model->derived_count;
}
static inline uint64_t tactus_direction_size(const tactus_model* model) {
  return tactus_direction_discrete(model) + model->discrete_count;
}

static inline double* tactus_data(tactus_instance* instance) { return (double*)(void*)(instance + 1); }
static inline const double* tactus_data_const(const tactus_instance* instance) {
  return (const double*)(const void*)(instance + 1);
}
static inline uint64_t tactus_instance_bytes(const tactus_model* model) {
  return sizeof(tactus_instance) + 8u * (uint64_t)model->layout.size;
}

#ifdef __cplusplus
}
#endif

#endif
