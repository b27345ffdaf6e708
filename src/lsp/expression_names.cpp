#include "lsp/expression_names.h"

#include <algorithm>

namespace lsp {

using lex::TokenKind;
using parse::Word;

namespace {

bool is_expression_word(Word word) {
  return word == Word::if_ || word == Word::then || word == Word::else_ || word == Word::in || word == Word::true_ ||
         word == Word::false_;
}

}  // namespace

bool ExpressionNames::behind_operand() const {
  if (walk_.here == 0) return false;
  switch (walk_.tokens.list[walk_.here - 1].kind) {
    case TokenKind::name:
      return walk_.word_at(walk_.here - 1) == Word::none || walk_.word_at(walk_.here - 1) == Word::true_ ||
             walk_.word_at(walk_.here - 1) == Word::false_;
    case TokenKind::number:
    case TokenKind::string:
    case TokenKind::prime:
    case TokenKind::right_paren:
    case TokenKind::right_bracket:
      return true;
    default:
      return false;
  }
}

bool ExpressionNames::at_option() const {
  if (behind_operand() && std::ranges::find(ends_, walk_.spelled(walk_.here)) != ends_.end()) return true;
  return behind_operand() && !(walk_.here > 0 && walk_.here - 1 == last_option_) &&
         parse::is_known_by_place(walk_.spelled(walk_.here), first_word_, around_);
}

void ExpressionNames::scan(ScopeId scope, Rank rank, bool through_equals) {
  std::vector<Frame> frames;
  ScopeId current = scope;
  std::size_t path = no_mention;
  while (!walk_.at_end()) {
    switch (walk_.kind()) {
      case TokenKind::semicolon:
        return leave(frames);
      case TokenKind::left_brace:
      case TokenKind::right_brace:
        return leave(frames);
      case TokenKind::fat_arrow:
      case TokenKind::comma:
      case TokenKind::colon:
        if (frames.empty()) return;
        path = no_mention;
        ++walk_.here;
        break;
      case TokenKind::equal:
        if (frames.empty() && !through_equals) return;
        if (frames.empty()) rank = mentioned;
        path = no_mention;
        ++walk_.here;
        break;
      case TokenKind::left_bracket:
        if (walk_.here > 0 && walk_.tokens.list[walk_.here - 1].kind == TokenKind::number) {
          skip_unit();
          break;
        }
        frames.push_back({TokenKind::left_bracket, current, {}, path, no_mention});
        path = no_mention;
        ++walk_.here;
        break;
      case TokenKind::left_paren: {
        Frame frame{TokenKind::left_paren, current, {}, no_mention, no_mention};
        const bool sum = walk_.spelled(walk_.here - (walk_.here > 0 ? 1 : 0)) == "sum" && walk_.at_plain_name(1) &&
                         walk_.word(2) == Word::in;
        if (path != no_mention) {
          frame.callee = path;
          if (walk_.place(walk_.here - 1).end == walk_.mentions[path].place.end) walk_.mentions[path].called = true;
        }
        ++walk_.here;
        if (sum && frames.size() < Walk::max_depth) {
          frame.inner = walk_.open_inner(current);
          walk_.declare(frame.inner, Kind::counter);
          current = frame.inner;
        }
        frames.push_back(frame);
        path = no_mention;
        break;
      }
      case TokenKind::right_paren:
      case TokenKind::right_bracket: {
        if (frames.empty()) return;
        const Frame frame = frames.back();
        frames.pop_back();
        ++walk_.here;
        if (frame.inner.valid()) walk_.close_scope(frame.inner);
        current = frame.scope;
        path = frame.open == TokenKind::left_bracket ? frame.path : no_mention;
        break;
      }
      case TokenKind::dot:
        ++walk_.here;
        if (!walk_.is_name(walk_.here)) break;
        if (path != no_mention) {
          const std::size_t member = walk_.mention(current);
          walk_.mentions[member].parent = path;
          path = member;
        }
        ++walk_.here;
        break;
      case TokenKind::prime:
        ++walk_.here;
        break;
      case TokenKind::string:
        read_string(current);
        break;
      case TokenKind::name: {
        const Word here = walk_.word();
        if (here != Word::none) {
          if (!is_expression_word(here) && (frames.empty() || parse::begins_item(here))) return leave(frames);
          path = no_mention;
          ++walk_.here;
          break;
        }
        if (frames.empty() && (at_option() || (behind_operand() && walk_.on_new_line(walk_.here)))) return;
        if (is_of_the_language()) {
          path = no_mention;
          ++walk_.here;
          break;
        }
        const bool named = !frames.empty() && frames.back().callee != no_mention && walk_.kind(1) == TokenKind::equal &&
                           (walk_.tokens.list[walk_.here - 1].kind == TokenKind::left_paren ||
                            walk_.tokens.list[walk_.here - 1].kind == TokenKind::comma);
        path = walk_.mention(current, frames.empty() ? rank : mentioned);
        if (named) walk_.mentions[path].callee = frames.back().callee;
        ++walk_.here;
        if (named) ++walk_.here;
        break;
      }
      default:
        path = no_mention;
        ++walk_.here;
    }
  }
  leave(frames);
}

// `always[0..1](..)`, and `start`, `phase1` in `walk_.at(start, e)`, `since(phase1)`.
bool ExpressionNames::is_of_the_language() const {
  const std::string_view name = walk_.spelled(walk_.here);
  if (name == "always" || name == "eventually")
    return walk_.kind(1) == TokenKind::left_paren || walk_.kind(1) == TokenKind::left_bracket;
  const bool moment = name == "start" || (name.starts_with("phase") && name.size() > 5 &&
                                          name.find_first_not_of("0123456789", 5) == std::string_view::npos);
  return moment && walk_.here > 1 && walk_.tokens.list[walk_.here - 1].kind == TokenKind::left_paren &&
         (walk_.spelled(walk_.here - 2) == "at" || walk_.spelled(walk_.here - 2) == "since");
}

void ExpressionNames::leave(const std::vector<Frame>& frames) {
  for (std::size_t k = frames.size(); k-- > 0;)
    if (frames[k].inner.valid()) walk_.close_scope(frames[k].inner);
}

void ExpressionNames::skip_unit() {
  while (!walk_.at_end() && !walk_.at(TokenKind::right_bracket) && !walk_.at(TokenKind::semicolon)) ++walk_.here;
  walk_.accept(TokenKind::right_bracket);
}

// Scenes write values into texts: "n = {bounces + 1}". The names in the braces that are known, but for members.
void ExpressionNames::read_string(ScopeId scope) {
  const Place whole = walk_.place(walk_.here++);
  if (around_ != parse::Surroundings::scene) return;
  const std::string_view content = walk_.text.substr(whole.begin, whole.end - whole.begin);
  constexpr std::string_view between = " \t{}()[],.:+-*/^'<>=!&|\"\\";
  bool is_inside = false;
  for (std::size_t begin = 0; begin < content.size();) {
    if (content.substr(begin, 2) == "{{") {
      begin += 2;
      continue;
    }
    if (content[begin] == '{') is_inside = true;
    if (content[begin] == '}') is_inside = false;
    const std::size_t end = std::min(content.find_first_of(between, begin), content.size());
    const bool is_member = begin > 0 && content[begin - 1] == '.';
    const base::NameId name = is_inside && end > begin && !is_member
                                  ? walk_.table.names.find(content.substr(begin, end - begin))
                                  : base::NameId();
    if (name.valid()) {
      Mention made{{static_cast<std::uint32_t>(whole.begin + begin), static_cast<std::uint32_t>(whole.begin + end)},
                   name,
                   scope};
      made.called = true;  // only if the name is known
      walk_.mentions.push_back(made);
    }
    begin = std::max(end, begin + 1);
  }
}

void ExpressionNames::scan_rest(ScopeId scope) {
  while (!walk_.at_end()) {
    scan(scope);
    if (walk_.at(TokenKind::semicolon) || walk_.at(TokenKind::left_brace) || walk_.at(TokenKind::right_brace) ||
        walk_.at(TokenKind::right_paren) || walk_.at(TokenKind::right_bracket) || walk_.at_end())
      break;
    if (walk_.is_name(walk_.here) && (parse::begins_item(walk_.word()) ||
                                      (walk_.on_new_line(walk_.here) && !at_option() && walk_.word() == Word::none)))
      break;
    if (at_option()) {
      last_option_ = walk_.here;
      walk_.pass_word();
    } else {
      ++walk_.here;
    }
  }
  walk_.accept(TokenKind::semicolon);
}

void ExpressionNames::skip_broken(ScopeId scope) {
  if (!walk_.at_end() &&
      !(walk_.is_name(walk_.here) && (parse::begins_item(walk_.word()) || walk_.on_new_line(walk_.here))))
    scan_rest(scope);
}

void ExpressionNames::read_family(ScopeId inner) {
  if (!walk_.at(TokenKind::left_bracket) || !walk_.is_name(walk_.here + 1) || walk_.word(2) != Word::in) return;
  ++walk_.here;
  walk_.declare(inner, Kind::counter);
  ++walk_.here;
  scan(inner);
  walk_.accept(TokenKind::right_bracket);
}

}  // namespace lsp
