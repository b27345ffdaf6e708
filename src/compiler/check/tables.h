// The tables that a program reads: `table("x.csv", cubic, column = "torque")(u)`, in the tree a call whose callee is a call of
// `table`. Enters: such a call. Leaves: its sampled data in model.tables, equal ones once.
#pragma once

#include <optional>

#include "compiler/check/model.h"
#include "compiler/check/numbers.h"
#include "compiler/table/files.h"
#include "diag/sink.h"

namespace check {

// Whether `callee(..)` is the language's own `table("..")`, not a function of the program.
bool is_table_word(const Model& model, const base::Names& names, parse::NodeId callee);
// Whether `call` is `table("..")(..)`.
bool is_table_call(const Model& model, const base::Names& names, parse::NodeId call);

class TableReader {
 public:
  // All outlive this.
  TableReader(Model& model, base::Names& names, table::Files& files, diag::Sink& diags)
      : model_(model), tree_(*model.tree), names_(names), files_(files), diags_(diags), numbers_(model, names) {}

  // The index in model.tables of what `call` reads. Files are read at the first question; empty after reporting, once a call.
  std::optional<std::uint32_t> find(parse::NodeId call);

 private:
  struct Options {
    tactus_table_method method = TACTUS_LINEAR;
    table::Column column;
  };
  std::optional<std::uint32_t> read(parse::NodeId call);
  std::optional<Options> read_options(parse::NodeId table, bool is_map);
  bool read_method(parse::NodeId word, Options& options);
  bool read_column(parse::NodeId value, bool is_map, Options& options);

  Model& model_;
  const parse::Tree& tree_;
  base::Names& names_;
  table::Files& files_;
  diag::Sink& diags_;
  Numbers numbers_;
  std::unordered_map<parse::NodeId, bool> failed_;
};

// One line a table, for people.
std::string dump_tables(const Model& model);

}  // namespace check
