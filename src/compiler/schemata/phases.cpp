#include "compiler/schemata/phases.h"

#include <fmt/format.h>

#include <utility>

namespace schemata {

base::NameId Phases::part(std::string_view name) const {
  return builder_.names.intern(fmt::format("{}.{}", builder_.names.text(item_.name), name));
}

base::NameId Phases::mode(std::size_t phase) const {
  return phase == 0 || phase > count_ ? part("Idle") : part(fmt::format("Phase{}", phase));
}

base::NameId Phases::event(std::size_t phase) const { return part(fmt::format("phase{}", phase)); }

void Phases::add_automaton(std::initializer_list<std::string_view> further) {
  parse::Automaton automaton;
  automaton.span = item_.span;
  automaton.name = item_.name;
  automaton.name_span = item_.name_span;
  automaton.modes.push_back({builder_.names.intern("Idle"), item_.name_span});
  for (std::size_t i = 1; i <= count_; ++i)
    automaton.modes.push_back({builder_.names.intern(fmt::format("Phase{}", i)), item_.name_span});
  for (std::string_view name : further) automaton.modes.push_back({builder_.names.intern(name), item_.name_span});
  builder_.tree.automata.push_back(std::move(automaton));
}

void Phases::go(parse::Jump& jump, base::NameId mode, base::Span span) {
  jump.gotos.push_back({span, builder_.name(mode, span)});
}

void Phases::add_transition(base::NameId name, base::Span span, NodeId mode, NodeId condition, parse::Jump jump) {
  parse::Transition made;
  made.span = span;
  made.name = name;
  made.name_span = item_.name_span;
  made.mode = mode;
  made.condition = condition;
  made.jump = std::move(jump);
  builder_.tree.transitions.push_back(std::move(made));
}

void Phases::add_start(parse::Jump jump) {
  go(jump, mode(1), item_.name_span);
  const NodeId idle = in_mode(mode(0), item_.name_span);
  add_transition(item_.name, item_.span, builder_.both(item_.mode, idle), item_.condition, std::move(jump));
}

void Phases::add_end(std::size_t phase, NodeId condition, parse::Jump jump, base::Span span) {
  go(jump, mode(phase + 1), span);
  add_transition(event(phase), span, in_mode(mode(phase), span), condition, std::move(jump));
}

}  // namespace schemata
