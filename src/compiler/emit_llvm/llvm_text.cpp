#include "compiler/emit_llvm/llvm_text.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/emit_llvm/module.h"
#include "compiler/reroll/reroll.h"

namespace emit_llvm {

std::string llvm_text(const ir::Program& program) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  const auto print = [&](const ir::Program& part, const ModuleOptions& options) {
    llvm::LLVMContext context;
    build_module(part, context, options)->print(stream, nullptr);
  };
  const ir::Program looped = reroll::with_loops(program);
  for (std::size_t k = 0; k < looped.structures.size(); ++k) {
    ModuleOptions options;
    options.prefix = "model_" + std::to_string(k);
    options.table = structure_table(options.table, k);
    print(looped.structures[k], options);
  }
  print(looped, {});
  return text;
}

}  // namespace emit_llvm
