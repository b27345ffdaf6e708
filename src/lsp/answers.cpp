#include "lsp/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "compiler/lex/unicode_letters.h"
#include "compiler/parse/places.h"
#include "compiler/parse/words.h"
#include "diag/utf8.h"
#include "lsp/words.h"

namespace lsp {
namespace {

using lex::TokenKind;
using parse::Word;

// The protocol's numbers.
enum SymbolKind {
  symbol_module = 2,
  symbol_class = 5,
  symbol_method = 6,
  symbol_property = 7,
  symbol_field = 8,
  symbol_enum = 10,
  symbol_interface = 11,
  symbol_function = 12,
  symbol_variable = 13,
  symbol_constant = 14,
  symbol_object = 19,
  symbol_enum_member = 22,
  symbol_event = 24
};
enum CompletionKind {
  item_function = 3,
  item_field = 5,
  item_variable = 6,
  item_module = 9,
  item_property = 10,
  item_unit = 11,
  item_keyword = 14,
  item_enum_member = 20,
  item_constant = 21,
  item_event = 23
};

constexpr std::size_t most_items = 500;

int symbol_kind(Kind kind) {
  switch (kind) {
    case Kind::module:
      return symbol_class;
    case Kind::mechanism:
      return symbol_object;
    case Kind::function:
      return symbol_function;
    case Kind::constant:
    case Kind::parameter:
      return symbol_constant;
    case Kind::port:
    case Kind::power_port:
      return symbol_interface;
    case Kind::device:
    case Kind::used_file:
      return symbol_module;
    case Kind::automaton:
      return symbol_enum;
    case Kind::mode:
      return symbol_enum_member;
    case Kind::event:
    case Kind::transition:
      return symbol_event;
    case Kind::sequence:
    case Kind::plan:
      return symbol_method;
    case Kind::body:
    case Kind::joint:
      return symbol_field;
    case Kind::energy:
    case Kind::property:
      return symbol_property;
    default:
      return symbol_variable;
  }
}

int completion_kind(Kind kind) {
  switch (kind) {
    case Kind::function:
      return item_function;
    case Kind::module:
    case Kind::mechanism:
    case Kind::device:
    case Kind::used_file:
      return item_module;
    case Kind::constant:
    case Kind::parameter:
      return item_constant;
    case Kind::event:
    case Kind::transition:
    case Kind::sequence:
    case Kind::plan:
      return item_event;
    case Kind::mode:
      return item_enum_member;
    case Kind::body:
    case Kind::joint:
    case Kind::port:
    case Kind::power_port:
      return item_field;
    default:
      return item_variable;
  }
}

Json position(const View& view, std::uint32_t offset) {
  const Position at = view.text.position_of(offset, view.client.encoding);
  return {{"line", at.line}, {"character", at.character}};
}

std::string_view text_of(const View& view, Place place) {
  return std::string_view(view.text.content()).substr(place.begin, place.end - place.begin);
}

// Fenced for an editor that shows markdown.
std::string code(const View& view, std::string_view text) {
  return view.client.markdown ? fmt::format("```tactus\n{}\n```", text) : std::string(text);
}

Json hover_text(const View& view, const std::string& text, Place place) {
  return {{"contents", {{"kind", view.client.markdown ? "markdown" : "plaintext"}, {"value", text}}},
          {"range", range_of(view, place)}};
}

// `a.x` for a member of an instance: as the compiler calls it.
const compiler::Fact* fact_of(const View& view, const Symbol& symbol) {
  if (!view.facts || symbol.scope != ScopeId(0) || symbol.file != this_file) return nullptr;
  return view.facts->find(symbol.name);
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

// -- completion

struct Items {
  const View& view;
  std::string prefix;
  Json list = Json::array();
  std::set<std::string, std::less<>> labels = {};
  bool complete = true;

  bool fits(std::string_view label) const {
    return label.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), label.begin(), [](char a, char b) {
             return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
           });
  }
  // `order` sorts groups: names of the program before those of the language.
  void add(std::string_view label, int kind, std::string_view detail, std::string_view doc, char order,
           const std::string& snippet = "") {
    if (!fits(label)) return;
    if (list.size() >= most_items) {
      complete = false;
      return;
    }
    if (!labels.emplace(label).second) return;
    Json item = {{"label", label}, {"kind", kind}, {"sortText", fmt::format("{}{}", order, label)}};
    if (!detail.empty()) item["detail"] = detail;
    if (!doc.empty()) item["documentation"] = doc;
    if (!snippet.empty() && view.client.snippets) {
      item["insertText"] = snippet;
      item["insertTextFormat"] = 2;
    }
    list.push_back(std::move(item));
  }
  Json take() { return {{"isIncomplete", !complete}, {"items", std::move(list)}}; }
};

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '$' || c == '}' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// "clamp(x, low, high)" -> "clamp(${1:x}, ${2:low}, ${3:high})"
std::string snippet_of(std::string_view usage) {
  const std::size_t open = usage.find_first_of("([");
  if (open == std::string_view::npos) return "";
  std::string out, argument;
  int count = 0;
  const auto flush = [&] {
    if (!argument.empty()) out += fmt::format("${{{}:{}}}", ++count, escaped(argument));
    argument.clear();
  };
  out = usage.substr(0, open);
  for (std::size_t i = open; i < usage.size(); ++i) {
    const char c = usage[i];
    const bool separates = c == '(' || c == ')' || c == '[' || c == ']' || c == ',' || c == ':';
    const bool range = usage.substr(i, 2) == "..";
    if (!separates && !range) {
      if (c != ' ' || !argument.empty()) argument += c;
      continue;
    }
    flush();
    out += range ? ".." : std::string(1, c);
    if (range) ++i;
    if (c == ',' || c == ':') out += ' ';
  }
  flush();
  return out + "$0";
}

std::string call_snippet(const Symbol& symbol) {
  std::string out = symbol.name + "(";
  int count = 0;
  for (const std::string& argument : symbol.arguments) {
    if (argument.ends_with(" = ..")) continue;  // a module's parameter has a value already
    out += fmt::format("{}${{{}:{}}}", count == 0 ? "" : ", ", count + 1, escaped(argument));
    ++count;
  }
  return out + ")$0";
}

std::string signature(const Symbol& symbol) {
  std::string all;
  for (const std::string& argument : symbol.arguments) all += (all.empty() ? "" : ", ") + argument;
  return fmt::format("{}({})", symbol.name, all);
}

void add_symbol(Items& items, const Symbol& symbol, const compiler::Fact* fact, char order) {
  std::string detail(describe(symbol.kind));
  if (fact && !fact->role.empty()) {
    detail = fact->role;
    if (!fact->shape.empty()) detail += ", " + fact->shape;
    if (!fact->value.empty()) detail += ", " + fact->value;
  }
  const bool called = symbol.kind == Kind::function || symbol.kind == Kind::module;
  if (called) detail = fmt::format("{} {}", describe(symbol.kind), signature(symbol));
  items.add(symbol.name, completion_kind(symbol.kind), detail, "", order, called ? call_snippet(symbol) : "");
}

void add_words(Items& items, std::span<const WordDoc> words, int kind, char order) {
  for (const WordDoc& word : words) items.add(word.word, kind, "", word.doc, order);
}

void add_members(Items& items, const View& view, SymbolId parent) {
  const Symbol& symbol = view.names.symbols[parent];
  if (const ScopeId members = view.names.members_of(parent); members.valid()) {
    for (const auto& [name, id] : view.names.scopes[members].names)
      add_symbol(items, view.names.symbols[id], nullptr, 'a');
  }
  switch (symbol.kind) {
    case Kind::device:
      return add_words(items, device_members(), item_property, 'b');
    case Kind::mechanism:
      return add_words(items, mechanism_members(), item_property, 'b');
    case Kind::body:
      return add_words(items, body_members(), item_property, 'b');
    case Kind::joint:
      return add_words(items, joint_members(), item_property, 'b');
    default:
      return;
  }
}

// Where the cursor stands: the section that is open, the statement's first token, brackets in between.
struct Situation {
  Word section = Word::none;
  Word statement = Word::none;  // its first word
  bool at_statement_start = true;
  bool in_mechanism = false;
};

Situation situation_before(const NameTable& names, std::size_t end) {
  Situation now;
  if (names.dialect == parse::Dialect::ridl) now.section = Word::reactive;
  struct Body {
    Word section;
    bool mechanism;
  };
  std::vector<Body> bodies;
  const auto& list = names.tokens.list;
  bool fresh = true;
  for (std::size_t i = 0; i < end; ++i) {
    const Word word = names.words[i];
    const bool opens = parse::is_opening(word) && list[i + 1].kind != TokenKind::equal;
    if (fresh || opens || (parse::begins_item(word) && word != Word::for_ && word != Word::event)) now.statement = word;
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
        bodies.push_back({now.section, now.in_mechanism});
        fresh = true;
        break;
      case TokenKind::left_paren: {
        const bool module = i >= 3 && names.words[i - 3] == Word::module && list[i - 1].kind == TokenKind::equal;
        const bool mechanism = i >= 2 && names.words[i - 2] == Word::mechanism;
        bodies.push_back({now.section, now.in_mechanism});
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
        bodies.pop_back();
        break;
      default:
        break;
    }
  }
  now.at_statement_start = fresh;
  return now;
}

// Between two tokens.
std::vector<Place> comments_between(const View& view, std::uint32_t from, std::uint32_t to) {
  std::vector<Place> all;
  const std::string_view content = view.text.content();
  while (from < to) {
    const std::string_view rest = content.substr(from, to - from);
    std::size_t length = 1;
    if (rest.starts_with("//")) length = std::min(rest.find('\n'), rest.size());
    if (rest.starts_with("/*")) length = std::min(rest.find("*/", 2), rest.size() - 2) + 2;
    const auto end = static_cast<std::uint32_t>(from + length);
    if (rest.starts_with("//") || rest.starts_with("/*")) all.push_back({from, end});
    from = end;
  }
  return all;
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

bool is_operand_end(TokenKind kind) {
  return kind == TokenKind::name || kind == TokenKind::number || kind == TokenKind::prime ||
         kind == TokenKind::right_paren || kind == TokenKind::right_bracket;
}

void add_keywords(Items& items, const View& view, const Situation& now, bool behind_operand) {
  const auto add = [&](std::initializer_list<std::string_view> wanted) {
    for (const std::string_view word : wanted)
      if (const WordDoc* doc = find_word(word)) items.add(word, item_keyword, "", doc->doc, 'd');
  };
  const bool tact = view.names.dialect == parse::Dialect::tact;
  if (now.at_statement_start && now.in_mechanism) return add_words(items, all_parts(), item_keyword, 'b');
  if (now.at_statement_start) {
    if (view.names.dialect == parse::Dialect::ridl) return;
    add({"simulation", "external", "boundary", "system", "module", "event"});
    if (!tact) return;
    add({"reactive", "scene", "check", "parameter", "constant", "function", "automaton", "mechanism", "use", "for"});
    if (now.section == Word::system)
      add({"in", "transition", "sequence", "plan", "energy", "power", "join", "interact", "apply", "invariant",
           "require", "expect", "stop"});
    if (now.section == Word::scene) add_words(items, all_drawings(), item_keyword, 'b');
    return;
  }
  if (now.statement == Word::simulation) return add_words(items, all_settings(), item_property, 'a');
  if (now.statement == Word::external) return add({"reads", "writes", "observes", "event", "rate", "every", "when"});
  if (behind_operand && now.statement == Word::none && (now.section == Word::scene || now.in_mechanism)) {
    for (const std::string_view word : parse::places::drawing)
      if (now.section == Word::scene) items.add(word, item_keyword, "", "", 'b');
    for (const std::string_view word : parse::places::part)
      if (now.in_mechanism) items.add(word, item_keyword, "", "", 'b');
    return;
  }
  if (behind_operand && now.section == Word::boundary) add({"with"});
  add({"if", "then", "else", "in"});
  if (tact) add({"true", "false"});
  if (now.section == Word::reactive || view.names.dialect == parse::Dialect::ridl) add({"init", "later"});
  switch (now.statement) {
    case Word::transition:
    case Word::sequence:
    case Word::plan:
      add({"when", "until", "choose", "for", "reaching", "goto", "keep", "enforce", "unknown"});
      break;
    case Word::event:
      add({"every", "when"});
      items.add("at", item_keyword, "", "", 'd');
      break;
    case Word::stop:
      add({"when"});
      break;
    case Word::interact:
      for (const std::string_view word : parse::places::interact) items.add(word, item_keyword, "", "", 'b');
      break;
    default:
      break;
  }
}

// -- renaming

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

Json location(const std::string& uri, const Json& range) { return {{"uri", uri}, {"range", range}}; }

std::string uri_of_path(const std::string& path) {
  std::string out = "file://";
  for (const char c : path) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) || std::string_view("/-._~").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

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

Json range_of(const View& view, Place place) {
  return {{"start", position(view, place.begin)}, {"end", position(view, place.end)}};
}

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

Json completion(const View& view, std::uint32_t offset) {
  const NameTable& names = view.names;
  const auto& list = names.tokens.list;
  std::size_t before = names.token_before(offset);
  // A word that is being written.
  Items items{view, {}};
  const std::size_t touched = names.token_at(offset);
  std::size_t end = before == no_token ? 0 : before + 1;
  if (touched != no_token && list[touched].kind == TokenKind::name && list[touched].begin < offset) {
    items.prefix = text_of(view, {list[touched].begin, offset});
    end = touched;
    before = touched == 0 ? no_token : touched - 1;
  } else if (in_comment_or_string(view, offset, before)) {
    return items.take();
  }
  const TokenKind left = before == no_token ? TokenKind::end : list[before].kind;

  // A unit: a bracket behind a number that is open here.
  for (std::size_t i = end; i-- > 0;) {
    const TokenKind kind = list[i].kind;
    if (kind == TokenKind::left_bracket) {
      if (i == 0 || list[i - 1].kind != TokenKind::number) break;
      for (const UnitDoc& unit : all_units()) items.add(unit.symbol, item_unit, "", unit.doc, 'a');
      return items.take();
    }
    const bool of_unit = kind == TokenKind::name || kind == TokenKind::star || kind == TokenKind::slash ||
                         kind == TokenKind::caret || kind == TokenKind::number || kind == TokenKind::minus ||
                         kind == TokenKind::left_paren || kind == TokenKind::right_paren;
    if (!of_unit || end - i > 40) break;
  }

  if (left == TokenKind::dot && before > 0) {
    // Behind `a[i].b.`: the occurrence before the dot, past an index.
    std::size_t base = before - 1;
    if (list[base].kind == TokenKind::right_bracket) {
      int depth = 0;
      while (base > 0) {
        if (list[base].kind == TokenKind::right_bracket) ++depth;
        if (list[base].kind == TokenKind::left_bracket && --depth == 0) break;
        --base;
      }
      if (base > 0) --base;
    }
    const Occurrence* parent = names.at(list[base].begin);
    if (parent) add_members(items, view, parent->symbol);
    return items.take();
  }

  const Situation now = situation_before(names, end);
  if (now.statement == Word::simulation && left == TokenKind::equal) {
    for (const std::string_view solver : all_solvers()) items.add(solver, item_constant, "solver", "", 'a');
    return items.take();
  }
  const bool behind_operand = is_operand_end(left) && !now.at_statement_start;
  if (now.statement != Word::simulation) {
    const ScopeId scope = names.scope_at(offset);
    for (const SymbolId id : names.visible_from(scope)) {
      const Symbol& symbol = names.symbols[id];
      if (symbol.kind == Kind::property) continue;
      // The word that is being written is no name yet.
      if (symbol.kind == Kind::variable && symbol.rank == 1 && symbol.name == items.prefix) continue;
      add_symbol(items, symbol, fact_of(view, symbol), 'a');
    }
  }
  add_keywords(items, view, now, behind_operand);
  const bool expression = now.statement != Word::simulation && !(now.at_statement_start && now.section != Word::system);
  if (expression) {
    for (const FunctionDoc& function : all_functions())
      items.add(function.name, item_function, function.usage, function.doc, 'c', snippet_of(function.usage));
    for (const std::string_view name : {"t", "pi"}) items.add(name, item_constant, "", find_word(name)->doc, 'c');
  }
  return items.take();
}

Json definition(const View& view, std::uint32_t offset) {
  const Occurrence* occurrence = view.names.at(offset);
  if (!occurrence) return nullptr;
  const Symbol& symbol = view.names.symbols[occurrence->symbol];
  if (symbol.file != this_file) {
    const OtherFile& other = view.names.files[symbol.file];
    const Text text(other.text);
    const std::string uri = uri_of_path(other.path);
    return location(uri, range_of({uri, text, view.names, nullptr, view.client}, symbol.place));
  }
  return location(view.uri, range_of(view, symbol.place));
}

Json references(const View& view, std::uint32_t offset, bool with_declaration) {
  const Occurrence* asked = view.names.at(offset);
  if (!asked) return Json::array();
  const Symbol& symbol = view.names.symbols[asked->symbol];
  Json all = Json::array();
  for (const Occurrence& occurrence : view.names.occurrences) {
    if (occurrence.symbol != asked->symbol) continue;
    const bool declaration = symbol.file == this_file && occurrence.place.begin == symbol.place.begin;
    if (declaration && !with_declaration) continue;
    all.push_back(location(view.uri, range_of(view, occurrence.place)));
  }
  return all;
}

Json highlights(const View& view, std::uint32_t offset) {
  const Occurrence* asked = view.names.at(offset);
  if (!asked) return nullptr;
  Json all = Json::array();
  for (const Occurrence& occurrence : view.names.occurrences)
    if (occurrence.symbol == asked->symbol) all.push_back({{"range", range_of(view, occurrence.place)}, {"kind", 1}});
  return all;
}

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

Json symbols(const View& view) {
  const NameTable& names = view.names;
  // The symbols of each scope in the order of the text; those of a module below it.
  std::vector<std::vector<SymbolId>> by_scope(names.scopes.size());
  for (std::uint32_t i = 0; i < names.symbols.size(); ++i) {
    const Symbol& symbol = names.symbols[SymbolId(i)];
    const bool local = symbol.kind == Kind::argument || symbol.kind == Kind::counter || symbol.kind == Kind::choice ||
                       symbol.kind == Kind::unknown;
    if (!local && symbol.file == this_file && symbol.rank > 1) by_scope[symbol.scope.value].push_back(SymbolId(i));
  }
  for (auto& list : by_scope)
    std::sort(list.begin(), list.end(),
              [&](SymbolId a, SymbolId b) { return names.symbols[a].place.begin < names.symbols[b].place.begin; });
  const auto make = [&](const auto& self, ScopeId scope, int depth) -> Json {
    Json all = Json::array();
    for (const SymbolId id : by_scope[scope.value]) {
      const Symbol& symbol = names.symbols[id];
      const Place whole{std::min(symbol.statement.begin, symbol.place.begin),
                        std::max(symbol.statement.end, symbol.place.end)};
      const compiler::Fact* fact = fact_of(view, symbol);
      Json one = {{"name", symbol.name}, {"kind", symbol_kind(symbol.kind)}};
      if (view.client.hierarchical_symbols) {
        one["detail"] = fact && !fact->role.empty() ? fact->role : std::string(describe(symbol.kind));
        one["range"] = range_of(view, whole);
        one["selectionRange"] = range_of(view, symbol.place);
        if (symbol.members.valid() && depth < 64) {
          Json children = self(self, symbol.members, depth + 1);
          if (!children.empty()) one["children"] = std::move(children);
        }
      } else {
        one["location"] = location(view.uri, range_of(view, whole));
      }
      all.push_back(std::move(one));
    }
    return all;
  };
  return make(make, ScopeId(0), 0);
}

Json folds(const View& view) {
  const auto& list = view.names.tokens.list;
  struct Open {
    TokenKind kind;
    std::uint32_t line;
  };
  std::vector<Open> brackets;
  std::optional<std::uint32_t> section;
  std::uint32_t last_line = 0;
  Json all = Json::array();
  const auto add = [&](std::uint32_t from, std::uint32_t to, const char* kind) {
    if (to <= from) return;
    Json fold = {{"startLine", from}, {"endLine", to}};
    if (kind) fold["kind"] = kind;
    all.push_back(std::move(fold));
  };
  std::uint32_t from = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    for (const Place& comment : comments_between(view, from, list[i].begin))
      add(view.text.line_of(comment.begin), view.text.line_of(comment.end), "comment");
    from = list[i].end;
    const std::uint32_t line = view.text.line_of(list[i].begin);
    const Word word = view.names.words[i];
    const bool opens = parse::is_opening(word) && list[i + 1].kind != TokenKind::equal && brackets.empty();
    if (opens || list[i].kind == TokenKind::end) {
      if (section) add(*section, last_line, nullptr);
      section = line;
    }
    switch (list[i].kind) {
      case TokenKind::left_brace:
      case TokenKind::left_paren:
        brackets.push_back({list[i].kind, line});
        break;
      case TokenKind::right_brace:
      case TokenKind::right_paren:
        if (brackets.empty()) break;
        // The line of the closing bracket stays in sight.
        if (line > brackets.back().line) add(brackets.back().line, line - 1, nullptr);
        brackets.pop_back();
        break;
      default:
        break;
    }
    last_line = view.text.line_of(list[i].end);
  }
  return all;
}

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
      } else if (view.names.words[i] != Word::none) {
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

Json edits_to(const View& view, const std::string& formatted) {
  const std::string& content = view.text.content();
  if (content == formatted) return Json::array();
  const Text after(formatted);
  const std::uint32_t lines = view.text.line_count(), new_lines = after.line_count();
  const auto full_line = [](const Text& text, std::uint32_t line) {
    const std::uint32_t begin = text.line_start(line);
    const std::uint32_t end = line + 1 < text.line_count() ? text.line_start(line + 1) : text.size();
    return std::string_view(text.content()).substr(begin, end - begin);
  };
  std::uint32_t same = 0;
  while (same < lines && same < new_lines && full_line(view.text, same) == full_line(after, same)) ++same;
  std::uint32_t same_end = 0;
  while (same_end < lines - same && same_end < new_lines - same &&
         full_line(view.text, lines - 1 - same_end) == full_line(after, new_lines - 1 - same_end))
    ++same_end;
  const auto start_of = [](const Text& text, std::uint32_t line) {
    return line < text.line_count() ? text.line_start(line) : text.size();
  };
  const Place replaced{start_of(view.text, same), start_of(view.text, lines - same_end)};
  const std::uint32_t new_begin = start_of(after, same), new_end = start_of(after, new_lines - same_end);
  return Json::array(
      {{{"range", range_of(view, replaced)}, {"newText", formatted.substr(new_begin, new_end - new_begin)}}});
}

}  // namespace lsp
