#include "compiler/check/shapes.h"

#include "compiler/check/drawings.h"
#include "compiler/check/expression_shapes.h"
#include "compiler/check/shape_inference.h"
#include "compiler/check/shape_reports.h"

namespace check {

void infer_shapes(Model& model, base::Names& names, table::Files& files, diag::Sink& diags) {
  ExpressionShapes shapes(model, names, files, diags);
  settle_shapes(model, names, shapes);
  // Every name has its shape from here on.
  report_shapes(model, names, shapes, diags);
  check_drawn_shapes(model, names, shapes, diags);
}

}  // namespace check
