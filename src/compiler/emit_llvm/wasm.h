// ir::Program -> a WebAssembly module: model and kernel in one, optimised, without imports. What it exports stands in
// wasm/wasm_host.c; tests/wasm_run.mjs shows its use.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace emit_llvm {

// Empty, with `failure` set, when the linker cannot be run, and for a model with boundary values at other times: nothing in a module
// searches for its start, so it is found before (runtime/sim/shooting.h) and put in (export/export_c.h, set_start).
[[nodiscard]] std::vector<std::uint8_t> emit_wasm(const ir::Program& program, std::string& failure);

// Many models in one module, for tests: model k's table is the exported `m<k>_model`; the exports of wasm_host.c take it
// as their first argument. The kernel is not specialised.
[[nodiscard]] std::vector<std::uint8_t> emit_wasm_batch(std::span<const ir::Program> programs, std::string& failure);

}  // namespace emit_llvm
