// The files that a program uses, read and parsed: their items stand in Tree::bodies, each file once, whoever uses it.
#pragma once

#include "base/names.h"
#include "compiler/parse/tree.h"
#include "compiler/source/source.h"
#include "diag/sink.h"
#include "diag/source_map.h"

namespace expand {

// Files may use each other, in circles too: they only declare.
void load_used_files(parse::Tree& tree, diag::SourceMap& sources, base::Names& names, const source::Reader& read,
                     diag::Sink& diags);

}  // namespace expand
