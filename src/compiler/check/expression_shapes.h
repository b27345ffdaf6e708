// The shape of an expression, as far as the names in it are known. Expression with what is bound around it in, Known
// out; says what does not fit once reporting is on.
//
// Functions are expanded where they are called, within a bounded amount of work for the program.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "compiler/check/builtins.h"
#include "compiler/check/model.h"
#include "compiler/check/numbers.h"
#include "compiler/check/shape_rules.h"
#include "compiler/check/tables.h"
#include "diag/sink.h"

namespace check {

// As a start, a parameter spreads over the components of a vector; only where nothing else is known it says "scalar".
[[nodiscard]] bool is_parameter(const Model& model, parse::NodeId id);
// The own old value of a behaviour, bound in its handlers.
[[nodiscard]] Scope own_value(const parse::Behaviour& behaviour, const Symbol& symbol);
// `: 3`, `: (3, 3)`; empty for anything else.
[[nodiscard]] std::optional<expr::Shape> given_shape(const parse::Tree& tree, const Numbers& numbers, parse::NodeId id);

class ExpressionShapes {
 public:
  // All outlive this.
  ExpressionShapes(Model& model, base::Names& names, table::Files& files, diag::Sink& diags)
      : model_(model),
        tree_(*model.tree),
        names_(names),
        diags_(diags),
        numbers_(model, names),
        tables_(model, names, files, diags),
        rules_{diags},
        time_(names.intern("t")),
        pi_(names.intern("pi")) {}

  Known shape_of(parse::NodeId id, const Scope* scope = nullptr, int depth = 0);

  // Where the expressions that follow stand.
  struct Place {
    bool may_look_ahead = false;  // `next`
    bool may_name_events = false;
  };
  void set_place(Place place) { place_ = place; }

  const ShapeRules& rules() const { return rules_; }
  void start_reporting() { rules_.is_reporting = true; }

  // A bounded amount of work for one program: functions of functions can grow exponentially when they are expanded.
  bool affordable(base::Span span);

  // in_body(the function, its scope), the arguments of the call bound. False, with nothing done, for a function that
  // calls itself.
  template <class Do>
  bool expand(parse::NodeId call, SymbolId symbol, const Scope* scope, int depth, Do in_body) {
    if (std::find(active_.begin(), active_.end(), symbol) != active_.end()) return false;
    const parse::Function& function = tree_.functions[model_.symbols[symbol].declaration];
    std::vector<Scope> bindings = bind(call, function, scope, depth);
    active_.push_back(symbol);
    in_body(function, bindings.empty() ? nullptr : &bindings.back());
    active_.pop_back();
    return true;
  }

 private:
  std::vector<Scope> bind(parse::NodeId call, const parse::Function& function, const Scope* scope, int depth);
  Known shape_of_prime(parse::NodeId id, const Scope* scope, int depth);
  Known shape_of_name(parse::NodeId id, const Scope* scope);
  Known shape_of_member(parse::NodeId id);
  Known shape_of_tuple(parse::NodeId id, const Scope* scope, int depth);
  Known shape_of_in_set(parse::NodeId id, const Scope* scope, int depth);
  Known shape_of_sum_over(parse::NodeId id, const Scope* scope, int depth);
  Known shape_of_index(parse::NodeId id, const Scope* scope, int depth);
  void report_index(parse::NodeId whole, parse::NodeId index);
  Known shape_of_call(parse::NodeId id, const Scope* scope, int depth);
  Known shape_of_table(parse::NodeId id, const Scope* scope, int depth);
  Known shape_of_function(parse::NodeId id, SymbolId symbol, const Scope* scope, int depth);
  void report_no_member(parse::NodeId id, const std::string& text);
  void report_no_function(parse::NodeId id);
  void report_unknown_function(parse::NodeId id);

  Model& model_;
  const parse::Tree& tree_;
  base::Names& names_;
  diag::Sink& diags_;
  Numbers numbers_;
  TableReader tables_;
  ShapeRules rules_;
  base::NameId time_;
  base::NameId pi_;
  std::vector<SymbolId> active_;  // functions being expanded
  Place place_;
  bool self_call_reported_ = false;
  bool time_argument_reported_ = false;
  long long work_ = 0;
};

}  // namespace check
