#include "compiler/emit_llvm/llvm_text.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/emit_llvm/module.h"
#include "compiler/reroll/reroll.h"

namespace emit_llvm {

std::string llvm_text(const ir::Program& program) {
  llvm::LLVMContext context;
  auto module = build_module(reroll::with_loops(program), context, {});
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, nullptr);
  return text;
}

}  // namespace emit_llvm
