#include "compiler/expand/jumps.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "base/nearest.h"
#include "compiler/expand/members.h"
#include "compiler/expand/numbers.h"
#include "compiler/expand/paths.h"
#include "compiler/parse/parse.h"

namespace expand {

using parse::NodeKind;

parse::Jump Jumps::expand(const parse::Jump& jump, const std::string& name, Scope& scope, const Local* locals) {
  parse::Jump made;
  made.span = jump.span;
  std::unordered_set<NameId> bound;
  std::vector<parse::JumpUnknown> implied;
  collect(jump, bound, implied, scope, locals);
  std::deque<Local> unknowns;
  for (const parse::JumpUnknown& unknown : implied) {
    const NameId full = names_.intern(fmt::format("{}.{}", name, names_.text(unknown.name)));
    unknowns.push_back({unknowns.empty() ? locals : &unknowns.back(), unknown.name, std::nullopt, full});
    made.unknowns.push_back({full, unknown.span});
  }
  write(jump, made, name, "", scope, unknowns.empty() ? locals : &unknowns.back());
  return made;
}

// `turn`: "[2]" in the second turn of a loop, whose unknowns are others than those of the first.
void Jumps::write(const parse::Jump& jump, parse::Jump& made, const std::string& name, const std::string& turn,
                  Scope& scope, const Local* locals) {
  std::deque<Local> unknowns;
  for (const parse::JumpUnknown& unknown : jump.unknowns) {
    const NameId full = names_.intern(fmt::format("{}.{}{}", name, names_.text(unknown.name), turn));
    const auto before = std::find_if(made.unknowns.begin(), made.unknowns.end(),
                                     [&](const parse::JumpUnknown& other) { return other.name == full; });
    if (before != made.unknowns.end()) {
      program_.diags.report(unknown.span, name_taken, names_.text(unknown.name))
          .related(before->span, "declared here before");
      continue;
    }
    made.unknowns.push_back({full, unknown.span, expressions_.expand(unknown.guess, scope, locals)});
    unknowns.push_back({unknowns.empty() ? locals : &unknowns.back(), unknown.name, std::nullopt, full});
  }
  if (!unknowns.empty()) locals = &unknowns.back();
  for (const parse::Goto& item : jump.gotos)
    if (const NodeId target = expand_goto(item, scope, locals); target.valid())
      made.gotos.push_back({item.span, target});
  for (NodeId kept : jump.keeps) made.keeps.push_back(expressions_.expand(kept, scope, locals));
  for (const parse::Equation& item : jump.equations) {
    const NodeId left = expressions_.expand(item.left, scope, locals);
    made.equations.push_back({item.span, left, expressions_.expand(item.right, scope, locals)});
  }
  if (jump.enforce_velocities || jump.enforce_positions) made.enforce_span = jump.enforce_span;
  made.enforce_velocities = made.enforce_velocities || jump.enforce_velocities;
  made.enforce_positions = made.enforce_positions || jump.enforce_positions;
  for (const parse::JumpLoop& loop : jump.loops) {
    repeat(program_, loop.low, loop.high, loop.name, scope, locals, [&](const Local* inner, long long i) {
      write(tree_.jumps[loop.jump], made, name, fmt::format("{}[{}]", turn, i), scope, inner);
    });
  }
}

NodeId Jumps::expand_goto(const parse::Goto& item, Scope& scope, const Local* locals) {
  const base::Span span = tree_[item.target].span;
  const std::string written = parse::print(tree_, names_, item.target);
  if (tree_[item.target].kind == NodeKind::member) {
    bool reported = false;
    const Named named = named_by(program_, tree_.child(item.target, 0), scope, locals, &reported);
    if (reported) return {};
    if (named.entry && named.entry->what == What::automaton) return expressions_.mode_of(item.target, named);
  }
  auto report = program_.diags.report(span, no_automaton, written);
  std::vector<std::string> modes;
  for (const auto& [name, entry] : scope.entries) {
    if (entry.what != What::automaton) continue;
    for (const parse::ModeName& mode : entry.automaton->modes)
      modes.push_back(fmt::format("{}.{}", names_.text(name), names_.text(mode.name)));
  }
  std::sort(modes.begin(), modes.end());
  const auto ending = [&](const std::string& mode) { return mode.ends_with("." + written); };
  const auto meant = std::find_if(modes.begin(), modes.end(), ending);
  const std::size_t dot = written.rfind('.');
  if (modes.empty() && dot != std::string::npos)
    report.hint("declare it: `automaton {} in {}, Other;`", written.substr(0, dot), written.substr(dot + 1));
  else if (modes.empty())
    report.hint("declare it, `automaton a in {0}, Other;`, and write `goto a.{0}`", written);
  else if (meant != modes.end() && std::count_if(modes.begin(), modes.end(), ending) == 1)
    report.hint("write `goto {}`", *meant);
  else if (const auto near = base::nearest(written, std::vector<std::string_view>(modes.begin(), modes.end())))
    report.hint("did you mean `goto {}`?", *near);
  else
    report.hint("`goto` names an automaton and the mode to enter: {}",
                list(std::vector<std::string_view>(modes.begin(), modes.end())));
  return {};
}

// `bound`: what the jump itself binds; gains what is found.
void Jumps::collect(const parse::Jump& jump, std::unordered_set<NameId>& bound, std::vector<parse::JumpUnknown>& found,
                    Scope& scope, const Local* locals) {
  for (const parse::JumpUnknown& unknown : jump.unknowns) bound.insert(unknown.name);
  for (const parse::Equation& item : jump.equations) {
    collect_from(item.left, bound, found, scope, locals);
    collect_from(item.right, bound, found, scope, locals);
  }
  for (const parse::JumpLoop& loop : jump.loops) {
    const bool is_new = bound.insert(loop.name).second;
    collect(tree_.jumps[loop.jump], bound, found, scope, locals);
    if (is_new) bound.erase(loop.name);
  }
}

void Jumps::collect_from(NodeId id, std::unordered_set<NameId>& bound, std::vector<parse::JumpUnknown>& found,
                         Scope& scope, const Local* locals) {
  const parse::Node& node = tree_[id];
  std::uint32_t from = 0;
  switch (node.kind) {
    case NodeKind::name:
      if (!bound.contains(node.name) && !find_local(locals, node.name) && !is_known(node.name, scope)) {
        bound.insert(node.name);
        found.push_back({node.name, node.span});
      }
      return;
    case NodeKind::member:
      return;
    case NodeKind::prime:
      if (tree_[tree_.child(id, 0)].kind == NodeKind::name) return;
      break;
    case NodeKind::call: {
      const parse::Node& callee = tree_[tree_.child(id, 0)];
      const std::string_view name = callee.kind == NodeKind::name ? names_.text(callee.name) : std::string_view();
      const bool is_own = callee.kind == NodeKind::name && !find(scope, callee.name).entry;
      if ((is_own && (name == "next" || name == "since" || name == "table")) || callee.kind == NodeKind::call) return;
      from = is_own && name == "at" ? 2 : 1;
      break;
    }
    case NodeKind::sum_over: {
      const bool is_new = bound.insert(node.name).second;
      for (std::uint32_t i = 0; i < 3; ++i) collect_from(tree_.child(id, i), bound, found, scope, locals);
      if (is_new) bound.erase(node.name);
      return;
    }
    default:
      break;
  }
  for (std::uint32_t i = from; i < node.child_count; ++i) collect_from(tree_.child(id, i), bound, found, scope, locals);
}

bool Jumps::is_known(NameId name, Scope& scope) {
  if (name == program_.time || name == program_.pi || find(scope, name).entry) return true;
  if (expressions_.mentions(*scope.body, name)) return true;
  if (!scope.prefix.empty()) return false;
  return std::any_of(tree_.externals.begin(), tree_.externals.end(), [&](const parse::External& external) {
    const auto is_it = [&](const parse::Access& access) {
      return tree_[access.variable].kind == NodeKind::name && tree_[access.variable].name == name;
    };
    return std::any_of(external.reads.begin(), external.reads.end(), is_it) ||
           std::any_of(external.writes.begin(), external.writes.end(), is_it);
  });
}

}  // namespace expand
