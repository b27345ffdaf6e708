// Many models, one plan each, on the quick tier, the optimised tier, in C and in wasm: where do they differ first?
#pragma once

#include <span>
#include <string>

#include "compiler/emit_llvm/testing/compare.h"

namespace backend_testing {

struct Agreement {
  std::string difference;  // "" when all agree; else the model, the backend, the place, and the program
  std::size_t ran_to_the_end = 0;
  std::size_t jumped = 0;  // models whose discrete values are others at the end than at the start
  std::size_t values = 0;
  std::size_t finite_values = 0;
};

// The models share one C library and one wasm module: a few hundred are a good batch. plans[i] belongs to programs[i].
Agreement compare_all_backends(std::span<const ir::Program> programs, std::span<const Plan> plans);

}  // namespace backend_testing
