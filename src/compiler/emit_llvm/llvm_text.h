// ir::Program -> LLVM IR as text, for people: `tactus explain --dump=llvm`. As built, before any optimisation.
#pragma once

#include <string>

#include "compiler/ir/ir.h"

namespace emit_llvm {

[[nodiscard]] std::string llvm_text(const ir::Program& program);

}  // namespace emit_llvm
