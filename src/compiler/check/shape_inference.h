// The shapes of names. A model whose names are open in; every name with its shape out.
//
// Shapes flow from literals and starts through equations in both directions until nothing changes: first along what is
// certain (`v = e`), then, for names still open, along what is likely (`a + b` have one shape); then a parameter that
// is a start says "scalar"; a name of which only components are used is as long as its largest index. What is then
// still open is a scalar.
#pragma once

#include "compiler/check/expression_shapes.h"
#include "compiler/check/model.h"

namespace check {

void settle_shapes(Model& model, base::Names& names, ExpressionShapes& shapes);

}  // namespace check
