// Who each name is: what declarations say, and a variable for every other name of an equation, condition or output.
#pragma once

#include "compiler/check/model.h"
#include "diag/sink.h"

namespace check {

// Fills symbols and ports of a model whose tree is set. Shapes are still open, save those of devices' values.
void find_roles(Model& model, base::Names& names, diag::Sink& diags);

}  // namespace check
