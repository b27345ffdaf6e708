// Instances with steps of their own: subsystems. Two passes.
//
//   sample   A flat model and the tree that it was made of in; out, how many steps of the whole each subsystem's is,
//   and in the place of what
//            joined ports of different subsystems get, discrete values that the kernel holds (kernel/rates.c):
//              a.in = b.out, b.in = -a.out   become   a.in = held, b.in = held, and b.out, a.out are what is sampled.
//            The step of the whole is the shortest: step_size, or that of the fastest rate.
//   split    Sorted equations in; out, the subsystem of each state: that of the instance in whose name it stands. What
//   moves a state depends on
//            states of its own subsystem alone.
#pragma once

#include "base/names.h"
#include "compiler/flat/model.h"
#include "compiler/parse/tree.h"
#include "compiler/structure/structure.h"
#include "diag/sink.h"

namespace rates {

// Nothing to do for a model without rates.
void sample(flat::Model& model, const parse::Tree& tree, const base::Names& names, diag::Sink& diags);
void split(const flat::Model& model, structure::Sorted& sorted, diag::Sink& diags);

// For people: the steps of all subsystems, what each gets from others.
std::string dump(const flat::Model& model);

}  // namespace rates
