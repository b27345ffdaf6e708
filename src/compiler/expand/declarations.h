// What names mean. The items of a program as written in; its scopes out, those of instances and used files included.
//
// A scope learns all its names before anything in it is written out, so that `b.x` may be used above the line that
// makes `b`. Instances are made here, one inside the other; ranges are worked out for that.
#pragma once

#include "compiler/expand/program.h"

namespace expand {

// The program's own scope. All others stand in program.scopes behind it, and instances in program.instances in the
// order of the text.
[[nodiscard]] Scope& declare(Program& program);

}  // namespace expand
