// What a program says about its dimensions: unknowns, one a component of a name, and constraints between products of
// their powers, each with the place that it comes from. Filled by `dimension_statements` and the walk over expressions,
// solved by DimensionSolver, read by `dimension_reports`.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "compiler/check/dimension_solver.h"
#include "compiler/check/model.h"

namespace check {

// Where a constraint comes from.
struct Origin {
  enum Kind {
    equation,
    definition,
    range,
    start,
    sum,
    comparison,
    branches,
    arguments,
    parts,
    drawing,
    given,
    inside,
    pure
  } kind;
  parse::NodeId left = {};   // of which the dimensions are compared; for `definition`, `inside`, `pure` the expression
  parse::NodeId right = {};  // not valid for these
  std::string_view what =
      {};  // definition: the name; given: the parameter; drawing: its kind; arguments, parts, inside, pure: of what
  std::uint32_t component = 0;
  parse::NodeId call = {};  // the function's call whose body this stands in; not valid outside
};

struct Constraint {
  Origin origin;
  Form left;
  Form right;
};

// An input fits any dimension; it is shown in that of what it is added to or set equal with, if that is one.
struct InputUse {
  SymbolId symbol;
  std::uint32_t item = 0;
  std::uint32_t order = 0;
  Form form = {};
};

// What must be an energy, or, with what leaves, the power of a port, if its dimension turns out to be known.
struct Work {
  Form form;
  parse::NodeId in;
  parse::NodeId out = {};  // not valid: an energy
};

struct DimensionSystem {
  // An unknown for each component of each symbol.
  DimensionSystem(const Model& the_model, const base::Names& all_names);

  Form unknown_of(SymbolId id, std::uint32_t i) const { return Form::of_unknown(first_unknown[id.value] + i); }
  // Of a name, or of what a device gives.
  std::optional<SymbolId> symbol_of(parse::NodeId id) const;
  void constrain(Origin origin, const Form& left, const Form& right);
  // Joins `uses` if the expression is an input.
  void note_input(parse::NodeId id, std::uint32_t item, std::vector<InputUse>& uses) const;
  // The work is bounded: shapes has refused the program, or it is a very large sum.
  bool is_exhausted() const { return work > 4'000'000 + 100 * static_cast<long long>(tree.nodes.size()); }

  const Model& model;
  const parse::Tree& tree;
  const base::Names& names;
  DimensionSolver solver;
  std::uint32_t symbol_unknowns = 0;         // further ones are of determinants
  std::vector<std::uint32_t> first_unknown;  // by symbol
  std::vector<Constraint> constraints;       // as the solver's
  std::vector<InputUse> input_uses;
  std::vector<Work> works;
  parse::NodeId call;  // the outermost call of a function being expanded
  long long work = 0;
};

// Things that must have one dimension: the terms of a sum, the sides of an equation.
class Agreement {
 public:
  Agreement(DimensionSystem& system, Origin origin, std::uint32_t item)
      : system_(system), origin_(origin), item_(item) {}

  void add(parse::NodeId node, const Form& form) {
    if (!form.is_rigid()) {
      if (form.kind == Form::any) system_.note_input(node, item_, inputs_);
      if (!form_.is_rigid() && (first_ || form.kind == Form::any)) form_ = form;
      first_ = false;
      return;
    }
    first_ = false;
    if (!form_.is_rigid()) {
      form_ = form;
      node_ = node;
      return;
    }
    Origin origin = origin_;
    origin.left = node_;
    origin.right = node;
    system_.constrain(origin, form_, form);
  }
  // The dimension they have in common.
  const Form& form() const { return form_; }

  ~Agreement() {
    if (!form_.is_rigid()) return;
    for (InputUse& use : inputs_) {
      use.form = form_;
      system_.input_uses.push_back(std::move(use));
    }
  }

 private:
  DimensionSystem& system_;
  Origin origin_;
  std::uint32_t item_;
  bool first_ = true;
  Form form_;
  parse::NodeId node_;
  std::vector<InputUse> inputs_;
};

}  // namespace check
