// Guards as a formula over the real numbers for Z3.
//
//   tape -> SMT-LIB 2 (QF_NRA) -> z3 -> no point: exclusive; a point that holds in doubles too: overlap; else nothing
//   is said
//
// Rules. Numbers stand as the exact decimals of the doubles. A quotient q = a / b is a new variable with b != 0 -> q b
// = a; a root s >= 0 with a >= 0 -> s s = a; sin and cos of one argument are a pair on the unit circle; other functions
// are new variables with the bounds that they have. So every point at which the guards hold is one of the formula: that
// there is none is a proof. A formula may have more points, which is why one is only believed once the guards were
// evaluated there. A relation that reads a root of something negative, 0 / 0 and the like is false, as it is in
// doubles; where only a divisor is 0, the quotient may be anything.
//
// Source: Jovanovic and de Moura, Solving Non-linear Arithmetic, IJCAR 2012 (the method that Z3 uses).
#pragma once

#include <optional>
#include <string>

#include "compiler/proof/solver_process.h"
#include "compiler/proof/tape.h"

namespace proof {

// Empty: nothing can be said, and `why` is the reason.
[[nodiscard]] std::optional<Verdict> decide_by_polynomials(const Question& question, const Tape& tape,
                                                           const SolverProcess& solver, double seconds,
                                                           std::string& why);

// The script. `margin` moves every relation by so much to the side on which it is harder to fulfil.
[[nodiscard]] std::string write_smt(const Tape& tape, double margin = 0);

// The values in the order of the leaves that write_smt asks for, of Z3's answer behind "sat"; empty when it is not
// understood. `pairs`, sine and cosine, follow the leaves.
[[nodiscard]] std::optional<std::vector<double>> read_values(std::string_view reply, std::size_t count);

}  // namespace proof
