#pragma once

#include "compiler/schemata/tree_builder.h"
#include "diag/sink.h"

namespace schemata {

void write_sequence(TreeBuilder& builder, parse::Sequence item, diag::Sink& diags);

}  // namespace schemata
