#include "compiler/expand/members.h"

#include <fmt/format.h>

#include <algorithm>

namespace expand {

using parse::NodeKind;

std::vector<std::string_view> given_by_name(const Program& program, const parse::Module& module) {
  std::vector<std::string_view> known;
  for (const parse::ModulePort& port : module.ports) known.push_back(program.names.text(port.name));
  for (const parse::Parameter& parameter : program.bodies[module.body].parameters)
    known.push_back(program.names.text(parameter.name));
  return known;
}

std::vector<std::string_view> members(const Program& program, const parse::Module& module) {
  std::vector<std::string_view> known;
  auto add = [&](NameId name) {
    const std::string_view text = program.names.text(name);
    if (std::find(known.begin(), known.end(), text) == known.end()) known.push_back(text);
  };
  const Body& body = program.bodies[module.body];
  auto add_defined = [&](const Body& items, auto& self) -> void {
    for (const parse::Equation& equation : items.equations) {
      NodeId left = equation.left;
      while (left.valid() && (program.tree[left].kind == NodeKind::prime || program.tree[left].kind == NodeKind::index))
        left = program.tree.child(left, 0);
      if (left.valid() && program.tree[left].kind == NodeKind::name) add(program.tree[left].name);
    }
    for (const parse::Energy& energy : items.energies) add(program.tree[energy.variable].name);
    for (const parse::Storage& storage : items.storages) {
      for (const NodeId state : storage.states)
        if (program.tree[state].kind == NodeKind::name) add(program.tree[state].name);
      if (storage.out.valid() && program.tree[storage.out].kind == NodeKind::name) add(program.tree[storage.out].name);
    }
    for (const parse::InBlock& block : items.in_blocks) self(program.bodies[block.body], self);
  };
  add_defined(body, add_defined);
  for (const parse::Behaviour& behaviour : body.behaviours) add(behaviour.name);
  for (const parse::Event& event : body.events) add(event.name);
  for (const parse::Automaton& automaton : body.automata) add(automaton.name);
  for (const parse::Transition& transition : body.transitions) add(transition.name);
  for (const parse::Sequence& sequence : body.sequences) add(sequence.name);
  for (const parse::Plan& plan : body.plans) add(plan.name);
  for (const parse::ModulePort& port : module.ports) add(port.name);
  for (const parse::Parameter& parameter : body.parameters) add(parameter.name);
  return known;
}

std::string list(const std::vector<std::string_view>& names) {
  std::string out;
  for (std::string_view name : names) out += fmt::format("{}`{}`", out.empty() ? "" : ", ", name);
  return out;
}

std::string ports_and_parameters(const Program& program, const parse::Module& module) {
  const std::vector<std::string_view> known = given_by_name(program, module);
  return known.empty() ? "it has no ports and no parameters" : fmt::format("it has {}", list(known));
}

std::string some_member(const Program& program, const std::string& path, const Entry& entry) {
  const Scope* inside = !entry.elements.empty() ? entry.elements.front() : entry.scope;
  const std::vector<std::string_view> known =
      inside && inside->module ? members(program, *inside->module) : std::vector<std::string_view>{};
  const std::string index = entry.is_family && !path.ends_with(']') ? fmt::format("[{}]", entry.low) : "";
  return fmt::format("{}{}.{}", path, index, known.empty() ? "x" : known.front());
}

}  // namespace expand
