#include "compiler/expand/expand.h"

#include "compiler/expand/declarations.h"
#include "compiler/expand/items.h"
#include "compiler/expand/plain.h"
#include "compiler/expand/program.h"

namespace expand {

parse::Tree expand(parse::Tree tree, base::Names& names, const std::unordered_map<NameId, double>& overrides,
                   diag::Sink& diags, std::vector<Alias>* aliases, std::vector<parse::Given>* given) {
  if (is_plain(tree)) return tree;
  Program program(std::move(tree), names, overrides, diags);
  program.aliases = aliases;
  program.given = given;
  Scope& top = declare(program);
  // Every scope knows its names from here on.
  write_items(program, top);
  return std::move(program.tree);
}

}  // namespace expand
