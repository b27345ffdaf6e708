#include "lsp/statement_names.h"

namespace lsp {

using lex::TokenKind;
using parse::Word;

// [ var "with" ] v(0) = e, ..
void StatementNames::read_conditions(ScopeId scope) {
  const std::size_t first = walk_.here;
  const std::size_t begin = walk_.mentions.size();
  do {
    expressions_.scan(scope, given_a_start);
    if (walk_.word() == Word::with) {
      ++walk_.here;
      expressions_.scan(scope, given_a_start);
    }
    if (walk_.accept(TokenKind::tilde)) expressions_.scan(scope);
  } while (walk_.accept(TokenKind::comma));
  set_statements(begin, first);
  if (!walk_.accept(TokenKind::semicolon)) expressions_.skip_broken(scope);
}

void StatementNames::set_statements(std::size_t begin, std::size_t first) {
  const Place statement{walk_.place(first).begin, walk_.place(walk_.here > first ? walk_.here - 1 : first).end};
  for (std::size_t i = begin; i < walk_.mentions.size(); ++i) walk_.mentions[i].statement = statement;
}

// What stands left of the first `=`: one name, perhaps with primes, or a tuple of names.
Rank StatementNames::rank_of_left_side() const {
  std::size_t i = walk_.here;
  const auto kind_at = [&](std::size_t index) { return walk_.tokens.list[std::min(index, walk_.last)].kind; };
  if (walk_.is_name(i)) {
    ++i;
    const bool primed = kind_at(i) == TokenKind::prime;
    while (kind_at(i) == TokenKind::prime) ++i;
    if (kind_at(i) == TokenKind::left_bracket && walk_.word_at(i + 2) == Word::in) return defined;
    if (kind_at(i) == TokenKind::equal) return primed ? derivative_defined : defined;
  }
  return mentioned;
}

void StatementNames::read_equation(ScopeId scope) {
  const std::size_t first = walk_.here;
  const std::size_t begin = walk_.mentions.size();
  const Rank rank = rank_of_left_side();
  ScopeId inner = scope;
  if (rank == mentioned && walk_.at(TokenKind::left_paren)) read_tuple(scope);
  if (rank == defined && walk_.kind(1) == TokenKind::left_bracket) {
    inner = walk_.open_inner(scope);
    walk_.mention(scope, defined);
    ++walk_.here;
    expressions_.read_family(inner);
  }
  // `s = Spring(..)` makes an instance.
  if (rank == defined) {
    const std::size_t equal = inner == scope ? walk_.here + 1 : walk_.here;
    if (walk_.tokens.list[std::min(equal, walk_.last)].kind == TokenKind::equal && walk_.is_name(equal + 1)) {
      std::size_t behind = equal + 2;
      while (walk_.tokens.list[std::min(behind, walk_.last)].kind == TokenKind::dot) behind += 2;
      if (walk_.tokens.list[std::min(behind, walk_.last)].kind == TokenKind::left_paren)
        walk_.instances.push_back({begin, walk_.place(behind - 1).begin});
    }
  }
  expressions_.scan(inner, rank);
  while (walk_.word() == Word::rate || walk_.word() == Word::when || walk_.word() == Word::every) {
    ++walk_.here;
    expressions_.scan(inner);
  }
  set_statements(begin, first);
  if (inner != scope) walk_.close_scope(inner);
  if (!walk_.accept(TokenKind::semicolon)) expressions_.skip_broken(scope);
}

// ( x, y ) = .. : marks the names; the scan behind reads the equation as any other.
void StatementNames::read_tuple(ScopeId scope) {
  const std::size_t start = walk_.here;
  std::vector<std::size_t> names;
  ++walk_.here;
  while (walk_.at_plain_name()) {
    names.push_back(walk_.here++);
    if (!walk_.accept(TokenKind::comma)) break;
  }
  const bool tuple = walk_.accept(TokenKind::right_paren) && walk_.at(TokenKind::equal);
  if (!tuple) {
    walk_.here = start;
    return;
  }
  const std::size_t behind = walk_.here;
  for (const std::size_t name : names) {
    walk_.here = name;
    walk_.mention(scope, defined);
  }
  walk_.here = behind;
}

void StatementNames::read_behaviour(ScopeId scope) {
  const std::size_t first = walk_.here;
  if (!walk_.at_plain_name() || (walk_.kind(1) != TokenKind::equal && walk_.kind(1) != TokenKind::left_bracket))
    return expressions_.scan_rest(scope);
  const SymbolId behaviour = walk_.declare(scope, Kind::behaviour);
  const ScopeId inner = walk_.open_inner(scope);
  expressions_.read_family(inner);
  walk_.accept(TokenKind::equal);
  if (walk_.word() == Word::init) {
    ++walk_.here;
    if (walk_.at_plain_name() && walk_.kind(1) == TokenKind::equal) {
      walk_.declare(inner, Kind::argument);
      ++walk_.here;
    }
    expressions_.scan(scope);
    if (walk_.word() == Word::in) ++walk_.here;
    if (walk_.accept(TokenKind::left_brace)) {
      while (!walk_.at_end() && !walk_.at(TokenKind::right_brace)) {
        const std::size_t before = walk_.here;
        expressions_.scan(inner);
        walk_.accept(TokenKind::fat_arrow);
        expressions_.scan(inner);
        if (walk_.word() == Word::later) ++walk_.here;
        if (!walk_.accept(TokenKind::comma)) walk_.accept(TokenKind::semicolon);
        if (parse::begins_item(walk_.word()) && walk_.word() != Word::for_) break;
        if (walk_.here == before) ++walk_.here;
      }
      walk_.accept(TokenKind::right_brace);
    }
  } else {
    expressions_.scan(inner);
  }
  walk_.close_scope(inner);
  walk_.set_statement(behaviour, first);
  if (!walk_.accept(TokenKind::comma)) walk_.accept(TokenKind::semicolon);
}

}  // namespace lsp
