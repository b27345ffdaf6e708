// Reactive behaviours and events.
//
//   enters: behaviours with their handlers, events     leaves: flat::Event with its updates, and the events' code as text
//
// On event E, with old values a, b, ..:
//   ordinary handlers  a' = e(..)   read the new values of ordinary behaviours of E and the old ones of all others
//   later handlers     b' = e(..)   the same, once the ordinary ones are done
// Put into each other, every new value is an expression over old ones; a cycle among ordinary handlers has none.
#include "compiler/flatten/flattener.h"

namespace flatten {

void Flattener::add_behaviour(const parse::Behaviour& behaviour) {
  const SymbolId symbol = *model_.find(behaviour.name);
  if (behaviour.value.valid()) {  // passive
    const Value value = evaluate(behaviour.value, nullptr);
    const Value& target = places_[symbol.value];
    for (std::uint32_t i = 0; i < target.items.size(); ++i) {
      flat_.equations.push({target.items[i], as_number(value.item(i)), behaviour.span,
                            target.shape.is_scalar() ? 0 : static_cast<int>(i) + 1});
    }
    return;
  }
  const Value start = evaluate(behaviour.start, nullptr);
  const std::uint32_t first = flat_.pool[places_[symbol.value].items[0]].index;
  auto discrete = std::find_if(flat_.discrete.begin(), flat_.discrete.end(),
                               [&](const flat::Discrete& candidate) { return candidate.first == first; });
  for (std::uint32_t i = 0; i < discrete->shape.size(); ++i) {
    discrete->start.push_back(as_number(start.item(i)));
  }
}

void Flattener::add_event(const check::Event& event) {
  static constexpr tactus_event_kind kinds[] = {TACTUS_EVERY, TACTUS_WHEN, TACTUS_AT, TACTUS_AFTER};
  flat::Event made{names_.text(event.name),
                   kinds[static_cast<int>(event.kind)],
                   event.period,
                   event.from,
                   event.times,
                   {},
                   event.span};
  if (event.condition.valid()) {
    made.condition = add_hidden("the condition of " + made.name, as_number(truth_of(event.condition, nullptr)),
                                tree_[event.condition].span);
  }
  handlers_.clear();
  std::vector<SymbolId> order;
  for (const parse::Behaviour& behaviour : tree_.behaviours) {
    for (const parse::Handler& handler : behaviour.handlers) {
      if (tree_[handler.event].name != event.name) continue;
      const SymbolId symbol = *model_.find(behaviour.name);
      handlers_.emplace(symbol.value, Handling{&behaviour, &handler, {}, Handling::not_yet});
      order.push_back(symbol);
    }
  }
  reacting_ = true;
  std::string code;
  for (bool later : {false, true}) {
    done_handlers_.clear();
    for (SymbolId symbol : order) {
      if (handlers_.at(symbol.value).handler->later == later) new_value(symbol);
    }
    for (SymbolId symbol : done_handlers_) code += handler_code(handlers_.at(symbol.value));
  }
  reacting_ = false;
  for (SymbolId symbol : order) {
    const Handling& handling = handlers_.at(symbol.value);
    const Value& place = places_[symbol.value];
    for (std::uint32_t i = 0; i < place.items.size(); ++i) {
      const std::uint32_t discrete = flat_.pool[place.items[i]].index;
      made.updates.push_back({discrete, add_hidden(fmt::format("{} at {}", flat_.discrete_names[discrete], made.name),
                                                   handling.value.item(i), handling.handler->span)});
    }
  }
  if (made.kind == TACTUS_AFTER) add_verdicts(event.transition, made);
  if (made.kind == TACTUS_AFTER && made.updates.empty()) return;
  flat_.event_code += fmt::format("if {} happens\n{{{}}}\n", made.name, code.empty() ? "" : code.substr(2));
  flat_.events.push_back(std::move(made));
}

std::string Flattener::handler_code(const Handling& handling) const {
  return fmt::format("\n  {} = {};", names_.text(handling.behaviour->name),
                     parse::print(tree_, names_, handling.handler->value));
}

void Flattener::write_starts() {
  std::string starts;
  for (const parse::Behaviour& behaviour : tree_.behaviours) {
    if (!behaviour.start.valid()) continue;
    starts += fmt::format("{} = {}; ", names_.text(behaviour.name), parse::print(tree_, names_, behaviour.start));
    if (behaviour.own.valid())
      starts += fmt::format("{} is the old value of {}; ", names_.text(behaviour.own), names_.text(behaviour.name));
  }
  if (!starts.empty()) starts.back() = '\n';
  flat_.event_code = starts + flat_.event_code;
}

const Value& Flattener::new_value(SymbolId symbol) {
  Handling& handling = handlers_.at(symbol.value);
  if (handling.state == Handling::done) return handling.value;
  if (handling.state == Handling::in_progress) {
    report_cycle(symbol);
    handling.value = places_[symbol.value];
    handling.state = Handling::done;
    return handling.value;
  }
  handling.state = Handling::in_progress;
  open_handlers_.push_back(symbol);
  const Scope own{nullptr, handling.behaviour->own, places_[symbol.value]};
  const check::Scope counted{nullptr, handling.behaviour->own, {}};
  const bool has_own = handling.behaviour->own.valid();
  Value value = evaluate_in(has_own ? &counted : nullptr, handling.handler->value, has_own ? &own : nullptr);
  open_handlers_.pop_back();
  if (handling.state != Handling::done) handling.value = std::move(value);
  handling.state = Handling::done;
  done_handlers_.push_back(symbol);
  return handling.value;
}

void Flattener::report_cycle(SymbolId symbol) {
  auto from = std::find(open_handlers_.begin(), open_handlers_.end(), symbol);
  std::string cycle;
  for (auto at = from; at != open_handlers_.end(); ++at)
    cycle += "`" + names_.text(model_.symbols[*at].name) + "` reads ";
  cycle += "`" + names_.text(model_.symbols[symbol].name) + "`";
  const Handling& first = handlers_.at(symbol.value);
  auto report = diags_.report(first.handler->span, handler_cycle, cycle);
  for (auto at = from + 1; at < open_handlers_.end(); ++at)
    report.related(handlers_.at(at->value).handler->span, "this one is part of it");
  if (open_handlers_.end() - from == 1) {
    report.hint("the own old value has a name of its own: `{} = init old = .. in {{ .. => old + 1 }}`",
                names_.text(model_.symbols[symbol].name));
  } else {
    report.hint("mark one of them `later`: it then runs behind the others, and they see its old value");
  }
}

Value Flattener::behaviour_value(SymbolId symbol) {
  auto handling = handlers_.find(symbol.value);
  if (handling == handlers_.end() || handling->second.handler->later) return places_[symbol.value];
  return new_value(symbol);
}

}  // namespace flatten
