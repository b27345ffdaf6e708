// Writes a checked model out in scalars: functions expanded, sums unrolled, vectors taken apart.
//
//   check::Model --evaluate every expression with vectors of scalar expressions--> flat::Model
//
//   p : vector of 2,  m * p'' = (0, -g)   ->   m * p''[1] = 0,  m * p''[2] = -g
//   integration(e)                        ->   a new variable i with i' = e, i = 0 at the start
//   diff(e, x)                            ->   the derivative, worked out behind the names that equations define
//   (e)'                                  ->   the time derivative, worked out
//   delay(e, d)                           ->   the leaf delayed(k), its source a new variable s with s = e unless e is a name
//   (delay(e, d))'                        ->   delay(e', d), and 0 until d after the start
//   noise(seed, b)                        ->   noise of the phase 2 b t
//   p in box(c, s)                        ->   c[1] <= p[1] && p[1] <= c[1] + s[1] && ..
//   check f                               ->   a monitor of constant memory: discrete values, notes and checks
#pragma once

#include "base/names.h"
#include "compiler/check/model.h"
#include "compiler/flat/model.h"
#include "diag/sink.h"

namespace flatten {

// Whether the axioms of the model's jumps, sequences and plans become checks, too.
enum class Axioms { taken_as_given, watched };

[[nodiscard]] flat::Model flatten(const check::Model& model, const base::Names& names, diag::Sink& diags,
                                  Axioms axioms = Axioms::taken_as_given);

}  // namespace flatten
