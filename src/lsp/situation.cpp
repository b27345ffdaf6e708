#include "lsp/situation.h"

#include <vector>

#include "compiler/parse/words.h"

namespace lsp {

using lex::TokenKind;
using parse::Word;

namespace {

bool opens_jump(Word statement, bool is_loop) {
  switch (statement) {
    case Word::transition:
    case Word::sequence:
    case Word::plan:
    case Word::until:
    case Word::else_:
      return true;
    case Word::for_:
      return !is_loop;
    default:
      return false;
  }
}

}  // namespace

Situation situation_before(const NameTable& names, std::size_t end) {
  Situation now;
  if (names.dialect == parse::Dialect::ridl) now.section = Word::reactive;
  struct Body {
    Word section;
    bool mechanism;
    bool jump;
  };
  std::vector<Body> bodies;
  const auto& list = names.tokens.list;
  bool fresh = true;
  bool is_loop = false;  // `for i in ..`, not `for T reaching ..`
  for (std::size_t i = 0; i < end; ++i) {
    const Word word = names.words[i];
    const bool opens = parse::is_opening(word) && list[i + 1].kind != TokenKind::equal;
    if (fresh || opens || (parse::begins_item(word) && word != Word::for_ && word != Word::event)) now.statement = word;
    if (fresh && word == Word::for_) is_loop = i + 2 < names.words.size() && names.words[i + 2] == Word::in;
    fresh = false;
    if (opens) {
      now.section = word;
      fresh = word != Word::simulation && word != Word::external;
      continue;
    }
    switch (list[i].kind) {
      case TokenKind::semicolon:
        fresh = true;
        break;
      case TokenKind::left_brace:
        bodies.push_back({now.section, now.in_mechanism, now.in_jump});
        now.in_jump = now.in_jump || opens_jump(now.statement, is_loop);
        fresh = true;
        break;
      case TokenKind::left_paren: {
        const bool module = i >= 3 && names.words[i - 3] == Word::module && list[i - 1].kind == TokenKind::equal;
        const bool mechanism = i >= 2 && names.words[i - 2] == Word::mechanism;
        bodies.push_back({now.section, now.in_mechanism, now.in_jump});
        if (module || mechanism) {
          now.section = Word::none;
          now.in_mechanism = mechanism;
          fresh = true;
        }
        break;
      }
      case TokenKind::right_paren:
      case TokenKind::right_brace:
        if (bodies.empty()) break;
        fresh = list[i].kind == TokenKind::right_brace || now.in_mechanism != bodies.back().mechanism;
        now.section = bodies.back().section;
        now.in_mechanism = bodies.back().mechanism;
        now.in_jump = bodies.back().jump;
        bodies.pop_back();
        break;
      default:
        break;
    }
  }
  now.at_statement_start = fresh;
  return now;
}

bool in_comment_or_string(const View& view, std::uint32_t offset, std::size_t before) {
  const auto& list = view.names.tokens.list;
  const std::size_t next = before == no_token ? 0 : before + 1;
  if (next < list.size() && list[next].kind == TokenKind::string && list[next].begin < offset) return true;
  // A text that is not closed ends with its line.
  if (before != no_token && list[before].kind == TokenKind::string && list[before].end == offset) {
    const std::string_view written = text_of(view, {list[before].begin, list[before].end});
    return written.size() < 2 || written.back() != '"';
  }
  const std::uint32_t from = before == no_token ? 0 : list[before].end;
  const std::uint32_t to = next < list.size() ? list[next].begin : view.text.size();
  for (const Place& comment : comments_between(view, from, to)) {
    const bool block = text_of(view, comment).starts_with("/*");
    if (offset > comment.begin && (block ? offset < comment.end : offset <= comment.end)) return true;
  }
  return false;
}

}  // namespace lsp
