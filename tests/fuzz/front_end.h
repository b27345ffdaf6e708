// A text through the whole front end (lex, parse, expand, check, flatten, structure, lower, print as C; no LLVM), and
// what must hold whatever the text is:
//
//   - every diagnostic points into its file, and shows as text and as valid JSON
//   - a program without errors is lowered, one with errors is not
//   - every page of `tactus explain` can be printed
//   - an expression printed as source reads back as itself
//   - compiling again gives the same program and the same diagnostics
//
// A property that does not hold ends the process with its name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace fuzz {

void check_front_end(std::string_view text);

// Whether it has no errors; nothing else is looked at.
[[nodiscard]] bool is_program(std::string_view text);

// Starts this program again with the stack that the compiler has in the product (api/big_stack.h), unless it has it.
void want_big_stack(char** argv);

}  // namespace fuzz
