// The cheap first look: goals that contradict each other as they are written.
//
// Rule: a relation becomes s < c or s <= c with s a sum in one order and of one sign, so that g <= 0 and 0 < g, x - y <
// 1 and y - x < -2 speak of the same s; when no number is between all that is said of one s, not all can hold. A
// disjunction is tried by cases, up to a bound. Numbers are added and scaled only where that is exact. Modes and events
// are told apart here too: they are relations between a value that is held and a number.
//
// Cost: linear in the tape, times the cases.
#pragma once

#include "compiler/proof/tape.h"

namespace proof {

[[nodiscard]] bool is_contradictory(const Tape& tape);

}  // namespace proof
