#include "compiler/schemata/instants.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/parse/parse.h"
#include "compiler/schemata/diagnostics.h"

namespace schemata {
namespace {

base::NameId word_unless_function(TreeBuilder& builder, std::string_view word) {
  const base::NameId name = builder.names.intern(word);
  const auto is_it = [&](const parse::Function& function) { return function.name == name; };
  const std::vector<parse::Function>& functions = builder.tree.functions;
  return std::any_of(functions.begin(), functions.end(), is_it) ? base::NameId() : name;
}

std::string instant_name(std::size_t instant) {
  return instant == 0 ? std::string("start") : fmt::format("phase{}", instant);
}

// "`start`, `phase1`"
std::string list_instants(std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += fmt::format("{}`{}`", i == 0 ? "" : ", ", instant_name(i));
  return all;
}

}  // namespace

Instants::Instants(TreeBuilder& builder, base::NameId name, std::size_t count, diag::Sink& diags)
    : builder_(builder),
      name_(name),
      diags_(diags),
      at_(word_unless_function(builder, "at")),
      since_(word_unless_function(builder, "since")),
      sets_(count + 1) {}

NodeId Instants::rewrite(NodeId id, std::size_t happened) {
  if (!id.valid()) return id;
  const parse::Tree& tree = builder_.tree;
  const parse::Node node = tree[id];
  if (node.kind == NodeKind::call && tree[tree.child(id, 0)].kind == NodeKind::name) {
    const base::NameId callee = tree[tree.child(id, 0)].name;
    if (callee == at_ || callee == since_) return look_back(id, callee == at_, happened);
  }
  std::vector<parse::Child> children;
  bool is_changed = false;
  for (std::uint32_t i = 0; i < node.child_count; ++i) {
    const parse::Child child = tree.children[node.first_child + i];
    const NodeId made = rewrite(child.node, happened);
    is_changed = is_changed || made != child.node;
    children.push_back({made, child.op});
  }
  return is_changed ? builder_.add(node, children) : id;
}

void Instants::rewrite(parse::Jump& jump, std::size_t happened) {
  for (parse::JumpUnknown& unknown : jump.unknowns) unknown.guess = rewrite(unknown.guess, happened);
  for (parse::Equation& equation : jump.equations) {
    equation.left = rewrite(equation.left, happened);
    equation.right = rewrite(equation.right, happened);
  }
}

NodeId Instants::look_back(NodeId call, bool is_at, std::size_t happened) {
  const parse::Tree& tree = builder_.tree;
  const base::Span span = tree[call].span;
  const std::string_view word = is_at ? "at" : "since";
  const bool has_arguments = tree[call].child_count == (is_at ? 3u : 2u);
  if (!has_arguments || tree[tree.child(call, 1)].kind != NodeKind::name) {
    diags_.report(span, wrong_arguments, word, is_at ? "an instant and an expression" : "an instant")
        .hint("write `{}`", is_at ? "at(start, x)" : "since(start)");
    return builder_.number(0, span);
  }
  const parse::Node& instant = tree[tree.child(call, 1)];
  const std::string& name = builder_.names.text(instant.name);
  std::size_t index = 0;
  while (index < happened && name != instant_name(index)) ++index;
  if (index == happened) {
    const std::string here = happened == 0 ? fmt::format("`{}` begins", builder_.names.text(name_))
                                           : fmt::format("the end of phase {}", happened);
    auto report = diags_.report(instant.span, no_instant, name, here);
    if (happened == 0)
      report.hint("here nothing has happened yet; {}",
                  is_at ? "write the expression itself" : "a phase can ask how long ago it began");
    else
      report.hint("from here one can look back to {}", list_instants(happened));
    return builder_.number(0, span);
  }
  if (!is_at) return since(index, span);
  return remembered(index, rewrite(tree.child(call, 2), index));
}

NodeId Instants::since(std::size_t instant, base::Span span) {
  const NodeId time = builder_.name(builder_.names.intern("t"), span);
  const NodeId then = remembered(instant, time);
  const parse::Child children[] = {{time, parse::Op::plus}, {then, parse::Op::minus}};
  return builder_.add({.kind = NodeKind::sum, .span = span}, children);
}

NodeId Instants::remembered(std::size_t instant, NodeId value) {
  const base::Span span = builder_.tree[value].span;
  const std::string key = fmt::format("{} {}", instant, parse::print(builder_.tree, builder_.names, value));
  const auto [known, is_new] = memories_.try_emplace(key);
  if (is_new) {
    known->second = builder_.names.intern(fmt::format("{}.at{}", builder_.names.text(name_), memories_.size()));
    builder_.memory(known->second, span);
    sets_[instant].push_back(builder_.set(known->second, value));
  }
  return builder_.name(known->second, span);
}

}  // namespace schemata
