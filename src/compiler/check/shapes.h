// The shape of every name, to a fixed point, and a last walk that says what does not fit. See check.h for the rules.
#pragma once

#include "compiler/check/model.h"
#include "diag/sink.h"

namespace check {

// Settles the shapes of a model whose roles and settings are known.
void infer_shapes(Model& model, base::Names& names, diag::Sink& diags);

}  // namespace check
