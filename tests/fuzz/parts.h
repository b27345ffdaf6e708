// One input of the fuzzer as the files of a program. An input is a text that a person can read and write:
//
//   use "lib.tact";            the first part is model.tact
//   system x' = 1;
//   //set k=3                  --set k=3
//   //= model.ridl             from here on another file: a .phydl or .ridl is compiled together with the first part,
//   any other
//   clock = ..                 is there for `use` and `table` to find
//
// A first part of blanks only is left out when another part is compiled.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/compile.h"

namespace fuzz {

struct Part {
  std::string name;
  std::string text;
  bool is_compiled = false;
};

struct Input {
  std::vector<Part> parts;
  std::vector<compiler::Override> overrides;
};

[[nodiscard]] Input take_apart(std::string_view text);

}  // namespace fuzz
