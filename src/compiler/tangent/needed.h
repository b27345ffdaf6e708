// What a program that leaves the house needs of tangents: those that the kernel itself asks for, without which a plan
// would be searched for by differences there and by tangents here.
#pragma once

#include "compiler/tangent/tangent.h"

namespace tangent {

// Gives the program, or each of its structures, the tangents that the kernel needs and `besides`, unless it has brought
// its own.
void add_needed(ir::Program& program, Functions besides = none);

}  // namespace tangent
