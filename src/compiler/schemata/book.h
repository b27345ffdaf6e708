// The energy book: what a model that declares energy says about it while it runs.
//
//   book.stored      the sum of its energies
//   book.supplied    the time integral of what ports that are not joined let in
//   book.dissipated  the time integral of supplied' - stored', stored' being taken along the equations
//   book.booked      what a solver that keeps the balance put in and has not yet taken back; book.leaps and
//   book.escapes count how
//   book.start       what was stored at the start
//   book.invented    stored - start - supplied + dissipated - booked: what came from nowhere
//
// With rates each subsystem keeps a book of its own, `s.book.stored` and so on, that of the rest of the model being
// `book.rest`; those above are the sums. What a sampled port has let in is `s.end.work`, a state of the subsystem; what
// passive joins keep is book.held, and counts as taken out: booked is the sum of the ledgers less that.
//
// supplied and dissipated are states, so that they are integrated as the motion is, step by step and by the same
// method; `invented` is then what the method made of the energy itself. The ledger (booked, leaps, escapes) is three
// behaviours that no handler changes: the kernel does.
#pragma once

#include "compiler/schemata/tree_builder.h"

namespace schemata {

// Nothing to do for a model without energy. What the text calls `book.stored` and so on becomes the name.
void write_book(TreeBuilder& builder);

}  // namespace schemata
