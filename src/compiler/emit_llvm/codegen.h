// LLVM module -> optimised module -> object file, for both targets. Knows LLVM; used by jit.cpp and wasm.cpp only.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <atomic>
#include <memory>
#include <string_view>

namespace emit_llvm {

// Bitcode that the build embeds (kernel_blobs.S): all of src/kernel.
std::string_view kernel_bitcode_native();
std::string_view kernel_bitcode_wasm();

// Fast: FastISel at -O0. No contraction of a * b + c at any level.
enum class Effort { fast, reduced, full };
[[nodiscard]] std::unique_ptr<llvm::TargetMachine> make_native_machine(Effort effort);
[[nodiscard]] std::unique_ptr<llvm::TargetMachine> make_wasm_machine();

// Drops what the optimiser has to say ("loop not unrolled"): no one here can act on it.
void silence_remarks(llvm::LLVMContext& context);

// Adds from `bitcode` what `module` needs, transitively; or all of it.
enum class Link { needed, all };
void link_kernel(llvm::Module& module, std::string_view bitcode, Link which);

// All but `kept` and what wasm exports become internal, so that what is inlined everywhere disappears.
void internalize(llvm::Module& module, std::initializer_list<std::string_view> kept);

// -O2 or -O1, vectorisers off: on single models they only cause store-forwarding stalls (see bench/). Once `cancelled` is
// set the remaining passes are skipped.
void optimise(llvm::Module& module, llvm::TargetMachine& machine, Effort effort, const std::atomic<bool>& cancelled);

// An object file. Once `cancelled` is set the functions not yet reached come out empty.
[[nodiscard]] llvm::SmallVector<char, 0> generate_code(llvm::Module& module, llvm::TargetMachine& machine,
                                                       const std::atomic<bool>& cancelled);

}  // namespace emit_llvm
