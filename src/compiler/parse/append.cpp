// Two trees become one: the items of `from` behind those of `into`, its nodes renumbered.
#include <algorithm>

#include "compiler/parse/parse.h"

namespace parse {

namespace {

// `moved` renumbers a node; bodies are renumbered by `bodies`.
template <class Moved>
void append_items(Body& into, const Body& from, Moved moved, std::uint32_t bodies) {
  const auto moved_family = [&](Family family) { return Family{family.index, moved(family.low), moved(family.high)}; };
  for (Condition item : from.conditions) {
    item.variable = moved(item.variable);
    item.time = moved(item.time);
    item.value = moved(item.value);
    into.conditions.push_back(item);
  }
  for (const Equation& item : from.equations)
    into.equations.push_back({item.span, moved(item.left), moved(item.right), moved_family(item.family)});
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
    item.family = moved_family(item.family);
    item.period = moved(item.period);
    item.from = moved(item.from);
    item.condition = moved(item.condition);
    for (NodeId& time : item.times) time = moved(time);
    into.events.push_back(std::move(item));
  }
  for (Behaviour item : from.behaviours) {
    item.family = moved_family(item.family);
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
    item.body += bodies;
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
    item.body += bodies;
    into.loops.push_back(item);
  }
}

// Nodes, texts, bodies and uses of `from` behind those of `into`; how to renumber what refers to them.
struct Moved {
  std::uint32_t nodes;
  std::uint32_t bodies;
  NodeId operator()(NodeId id) const { return id.valid() ? NodeId(id.value + nodes) : id; }
};

Moved append_nodes(Tree& into, const Tree& from) {
  const Moved moved{static_cast<std::uint32_t>(into.nodes.size()), static_cast<std::uint32_t>(into.bodies.size())};
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
    append_items(items, body, moved, moved.bodies);
    into.bodies.push_back(std::move(items));
  }
  return moved;
}

}  // namespace

std::uint32_t append_file(Tree& into, const Tree& from) {
  const Moved moved = append_nodes(into, from);
  Body items;
  append_items(items, from, moved, moved.bodies);
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
  append_items(into, from, moved, moved.bodies);
}

}  // namespace parse
