// The kind of each name and word, for an editor to colour. Positions are told as differences, as the protocol asks.
#include <array>

#include "lsp/answers.h"
#include "lsp/words.h"

namespace lsp {

using lex::TokenKind;
using parse::Word;

namespace {

constexpr std::array legend = {"keyword", "variable",   "parameter", "function", "class",    "property",
                               "event",   "enumMember", "number",    "string",   "operator", "namespace"};

int colour_of(Kind kind) {
  switch (kind) {
    case Kind::function:
      return 3;
    case Kind::parameter:
    case Kind::argument:
    case Kind::counter:
    case Kind::choice:
    case Kind::unknown:
    case Kind::port:
      return 2;
    case Kind::module:
    case Kind::mechanism:
      return 4;
    case Kind::device:
    case Kind::used_file:
      return 11;
    case Kind::body:
    case Kind::joint:
    case Kind::energy:
    case Kind::power_port:
    case Kind::property:
      return 5;
    case Kind::event:
    case Kind::transition:
    case Kind::sequence:
    case Kind::plan:
      return 6;
    case Kind::mode:
      return 7;
    default:
      return 1;
  }
}

}  // namespace

Json semantic_legend() { return {{"tokenTypes", legend}, {"tokenModifiers", Json::array({"readonly"})}}; }

Json colours(const View& view) {
  Json data = Json::array();
  Position last;
  const auto& list = view.names.tokens.list;
  for (std::size_t i = 0; i < list.size(); ++i) {
    int type = -1, modifiers = 0;
    if (list[i].kind == TokenKind::name) {
      const Occurrence* occurrence = view.names.at(list[i].begin);
      if (occurrence && occurrence->place.begin == list[i].begin) {
        const Kind kind = view.names.symbols[occurrence->symbol].kind;
        type = colour_of(kind);
        modifiers = kind == Kind::constant ? 1 : 0;
      } else if (view.names.words[i] != Word::none || view.names.placed[i]) {
        type = 0;
      } else if (find_function(text_of(view, {list[i].begin, list[i].end})) &&
                 list[i + 1].kind == TokenKind::left_paren) {
        type = 3;
      }
    }
    if (type < 0) continue;
    const Position at = view.text.position_of(list[i].begin, view.client.encoding);
    const std::uint32_t length = length_of(text_of(view, {list[i].begin, list[i].end}), view.client.encoding);
    data.push_back(at.line - last.line);
    data.push_back(at.line == last.line ? at.character - last.character : at.character);
    data.push_back(length);
    data.push_back(type);
    data.push_back(modifiers);
    last = at;
  }
  return {{"data", std::move(data)}};
}

}  // namespace lsp
