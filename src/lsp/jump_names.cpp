#include "lsp/jump_names.h"

namespace lsp {

using lex::TokenKind;
using parse::Word;

void JumpNames::read_automaton(ScopeId scope) {
  const std::size_t first = walk_.here++;
  if (!walk_.at_plain_name()) return expressions_.scan_rest(scope);
  const SymbolId automaton = walk_.declare(scope, Kind::automaton);
  const ScopeId family = walk_.open_inner(scope);
  expressions_.read_family(family);
  const ScopeId modes = walk_.open_inner({});
  walk_.table.scopes[modes].place = {};
  walk_.table.symbols[automaton].members = modes;
  if (walk_.word() == Word::in) ++walk_.here;
  while (walk_.at_plain_name() && !walk_.spells("from")) {
    const std::size_t mode = walk_.here;
    const SymbolId symbol = walk_.declare(modes, Kind::mode);
    walk_.set_statement(symbol, mode);
    if (!walk_.accept(TokenKind::comma)) break;
  }
  if (walk_.spells("from")) {
    ++walk_.here;
    while (walk_.at_plain_name()) {
      const std::size_t start = walk_.mention(modes);
      walk_.mentions[start].own_scope_only = true;
      ++walk_.here;
      if (walk_.word() == Word::when) {
        ++walk_.here;
        expressions_.scan(family);
      }
      if (!walk_.accept(TokenKind::comma)) break;
    }
  }
  if (!walk_.accept(TokenKind::semicolon)) expressions_.skip_broken(family);
  walk_.close_scope(family);
  walk_.set_statement(automaton, first);
}

void JumpNames::read_jumps(ScopeId scope, Kind kind) {
  const std::size_t first = walk_.here++;
  if (!walk_.at_plain_name()) return expressions_.scan_rest(scope);
  const SymbolId symbol = walk_.declare(scope, kind);
  const ScopeId inner = walk_.open_inner(scope);
  expressions_.read_family(inner);
  while (!walk_.at_end()) {
    if (walk_.accept(TokenKind::left_brace)) {
      read_jump_body(inner);
      const bool phase = walk_.word() == Word::for_ && walk_.word(2) != Word::in;
      if (walk_.word() != Word::until && walk_.word() != Word::else_ && !phase) break;
      if (walk_.word() != Word::else_) ++walk_.table.symbols[symbol].phases;
      ++walk_.here;
    } else if (walk_.word() == Word::choose) {
      ++walk_.here;
      while (walk_.at_plain_name()) {
        walk_.declare(inner, Kind::choice);
        walk_.accept(TokenKind::equal);
        expressions_.scan(inner);
        if (!walk_.accept(TokenKind::comma)) break;
      }
    } else if (walk_.accept(TokenKind::semicolon)) {
      break;
    } else {
      const std::size_t before = walk_.here;
      expressions_.scan(inner);
      if (walk_.here > before || walk_.at(TokenKind::left_brace)) continue;
      const bool between = walk_.word() == Word::in || walk_.word() == Word::when || walk_.word() == Word::reaching ||
                           walk_.word() == Word::until || walk_.at(TokenKind::comma);
      if (!between) break;
      ++walk_.here;
    }
  }
  walk_.close_scope(inner);
  walk_.set_statement(symbol, first);
}

void JumpNames::read_jump_body(ScopeId outer) {
  const Walk::Level level(walk_.depth);
  const ScopeId scope = walk_.open_inner(outer);
  while (!walk_.at_end() && !walk_.at(TokenKind::right_brace) && walk_.depth < Walk::max_depth) {
    const std::size_t before = walk_.here;
    const Word here = walk_.word();
    if (here == Word::unknown) {
      ++walk_.here;
      while (walk_.at_plain_name()) {
        walk_.declare(scope, Kind::unknown);
        if (walk_.accept(TokenKind::tilde)) expressions_.scan(scope);
        if (!walk_.accept(TokenKind::comma)) break;
      }
      walk_.accept(TokenKind::semicolon);
    } else if (here == Word::for_) {
      ++walk_.here;
      const ScopeId loop = walk_.open_inner(scope);
      if (walk_.at_plain_name()) walk_.declare(loop, Kind::counter);
      expressions_.scan(loop);
      if (walk_.accept(TokenKind::dot_dot)) expressions_.scan(loop);
      if (walk_.accept(TokenKind::left_brace)) read_jump_body(loop);
      walk_.close_scope(loop);
    } else if (here == Word::keep || here == Word::enforce) {
      do {
        ++walk_.here;
        if (here == Word::enforce && (walk_.spells("positions") || walk_.spells("velocities"))) ++walk_.here;
      } while (here == Word::enforce && walk_.at(TokenKind::comma));
      expressions_.scan_rest(scope);
    } else if (here == Word::goto_) {
      ++walk_.here;
      expressions_.scan_rest(scope);
    } else if (parse::begins_item(here)) {
      break;  // the brace was not closed
    } else {
      expressions_.scan_rest(scope);
    }
    if (walk_.here == before) ++walk_.here;
  }
  walk_.accept(TokenKind::right_brace);
  walk_.close_scope(scope);
}

}  // namespace lsp
