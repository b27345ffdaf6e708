#include "compiler/expand/expressions.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"
#include "compiler/expand/members.h"
#include "compiler/expand/numbers.h"
#include "compiler/parse/parse.h"

namespace expand {

using parse::NodeKind;

NodeId Expressions::add(parse::Node node, std::span<const parse::Child> children) {
  if (tree_.nodes.size() >= most_nodes) program_.report_too_large(node.span);
  // `children` may be a part of what grows here.
  std::vector<parse::Child> copy(children.begin(), children.end());
  node.first_child = static_cast<std::uint32_t>(tree_.children.size());
  node.child_count = static_cast<std::uint32_t>(copy.size());
  tree_.children.insert(tree_.children.end(), copy.begin(), copy.end());
  tree_.nodes.push_back(node);
  return NodeId(tree_.nodes.size() - 1);
}

NodeId Expressions::add_name(const std::string& name, base::Span span) {
  return add({.kind = NodeKind::name, .span = span, .name = names_.intern(name)});
}

NodeId Expressions::add_number(double number, base::Span span) {
  return add({.kind = NodeKind::number, .span = span, .number = number});
}

NodeId Expressions::expand(NodeId id, Scope& scope, const Local* locals) {
  if (program_.is_too_large || !id.valid()) return id;
  switch (tree_[id].kind) {
    case NodeKind::name:
      return expand_name(id, scope, locals);
    case NodeKind::member:
      return expand_member(id, scope, locals);
    case NodeKind::index:
      return expand_index(id, scope, locals);
    case NodeKind::call:
      return expand_call(id, scope, locals);
    case NodeKind::sum_over:
      return expand_sum_over(id, scope, locals);
    case NodeKind::conditional:  // what is not chosen need not exist: `if i < n then x[i + 1] else 0`
      if (auto chosen = number(program_, tree_.child(id, 0), scope, locals, false))
        return expand(tree_.child(id, *chosen != 0 ? 1 : 2), scope, locals);
      return expand_children(id, 0, scope, locals);
    default:
      return expand_children(id, 0, scope, locals);
  }
}

NodeId Expressions::expand_children(NodeId id, std::uint32_t from, Scope& scope, const Local* locals) {
  const parse::Node node = tree_[id];
  std::vector<parse::Child> children;
  bool changed = false;
  for (std::uint32_t i = 0; i < node.child_count; ++i) {
    const parse::Child child = tree_.children[node.first_child + i];
    const NodeId made = i < from ? child.node : expand(child.node, scope, locals);
    changed = changed || made != child.node;
    children.push_back({made, child.op});
  }
  return changed ? add(node, children) : id;
}

NodeId Expressions::expand_name(NodeId id, Scope& scope, const Local* locals) {
  const parse::Node node = tree_[id];
  if (const Local* local = find_local(locals, node.name)) {
    if (local->number) return add_number(*local->number, node.span);
    return local->full.valid() ? add_name(names_.text(local->full), node.span) : id;
  }
  if (node.name == program_.time || node.name == program_.pi) return id;
  Found found = find(scope, node.name);
  if (!found.entry) return scope.prefix.empty() ? id : add_name(scope.prefix + names_.text(node.name), node.span);
  return meaning_of(id, node.name, found);
}

// What a declared name stands for, written at `id`.
NodeId Expressions::meaning_of(NodeId id, NameId name, Found found) {
  const base::Span span = tree_[id].span;
  Entry& entry = *found.entry;
  const std::string full = found.scope->prefix + names_.text(name);
  switch (entry.what) {
    case What::instance:
    case What::file:
      diags_.report(span, instance_not_a_value, parse::print(tree_, names_, id))
          .hint("name what is meant in it, such as `{}`",
                some_member(program_, parse::print(tree_, names_, id), entry));
      return id;
    case What::module:
      diags_.report(span, module_not_a_value, names_.text(name))
          .hint("an instance is an item of its own: `s = {}(..);`, and its values are `s.x`", names_.text(name));
      return id;
    case What::automaton:
      report_automaton(id, entry);
      return id;
    case What::port:
    case What::parameter: {
      const NodeId bound = bound_to(name, found);
      if (bound.valid()) return bound;
      break;
    }
    default:
      break;
  }
  entry.is_wanted = true;
  if (entry.is_family) {
    std::vector<parse::Child> children;
    for (long long i = entry.low; i <= entry.high && !program_.is_too_large; ++i)
      children.push_back({add_name(fmt::format("{}[{}]", full, i), span)});
    if (children.size() == 1) return children.front().node;
    if (children.empty()) return add_number(0, span);
    return add({.kind = NodeKind::tuple, .span = span}, children);
  }
  return full == names_.text(name) && tree_[id].kind == NodeKind::name ? id : add_name(full, span);
}

void Expressions::report_automaton(NodeId id, const Entry& entry) {
  const std::string path = parse::print(tree_, names_, id);
  const bool is_whole_family = entry.is_family && tree_[id].kind != NodeKind::index;
  diags_.report(tree_[id].span, automaton_not_a_value, path)
      .hint("ask for one of its modes: `{}{}.{}`", path, is_whole_family ? fmt::format("[{}]", entry.low) : "",
            names_.text(entry.automaton->modes.front().name));
}

NodeId Expressions::bound_to(NameId name, Found found) {
  Entry& entry = *found.entry;
  if (!entry.argument.valid() && !is_derived(name, found)) return {};
  if (entry.state == Entry::done) return entry.bound;
  if (entry.state == Entry::in_progress) {  // ports bound to each other: one of them is a name
    entry.state = Entry::done;
    return {};
  }
  entry.state = Entry::in_progress;
  if (!entry.argument.valid()) {
    const NodeId value = expand(entry.value, *found.scope, nullptr);
    const bool is_cycle = entry.state == Entry::done;
    entry.state = Entry::done;
    return is_cycle ? NodeId() : entry.bound = value;
  }
  Scope& parent = *found.scope->parent;
  const Local* counters = found.scope->counters();
  if (entry.what == What::parameter && number(program_, entry.argument, parent, counters, entry.is_fixed)) {
    entry.state = Entry::done;
    return {};
  }
  const NodeId value = expand(entry.argument, parent, counters);
  const bool is_cycle = entry.state == Entry::done;
  entry.state = Entry::done;
  if (!is_cycle && is_reference(value)) {
    const NodeKind kind = tree_[value].kind;
    if (program_.aliases && (kind == NodeKind::name || kind == NodeKind::prime || kind == NodeKind::index))
      program_.aliases->push_back({found.scope->prefix + names_.text(name), parse::print(tree_, names_, value)});
    return entry.bound = value;
  }
  const base::Span span = tree_[entry.argument].span;
  const NodeId own = add_name(found.scope->prefix + names_.text(name), span);
  if (tree_[value].kind == NodeKind::name && tree_[value].name == tree_[own].name) return {};
  tree_.equations.push_back({span, own, value, {}, found.scope->mode});
  return {};
}

// A parameter made of other parameters, `parameter d = 2 * sqrt(k * m);`, stands for its value, so that it follows
// them; a value of its own, from an instance or from outside, makes it a parameter like any other.
bool Expressions::is_derived(NameId name, Found found) const {
  const Entry& entry = *found.entry;
  if (entry.what != What::parameter || !entry.value.valid() || entry.is_fixed) return false;
  const NameId full = names_.find(found.scope->prefix + names_.text(name));
  if (full.valid() && program_.overrides.contains(full)) return false;
  bool has_parameter = false;
  std::vector<NodeId> open{entry.value};
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    const parse::Node& node = tree_[id];
    if (node.kind == NodeKind::member || node.kind == NodeKind::prime) return false;
    if (node.kind == NodeKind::name && node.name != program_.pi) {
      const Found read = find(*found.scope, node.name);
      if (!read.entry || (read.entry->what != What::constant && read.entry->what != What::parameter)) return false;
      has_parameter = has_parameter || read.entry->what == What::parameter;
    }
    for (std::uint32_t i = node.kind == NodeKind::call ? 1 : 0; i < node.child_count; ++i)
      open.push_back(tree_.child(id, i));
  }
  return has_parameter;
}

// Names, numbers, derivatives and components of names, and tuples of them.
bool Expressions::is_reference(NodeId id) const {
  const parse::Node& node = tree_[id];
  switch (node.kind) {
    case NodeKind::name:
    case NodeKind::number:
      return true;
    case NodeKind::prime:
    case NodeKind::member:
      return is_reference(tree_.child(id, 0));
    case NodeKind::index:
      return tree_[tree_.child(id, 0)].kind != NodeKind::call && is_reference(tree_.child(id, 0));
    case NodeKind::tuple:
      return std::all_of(tree_.children_of(id).begin(), tree_.children_of(id).end(),
                         [&](const parse::Child& child) { return is_reference(child.node); });
    default:
      return false;
  }
}

NodeId Expressions::expand_member(NodeId id, Scope& scope, const Local* locals) {
  const parse::Node node = tree_[id];
  bool reported = false;
  Scope* inside = instance_of(program_, tree_.child(id, 0), scope, locals, &reported);
  if (reported) return id;
  if (!inside) {
    const Named named = named_by(program_, tree_.child(id, 0), scope, locals, &reported);
    if (reported) return id;
    if (const NodeId made = named.entry ? NodeId() : expand_guard_value(id, scope, locals); made.valid()) return made;
    if (!named.entry) return expand_device_value(id, scope, locals);
    const NodeId made = named.entry->what == What::automaton ? mode_of(id, named) : expand_event_of(id, named);
    return made.valid() ? made : id;
  }
  Found found = find_own(*inside, node.name);
  if (found.entry) return meaning_of(id, node.name, found);
  if (inside->is_file || !mentions(*inside->body, node.name)) {
    const std::string path = parse::print(tree_, names_, tree_.child(id, 0));
    auto report = diags_.report(node.span, no_member, path, names_.text(node.name));
    if (!inside->module) return id;
    for (const parse::Power& port : inside->body->powers) {
      if (port.name != node.name) continue;
      report.hint("it is a port, not a value: `{}` enters it and `{}` leaves it", parse::print(tree_, names_, port.in),
                  parse::print(tree_, names_, port.out));
      return id;
    }
    const std::vector<std::string_view> known = members(program_, *inside->module);
    if (auto near = base::nearest(names_.text(node.name), known)) report.hint("did you mean `{}.{}`?", path, *near);
    report.hint("it has {}", known.empty() ? "nothing" : list(known));
    return id;
  }
  return add_name(inside->prefix + names_.text(node.name), node.span);
}

// `a.end.energy`, where `end` is a port of `a`: what a guard says there. Not valid for anything else.
NodeId Expressions::expand_guard_value(NodeId id, Scope& scope, const Local* locals) {
  const parse::Node node = tree_[id];
  const std::string& value = names_.text(node.name);
  if (value != "energy" && value != "given" && value != "removed" && value != "power") return {};
  const NodeId port = tree_.child(id, 0);
  const NodeKind kind = tree_[port].kind;
  if (kind == NodeKind::name && find_local(locals, tree_[port].name)) return {};
  Scope* const holder = kind == NodeKind::name     ? &scope
                        : kind == NodeKind::member ? instance_of(program_, tree_.child(port, 0), scope, locals)
                                                   : nullptr;
  if (holder == nullptr || holder->body == nullptr) return {};
  const NameId name = tree_[port].name;
  const bool is_port = std::any_of(holder->body->powers.begin(), holder->body->powers.end(),
                                   [&](const parse::Power& power) { return power.name == name; });
  if (!is_port) return {};
  return add_name(holder->prefix + names_.text(name) + "." + value, node.span);
}

NodeId Expressions::mode_of(NodeId id, const Named& automaton) {
  const parse::Node node = tree_[id];
  const std::vector<parse::ModeName>& modes = automaton.entry->automaton->modes;
  const bool is_there =
      std::any_of(modes.begin(), modes.end(), [&](const parse::ModeName& mode) { return mode.name == node.name; });
  if (is_there) return add_name(fmt::format("{}.{}", automaton.full, names_.text(node.name)), node.span);
  std::vector<std::string_view> known;
  for (const parse::ModeName& mode : modes) known.push_back(names_.text(mode.name));
  const std::string path = parse::print(tree_, names_, tree_.child(id, 0));
  auto report = diags_.report(node.span, no_mode, path, names_.text(node.name));
  if (auto near = base::nearest(names_.text(node.name), known)) report.hint("did you mean `{}.{}`?", path, *near);
  report.hint("its modes are {}", list(known));
  return {};
}

// `Lap.phase2`, `Fire.failed`: an instant. `Lap.Idle`, `Lap.Phase2`: a mode of the automaton that a sequence becomes.
NodeId Expressions::expand_event_of(NodeId id, const Named& transition) {
  const parse::Node node = tree_[id];
  const std::string& name = names_.text(node.name);
  const Entry& entry = *transition.entry;
  bool is_there = (entry.can_fail && (name == "failed" || name == "Failed")) || (entry.phases > 0 && name == "Idle");
  for (std::uint32_t i = 1; i <= entry.phases; ++i)
    is_there = is_there || name == fmt::format("phase{}", i) || name == fmt::format("Phase{}", i);
  if (is_there) return add_name(fmt::format("{}.{}", transition.full, name), node.span);
  const std::string path = parse::print(tree_, names_, tree_.child(id, 0));
  auto report = diags_.report(node.span, no_member, path, name);
  if (entry.phases == 0)
    report.hint("`{}` is one jump; its name alone is the event", path);
  else
    report.hint("its phases end with `{0}.phase1`{1}; {2}in a phase it is `{0}.Phase1`, before and after `{0}.Idle`",
                path, entry.phases > 1 ? fmt::format(" to `{}.phase{}`", path, entry.phases) : "",
                entry.can_fail ? fmt::format("a search that fails is `{}.failed`; ", path) : "");
  return id;
}

NodeId Expressions::both(NodeId a, NodeId b) {
  if (!a.valid() || !b.valid()) return a.valid() ? a : b;
  const parse::Child children[] = {{a}, {b}};
  return add({.kind = NodeKind::logical_and, .span = tree_[b].span}, children);
}

// `hand.position` stays as it is; anything else before a dot is a mistake, which check reports.
NodeId Expressions::expand_device_value(NodeId id, Scope& scope, const Local* locals) {
  const NodeId base = tree_.child(id, 0);
  if (tree_[base].kind == NodeKind::name && !find(scope, tree_[base].name).entry) return id;
  return expand_children(id, 0, scope, locals);
}

bool Expressions::mentions(const Body& body, NameId name) {
  auto [known, fresh] = mentioned_.try_emplace(&body);
  if (fresh) {
    std::vector<NodeId> open;
    auto look_into = [&](const Body& items, auto& self) -> void {
      for (const parse::Equation& item : items.equations) {
        if (item.left.valid()) open.push_back(item.left);
        open.push_back(item.right);
      }
      for (const parse::Condition& item : items.conditions) open.push_back(item.variable);
      for (const parse::Energy& item : items.energies) open.insert(open.end(), {item.variable, item.value});
      for (const parse::Power& item : items.powers) open.insert(open.end(), {item.in, item.out});
      for (const parse::Storage& item : items.storages) open.insert(open.end(), item.states.begin(), item.states.end());
      for (const parse::Loop& item : items.loops) self(program_.bodies[item.body], self);
      for (const parse::InBlock& item : items.in_blocks) self(program_.bodies[item.body], self);
    };
    look_into(body, look_into);
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      if (tree_[id].kind == NodeKind::name) known->second.insert(tree_[id].name);
      for (const parse::Child& child : tree_.children_of(id)) open.push_back(child.node);
    }
  }
  return known->second.contains(name);
}

NodeId Expressions::expand_index(NodeId id, Scope& scope, const Local* locals) {
  const parse::Node node = tree_[id];
  NodeId base = tree_.child(id, 0);
  std::uint32_t primes = 0;
  if (tree_[base].kind == NodeKind::prime) {
    primes = tree_[base].count;
    base = tree_.child(base, 0);
  }
  Found family = family_of(program_, base, scope, locals);
  if (!family.entry) return expand_children(id, 0, scope, locals);
  if (family.entry->what == What::instance) {
    diags_.report(node.span, instance_not_a_value, parse::print(tree_, names_, id))
        .hint("name what is meant in it, such as `{}`",
              some_member(program_, parse::print(tree_, names_, id), *family.entry));
    return id;
  }
  auto element = element_of(program_, id, *family.entry, scope, locals);
  if (!element) return id;
  if (family.entry->what == What::automaton) {
    report_automaton(id, *family.entry);
    return id;
  }
  const NameId name = tree_[base].name;
  NodeId made = add_name(fmt::format("{}{}[{}]", family.scope->prefix, names_.text(name), *element), node.span);
  if (primes > 0) {
    const parse::Child child{made};
    made = add({.kind = NodeKind::prime, .span = node.span, .count = primes}, {&child, 1});
  }
  if (node.child_count == 2) return made;
  // x[i, j]: component j of element i.
  std::vector<parse::Child> children = {{made}};
  for (std::uint32_t i = 2; i < node.child_count; ++i) children.push_back({expand(tree_.child(id, i), scope, locals)});
  return add(node, children);
}

NodeId Expressions::expand_call(NodeId id, Scope& scope, const Local* locals) {
  const NodeId callee = tree_.child(id, 0);
  const NodeKind kind = tree_[callee].kind;
  if (kind == NodeKind::name && names_.text(tree_[callee].name) == "table" && !find(scope, tree_[callee].name).entry)
    return expand_table(id, scope, locals);
  NodeId function = callee;
  if (kind == NodeKind::name) {
    Found found = find(scope, tree_[callee].name);
    const bool is_declared = found.entry && (found.entry->what == What::function || found.entry->what == What::module ||
                                             found.entry->what == What::instance);
    if (is_declared) function = meaning_of(callee, tree_[callee].name, found);
  } else {
    function = expand(callee, scope, locals);
  }
  // The first argument of `at` and `since` names an instant.
  const bool names_instant = kind == NodeKind::name && function == callee &&
                             (names_.text(tree_[callee].name) == "at" || names_.text(tree_[callee].name) == "since");
  const NodeId made = expand_children(id, names_instant ? 2 : 1, scope, locals);
  if (function == callee) return made;
  const parse::Node called = tree_[made];
  std::vector<parse::Child> children(tree_.children_of(made).begin(), tree_.children_of(made).end());
  children.front().node = function;
  return add(called, children);
}

// Of `table("x.csv", cubic, column = i)` all but the column are words.
NodeId Expressions::expand_table(NodeId id, Scope& scope, const Local* locals) {
  std::vector<parse::Child> children(tree_.children_of(id).begin(), tree_.children_of(id).end());
  bool changed = false;
  for (parse::Child& child : children) {
    const parse::Node& node = tree_[child.node];
    if (node.kind != NodeKind::argument || names_.text(node.name) != "column") continue;
    const NodeId made = expand(child.node, scope, locals);
    changed = changed || made != child.node;
    child.node = made;
  }
  return changed ? add(parse::Node(tree_[id]), children) : id;
}

NodeId Expressions::expand_sum_over(NodeId id, Scope& scope, const Local* locals) {
  const parse::Node node = tree_[id];
  auto low = whole(program_, tree_.child(id, 0), scope, locals);
  auto high = whole(program_, tree_.child(id, 1), scope, locals);
  if (!low || !high || *high - *low >= longest_range) {  // check says what is wrong
    const Local inner{locals, node.name, std::nullopt};
    return expand_children(id, 0, scope, &inner);
  }
  std::vector<parse::Child> terms;
  for (long long i = *low; i <= *high && !program_.is_too_large; ++i) {
    if (++program_.turns > most_turns) program_.report_too_large(node.span);
    const Local inner{locals, node.name, static_cast<double>(i)};
    terms.push_back({expand(tree_.child(id, 2), scope, &inner), parse::Op::plus});
  }
  if (terms.empty()) return add_number(0, node.span);
  if (terms.size() == 1) return terms.front().node;
  return add({.kind = NodeKind::sum, .span = node.span}, terms);
}

}  // namespace expand
