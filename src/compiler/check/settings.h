// The `simulation` section: known keys, numbers in their ranges.
#pragma once

#include "compiler/check/model.h"
#include "diag/sink.h"

namespace check {

// Fills the settings of a model whose symbols are known (a setting may use constants).
void read_settings(Model& model, base::Names& names, diag::Sink& diags);

}  // namespace check
