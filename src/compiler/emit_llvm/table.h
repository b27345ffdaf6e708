// ir::Program, its functions -> the model table as a constant, laid out as abi/model.h by the module's data layout, 32-bit or
// 64-bit pointers alike.
#pragma once

#include <llvm/IR/Module.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "abi/model.h"
#include "compiler/ir/ir.h"

namespace emit_llvm {

// Fields of a table by their places in this machine's table: what counts is their order, which is every machine's.
using Fields = std::map<std::size_t, llvm::Constant*>;

// Names, channels and so on: the addresses of this process's table, or data of the module. A whole's structures have tables that
// are called structure_table(table, k).
[[nodiscard]] Fields pointers_of_process(const ir::Program& program, const tactus_model& metadata,
                                         llvm::Module& module);
[[nodiscard]] Fields pointers_as_data(const ir::Program& program, const std::string& table, llvm::Module& module);

// functions: all that stands in the table from `prepare` on.
[[nodiscard]] llvm::Constant* table_of(const ir::Program& program, Fields pointers,
                                       const std::vector<llvm::Constant*>& functions, llvm::Module& module);

}  // namespace emit_llvm
