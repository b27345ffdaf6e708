// What the language's own functions make of shapes. A call in, with a way to ask for the shape of an argument; the
// shape of the result out.
#pragma once

#include <functional>
#include <optional>

#include "compiler/check/builtins.h"
#include "compiler/check/shape_rules.h"
#include "compiler/parse/tree.h"

namespace check {

// Arguments are numbered from 0.
struct BuiltinCall {
  const BuiltinRow& builtin;
  const parse::Tree& tree;
  parse::NodeId id;
  std::function<Known(std::uint32_t)> argument;                  // its shape; asks, and so reports, each time
  std::function<std::optional<long long>(std::uint32_t)> whole;  // the number that it is, before the run
};

// The count of arguments is one that the function takes.
[[nodiscard]] Known shape_of_builtin(const BuiltinCall& call, const ShapeRules& rules);

}  // namespace check
