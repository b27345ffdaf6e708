#include "compiler/expand/paths.h"

#include <fmt/format.h>

#include "compiler/expand/numbers.h"
#include "compiler/parse/parse.h"

namespace expand {

using parse::NodeKind;

namespace {

// What `name` is in front of a dot: from inside a module also an instance around it, since nothing that an equation
// declares has members.
Found find_with_members(Scope& scope, NameId name) {
  Found found = find(scope, name);
  for (Scope* outer = scope.outer; !found.entry && outer; outer = outer->outer) {
    found = find_own(*outer, name);
    if (found.entry && found.entry->what != What::instance) return {};
  }
  return found;
}

}  // namespace

Scope* instance_of(Program& program, NodeId id, Scope& scope, const Local* locals, bool* reported) {
  const parse::Node& node = program.tree[id];
  if (node.kind == NodeKind::name) {
    if (find_local(locals, node.name)) return nullptr;
    Found found = find_with_members(scope, node.name);
    const bool is_inside = found.entry && !found.entry->is_family &&
                           (found.entry->what == What::instance || found.entry->what == What::file);
    return is_inside ? found.entry->scope : nullptr;
  }
  if (node.kind == NodeKind::member) {
    Scope* inside = instance_of(program, program.tree.child(id, 0), scope, locals, reported);
    if (!inside) return nullptr;
    Found found = find_own(*inside, node.name);
    return found.entry && found.entry->what == What::instance && !found.entry->is_family ? found.entry->scope : nullptr;
  }
  if (node.kind != NodeKind::index || node.child_count != 2) return nullptr;
  Found family = family_of(program, program.tree.child(id, 0), scope, locals);
  if (!family.entry || family.entry->what != What::instance) return nullptr;
  auto element = element_of(program, id, *family.entry, scope, locals);
  if (!element) {
    if (reported) *reported = true;
    return nullptr;
  }
  const auto at = static_cast<std::size_t>(*element - family.entry->low);
  return at < family.entry->elements.size() ? family.entry->elements[at] : nullptr;
}

Found family_of(Program& program, NodeId id, Scope& scope, const Local* locals) {
  const parse::Node& node = program.tree[id];
  Found found;
  if (node.kind == NodeKind::name && !find_local(locals, node.name)) {
    found = find_with_members(scope, node.name);
  } else if (node.kind == NodeKind::member) {
    if (Scope* inside = instance_of(program, program.tree.child(id, 0), scope, locals))
      found = find_own(*inside, node.name);
  }
  return found.entry && found.entry->is_family ? found : Found{};
}

std::optional<long long> element_of(Program& program, NodeId id, const Entry& family, Scope& scope,
                                    const Local* locals) {
  const NodeId index = program.tree.child(id, 1);
  auto number = whole(program, index, scope, locals);
  if (!number) {
    program.diags.report(program.tree[index].span, range_not_constant, "indices")
        .hint("an index is made of numbers, constants and counters");
    return std::nullopt;
  }
  if (*number >= family.low && *number <= family.high) return number;
  program.diags
      .report(program.tree[index].span, no_element, *number,
              parse::print(program.tree, program.names, program.tree.child(id, 0)))
      .hint("its elements are numbered from {} to {}", family.low, family.high);
  return std::nullopt;
}

Named named_by(Program& program, NodeId id, Scope& scope, const Local* locals, bool* reported) {
  const parse::Node& node = program.tree[id];
  const auto is_one = [](const Found& found) {
    return found.entry && (found.entry->what == What::automaton || found.entry->what == What::transition);
  };
  if (node.kind == NodeKind::index && node.child_count == 2) {
    Found family = family_of(program, program.tree.child(id, 0), scope, locals);
    if (!is_one(family)) return {};
    auto element = element_of(program, id, *family.entry, scope, locals);
    if (!element && reported) *reported = true;
    if (!element) return {};
    const std::string& name = program.names.text(program.tree[program.tree.child(id, 0)].name);
    return {family.entry, fmt::format("{}{}[{}]", family.scope->prefix, name, *element)};
  }
  Found found;
  if (node.kind == NodeKind::name && !find_local(locals, node.name)) {
    found = find(scope, node.name);
  } else if (node.kind == NodeKind::member) {
    if (Scope* inside = instance_of(program, program.tree.child(id, 0), scope, locals, reported))
      found = find_own(*inside, node.name);
  }
  if (!is_one(found) || found.entry->is_family) return {};
  return {found.entry, found.scope->prefix + program.names.text(node.name)};
}

std::optional<Called> called_module(Program& program, const parse::Equation& item, Scope& scope) {
  const parse::Node& right = program.tree[item.right];
  if (right.kind != NodeKind::call) return std::nullopt;
  // s = S(..), s[i in 1..3] = S(..); s[i] = S(..) in a loop.
  NodeId left = item.left;
  if (left.valid() && program.tree[left].kind == NodeKind::index && program.tree[left].child_count == 2)
    left = program.tree.child(left, 0);
  if (left.valid() && program.tree[left].kind != NodeKind::name) return std::nullopt;
  const parse::Node& callee = program.tree[program.tree.child(item.right, 0)];
  Found found;
  if (callee.kind == NodeKind::name) {
    found = find(scope, callee.name);
  } else if (callee.kind == NodeKind::member) {
    if (Scope* inside = instance_of(program, program.tree.child(program.tree.child(item.right, 0), 0), scope, nullptr))
      found = find_own(*inside, callee.name);
  }
  if (!found.entry || found.entry->what != What::module) return std::nullopt;
  return Called{found.entry->module, found.entry->scope};
}

}  // namespace expand
