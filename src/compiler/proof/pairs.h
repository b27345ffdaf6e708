// The questions that a model asks: for each pair of its transitions that could disagree, whether both guards can hold. A flat model in,
// verdicts out.
//
// Algebraic names are what their equations say in the modes in which both can be taken; what moves may be anywhere; parameters are in their
// ranges.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/flat/model.h"
#include "compiler/proof/decide.h"

namespace proof {

struct Pair {
  std::uint32_t first = 0, second = 0;  // transitions
  Verdict verdict;
};

[[nodiscard]] std::vector<Pair> decide_pairs(flat::Model& model, Prover& prover);

}  // namespace proof
