#pragma once

#include "compiler/schemata/tree_builder.h"
#include "diag/sink.h"

namespace schemata {

void write_plan(TreeBuilder& builder, parse::Plan item, diag::Sink& diags);

}  // namespace schemata
