// The events of a program and the handlers of its behaviours: when each happens, and whether every name in them exists.
// Reads the tree; leaves model.events.
#pragma once

#include "compiler/check/model.h"
#include "diag/sink.h"

namespace check {

// After find_roles: the names of equations are known. A handler declares no names; it reads what there is.
void read_events(Model& model, base::Names& names, diag::Sink& diags);

// Whether a literal is in 1/s: then a `rate` is a rate, not the seed's period.
bool is_frequency(const parse::Tree& tree, parse::NodeId id);

}  // namespace check
