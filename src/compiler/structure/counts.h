// Counts that do not match, in the words of the source. A system with a matching that is not complete in, messages out:
// the equations that determine the same few names, and the name that a person forgot.
//
// Method: alternating paths from what is unmatched reach all that is too many, or too few, together (Dulmage and
// Mendelsohn, Canadian J. Math. 10, 1958); among too few the one is named that has least to do with other equations.
#pragma once

#include "compiler/structure/definitions.h"
#include "compiler/structure/draft.h"
#include "compiler/structure/matching.h"
#include "compiler/structure/structure.h"
#include "diag/sink.h"

namespace structure {

void report_counts(flat::Model& model, const Draft& draft, const Orders& orders, const System& system, const Rows& rows,
                   const Matching& matching, diag::Sink& diags);

}  // namespace structure
