// The names in a file's items: sections, declarations, modules. A walk at the beginning of a text in; at its end, with
// all scopes, declarations and mentions, out. Nothing is resolved yet.
#pragma once

#include "lsp/walk.h"

namespace lsp {

void walk_items(Walk& walk, const ReadFile& read_file);

}  // namespace lsp
