// What may stand behind `when`: a truth value, and no equality of numbers that move. Enters: a condition. Leaves: reports.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_set>

#include "compiler/check/model.h"
#include "diag/sink.h"

namespace check {

class Guards {
 public:
  // All outlive this.
  Guards(const Model& model, base::Names& names, diag::Sink& diags);

  // Reports `=` between numbers that move: they pass each other between two instants. `what` happens then: "the event".
  void read_equalities(parse::NodeId id, std::string_view what);
  // Reports a condition that is a number for certain. `what`: "`when`".
  void read_truth(parse::NodeId id, std::string_view what);

 private:
  bool moves(parse::NodeId id);
  bool is_number(parse::NodeId id, int depth);
  bool is_number_by_equation(base::NameId name, int depth);
  void find_defined();

  const Model& model_;
  const parse::Tree& tree_;
  const base::Names& names_;
  diag::Sink& diags_;
  base::NameId time_;
  base::NameId pi_;
  bool has_looked_ = false;
  std::unordered_set<base::NameId> states_;                      // primed or given a start somewhere
  std::unordered_set<base::NameId> memories_;                    // of these, those that only jumps change
  std::unordered_map<base::NameId, parse::NodeId> definitions_;  // right sides of `name = e`
};

}  // namespace check
