// Jacobian-vector products of a program's functions: ir::Program in, ir::Tangents out.
//
//   a function f of t, states, inputs, parameters, .. becomes one that computes f' d for a direction d of all of them,
//   values
//   and tangents side by side (forward mode: Griewank and Walther, Evaluating Derivatives, SIAM 2008, chapter 3)
//
// What is known to be zero is never computed, nor is a value that no tangent needs. Scratch lies behind the program's
// own, so a table with tangents and one without have the same layout as long as the room was reserved.
#pragma once

#include <cstdint>

#include "compiler/ir/ir.h"

namespace tangent {

// A set of functions: bit k is the tactus_function k; the bit of TACTUS_OF_FIRE stands for all events.
using Functions = std::uint32_t;
inline constexpr Functions none = 0;
inline constexpr Functions all = (1u << (TACTUS_OF_FIRE + 1)) - 1;
constexpr Functions only(tactus_function function) { return 1u << function; }

// What a consistent start is found with, the conditions' where some hold at the start; and what plans are searched for
// with.
[[nodiscard]] Functions needed_by_the_kernel(const ir::Program& program);

// Doubles of work that tangents need behind the program's own.
[[nodiscard]] std::uint32_t work_count(const ir::Program& program);

// With the derivative come the pattern of its Jacobian and a colouring.
[[nodiscard]] ir::Tangents make(const ir::Program& program, Functions functions);

// Gives the program its tangents and the room for them, and with the derivative the factors of its Jacobian.
void add(ir::Program& program, Functions functions);

}  // namespace tangent
