#include "compiler/schemata/schemata.h"

#include <algorithm>
#include <utility>

#include "compiler/schemata/book.h"
#include "compiler/schemata/guard.h"
#include "compiler/schemata/plan.h"
#include "compiler/schemata/sequence.h"
#include "compiler/schemata/storage.h"

namespace schemata {

parse::Tree write_out(parse::Tree tree, base::Names& names, diag::Sink& diags) {
  TreeBuilder builder(tree, names);
  write_storages(builder);
  write_guards(builder, diags);
  write_book(builder);
  if (tree.sequences.empty() && tree.plans.empty()) return tree;
  for (parse::Sequence& item : std::exchange(tree.sequences, {})) write_sequence(builder, std::move(item), diags);
  for (parse::Plan& item : std::exchange(tree.plans, {})) write_plan(builder, std::move(item), diags);
  // The first transition that is enabled is the first in the text.
  std::stable_sort(tree.transitions.begin(), tree.transitions.end(), [](const auto& a, const auto& b) {
    return std::pair(a.span.file, a.span.begin) < std::pair(b.span.file, b.span.begin);
  });
  return tree;
}

}  // namespace schemata
