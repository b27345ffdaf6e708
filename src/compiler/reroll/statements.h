// A function taken apart into statements: ir::Function in, statements with their classes and dependences out.
//
//   1. The chunks become one list of nodes. What crossed from chunk to chunk through work is used directly, and what is
//      computed
//      twice is computed once.
//   2. A statement is a store, a check, a solve with its solutions, or a value that several statements use, with all
//      the nodes
//      that only it needs. Leaves (states, parameters, constants ..) and truth values are made again in each statement
//      that
//      needs them. A value with more than `largest_statement` nodes below it is a statement of its own, so that a sum
//      of a thousand
//      terms is many small statements.
//   3. Two statements are of one class when they differ only in the places that they read and write and in their
//      constants.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/ir.h"

namespace reroll {

using Node = std::uint32_t;  // index in Statements::nodes

struct Statement {
  std::vector<Node> nodes;    // operands before users; what belongs to another statement is read there
  std::vector<Node> results;  // what others read: the value, or the solutions
  std::uint32_t of_class = 0;
  std::vector<std::uint32_t> before;  // statements that must come first
};

struct Statements {
  std::vector<ir::Instruction> nodes;  // operands are nodes
  std::vector<Node> operands;          // of solves
  std::vector<std::uint32_t> owner;    // of results: the statement; else no_value
  std::vector<Statement> list;         // in the order of the source
  std::uint32_t class_count = 0;
};

// Nothing when the function is not fit for it: it has loops, or reads what it has itself stored.
std::optional<Statements> take_apart(const ir::Function& function);

}  // namespace reroll
