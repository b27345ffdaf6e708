// Productions of sections, declarations and their entries.
#include <algorithm>
#include <iterator>
#include <utility>

#include "compiler/parse/diagnostics.h"
#include "compiler/parse/parser.h"

namespace parse {

Tree Parser::run() {
  match_brackets();
  if (dialect_ == Dialect::ridl) section_ = Section::reactive;
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
      if (std::find(passed_over_.begin(), passed_over_.end(), at_) != passed_over_.end()) {
        ++at_;
        return;
      }
      diags_.report(here(), unmatched_bracket, lex::describe(kind())).hint("remove it, or open it before");
      ++at_;
      accept(TokenKind::semicolon);
      return;
    default:
      break;
  }
  if (at_drawing()) return read_entry();
  const bool declares = word() == Word::parameter || word() == Word::constant || word() == Word::function;
  const bool quoted = word() == Word::use && kind(1) == TokenKind::prime && !adjacent(at_ + 1);
  const bool started =
      section_ == Section::boundary && kind(1) == TokenKind::left_paren && adjacent(at_ + 1) && !begins_item(word());
  const bool used_as_name =
      !declares && !quoted && (kind(1) == TokenKind::equal || kind(1) == TokenKind::prime || started);
  if (word() != Word::none && !used_as_name)
    read_declaration(word());
  else if (at_power())
    read_power_port();
  else if (at_storage())
    read_storage();
  else if (at_guard())
    read_guard();
  else if (read_foreign_item())
    return;
  else if (const Word meant = read_misspelt_word(); meant != Word::none)
    read_declaration(meant);
  else
    read_entry();
}

void Parser::read_declaration(Word word) {
  switch (word) {
    case Word::simulation:
    case Word::external:
    case Word::use:
      if (!holder_.empty()) {
        diags_.report(here(), not_in_module, text(at_), holder_)
            .hint("it belongs to the whole program: write it outside");
        ++at_;
        section_ = Section::none;
        return recover();
      }
      if (word == Word::use) return read_use();
      return word == Word::simulation ? read_simulation() : read_external();
    case Word::boundary:
      return open_section(Section::boundary);
    case Word::system:
      return open_section(Section::system);
    case Word::reactive:
      return open_section(Section::reactive);
    case Word::scene:
      return open_section(Section::scene);
    case Word::check:
      return open_section(Section::check);
    case Word::parameter:
      return read_parameters();
    case Word::constant:
      return read_constants();
    case Word::function:
      return read_function();
    case Word::when: {
      const std::size_t first = at_++;
      while (!at_end() && !on_new_line(at_) && this->word() != Word::then && !at(TokenKind::left_brace)) ++at_;
      const base::Span condition{tokens_.file, token(first + 1).begin, token(at_ - 1).end};
      diags_.report(span_of(first), expected, "a statement", "the word `when`")
          .hint("what happens then is a transition: `transition Hit when {} {{ next(x) = ..; }}`",
                at_ > first + 1 ? sources_.text(condition) : "x < 0");
      return skip_foreign_block("when");
    }
    case Word::if_:
    case Word::true_:
    case Word::false_:
      return read_entry();
    case Word::for_:
    case Word::in:
      return word == Word::for_ ? read_loop() : read_in();
    case Word::module:
      return read_module();
    case Word::event:
      return read_event();
    case Word::automaton:
      return read_automaton();
    case Word::transition:
      return read_transition();
    case Word::require:
    case Word::expect:
    case Word::stop:
      return read_must(at_, {});
    case Word::sequence:
      return read_sequence();
    case Word::plan:
      return read_plan();
    case Word::invariant:
      return read_invariant();
    case Word::energy:
      return read_energy();
    case Word::join:
      return read_join();
    case Word::mechanism:
    case Word::interact:
    case Word::apply:
      return skip_not_built(word);
    case Word::rate:
    case Word::every: {
      diags_.report(here(), expected, "a statement", found())
          .hint("a rate stands behind an instance: `s = Spring() rate 1 [kHz];`");
      ++at_;
      return recover();
    }
    case Word::reads:
    case Word::writes:
    case Word::observes: {
      const std::string_view name = text(at_);
      report_expected("a statement").hint("`{}` belongs behind `external NAME`, without a `;` before it", name);
      ++at_;
      return recover();
    }
    default:
      if (!after_dropped()) diags_.report(here(), expected, "a statement", found());
      ++at_;
      return recover();
  }
}

void Parser::open_section(Section section) {
  ++at_;
  section_ = section;
  if (!at(TokenKind::left_brace) && !at(TokenKind::colon)) return;
  if (!said_braces_)
    diags_.report(here(), expected, "the first entry of the section", found())
        .hint("a section goes on until the next one begins; nothing opens or closes it");
  said_braces_ = true;
  if (at(TokenKind::left_brace) && closing_[at_] != 0) passed_over_.push_back(closing_[at_]);
  ++at_;
}

// Whether what the section holds may depend on a mode; else reports, and it is read as if it stood outside.
bool Parser::belongs_to_mode() {
  switch (section_) {
    case Section::boundary:
      diags_.report(here(), not_here, "a condition", "a mode")
          .hint("a start is of the whole run: write it under `boundary`, outside of the braces");
      return false;
    case Section::reactive:
      diags_.report(here(), not_here, "a behaviour", "a mode")
          .hint("let its handlers ask for the mode: `clock => if ball.Rolling then x else a`");
      return false;
    case Section::scene:
      diags_.report(here(), not_here, "a drawing", "a mode")
          .hint("let its values ask for the mode: `radius if ball.Rolling then 1 else 0`");
      return false;
    case Section::check:
      diags_.report(here(), not_here, "a property", "a mode").hint("let it ask for the mode: `ball.Rolling -> x > 0;`");
      return false;
    default:
      return true;
  }
}

void Parser::read_entry() {
  if (section_ == Section::none) {
    section_ = section_of_entry();
    const bool condition = section_ == Section::boundary;
    auto report =
        diags_.report(here(), no_section, condition ? "a condition" : "an equation", condition ? "boundary" : "system");
    const std::string_view list = list_ended_before();
    if (!list.empty() && at_name() && kind(1) == TokenKind::equal)
      report.hint("further ones of a `{0}` follow a comma, not `;`: `{0} a = 1, b = 2;`", list);
    else
      report.hint("write `{}` on the line before", condition ? "boundary" : "system");
  }
  if (in_mode_ && !said_mode_ && !belongs_to_mode()) said_mode_ = true;
  switch (section_) {
    case Section::boundary:
      return read_conditions();
    case Section::system:
      return read_equation();
    case Section::reactive:
      return read_behaviour();
    case Section::scene:
      return read_drawing();
    case Section::check:
      return read_property();
    case Section::none:
      return;
  }
}

// The word of the list of parameters or constants whose `;` is the token before; empty where there is none.
std::string_view Parser::list_ended_before() const {
  if (at_ < 2 || token(at_ - 1).kind != TokenKind::semicolon) return "";
  const std::uint32_t end = token(at_ - 2).end;
  if (!body_->parameters.empty() && body_->parameters.back().span.end == end) return "parameter";
  if (!body_->constants.empty() && body_->constants.back().span.end == end) return "constant";
  return "";
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
    if (with_values && at(TokenKind::equal) && tree_[access.variable].kind != NodeKind::name) {
      report_expected("a name of its own before `=`").hint("for example `writes rate = x'`");
      return false;
    }
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
      ++at_;
      if (at(TokenKind::name) && kind(1) == TokenKind::equal) at_ += 2;
      event.time = read_value();
      if (!event.time.valid()) return false;
    } else if (word() == Word::rate || spells("every")) {
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

// start = var "(" arith ")" ( "=" | "~" ) expr
bool Parser::read_condition(base::NameId with) {
  const std::size_t first = at_;
  Condition condition;
  condition.variable = read_variable();
  if (!condition.variable.valid()) return false;
  const base::Span variable = span_from(first);
  if (!at(TokenKind::left_paren)) {
    if (said_initial_) return false;
    diag::Sink::Reported reported = diags_.report(variable, no_time);
    reported.hint("write `{}(0)`", sources_.text(variable));
    if (!with.valid()) reported.hint("an equation, which holds at all times, stands under `system`");
    return false;
  }
  if (with.valid() && tokens_.name(first) != with)
    diags_.report(variable, other_variable, text(first), names_.text(with));
  ++at_;
  condition.time = read_arithmetic();
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
  body_->conditions.push_back(condition);
  return true;
}

// equation = ( id | arith ) "=" expr [rate] end | NAME "(" [ arg {"," arg} ] ")" [rate] end
void Parser::read_equation() {
  const std::size_t first = at_;
  const bool chosen = word() == Word::if_;
  Equation equation;
  if (at_family()) {
    ++at_;
    equation.left = add_name(first);
    if (!read_family(equation.family)) return recover();
  } else {
    equation.left = read_arithmetic();
  }
  if (!equation.left.valid()) return chosen ? skip_foreign_block("if") : recover();
  if (!accept(TokenKind::equal)) {
    const bool instance =
        tree_[equation.left].kind == NodeKind::call && token(at_ - 1).kind == TokenKind::right_paren &&
        (at(TokenKind::semicolon) || at_end() || at_body_end() || is_opening(word()) || word() == Word::rate);
    if (instance) {
      equation.right = std::exchange(equation.left, {});
      if (!read_rate(equation)) return recover();
      equation.span = span_from(first);
      body_->equations.push_back(equation);
      read_end();
      return;
    } else {
      diag::Sink::Reported reported = report_no_equation();
      if (comparison_operator() != Op::none || at(TokenKind::and_and) || at(TokenKind::or_or))
        reported.hint("a relation alone is no equation; it stands in one: `x' = if x < 1 then 1 else 0;`");
      if (at(TokenKind::prime) && equation.family.valid()) {
        const auto written = [&](NodeId id) { return sources_.text(tree_[id].span); };
        reported.hint("each has an equation of its own: `for {0} in {1}..{2} {{ {3}[{0}]' = ..; }}`",
                      names_.text(equation.family.index), written(equation.family.low), written(equation.family.high),
                      text(first));
      }
      if (chosen) reported.hint("`if` chooses a value, inside one equation: `x' = if x > 1 then 1 else 2;`");
      if (at(TokenKind::tilde)) reported.hint("`~` is a guess, under `boundary`");
      if (at(TokenKind::colon)) reported.hint("names are not declared; an equation defines them: `x = 1;`");
      if (at(TokenKind::fat_arrow)) reported.hint("`=>` belongs to a handler; an equation is written with `=`");
      if (at_ == first + 3 && text(first) == "d" && text(first + 2) == "dt")
        reported.hint("a derivative by time is a prime: `{}'`", at(TokenKind::name) ? text(at_) : "x");
      if (at(TokenKind::name) && tree_[equation.left].kind == NodeKind::name && !on_new_line(at_))
        reported.hint("names are not declared, and a product needs `*`");
    }
    return recover();
  }
  equation.right = read_expression();
  if (!equation.right.valid()) return recover();
  if (!read_rate(equation)) return recover();
  equation.span = span_from(first);
  body_->equations.push_back(equation);
  read_end();
}

// [ "rate" value ], behind an instance
bool Parser::read_rate(Equation& equation) {
  if (word() == Word::when || word() == Word::every) {
    report_expected("`;`").hint("an instance of a module may have a step of its own: `s = Spring() rate 1 [kHz];`");
    return false;
  }
  if (word() != Word::rate) return true;
  const std::size_t first = at_++;
  equation.rate = read_value();
  if (!equation.rate.valid()) return false;
  if (tree_[equation.right].kind == NodeKind::call) return true;
  diags_.report(span_from(first), rate_of_value).hint("leave it out, or put the equation into a module with a port");
  return false;
}

// `Real` of `parameter Real k = 4`, reported.
bool Parser::pass_type(std::string_view declaration) {
  constexpr std::string_view types[] = {"Real", "Integer", "Boolean", "real", "double", "float", "int", "bool"};
  if (!at_name() || !at_name(1) || std::find(std::begin(types), std::end(types), text(at_)) == std::end(types))
    return false;
  diags_.report(here(), foreign_word, text(at_)).hint("a {0} has no type: `{0} {1} = ..;`", declaration, text(at_ + 1));
  ++at_;
  return true;
}

// "parameter" NAME "=" arith ["in" range] { "," NAME "=" arith ["in" range] } end
void Parser::read_parameters() {
  ++at_;
  do {
    const bool typed = pass_type("parameter");
    const std::size_t first = at_;
    Parameter parameter;
    parameter.name = read_name("the name of a parameter");
    parameter.name_span = span_of(first);
    if (!parameter.name.valid()) return recover();
    if (typed && at(TokenKind::left_paren) && closing_[at_] != 0) step();  // Modelica's attributes
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
    body_->parameters.push_back(parameter);
  } while (accept(TokenKind::comma));
  read_end();
}

// "constant" NAME "=" expr { "," NAME "=" expr } end
void Parser::read_constants() {
  ++at_;
  do {
    pass_type("constant");
    const std::size_t first = at_;
    Constant constant;
    constant.name = read_name("the name of a constant");
    constant.name_span = span_of(first);
    if (!constant.name.valid() || !expect(TokenKind::equal)) return recover();
    constant.value = read_expression();
    if (!constant.value.valid()) return recover();
    constant.span = span_from(first);
    body_->constants.push_back(constant);
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
  if (at(TokenKind::equal) && kind(1) == TokenKind::name && kind(2) == TokenKind::left_paren) {
    report_expected("`(`").hint("a function is one expression: `function {}(x) = ..;`", text(at_ + 1));
    return skip_foreign_block("");
  }
  if (!at(TokenKind::left_paren)) {
    report_expected("`(`").hint("a function has arguments: `function square(x) = x^2;`");
    return recover();
  }
  ++at_;
  do {
    const base::NameId argument = read_name("the name of an argument");
    if (!argument.valid()) return recover();
    function.arguments.push_back(argument);
    function.argument_spans.push_back(span_of(at_ - 1));
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
  body_->functions.push_back(std::move(function));
  read_end();
}

// id = NAME "[" NAME "in" range "]"; the NAME and what is behind it.
bool Parser::at_family() const {
  return at_name() && kind(1) == TokenKind::left_bracket && kind(2) == TokenKind::name && word(3) == Word::in;
}

// The same, or one element of it, as a loop writes them: `for i in 1..3 { n[i] = init i in { .. } }`.
bool Parser::at_elements() const { return at_name() && kind(1) == TokenKind::left_bracket; }

// An element is a family of one whose counter has a name that nobody can write.
bool Parser::read_family(Family& family) {
  ++at_;
  if (at(TokenKind::name) && word(1) == Word::in) {
    family.index = read_name("the counter of a family");
    if (!family.index.valid()) return false;
    ++at_;
    return read_range(family.low, family.high) && expect(TokenKind::right_bracket);
  }
  family.index = names_.intern("[]");
  family.low = family.high = read_arithmetic();
  return family.low.valid() && expect(TokenKind::right_bracket);
}

// behaviour = id "=" ( "init" [NAME "="] arith "in" "{" .. "}" | expr ) [","|";"]
void Parser::read_behaviour() {
  const std::size_t first = at_;
  const bool many = at_elements();
  Behaviour behaviour;
  behaviour.name = read_name("the name of a behaviour");
  behaviour.name_span = span_of(first);
  if (!behaviour.name.valid() || (many && !read_family(behaviour.family))) return recover();
  if (!at(TokenKind::equal)) {
    diag::Sink::Reported reported = report_expected("`=`");
    if (at(TokenKind::fat_arrow))
      reported.hint("a handler stands in the braces of a behaviour: `n = init 0 in {{ {} => .. }}`", text(first));
    else
      reported.hint("a behaviour reads `{} = init 0 in {{ clock => .. }}`", text(first));
    return recover();
  }
  ++at_;
  if (word() == Word::init) {
    ++at_;
    if (at_name() && kind(1) == TokenKind::equal) {
      behaviour.own = tokens_.name(at_);
      at_ += 2;
    }
    behaviour.start = read_arithmetic();
    if (!behaviour.start.valid()) return recover();
    if (word() != Word::in || kind(1) != TokenKind::left_brace) {
      report_expected("`in {`").hint("a behaviour reads `{} = init 0 in {{ clock => .. }}`", text(first));
      return recover();
    }
    ++at_;
    const std::size_t open = at_++;
    while (!at(TokenKind::right_brace)) {
      if (!read_handler(behaviour)) {
        if (closing_[open] == 0) return recover();
        at_ = closing_[open];
        break;
      }
      if (!accept(TokenKind::comma) && !accept(TokenKind::semicolon) && !at(TokenKind::right_brace)) {
        report_expected("`,` or `}`").related(span_of(open), "the `{{` of the handlers");
        if (closing_[open] == 0) return recover();
        at_ = closing_[open];
      }
    }
    ++at_;
  } else {
    behaviour.value = read_expression();
    if (!behaviour.value.valid()) return recover();
  }
  behaviour.span = span_from(first);
  body_->behaviours.push_back(std::move(behaviour));
  if (!accept(TokenKind::comma)) accept(TokenKind::semicolon);
}

// handler = var "=>" expr ["later"]
bool Parser::read_handler(Behaviour& behaviour) {
  const std::size_t first = at_;
  Handler handler;
  handler.event = read_variable();
  if (!handler.event.valid()) return false;
  if (!at(TokenKind::fat_arrow)) {
    diag::Sink::Reported reported = report_expected("`=>`");
    reported.hint("a handler reads `{} => value`", text(first));
    return false;
  }
  ++at_;
  handler.value = read_expression();
  if (!handler.value.valid()) return false;
  if (word() == Word::later) {
    handler.later = true;
    ++at_;
  }
  handler.span = span_from(first);
  behaviour.handlers.push_back(handler);
  return true;
}

// "event" id ( "every" arith ["from" arith] | "when" expr | "at" arith {"," arith} ) end
void Parser::read_event() {
  const std::size_t first = at_++;
  Event event;
  const bool many = at_elements();
  event.name = read_name("the name of an event");
  event.name_span = span_of(first + 1);
  if (!event.name.valid() || (many && !read_family(event.family))) return recover();
  if (spells("every")) {
    ++at_;
    event.kind = EventKind::every;
    event.period = read_arithmetic();
    if (!event.period.valid()) return recover();
    if (spells("from")) {
      ++at_;
      event.from = read_arithmetic();
      if (!event.from.valid()) return recover();
    }
  } else if (word() == Word::when) {
    ++at_;
    event.kind = EventKind::when;
    event.condition = read_expression();
    if (!event.condition.valid()) return recover();
  } else if (spells("at")) {
    event.kind = EventKind::at;
    do {
      ++at_;
      event.times.push_back(read_arithmetic());
      if (!event.times.back().valid()) return recover();
    } while (at(TokenKind::comma));
  } else {
    report_expected("`every`, `when` or `at`")
        .hint("for example `event {0} every 0.1;`, `event {0} when x < 0;` or `event {0} at 5, 7;`", text(first + 1));
    return recover();
  }
  event.span = span_from(first);
  if (in_mode_ && event.kind != EventKind::when)
    diags_.report(event.span, not_here, "an event by the clock", "a mode")
        .hint("it happens in every mode; let what answers it ask: `{} => if ball.Rolling then x else a`",
              text(first + 1));
  body_->events.push_back(std::move(event));
  read_end();
}

std::optional<std::uint32_t> Parser::read_body(std::size_t open, std::string_view holder) {
  const Level level(*this);
  if (!level.ok()) return std::nullopt;
  if (closing_[open] == 0) {
    diags_.report(span_of(open), unclosed_body, lex::describe(token(open).kind))
        .hint("write `{}` behind the last statement that belongs to it",
              token(open).kind == TokenKind::left_brace ? "}" : ")");
    return std::nullopt;
  }
  Body body;
  Body* const outer = std::exchange(body_, &body);
  const std::string_view outer_holder = std::exchange(holder_, holder);
  const std::size_t outer_end = std::exchange(body_end_, closing_[open]);
  while (at_ < body_end_) {
    const std::size_t before = at_;
    read_item();
    if (at_ == before) ++at_;
  }
  at_ = body_end_ + 1;
  body_ = outer;
  holder_ = outer_holder;
  body_end_ = outer_end;
  tree_.bodies.push_back(std::move(body));
  return static_cast<std::uint32_t>(tree_.bodies.size() - 1);
}

// "module" NAME "=" "(" [ "ports" [ port {"," port} ] [";"] ] {item} ")" [";"]
void Parser::read_module() {
  const std::size_t first = at_++;
  Module module;
  module.name = read_name("the name of a module");
  module.name_span = span_of(first + 1);
  if (!module.name.valid()) return recover();
  if (!at(TokenKind::equal) || kind(1) != TokenKind::left_paren) {
    report_expected("`= (`").hint("a module reads `module {} = ( ports a, b; system .. )`", text(first + 1));
    return recover();
  }
  const std::size_t open = ++at_;
  ++at_;
  if (word() == Word::ports) {
    ++at_;
    while (at_name()) {
      ModulePort port{tokens_.name(at_), here(), {}};
      ++at_;
      if (accept(TokenKind::colon)) {
        port.shape = read_arithmetic();
        if (!port.shape.valid()) break;
      }
      module.ports.push_back(port);
      if (!accept(TokenKind::comma)) break;
    }
    accept(TokenKind::semicolon);
  }
  const Section outer = std::exchange(section_, Section::none);
  const bool was_in_mode = std::exchange(in_mode_, false);
  const auto body = read_body(open, "a module");
  in_mode_ = was_in_mode;
  section_ = outer;
  if (!body) return recover();
  module.body = *body;
  module.span = span_from(first);
  body_->modules.push_back(std::move(module));
  accept(TokenKind::semicolon);
}

// "for" NAME "in" range "{" {item} "}"
void Parser::read_loop() {
  const std::size_t first = at_++;
  Loop loop;
  if (at(TokenKind::left_paren)) {
    report_expected("the counter of the loop").hint("a loop reads `for i in 1..6 {{ .. }}`");
    return skip_foreign_block("for");
  }
  loop.name = read_name("the counter of the loop");
  loop.name_span = span_of(first + 1);
  if (!loop.name.valid()) return recover();
  if (word() != Word::in) {
    report_expected("`in`").hint("a loop reads `for {} in 1..6 {{ .. }}`", text(first + 1));
    return skip_foreign_block("for");
  }
  ++at_;
  if (!read_range(loop.low, loop.high)) return skip_foreign_block("for");
  if (!at(TokenKind::left_brace)) {
    report_expected("`{`").hint("the body of a loop stands in braces: `for {} in {} {{ .. }}`", text(first + 1),
                                sources_.text(tree_[loop.low].span.to(tree_[loop.high].span)));
    return skip_foreign_block("for");
  }
  const std::size_t open = at_++;
  const Section outer = section_;
  const auto body = read_body(open, "a loop");
  section_ = outer;
  if (!body) return recover();
  loop.body = *body;
  loop.span = span_from(first);
  body_->loops.push_back(loop);
  accept(TokenKind::semicolon);
}

// "use" STRING ["as" NAME] end
void Parser::read_use() {
  const std::size_t first = at_++;
  if (!at(TokenKind::string)) {
    diag::Sink::Reported reported = report_expected("the file's name in double quotes");
    const bool quoted = at(TokenKind::prime) && kind(1) == TokenKind::name;
    if (quoted && kind(2) == TokenKind::dot)
      reported.hint("write `use \"{}.{}\";`", text(at_ + 1), text(at_ + 3));
    else
      reported.hint("for example `use \"{}\";`", quoted ? text(at_ + 1) : "mechanics.tact");
    return recover();
  }
  Use use;
  use.path = tokens_.strings[token(at_).value];
  use.path_span = here();
  ++at_;
  if (spells("as")) {
    ++at_;
    use.alias = read_name("the name to use it under");
    if (!use.alias.valid()) return recover();
  }
  use.span = span_from(first);
  tree_.uses.push_back(std::move(use));
  read_end();
}

base::NameId Parser::read_name(std::string_view what) {
  if (at_name()) {
    ++at_;
    return tokens_.name(at_ - 1);
  }
  if (word() != Word::none) {
    // Read as the name it was meant to be, except where the word looks like the start of something else.
    if (on_new_line(at_) && begins_item(word())) {
      diag::Sink::Reported reported = report_expected(what);
      if (at_ > 0 && token(at_ - 1).kind == TokenKind::comma) reported.hint("or write `;` instead of the last comma");
      return {};
    }
    report_reserved();
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
  if (at(TokenKind::right_bracket) && closing_[at_] == 0) {
    diags_.report(here(), unmatched_bracket, lex::describe(kind())).hint("remove it, or open it before");
    ++at_;
    return accept(TokenKind::semicolon);
  }
  diag::Sink::Reported reported = diags_.report(end_of_previous(), expected_semicolon);
  if (at(TokenKind::fat_arrow)) reported.hint("at least is `>=`; `=>` belongs to a handler");
  if (at(TokenKind::prime) && at_ > 0 && token(at_ - 1).kind == TokenKind::number)
    reported.hint("a prime stands behind a name or `)`: it is a derivative, and that of a number is 0");
  const bool decimal = at(TokenKind::comma) && at_ > 0 && token(at_ - 1).kind == TokenKind::number && adjacent(at_) &&
                       kind(1) == TokenKind::number && adjacent(at_ + 1);
  if (decimal) {
    reported.hint("a fraction has a point: `{}.{}`", text(at_ - 1), text(at_ + 1));
    recover();
    return false;
  }
  if (at(TokenKind::comma)) {
    reported.hint("each equation ends with `;`, not with `,`");
    ++at_;
    return true;
  }
  if (on_new_line(at_) || begins_item(word())) {
    reported.hint("a statement ends with `;`");
    return true;
  }
  constexpr std::string_view functions[] = {"sin", "cos", "tan", "asin", "acos", "atan",  "sqrt",
                                            "exp", "log", "abs", "sign", "norm", "floor", "ceil"};
  const std::string_view before = at_ > 0 ? text(at_ - 1) : "";
  const bool operand = at(TokenKind::name) || at(TokenKind::number);
  const TokenKind kind_before = at_ > 0 ? token(at_ - 1).kind : TokenKind::end;
  if (word() == Word::if_)
    reported.hint("the condition stands first: `if c then a else b`");
  else if (operand && std::find(std::begin(functions), std::end(functions), before) != std::end(functions))
    reported.hint("an argument stands in parentheses: `{}({})`", before, text(at_));
  else if (at(TokenKind::name) && kind_before == TokenKind::number && find_unit(text(at_)))
    reported.hint("or is it a unit? it stands in brackets: `{} [{}]`", before, text(at_));
  else if (operand && word() == Word::none && (kind_before == TokenKind::name || kind_before == TokenKind::number))
    reported.hint("or is it a product? it is written `{} * {}`", before, text(at_));
  else if (operand)
    reported.hint("or is an operator missing before {}?", found());
  recover();
  return false;
}

}  // namespace parse
