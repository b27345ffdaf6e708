// Structural analysis: which unknowns there are, which equation computes which, and in what order.
//
//   flat::Model --constants--> --definitions differentiated--> states and unknowns --match, sort--> Sorted
//
// A file for each step, which opens with its rule:
//   constants        v = e with e made of numbers only: v is replaced by the number everywhere
//   definitions      v = e where v' is asked for: v' = (e)' is added
//   settled          equations in which nothing is left to determine
//   index_reduction  equations that share too few highest derivatives are differentiated
//   motion           states and unknowns, matched with the equations and sorted into blocks; counts says what does not
//   match
//   start            the same once more, where the states are unknowns too and the boundary conditions are equations
// The first four work on a Draft (draft.h).
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/flat/model.h"
#include "diag/sink.h"

namespace structure {

using expr::ExprId;

// Equations solved together; equations[i] is matched with unknowns[i]. Indices into System.
struct Block {
  std::vector<std::uint32_t> equations;
  std::vector<std::uint32_t> unknowns;
};

// Every equation once; a block reads only unknowns of earlier blocks.
struct System {
  std::vector<flat::Equation> equations;
  std::vector<ExprId> unknowns;  // leaves: a variable with its order
  std::vector<Block> blocks;
};

// How a state gets its start: as tactus_model has it, TACTUS_STATE_..
enum class StartKind : std::uint32_t { free = 0, given = 1, assumed = 2 };

// leaf = value at a time, where that is more than a state's start.
struct Condition {
  ExprId leaf;
  ExprId value;
  base::Span span;
  double time = 0;
};

// A relation that is located and held in a discrete value: see hold/hold.h. Truth: whether guard > 0. Floor:
// floor(source), and the guard is positive inside the interval that it names.
struct Relation {
  tactus_relation_kind kind = TACTUS_TRUTH;
  ExprId guard;
  ExprId source;
  std::uint32_t held = 0;  // discrete scalar
  base::Span span;
  std::uint32_t event = 0;  // truth: one more than the event whose guard it is; 0: of no event
};

// A transition as it is taken from one structure: its equations with their unknowns, which read the motion before it,
// and what the states after it are.
struct Jump {
  struct Set {
    ExprId state;  // a leaf, as it is called after the jump
    ExprId value;
  };
  std::uint32_t transition = 0;
  System system;
  std::vector<Set> sets;  // states that are not what they were
};

struct Sorted {
  std::vector<ExprId> states;       // leaves; by variable, then order
  std::vector<ExprId> state_rates;  // the leaf of each state's derivative: the next state, or an unknown
  std::unordered_map<std::uint32_t, double> constants;           // by variable
  std::unordered_map<std::uint32_t, base::Span> constant_spans;  // the equation that says so
  // Equations that index reduction differentiated, and their derivatives but for the last: left = right at all times.
  std::vector<flat::Equation> constraints;
  System motion;
  System start;
  std::vector<StartKind> start_kinds;  // by state
  std::vector<Condition> conditions;
  std::unordered_map<ExprId, ExprId> guesses;  // `v(0) ~ e`, by leaf
  std::vector<Relation> relations;             // of the motion; none before `hold`
  std::vector<Jump> jumps;                     // none before `jumps`
  ExprId energy = {};                      // what is stored, over states alone; invalid before `energy`, and without
  std::vector<ExprId> energy_slopes = {};  // by state
  std::vector<ExprId> structure = {};      // J - R by rows, where that form is known; else empty
  std::vector<ExprId> energies = {};       // each of the model's energies, over states
  std::vector<std::uint32_t> subsystem_of = {};  // by state; empty without rates, and before `rates`
};

struct Override {
  std::string name;
  double value = 0;
};

// Empty, after reporting to `diags`, when unknowns and equations do not match. Adds expressions to the model's pool.
// `overrides` replace the numbers of constants that are written as equations (`m = 1`); those found are removed from
// the list. A structure in which no run begins has no start.
enum class Begins { here, elsewhere };
[[nodiscard]] std::optional<Sorted> sort(flat::Model& model, std::vector<Override>& overrides, diag::Sink& diags,
                                         Begins begins = Begins::here);

std::string dump(const Sorted& sorted, const flat::Model& model);

}  // namespace structure
