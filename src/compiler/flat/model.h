// The flat model: scalar variables, equations between scalar expressions, starts. No hierarchy, no vectors; names of
// whole vectors are kept as groups for people. Data only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "abi/model.h"
#include "base/ids.h"
#include "base/span.h"
#include "compiler/expr/pool.h"
#include "compiler/expr/shape.h"
#include "compiler/parse/dimension.h"

namespace flat {

using expr::ExprId;
using VariableId = base::Id<struct VariableTag>;
using EquationId = base::Id<struct EquationTag>;

struct Variable {
  std::string name;  // "p[1]"
  base::Span span;   // where it is first written
  // Of a jump alone: an unknown of it, or the value after it of another variable, which then is `next_of`.
  bool is_of_jump = false;
  VariableId next_of = {};
  bool is_absent = false;  // no equation of the present mode has it
};

// An equation's `component` when no person wrote it: the derivative of the equation at its span.
inline constexpr int differentiated = -1;

// left = right. The span is the whole equation; several scalar equations share it when it was one between vectors.
struct Equation {
  ExprId left;
  ExprId right;
  base::Span span;
  int component = 0;           // from 1; 0 for a scalar equation; or `differentiated`
  std::uint32_t times = 0;     // index reduction: how often the person's equation was differentiated
  ExprId mode = {};            // a truth value over modes: where it holds; invalid: everywhere
  std::uint32_t integral = 0;  // where `times` > 0: the constraint, by its place, of which this is the derivative
};

// A mode variable: discrete scalar `slot` is the place of its present mode among `modes`.
struct Automaton {
  struct Start {
    std::uint32_t mode = 0;
    ExprId condition = {};  // invalid: always
  };
  std::string name;
  base::Span span;
  std::vector<std::string> modes;
  std::vector<Start> starts = {};  // the first whose condition holds; failing all, the first mode
  std::uint32_t slot = 0;
};

// One jump: where `mode` and `guard` hold, equations over the values before and after (Variable::next_of) and unknowns
// of its own.
struct Transition {
  struct Goto {
    std::uint32_t automaton = 0;
    std::uint32_t mode = 0;
  };
  std::string name;
  base::Span span;
  ExprId mode = {};   // over modes alone; invalid: in all of them
  ExprId guard = {};  // a truth value
  std::vector<Goto> gotos = {};
  std::vector<Equation> equations = {};
  std::vector<std::uint32_t> kept = {};      // variables that `keep` names
  std::vector<std::uint32_t> unknowns = {};  // variables of its own
  bool enforces_velocities = false;
  bool enforces_positions = false;
  base::Span enforce_span = {};
  std::uint32_t event = 0;  // of the model's events, the one that is this jump
};

// variable^(order) = value at the start, or a guess for it; or, with a time, then.
struct Condition {
  VariableId variable;
  std::uint32_t order = 0;
  ExprId value;
  bool guess = false;
  bool implied = false;  // not written by a person: the start of an `integration`
  base::Span span;
  std::optional<double> later = {};  // after the start
};

// What a value is measured in, for people.
struct Quantity {
  std::optional<parse::Dimension> dimension = {};  // empty: not known, or not the same for all components
  std::string written = {};                        // as the program writes it, if that says the same in SI
};

// What a person calls by one name: `size()` scalars of a shape.
struct Group {
  std::string name;
  expr::Shape shape;
  VariableId first;  // the scalars follow each other
  bool written = false;
  Quantity quantity = {};
};

struct Input {
  std::string name;
  expr::Shape shape;
  std::uint32_t first = 0;
  base::Span span;
  Quantity quantity = {};
};

struct Parameter {
  std::string name;
  std::string unit;
  double initial = 0;
  double low = 0;
  double high = 0;
  base::Span span;
};

// A reactive behaviour: constant between events.
struct Discrete {
  std::string name;
  expr::Shape shape;
  std::uint32_t first = 0;  // the scalars follow each other
  base::Span span;
  std::vector<ExprId> start;  // of parameters and constants
  Quantity quantity = {};
};

// At the event, discrete scalar `discrete` takes the value that the variable has just before it.
struct Update {
  std::uint32_t discrete = 0;
  VariableId value;
};

struct Event {
  std::string name;
  tactus_event_kind kind = TACTUS_EVERY;
  double period = 0;
  double from = 0;
  std::vector<double> times;
  VariableId condition =
      {};  // when, transition, require, expect, stop: 1 while it holds (require, expect: while it does not), else 0
  base::Span span;
  std::vector<Update> updates = {};
  std::uint32_t pulse = 0;  // one more than the discrete scalar that is 1 at the instants at which it happens; 0: none
  std::vector<VariableId> parts = {};  // of a guard: it is the least of them
  std::uint32_t flags = 0;
  VariableId guard = {};  // transition, require, expect, stop: positive where it does; located
};

// Values that are chosen before a jump so that targets are 0 when phases end; variables of their own hold guesses and
// targets.
struct Plan {
  struct Phase {
    std::uint32_t transition = 0;  // that ends it
    std::vector<VariableId> targets = {};
  };
  std::string name;
  base::Span span;
  std::uint32_t transition = 0;  // that begins it
  std::uint32_t failed = 0;      // that is taken when nothing is found
  std::vector<VariableId> chosen = {};
  std::vector<VariableId> guesses = {};
  std::vector<Phase> phases = {};
  bool has_otherwise = false;
};

// `energy H = ..`: a stored energy; all of them add up.
struct Energy {
  VariableId variable;
  base::Span span;
};

// `power end: u -> y`: what flows into the model there is the sum of in * out.
struct Power {
  struct Pair {
    ExprId in;
    ExprId out;
  };
  std::string name;
  base::Span span;
  std::vector<Pair> pairs = {};
  bool is_joined = false;  // to another: what flows in there flows out here
};

// `storage`: states' = (J - R) dH/dx + G in; matrices by rows, empty when not given.
struct Storage {
  struct Matrix {
    base::Span span;
    std::vector<ExprId> entries = {};
  };
  base::Span span;
  std::vector<ExprId> states = {};
  VariableId energy;
  Matrix j, r, g;
};

// What takes steps of its own: an instance with a rate, or, the first of them, the rest of the model. Made by `rates`.
struct Subsystem {
  std::string name;  // "leg[2].foot"; "" for the rest
  std::uint32_t multiple = 1;
  std::uint32_t ledger = 0;  // as Model has it; 0: it stores nothing
  std::uint32_t phase = 0;   // discrete scalar
};

// Ports of two subsystems: each gets `held` where the other gave `outs`, the second with the sign changed.
struct SampledJoin {
  struct End {
    std::uint32_t subsystem = 0;
    std::vector<ExprId> outs = {};
    std::uint32_t held = 0;  // discrete scalars, as tactus_join has them
    VariableId work = {};
  };
  tactus_join_manner manner = TACTUS_JOIN_HOLD;
  End ends[2] = {};
  std::uint32_t since = 0;
};

// What delay `k` gives is the leaf delayed(k): source^(order), one duration ago. Before the start it is what it was
// there; a rate, the derivative of what another delay gives, is 0.
struct Delay {
  VariableId source;
  std::uint32_t order = 0;
  ExprId duration;  // of parameters and constants
  base::Span span;
  bool is_rate = false;
};

struct Port {
  std::string device;
  bool is_input = false;
  std::uint32_t index = 0;  // into inputs or groups
};

// Sampled data, as tactus_table has it.
struct Table {
  std::string name;  // for people: the file
  tactus_table_method method = TACTUS_LINEAR;
  std::vector<double> x;
  std::vector<double> y;  // empty: one dimension
  std::vector<double> values;
  std::vector<double> slopes;
};

// What a person sees: a text, or a value of a shape.
struct DrawnOption {
  std::string name;
  std::string text;   // only without items
  std::string label;  // the value as it is written
  expr::Shape shape = {};
  std::vector<ExprId> items = {};
};

struct Drawing {
  std::string kind;
  std::string text;
  base::Span span;
  std::vector<DrawnOption> options;
};

struct Settings {
  double starting_time = 0;
  std::optional<double> ending_time, step_size, tolerance, record_period, event_precision, max_transitions;
  std::optional<int> solver;
  std::optional<double> hand_period;
};

struct Model {
  expr::Pool pool;
  base::Table<VariableId, Variable> variables;
  base::Table<EquationId, Equation> equations;
  std::vector<Equation> invariants;  // consequences of them, that steps are put back onto
  std::vector<Condition> conditions;
  std::vector<Group> groups;
  std::vector<Input> inputs;
  std::vector<Parameter> parameters;
  std::vector<Port> ports;
  std::vector<Discrete> discrete;
  std::uint32_t discrete_count = 0;         // scalars
  std::vector<std::string> discrete_names;  // one a scalar
  std::vector<Event> events;
  std::vector<Automaton> automata;
  std::vector<Transition> transitions;
  std::vector<Plan> plans;
  std::vector<Energy> energies;
  std::vector<Power> powers;
  std::vector<Storage> storages;
  std::uint32_t ledger = 0;           // one more than the discrete scalar where a solver keeps its ledger; 0: no energy
  std::vector<Subsystem> subsystems;  // none without rates
  std::vector<SampledJoin> joins;     // of different subsystems
  std::vector<ExprId> asked;          // leaves that jumps read: derivatives among them are worked out
  std::vector<Delay> delays;
  std::vector<Table> tables;
  std::vector<Drawing> drawings;
  int dimensions = 2;             // of the picture
  std::string event_code;         // for people: what happens at each event, in the manner of seed 000, section 3.2
  std::uint32_t input_count = 0;  // scalars
  std::vector<std::string> input_names;  // one a scalar
  Settings settings;
};

// The leaf of this delay, which is added unless there is an equal one.
ExprId delayed(Model& model, const Delay& delay);
// The derivative by time of what delay `k` gives.
ExprId rate_of_delay(Model& model, std::uint32_t k);

// "p'[2]": the name with its primes before the index.
std::string primed(const std::string& name, std::uint32_t order);
// "m/s" of the first derivative of something in m; "" for a pure number and for what is not known.
std::string unit_of(const Quantity& quantity, std::uint32_t order);
// Writes leaves as the person does.
expr::LeafNames leaf_names(const Model& model);
std::string print(const Model& model, ExprId id);
std::string dump(const Model& model);

}  // namespace flat
