#include "compiler/schemata/tree_builder.h"

#include <algorithm>

namespace schemata {

NodeId TreeBuilder::memory(base::NameId variable, base::Span span) {
  const NodeId memory = name(variable, span);
  const parse::Child child{memory};
  const NodeId derivative = add({.kind = NodeKind::prime, .span = span, .count = 1}, {&child, 1});
  tree.equations.push_back({span, derivative, number(0, span)});
  tree.conditions.push_back({span, memory, starting_time(span), number(0, span)});
  return memory;
}

NodeId TreeBuilder::starting_time(base::Span span) {
  const base::NameId name = names.intern("starting_time");
  const auto setting = std::find_if(tree.settings.begin(), tree.settings.end(),
                                    [&](const parse::Setting& item) { return item.name == name; });
  return setting == tree.settings.end() ? number(0, span) : setting->value;
}

parse::Equation TreeBuilder::set(base::NameId variable, NodeId value) {
  const base::Span span = tree[value].span;
  const parse::Child children[] = {{name(names.intern("next"), span)}, {name(variable, span)}};
  return {span, add({.kind = NodeKind::call, .span = span}, children), value};
}

}  // namespace schemata
