// Guards judged over boxes: one interval for each leaf.
//
//   the box of all ranges -> narrow to where the goals may hold -> empty: done; its middle holds: overlap; else halve,
//   and again
//
// Narrowing evaluates every step from the leaves up, and carries what the goals ask for down again. When no box is
// left, no point is left: exclusive. A leaf without bounds is cut at numbers that grow to both sides, until the parts
// without bounds are narrowed away.
//
// Source: Benhamou, Goualard, Granvilliers and Puget, Revising Hull and Box Consistency, ICLP 1999 (HC4).
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "compiler/proof/tape.h"

namespace proof {

// Empty: nothing can be said within so many boxes and seconds, and `why` is the reason.
[[nodiscard]] std::optional<Verdict> decide_by_intervals(const Question& question, const Tape& tape, std::size_t boxes,
                                                         double seconds, std::string& why);

}  // namespace proof
