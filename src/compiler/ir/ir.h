// Low-level instructions: what lower makes and the backends print. Scalars only; every value is a double or a truth value.
//
// A function is a list of chunks; a chunk is straight-line code in single assignment: an instruction's operands are indices of
// earlier instructions of the same chunk. Chunks bound the size of what LLVM or a C compiler sees at once, so that compile
// time stays linear; values cross from one chunk to a later one through `work` (store_work, load_work).
// A chunk that solves a block may fail: then the function returns at once with the status.
//
// A chunk of several turns is a loop: its instructions are run once a turn, in order, and only the places that they read and write
// differ. lower makes none; reroll does, from what is the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "abi/model.h"
#include "base/ids.h"

namespace ir {

using Value = std::uint32_t;  // index of an instruction in its chunk
inline constexpr Value no_value = 0xffffffffu;

enum class Op : std::uint8_t {
  // Sources. `index` is the place in the section.
  constant,    // number
  time,        // t
  state,       // x[index]
  input,       // inputs[index] + input_rates[index] * (t - input_time)
  input_rate,  // input_rates[index]
  input_time,  // when the inputs were set
  parameter,   // parameters[index]
  derived,     // derived[index]
  discrete,    // discrete[index], after every store_discrete before it
  delayed,     // the value of delay `index` at t
  load_work,   // work[index]
  captured,    // in a residual: captured[index]
  unknown,     // in a residual: z[index]
  direction,  // in a tangent: direction[index], laid out as tactus_direction_..; in a tangent of a residual: of captured[index]
  // Arithmetic: a, b are doubles.
  add,
  subtract,
  multiply,
  divide,
  negate,
  square_root,
  absolute,
  floor,
  ceil,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  atan2,
  exp,
  log,
  power,
  table,  // Program::tables[index] at a, or at (a, b); differentiated `size` times by a and `count` times by b
  noise,  // tk_noise(number, a): unit white noise, sampled at whole a
  // Truth values.
  less,
  less_equal,
  equal,
  not_equal,  // a, b doubles; a NaN makes all but not_equal false
  logical_and,
  logical_or,
  logical_not,
  select,  // a is a truth value: b if true else c, both doubles
  // Solving. Operands stand in Chunk::operands[first .. first + count).
  linear_solve,  // `size` unknowns; operands: size*size matrix entries row-major, then size right sides.
                 // work[index ..) has size*size + size doubles of scratch. block: index into Program::blocks.
                 // warm > 0: only so many of the unknowns, the first ones, must be determined; then the scratch is
                 // 3*size*size + 6*size
  newton_solve,  // `size` unknowns; residual: index into Program::residuals; operands: the captured values.
                 // z starts from and stays in warm[warm ..); work[index ..) has count + size*size + 3*size doubles
  newton_tangent,  // a: the newton_solve right before it; residual: index into Tangents::residuals; operands: how fast its
                   // captured values change; work[index ..) has count + size*size + size doubles
  solution,        // a: a linear_solve, newton_solve or newton_tangent, index: which unknown
  // Effects: a is the double stored.
  store_derivative,  // dx[index]; in functions with another result: result[index]
  store_discrete,    // discrete[index] (in initialize and in handlers)
  store_watched,     // watched[index]
  store_state,       // states[index] of the instance (in initialize)
  store_derived,     // derived[index]
  store_output,      // outputs[index]
  store_work,        // work[index]
  store_warm,        // warm[index] (in initialize: first guesses)
  store_residual,    // r[index]
  store_jacobian,    // j[index]
  need_determinant,  // a: unless it is finite and not 0, the block is singular and the function fails
};

struct Instruction {
  Op op;
  Value a = no_value;
  Value b = no_value;
  Value c = no_value;
  std::uint32_t index = 0;
  std::uint32_t size = 0;   // linear_solve, newton_solve, newton_tangent
  std::uint32_t first = 0;  // their operands
  std::uint32_t count = 0;
  std::uint32_t residual = 0;  // newton_solve
  std::uint32_t warm = 0;      // newton_solve; linear_solve: how many unknowns are essential, 0 for all
  std::uint32_t block = 0;     // linear_solve, newton_solve: what to report when it fails
  double number = 0;
  // In turn k: index + k * step, or where `listed` is set, Chunk::places[listed + k]; a constant is then Chunk::numbers[listed + k].
  std::int32_t step = 0;
  std::int32_t warm_step = 0;
  std::int32_t block_step = 0;
  std::uint32_t listed = no_value;
};

struct Chunk {
  std::vector<Instruction> instructions;
  std::vector<Value> operands;
  std::uint32_t turns = 1;
  std::vector<std::uint32_t> places = {};
  std::vector<double> numbers = {};
};

struct Function {
  std::vector<Chunk> chunks;
};

struct Channel {
  std::string name;
  std::string unit;
  std::uint32_t at = 0;
  std::uint32_t rows = 1;
  std::uint32_t columns = 1;
  std::uint32_t flags = 0;  // TACTUS_CHANNEL_..
};

struct Parameter {
  std::string name;
  std::string unit;
  double initial = 0;
  double low = 0;
  double high = 0;
};

struct Port {
  std::string device;
  std::uint32_t channel = 0;
  bool is_input = false;
};

struct DrawingOption {
  std::string name;
  std::string text;
  bool is_text = false;
  std::uint32_t channel = 0;  // unless it is a text
};

struct Drawing {
  std::string kind;
  std::string text;
  std::uint32_t line = 0;
  std::vector<DrawingOption> options;
};

struct Block {
  std::string equations;
  std::string unknowns;
  std::uint32_t line = 0;
  std::uint32_t count = 0;
  std::uint32_t warm = 0xffffffffu;
};

struct Event {
  std::string name;
  tactus_event_kind kind = TACTUS_EVERY;
  std::vector<double> times = {};  // at
  std::uint32_t watched = 0;       // when, and what holds while it is 1
  double period = 0;
  double from = 0;
  std::uint32_t line = 0;
  std::uint32_t flags = 0;
  std::uint32_t pulse = 0;  // as tactus_event has it
  std::uint32_t parts = 0;  // of a guard, behind `watched`
};

struct Automaton {
  std::string name;
  std::vector<std::string> modes;
  std::uint32_t slot = 0;  // in discrete
  std::uint32_t stride = 0;
};

struct Plan {
  struct Phase {
    std::uint32_t event = 0;
    std::uint32_t target = 0;
    std::uint32_t target_count = 0;
  };
  std::string name;
  std::uint32_t event = 0;
  std::uint32_t failed = 0;
  std::vector<std::uint32_t> chosen = {};  // states
  std::uint32_t guess = 0;
  std::vector<Phase> phases = {};
  bool has_otherwise = false;
  std::uint32_t line = 0;
};

struct Delay {
  std::uint32_t source = 0;    // in watched
  std::uint32_t duration = 0;  // in derived
  std::uint32_t capacity = 0;
  bool is_rate = false;  // 0 before the start
};

struct Table {
  tactus_table_method method = TACTUS_LINEAR;
  std::vector<double> x = {};
  std::vector<double> y = {};  // empty: one dimension
  std::vector<double> values = {};
  std::vector<double> slopes = {};
};

struct Constraint {
  std::string text;
  std::uint32_t line = 0;
  std::uint32_t order = 0;
};

struct Condition {
  std::string text;
  std::uint32_t line = 0;
  double time = 0;
};

// As tactus_pattern.
struct Pattern {
  std::vector<std::uint32_t> start = {};
  std::vector<std::uint32_t> index = {};
};

// The factors of shift * I - J without exchanges, as in tactus_model: pattern by rows, places of J's entries. Empty: none.
struct Factors {
  Pattern pattern = {};
  std::vector<std::uint32_t> order = {};
  std::vector<std::uint32_t> diagonal = {};
  std::vector<std::uint32_t> places = {};
};

// A part of the model with a step of its own, as tactus_subsystem has it. Its functions' states are counted from its first one.
struct Subsystem {
  std::string name;
  std::uint32_t multiple = 1;
  std::uint32_t first_state = 0;
  std::uint32_t state_count = 0;
  std::uint32_t ledger = 0;
  std::uint32_t phase = 0;
  std::uint32_t samples = 0;
  std::uint32_t sample_count = 0;
  Function derivative = {};
  Function energy = {};  // where `ledger` is not 0
  Function sample = {};
};

// How fast what the functions of the same names compute changes along a direction: `result` gets that and nothing else of the
// Instance changes but work. Made by tangent::make; a function that was not asked for has no chunks.
struct Tangents {
  Function prepare = {};
  Function initialize = {};  // result: states, then discrete
  Function derivative = {};
  Function outputs = {};
  Function watch = {};
  Function constraints = {};  // result: the constraints only
  Function conditions = {};
  std::vector<Function> handlers = {};    // result: the discrete values that an event changes
  bool fire = false;                      // whether handlers were asked for
  std::vector<Function> subsystems = {};  // of their derivatives, asked for with `derivative`
  std::vector<Chunk> residuals = {};      // (captured, z, direction of captured) -> (dr, j)
  Pattern jacobian = {};                  // of the derivative by x, by columns
  std::vector<std::uint32_t> colours = {};
  std::uint32_t colour_count = 0;
  Factors factors = {};  // of that Jacobian; by tangent::add only, since the layout depends on them
};

// All that a model table holds, as data. `residuals` are functions (captured, z) -> (r, j) of one chunk each.
struct Program {
  std::string name = {};
  Function prepare;
  Function initialize;
  Function derivative;
  Function outputs;
  // In `watch` and `handlers` Newton blocks leave their warm starts as they were, unless they fail: so neither looking nor firing
  // changes a bit of the motion. In handlers x is the instance's states and t its time.
  Function watch;
  std::vector<Function> handlers;  // one an event: what `fire` does
  Function constrain;              // result: the constraints, then the entries of their Jacobian
  Function condition;              // result: the conditions
  Function energy;  // result: the energy's derivative by each state, then the energy; where `ledger` is not 0
  Function
      structure;  // result: J - R by rows, then what the energy depends on, as tactus_model has it; where `has_structure`
  Function balance;  // result: the derivative, then the energy's; where `has_balance`
  Function slopes;   // result: the same, then the derivative's Jacobian over `core`; where that is not empty
  std::vector<Chunk> residuals;

  std::vector<std::string> state_names;
  std::vector<Channel> channels;
  std::vector<Channel> input_channels;
  std::vector<Parameter> parameters;
  std::vector<Port> ports;
  std::vector<Block> blocks;
  std::vector<Drawing> drawings;
  int dimensions = 2;
  double hand_period = 0;
  std::vector<Event> events;
  std::vector<Delay> delays;
  std::vector<Table> tables;
  std::vector<tactus_relation> relations;
  std::vector<Constraint> constraints;
  std::vector<Condition> conditions;
  std::vector<std::uint32_t> state_flags;  // empty: all are given
  Pattern constraint_jacobian;             // by rows
  std::uint32_t discrete_count = 0;
  std::uint32_t ledger = 0;  // these three as tactus_model has them
  std::uint32_t book_supplied = 0;
  std::uint32_t book_dissipated = 0;
  bool has_structure = false;
  bool has_balance = false;
  std::vector<std::uint8_t> core;  // as tactus_model has it
  std::uint32_t watch_count = 0;
  std::uint32_t input_count = 0;
  std::uint32_t derived_count = 0;
  std::uint32_t output_count = 0;
  std::uint32_t warm_count = 0;
  std::uint32_t work_count = 0;
  std::uint32_t tangent_work_count = 0;  // room behind it for tangents; tangent::work_count
  std::uint32_t loop_work_count = 0;     // and behind that for values that cross loops; reroll::reserve
  std::uint32_t kept_warm_count = 0;  // and last, 0 or warm_count: for warm starts that a function leaves as they were
  std::optional<Tangents> tangents = {};

  // With rates: what is stepped apart. `derivative` and `energy` are still those of the whole.
  std::vector<Subsystem> subsystems = {};
  std::vector<tactus_join> joins = {};
  std::uint32_t samples = 0;  // as tactus_model has it
  std::uint32_t sample_count = 0;

  // With modes: a program for each structure, all of this one's layout; this one has then no functions of its own but `initialize`, which
  // chooses the first modes. Made by unite.
  std::vector<Automaton> automata = {};
  std::vector<Program> structures = {};
  std::vector<std::uint32_t> structure_of = {};  // by combination of modes; TACTUS_NO_STRUCTURE
  Pattern conflicts = {};
  std::vector<Plan> plans = {};
  std::optional<tactus_layout> layout = {};  // of all structures, where there are some; else it follows from the counts

  double starting_time = 0;
  double ending_time = 0;
  double step_size = 0;
  double tolerance = 0;
  double record_period = 0;
  double event_precision = 0;
  std::uint32_t max_transitions = 0;
  double guard_precision = 0;
  std::uint32_t location_steps = 0;
  int solver = -1;  // tactus_solver, or -1
};

// Whether an instruction's result is a truth value.
bool is_truth(Op op);
// linear_solve, newton_solve or newton_tangent.
bool is_solve(Op op);
// A store or need_determinant: done for what it does, not for a value.
inline bool is_effect(Op op) { return op >= Op::store_derivative; }
// The place of an instruction in a turn of its chunk.
inline std::uint32_t place(const Chunk& chunk, const Instruction& i, std::uint32_t turn) {
  return i.listed != no_value ? chunk.places[i.listed + turn] : i.index + turn * static_cast<std::uint32_t>(i.step);
}
const char* name(Op op);
// Whether two straight-line chunks compute the same to the last bit, and a number that is then the same.
bool same(const Chunk& one, const Chunk& other);
std::size_t hash(const Chunk& chunk);
// For people and tests: one instruction a line.
std::string dump(const Program& program);

}  // namespace ir
