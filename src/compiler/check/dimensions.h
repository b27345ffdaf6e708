// The physical dimension of every name, inferred from the units that literals carry, and a report of what does not fit.
//
// Enters a model whose roles and shapes are settled; leaves the dimension of each component of each symbol, where it is
// determined. A program in which no literal has a unit with a dimension (angles have none) is not looked at.
//
// Each scalar component of a name has an unknown dimension; each expression gives for each component a product of powers
// of these (Form); sums, equations, comparisons, starts, calls say that two of them are equal. All of it is then solved at
// once (DimensionSolver), and a constraint that cannot hold is reported with the reasons for both of its sides.
//
// What fits any dimension, and why: docs/decisions/0007-dimensions.md.
#pragma once

#include <span>

#include "compiler/check/model.h"
#include "compiler/parse/given.h"
#include "diag/sink.h"

namespace check {

// Settles Symbol::dimensions and Symbol::written_unit.
void infer_dimensions(Model& model, base::Names& names, std::span<const parse::Given> given, diag::Sink& diags);

}  // namespace check
