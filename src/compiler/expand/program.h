// A program while it is written out: what it was, the scopes that `declarations` makes of it, and the tree that `items`
// fills. Data, and the bounds of how much is written.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/growth.h"
#include "base/names.h"
#include "compiler/expand/diagnostics.h"
#include "compiler/expand/expand.h"
#include "compiler/expand/scope.h"
#include "diag/sink.h"

namespace expand {

// Nodes and instances after expansion, at most, turns of all loops, families and sums, and instances inside instances.
inline constexpr std::size_t most_nodes = 20'000'000 / base::growth_divisor;
inline constexpr std::size_t most_instances = 200'000 / base::growth_divisor;
inline constexpr std::size_t most_turns = 5'000'000 / base::growth_divisor;
inline constexpr int deepest_instance = 64;
inline constexpr long long longest_range = 1'000'000 / base::growth_divisor;

struct Program {
  Program(parse::Tree written, base::Names& all_names, const std::unordered_map<NameId, double>& numbers_given,
          diag::Sink& sink)
      : tree(std::move(written)),
        items(std::move(static_cast<Body&>(tree))),
        bodies(std::exchange(tree.bodies, {})),
        names(all_names),
        overrides(numbers_given),
        diags(sink),
        time(names.intern("t")),
        pi(names.intern("pi")) {
    static_cast<Body&>(tree) = {};
  }

  NameId full_name(const Scope& scope, NameId name) { return names.intern(scope.prefix + names.text(name)); }

  // Once: everything that grows looks at `is_too_large`, and stops.
  void report_too_large(base::Span span) {
    if (!is_too_large) {
      diags.report(span, too_large)
          .hint("at most {} nodes, {} instances and ranges of {} are written out", most_nodes, most_instances,
                longest_range);
    }
    is_too_large = true;
  }

  parse::Tree tree;
  Body items;                // of the program, as written
  std::vector<Body> bodies;  // of modules, loops and used files, as written
  base::Names& names;
  const std::unordered_map<NameId, double>& overrides;
  diag::Sink& diags;
  NameId time;
  NameId pi;
  std::vector<std::unique_ptr<Scope>> scopes;
  std::vector<Scope*> instances;
  std::size_t turns = 0;  // of all loops, families and sums
  bool is_too_large = false;
  std::vector<Alias>* aliases = nullptr;       // gains what is asked for
  std::vector<parse::Given>* given = nullptr;  // the same
};

}  // namespace expand
