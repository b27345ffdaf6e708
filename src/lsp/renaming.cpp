// A name changed everywhere. A place and the new name in; edits out, or why not: no occurrence may come to mean
// something else, nor may another name's occurrences come to mean this one.
#include <fmt/format.h>

#include <cctype>

#include "compiler/lex/unicode_letters.h"
#include "compiler/parse/words.h"
#include "diag/utf8.h"
#include "lsp/answers.h"
#include "lsp/words.h"

namespace lsp {

using lex::TokenKind;
using parse::Word;

namespace {

bool is_name(std::string_view text) {
  if (text.empty()) return false;
  for (std::size_t at = 0; at < text.size();) {
    const diag::CodePoint point = diag::decode(text, at);
    if (!point.valid) return false;
    const bool letter =
        point.value < 0x80 ? std::isalpha(static_cast<int>(point.value)) != 0 : lex::is_unicode_letter(point.value);
    const bool inside = point.value < 0x80 ? std::isdigit(static_cast<int>(point.value)) != 0 || point.value == '_'
                                           : lex::is_unicode_mark_or_digit(point.value);
    if (!letter && !(inside && at > 0)) return false;
    at += point.length;
  }
  return true;
}

bool is_reserved(const NameTable& names, const std::string& word) {
  base::Names scratch;
  const parse::Words words(scratch);
  return words.reserved(scratch.intern(word), names.dialect) != Word::none;
}

}  // namespace

std::string why_not_renamed(const View& view, std::uint32_t offset) {
  const Occurrence* asked = view.names.at(offset);
  if (asked) {
    const Symbol& symbol = view.names.symbols[asked->symbol];
    if (symbol.file != this_file)
      return fmt::format("`{}` is defined in {}; rename it there", symbol.name, view.names.files[symbol.file].path);
    if (symbol.kind == Kind::device && symbol.name == "ridl") return "`ridl` is the reactive part of the program";
    return "";
  }
  const std::size_t token = view.names.token_at(offset);
  if (token == no_token || view.names.tokens.list[token].kind != TokenKind::name) return "no name stands here";
  const lex::Token& written = view.names.tokens.list[token];
  const std::string name(text_of(view, {written.begin, written.end}));
  if (is_reserved(view.names, name)) return fmt::format("`{}` is a word of the language", name);
  if (find_function(name) || name == "t" || name == "pi") return fmt::format("`{}` belongs to the language", name);
  return fmt::format("`{}` is not a name of this program", name);
}

Json prepare_rename(const View& view, std::uint32_t offset) {
  const Occurrence* asked = view.names.at(offset);
  return {{"range", range_of(view, asked->place)}, {"placeholder", view.names.symbols[asked->symbol].name}};
}

Json rename(const View& view, std::uint32_t offset, const std::string& new_name, std::string& refusal) {
  refusal = why_not_renamed(view, offset);
  if (!refusal.empty()) return nullptr;
  const NameTable& names = view.names;
  const SymbolId id = names.at(offset)->symbol;
  const Symbol& symbol = names.symbols[id];
  if (!is_name(new_name)) {
    refusal = fmt::format("`{}` is not a name: letters, digits and `_`, a letter first", new_name);
  } else if (is_reserved(names, new_name)) {
    refusal = fmt::format("`{}` is a word of the language", new_name);
  } else if (new_name == "t" || new_name == "pi") {
    refusal = fmt::format("`{}` belongs to the language", new_name);
  }
  if (!refusal.empty()) return nullptr;
  // No occurrence may come to mean something else, nor may another's occurrences come to mean this.
  if (const base::NameId taken = names.names.find(new_name); taken.valid() && new_name != symbol.name) {
    for (const Occurrence& occurrence : names.occurrences) {
      const Symbol& other = names.symbols[occurrence.symbol];
      if (occurrence.symbol == id) {
        const SymbolId found = names.find(taken, names.scope_at(occurrence.place.begin));
        if (found.valid())
          refusal = fmt::format("`{}` is already a {} here", new_name, describe(names.symbols[found].kind));
      } else if (other.name == new_name) {
        const SymbolId hides = names.find(names.names.find(symbol.name), names.scope_at(occurrence.place.begin));
        if (hides == id && other.scope != symbol.scope)
          refusal = fmt::format("`{}` is already a {} where `{}` is seen", new_name, describe(other.kind), symbol.name);
        if (other.scope == symbol.scope)
          refusal = fmt::format("`{}` is already a {} here", new_name, describe(other.kind));
      }
      if (!refusal.empty()) return nullptr;
    }
  }
  Json edits = Json::array();
  for (const Occurrence& occurrence : names.occurrences)
    if (occurrence.symbol == id) edits.push_back({{"range", range_of(view, occurrence.place)}, {"newText", new_name}});
  return {{"changes", {{view.uri, std::move(edits)}}}};
}

}  // namespace lsp
