// Expressions that lead into something: `s`, `leg[2]`, `a.b`, a used file. Expression in its scope in; the scope, the
// family or the module that it means out.
#pragma once

#include <optional>

#include "compiler/expand/program.h"

namespace expand {

// The inside of `s`, `leg[2]`, `a.b`, or of a used file; null when the expression is no such path. With `reported`,
// says why an index does not fit.
[[nodiscard]] Scope* instance_of(Program& program, NodeId id, Scope& scope, const Local* locals,
                                 bool* reported = nullptr);

// The family that `x`, `s.x` names.
[[nodiscard]] Found family_of(Program& program, NodeId id, Scope& scope, const Local* locals);

// The number in the brackets of `id`, if the family has it; else reports.
[[nodiscard]] std::optional<long long> element_of(Program& program, NodeId id, const Entry& family, Scope& scope,
                                                  const Local* locals);

// An automaton or a transition, and its full name.
struct Named {
  Entry* entry = nullptr;
  std::string full = {};
};

// What `foot`, `foot[2]`, `leg[2].foot` names; nothing when it is neither automaton nor transition. With `reported`,
// says why an index does not fit.
[[nodiscard]] Named named_by(Program& program, NodeId id, Scope& scope, const Local* locals, bool* reported = nullptr);

struct Called {
  const parse::Module* module;
  Scope* declared_in;
};

// The module that an instance's right side calls.
[[nodiscard]] std::optional<Called> called_module(Program& program, const parse::Equation& item, Scope& scope);

}  // namespace expand
