// Where the sections of a program's Instance lie: the kernel's tk_layout for the program's counts.
#pragma once

#include "abi/model.h"
#include "compiler/ir/ir.h"

namespace ir {

tactus_layout layout_of(const Program& program);

}  // namespace ir
