// ir::Program -> an LLVM module: the model's functions and its table as a constant. Used by jit.cpp and wasm.cpp only; the
// one header here that knows LLVM.
//
//   define internal i32 @P_derivative(ptr model, ptr instance, double t, ptr x, ptr dx)      one LLVM instruction an ir one
//   @TABLE = constant { .. }    laid out as abi/model.h by the module's data layout, 32-bit or 64-bit pointers alike
//
// No fast-math flag anywhere, so no later pass may contract or reassociate.
#pragma once

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <cstddef>
#include <memory>
#include <string>

#include "abi/model.h"
#include "compiler/ir/ir.h"

namespace emit_llvm {

struct ModuleOptions {
  std::string prefix = "model";        // of the functions
  std::string table = "tk_the_model";  // external name of the table
  std::string triple;
  std::string data_layout;
  // The table's entries: "tk_fixed_steps" and "tk_adaptive_step", or the kernel's specialised ones.
  std::string fixed_steps = "tk_fixed_steps";
  std::string adaptive_step = "tk_adaptive_step";
  // In this process: names, channels and so on are taken from this table's addresses. Null: they are emitted as data.
  const tactus_model* metadata = nullptr;
  // Functions of at most this many instructions are inlined whatever the optimiser thinks of their size.
  std::size_t always_inline_limit = 0;
  // In this process: elementary functions are called by their names with this ending, the process's own, save in a derivative
  // that is always inlined and calls at most `inline_elementary_limit` of them: there they are the kernel's, to be inlined.
  std::string native_ending;
  std::size_t inline_elementary_limit = 0;
  // All handlers in one function: each function costs the code generator some seventy passes, however small it is. Not for the
  // optimiser, which is not linear in a function's size.
  bool joins_handlers = false;
};

// With structures: the table that stands for all of them alone. Their own are modules, too, whose tables are called `structure_table`.
[[nodiscard]] std::string structure_table(const std::string& table, std::size_t structure);
[[nodiscard]] std::unique_ptr<llvm::Module> build_module(const ir::Program& program, llvm::LLVMContext& context,
                                                         const ModuleOptions& options);

// The program's tangents alone: the external function `name` is what `tangent` is in a table. In this process only; `table` is
// one of the program's, with `options.metadata`.
[[nodiscard]] std::unique_ptr<llvm::Module> build_tangent_module(const ir::Program& program,
                                                                 const ir::Tangents& tangents, const std::string& name,
                                                                 const tactus_model& table, llvm::LLVMContext& context,
                                                                 const ModuleOptions& options);

// The table's entries for a kernel specialised for one solver: the loop of that one inlined around the model, every other
// solver through the generic functions. -1: what a run of the model takes by itself (runtime/sim/plan.h).
struct KernelEntries {
  const char* fixed_steps;
  const char* adaptive_step;
  int evaluations;  // of the derivative in one step: so often is it inlined
};
[[nodiscard]] KernelEntries specialised_entries(const ir::Program& program, int solver);

// Gives every function of the module this processor and these features, whatever it was compiled for.
void set_target_attributes(llvm::Module& module, llvm::StringRef cpu, llvm::StringRef features);

}  // namespace emit_llvm
