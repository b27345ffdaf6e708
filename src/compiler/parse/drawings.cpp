// Productions of a scene.
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/nearest.h"
#include "compiler/parse/diagnostics.h"
#include "compiler/parse/parser.h"
#include "compiler/parse/places.h"

namespace parse {

namespace {

template <class Words>
bool is_among(const Words& words, std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

// The parts of a text in braces, without them. `{{` and `}}` are braces. What is not closed goes on to the end.
struct Holes {
  std::vector<std::pair<std::size_t, std::size_t>> list;
  std::size_t unclosed = std::string_view::npos;
  std::string rest;  // the text with numbers in the holes
};

Holes find_holes(std::string_view text) {
  Holes holes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_doubled = i + 1 < text.size() && text[i] == text[i + 1];
    if (text[i] == '}') {
      holes.rest += "}}";
      i += is_doubled ? 1 : 0;
    } else if (text[i] != '{') {
      holes.rest += text[i];
    } else if (is_doubled) {
      holes.rest += "{{";
      ++i;
    } else {
      const std::size_t end = text.find('}', i);
      if (end == std::string_view::npos) {
        holes.unclosed = i;
        break;
      }
      holes.rest += fmt::format("{{{}}}", holes.list.size());
      holes.list.emplace_back(i + 1, end);
      i = end;
    }
  }
  return holes;
}

}  // namespace

bool Parser::at_drawing() const {
  return section_ == Section::scene && at_name() && is_among(places::drawing_kinds, text(at_)) &&
         kind(1) != TokenKind::equal;
}

// An option's word is known by its place: behind an operand or the kind; behind one that takes values first, if an
// operand follows it.
bool Parser::at_option(bool is_first, bool takes_values) const {
  if (!at(TokenKind::name) || !is_among(places::drawing, text(at_))) return false;
  if (!is_first || !takes_values) return true;
  const TokenKind next = kind(1);
  return next == TokenKind::name || next == TokenKind::number || next == TokenKind::string ||
         next == TokenKind::left_paren;
}

// drawing = WORD [ expr {"," expr} ] { option arith } end
void Parser::read_drawing() {
  const std::size_t first = at_;
  Drawing drawing;
  if (!at(TokenKind::name)) {
    if (!after_dropped())
      diags_.report(here(), expected, "a drawing", found()).hint("for example `sphere at p radius 0.1;`");
    return recover();
  }
  drawing.kind = read_name("a drawing");
  drawing.kind_span = span_of(first);
  if (!drawing.kind.valid()) return recover();
  const bool takes_values = text(first) == "trace" || text(first) == "plot";
  const auto ends = [&] { return at(TokenKind::semicolon) || at_end() || at_body_end() || at_item(); };
  if (!ends() && !at_option(true, takes_values)) {
    do {
      const bool is_text = at(TokenKind::string) && text(first) == "text";
      if (is_text) {
        if (!read_text(drawing)) return recover();
        continue;
      }
      drawing.values.push_back(read_expression());
      if (!drawing.values.back().valid()) return recover();
    } while (accept(TokenKind::comma));
  }
  while (at(TokenKind::name) && word() == Word::none && !(on_new_line(at_) && !at_option(false, false))) {
    if (!read_option(drawing)) return recover();
  }
  drawing.span = span_from(first);
  body_->drawings.push_back(std::move(drawing));
  read_end();
}

bool Parser::read_option(Drawing& drawing) {
  const std::size_t first = at_;
  const bool is_known = at_option(false, false);
  if (!is_known) {
    diag::Sink::Reported reported = diags_.report(here(), unknown_option, text(at_));
    const std::vector<std::string_view> known(std::begin(places::drawing), std::end(places::drawing));
    if (text(at_) == "colour")
      reported.hint("write `color`");
    else if (const auto near = base::nearest(text(at_), known))
      reported.hint("did you mean `{}`?", *near);
    else
      reported.hint("what can be said of one is {}", fmt::format("`{}`", fmt::join(known, "`, `")));
  }
  const bool is_given = std::any_of(drawing.options.begin(), drawing.options.end(),
                                    [&](const DrawingOption& option) { return option.name == tokens_.name(first); });
  if (is_given) diags_.report(here(), given_twice, text(at_)).hint("say it once");
  ++at_;
  DrawingOption option{{}, tokens_.name(first), span_of(first), read_arithmetic()};
  if (!option.value.valid()) return false;
  option.span = span_from(first);
  if (is_known) drawing.options.push_back(option);
  return true;
}

// "n = {bounces}": the text with numbers in its holes, then what stands in them. The holes' places are those in the
// file, so they are looked for in what was written; no escape makes a brace.
bool Parser::read_text(Drawing& drawing) {
  const base::Span span = here();
  const Holes written = find_holes(text(at_));
  Node node{NodeKind::string};
  node.span = span;
  node.text = add_text(find_holes(tokens_.strings[token(at_).value]).rest);
  ++at_;
  drawing.values.push_back(add(node));
  const auto place = [&](std::size_t from, std::size_t to) {
    return base::Span{span.file, static_cast<std::uint32_t>(span.begin + from),
                      static_cast<std::uint32_t>(span.begin + to)};
  };
  if (written.unclosed != std::string_view::npos) {
    diags_.report(place(written.unclosed, written.unclosed + 1), unclosed_hole)
        .hint("a value stands in braces, `{{x}}`; a brace itself is `{{{{`");
    return false;
  }
  for (const auto& [from, to] : written.list) {
    const NodeId value = read_hole(place(from, to));
    if (!value.valid()) return false;
    drawing.values.push_back(value);
  }
  return true;
}

NodeId Parser::read_hole(base::Span hole) {
  lex::Tokens tokens = lex::lex(sources_, hole, names_, diags_);
  if (tokens.list.size() == 1) {
    diags_.report({hole.file, hole.begin - 1, hole.end + 1}, expected_expression, "nothing")
        .hint("a value stands in braces, `{{x}}`; a brace itself is `{{{{`");
    return {};
  }
  std::swap(tokens_, tokens);
  const std::size_t outer_at = std::exchange(at_, 0);
  const std::size_t outer_last = std::exchange(last_, tokens_.list.size() - 1);
  const std::size_t outer_end = std::exchange(body_end_, 0);
  std::vector<std::uint32_t> outer_closing = std::exchange(closing_, {});
  std::vector<bool> outer_holds = std::exchange(holds_three_, {});
  in_hole_ = true;
  match_brackets();
  NodeId value = read_expression();
  if (value.valid() && !at_end()) {
    diags_.report(here(), expected, "`}`", found()).hint("one expression stands in the braces of a text");
    value = {};
  }
  in_hole_ = false;
  std::swap(tokens_, tokens);
  at_ = outer_at;
  last_ = outer_last;
  body_end_ = outer_end;
  closing_ = std::move(outer_closing);
  holds_three_ = std::move(outer_holds);
  return value;
}

}  // namespace parse
