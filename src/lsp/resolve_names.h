// Who is meant. Mentions with their scopes in; an occurrence in the table for each that is understood, and the
// definition of each variable where it looks most like one, out.
//
// First names, then instances of the file's own modules, then members behind dots, then instances of what used files
// declare, then the rest.
#pragma once

#include <vector>

#include "lsp/names.h"
#include "lsp/walk.h"

namespace lsp {

void resolve_names(NameTable& table, std::vector<Mention>& mentions, const std::vector<InstanceCall>& instances);

}  // namespace lsp
