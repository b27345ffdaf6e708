#include "lsp/walk.h"

namespace lsp {

SymbolId Walk::declare(ScopeId scope, Kind kind) {
  const base::NameId name = name_at(here);
  Mention mention{place(here), name, scope};
  mention.rank = declared;
  auto [found, added] = table.scopes[scope].names.emplace(name, SymbolId(table.symbols.size()));
  if (added) {
    Symbol symbol;
    symbol.kind = kind;
    symbol.name = table.names.text(name);
    symbol.scope = scope;
    symbol.place = symbol.statement = place(here);
    symbol.rank = declared;
    table.symbols.push(std::move(symbol));
  }
  mention.symbol = found->second;
  mentions.push_back(mention);
  ++here;
  return found->second;
}

void Walk::set_statement(SymbolId symbol, std::size_t first) {
  Place& statement = table.symbols[symbol].statement;
  if (place(first).begin > table.symbols[symbol].place.begin) return;
  const std::size_t end = std::max(first, here > 0 ? here - 1 : 0);
  statement = {place(first).begin, std::max(place(end).end, table.symbols[symbol].place.end)};
}

std::size_t Walk::mention(ScopeId scope, Rank rank) {
  Mention made{place(here), name_at(here), scope};
  made.rank = rank;
  made.statement = made.place;
  mentions.push_back(made);
  return mentions.size() - 1;
}

}  // namespace lsp
