// The outline of a text: its symbols as a tree, and what can be folded.
#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/parse/words.h"
#include "lsp/answers.h"

namespace lsp {

using lex::TokenKind;
using parse::Word;

namespace {

// The protocol's numbers.
enum SymbolKind {
  symbol_module = 2,
  symbol_class = 5,
  symbol_method = 6,
  symbol_property = 7,
  symbol_field = 8,
  symbol_enum = 10,
  symbol_interface = 11,
  symbol_function = 12,
  symbol_variable = 13,
  symbol_constant = 14,
  symbol_object = 19,
  symbol_enum_member = 22,
  symbol_event = 24
};

int symbol_kind(Kind kind) {
  switch (kind) {
    case Kind::module:
      return symbol_class;
    case Kind::mechanism:
      return symbol_object;
    case Kind::function:
      return symbol_function;
    case Kind::constant:
    case Kind::parameter:
      return symbol_constant;
    case Kind::port:
    case Kind::power_port:
      return symbol_interface;
    case Kind::device:
    case Kind::used_file:
      return symbol_module;
    case Kind::automaton:
      return symbol_enum;
    case Kind::mode:
      return symbol_enum_member;
    case Kind::event:
    case Kind::transition:
      return symbol_event;
    case Kind::sequence:
    case Kind::plan:
      return symbol_method;
    case Kind::body:
    case Kind::joint:
      return symbol_field;
    case Kind::energy:
    case Kind::property:
      return symbol_property;
    default:
      return symbol_variable;
  }
}

}  // namespace

Json symbols(const View& view) {
  const NameTable& names = view.names;
  // The symbols of each scope in the order of the text; those of a module below it.
  std::vector<std::vector<SymbolId>> by_scope(names.scopes.size());
  for (std::uint32_t i = 0; i < names.symbols.size(); ++i) {
    const Symbol& symbol = names.symbols[SymbolId(i)];
    const bool local = symbol.kind == Kind::argument || symbol.kind == Kind::counter || symbol.kind == Kind::choice ||
                       symbol.kind == Kind::unknown;
    if (!local && symbol.file == this_file && symbol.rank > 1) by_scope[symbol.scope.value].push_back(SymbolId(i));
  }
  for (auto& list : by_scope)
    std::sort(list.begin(), list.end(),
              [&](SymbolId a, SymbolId b) { return names.symbols[a].place.begin < names.symbols[b].place.begin; });
  const auto make = [&](const auto& self, ScopeId scope, int depth) -> Json {
    Json all = Json::array();
    for (const SymbolId id : by_scope[scope.value]) {
      const Symbol& symbol = names.symbols[id];
      const Place whole{std::min(symbol.statement.begin, symbol.place.begin),
                        std::max(symbol.statement.end, symbol.place.end)};
      const compiler::Fact* fact = fact_of(view, symbol);
      Json one = {{"name", symbol.name}, {"kind", symbol_kind(symbol.kind)}};
      if (view.client.hierarchical_symbols) {
        one["detail"] = fact && !fact->role.empty() ? fact->role : std::string(describe(symbol.kind));
        one["range"] = range_of(view, whole);
        one["selectionRange"] = range_of(view, symbol.place);
        if (symbol.members.valid() && depth < 64) {
          Json children = self(self, symbol.members, depth + 1);
          if (!children.empty()) one["children"] = std::move(children);
        }
      } else {
        one["location"] = location(view.uri, range_of(view, whole));
      }
      all.push_back(std::move(one));
    }
    return all;
  };
  return make(make, ScopeId(0), 0);
}

Json folds(const View& view) {
  const auto& list = view.names.tokens.list;
  struct Open {
    TokenKind kind;
    std::uint32_t line;
  };
  std::vector<Open> brackets;
  std::optional<std::uint32_t> section;
  std::uint32_t last_line = 0;
  Json all = Json::array();
  const auto add = [&](std::uint32_t from, std::uint32_t to, const char* kind) {
    if (to <= from) return;
    Json fold = {{"startLine", from}, {"endLine", to}};
    if (kind) fold["kind"] = kind;
    all.push_back(std::move(fold));
  };
  std::uint32_t from = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    for (const Place& comment : comments_between(view, from, list[i].begin))
      add(view.text.line_of(comment.begin), view.text.line_of(comment.end), "comment");
    from = list[i].end;
    const std::uint32_t line = view.text.line_of(list[i].begin);
    const Word word = view.names.words[i];
    const bool opens = parse::is_opening(word) && list[i + 1].kind != TokenKind::equal && brackets.empty();
    if (opens || list[i].kind == TokenKind::end) {
      if (section) add(*section, last_line, nullptr);
      section = line;
    }
    switch (list[i].kind) {
      case TokenKind::left_brace:
      case TokenKind::left_paren:
        brackets.push_back({list[i].kind, line});
        break;
      case TokenKind::right_brace:
      case TokenKind::right_paren:
        if (brackets.empty()) break;
        // The line of the closing bracket stays in sight.
        if (line > brackets.back().line) add(brackets.back().line, line - 1, nullptr);
        brackets.pop_back();
        break;
      default:
        break;
    }
    last_line = view.text.line_of(list[i].end);
  }
  return all;
}

}  // namespace lsp
