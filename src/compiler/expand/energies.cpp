#include "compiler/expand/energies.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/nearest.h"
#include "compiler/expand/members.h"
#include "compiler/expand/paths.h"
#include "compiler/parse/parse.h"

namespace expand {

using parse::NodeKind;

void Energies::expand(const Body& body, Scope& scope, const Local* locals, NodeId mode) {
  for (const parse::Energy& item : body.energies) expand_energy(item, scope, locals, mode);
  if (mode.valid()) {
    constexpr std::string_view advice =
        "write it outside of the mode; what passes may ask for it: `F = if m.On then u else 0;`";
    for (const parse::Power& item : body.powers) report_mode(item.span, "a port", advice);
    for (const parse::Join& item : body.joins) report_mode(item.span, "a join", advice);
    for (const parse::Storage& item : body.storages) report_mode(item.span, "a storage", advice);
    for (const parse::Guard& item : body.guards) report_mode(item.span, "a guard", advice);
    return;
  }
  for (const parse::Power& item : body.powers) expand_power(item, scope, locals);
  for (const parse::Join& item : body.joins) expand_join(item, scope, locals);
  for (const parse::Storage& item : body.storages) expand_storage(item, scope, locals);
  for (parse::Guard item : body.guards) {
    const End end = end_of(item.port, scope, locals);
    if (item.reserve.valid()) item.reserve = expressions_.expand(item.reserve, scope, locals);
    pending_guards_.push_back({item, end});
  }
}

void Energies::expand_storage(const parse::Storage& item, Scope& scope, const Local* locals) {
  parse::Storage made = item;
  for (NodeId& state : made.states) state = expressions_.expand(state, scope, locals);
  for (NodeId* id : {&made.variable, &made.j, &made.r, &made.g, &made.in, &made.out})
    if (id->valid()) *id = expressions_.expand(*id, scope, locals);
  tree_.storages.push_back(std::move(made));
}

void Energies::write_guard(PendingGuard& pending) {
  Port* const port = find_port(pending.end);
  if (port == nullptr) return;
  parse::Power& power = tree_.powers[port->index];
  if (power.given.valid()) {
    program_.diags
        .report(pending.guard.span, guarded_twice, parse::print(tree_, names_, pending.end.written))
        .related(port->guarded, "guarded here before");
    return;
  }
  port->guarded = pending.guard.span;
  power.given = expressions_.add_name(names_.text(power.name) + ".given", pending.guard.span);
  pending.guard.index = port->index;
  tree_.guards.push_back(pending.guard);
}

void Energies::report_mode(base::Span span, std::string_view what, std::string_view hint) {
  program_.diags.report(span, not_in_mode, what).hint("{}", hint);
}

void Energies::expand_energy(const parse::Energy& item, Scope& scope, const Local* locals, NodeId mode) {
  if (mode.valid())
    report_mode(item.span, "an energy", "let its value ask for the mode: `energy H = if m.On then a else b;`");
  NodeId variable = expressions_.expand(item.variable, scope, locals);
  const NodeId value = expressions_.expand(item.value, scope, locals);
  if (tree_[variable].kind != NodeKind::name) {  // a port that is more than a name: both are equal
    const parse::Node written = tree_[item.variable];
    const NodeId own = expressions_.add_name(scope.prefix + names_.text(written.name), written.span);
    tree_.equations.push_back({item.span, variable, own, {}, mode});
    variable = own;
  }
  tree_.equations.push_back({item.span, variable, value, {}, mode});
  tree_.energies.push_back({item.span, variable, value, scope.rate});
}

void Energies::expand_power(const parse::Power& item, Scope& scope, const Local* locals) {
  Ports& ports = ports_[&scope];
  const auto index = static_cast<std::uint32_t>(tree_.powers.size());
  parse::Power made = item;
  made.in = expressions_.expand(item.in, scope, locals);
  made.out = expressions_.expand(item.out, scope, locals);
  made.rate = scope.rate;
  if (!item.name.valid()) {
    made.name = names_.intern(fmt::format("{}power[{}]", scope.prefix, ++ports.anonymous));
    tree_.powers.push_back(made);
    return;
  }
  made.name = program_.full_name(scope, item.name);
  const auto [found, is_fresh] = ports.by_name.try_emplace(item.name, Port{index, &item, {}});
  if (!is_fresh) {
    auto report = program_.diags.report(item.name_span, name_taken, names_.text(item.name));
    if (found->second.written == &item)
      report.hint(
          "a loop declares it in every turn; leave its name out, or put it into a module of which the loop makes "
          "instances");
    else
      report.related(found->second.written->name_span, "declared here before");
    return;
  }
  ports.order.push_back(item.name);
  tree_.powers.push_back(made);
}

Energies::End Energies::end_of(NodeId id, Scope& scope, const Local* locals) {
  const parse::Node node = tree_[id];
  End end{nullptr, node.name, id};
  if (node.kind == NodeKind::name) {
    end.inside = &scope;
    end.instance = instance_of(program_, id, scope, locals);
  }
  if (node.kind == NodeKind::member)
    end.inside = instance_of(program_, tree_.child(id, 0), scope, locals, &end.is_reported);
  return end;
}

void Energies::expand_join(const parse::Join& item, Scope& scope, const Local* locals) {
  pending_.push_back({item, {end_of(item.first, scope, locals), end_of(item.second, scope, locals)}});
}

void Energies::write_joins() {
  for (PendingGuard& pending : pending_guards_) write_guard(pending);
  for (Pending& pending : pending_) write_join(pending);
  for (std::uint32_t i = 0; i < tree_.rates.size(); ++i) {
    const parse::Rate& rate = tree_.rates[i];
    const auto is_of_it = [&](const parse::Power& power) { return power.rate == i + 1; };
    if (std::any_of(tree_.powers.begin(), tree_.powers.end(), is_of_it)) continue;
    program_.diags.report(rate.span, rate_without_port, rate.path)
        .hint(
            "declare one in its module, `power end: F -> v;`, and join it; without a rate it takes the steps of the "
            "whole");
  }
}

// Says so where a manner is not needed.
void Energies::check_manner(const parse::Join& join, std::uint32_t first, std::uint32_t second) {
  if (join.manner == parse::JoinManner::plain) return;
  static constexpr std::string_view words[] = {"", "hold", "extrapolate", "passive"};
  const std::string_view word = words[static_cast<int>(join.manner)];
  if (first == second) {
    program_.diags.report(join.manner_span, manner_without_rates, word)
        .hint("drop it: without rates both instances take the steps of the whole, and nothing is sampled");
  } else if (first != 0 && second != 0 && tree_.rates[first - 1].hertz == tree_.rates[second - 1].hertz) {
    program_.diags.report(join.manner_span, manner_of_equal_rates, word)
        .hint("drop it: both sample at the same instants, and each gets what the other gives then");
  }
}

std::string Energies::ports_of(const Scope& scope) {
  const std::string holder = scope.module ? fmt::format("`{}`", names_.text(scope.module->name)) : "the program";
  const std::vector<NameId>& order = ports_[&scope].order;
  if (order.empty()) return fmt::format("{} has no port; one is declared by `power end: F -> v;`", holder);
  std::vector<std::string_view> known;
  for (const NameId name : order) known.push_back(names_.text(name));
  return fmt::format("{} has {}", holder, list(known));
}

// Null after reporting.
Energies::Port* Energies::find_port(const End& end) {
  if (end.is_reported) return nullptr;
  const base::Span span = tree_[end.written].span;
  const std::string path = parse::print(tree_, names_, end.written);
  if (!end.inside || end.inside->is_file) {
    program_.diags.report(span, no_port, path)
        .hint("a port is named behind the instance that has it: `s = Spring(); join s.end to ..;`");
    return nullptr;
  }
  Ports& ports = ports_[end.inside];
  if (auto found = ports.by_name.find(end.name); found != ports.by_name.end()) return &found->second;
  auto report = program_.diags.report(span, no_port, path);
  std::vector<std::string_view> known;
  for (const NameId name : ports.order) known.push_back(names_.text(name));
  const std::string before = path.substr(0, path.size() - names_.text(end.name).size());
  if (const auto near = base::nearest(names_.text(end.name), known)) report.hint("did you mean `{}{}`?", before, *near);
  if (end.instance && !ports_[end.instance].order.empty())
    report.hint("`{0}` is an instance; name its port: `{0}.{1}`", path,
                names_.text(ports_[end.instance].order.front()));
  report.hint("{}", ports_of(end.instance ? *end.instance : *end.inside));
  return nullptr;
}

bool Energies::can_be_joined(const End& end, Port& port, base::Span join) {
  const std::string path = parse::print(tree_, names_, end.written);
  if (tree_.powers[port.index].is_joined) {
    program_.diags.report(tree_[end.written].span, joined_twice, path)
        .related(port.joined, "joined here before")
        .hint("give what has it a port for each of the two; where three meet, an equation adds up what flows");
    return false;
  }
  tree_.powers[port.index].is_joined = true;
  port.joined = join;
  NodeId in = tree_.powers[port.index].in;
  if (tree_[in].kind == NodeKind::index) in = tree_.child(in, 0);
  if (tree_[in].kind == NodeKind::name) return true;
  const std::string entering = parse::print(tree_, names_, port.written->in);
  program_.diags.report(tree_[end.written].span, enters_no_variable, path, entering)
      .related(port.written->span, "the port is declared here")
      .hint("give it a name of its own: `power {}: u -> {};` and the equation `{} = u;`", names_.text(end.name),
            parse::print(tree_, names_, port.written->out), entering);
  return false;
}

void Energies::write_join(Pending& pending) {
  parse::Join& join = pending.join;
  Port* ports[] = {find_port(pending.ends[0]), find_port(pending.ends[1])};
  if (!ports[0] || !ports[1]) return;
  for (int i = 0; i < 2; ++i) {
    if (!can_be_joined(pending.ends[i], *ports[i], join.span)) return;
    join.ports[i] = ports[i]->index;
  }
  const std::uint32_t rates[] = {tree_.powers[join.ports[0]].rate, tree_.powers[join.ports[1]].rate};
  check_manner(join, rates[0], rates[1]);
  for (const std::uint32_t port : join.ports) tree_.powers[port].is_sampled = rates[0] != rates[1];
  if (rates[0] != rates[1] && join.manner == parse::JoinManner::plain) {
    const auto hertz = [&](std::uint32_t rate) { return rate == 0 ? 0 : tree_.rates[rate - 1].hertz; };
    join.manner = hertz(rates[0]) == hertz(rates[1]) ? parse::JoinManner::hold : parse::JoinManner::passive;
  }
  const parse::Power first = tree_.powers[join.ports[0]];
  const parse::Power second = tree_.powers[join.ports[1]];
  join.first = expressions_.add_name(names_.text(first.name), tree_[join.first].span);
  join.second = expressions_.add_name(names_.text(second.name), tree_[join.second].span);
  if (first.given.valid() && second.given.valid()) {
    program_.diags.report(join.span, both_guarded, names_.text(first.name), names_.text(second.name))
        .related(ports[0]->guarded, "one is guarded here")
        .related(ports[1]->guarded, "the other one here")
        .hint("guard the end of the part that is not trusted: what leaves it is then what the other one gets");
    return;
  }
  join.equation = static_cast<std::uint32_t>(tree_.equations.size());
  const parse::Child taken{given_by(first)};
  const NodeId given = expressions_.add({.kind = NodeKind::negate, .span = tree_[first.out].span}, {&taken, 1});
  tree_.equations.push_back({join.span, first.in, given_by(second), {}, {}});
  tree_.equations.push_back({join.span, second.in, given, {}, {}});
  tree_.joins.push_back(join);
}

}  // namespace expand
