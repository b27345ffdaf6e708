// The dimensions of an expression. Expression with what is bound around it in, a form for each component out; what
// sums, comparisons and calls say about their parts joins the system.
//
// Functions are expanded where they are called.
#pragma once

#include <string_view>

#include "compiler/check/dimension_messages.h"
#include "compiler/check/dimension_system.h"
#include "compiler/check/dimension_values.h"
#include "compiler/check/numbers.h"
#include "diag/sink.h"

namespace check {

class ExpressionDimensions {
 public:
  // All outlive this.
  ExpressionDimensions(const Model& model, base::Names& names, DimensionSystem& system, ToldPlaces& told,
                       diag::Sink& diags)
      : model_(model),
        tree_(*model.tree),
        names_(names),
        system_(system),
        told_(told),
        diags_(diags),
        numbers_(model, names),
        time_(names.intern("t")),
        pi_(names.intern("pi")) {}

  DimensionValue evaluate(parse::NodeId id, const DimensionFrame& frame, int depth = 0);

  // The children from `first` on have one dimension, component by component; scalars spread.
  DimensionValue agreeing(Origin::Kind kind, std::string_view what, parse::NodeId id, std::uint32_t first,
                          const DimensionFrame& frame, int depth);
  DimensionValue power(parse::NodeId base, parse::NodeId exponent, const DimensionFrame& frame, int depth);
  void need_pure(const DimensionValue& value, parse::NodeId node, std::string_view what);

  // For what is known before the run; reports at once.
  void need_time(parse::NodeId id, std::string_view what);
  void need(parse::NodeId id, const parse::Dimension& wanted, std::string_view what, std::string_view rule,
            double instead = 0);

  const parse::Tree& tree() const { return tree_; }
  const Numbers& numbers() const { return numbers_; }
  DimensionSystem& system() { return system_; }

 private:
  DimensionValue number(const parse::Node& node) const;
  DimensionValue name(parse::NodeId id, const DimensionFrame& frame);
  void free_zeros(SymbolId id, DimensionValue& value);
  DimensionValue component_wise(const DimensionValue& a, const DimensionValue& b, parse::Rational factor);
  DimensionValue product(const DimensionValue& a, const DimensionValue& b, parse::NodeId id);
  DimensionValue tuple(parse::NodeId id, const DimensionFrame& frame, int depth);
  void in_set(parse::NodeId id, const DimensionFrame& frame, int depth);
  DimensionValue sum_over(parse::NodeId id, const DimensionFrame& frame, int depth);
  DimensionValue index(parse::NodeId id, const DimensionFrame& frame, int depth);
  base::NameId callee(parse::NodeId id) const { return tree_[tree_.child(id, 0)].name; }
  DimensionValue call(parse::NodeId id, const DimensionFrame& frame, int depth);
  DimensionValue expand(parse::NodeId id, const parse::Function& function, const DimensionFrame& frame, int depth);

  const Model& model_;
  const parse::Tree& tree_;
  const base::Names& names_;
  DimensionSystem& system_;
  ToldPlaces& told_;
  diag::Sink& diags_;
  Numbers numbers_;
  base::NameId time_;
  base::NameId pi_;
};

}  // namespace check
