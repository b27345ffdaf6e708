// The energy book: what a model that declares energy says about it while it runs. Enters a flat model with energies and powers; leaves the
// same with these names:
//
//   book.stored      the sum of the energies
//   book.supplied    the time integral of what ports that are not joined let in
//   book.dissipated  the time integral of supplied' - stored', stored' being taken along the equations
//   book.booked      what a solver that keeps the balance put in and has not yet taken back; book.leaps and book.escapes count how
//   book.invented    stored - stored(start) - supplied + dissipated - booked: what came from nowhere
//
// supplied and dissipated are states, so that they are integrated as the motion is, step by step and by the same method; `invented` is then what
// the method made of H itself.
#pragma once

#include "compiler/flat/model.h"

namespace energy {

void keep_book(flat::Model& model);

}  // namespace energy
