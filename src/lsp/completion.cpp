// What may be written at the cursor: names that are seen there, members behind a dot, units behind a number, words and
// functions of the language where they fit. Method: the situation before the cursor chooses the groups; a prefix that
// is being written filters them.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <span>

#include "compiler/parse/places.h"
#include "compiler/parse/words.h"
#include "lsp/answers.h"
#include "lsp/situation.h"
#include "lsp/words.h"

namespace lsp {

using lex::TokenKind;
using parse::Word;

namespace {

// The protocol's numbers.
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

// The instants of a sequence or plan, and the modes of the automaton that it is.
void add_phases(Items& items, const Symbol& symbol) {
  for (std::uint32_t i = 1; i <= symbol.phases; ++i)
    items.add(fmt::format("phase{}", i), item_event, fmt::format("the end of phase {}", i), "", 'a');
  if (symbol.kind == Kind::plan) items.add("failed", item_event, "the search failed", "", 'b');
  items.add("Idle", item_enum_member, "while it does not run", "", 'c');
  if (symbol.kind == Kind::plan)
    items.add("Failed", item_enum_member, "from a search that failed until its guard is false", "", 'c');
  for (std::uint32_t i = 1; i <= symbol.phases; ++i)
    items.add(fmt::format("Phase{}", i), item_enum_member, fmt::format("while phase {} runs", i), "", 'c');
}

void add_members(Items& items, const View& view, SymbolId parent) {
  const Symbol& symbol = view.names.symbols[parent];
  if (const ScopeId members = view.names.members_of(parent); members.valid()) {
    for (const auto& [name, id] : view.names.scopes[members].names)
      add_symbol(items, view.names.symbols[id], nullptr, 'a');
  }
  switch (symbol.kind) {
    case Kind::sequence:
    case Kind::plan:
      return add_phases(items, symbol);
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
    if (now.in_jump) add({"goto", "keep", "enforce", "unknown"});
    add({"reactive", "scene", "check", "parameter", "constant", "function", "automaton", "mechanism", "use", "for"});
    if (now.section == Word::system)
      add({"in", "transition", "sequence", "plan", "energy", "power", "join", "storage", "guard", "interact", "apply",
           "invariant", "require", "expect", "stop"});
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
    case Word::join:
      for (const std::string_view word : parse::places::join) items.add(word, item_keyword, "", "", 'b');
      break;
    default:
      break;
  }
}

}  // namespace

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

  if (before != no_token && names.words[before] == Word::enforce) {
    for (const std::string_view word : {"velocities", "positions"}) items.add(word, item_keyword, "", "", 'a');
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

}  // namespace lsp
