// Items written out. A declared program in; its tree filled with plain items out: those of the program, then those of
// each instance with the path before their names, then what of used files something reads.
#pragma once

#include "compiler/expand/program.h"

namespace expand {

// `top`: the program's own scope.
void write_items(Program& program, Scope& top);

}  // namespace expand
