// Checks: each formula becomes a monitor of constant memory: discrete values, notes and checks.
//
//   enters: formulas     leaves: flat::Event of the kind TACTUS_CHECK, behind all others
//
// A note is an event of the kind of a check that has a pulse: while it holds, its updates are made, at the start and whenever something
// happens, before checks are asked.
// With t0 the start, w = [a..b], and all discrete values 0 at the start:
//
//   always[w] f         broken while   t0 + a <= t <= t0 + b  and  not f
//   eventually[w] f     note f in w: seen = 1;     broken while   not seen  and  (t > t0 + b  or the run is over at t >= t0 + b)
//   f until[w] g        note g in w: seen = 1;     broken while   not seen  and  not g  and  not f  and  t <= t0 + b
//   always (c -> T), with T looking ahead from now on:
//     eventually[0..b] f   note f: asked = 0;  note c and not f and not asked: asked = 1, since = t;
//                          broken while   asked  and  t > since + b; without b, when the run is over
//     always[0..b] f       note c: on = 1;  note not c and on: on = 0, has = 1, last = t;
//                          broken while   (c or on or has and t <= last + b)  and  not f
//     f until g (c: true)  note g: on = 0;  note c and not g: on = 1;    broken while   (c or on)  and  not g  and  not f
//
// The first instant that is not answered stands for all that follow it, and the last that asks for all before it; with other bounds
// than 0 that is not so, and all of them would have to be remembered.
//
// f may speak of next(..): then it is asked once for each transition, with that alone happening. What is read before the
// jump is remembered by it, and what it is after stands in the event right behind it: broken or not is one more discrete value.
// Everywhere else a comparison with next(..) is false.
#include <cmath>

#include "compiler/flatten/flattener.h"

namespace flatten {

bool Flattener::is_temporal(NodeId id) const {
  const NodeKind kind = tree_[id].kind;
  return kind == NodeKind::always || kind == NodeKind::eventually || kind == NodeKind::until;
}

bool Flattener::looks_ahead(NodeId id) const {
  return has_part(id, [&](NodeId part) { return is_temporal(part); });
}

bool Flattener::has_next(NodeId id) const {
  return has_part(id, [&](NodeId part) {
    if (tree_[part].kind != NodeKind::call || tree_[tree_.child(part, 0)].kind != NodeKind::name) return false;
    const base::NameId name = tree_[tree_.child(part, 0)].name;
    if (names_.text(name) == "next" && !model_.find(name)) return true;
    const auto found = model_.find(name);
    return found && model_.symbols[*found].role == Role::function &&
           has_next(tree_.functions[model_.symbols[*found].declaration].value);
  });
}

Flattener::Window Flattener::window_of(NodeId id) {
  const std::uint32_t first = tree_[id].kind == NodeKind::until ? 2 : 1;
  if (tree_[id].child_count <= first) return {};
  return {constant(tree_.child(id, first)), constant(tree_.child(id, first + 1))};
}

ExprId Flattener::is_set(std::uint32_t discrete) {
  return flat_.pool.make(Op::less, flat_.pool.constant(0.5), flat_.pool.discrete(discrete));
}

ExprId Flattener::has_begun(const Window& window) {
  if (window.from == 0) return flat_.pool.truth(true);
  const double from = flat_.settings.starting_time + window.from;
  return flat_.pool.make(Op::less_equal, flat_.pool.constant(from), flat_.pool.time());
}

ExprId Flattener::has_ended(const Window& window) {
  if (window.to == for_ever) return flat_.pool.truth(false);
  const double to = flat_.settings.starting_time + window.to;
  return flat_.pool.make(Op::less, flat_.pool.constant(to), flat_.pool.time());
}

ExprId Flattener::is_at_end(const Window& window) {
  if (window.to == for_ever) return flat_.pool.truth(true);
  const double to = flat_.settings.starting_time + window.to;
  return flat_.pool.make(Op::less_equal, flat_.pool.constant(to - 1e-12 * std::fabs(to)), flat_.pool.time());
}

ExprId Flattener::is_over() {
  if (!over_) {
    over_ = add_discrete("the run is over");
    flat::Event end;
    end.name = "the end of the run";
    end.kind = TACTUS_AT;
    end.pulse = *over_ + 1;
    flat_.events.push_back(std::move(end));
  }
  return is_set(*over_);
}

void Flattener::watch_monitor(flat::Event& event, ExprId located, ExprId whole) {
  event.condition = add_hidden("whether " + event.name, smooth_(as_number(whole)), event.span);
  event.guard = add_hidden("the guard of " + event.name, smooth_(signed_distance(located)), event.span);
}

std::uint32_t Flattener::add_memory(const Monitor& monitor, const char* what) {
  return add_discrete(fmt::format("{} of {}", what, monitor.name));
}

void Flattener::add_note(Monitor& monitor, ExprId located, ExprId besides,
                         std::initializer_list<std::pair<std::uint32_t, ExprId>> updates) {
  if (!noted_) noted_ = add_discrete("noted");
  flat::Event note;
  note.name = fmt::format("note {} of {}", monitor.events.size() + 1, monitor.name);
  note.kind = TACTUS_CHECK;
  note.span = monitor.span;
  note.pulse = *noted_ + 1;
  watch_monitor(note, located, both(located, besides));
  for (const auto& [discrete, value] : updates)
    note.updates.push_back(
        {discrete, add_hidden(fmt::format("{} at {}", flat_.discrete_names[discrete], note.name), value, note.span)});
  monitor.events.push_back(std::move(note));
}

bool Flattener::reads_book(ExprId e) const {
  const auto leaves = symbolic::leaves(flat_.pool, e, Op::variable);
  return std::any_of(leaves.begin(), leaves.end(), [&](ExprId leaf) {
    return flat_.variables[flat::VariableId(flat_.pool[leaf].index)].name.starts_with("book.");
  });
}

void Flattener::add_breach(Monitor& monitor, ExprId located, ExprId at_last) {
  flat::Event event;
  event.name = monitor.name;
  event.kind = TACTUS_CHECK;
  event.span = monitor.span;
  if (reads_book(located))
    event.condition = add_hidden("whether " + event.name, smooth_(as_number(either(located, at_last))), event.span);
  else
    watch_monitor(event, located, either(located, at_last));
  monitor.events.push_back(std::move(event));
}

void Flattener::add_check(const parse::Property& property, std::vector<flat::Event>& events) {
  const std::string text = parse::print(tree_, names_, property.formula);
  Monitor monitor{property.name.valid() ? fmt::format("{}: {}", names_.text(property.name), text) : text, property.span,
                  events};
  const NodeId formula = property.formula;
  const Window window = window_of(formula);
  switch (tree_[formula].kind) {
    case NodeKind::eventually:
      return add_eventually(monitor, tree_.child(formula, 0), window);
    case NodeKind::until:
      return add_until(monitor, tree_.child(formula, 0), tree_.child(formula, 1), window);
    default:
      return add_always(monitor, tree_.child(formula, 0), window);
  }
}

void Flattener::refuse(const Monitor& monitor, NodeId part, const std::string& hint) {
  diags_.report(tree_[part].span, needs_history, monitor.name).hint("{}", hint);
}

void Flattener::add_always(Monitor& monitor, NodeId formula, const Window& window) {
  if (!looks_ahead(formula)) {
    if (has_next(formula)) {
      const std::uint32_t broken = add_memory(monitor, "breach");
      const auto holds = [&] { return either(negation(is_inside(window)), truth_of(formula, nullptr)); };
      const ExprId between = add_verdicts_of_jumps(monitor, broken, false, holds);
      return add_breach(monitor, either(is_set(broken), negation(between)), flat_.pool.truth(false));
    }
    const ExprId truth = truth_of(formula, nullptr);
    return add_breach(monitor, both(is_inside(window), negation(truth)), flat_.pool.truth(false));
  }
  const NodeKind kind = tree_[formula].kind;
  if (kind == NodeKind::logical_and) {
    for (const parse::Child& child : tree_.children_of(formula)) add_always(monitor, child.node, window);
    return;
  }
  // c -> T, not c || T, or T alone.
  NodeId ahead = formula;
  ExprId when = is_inside(window);
  if (kind == NodeKind::implies || kind == NodeKind::logical_or) {
    for (const parse::Child& child : tree_.children_of(formula)) {
      const bool is_consequence = kind == NodeKind::logical_or || child.node == tree_.child(formula, 1);
      if (is_consequence && is_temporal(child.node) && ahead == formula) {
        ahead = child.node;
        continue;
      }
      if (looks_ahead(child.node))
        return refuse(monitor, child.node, "let one part look ahead, behind `->`: `c -> eventually[0..2](f)`");
      if (has_next(child.node)) return refuse_next(monitor, child.node);
      const ExprId truth = truth_of(child.node, nullptr);
      when = both(when, kind == NodeKind::implies ? truth : negation(truth));
    }
  }
  if (!is_temporal(ahead))
    return refuse(monitor, formula, "write what is to come behind `->`: `c -> eventually[0..2](f)`");
  add_obligation(monitor, when, ahead);
}

void Flattener::refuse_next(const Monitor& monitor, NodeId part) {
  refuse(monitor, part,
         "`next` is known at the instant of a jump alone; write it in a check of its own, `Bounce -> next(v) > 0;`");
}

bool Flattener::is_plain(const Monitor& monitor, NodeId id) {
  if (looks_ahead(id)) {
    refuse(monitor, id,
           "one operator inside another is watched where the outer one is `always`: "
           "`always(c -> eventually[0..2](f))`");
    return false;
  }
  if (has_next(id)) {
    refuse_next(monitor, id);
    return false;
  }
  return true;
}

void Flattener::add_eventually(Monitor& monitor, NodeId formula, const Window& window) {
  if (looks_ahead(formula) && !is_plain(monitor, formula)) return;
  const std::uint32_t seen = add_memory(monitor, "seen");
  ExprId now;
  if (has_next(formula)) {
    const auto holds = [&] { return both(is_inside(window), truth_of(formula, nullptr)); };
    now = add_verdicts_of_jumps(monitor, seen, true, holds);
  } else {
    now = both(is_inside(window), truth_of(formula, nullptr));
  }
  const ExprId not_yet = negation(is_set(seen));
  add_note(monitor, now, not_yet, {{seen, flat_.pool.constant(1)}});
  add_breach(monitor, both(not_yet, has_ended(window)), both(not_yet, both(is_over(), is_at_end(window))));
}

void Flattener::add_until(Monitor& monitor, NodeId first, NodeId second, const Window& window) {
  if (!is_plain(monitor, first) || !is_plain(monitor, second)) return;
  const std::uint32_t seen = add_memory(monitor, "seen");
  const ExprId released = both(has_begun(window), truth_of(second, nullptr));
  const ExprId not_yet = negation(is_set(seen));
  add_note(monitor, released, not_yet, {{seen, flat_.pool.constant(1)}});
  const ExprId holds = either(truth_of(first, nullptr), released);
  add_breach(monitor, both(both(not_yet, negation(holds)), negation(has_ended(window))), flat_.pool.truth(false));
}

void Flattener::add_response(Monitor& monitor, ExprId when, ExprId f, double most) {
  expr::Pool& pool = flat_.pool;
  const std::uint32_t asked = add_memory(monitor, "asked"), since = add_memory(monitor, "since");
  add_note(monitor, f, is_set(asked), {{asked, pool.constant(0)}});
  add_note(monitor, both(when, negation(f)), negation(is_set(asked)),
           {{asked, pool.constant(1)}, {since, pool.time()}});
  const ExprId end = pool.add(pool.discrete(since), pool.constant(most));
  const ExprId late = most == for_ever ? pool.truth(false) : pool.make(Op::less, end, pool.time());
  add_breach(monitor, both(is_set(asked), late), most == for_ever ? both(is_set(asked), is_over()) : pool.truth(false));
}

void Flattener::add_obligation(Monitor& monitor, ExprId when, NodeId ahead) {
  expr::Pool& pool = flat_.pool;
  const Window window = window_of(ahead);
  const NodeKind kind = tree_[ahead].kind;
  if (!is_plain(monitor, tree_.child(ahead, 0))) return;
  if (kind == NodeKind::until && !is_plain(monitor, tree_.child(ahead, 1))) return;
  if (kind == NodeKind::until && !is_all(window))
    return refuse(monitor, ahead, "leave the bounds out: `always(f until g)`");
  if (window.from > 0)
    return refuse(monitor, ahead,
                  fmt::format("let the bounds begin now: `{}[0..{}](..)`",
                              kind == NodeKind::always ? "always" : "eventually", expr::print_number(window.to)));
  const ExprId f = truth_of(tree_.child(ahead, 0), nullptr);
  const ExprId one = pool.constant(1), zero = pool.constant(0), never = pool.truth(false);
  if (kind == NodeKind::eventually) return add_response(monitor, when, f, window.to);
  const std::uint32_t on = add_memory(monitor, "on");
  ExprId binding = either(when, is_set(on));
  if (kind == NodeKind::until) {
    const ExprId g = truth_of(tree_.child(ahead, 1), nullptr);
    add_note(monitor, g, is_set(on), {{on, zero}});
    add_note(monitor, both(when, negation(g)), negation(is_set(on)), {{on, one}});
    return add_breach(monitor, both(binding, both(negation(g), negation(f))), never);
  }
  add_note(monitor, when, negation(is_set(on)), {{on, one}});
  if (window.to < for_ever) {
    const std::uint32_t has = add_memory(monitor, "has"), last = add_memory(monitor, "last");
    add_note(monitor, negation(when), is_set(on), {{on, zero}, {has, one}, {last, pool.time()}});
    const ExprId end = pool.add(pool.discrete(last), pool.constant(window.to));
    binding = either(binding, both(is_set(has), pool.make(Op::less_equal, pool.time(), end)));
  }
  add_breach(monitor, both(binding, negation(f)), never);
}

template <class Make>
ExprId Flattener::add_verdicts_of_jumps(const Monitor& monitor, std::uint32_t discrete, bool if_true, Make make) {
  for (std::uint32_t i = 0; i < tree_.transitions.size(); ++i) {
    jumping_ = i;
    const ExprId truth = make();
    jumping_ = nobody;
    if (truth == flat_.pool.truth(!if_true)) continue;
    verdicts_.push_back({i, truth, discrete, if_true, monitor.span});
  }
  jumping_ = nothing_jumps;
  const ExprId between = make();
  jumping_ = nobody;
  return between;
}

}  // namespace flatten
