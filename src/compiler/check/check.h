// Checks a program: who each name is, and that shapes and dimensions fit.
//
//   parse::Tree --roles--> symbols --shapes to a fixed point--> --dimensions, where literals carry units--> check::Model
//
// A name that no declaration explains is a variable; whether an equation determines it is structure's question. Shapes are
// inferred: they flow from literals and boundary values through equations in both directions until nothing changes. First only
// along what is certain (`v = e`), then, for names still open, along what is likely (`a + b` have one shape); what is then
// still open is a scalar. A last walk reports what does not fit.
#pragma once

#include <span>

#include "compiler/check/model.h"
#include "compiler/parse/given.h"
#include "compiler/table/files.h"
#include "diag/sink.h"

namespace check {

// Always returns a model; it is fit for use only if nothing was reported as an error. `tree` must outlive it.
// `overrides` are values from outside (`--set`) for constants and parameters; `files` are what tables read; `given` is what instances
// give to parameters of their modules.
[[nodiscard]] Model check(const parse::Tree& tree, base::Names& names,
                          std::unordered_map<base::NameId, double> overrides, table::Files& files, diag::Sink& diags,
                          std::span<const parse::Given> given = {});

}  // namespace check
