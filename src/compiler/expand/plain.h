// Whether a program has anything to write out.
#pragma once

#include "compiler/parse/tree.h"

namespace expand {

// No modules, loops, families and used files, no event whose time a parameter says, no ground over a function.
[[nodiscard]] bool is_plain(const parse::Tree& tree);

}  // namespace expand
