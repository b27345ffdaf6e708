// ir::Program -> C11 text, one statement an instruction, in the order of the instructions: any C compiler that keeps IEEE
// arithmetic (no contraction, no fast-math) computes the bits that the JIT computes.
//
//   static const tactus_table P_tables[] = {..};            sampled data
//   static int P_prepare(..) .. static int P_outputs(..)    chunks as static functions of their own when there are several
//   static int P_handler_0(..) .. static int P_fire(..)     one function an event that does something
//   static const tactus_channel P_channels[] = {..};        and the other metadata
//   const tactus_model P_model = {..};
//
// The text expects kernel/kernel.h to stand before it, and nothing else: it includes nothing, so texts of many models may
// stand in one file, each with its own prefix.
#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/ir.h"

namespace emit_c {

// The functions that the table's two loops name; declared before the text.
struct Entries {
  std::string fixed_steps = "tk_fixed_steps";
  std::string adaptive_step = "tk_adaptive_step";
};

// `prefix` is a C identifier.
[[nodiscard]] std::string emit_model(const ir::Program& program, std::string_view prefix, const Entries& entries = {});

// Exactly this double as a C expression: the shortest decimal that reads back as the same bits, or `(1.0 / 0.0)` and the like,
// which every compiler folds.
[[nodiscard]] std::string number(double value);

// A C string literal with its quotes; bytes beyond ASCII and control characters as octal escapes.
[[nodiscard]] std::string string_literal(std::string_view text);

// `static const char NAME[] = {..};`, for texts beyond the longest literal that C11 promises.
[[nodiscard]] std::string char_array(std::string_view name, std::string_view text);

}  // namespace emit_c
