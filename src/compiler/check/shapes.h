// The shape of every name, to a fixed point, and a last walk that says what does not fit. See check.h for the rules.
#pragma once

#include "compiler/check/model.h"
#include "compiler/table/files.h"
#include "diag/sink.h"

namespace check {

// Settles the shapes of a model whose roles and settings are known. Reads the tables, whose columns are part of it.
void infer_shapes(Model& model, base::Names& names, table::Files& files, diag::Sink& diags);

}  // namespace check
