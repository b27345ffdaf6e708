// Two trees become one: the items of `from` behind those of `into`, its nodes renumbered.
#include <algorithm>

#include "compiler/parse/parse.h"

namespace parse {

void append(Tree& into, const Tree& from) {
  const auto nodes = static_cast<std::uint32_t>(into.nodes.size());
  const auto children = static_cast<std::uint32_t>(into.children.size());
  const auto texts = static_cast<std::uint32_t>(into.texts.size());
  std::vector<std::uint16_t> units = {0};
  for (std::size_t i = 1; i < from.units.size(); ++i)
    units.push_back(into.units.add(from.units[static_cast<std::uint16_t>(i)]));
  auto moved = [&](NodeId id) { return id.valid() ? NodeId(id.value + nodes) : id; };
  for (Node node : from.nodes) {
    node.first_child += children;
    if (node.text != 0) node.text += texts;
    node.unit = units[node.unit];
    into.nodes.push_back(node);
  }
  for (Child child : from.children) into.children.push_back({moved(child.node), child.op});
  into.texts.insert(into.texts.end(), from.texts.begin(), from.texts.end());
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
    for (ObservedEvent& event : item.events) event.rate = moved(event.rate);
    item.period = moved(item.period);
    into.externals.push_back(std::move(item));
  }
  for (Condition item : from.conditions) {
    item.variable = moved(item.variable);
    item.time = moved(item.time);
    item.value = moved(item.value);
    into.conditions.push_back(item);
  }
  for (Equation item : from.equations) into.equations.push_back({item.span, moved(item.left), moved(item.right)});
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
}

}  // namespace parse
