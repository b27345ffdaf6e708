#include "compiler/check/read_names.h"

#include <utility>
#include <vector>

#include "compiler/check/builtins.h"
#include "compiler/check/tables.h"

namespace check {

using parse::NodeId;
using parse::NodeKind;

ReadNames::ReadNames(const Model& model, base::Names& names, Unknown unknown, Memory memory)
    : model_(model),
      tree_(*model.tree),
      names_(names),
      unknown_(std::move(unknown)),
      memory_(std::move(memory)),
      time_(names.intern("t")),
      pi_(names.intern("pi")) {}

void ReadNames::operator()(NodeId id, const BoundNames* scope) {
  entered_.clear();
  walk(id, scope);
}

void ReadNames::walk(NodeId id, const BoundNames* scope) {
  const parse::Node& node = tree_[id];
  switch (node.kind) {
    case NodeKind::name:
      if (!find_binding(scope, node.name) && node.name != time_ && node.name != pi_ && !model_.find(node.name))
        unknown_(id, scope);
      return;
    case NodeKind::member:
      return;
    case NodeKind::call:
      return walk_call(id, scope);
    case NodeKind::sum_over: {
      walk(tree_.child(id, 0), scope);
      walk(tree_.child(id, 1), scope);
      const BoundNames inner{scope, node.name, {}};
      return walk(tree_.child(id, 2), &inner);
    }
    default:
      for (const parse::Child& child : tree_.children_of(id)) walk(child.node, scope);
  }
}

void ReadNames::walk_call(NodeId id, const BoundNames* scope) {
  if (is_table_word(model_, names_, tree_.child(id, 0))) return;
  const parse::Node& callee = tree_[tree_.child(id, 0)];
  const bool is_name = callee.kind == NodeKind::name;
  const auto symbol = is_name ? model_.find(callee.name) : std::nullopt;
  const bool is_declared = symbol && model_.symbols[*symbol].role == Role::function;
  const BuiltinRow* builtin = is_name && !is_declared ? find_builtin(names_.text(callee.name)) : nullptr;
  if (builtin && (builtin->id == Builtin::integration || builtin->id == Builtin::delay)) memory_(id, builtin->name);
  for (std::uint32_t i = 1; i < tree_[id].child_count; ++i) walk(tree_.child(id, i), scope);
  if (!is_declared || !entered_.insert(model_.symbols[*symbol].declaration).second) return;
  const parse::Function& declared = tree_.functions[model_.symbols[*symbol].declaration];
  std::vector<BoundNames> bindings(declared.arguments.size());
  const BoundNames* inner = nullptr;
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    bindings[i] = {inner, declared.arguments[i], {}};
    inner = &bindings[i];
  }
  walk(declared.value, inner);
}

}  // namespace check
