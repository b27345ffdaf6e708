// The checked model: every name of the program with its role and shape. Expressions stay in the tree; with the symbols at hand
// they can be evaluated without surprises.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "abi/model.h"
#include "base/ids.h"
#include "base/names.h"
#include "compiler/expr/shape.h"
#include "compiler/parse/tree.h"
#include "compiler/table/samples.h"

namespace check {

using SymbolId = base::Id<struct SymbolTag>;

// `mode` is true or false: `ball.Rolling`.
enum class Role { variable, input, parameter, constant, function, behaviour, mode, automaton };

inline constexpr std::uint32_t no_transition = 0xffffffffu;

struct Symbol {
  Role role;
  base::NameId name;
  base::Span span;  // where it is declared, or first used
  expr::Shape shape;
  // Index into the tree's constants, parameters, functions or behaviours; of a mode or an automaton into Model::automata.
  std::uint32_t declaration = 0;
  bool open = false;  // while check runs: the shape is not known yet
  // One a component, empty where nothing determines it; none at all in a program without units.
  std::vector<std::optional<parse::Dimension>> dimensions = {};
  std::uint32_t place = 0;                   // of a mode among those of its automaton
  std::uint32_t transition = no_transition;  // of an unknown of a jump: index into Model::transitions
  std::string written_unit = {};  // as the program writes it behind the number that defines this, if that is SI

  bool is_of_jump() const { return transition != no_transition; }
};

// The dimension of all components; empty when one is not known or they differ.
std::optional<parse::Dimension> common_dimension(const Symbol& symbol);

// An external's connection. `value` is valid for `writes v = e`.
struct Port {
  base::NameId device;
  SymbolId symbol;  // an input, or the variable written
  bool is_input = false;
  bool is_reactive = false;  // `external ridl`: connects to reactive behaviours, not to a device
  parse::NodeId value;
};

// What a handler reacts to.
struct Event {
  base::NameId name;
  base::Span span;
  parse::EventKind kind = parse::EventKind::every;
  double period = 0;
  double from = 0;
  std::vector<double> times = {};  // increasing
  parse::NodeId condition = {};
  std::uint32_t transition = no_transition;  // of kind `transition`: index into Model::transitions
};

struct Automaton {
  struct Start {
    std::uint32_t mode;       // index into `modes`
    parse::NodeId condition;  // not valid: always
  };
  base::NameId name;
  base::Span span;
  std::vector<SymbolId> modes;  // in the order of the text; without a start that holds it begins in the first
  std::vector<Start> starts;
};

// Of the tree's transition with the same index.
struct Transition {
  struct Goto {
    std::uint32_t automaton;  // index into Model::automata
    std::uint32_t mode;       // index into its modes
  };
  std::vector<Goto> gotos;
  std::vector<SymbolId> unknowns;
};

// Of the tree's PlanProblem with the same index. Transitions by their index in Model::transitions.
struct Plan {
  std::uint32_t start = no_transition;
  std::uint32_t failed = no_transition;
  std::vector<std::uint32_t> phases;
  std::vector<SymbolId> chosen;
};

// An option of a drawing: a text, a value, or, of a text's holes, several.
struct DrawnOption {
  std::string name;
  std::string text;  // only without values
  std::vector<parse::NodeId> values;
};

struct Drawing {
  std::string kind;
  std::string text;  // of `text`, with {0}, {1} .. in the holes
  base::Span span;
  std::vector<DrawnOption> options;
};

// Sampled data that the program reads.
struct Table {
  const table::Sheet* sheet = nullptr;
  tactus_table_method method = TACTUS_LINEAR;
  bool is_map = false;  // of two arguments
  decltype(table::Column::which) column;
  table::Samples samples;
};

struct Settings {
  double starting_time = 0;
  std::optional<double> ending_time, step_size, tolerance, record_period;
  std::optional<double> event_precision, max_transitions;
  std::optional<double> hand_period;  // `external hand every 0.001`
  std::optional<int> solver;          // tactus_solver; the adaptive form where a name has two
};

struct Model {
  const parse::Tree* tree = nullptr;
  base::Table<SymbolId, Symbol> symbols;
  std::unordered_map<base::NameId, SymbolId> by_name;
  std::vector<Port> ports;
  std::vector<Event> events;
  std::unordered_map<base::NameId, std::uint32_t> event_by_name;
  std::vector<Automaton> automata;
  std::vector<Transition> transitions;
  std::vector<Plan> plans;
  // Passive behaviours, `y = cur + 1`: variables of the model; handlers see them with the new values. Index into the tree's behaviours.
  std::unordered_map<base::NameId, std::uint32_t> passive;
  std::vector<Table> tables;
  std::unordered_map<parse::NodeId, std::uint32_t> table_calls;  // table("..")(..), to `tables`
  std::vector<Drawing> drawings;
  int dimensions = 2;  // of the picture: 2 when all drawn points have two components
  Settings settings;
  std::unordered_map<base::NameId, double> overrides;  // given from outside, instead of what the text says

  std::optional<SymbolId> find(base::NameId name) const {
    auto found = by_name.find(name);
    return found == by_name.end() ? std::nullopt : std::optional(found->second);
  }
  bool is_event(base::NameId name) const { return event_by_name.contains(name); }
};

// "m", or "m, m/s, ?" for components that differ; empty when nothing is known.
std::string describe_unit(const Symbol& symbol);
std::string dump(const Model& model, const base::Names& names);

}  // namespace check
