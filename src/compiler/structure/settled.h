// Equations that determine nothing. Draft in; what is reported leaves it, and a variable that stands nowhere any more
// becomes 0.
//
// An equation without a variable left says the same twice, or contradicts a constant; `n = n + 1` is an assignment of
// another language.
#pragma once

#include "compiler/structure/definitions.h"
#include "compiler/structure/draft.h"
#include "diag/sink.h"

namespace structure {

// False when the rest would only confuse.
[[nodiscard]] bool drop_settled(flat::Model& model, Draft& draft, Orders& orders, diag::Sink& diags);

// Reports an equation for a name that comes from elsewhere: a parameter, an input, a behaviour. `left` and `right`: its
// sides as written.
bool report_from_outside(const flat::Model& model, const flat::Equation& equation, ExprId left, ExprId right,
                         diag::Sink& diags);

}  // namespace structure
