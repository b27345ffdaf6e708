// Programs written by hand, each for one feature of the backends.
#pragma once

#include <cstddef>
#include <vector>

#include "compiler/ir/ir.h"

namespace backend_testing {

ir::Program swing();                // a'' = -sin(a), its energy and a ledger
ir::Program harmonic_oscillator();  // x'' = -w^2 x, w^2 derived from the parameter w
ir::Program van_der_pol();          // x'' = mu (1 - x^2) x' - x
ir::Program linear_block();         // M(x) x' = b(x), 4 x 4, by linear_solve
ir::Program newton_block();         // x' = z with z + z^3 = cos(t) - x, and a pair of unknowns; warm starts
ir::Program failing_newton();       // z^2 + 1 = x: no solution once x < 1; x' = -1 from 2
ir::Program singular_block();       // the determinant is x, x' = -1 from 1.5: exactly 0 at t = 1.5
ir::Program many_chunks();          // a chain of masses in several chunks that meet in `work`
ir::Program logic();                // selects, comparisons with NaN, and, or, not
ir::Program all_elementary();       // every function, and sin with cos of one operand
ir::Program driven();               // inputs and their rates, ports, texts that need escapes
ir::Program reactive();             // x' = a - z, z + z^3 = x; events change a and b, one by Newton in two chunks
ir::Program switching();            // x'' = -x - 0.2 sign(x') + floor(3 x) / 10, both held; an event when x' > 0
ir::Program sampled();              // tables of every kind and their derivatives, noise, a delay

std::vector<ir::Program> all_samples();

// A chain of `masses` masses with nonlinear springs, 2 states and about 20 instructions a mass, `chunk` instructions a chunk.
ir::Program long_chain(std::size_t masses, std::size_t chunk = 500);

}  // namespace backend_testing
