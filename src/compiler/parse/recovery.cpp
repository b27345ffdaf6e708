// Tokens ahead, messages with hints, and the way from a mistake to the next place where the text can be understood.
#include <fmt/ranges.h>

#include <algorithm>

#include "base/nearest.h"
#include "compiler/parse/diagnostics.h"
#include "compiler/parse/parser.h"

namespace parse {
namespace {

constexpr std::string_view not_built_yet = "not built yet are `mechanism`, `interact` and `apply`";

// What begins a statement in other languages, and what to do about it here.
enum class Foreign {
  system_section,
  boundary_section,
  parameter_declaration,
  constant_declaration,
  declaration,
  closing,
  heading,
  inclusion,
  extension,
  definition,
  run_length,
  plot,
  assertion,
  loop
};

struct ForeignItem {
  std::string_view word;
  Foreign meaning;
};

constexpr ForeignItem foreign_items[] = {
    {"equation", Foreign::system_section},
    {"equations", Foreign::system_section},
    {"initial", Foreign::boundary_section},
    {"parameters", Foreign::parameter_declaration},
    {"param", Foreign::parameter_declaration},
    {"constants", Foreign::constant_declaration},
    {"const", Foreign::constant_declaration},
    {"var", Foreign::declaration},
    {"let", Foreign::declaration},
    {"variable", Foreign::declaration},
    {"state", Foreign::declaration},
    {"Real", Foreign::declaration},
    {"real", Foreign::declaration},
    {"double", Foreign::declaration},
    {"float", Foreign::declaration},
    {"int", Foreign::declaration},
    {"end", Foreign::closing},
    {"begin", Foreign::closing},
    {"model", Foreign::heading},
    {"class", Foreign::heading},
    {"block", Foreign::heading},
    {"import", Foreign::inclusion},
    {"include", Foreign::inclusion},
    {"extends", Foreign::extension},
    {"def", Foreign::definition},
    {"run", Foreign::run_length},
    {"simulate", Foreign::run_length},
    {"plot", Foreign::plot},
    {"assert", Foreign::assertion},
    {"while", Foreign::loop},
};

}  // namespace

Dialect dialect_of(std::string_view path) {
  if (path.ends_with(".phydl")) return Dialect::phydl;
  if (path.ends_with(".ridl")) return Dialect::ridl;
  return Dialect::tact;
}

Tree parse(const lex::Tokens& tokens, const diag::SourceMap& sources, base::Names& names, diag::Sink& diags,
           Dialect dialect) {
  return Parser(tokens, sources, names, diags, dialect).run();
}

Parser::Parser(lex::Tokens tokens, const diag::SourceMap& sources, base::Names& names, diag::Sink& diags,
               Dialect dialect)
    : tokens_(std::move(tokens)),
      sources_(sources),
      names_(names),
      diags_(diags),
      dialect_(dialect),
      words_(names),
      last_(tokens_.list.size() - 1) {
  body_ = &tree_;
}

bool Parser::accept(TokenKind wanted) {
  if (!at(wanted)) return false;
  ++at_;
  return true;
}

bool Parser::expect(TokenKind wanted) {
  if (accept(wanted)) return true;
  report_expected(lex::describe(wanted));
  return false;
}

Word Parser::word_at(std::size_t index) const {
  const lex::Token& candidate = token(index);
  return candidate.kind == TokenKind::name ? words_.reserved(base::NameId(candidate.value), dialect_) : Word::none;
}

bool Parser::spells(std::string_view wanted, std::size_t ahead) const {
  return kind(ahead) == TokenKind::name && text(at_ + ahead) == wanted;
}

base::Span Parser::span_from(std::size_t first) const {
  if (at_ == 0 || at_ <= first) return span_of(first);
  return {tokens_.file, token(first).begin, token(at_ - 1).end};
}

base::Span Parser::end_of_previous() const {
  const std::uint32_t place = at_ == 0 ? 0 : token(at_ - 1).end;
  return {tokens_.file, place, place};
}

bool Parser::on_new_line(std::size_t index) const {
  if (index == 0) return true;
  const base::Span between{tokens_.file, token(index - 1).end, token(index).begin};
  return sources_.text(between).find('\n') != std::string_view::npos;
}

bool Parser::after_dropped() const {
  const std::uint32_t from = at_ == 0 ? 0 : token(at_ - 1).end;
  const auto first = std::lower_bound(tokens_.dropped.begin(), tokens_.dropped.end(), from);
  return first != tokens_.dropped.end() && *first < token(at_).begin;
}

std::string Parser::found() const {
  switch (kind()) {
    case TokenKind::name:
      return fmt::format("{}`{}`", word() != Word::none ? "the word " : "", text(at_));
    case TokenKind::number:
      return fmt::format("`{}`", text(at_).substr(0, 40));
    default:
      return at_end() && in_hole_ ? "`}`" : std::string(lex::describe(kind()));
  }
}

diag::Sink::Reported Parser::report_expected(std::string_view what) {
  if (after_dropped()) return diag::Sink::Reported(nullptr);
  return diags_.report(missing_place(), expected, what, found());
}

diag::Sink::Reported Parser::report_no_equation() {
  if (after_dropped()) return diag::Sink::Reported(nullptr);
  return diags_.report(missing_place(), no_equation, found());
}

void Parser::report_expected_expression() {
  if (after_dropped()) return;
  diag::Sink::Reported reported = diags_.report(missing_place(), expected_expression, found());
  const TokenKind before = at_ > 0 ? token(at_ - 1).kind : TokenKind::end;
  const TokenKind two_before = at_ > 1 ? token(at_ - 2).kind : TokenKind::end;
  const bool doubled =
      before == two_before && (before == TokenKind::plus || before == TokenKind::minus) && adjacent(at_ - 1);
  const bool arithmetic = before == TokenKind::plus || before == TokenKind::minus || before == TokenKind::star ||
                          before == TokenKind::slash;
  if (doubled)
    reported.hint("there is no `{0}{0}`: an equation says what a name is, not how it changes", text(at_ - 1));
  else if (at(TokenKind::equal) && arithmetic && adjacent(at_))
    reported.hint("there is no `{}=`: an equation says what a name is, not how it changes", text(at_ - 1));
  else if (at(TokenKind::equal) && before == TokenKind::greater)
    reported.hint("at least is `>=`, without a blank");
  else if (at(TokenKind::prime) && kind(1) == TokenKind::name && kind(2) == TokenKind::prime)
    reported.hint("a text stands in double quotes: `\"{}\"`", text(at_ + 1));
  else if (at(TokenKind::prime))
    reported.hint("a prime stands behind what it differentiates: `x'`");
  else if (const std::string meant = matrix_meant(); !meant.empty())
    reported.hint("write `{}`", meant);
  else if (at(TokenKind::left_brace) && at_ > 0 && (word_at(at_ - 1) == Word::then || word_at(at_ - 1) == Word::else_))
    reported.hint("`if` chooses a value, inside one equation: `x' = if x > 1 then 1 else 2;`");
  else if (at(TokenKind::left_bracket) || at(TokenKind::left_brace))
    reported.hint("a vector is written `(a, b)`, a matrix `((a, b), (c, d))`");
  else if (at(TokenKind::dot))
    reported.hint("a number has a digit behind its point: `0.5`");
}

// Fills closing_ and holds_three_. A `;` closes what a statement left open, except the bodies of modules and
// mechanisms, so that one forgotten bracket does not swallow the statements after it. Linear: every token is pushed and
// popped once.
void Parser::match_brackets() {
  struct Open {
    std::size_t index;
    std::uint32_t commas;
    bool body;  // holds statements
  };
  closing_.assign(tokens_.list.size(), 0);
  holds_three_.assign(tokens_.list.size(), false);
  std::vector<Open> stack;
  std::size_t open_counts[3] = {0, 0, 0};
  const auto bracket = [](TokenKind kind) {
    if (kind == TokenKind::left_paren || kind == TokenKind::right_paren) return 0;
    return kind == TokenKind::left_bracket || kind == TokenKind::right_bracket ? 1 : 2;
  };
  const auto pop = [&] {
    --open_counts[bracket(token(stack.back().index).kind)];
    stack.pop_back();
  };
  for (std::size_t i = 0; i < tokens_.list.size(); ++i) {
    switch (const TokenKind kind = tokens_.list[i].kind) {
      case TokenKind::left_paren:
      case TokenKind::left_bracket:
      case TokenKind::left_brace: {
        const bool module = i >= 3 && word_at(i - 3) == Word::module && token(i - 1).kind == TokenKind::equal;
        const bool mechanism = i >= 2 && word_at(i - 2) == Word::mechanism;
        stack.push_back({i, 0, module || mechanism || kind == TokenKind::left_brace || begins_matrix(i)});
        ++open_counts[bracket(kind)];
        break;
      }
      case TokenKind::right_paren:
      case TokenKind::right_bracket:
      case TokenKind::right_brace: {
        if (open_counts[bracket(kind)] == 0) break;
        while (bracket(token(stack.back().index).kind) != bracket(kind)) pop();
        const Open& open = stack.back();
        closing_[open.index] = static_cast<std::uint32_t>(i);
        holds_three_[open.index] = open.commas == 2;
        pop();
        break;
      }
      case TokenKind::comma:
        if (!stack.empty()) ++stack.back().commas;
        break;
      case TokenKind::semicolon:
        while (!stack.empty() && !stack.back().body) pop();
        break;
      default:
        break;
    }
  }
}

// A `[` where no name is indexed, closed on its line: the rows of a MATLAB matrix end with `;`.
bool Parser::begins_matrix(std::size_t index) const {
  if (token(index).kind != TokenKind::left_bracket || index == 0) return false;
  const TokenKind before = token(index - 1).kind;
  if (before == TokenKind::name || before == TokenKind::number || before == TokenKind::prime ||
      before == TokenKind::right_paren || before == TokenKind::right_bracket)
    return false;
  constexpr std::size_t longest = 200;
  for (std::size_t i = index + 1; i < index + longest && i < last_ && !on_new_line(i); ++i)
    if (token(i).kind == TokenKind::right_bracket) return true;
  return false;
}

std::string Parser::matrix_meant() const {
  if (!at(TokenKind::left_bracket) || closing_[at_] == 0) return "";
  std::vector<std::vector<std::string>> rows(1);
  bool open = true;  // the next operand is a new element
  for (std::size_t i = at_ + 1; i < closing_[at_]; ++i) {
    switch (token(i).kind) {
      case TokenKind::number:
      case TokenKind::name:
        if (!open && token(i - 1).kind != TokenKind::minus) open = true;
        if (open)
          rows.back().emplace_back(text(i));
        else
          rows.back().back() += text(i);
        open = false;
        break;
      case TokenKind::minus:
        rows.back().emplace_back("-");
        open = false;
        break;
      case TokenKind::comma:
        open = true;
        break;
      case TokenKind::semicolon:
        rows.emplace_back();
        open = true;
        break;
      default:
        return "";
    }
  }
  std::string out;
  for (const std::vector<std::string>& row : rows) {
    if (row.empty()) return "";
    out += out.empty() ? "" : ", ";
    out += row.size() == 1 && rows.size() > 1 ? row[0] : fmt::format("({})", fmt::join(row, ", "));
  }
  return rows.size() == 1 ? out : "(" + out + ")";
}

void Parser::step() { at_ = closing_[at_] != 0 ? closing_[at_] + 1 : std::min(at_ + 1, last_); }

void Parser::recover() {
  while (!at_end() && !at_item() && !at_body_end()) {
    if (accept(TokenKind::semicolon)) return;
    step();
  }
}

bool Parser::skip_to(TokenKind opener) {
  while (!at_end() && !at(TokenKind::semicolon) && !at_item() && !at_body_end()) {
    if (at(opener)) return true;
    step();
  }
  return false;
}

void Parser::skip_line() {
  while (!at_end() && !at_body_end() && !on_new_line(at_) && !at(TokenKind::semicolon)) ++at_;
  accept(TokenKind::semicolon);
}

void Parser::skip_foreign_block(std::string_view word) {
  constexpr std::size_t longest = 500;  // so that many of them are passed over in linear time
  bool same_line = true;
  for (std::size_t i = at_; i < last_ && i < at_ + longest; ++i) {
    same_line = same_line && (i == at_ || !on_new_line(i));
    if (same_line && token(i).kind == TokenKind::left_brace && closing_[i] != 0) {
      at_ = closing_[i] + 1;
      if (this->word() == Word::else_) skip_foreign_block(word);
      return;
    }
    if (text(i) == "end" && (word.empty() ? text(i + 1) != "for" && text(i + 1) != "if" : text(i + 1) == word)) {
      at_ = i + (word.empty() ? 1 : 2);
      accept(TokenKind::semicolon);
      return;
    }
    const bool section = is_opening(word_at(i)) && on_new_line(i);
    if (section || (body_end_ != 0 && i >= body_end_)) break;
  }
  recover();
}

Word Parser::read_misspelt_word() {
  constexpr std::pair<std::string_view, Word> words[] = {
      {"simulation", Word::simulation}, {"external", Word::external},   {"boundary", Word::boundary},
      {"system", Word::system},         {"reactive", Word::reactive},   {"scene", Word::scene},
      {"check", Word::check},           {"parameter", Word::parameter}, {"constant", Word::constant},
      {"function", Word::function},     {"module", Word::module},       {"event", Word::event}};
  // Two names in a row begin no statement.
  if (!at_name() || kind(1) != TokenKind::name || dialect_ != Dialect::tact) return Word::none;
  std::vector<std::string_view> known;
  for (const auto& [spelling, word] : words) known.push_back(spelling);
  const auto near = base::nearest(text(at_), known);
  if (!near) return Word::none;
  const Word meant = words[std::find(known.begin(), known.end(), *near) - known.begin()].second;
  // A section's name stands before its entries, a declaration's before the name that it declares.
  if (!is_opening(meant) && on_new_line(at_ + 1)) return Word::none;
  diags_.report(here(), foreign_word, text(at_)).hint("write `{}`", *near);
  return meant;
}

// Once a word: a name is written in many places.
void Parser::report_reserved() {
  if (std::find(said_reserved_.begin(), said_reserved_.end(), text(at_)) != said_reserved_.end()) return;
  said_reserved_.push_back(text(at_));
  diags_.report(here(), reserved_word, text(at_)).hint("give the name another letter: `{}_`", text(at_));
}

void Parser::report_not_built(base::Span span, std::string_view what) {
  diag::Sink::Reported reported = diags_.report(span, not_built, what);
  if (!said_what_is_missing_) reported.hint("{}", not_built_yet);
  said_what_is_missing_ = true;
}

void Parser::skip_not_built(Word word) {
  report_not_built(here(), fmt::format("`{}`", text(at_)));
  ++at_;
  if (word != Word::mechanism) return recover();
  if (skip_to(TokenKind::left_paren)) step();
  accept(TokenKind::semicolon);
}

// A statement that begins as in another language, or a declaration of .tact in a .phydl file. False when it is neither;
// true when it was dealt with, perhaps only its first word.
bool Parser::read_foreign_item() {
  if (!at_name()) return false;
  const bool before_name = kind(1) == TokenKind::name;
  if (dialect_ == Dialect::phydl && before_name && !on_new_line(at_ + 1) &&
      words_.spelled(tokens_.name(at_)) > Word::later) {
    diags_.report(here(), tact_word, text(at_))
        .hint("rename the file to .tact, which may hold all that a .phydl file holds");
    recover();
    return true;
  }
  const ForeignItem* foreign = nullptr;
  for (const ForeignItem& candidate : foreign_items)
    if (spells(candidate.word)) foreign = &candidate;
  if (!foreign) return false;
  const bool section = foreign->meaning == Foreign::system_section || foreign->meaning == Foreign::boundary_section;
  const bool length = foreign->meaning == Foreign::run_length && kind(1) == TokenKind::number;
  const bool apart = before_name || length || kind(1) == TokenKind::semicolon || kind(1) == TokenKind::colon ||
                     kind(1) == TokenKind::end || kind(1) == TokenKind::right_brace ||
                     (section && on_new_line(at_ + 1));
  if (!apart) return false;
  if (foreign->meaning == Foreign::closing && said_heading_) {
    ++at_;
    skip_line();
    return true;
  }
  diag::Sink::Reported reported = diags_.report(here(), foreign_word, text(at_));
  const std::size_t first = at_++;
  switch (foreign->meaning) {
    case Foreign::system_section:
      reported.hint("equations stand under `system`");
      accept(TokenKind::colon);
      section_ = Section::system;
      return true;
    case Foreign::boundary_section:
      reported.hint("initial values stand under `boundary`: `x(0) = 1;`");
      if (spells("equation")) ++at_;
      accept(TokenKind::colon);
      section_ = Section::boundary;
      said_initial_ = true;
      return true;
    case Foreign::parameter_declaration:
      reported.hint("write `parameter k = 1;`");
      --at_;
      read_parameters();
      return true;
    case Foreign::constant_declaration:
      reported.hint("write `constant c = 1;`");
      --at_;
      read_constants();
      return true;
    case Foreign::declaration:
      if (kind(1) == TokenKind::equal) {
        reported.hint("names have no type: write `constant {0} = ..;`, or the equation `{0} = ..;` under `system`",
                      text(at_));
        if (section_ == Section::none) section_ = Section::system;
        return true;
      }
      reported.hint(
          "names are not declared: an equation defines them, and a value at the start is `x(0) = 1;` under `boundary`");
      recover();
      return true;
    case Foreign::closing:
      reported.hint("sections and files need no `{}`", text(first));
      if (!accept(TokenKind::semicolon) && at(TokenKind::name) && !on_new_line(at_)) recover();
      return true;
    case Foreign::heading:
      reported.hint("a file is the model; its equations stand under `system`");
      said_heading_ = true;
      if (at(TokenKind::name) && !on_new_line(at_)) ++at_;
      return true;
    case Foreign::inclusion:
      reported.hint("another file's modules and functions are seen after `use \"file.tact\";`");
      skip_line();
      return true;
    case Foreign::extension:
      reported.hint("modules are not extended; they hold instances of others: `p = {}(..);`",
                    at(TokenKind::name) ? text(at_) : "Part");
      skip_line();
      return true;
    case Foreign::definition:
      reported.hint("a function is one expression: `function {}(x) = x^2;`",
                    at(TokenKind::name) ? text(at_) : "square");
      skip_line();
      return true;
    case Foreign::plot:
      reported.hint("under `scene` it is one: `plot x;`; `tactus run FILE --plot x.svg` draws one without it");
      recover();
      return true;
    case Foreign::assertion:
      reported.hint(
          "what must hold stands under `check`: `always(x > 0);`; `require x > 0 else \"why\";` ends the run");
      recover();
      return true;
    case Foreign::loop:
      reported.hint(
          "equations hold at all times: `x' = if x > 0 then -1 else 0;`; what changes in steps is a `transition`");
      recover_jump();
      return true;
    case Foreign::run_length:
      reported.hint("how long a run lasts stands first in the file: `simulation ending_time = 10`");
      recover();
      return true;
  }
  return true;
}

// `der(x)` and `not(x)` are calls in form; they are reported unless the program defines such a function.
void Parser::report_foreign_functions() {
  for (const NodeId call : foreign_calls_) {
    const base::NameId callee = tree_[tree_.child(call, 0)].name;
    const std::string& name = names_.text(callee);
    if (name != "der" && name != "ddt" && name != "not") continue;
    bool defined = false;
    const auto defines = [&](const Body& body) {
      return std::any_of(body.functions.begin(), body.functions.end(),
                         [&](const Function& function) { return function.name == callee; });
    };
    defined = defines(tree_) || std::any_of(tree_.bodies.begin(), tree_.bodies.end(), defines);
    if (defined) continue;
    const std::string argument = print(tree_, names_, tree_.child(call, 1));
    const NodeKind kind = tree_[tree_.child(call, 1)].kind;
    const bool simple =
        kind == NodeKind::name || kind == NodeKind::prime || kind == NodeKind::index || kind == NodeKind::member;
    diag::Sink::Reported reported = diags_.report(tree_[tree_.child(call, 0)].span, foreign_function, name);
    if (name == "not")
      reported.hint("write `!({})`", argument);
    else if (simple)
      reported.hint("a derivative is a prime: `{}'`", argument);
    else
      reported.hint("a derivative is a prime: `({})'`", argument);
  }
}

}  // namespace parse
