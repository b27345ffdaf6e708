// A text -> its flat model: the passes that judge and compiler share. What comes behind them (structure, symbolic,
// lower, the backends and the kernel's integrators) is judged.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/flat/model.h"

namespace judge {

// Empty when the text has errors. Overrides may name parameters, constants, and constants that are written as
// equations. Files that the text names are looked for beside `path`.
[[nodiscard]] std::optional<flat::Model> flat_model(const std::string& text, const compiler::Options& options,
                                                    const std::string& path = "judged.tact");

}  // namespace judge
