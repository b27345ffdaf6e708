// Productions of sections, declarations and their entries.
#include <utility>

#include "compiler/parse/diagnostics.h"
#include "compiler/parse/parser.h"

namespace parse {

Tree Parser::run() {
  if (dialect_ == Dialect::ridl) {
    if (!at_end()) report_not_built(here(), "a .ridl file");
    return std::move(tree_);
  }
  match_brackets();
  while (!at_end()) {
    const std::size_t before = at_;
    read_item();
    if (at_ == before) ++at_;
  }
  report_foreign_functions();
  return std::move(tree_);
}

// item = opening | declaration | entry
void Parser::read_item() {
  switch (kind()) {
    case TokenKind::semicolon:
      diags_.report(here(), empty_statement).hint("remove it");
      ++at_;
      return;
    case TokenKind::right_paren:
    case TokenKind::right_bracket:
    case TokenKind::right_brace:
      diags_.report(here(), unmatched_bracket, lex::describe(kind())).hint("remove it, or open it before");
      ++at_;
      accept(TokenKind::semicolon);
      return;
    default:
      break;
  }
  if (section_ == Section::skipped && !at_item()) return read_entry();
  const bool declares = word() == Word::parameter || word() == Word::constant || word() == Word::function;
  const bool used_as_name = !declares && (kind(1) == TokenKind::equal || kind(1) == TokenKind::prime);
  if (word() != Word::none && !used_as_name)
    read_declaration(word());
  else if (!read_foreign_item())
    read_entry();
}

void Parser::read_declaration(Word word) {
  switch (word) {
    case Word::simulation:
      return read_simulation();
    case Word::external:
      return read_external();
    case Word::boundary:
      return open_section(Section::boundary);
    case Word::system:
      return open_section(Section::system);
    case Word::reactive:
      return skip_section("reactive", false);
    case Word::scene:
      return skip_section("scene", true);
    case Word::check:
      return skip_section("check", true);
    case Word::parameter:
      return read_parameters();
    case Word::constant:
      return read_constants();
    case Word::function:
      return read_function();
    case Word::if_:
    case Word::true_:
    case Word::false_:
      return read_entry();
    case Word::for_:
    case Word::in:
      if (section_ == Section::skipped) return read_entry();
      return skip_not_built(word);
    case Word::module:
    case Word::event:
    case Word::automaton:
    case Word::transition:
    case Word::sequence:
    case Word::plan:
    case Word::energy:
    case Word::mechanism:
    case Word::use:
    case Word::require:
    case Word::expect:
    case Word::stop:
    case Word::join:
    case Word::interact:
    case Word::apply:
    case Word::invariant:
    case Word::rate:
    case Word::every:
      return skip_not_built(word);
    case Word::reads:
    case Word::writes:
    case Word::observes: {
      const std::string_view name = text(at_);
      report_expected("a statement").hint("`{}` belongs behind `external NAME`, without a `;` before it", name);
      ++at_;
      return recover();
    }
    default:
      report_expected("a statement");
      ++at_;
      return recover();
  }
}

void Parser::open_section(Section section) {
  ++at_;
  section_ = section;
}

// A section that this version does not know. The words that begin declarations count in it as everywhere; all else is
// passed over. `harmless`: the model means the same without it.
void Parser::skip_section(std::string_view name, bool harmless) {
  if (harmless)
    diags_.report(here(), section_skipped, name).hint("the model is simulated without it");
  else
    report_not_built(here(), fmt::format("a `{}` section", name));
  ++at_;
  section_ = Section::skipped;
}

void Parser::read_entry() {
  if (section_ == Section::none) {
    section_ = section_of_entry();
    const bool condition = section_ == Section::boundary;
    diags_.report(here(), no_section, condition ? "a condition" : "an equation", condition ? "boundary" : "system")
        .hint("write `{}` on the line before", condition ? "boundary" : "system");
  }
  switch (section_) {
    case Section::boundary:
      return read_conditions();
    case Section::system:
      return read_equation();
    default:
      do step();
      while (!at_end() && !at_item());
  }
}

// NAME "with", or NAME {"'"} "(" value ")" ("="|"~"), is a condition; anything else is taken for an equation.
Parser::Section Parser::section_of_entry() const {
  if (!at_name()) return Section::system;
  std::size_t ahead = 1;
  while (kind(ahead) == TokenKind::prime) ++ahead;
  if (word(ahead) == Word::with) return Section::boundary;
  const bool short_group = kind(ahead) == TokenKind::left_paren && kind(ahead + 1) == TokenKind::number &&
                           kind(ahead + 2) == TokenKind::right_paren;
  const bool related = kind(ahead + 3) == TokenKind::equal || kind(ahead + 3) == TokenKind::tilde;
  return short_group && related ? Section::boundary : Section::system;
}

// "simulation" { WORD "=" value [","|";"] }
void Parser::read_simulation() {
  ++at_;
  section_ = Section::none;
  while (kind() == TokenKind::name && kind(1) == TokenKind::equal) {
    const std::size_t first = at_;
    Setting setting;
    setting.name = tokens_.name(first);
    setting.name_span = span_of(first);
    at_ += 2;
    setting.value = read_value();
    if (!setting.value.valid()) {
      recover();
      continue;
    }
    setting.span = span_from(first);
    tree_.settings.push_back(setting);
    if (!accept(TokenKind::comma)) accept(TokenKind::semicolon);
  }
}

// "external" WORD { command } [";"]
void Parser::read_external() {
  const std::size_t first = at_++;
  section_ = Section::none;
  const bool nameless = word() == Word::reads || word() == Word::writes || word() == Word::observes;
  if (!at(TokenKind::name) || nameless) {
    report_expected("the name of what is outside").hint("for example `external GUI writes x`");
    return recover();
  }
  External external;
  external.name = tokens_.name(at_);
  external.name_span = here();
  ++at_;
  while (word() == Word::reads || word() == Word::writes || word() == Word::observes || word() == Word::rate ||
         word() == Word::when || spells("every")) {
    if (!read_command(external)) return recover();
  }
  external.span = span_from(first);
  tree_.externals.push_back(std::move(external));
  accept(TokenKind::semicolon);
}

// command = "reads" .. | "writes" .. | "observes" "event" .. | timing
bool Parser::read_command(External& external) {
  switch (word()) {
    case Word::reads:
      return read_accesses(external.reads, false);
    case Word::writes:
      return read_accesses(external.writes, true);
    case Word::observes:
      return read_events(external);
    case Word::rate:
    case Word::when:
      report_not_built(here(), fmt::format("`{}` on a whole `external`", text(at_)));
      ++at_;
      if (at(TokenKind::name) && kind(1) == TokenKind::equal) at_ += 2;
      return read_value().valid();
    default: {
      if (external.period.valid()) diags_.report(here(), given_twice, "every");
      ++at_;
      external.period = read_value();
      return external.period.valid();
    }
  }
}

// var ["=" arith] {"," var ["=" arith]}
bool Parser::read_accesses(std::vector<Access>& accesses, bool with_values) {
  ++at_;
  do {
    const std::size_t first = at_;
    Access access;
    access.variable = read_variable();
    if (!access.variable.valid()) return false;
    if (with_values && accept(TokenKind::equal)) {
      access.value = read_arithmetic();
      if (!access.value.valid()) return false;
    }
    access.span = span_from(first);
    accesses.push_back(access);
  } while (accept(TokenKind::comma));
  return true;
}

// "observes" "event" NAME [timing] {"," NAME [timing]}
bool Parser::read_events(External& external) {
  ++at_;
  if (word() != Word::event) {
    report_expected("`event`").hint("for example `observes event clock rate 0.1`");
    return false;
  }
  ++at_;
  do {
    const std::size_t first = at_;
    ObservedEvent event;
    event.name = read_name("the name of an event");
    if (!event.name.valid()) return false;
    if (word() == Word::when) {
      report_not_built(here(), "`when` on an observed event");
      return false;
    }
    if (word() == Word::rate || spells("every")) {
      event.rate = read_period();
      if (!event.rate.valid()) return false;
    }
    event.span = span_from(first);
    external.events.push_back(event);
  } while (accept(TokenKind::comma));
  return true;
}

// ("rate" [ NAME "=" ] | "every") value
NodeId Parser::read_period() {
  const bool rate = word() == Word::rate;
  ++at_;
  if (rate && at(TokenKind::name) && kind(1) == TokenKind::equal) at_ += 2;
  return read_value();
}

// condition = [ var "with" ] start { "," start } end
void Parser::read_conditions() {
  const std::size_t first = at_;
  if (!read_variable().valid()) return recover();
  base::NameId with;
  if (word() == Word::with) {
    with = tokens_.name(first);
    ++at_;
  } else {
    at_ = first;
  }
  do {
    if (!read_condition(with)) return recover();
  } while (accept(TokenKind::comma));
  read_end();
}

// start = var "(" value ")" ( "=" | "~" ) expr
bool Parser::read_condition(base::NameId with) {
  const std::size_t first = at_;
  Condition condition;
  condition.variable = read_variable();
  if (!condition.variable.valid()) return false;
  const base::Span variable = span_from(first);
  if (!at(TokenKind::left_paren)) {
    diag::Sink::Reported reported = diags_.report(variable, no_time);
    reported.hint("write `{}(0)`", sources_.text(variable));
    if (!with.valid()) reported.hint("an equation, which holds at all times, stands under `system`");
    return false;
  }
  if (with.valid() && tokens_.name(first) != with)
    diags_.report(variable, other_variable, text(first), names_.text(with));
  ++at_;
  condition.time = read_value();
  if (!condition.time.valid() || !expect(TokenKind::right_paren)) return false;
  if (!at(TokenKind::equal) && !at(TokenKind::tilde)) {
    diag::Sink::Reported reported = report_expected("`=`, or `~` for a guess");
    if (at(TokenKind::prime)) reported.hint("primes stand before the time: `{}'(0)`", sources_.text(variable));
    return false;
  }
  condition.guess = at(TokenKind::tilde);
  ++at_;
  condition.value = read_expression();
  if (!condition.value.valid()) return false;
  condition.span = span_from(first);
  tree_.conditions.push_back(condition);
  return true;
}

// equation = ( id | arith ) "=" expr [timing] end | NAME "(" [ arg {"," arg} ] ")" end
void Parser::read_equation() {
  const std::size_t first = at_;
  const bool family =
      at_name() && kind(1) == TokenKind::left_bracket && kind(2) == TokenKind::name && word(3) == Word::in;
  if (family) {
    report_not_built(here(), "a family of equations");
    return recover();
  }
  Equation equation;
  equation.left = read_arithmetic();
  if (!equation.left.valid()) return recover();
  if (!accept(TokenKind::equal)) {
    const bool instance = tree_[equation.left].kind == NodeKind::call &&
                          token(at_ - 1).kind == TokenKind::right_paren &&
                          (at(TokenKind::semicolon) || at_end() || is_opening(word()));
    if (instance) {
      report_not_built(span_from(first), "an instance of a module");
    } else {
      diag::Sink::Reported reported = report_no_equation();
      if (comparison_operator() != Op::none || at(TokenKind::and_and) || at(TokenKind::or_or))
        reported.hint("a relation alone is no equation; it stands in one: `x' = if x < 1 then 1 else 0;`");
      if (at(TokenKind::tilde)) reported.hint("`~` is a guess, under `boundary`");
      if (at(TokenKind::colon)) reported.hint("names are not declared; an equation defines them: `x = 1;`");
      if (at(TokenKind::fat_arrow)) reported.hint("`=>` belongs to a handler; an equation is written with `=`");
      if (at(TokenKind::name) && tree_[equation.left].kind == NodeKind::name && !on_new_line(at_))
        reported.hint("names are not declared, and a product needs `*`");
    }
    return recover();
  }
  equation.right = read_expression();
  if (!equation.right.valid()) return recover();
  if (word() == Word::rate || word() == Word::when || word() == Word::every) {
    report_not_built(here(), "the rate of an instance");
    return recover();
  }
  equation.span = span_from(first);
  tree_.equations.push_back(equation);
  read_end();
}

// "parameter" NAME "=" arith ["in" range] { "," NAME "=" arith ["in" range] } end
void Parser::read_parameters() {
  ++at_;
  do {
    const std::size_t first = at_;
    Parameter parameter;
    parameter.name = read_name("the name of a parameter");
    parameter.name_span = span_of(first);
    if (!parameter.name.valid()) return recover();
    if (!at(TokenKind::equal)) {
      report_expected("`=`").hint("a parameter has a value: `parameter {} = 1;`", text(first));
      return recover();
    }
    ++at_;
    parameter.value = read_arithmetic();
    if (!parameter.value.valid()) return recover();
    if (word() == Word::in) {
      ++at_;
      if (!read_range(parameter.low, parameter.high)) return recover();
    }
    parameter.span = span_from(first);
    tree_.parameters.push_back(parameter);
  } while (accept(TokenKind::comma));
  read_end();
}

// "constant" NAME "=" expr { "," NAME "=" expr } end
void Parser::read_constants() {
  ++at_;
  do {
    const std::size_t first = at_;
    Constant constant;
    constant.name = read_name("the name of a constant");
    constant.name_span = span_of(first);
    if (!constant.name.valid() || !expect(TokenKind::equal)) return recover();
    constant.value = read_expression();
    if (!constant.value.valid()) return recover();
    constant.span = span_from(first);
    tree_.constants.push_back(constant);
  } while (accept(TokenKind::comma));
  read_end();
}

// "function" NAME "(" NAME {"," NAME} ")" "=" expr end
void Parser::read_function() {
  const std::size_t first = at_++;
  Function function;
  function.name = read_name("the name of a function");
  function.name_span = span_of(first + 1);
  if (!function.name.valid()) return recover();
  if (!at(TokenKind::left_paren)) {
    report_expected("`(`").hint("a function has arguments: `function square(x) = x^2;`");
    return recover();
  }
  ++at_;
  do {
    const base::NameId argument = read_name("the name of an argument");
    if (!argument.valid()) return recover();
    function.arguments.push_back(argument);
  } while (accept(TokenKind::comma));
  if (!expect(TokenKind::right_paren)) return recover();
  if (!at(TokenKind::equal)) {
    report_expected("`=`").hint("a function is one expression: `function square(x) = x^2;`");
    return recover();
  }
  ++at_;
  function.value = read_expression();
  if (!function.value.valid()) return recover();
  function.span = span_from(first);
  tree_.functions.push_back(std::move(function));
  read_end();
}

base::NameId Parser::read_name(std::string_view what) {
  if (at_name()) {
    ++at_;
    return tokens_.name(at_ - 1);
  }
  if (word() != Word::none) {
    diags_.report(here(), reserved_word, text(at_)).hint("give the name another letter: `{}_`", text(at_));
    // Read as the name it was meant to be, except where the word looks like the start of something else.
    if (on_new_line(at_) && begins_item(word())) return {};
    ++at_;
    return tokens_.name(at_ - 1);
  }
  report_expected(what);
  return {};
}

// end = ";", which may be left out before ")" "}" an opening or the end of the file
bool Parser::read_end() {
  if (accept(TokenKind::semicolon)) return true;
  if (at_end() || at(TokenKind::right_paren) || at(TokenKind::right_brace) || is_opening(word())) return true;
  if (after_dropped()) {
    recover();
    return false;
  }
  diag::Sink::Reported reported = diags_.report(end_of_previous(), expected_semicolon);
  if (at(TokenKind::fat_arrow)) reported.hint("at least is `>=`; `=>` belongs to a handler");
  if (at(TokenKind::comma)) {
    reported.hint("each equation ends with `;`, not with `,`");
    ++at_;
    return true;
  }
  if (on_new_line(at_) || begins_item(word())) return true;
  if (at(TokenKind::name) || at(TokenKind::number)) reported.hint("or is an operator missing before {}?", found());
  recover();
  return false;
}

}  // namespace parse
