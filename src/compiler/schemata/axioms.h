// A program's jumps as formulas, in the logic of seed 002, section 4.1. Enters: a program without modules and loops,
// sequences and plans not yet written out. Leaves: one formula each, for people.
//
//   v- . f     f at the instant v- before a jump;  v+ after it;  t1- t1+ .. of the end of the first phase ..
//              @v- @v+ @t1- .. in a program that has a name like one of them
#pragma once

#include <string>

#include "base/names.h"
#include "compiler/parse/tree.h"

namespace schemata {

[[nodiscard]] std::string axioms(const parse::Tree& tree, const base::Names& names);

}  // namespace schemata
