// The last walk over shapes: a model in which every name has one in, messages about what does not fit out. Constants
// take the shape of their value here.
#pragma once

#include "compiler/check/expression_shapes.h"
#include "compiler/check/model.h"
#include "diag/sink.h"

namespace check {

// `shapes` reports from here on.
void report_shapes(Model& model, base::Names& names, ExpressionShapes& shapes, diag::Sink& diags);

}  // namespace check
