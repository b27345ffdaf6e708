/* The model table and the Instance: all that compiler, kernel and runtime share. Plain C11, also C++20.
 *
 * A compiled model is a constant table of functions and metadata. A running one is an Instance: one contiguous block
 * without pointers, a header followed by sections of doubles at the offsets of the model's layout. A snapshot is a
 * memcpy of `layout.snapshot` doubles and the header; beyond them lies scratch, which no function expects to survive
 * between two calls, save the dense output of the last adaptive step.
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
  TACTUS_ENDLESS_EVENTS =
      5, /* events of one instant without end, or time stands still; see failed_index for one of them */
  TACTUS_OFF_CONSTRAINTS =
      6, /* a step went so far off the constraints that it cannot be put back; failed_index: of one */
  TACTUS_NO_START =
      7, /* starts, constraints and conditions contradict each other; failed_index: the constraint, or behind them
                          the condition, that is off most */
  TACTUS_NO_SOLVER =
      8, /* the solver needs what this table lacks: `tangent`, room for the Jacobian, `energy`, or the host's cvode */
  TACTUS_BREACHED = 9,  /* a `require` does not hold; failed_index: its event */
  TACTUS_STOPPED = 10,  /* a `stop when` holds: the run ends well; failed_index: its event */
  TACTUS_CONFLICT = 11, /* two transitions disagree: failed_index and failed_block are their events */
  TACTUS_NO_PLAN =
      13, /* no values were found with which a plan's targets hold; failed_index: the event that begins it */
  TACTUS_OFF_ENTRY =
      12, /* a jump leads off the constraints of the mode that it enters; failed_index: of one, failed_block: its event */
  TACTUS_NOT_LOCATED =
      14, /* location_steps were not enough for where a relation changes; failed_index: behind the events the relation */
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
  double input_time;          /* an input reads input + input_rate * (t - input_time) */
  double next_step;           /* adaptive: the step to try next; 0 asks for a first guess */
  double last_error;          /* adaptive: the scaled error of the last accepted step (PI control) */
  double dense_from;          /* adaptive, or parts: the last step went from here ... */
  double dense_step;          /* ... over this length; 0 before the first */
  int64_t short_parts;        /* parts in a row that a condition or relation ended as soon as they began */
  int64_t crossings;          /* how often a relation changed since the start */
  double constraint_residual; /* the most that a constraint was off at the end of a step, in its own unit */
  int32_t stiff_steps; /* adaptive, explicit: steps whose length stability and not accuracy sets; TACTUS_STIFF: stiff */
  int32_t loose_steps; /* ... and those since that were not */
  int32_t status;
  int32_t failed_block; /* index into model->blocks, or -1 */
  /* Index of a state, or -1; with TACTUS_ENDLESS_EVENTS an event, behind them a relation; with TACTUS_OFF_CONSTRAINTS a constraint. */
  int32_t failed_index;
  /* Adaptive: 1 while the kept derivative (see tactus_layout.snapshot) is the one at (time, states). Whoever changes
   * states, inputs or parameters from outside between two steps writes 0; the kernel's own functions do so themselves. */
  int32_t first_stage_valid;
  int32_t is_crossed;      /* 1: a relation is no longer what is held, which tk_fire mends */
  int32_t structure;       /* which of model->structures holds */
  int64_t transitions;     /* jumps since the start */
  int32_t last_transition; /* the event of the last one, or -1 */
  int32_t expectations;    /* how often an `expect` was found not to hold */
  int32_t broken_checks;   /* so many of the model's `check`s are broken */
  int32_t tie_count;       /* surfaces that the motion rests on or slides along now */
  int32_t rests;           /* how often jumps accumulated, and the motion came to rest */
  int32_t slides;          /* how often a comparison changed to and fro, and the motion slid along it */
  int32_t last_tie;        /* the last of these: an event, or behind them a relation */
  int32_t releases;        /* how often it left a surface */
  int32_t is_planning;     /* 1 while a plan is tried out: no other begins; 2: and slopes are followed */
  int32_t plans_made;      /* searches that found something, and that did not */
  int32_t plans_failed;
  int32_t plan_runs;        /* motions that were tried out for the last one ... */
  int32_t plan_differences; /* ... and Jacobians that were differences of them, for want of tangents */
  /* 1: a plan is not searched for where its guard holds. It is asked for, bit k of plans_asked for plan k < TACTUS_MOST_ASKED, and does
   * not begin before the host has answered: tk_begin_plan, tk_refuse_plan. */
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
  uint32_t derived; /* what depends on parameters only, computed by `prepare` */
  uint32_t outputs;
  uint32_t warm;     /* last solution of every Newton block, its next start */
  uint32_t discrete; /* reactive behaviours, then what relations hold: constant between events */
  /* One an event. every: ticks so far; at: times passed so far; when: 1 while its condition holds. 0.5 more: due now, not yet
   * fired (when: 0.5, its condition rose); tk_fire rounds up. */
  uint32_t clocks;
  uint32_t history; /* the rings of the delays, see tactus_delay */
  uint32_t ties;    /* what the motion rests on or slides along: see kernel/ties.h; empty without relations */
  uint32_t
      snapshot; /* all the sections above, and after them the derivative kept by adaptive steps (state_count), end here */
  uint32_t watched; /* scratch: what `watch` computed, then TACTUS_GUARD_COPIES * relation_count for the kernel */
  uint32_t work;    /* scratch of the model's own functions: linear and Newton blocks, values between chunks */
  uint32_t
      stages; /* scratch of the integrator: TACTUS_STAGE_VECTORS * state_count + warm_count; with rates, the same once more for the largest
                      subsystem */
  uint32_t projection; /* scratch of projection and start: see kernel/project.c */
  uint32_t plan;       /* scratch: an Instance put aside while a plan is tried out; empty without plans */
  uint32_t linear; /* scratch of the stiff methods, see kernel/linear.c; empty when the model is too large for them */
  uint32_t size;   /* doubles in all */
} tactus_layout;

/* Vectors of state_count doubles that the kernel's integrators may use in scratch. */
#define TACTUS_STAGE_VECTORS 28
/* Copies of the relations' guards that the kernel keeps while it looks for the first change. */
#define TACTUS_GUARD_COPIES 7

/* So many steps at the edge of stability (instance->stiff_steps) make a system stiff. */
#define TACTUS_STIFF 15

/* The Jacobian of more states is kept only by the entries of `factors`: two full matrices of so many are 0.6 MB of scratch in
 * every Instance, and one factorisation is 3 million operations, a millisecond. */
#define TACTUS_DENSE_STATES 200

/* A named value: `rows * columns` doubles, row-major, at `at` in its section. A scalar is 1 x 1, a vector n x 1. */
typedef struct tactus_channel {
  const char* name; /* as the person writes it: "p", "p'" */
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
  TACTUS_CHANNEL_SCENE = 16      /* made for an option of a drawing: no name that a person gave */
};

/* An option of a drawing: `at`, `radius`, ..; of `trace` its `point`, of `mesh` its `file`, of `plot` each `value`, of `text` its
 * `values`, one scalar a hole. */
typedef struct tactus_drawing_option {
  const char* name;
  const char* text; /* colours and files; else null, and `channel` is what it shows */
  uint32_t channel;
} tactus_drawing_option;

/* A line of the scene, in the order of the text. */
typedef struct tactus_drawing {
  const char* kind;
  const char* text; /* of `text`: {0}, {1} .. stand for its values, {{ and }} for braces; else null */
  uint32_t first_option;
  uint32_t option_count;
  uint32_t line;
} tactus_drawing;

/* A changeable value. `low <= high` when the person gave a range, else low = high = 0. */
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
  /* While watched[first] is 1. A jump: `fire` changes states, modes and memories; handlers that answer it are those of the event right
   * behind it, if that is TACTUS_AFTER. watched[first + 1 .. first + count): the parts of its guard that must all be positive, for
   * jumps that accumulate (kernel/ties.h). */
  TACTUS_TRANSITION = 3,
  TACTUS_AFTER = 4,
  TACTUS_REQUIRE = 5, /* watched[first] is 1: the run has failed */
  TACTUS_EXPECT = 6,  /* the same: it is counted */
  TACTUS_STOP = 7,    /* the same: the run ends well */
  TACTUS_CHECK = 9,   /* watched[first] is 1: what a `check` says is broken; its clock is then 1 for good */
  TACTUS_CHOOSE = 8,  /* once, at the start: `fire` sets the modes that the start asks for */
} tactus_event_kind;

enum { TACTUS_ENFORCES_POSITIONS = 1 };

/* Events of one instant fire one after another in the order of this table. */
typedef struct tactus_event {
  const char* name;
  uint32_t kind;
  uint32_t first;
  uint32_t count;
  uint32_t line; /* where it is declared */
  double period;
  double from;
  uint32_t flags;
  uint32_t pulse; /* discrete[pulse - 1] is 1 at the instants at which it happens; 0: nobody asks */
} tactus_event;

/* A mode variable. discrete[slot] is its mode; the combination of all is the sum of mode * stride. */
typedef struct tactus_automaton {
  const char* name;
  const char* const* modes;
  uint32_t mode_count;
  uint32_t slot;
  uint32_t stride;
} tactus_automaton;

#define TACTUS_NO_STRUCTURE 0xffffffffu

/* A plan: before the jump `event` the states plan_places[first_chosen ..] are found such that, when each of its phases ends, its targets,
 * watched[target ..], are 0. */
typedef struct tactus_plan_phase {
  uint32_t event; /* the transition that ends it */
  uint32_t target;
  uint32_t target_count;
} tactus_plan_phase;

typedef struct tactus_plan {
  const char* name;
  uint32_t event;
  uint32_t failed; /* the jump that is taken when nothing is found */
  uint32_t first_chosen;
  uint32_t chosen_count;
  uint32_t guess; /* in watched: where the search begins, chosen_count values */
  uint32_t first_phase;
  uint32_t phase_count;
  uint32_t has_otherwise; /* 0: a search that fails ends the run */
  uint32_t line;
} tactus_plan;

/* The ledger of a solver that keeps the balance of energy: what it put in (less what it took back since), how often it leapt over a
 * minimum, and how often it left one. */
enum { TACTUS_LEDGER_BOOKED = 0, TACTUS_LEDGER_LEAPS = 1, TACTUS_LEDGER_ESCAPES = 2, TACTUS_LEDGER = 3 };

/* A part of the model with a step of its own: `multiple` steps of the whole. Its states follow each other. What it gets from others is
 * held in discrete values while it takes its step: see kernel/rates.c. */
typedef struct tactus_subsystem {
  uint32_t multiple;
  uint32_t first_state;
  uint32_t state_count;
  uint32_t ledger;  /* as tactus_model has it; 0: nothing is stored here */
  uint32_t phase;   /* in discrete: steps of the whole since its last one */
  uint32_t samples; /* of all subsystems' samples these are the first of its own */
} tactus_subsystem;

typedef enum tactus_join_manner {
  TACTUS_JOIN_HOLD = 0,
  TACTUS_JOIN_EXTRAPOLATE = 1,
  TACTUS_JOIN_PASSIVE = 2
} tactus_join_manner;

/* Ports of two subsystems that exchange samples, `count` each: [0] gets what [1] gives, [1] what [0] gives with the sign changed. */
typedef struct tactus_join {
  uint32_t manner;
  uint32_t count;
  uint32_t subsystem[2];
  uint32_t sample[2]; /* what a port gives, among all subsystems' samples */
  uint32_t held[2];   /* in discrete, what it gets; extrapolate: then its `count` slopes */
  uint32_t since;     /* in discrete, extrapolate: when it was sampled */
  uint32_t work[2];   /* one more than the state that is what the port has let in; 0: none is kept */
} tactus_join;

/* The functions of subsystem k are TACTUS_SUBSYSTEM_FUNCTIONS * k + .. ; results: its states' rates; the energy's slopes by its states, then
 * its energy; what its joined ports give. */
enum {
  TACTUS_SUBSYSTEM_DERIVATIVE = 0,
  TACTUS_SUBSYSTEM_ENERGY = 1,
  TACTUS_SUBSYSTEM_SAMPLES = 2,
  TACTUS_SUBSYSTEM_FUNCTIONS = 3
};

/* Unknowns of a plan, at most. */
#define TACTUS_MOST_CHOSEN 24
/* Plans of a model that a host can be asked for; those behind them are searched for at once. */
#define TACTUS_MOST_ASKED 64

/* delay(e, d). Its ring in the history section: 2 doubles (index of the oldest sample, number of samples), then `capacity` times
 * then `capacity` values. e is watched[source]; d is derived[duration], which `prepare` computes. Before the start e was what it
 * is there; a rate, the derivative of another delay's source, was 0. */
typedef struct tactus_delay {
  uint32_t source;
  uint32_t duration;
  uint32_t history; /* offset in the history section; 2 + 2 * capacity doubles */
  uint32_t capacity;
  uint32_t is_rate;
} tactus_delay;

typedef enum tactus_table_method { TACTUS_HOLD = 0, TACTUS_LINEAR = 1, TACTUS_CUBIC = 2 } tactus_table_method;

/* Sampled data: values[i] at x[i], or, with y_count > 0, values[i * y_count + j] at (x[i], y[j]); x and y increase. Cubic is the
 * monotone piecewise cubic of Fritsch and Butland; slopes[i] are its derivatives along x (in two dimensions along y, for each x).
 * Beyond the ends the value at the end holds. */
typedef struct tactus_table {
  uint32_t method;
  uint32_t x_count;
  uint32_t y_count; /* 0: one dimension */
  const double* x;
  const double* y;
  const double* values;
  const double* slopes; /* cubic only */
} tactus_table;

/* A comparison, or the kink of min, max, abs, sign, floor: held between events, located when its guard changes sign.
 * truth: held is 1 when watched[guard] > 0, also when it is 0 and is_strict is not set; else 0. Of an event's guard nobody reads it.
 * floor: held is floor(watched[source]); watched[guard] is positive inside the interval that it names. */
typedef enum tactus_relation_kind { TACTUS_TRUTH = 0, TACTUS_FLOOR = 1 } tactus_relation_kind;
typedef struct tactus_relation {
  uint32_t kind;
  uint32_t guard;  /* in watched */
  uint32_t held;   /* in discrete */
  uint32_t source; /* floor: in watched; truth: one more than the event whose guard it is, 0 of none */
  uint32_t is_strict;
  uint32_t line;
} tactus_relation;

/* g(t, x) = 0: an equation that was differentiated until the motion kept it, or a derivative of one. Steps drift from it and
 * are put back. */
typedef struct tactus_constraint {
  const char* text;
  uint32_t line;
  uint32_t order; /* how often it was differentiated */
} tactus_constraint;

/* A boundary condition r(t, x) = 0 at `time` that does not simply give a state its start. */
typedef struct tactus_condition {
  const char* text;
  uint32_t line;
  double time;
} tactus_condition;

/* How a state gets its start. */
enum {
  TACTUS_STATE_FREE = 0,    /* `initialize` gives a guess; constraints and conditions may change it */
  TACTUS_STATE_GIVEN = 1,   /* the person gave it: it is kept */
  TACTUS_STATE_ASSUMED = 2, /* nobody gave it, and nothing determines it: it stays as near to 0 as it can */
};

/* Which entries of a matrix may differ from zero: line k (a row, or a column) has index[start[k] .. start[k + 1]), increasing. */
typedef struct tactus_pattern {
  const uint32_t* start;
  const uint32_t* index;
} tactus_pattern;

/* What `tangent` differentiates; TACTUS_OF_FIRE + e is the firing of event e, TACTUS_OF_SUBSYSTEM + k the derivative of subsystem k, whose
 * direction has its own states only. */
#define TACTUS_OF_SUBSYSTEM 0x80000000u
typedef enum tactus_function {
  TACTUS_OF_PREPARE = 0,     /* result: derived */
  TACTUS_OF_INITIALIZE = 1,  /* result: states, then discrete */
  TACTUS_OF_DERIVATIVE = 2,  /* result: state_count */
  TACTUS_OF_OUTPUTS = 3,     /* result: output_count */
  TACTUS_OF_WATCH = 4,       /* result: watch_count */
  TACTUS_OF_CONSTRAINTS = 5, /* result: constraint_count */
  TACTUS_OF_CONDITIONS = 6,  /* result: condition_count */
  TACTUS_OF_FIRE = 7,        /* result: discrete_count, then state_count: the values after it */
} tactus_function;

/* States at most that `slopes` has a matrix of. */
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
  const tactus_channel* channels; /* recorded names: their place is in the outputs section */
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
  const char* const* state_names; /* one a scalar state: "p[1]", "p'[2]" */
  const uint32_t* state_flags;    /* one a state: TACTUS_STATE_..; null: all are given */
  /* The derivative of `derivative` by x, by columns. Columns of one colour (0 .. colour_count - 1) share no row, so one
   * tangent gives them all. */
  tactus_pattern jacobian;
  const uint32_t* colours;
  /* Where Gauss's elimination without exchanges keeps a matrix with these entries and a full diagonal: row and column k are those
   * of state factor_order[k], and row k has the columns factors.index[factors.start[k] ..], fill included, the diagonal at
   * factor_diagonal[k]. Entry e of `jacobian` is at factor_places[e]. All null: the full matrix is cheaper. */
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
  /* Not of the model's text: what a run may ask for besides. A change is located until the guard is no further from zero than this
   * where it has changed, as well as to event_precision; 0: to event_precision alone. */
  double guard_precision;
  uint32_t location_steps; /* evaluations to locate a change, at most; 0: as many as it takes */

  /* A model with modes is one table for each structure that its equations can have, all with this layout, and this one for all of
   * them: its counts are the largest, its functions those of the structure that holds (kernel/modes.c). Zero and null without. */
  const tactus_automaton* automata;
  const tactus_model* const* structures;
  const uint32_t* structure_of; /* by combination of modes; TACTUS_NO_STRUCTURE: not to be reached */
  uint32_t automaton_count;
  uint32_t structure_count;
  tactus_pattern conflicts; /* by event: later ones that jump elsewhere; null without */
  const tactus_plan* plans;
  const tactus_plan_phase* plan_phases;
  const uint32_t* plan_places;
  uint32_t plan_count;
  /* One more than the place in discrete of the energy's ledger, TACTUS_LEDGER values from 0 on; 0: no energy is declared. */
  uint32_t ledger;
  /* One more than the states in which the book's `supplied` and `dissipated` are integrated; 0: there is none. */
  uint32_t book_supplied;
  uint32_t book_dissipated;
  /* Of `slopes`: the states that `derivative` or `energy` reads, increasing. */
  uint32_t core_count;
  uint8_t core[TACTUS_CORE];
  /* With rates; else null and 0. */
  const tactus_subsystem* subsystems;
  const tactus_join* joins;
  uint32_t subsystem_count;
  uint32_t join_count;
  uint32_t samples; /* in work: room for the samples of all subsystems, then one double for each of these */
  uint32_t sample_count;

  /* After parameters changed: computes the derived section. */
  int (*prepare)(const tactus_model*, tactus_instance*);
  /* States, and discrete values, at instance->time from the boundary conditions and `init`s. */
  int (*initialize)(const tactus_model*, tactus_instance*);
  /* dx = f(t, x). Reads inputs, parameters, derived; may change only warm starts, work and failed_block. */
  int (*derivative)(const tactus_model*, tactus_instance*, double t, const double* x, double* dx);
  /* Every recorded name at (t, x), into the outputs section. */
  int (*outputs)(const tactus_model*, tactus_instance*, double t, const double* x);
  /* Event `event` happens at (instance->time, states): its handlers change the discrete section. An event that there is not
   * changes nothing. Warm starts stay as they were, unless it fails, so that neither this nor `watch` changes a bit of the
   * motion. May be null without events. */
  int (*fire)(const tactus_model*, tactus_instance*, uint32_t event);
  /* Conditions of events (1 or 0), sources of delays, guards and sources of relations at (t, x), into the watched section. Warm starts as with `fire`. May
   * be null when watch_count is 0. */
  int (*watch)(const tactus_model*, tactus_instance*, double t, const double* x);
  /* What the constraints leave over at (t, x), constraint_count doubles; behind them its derivative by x, the entries of
   * constraint_jacobian row by row. Warm starts as with `fire`. May be null when constraint_count is 0. */
  int (*constrain)(const tactus_model*, tactus_instance*, double t, const double* x, double* result);
  /* What the conditions leave over at (t, x), whatever their times. May be null when condition_count is 0. Warm starts as with
   * `fire`. */
  int (*condition)(const tactus_model*, tactus_instance*, double t, const double* x, double* result);
  /* The stored energy's derivative by each state at (t, x), then the energy itself: state_count + 1 doubles. Null without energy. */
  int (*energy)(const tactus_model*, tactus_instance*, double t, const double* x, double* result);
  /* A = J - R by rows where the equations are x' = A dH/dx + b, what ports let in being b; then 1 for each state that the energy depends
   * on, else 0: state_count * (state_count + 1) doubles. Null where that form is not known. */
  int (*structure)(const tactus_model*, tactus_instance*, double t, const double* x, double* result);
  /* `derivative` and behind it `energy` at once, with the same bits: 2 state_count + 1 doubles. What both need, as the sine and cosine of an
   * angle, is computed once. Null where nothing is gained, and where `derivative` has warm starts. */
  int (*balance)(const tactus_model*, tactus_instance*, double t, const double* x, double* result);
  /* `balance`, with the same bits, and behind it the derivative of `derivative` by the states of `core`, of which it has rows and columns, by
   * rows: 2 state_count + 1 + core_count^2 doubles. Null where `balance` is, with more than TACTUS_CORE such states, and where blocks are solved. */
  int (*slopes)(const tactus_model*, tactus_instance*, double t, const double* x, double* result);
  /* Function `function` (TACTUS_SUBSYSTEM_..) of a subsystem at (t, x), x its own states. Warm starts as with `derivative` for the
   * derivative, else as with `fire`. Null without rates. */
  int (*subsystem)(const tactus_model*, tactus_instance*, uint32_t function, double t, const double* x, double* result);
  /* How fast the values of `function` (a tactus_function) change at (t, x) when all that they depend on moves along `direction`
   * (tactus_direction_..). Warm starts as with `fire`; what delays give counts as constant. fire, initialize: t and x are
   * those of the instance. -1 for a function that was not asked for. Null unless any was: most runs need none. */
  int (*tangent)(const tactus_model*, tactus_instance*, uint32_t function, double t, const double* x,
                 const double* direction, double* result);
  /* `count` steps of length h with a fixed-step solver; stops at the first failure. The kernel's own loop: either
   * tk_fixed_steps as it is, or the same inlined around this model. */
  int (*fixed_steps)(const tactus_model*, tactus_instance*, int solver, double h, int64_t count);
  /* One accepted adaptive step, not beyond t_end nor longer than h_max. tk_adaptive_step, or the same inlined. */
  int (*adaptive_step)(const tactus_model*, tactus_instance*, int solver, double t_end, double h_max, double tolerance);
};

#define TACTUS_ABI 10u

/* Where the parts of a direction are, in doubles: first the change of t itself. */
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
