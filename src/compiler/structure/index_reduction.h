// Index reduction. Draft and orders in; out the same, in which every equation has a highest derivative of its own, as
// far as the counts allow: where they do not, `counts` says which equations are too many. What was differentiated stays
// as a constraint.
//
// Method: Pantelides, SIAM J. Sci. Stat. Comput. 9(2), 1988, in rounds: equations that share too few highest
// derivatives are differentiated together, and what they were stays as a constraint; until every equation has a highest
// derivative of its own. It ends, because the equations can be matched with names. Equations that define a name stay:
// their derivatives define the name's derivatives beside them.
#pragma once

#include "compiler/structure/definitions.h"
#include "compiler/structure/draft.h"
#include "diag/sink.h"

namespace structure {

// False after reporting what cannot be differentiated or cancels for good; true also where the counts do not match.
[[nodiscard]] bool reduce_index(flat::Model& model, Draft& draft, Orders& orders, diag::Sink& diags);

}  // namespace structure
