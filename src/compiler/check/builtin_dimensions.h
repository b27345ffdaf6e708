// What the language's own functions make of dimensions. A call in, the forms of its result out; what the function asks
// of its arguments joins the system.
#pragma once

#include "compiler/check/builtins.h"
#include "compiler/check/expression_dimensions.h"

namespace check {

[[nodiscard]] DimensionValue apply_builtin(ExpressionDimensions& expressions, parse::NodeId id,
                                           const BuiltinRow& builtin, const DimensionFrame& frame, int depth);

}  // namespace check
