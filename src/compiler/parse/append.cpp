// Two trees become one: the items of `from` behind those of `into`, its nodes renumbered.
#include <utility>

#include "compiler/parse/parse.h"

namespace parse {

namespace {

// How to renumber what refers to nodes, bodies and jumps.
struct Moved {
  std::uint32_t nodes;
  std::uint32_t bodies;
  std::uint32_t jumps;
  NodeId operator()(NodeId id) const { return id.valid() ? NodeId(id.value + nodes) : id; }
  Family operator()(Family family) const { return {family.index, (*this)(family.low), (*this)(family.high)}; }
  Equation operator()(const Equation& item) const {
    Equation made{item.span, (*this)(item.left), (*this)(item.right), (*this)(item.family), (*this)(item.mode)};
    made.rate = (*this)(item.rate);
    return made;
  }
  Jump operator()(Jump jump) const {
    for (Goto& item : jump.gotos) item.target = (*this)(item.target);
    for (NodeId& item : jump.keeps) item = (*this)(item);
    for (JumpUnknown& item : jump.unknowns) item.guess = (*this)(item.guess);
    for (Equation& item : jump.equations) item = (*this)(item);
    for (JumpLoop& item : jump.loops) {
      item.low = (*this)(item.low);
      item.high = (*this)(item.high);
      item.jump += jumps;
    }
    return jump;
  }
  void move_head(Transition& item) const {
    item.family = (*this)(item.family);
    item.mode = (*this)(item.mode);
    item.condition = (*this)(item.condition);
    item.jump = (*this)(std::move(item.jump));
  }
};

void append_hybrid_items(Body& into, const Body& from, const Moved& moved) {
  for (Automaton item : from.automata) {
    item.family = moved(item.family);
    for (AutomatonStart& start : item.starts) start.condition = moved(start.condition);
    into.automata.push_back(std::move(item));
  }
  for (InBlock item : from.in_blocks) {
    item.condition = moved(item.condition);
    item.body += moved.bodies;
    into.in_blocks.push_back(item);
  }
  for (Must item : from.musts) {
    item.condition = moved(item.condition);
    item.mode = moved(item.mode);
    into.musts.push_back(std::move(item));
  }
  for (Transition item : from.transitions) {
    moved.move_head(item);
    into.transitions.push_back(std::move(item));
  }
  for (Sequence item : from.sequences) {
    moved.move_head(item);
    for (SequencePhase& phase : item.phases) {
      phase.until = moved(phase.until);
      phase.jump = moved(std::move(phase.jump));
    }
    into.sequences.push_back(std::move(item));
  }
  for (Plan item : from.plans) {
    moved.move_head(item);
    for (Chosen& chosen : item.chosen) chosen.value = moved(chosen.value);
    for (PlanPhase& phase : item.phases) {
      phase.duration = moved(phase.duration);
      for (Target& target : phase.targets) target = {target.span, moved(target.left), moved(target.right)};
      phase.jump = moved(std::move(phase.jump));
    }
    item.otherwise = moved(std::move(item.otherwise));
    into.plans.push_back(std::move(item));
  }
  for (const Equation& item : from.invariants) into.invariants.push_back(moved(item));
  for (Property item : from.properties) {
    item.formula = moved(item.formula);
    into.properties.push_back(item);
  }
}

void append_energies(Body& into, const Body& from, const Moved& moved) {
  for (Energy item : from.energies) {
    item.variable = moved(item.variable);
    item.value = moved(item.value);
    into.energies.push_back(item);
  }
  for (Power item : from.powers) {
    item.in = moved(item.in);
    item.out = moved(item.out);
    into.powers.push_back(item);
  }
  for (Join item : from.joins) {
    item.first = moved(item.first);
    item.second = moved(item.second);
    into.joins.push_back(item);
  }
  for (Storage item : from.storages) {
    for (NodeId& state : item.states) state = moved(state);
    for (NodeId* id : {&item.variable, &item.j, &item.r, &item.g, &item.in, &item.out}) *id = moved(*id);
    into.storages.push_back(std::move(item));
  }
  for (Guard item : from.guards) {
    item.port = moved(item.port);
    item.reserve = moved(item.reserve);
    into.guards.push_back(item);
  }
}

void append_items(Body& into, const Body& from, const Moved& moved) {
  for (Condition item : from.conditions) {
    item.variable = moved(item.variable);
    item.time = moved(item.time);
    item.value = moved(item.value);
    into.conditions.push_back(item);
  }
  for (const Equation& item : from.equations) into.equations.push_back(moved(item));
  for (Parameter item : from.parameters) {
    item.value = moved(item.value);
    item.low = moved(item.low);
    item.high = moved(item.high);
    into.parameters.push_back(item);
  }
  for (Constant item : from.constants) {
    item.value = moved(item.value);
    into.constants.push_back(item);
  }
  for (Function item : from.functions) {
    item.value = moved(item.value);
    into.functions.push_back(std::move(item));
  }
  for (Event item : from.events) {
    item.family = moved(item.family);
    item.period = moved(item.period);
    item.from = moved(item.from);
    item.condition = moved(item.condition);
    for (NodeId& time : item.times) time = moved(time);
    into.events.push_back(std::move(item));
  }
  for (Behaviour item : from.behaviours) {
    item.family = moved(item.family);
    item.start = moved(item.start);
    item.value = moved(item.value);
    for (Handler& handler : item.handlers) {
      handler.event = moved(handler.event);
      handler.value = moved(handler.value);
    }
    into.behaviours.push_back(std::move(item));
  }
  for (Module item : from.modules) {
    for (ModulePort& port : item.ports) port.shape = moved(port.shape);
    item.body += moved.bodies;
    into.modules.push_back(std::move(item));
  }
  for (Drawing item : from.drawings) {
    for (NodeId& value : item.values) value = moved(value);
    for (DrawingOption& option : item.options) option.value = moved(option.value);
    into.drawings.push_back(std::move(item));
  }
  for (Loop item : from.loops) {
    item.low = moved(item.low);
    item.high = moved(item.high);
    item.body += moved.bodies;
    into.loops.push_back(item);
  }
  append_hybrid_items(into, from, moved);
  append_energies(into, from, moved);
}

// Nodes, texts, bodies, jumps and uses of `from` behind those of `into`.
Moved append_nodes(Tree& into, const Tree& from) {
  const Moved moved{static_cast<std::uint32_t>(into.nodes.size()), static_cast<std::uint32_t>(into.bodies.size()),
                    static_cast<std::uint32_t>(into.jumps.size())};
  const auto children = static_cast<std::uint32_t>(into.children.size());
  const auto texts = static_cast<std::uint32_t>(into.texts.size());
  std::vector<std::uint16_t> units = {0};
  for (std::size_t i = 1; i < from.units.size(); ++i)
    units.push_back(into.units.add(from.units[static_cast<std::uint16_t>(i)]));
  for (Node node : from.nodes) {
    node.first_child += children;
    if (node.text != 0) node.text += texts;
    node.unit = units[node.unit];
    into.nodes.push_back(node);
  }
  for (Child child : from.children) into.children.push_back({moved(child.node), child.op});
  into.texts.insert(into.texts.end(), from.texts.begin(), from.texts.end());
  into.uses.insert(into.uses.end(), from.uses.begin(), from.uses.end());
  for (const Body& body : from.bodies) {
    Body items;
    append_items(items, body, moved);
    into.bodies.push_back(std::move(items));
  }
  for (const Jump& jump : from.jumps) into.jumps.push_back(moved(jump));
  return moved;
}

}  // namespace

std::uint32_t append_file(Tree& into, const Tree& from) {
  const Moved moved = append_nodes(into, from);
  Body items;
  append_items(items, from, moved);
  into.bodies.push_back(std::move(items));
  return static_cast<std::uint32_t>(into.bodies.size() - 1);
}

void append(Tree& into, const Tree& from) {
  const Moved moved = append_nodes(into, from);
  for (Setting item : from.settings) {
    item.value = moved(item.value);
    into.settings.push_back(item);
  }
  for (External item : from.externals) {
    for (std::vector<Access>* list : {&item.reads, &item.writes}) {
      for (Access& access : *list) {
        access.variable = moved(access.variable);
        access.value = moved(access.value);
      }
    }
    for (ObservedEvent& event : item.events) {
      event.rate = moved(event.rate);
      event.time = moved(event.time);
    }
    item.period = moved(item.period);
    into.externals.push_back(std::move(item));
  }
  append_items(into, from, moved);
}

}  // namespace parse
