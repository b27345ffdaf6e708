// What to write for a function of another language that is called here: `ln(x)` is `log(x)`.
#pragma once

#include <optional>
#include <string>

#include "base/names.h"
#include "compiler/parse/tree.h"

namespace check {

// A hint for the call, with its own arguments; empty when the name is known from nowhere.
std::optional<std::string> foreign_function_advice(const parse::Tree& tree, const base::Names& names,
                                                   parse::NodeId call);

}  // namespace check
