// The tree of a program as it was written: sections, declarations and expressions with their places, nothing resolved.
// Immutable once parse() returned it.
//
// Expressions are nodes in one vector; children stand before their parents, so a pass over all nodes in order is
// bottom-up. `a + b - c` is one sum node with three children, each child with the operator before it: a long sum is
// wide, not deep, and the depth of the tree is bounded by the parser's limit on nesting.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/names.h"
#include "base/span.h"
#include "compiler/parse/units.h"

namespace parse {

using NodeId = base::Id<struct NodeTag>;

enum class NodeKind : std::uint8_t {
  number,    // `number`; its unit, if any, is already multiplied in (SI), and `unit` tells which it was
  string,    // `text`
  boolean,   // `number` is 0 or 1
  name,      // `name`; `t` and `pi` are names too
  prime,     // child 0, differentiated `count` times
  index,     // child 0 [child 1, child 2 ..]
  call,      // child 0 (child 1 ..); child 0 is a name as a rule
  argument,  // name = child 0, inside a call
  member,    // child 0 . name
  tuple,     // two or more children; `(a)` leaves no node
  negate,    // - child 0
  sum,       // children with operators plus and minus
  product,   // children with operators times and divide
  power,     // child 0 ^ child 1
  logical_not,
  logical_and,  // two or more children
  logical_or,
  implies,      // child 0 -> child 1
  compare,      // child 0 `op` child 1; op equal is `=`
  in_set,       // child 0 in child 1 (a box)
  in_range,     // child 0 in child 1 .. child 2
  conditional,  // if child 0 then child 1 else child 2
  sum_over,     // sum(name in child 0 .. child 1: child 2)
  always,       // always[child 1 .. child 2](child 0); one child: at all times from now on
  eventually,   // the same for some time
  until,        // child 0 until[child 2 .. child 3] child 1; two children: without a range
};

enum class Op : std::uint8_t {
  none,
  plus,
  minus,
  times,
  divide,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal
};

struct Child {
  NodeId node;
  Op op = Op::none;  // the operator before this child, in sum and product; `plus` or `times` before the first
};

struct Node {
  NodeKind kind;
  Op op = Op::none;
  std::uint16_t unit = 0;  // index into Tree::units; 0 is none
  base::Span span = {};
  base::NameId name = {};
  double number = 0;
  std::uint32_t count = 0;  // primes
  std::uint32_t text = 0;   // index into Tree::texts; 0 is empty
  std::uint32_t first_child = 0;
  std::uint32_t child_count = 0;
};

// Of a number literal.
struct Unit {
  std::string text;  // as written, "kN/m"
  Measure measure;
};

// Every unit once, by its text. Index 0 is no unit.
class Units {
 public:
  // Beyond 65,535 units a number has none: it is scaled all the same.
  std::uint16_t add(const Unit& unit) {
    if (list_.size() > 0xffff) return 0;
    const auto [found, is_new] = index_.emplace(unit.text, static_cast<std::uint16_t>(list_.size()));
    if (is_new) list_.push_back(unit);
    return found->second;
  }
  const Unit& operator[](std::uint16_t index) const { return list_[index]; }
  std::size_t size() const { return list_.size(); }

 private:
  std::vector<Unit> list_ = {{}};
  std::unordered_map<std::string, std::uint16_t> index_;
};

// name = value, in `simulation`.
struct Setting {
  base::Span span;
  base::NameId name;
  base::Span name_span;
  NodeId value;  // number (perhaps negated), name, string or any expression in parentheses
};

// reads v, writes v, writes v = e.
struct Access {
  base::Span span;
  NodeId variable;  // name, prime, index or member
  NodeId value;     // writes v = e; else not valid
};

// observes event E rate 0.1: declares E, unless an `event` does. At most one of the two is valid.
struct ObservedEvent {
  base::Span span;
  base::NameId name;
  NodeId rate;  // the seed's `rate 0.1`: a period in seconds
  NodeId time;  // the seed's `when t = 5`: once
};

struct External {
  base::Span span;
  base::NameId name;
  base::Span name_span;
  std::vector<Access> reads;
  std::vector<Access> writes;
  std::vector<ObservedEvent> events;
  NodeId period;  // `every 0.001`; not valid when none is given
};

// v(time) = value, or v(time) ~ value.
struct Condition {
  base::Span span;
  NodeId variable;  // name with primes
  NodeId time;
  NodeId value;
  bool guess = false;
};

// The `[i in 1..6]` behind a name that stands for many; not there when `index` is not valid.
struct Family {
  base::NameId index;
  NodeId low;
  NodeId high;
  bool valid() const { return index.valid(); }
};

// left = right; or an instance of a module, `s = S(x)`, `leg[i in 1..6] = Leg(i)`, or, without a left side, `S(x);`.
struct Equation {
  base::Span span;
  NodeId left;
  NodeId right;
  Family family = {};
  NodeId mode = {};  // made by expand of the `in` blocks around it: a formula over modes; not valid: at all times
  bool is_of_book = false;  // made of energies and ports, which are checked where they stand
  NodeId rate = {};         // of an instance, `s = S() rate 1 [kHz]`; not valid when not given
};

struct Parameter {
  base::Span span;
  base::NameId name;
  base::Span name_span;
  NodeId value;
  NodeId low;  // both or neither
  NodeId high;
};

struct Constant {
  base::Span span;
  base::NameId name;
  base::Span name_span;
  NodeId value;
};

struct Function {
  base::Span span;
  base::NameId name;
  base::Span name_span;
  std::vector<base::NameId> arguments;
  std::vector<base::Span> argument_spans;
  NodeId value;
};

// `transition`: the transition of that name; no `event` declares it.
enum class EventKind : std::uint8_t { every, when, at, transition };

struct Event {
  base::Span span;
  base::NameId name;
  base::Span name_span;
  Family family = {};
  EventKind kind = EventKind::every;
  NodeId period;     // every
  NodeId from;       // every; not valid when not given
  NodeId condition;  // when
  std::vector<NodeId> times;
};

// event => value [later]
struct Handler {
  base::Span span;
  NodeId event;  // name, index or member
  NodeId value;
  bool later = false;
};

// name = init [own =] start in { handlers }; or a passive one, name = value.
struct Behaviour {
  base::Span span;
  base::NameId name;
  base::Span name_span;
  Family family = {};
  base::NameId own;  // not valid when not given
  NodeId start;
  NodeId value;  // passive; then `start` is not valid
  std::vector<Handler> handlers;
};

struct ModulePort {
  base::NameId name;
  base::Span span;
  NodeId shape;  // `: 3`, `: (3, 3)`; not valid when not given
};

struct Module {
  base::Span span;
  base::NameId name;
  base::Span name_span;
  std::vector<ModulePort> ports;
  std::uint32_t body = 0;  // index into Tree::bodies
};

// for name in low..high { body }
struct Loop {
  base::Span span;
  base::NameId name;
  base::Span name_span;
  NodeId low;
  NodeId high;
  std::uint32_t body = 0;  // index into Tree::bodies
};

struct ModeName {
  base::NameId name;
  base::Span span;
};

// from mode when condition
struct AutomatonStart {
  base::NameId mode;
  base::Span span;
  NodeId condition;  // not valid: always
};

// automaton name in modes from starts. Without a start that holds, it begins in its first mode.
struct Automaton {
  base::Span span;
  base::NameId name;
  base::Span name_span;
  Family family = {};
  std::vector<ModeName> modes;
  std::vector<AutomatonStart> starts;
};

// in condition { body }
struct InBlock {
  base::Span span;
  NodeId condition;
  std::uint32_t body = 0;  // index into Tree::bodies
};

enum class MustKind : std::uint8_t { require, expect, stop };

// require condition else "text"; expect condition else "text"; stop when condition "text"
struct Must {
  base::Span span;
  MustKind kind = MustKind::require;
  NodeId condition;
  std::string text;
  NodeId mode = {};  // `in m require`, and made by expand; not valid: at all times
};

struct Goto {
  base::Span span;
  NodeId target;  // `ball.Rolling`: a member as written, a name once expanded
};

struct JumpUnknown {
  base::NameId name;
  base::Span span;
  NodeId guess = {};  // not valid when not given
};

// for name in low..high { jump }
struct JumpLoop {
  base::Span span;
  base::NameId name;
  NodeId low;
  NodeId high;
  std::uint32_t jump = 0;  // index into Tree::jumps
};

// What happens at one instant: the braces of a transition. `x` is before, `next(x)` after.
struct Jump {
  base::Span span;
  std::vector<Goto> gotos;
  std::vector<NodeId> keeps;
  std::vector<JumpUnknown> unknowns;
  std::vector<Equation> equations;
  std::vector<JumpLoop> loops;
  bool enforce_velocities = false;
  bool enforce_positions = false;
  base::Span enforce_span = {};
};

// transition name in mode when condition { jump }
struct Transition {
  base::Span span;
  base::NameId name;
  base::Span name_span;
  Family family = {};
  NodeId mode = {};       // not valid: in every mode
  NodeId condition = {};  // not valid: true
  Jump jump = {};
};

struct SequencePhase {
  base::Span span;
  NodeId until;
  Jump jump;
};

// sequence name in mode when condition { jump } until c { jump } until ..
struct Sequence : Transition {
  std::vector<SequencePhase> phases = {};
};

// choose name = value
struct Chosen {
  base::NameId name;
  base::Span span;
  NodeId value;
};

// reaching left = right
struct Target {
  base::Span span;
  NodeId left;
  NodeId right;
};

struct PlanPhase {
  base::Span span;
  NodeId duration;
  std::vector<Target> targets;
  Jump jump;
};

// plan name in mode when condition choose .. { jump } for T reaching .. { jump } for .. else { jump }
struct Plan : Transition {
  std::vector<Chosen> chosen = {};
  std::vector<PlanPhase> phases = {};
  bool has_otherwise = false;
  Jump otherwise = {};
};

// What a plan leaves to the solver once schemata has made transitions of it: find values for the chosen memories such
// that every target holds when its phase ends.
struct PlanProblem {
  struct Phase {
    base::Span span;
    base::NameId transition;  // "Fire.phase1", which ends it
    NodeId duration;          // after the transition before
    std::vector<Target> targets;
  };
  base::Span span;
  base::NameId name;  // of the transition that begins it, before whose jump the memories are set
  base::Span name_span;
  std::vector<Chosen> chosen;  // the full names of the memories, "Fire.v", and where the search begins
  std::vector<Phase> phases;
  base::NameId failed;         // the transition that happens instead when the search fails: no guard enables it
  bool has_otherwise = false;  // else a search that fails ends the run
};

// name: formula, under `check`
struct Property {
  base::Span span;
  base::NameId name;  // not valid when not given
  NodeId formula;
};

// energy name = value: an equation, and what it defines is an energy.
struct Energy {
  base::Span span;
  NodeId variable;  // a name
  NodeId value;
  std::uint32_t rate = 0;  // made by expand: one more than the index into Tree::rates; 0: that of the whole
};

// power name: in -> out
struct Power {
  base::Span span;
  base::NameId name;  // not valid when not given, until expand gives one
  base::Span name_span;
  NodeId in;
  NodeId out;
  // Made by expand: whether it is joined, whether to one with another rate or with the same of another instance, its
  // rate as Energy has it, and what leaves where a guard stands, not valid without one.
  bool is_joined = false;
  bool is_sampled = false;
  std::uint32_t rate = 0;
  NodeId given = {};
};

// storage (states) energy variable structure J = j, R = r, G = g power in -> out: states' = (J - R) dH/dx + G in, out =
// G' dH/dx. Its energy and its port stand among the others, too.
struct Storage {
  base::Span span;
  std::vector<NodeId> states;
  NodeId variable;  // the energy's name
  NodeId j;
  NodeId r;  // not valid when not given; g, in and out neither
  NodeId g;
  NodeId in;
  NodeId out;
};

// guard port reserve e
struct Guard {
  base::Span span;
  NodeId port;
  NodeId reserve;           // not valid when not given
  std::uint32_t index = 0;  // made by expand: into Body::powers
};

enum class JoinManner : std::uint8_t { plain, hold, extrapolate, passive };

// join first to second manner
struct Join {
  base::Span span;
  NodeId first;  // of a port: name, index or member as written, a name once expanded
  NodeId second;
  JoinManner manner = JoinManner::plain;
  base::Span manner_span = {};
  // Of sampled ports expand says which it is: `hold` or `passive` where none is written.
  // Made by expand: the ports, indices into Body::powers, and the first of the two equations that the join means.
  std::uint32_t ports[2] = {0, 0};
  std::uint32_t equation = 0;
};

// An instance with a step of its own. Made by expand.
struct Rate {
  base::Span span;   // of the number
  std::string path;  // "leg[2].foot"
  double hertz = 0;
};

struct DrawingOption {
  base::Span span;
  base::NameId name;
  base::Span name_span;
  NodeId value;
};

// kind value, value .. option value option value ..; of `text "n = {x}"` the values are "n = {0}" and x.
struct Drawing {
  base::Span span;
  base::NameId kind;
  base::Span kind_span;
  std::vector<NodeId> values;
  std::vector<DrawingOption> options;
};

inline constexpr std::uint32_t no_body = 0xffffffffu;

struct Use {
  base::Span span;
  base::Span path_span;
  std::string path;
  base::NameId alias;            // not valid when not given
  std::uint32_t in = no_body;    // the used file that it stands in, an index into Tree::bodies; none for the program
  std::uint32_t file = no_body;  // the items of the file it names, an index into Tree::bodies; none until it is loaded
  std::string name = {};         // that file's, without folder and ending: what its names are known by
};

// A port's `: 3`, once the port is known.
struct ShapeGiven {
  base::Span span;
  NodeId value;
  NodeId shape;
};

// The items of a file, a module, a loop or an `in` block.
struct Body {
  std::vector<Condition> conditions;
  std::vector<Equation> equations;
  std::vector<Parameter> parameters;
  std::vector<Constant> constants;
  std::vector<Function> functions;
  std::vector<Event> events;
  std::vector<Behaviour> behaviours;
  std::vector<Module> modules;
  std::vector<Loop> loops;
  std::vector<Drawing> drawings;
  std::vector<Automaton> automata;
  std::vector<InBlock> in_blocks;
  std::vector<Must> musts;
  std::vector<Transition> transitions;
  std::vector<Sequence> sequences;
  std::vector<Plan> plans;
  std::vector<Equation> invariants;
  std::vector<Property> properties;
  std::vector<Energy> energies;
  std::vector<Power> powers;
  std::vector<Join> joins;
  std::vector<Storage> storages;
  std::vector<Guard> guards;
};

// The items of a whole program are those of the Body it is; modules and loops have theirs in `bodies`.
struct Tree : Body {
  std::vector<Node> nodes;
  std::vector<Child> children;
  std::vector<std::string> texts = {""};
  Units units;

  std::vector<Setting> settings;
  std::vector<External> externals;
  std::vector<Use> uses;
  std::vector<ShapeGiven> shapes;  // made by expand
  std::vector<Rate> rates;         // made by expand
  std::vector<Body> bodies;
  std::vector<Jump> jumps;            // of the loops in jumps
  std::vector<PlanProblem> problems;  // made by schemata

  const Node& operator[](NodeId id) const { return nodes[id.value]; }
  std::span<const Child> children_of(NodeId id) const {
    const Node& node = nodes[id.value];
    return std::span(children).subspan(node.first_child, node.child_count);
  }
  NodeId child(NodeId id, std::uint32_t index) const { return children[nodes[id.value].first_child + index].node; }
};

}  // namespace parse
