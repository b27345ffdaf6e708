#include "compiler/check/dimension_system.h"

#include "compiler/parse/parse.h"

namespace check {

using parse::NodeId;
using parse::NodeKind;

DimensionSystem::DimensionSystem(const Model& the_model, const base::Names& all_names)
    : model(the_model), tree(*the_model.tree), names(all_names) {
  for (const Symbol& symbol : model.symbols) {
    first_unknown.push_back(symbol_unknowns);
    const bool has_value = symbol.role != Role::function;
    for (std::uint32_t i = 0; has_value && i < symbol.shape.size(); ++i) symbol_unknowns = solver.add_unknown() + 1;
  }
}

std::optional<SymbolId> DimensionSystem::symbol_of(NodeId id) const {
  if (tree[id].kind == NodeKind::name) return model.find(tree[id].name);
  return model.find(names.find(parse::print(tree, names, id)));
}

void DimensionSystem::constrain(Origin origin, const Form& left, const Form& right) {
  if (!left.is_rigid() || !right.is_rigid()) return;
  origin.call = call;
  work += 1 + static_cast<long long>(left.terms.size() + right.terms.size());
  solver.add(left, right, origin.kind == Origin::pure);
  constraints.push_back({origin, left, right});
}

void DimensionSystem::note_input(NodeId id, std::uint32_t item, std::vector<InputUse>& uses) const {
  std::uint32_t order = 0;
  while (tree[id].kind == NodeKind::negate || tree[id].kind == NodeKind::prime) {
    order += tree[id].count;
    id = tree.child(id, 0);
  }
  if (tree[id].kind != NodeKind::name && tree[id].kind != NodeKind::member) return;
  const std::optional<SymbolId> found = symbol_of(id);
  if (!found || model.symbols[*found].role != Role::input || item >= model.symbols[*found].shape.size()) return;
  uses.push_back({*found, item, order});
}

}  // namespace check
