// What a module has, in words: for messages that name what a person may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/expand/program.h"

namespace expand {

// Ports, then parameters.
[[nodiscard]] std::vector<std::string_view> given_by_name(const Program& program, const parse::Module& module);
// The names that an instance's equations, behaviours, events, automata and transitions define, then its ports and
// parameters.
[[nodiscard]] std::vector<std::string_view> members(const Program& program, const parse::Module& module);

// "`a`, `b`"
[[nodiscard]] std::string list(const std::vector<std::string_view>& names);
// "it has `a`, `b`"
[[nodiscard]] std::string ports_and_parameters(const Program& program, const parse::Module& module);
// `s.force`, for the name of an instance that was used as a value.
[[nodiscard]] std::string some_member(const Program& program, const std::string& path, const Entry& entry);

}  // namespace expand
