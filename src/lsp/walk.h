// A place in a text, and what was found up to there: scopes and declarations in the table, names that are not resolved
// yet as mentions. The parts of the grammar read tokens through it: expressions, statements, jumps, items.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lsp/names.h"

namespace lsp {

inline constexpr std::size_t no_mention = static_cast<std::size_t>(-1);

// How much an occurrence looks like a definition.
enum Rank : int { mentioned = 1, given_a_start = 2, derivative_defined = 3, defined = 4, declared = 5 };

// A name in the text, not resolved yet.
struct Mention {
  Place place;
  base::NameId name;
  ScopeId scope;
  std::size_t parent = no_mention;  // the mention before the dot
  std::size_t callee = no_mention;  // of a named argument: what is called
  Rank rank = mentioned;
  bool called = false;
  bool own_scope_only = false;  // a mode behind `from`
  SymbolId symbol = {};         // declared, or resolved
  Place statement = {};
};

// `s = Spring(..)` makes an instance.
struct InstanceCall {
  std::size_t target;    // the mention of its name
  std::uint32_t callee;  // where the module's name begins
};

struct Walk {
  Walk(NameTable& the_table, std::string_view the_text)
      : table(the_table), tokens(the_table.tokens), text(the_text), last(the_table.tokens.list.size() - 1) {}

  lex::TokenKind kind(std::size_t ahead = 0) const { return tokens.list[std::min(here + ahead, last)].kind; }
  bool at(lex::TokenKind wanted) const { return kind() == wanted; }
  bool at_end() const { return here >= last; }
  bool accept(lex::TokenKind wanted) {
    if (!at(wanted)) return false;
    ++here;
    return true;
  }
  Place place(std::size_t index) const {
    const lex::Token& token = tokens.list[std::min(index, last)];
    return {token.begin, token.end};
  }
  base::NameId name_at(std::size_t index) const { return base::NameId(tokens.list[std::min(index, last)].value); }
  bool is_name(std::size_t index) const { return index < last && tokens.list[index].kind == lex::TokenKind::name; }
  std::string_view spelled(std::size_t index) const {
    return is_name(index) ? std::string_view(table.names.text(name_at(index))) : std::string_view();
  }
  bool spells(std::string_view word) const { return spelled(here) == word; }
  parse::Word word_at(std::size_t index) const { return index < last ? table.words[index] : parse::Word::none; }
  parse::Word word(std::size_t ahead = 0) const { return word_at(here + ahead); }
  bool at_plain_name(std::size_t ahead = 0) const { return is_name(here + ahead) && word(ahead) == parse::Word::none; }
  // The name ahead is a word here.
  void pass_word() {
    table.placed[here] = true;
    ++here;
  }
  bool on_new_line(std::size_t index) const {
    if (index == 0) return true;
    const std::uint32_t from = tokens.list[index - 1].end;
    return text.substr(from, tokens.list[index].begin - from).find('\n') != std::string_view::npos;
  }

  ScopeId open_scope(ScopeId outer, std::uint32_t begin, bool is_body) {
    return table.scopes.push({outer, is_body, {begin, static_cast<std::uint32_t>(text.size())}, {}, {}});
  }
  void close_scope(ScopeId scope) {
    table.scopes[scope].place.end = at_end() ? static_cast<std::uint32_t>(text.size()) : tokens.list[here].begin;
  }
  ScopeId open_inner(ScopeId outer) { return open_scope(outer, tokens.list[std::min(here, last)].begin, false); }

  // The name ahead becomes a symbol; what is declared twice keeps its first declaration.
  SymbolId declare(ScopeId scope, Kind kind);
  // All of a symbol's definition: from the token `first` up to here.
  void set_statement(SymbolId symbol, std::size_t first);
  // The name ahead, which stays ahead. Its index in `mentions`.
  std::size_t mention(ScopeId scope, Rank rank = mentioned);

  // Statements in statements, at most; deeper ones are passed over.
  static constexpr int max_depth = 256;
  class Level {
   public:
    explicit Level(int& depth) : depth_(depth) { ++depth_; }
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    int& depth_;
  };

  NameTable& table;
  const lex::Tokens& tokens;
  std::string_view text;
  std::size_t last;      // the token that ends the text
  std::size_t here = 0;  // the token ahead
  int depth = 0;
  std::vector<Mention> mentions;
  std::vector<InstanceCall> instances;
};

}  // namespace lsp
