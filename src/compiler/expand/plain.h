// Whether a program has anything to write out.
#pragma once

#include "compiler/parse/tree.h"

namespace expand {

// No modules, loops, families and used files, and no event whose time a parameter says.
[[nodiscard]] bool is_plain(const parse::Tree& tree);

}  // namespace expand
