// Passivity observer and controller at a port (Hannaford, Ryu, IEEE Trans. Robotics and Automation 18(1), 2002), in
// continuous time:
//
//   guard a.end reserve e;      with `power end: u -> y` in a
//
//     a.end.power     u.y, what the part itself takes in
//     a.end.energy    what came in there so far, and e: the observer
//     a.end.given     y while that is positive or more comes in; else y without its part along u, which would take
//     energy out: the controller
//     a.end.removed   what the controller took
//
// a.end.given is what leaves, for whatever is joined there and for the book. Nothing is given out that did not come in
// before.
#pragma once

#include "compiler/schemata/tree_builder.h"
#include "diag/sink.h"

namespace schemata {

void write_guards(TreeBuilder& builder, diag::Sink& diags);

}  // namespace schemata
