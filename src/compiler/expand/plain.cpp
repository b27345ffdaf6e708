#include "compiler/expand/plain.h"

#include <algorithm>
#include <unordered_set>

namespace expand {

using base::NameId;
using parse::NodeId;
using parse::NodeKind;

namespace {

// Whether some `s` of `s = F(..)` stands before a dot, so that it was meant to be an instance.
bool has_instance_of_nothing(const parse::Tree& tree) {
  std::unordered_set<NameId> made;
  for (const parse::Equation& item : tree.equations) {
    if (item.left.valid() && tree[item.left].kind == NodeKind::name && tree[item.right].kind == NodeKind::call)
      made.insert(tree[item.left].name);
  }
  return !made.empty() && std::any_of(tree.nodes.begin(), tree.nodes.end(), [&](const parse::Node& node) {
    if (node.kind != NodeKind::member) return false;
    const parse::Node& base = tree[tree.children[node.first_child].node];
    return base.kind == NodeKind::name && made.contains(base.name);
  });
}

bool mentions_parameter(const parse::Tree& tree, NodeId id) {
  if (!id.valid()) return false;
  const parse::Node& node = tree[id];
  if (node.kind == NodeKind::name) {
    return std::any_of(tree.parameters.begin(), tree.parameters.end(),
                       [&](const parse::Parameter& parameter) { return parameter.name == node.name; });
  }
  const auto children = tree.children_of(id);
  return std::any_of(children.begin(), children.end(),
                     [&](const parse::Child& child) { return mentions_parameter(tree, child.node); });
}

bool is_timed_by_parameters(const parse::Tree& tree, const parse::Event& item) {
  return mentions_parameter(tree, item.period) || mentions_parameter(tree, item.from) ||
         std::any_of(item.times.begin(), item.times.end(), [&](NodeId id) { return mentions_parameter(tree, id); });
}

// A ground over a function: its places are written out.
bool draws_function(const parse::Tree& tree) {
  return std::any_of(tree.drawings.begin(), tree.drawings.end(), [&](const parse::Drawing& drawing) {
    return std::any_of(drawing.options.begin(), drawing.options.end(), [&](const parse::DrawingOption& option) {
      const parse::Node& node = tree[option.value];
      return node.kind == NodeKind::name &&
             std::any_of(tree.functions.begin(), tree.functions.end(),
                         [&](const parse::Function& function) { return function.name == node.name; });
    });
  });
}

}  // namespace

bool is_plain(const parse::Tree& tree) {
  return !has_instance_of_nothing(tree) && !draws_function(tree) && tree.modules.empty() && tree.loops.empty() &&
         tree.uses.empty() && tree.automata.empty() && tree.in_blocks.empty() && tree.transitions.empty() &&
         tree.sequences.empty() && tree.plans.empty() && tree.energies.empty() && tree.powers.empty() &&
         tree.joins.empty() && tree.storages.empty() && tree.guards.empty() &&
         std::none_of(tree.musts.begin(), tree.musts.end(),
                      [](const parse::Must& item) { return item.mode.valid(); }) &&
         std::all_of(tree.equations.begin(), tree.equations.end(),
                     [](const parse::Equation& item) {
                       return item.left.valid() && !item.family.valid() && !item.rate.valid();
                     }) &&
         std::all_of(
             tree.events.begin(), tree.events.end(),
             [&](const parse::Event& item) { return !item.family.valid() && !is_timed_by_parameters(tree, item); }) &&
         std::none_of(tree.parameters.begin(), tree.parameters.end(),
                      [&](const parse::Parameter& item) { return mentions_parameter(tree, item.value); }) &&
         std::none_of(tree.conditions.begin(), tree.conditions.end(),
                      [&](const parse::Condition& item) { return mentions_parameter(tree, item.time); }) &&
         std::all_of(tree.behaviours.begin(), tree.behaviours.end(),
                     [](const parse::Behaviour& item) { return !item.family.valid(); });
}

}  // namespace expand
