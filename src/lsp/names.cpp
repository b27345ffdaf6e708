#include "lsp/names.h"

#include <algorithm>

#include "diag/sink.h"
#include "diag/source_map.h"
#include "lsp/item_names.h"
#include "lsp/resolve_names.h"
#include "lsp/walk.h"

namespace lsp {
namespace {

bool seen_from_a_module(Kind kind) {
  return kind == Kind::constant || kind == Kind::parameter || kind == Kind::function || kind == Kind::module ||
         kind == Kind::used_file;
}

}  // namespace

std::string_view describe(Kind kind) {
  constexpr std::string_view texts[] = {
      "variable",
      "parameter",
      "constant",
      "function",
      "argument",
      "counter",
      "module",
      "port",
      "device",
      "event",
      "behaviour",
      "automaton",
      "mode",
      "transition",
      "sequence",
      "plan",
      "energy",
      "power port",
      "mechanism",
      "body",
      "joint",
      "unknown of a jump",
      "choice of a plan",
      "property",
      "used file",
  };
  return texts[static_cast<std::size_t>(kind)];
}

const Occurrence* NameTable::at(std::uint32_t offset) const {
  auto after =
      std::upper_bound(occurrences.begin(), occurrences.end(), offset,
                       [](std::uint32_t o, const Occurrence& occurrence) { return o < occurrence.place.begin; });
  if (after == occurrences.begin()) return nullptr;
  --after;
  return offset <= after->place.end ? &*after : nullptr;
}

ScopeId NameTable::scope_at(std::uint32_t offset) const {
  // Scopes are opened in the order of the text: the last that holds the place is the innermost.
  for (std::size_t i = scopes.size(); i-- > 0;) {
    const Scope& scope = scopes[ScopeId(i)];
    const bool holds = scope.is_body && i != 0 ? offset > scope.place.begin && offset < scope.place.end
                                               : offset >= scope.place.begin && offset <= scope.place.end;
    if (holds && (scope.outer.valid() || i == 0)) return ScopeId(i);
  }
  return ScopeId(0);
}

SymbolId NameTable::find(base::NameId name, ScopeId from) const {
  bool outside_module = false;
  for (ScopeId at = from; at.valid(); at = scopes[at].outer) {
    const auto found = scopes[at].names.find(name);
    if (found != scopes[at].names.end() && (!outside_module || seen_from_a_module(symbols[found->second].kind)))
      return found->second;
    outside_module = outside_module || (scopes[at].is_body && scopes[at].outer.valid());
  }
  return {};
}

std::vector<SymbolId> NameTable::visible_from(ScopeId from) const {
  std::vector<SymbolId> all;
  for (std::uint32_t i = 0; i < symbols.size(); ++i) {
    const SymbolId id(i);
    const base::NameId name = names.find(symbols[id].name);
    // Only what the chain of scopes holds, and nearer ones hide farther ones.
    bool in_chain = false;
    for (ScopeId at = from; at.valid(); at = scopes[at].outer) in_chain = in_chain || at == symbols[id].scope;
    if (in_chain && name.valid() && find(name, from) == id) all.push_back(id);
  }
  return all;
}

ScopeId NameTable::members_of(SymbolId symbol) const {
  const Symbol& of = symbols[symbol];
  if (of.members.valid()) return of.members;
  return of.instance_of.valid() ? symbols[of.instance_of].members : ScopeId();
}

std::size_t NameTable::token_at(std::uint32_t offset) const {
  auto after = std::upper_bound(tokens.list.begin(), tokens.list.end(), offset,
                                [](std::uint32_t o, const lex::Token& token) { return o < token.begin; });
  if (after == tokens.list.begin()) return no_token;
  --after;
  // A name that ends here, before a sign that begins here, is what is meant.
  if (after->begin == offset && after != tokens.list.begin() && after->kind != lex::TokenKind::name) {
    const auto before = after - 1;
    if (before->end == offset) after = before;
  }
  if (offset > after->end || after->kind == lex::TokenKind::end) return no_token;
  return static_cast<std::size_t>(after - tokens.list.begin());
}

std::size_t NameTable::token_before(std::uint32_t offset) const {
  auto after = std::upper_bound(tokens.list.begin(), tokens.list.end(), offset,
                                [](std::uint32_t o, const lex::Token& token) { return o < token.end; });
  if (after != tokens.list.end() && after->kind == lex::TokenKind::end && after->end <= offset) ++after;
  std::size_t count = static_cast<std::size_t>(after - tokens.list.begin());
  while (count > 0 && (tokens.list[count - 1].kind == lex::TokenKind::end || tokens.list[count - 1].end > offset))
    --count;
  return count == 0 ? no_token : count - 1;
}

std::unique_ptr<NameTable> find_names(const std::string& path, const std::string& text, const ReadFile& read_file) {
  auto table = std::make_unique<NameTable>();
  diag::SourceMap sources;
  diag::Sink diags(1);
  table->dialect = parse::dialect_of(path);
  table->tokens = lex::lex(sources, sources.add(path, text), table->names, diags);
  const parse::Words words(table->names);
  table->words.assign(table->tokens.list.size(), parse::Word::none);
  table->placed.assign(table->tokens.list.size(), false);
  for (std::size_t i = 0; i < table->words.size(); ++i) {
    const bool member = i > 0 && table->tokens.list[i - 1].kind == lex::TokenKind::dot;
    if (table->tokens.list[i].kind == lex::TokenKind::name && !member)
      table->words[i] = words.reserved(table->tokens.name(i), table->dialect);
  }
  Walk walk(*table, text);
  walk_items(walk, read_file);
  resolve_names(*table, walk.mentions, walk.instances);
  return table;
}

}  // namespace lsp
