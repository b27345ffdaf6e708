// Numbers that are known before the run: ends of ranges, indices, conditions among counters. Expressions in their
// scopes in, numbers out; a parameter that was read as a number is fixed by that.
//
// Each name is worked out once; an expression is followed into the names that it reads, so deep ones end by their
// depth.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "compiler/expand/program.h"

namespace expand {

// Of literals, constants, counters, parameters that a range has read, and, with `parameters`, all others, which are
// fixed by that.
[[nodiscard]] std::optional<double> number(Program& program, NodeId id, Scope& scope, const Local* locals,
                                           bool parameters = true, int depth = 0);
[[nodiscard]] std::optional<long long> whole(Program& program, NodeId id, Scope& scope, const Local* locals);

// The ends of low..high; empty after reporting.
[[nodiscard]] std::optional<std::pair<long long, long long>> range_of(Program& program, NodeId low, NodeId high,
                                                                      Scope& scope, const Local* locals);

// each(locals with the counter, its number) for all of low..high.
template <class Do>
void repeat(Program& program, NodeId low, NodeId high, NameId counter, Scope& scope, const Local* locals, Do each) {
  auto range = range_of(program, low, high, scope, locals);
  if (!range) return;
  for (long long i = range->first; i <= range->second && !program.is_too_large; ++i) {
    if (++program.turns > most_turns) program.report_too_large(program.tree[low].span.to(program.tree[high].span));
    const Local inner{locals, counter, static_cast<double>(i)};
    each(&inner, i);
  }
}

// each(locals, full name) for the one item, or for all of its family.
template <class Do>
void one_or_many(Program& program, const parse::Family& family, NameId name, Scope& scope, const Local* locals,
                 Do each) {
  if (!family.valid()) return each(locals, program.full_name(scope, name));
  repeat(program, family.low, family.high, family.index, scope, locals, [&](const Local* inner, long long i) {
    each(inner, program.names.intern(fmt::format("{}{}[{}]", scope.prefix, program.names.text(name), i)));
  });
}

}  // namespace expand
