// What a name or a word is, for the small window under the cursor: its kind, what the compiler knows of it, its
// definition; for words of the language their documentation.
#include <fmt/format.h>

#include "diag/utf8.h"
#include "lsp/answers.h"
#include "lsp/words.h"

namespace lsp {

using lex::TokenKind;

namespace {

// Fenced for an editor that shows markdown.
std::string code(const View& view, std::string_view text) {
  return view.client.markdown ? fmt::format("```tactus\n{}\n```", text) : std::string(text);
}

Json hover_text(const View& view, const std::string& text, Place place) {
  return {{"contents", {{"kind", view.client.markdown ? "markdown" : "plaintext"}, {"value", text}}},
          {"range", range_of(view, place)}};
}

// The definition, cut to what a small window holds.
std::string definition_text(const View& view, const Symbol& symbol) {
  if (symbol.file != this_file || symbol.statement.end <= symbol.statement.begin) return "";
  std::string text(text_of(view, symbol.statement));
  constexpr std::size_t most_bytes = 400;
  std::size_t lines = 0, end = 0;
  while (end < text.size() && end < most_bytes && lines < 6) lines += text[end++] == '\n' ? 1 : 0;
  while (end < text.size() && !diag::starts_character(text[end])) ++end;
  if (end < text.size()) text = text.substr(0, end) + " ..";
  if (symbol.kind == Kind::parameter || symbol.kind == Kind::constant)
    text = fmt::format("{} {}", describe(symbol.kind), text);
  return text;
}

std::string word_text(const View& view, const WordDoc& doc) {
  return view.client.markdown ? fmt::format("**{}**: {}", doc.word, doc.doc) : fmt::format("{}: {}", doc.word, doc.doc);
}

}  // namespace

Json hover(const View& view, std::uint32_t offset) {
  if (const Occurrence* occurrence = view.names.at(offset)) {
    const Symbol& symbol = view.names.symbols[occurrence->symbol];
    const compiler::Fact* fact = fact_of(view, symbol);
    std::string head = fmt::format("{} `{}`", describe(symbol.kind), symbol.name);
    if (!symbol.arguments.empty()) head = fmt::format("{} `{}`", describe(symbol.kind), signature(symbol));
    if (symbol.instance_of.valid())
      head += fmt::format(", an instance of `{}`", view.names.symbols[symbol.instance_of].name);
    if (fact && !fact->role.empty() && symbol.kind == Kind::variable)
      head = fmt::format("{} `{}`", fact->role, symbol.name);
    if (fact && !fact->shape.empty()) head += ", " + fact->shape;
    if (fact && !fact->unit.empty()) head += fmt::format(", in {}", fact->unit);
    if (fact && !fact->value.empty()) head += fmt::format(", = {}", fact->value);
    if (const compiler::Fact* inside = fact ? nullptr : fact_of_member(view, symbol)) {
      if (!inside->shape.empty()) head += ", " + inside->shape;
      if (!inside->unit.empty()) head += fmt::format(", in {}", inside->unit);
    }
    if (symbol.file != this_file) head += fmt::format(", of {}", view.names.files[symbol.file].path);
    const std::string shown = definition_text(view, symbol);
    return hover_text(view, shown.empty() ? head : head + "\n\n" + code(view, shown), occurrence->place);
  }
  const std::size_t token = view.names.token_at(offset);
  if (token == no_token || view.names.tokens.list[token].kind != TokenKind::name) return nullptr;
  const lex::Token& written = view.names.tokens.list[token];
  const Place place{written.begin, written.end};
  const std::string_view name = text_of(view, place);
  const bool member = token > 0 && view.names.tokens.list[token - 1].kind == TokenKind::dot;
  if (member) {
    for (const auto& members : {device_members(), body_members(), joint_members(), mechanism_members()})
      for (const WordDoc& doc : members)
        if (doc.word == name) return hover_text(view, word_text(view, doc), place);
    return nullptr;
  }
  const TokenKind next = view.names.tokens.list[token + 1].kind;
  const bool called = next == TokenKind::left_paren || next == TokenKind::left_bracket;
  const FunctionDoc* function = find_function(name);
  if (function && called)
    return hover_text(view, fmt::format("{}\n\n{}", code(view, function->usage), function->doc), place);
  if (const WordDoc* doc = find_word(name)) return hover_text(view, word_text(view, *doc), place);
  for (const auto& words : {all_settings(), all_drawings(), all_parts()})
    for (const WordDoc& doc : words)
      if (doc.word == name) return hover_text(view, word_text(view, doc), place);
  for (const UnitDoc& unit : all_units())
    if (unit.symbol == name && token > 0 && view.names.tokens.list[token - 1].kind != TokenKind::semicolon)
      return hover_text(view, fmt::format("unit {}: {}", unit.symbol, unit.doc), place);
  return nullptr;
}

}  // namespace lsp
