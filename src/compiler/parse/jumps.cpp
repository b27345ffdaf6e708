// Productions of what changes at an instant or belongs to a mode: automata, `in` blocks, transitions, sequences, plans,
// requirements and properties.
#include <algorithm>
#include <utility>

#include "compiler/parse/diagnostics.h"
#include "compiler/parse/parser.h"

namespace parse {

// "automaton" id "in" NAME {"," NAME} [ "from" NAME ["when" expr] { "," NAME ["when" expr] } ] end
void Parser::read_automaton() {
  const std::size_t first = at_++;
  Automaton automaton;
  const bool many = at_elements();
  automaton.name = read_name("the name of an automaton");
  automaton.name_span = span_of(first + 1);
  if (!automaton.name.valid() || (many && !read_family(automaton.family))) return recover();
  if (word() != Word::in) {
    report_expected("`in` and the modes")
        .hint("an automaton reads `automaton {} in Resting, Moving;`", text(first + 1));
    return recover();
  }
  do {
    ++at_;
    const base::Span span = here();
    if (!at(TokenKind::name)) {
      report_expected("the name of a mode")
          .hint("an automaton reads `automaton {} in Resting, Moving;`", text(first + 1));
      return recover();
    }
    const base::NameId name = read_name("the name of a mode");
    if (!name.valid()) return recover();
    const auto before = std::find_if(automaton.modes.begin(), automaton.modes.end(),
                                     [&](const ModeName& mode) { return mode.name == name; });
    if (before != automaton.modes.end())
      diags_.report(span, given_twice, names_.text(name)).related(before->span, "the mode's first place");
    else
      automaton.modes.push_back({name, span});
  } while (at(TokenKind::comma));
  if (spells("from")) {
    do {
      ++at_;
      AutomatonStart start;
      start.span = here();
      start.mode = read_name("the mode to begin in");
      if (!start.mode.valid()) return recover();
      if (word() == Word::when) {
        ++at_;
        start.condition = read_expression();
        if (!start.condition.valid()) return recover();
      }
      automaton.starts.push_back(start);
    } while (at(TokenKind::comma));
  }
  automaton.span = span_from(first);
  body_->automata.push_back(std::move(automaton));
  read_end();
}

// "in" expr ( "{" {item} "}" | must )
void Parser::read_in() {
  const std::size_t first = at_++;
  const NodeId condition = read_expression();
  if (!condition.valid()) {
    if (skip_to(TokenKind::left_brace)) step();
    return recover();
  }
  if (word() == Word::require || word() == Word::expect || word() == Word::stop) return read_must(first, condition);
  if (!at(TokenKind::left_brace)) {
    report_expected("`{` or `require`")
        .hint("what holds in a mode stands in braces: `in {} {{ .. }}`", sources_.text(tree_[condition].span));
    return recover();
  }
  const std::size_t open = at_++;
  const Section outer = section_;
  const bool was_in_mode = std::exchange(in_mode_, true);
  said_mode_ = false;
  const auto body = read_body(open, "a mode");
  in_mode_ = was_in_mode;
  section_ = outer;
  if (!body) return recover();
  body_->in_blocks.push_back({span_from(first), condition, *body});
  accept(TokenKind::semicolon);
}

// ( "require" | "expect" ) expr [ "else" STRING ] end | "stop" "when" expr [STRING] end
void Parser::read_must(std::size_t first, NodeId mode) {
  Must must;
  must.mode = mode;
  must.kind = word() == Word::require ? MustKind::require : word() == Word::expect ? MustKind::expect : MustKind::stop;
  const std::string_view begin = text(at_);
  ++at_;
  const bool stops = must.kind == MustKind::stop;
  if (stops) {
    if (word() != Word::when) {
      report_expected("`when`").hint("a run ends early with `stop when x > 10 \"far enough\";`");
      return recover();
    }
    ++at_;
  }
  must.condition = read_expression();
  if (!must.condition.valid()) return recover();
  if (!stops && word() == Word::else_) {
    ++at_;
    if (!at(TokenKind::string)) {
      report_expected("the words to say, in double quotes")
          .hint("write `{} {} else \"what went wrong\";`", begin, sources_.text(tree_[must.condition].span));
      return recover();
    }
  }
  if (at(TokenKind::string)) {
    if (!stops && word_at(at_ - 1) != Word::else_) {
      report_expected("`else`").hint("write `{} {} else {};`", begin, sources_.text(tree_[must.condition].span),
                                     text(at_));
      return recover();
    }
    must.text = tokens_.strings[token(at_).value];
    ++at_;
  }
  must.span = span_from(first);
  body_->musts.push_back(std::move(must));
  read_end();
}

// head = id [ "in" expr ] [ "when" expr ]
bool Parser::read_head(Transition& item, std::string_view what) {
  if (word() == Word::when || word() == Word::in) {
    report_expected(what).hint("each has a name, by which handlers and notes call it: `transition Bounce {} ..`",
                               text(at_));
    return false;
  }
  const bool many = at_elements();
  item.name_span = here();
  item.name = read_name(what);
  if (!item.name.valid() || (many && !read_family(item.family))) return false;
  if (word() == Word::in) {
    ++at_;
    item.mode = read_expression();
    if (!item.mode.valid()) return false;
  }
  if (word() == Word::when) {
    ++at_;
    item.condition = read_expression();
    if (!item.condition.valid()) return false;
  }
  return true;
}

// Behind the braces of a jump that could not be read, or behind the statement.
void Parser::recover_jump() {
  if (skip_to(TokenKind::left_brace))
    step();
  else
    accept(TokenKind::semicolon);
}

// "transition" head body
void Parser::read_transition() {
  const std::size_t first = at_++;
  Transition item;
  if (!read_head(item, "the name of a transition") || !read_jump(item.jump)) return recover_jump();
  item.span = span_from(first);
  body_->transitions.push_back(std::move(item));
  accept(TokenKind::semicolon);
}

// "sequence" head body "until" expr body { "until" expr body }
void Parser::read_sequence() {
  const std::size_t first = at_++;
  Sequence item;
  if (!read_head(item, "the name of a sequence") || !read_jump(item.jump)) return recover_phases();
  while (word() == Word::until) {
    const std::size_t begin = at_++;
    SequencePhase phase;
    phase.until = read_expression();
    if (!phase.until.valid() || !read_jump(phase.jump)) return recover_phases();
    phase.span = span_from(begin);
    item.phases.push_back(std::move(phase));
  }
  if (item.phases.empty()) {
    report_expected("`until`").hint(
        "a sequence has phases, each until its condition: `sequence {0} {{ .. }} until c {{ .. }}`; one jump alone is "
        "a "
        "`transition {0}`",
        names_.text(item.name));
    accept(TokenKind::semicolon);
    return;
  }
  item.span = span_from(first);
  body_->sequences.push_back(std::move(item));
  accept(TokenKind::semicolon);
}

// "plan" head "choose" NAME "=" arith { "," NAME "=" arith } body phase {phase} [ "else" body ]
void Parser::read_plan() {
  const std::size_t first = at_++;
  Plan item;
  if (!read_head(item, "the name of a plan") || !read_chosen(item) || !read_jump(item.jump)) return recover_phases();
  while (at_plan_phase()) {
    if (!read_plan_phase(item)) return recover_phases();
  }
  if (item.phases.empty()) {
    report_expected("`for`").hint(
        "a plan says how long its phases last and what they reach: `for 3 reaching p = target {{ .. }}`");
    return recover_phases();
  }
  if (word() == Word::else_) {
    ++at_;
    item.has_otherwise = true;
    if (!read_jump(item.otherwise)) return recover_phases();
  }
  item.span = span_from(first);
  body_->plans.push_back(std::move(item));
  accept(TokenKind::semicolon);
}

// "for" of a phase; "for" NAME "in" is a loop.
bool Parser::at_plan_phase() const {
  return word() == Word::for_ && !(kind(1) == TokenKind::name && word(2) == Word::in);
}

bool Parser::read_chosen(Plan& item) {
  if (word() != Word::choose) {
    report_expected("`choose`").hint("a plan chooses values: `choose v = 7`, where 7 is where the search begins");
    return false;
  }
  do {
    ++at_;
    Chosen chosen;
    const std::size_t begin = at_;
    chosen.name = read_name("the name of what is chosen");
    if (!chosen.name.valid()) return false;
    if (!at(TokenKind::equal)) {
      report_expected("`=`").hint("the search begins somewhere: `choose {} = 1`", text(begin));
      return false;
    }
    ++at_;
    chosen.value = read_arithmetic();
    if (!chosen.value.valid()) return false;
    chosen.span = span_of(begin);
    const bool is_given = std::any_of(item.chosen.begin(), item.chosen.end(),
                                      [&](const Chosen& other) { return other.name == chosen.name; });
    if (is_given)
      diags_.report(chosen.span, given_twice, text(begin)).hint("choose it once");
    else
      item.chosen.push_back(chosen);
  } while (at(TokenKind::comma));
  return true;
}

// "for" arith [ "reaching" target {"," target} ] body
bool Parser::read_plan_phase(Plan& item) {
  const std::size_t first = at_++;
  PlanPhase phase;
  phase.duration = read_arithmetic();
  if (!phase.duration.valid()) return false;
  if (word() == Word::reaching) {
    do {
      ++at_;
      Target target;
      const std::size_t begin = at_;
      target.left = read_arithmetic();
      if (!target.left.valid()) return false;
      if (!at(TokenKind::equal)) {
        report_expected("`=`").hint("a target is an equation: `reaching {} = ..`",
                                    sources_.text(tree_[target.left].span));
        return false;
      }
      ++at_;
      target.right = read_arithmetic();
      if (!target.right.valid()) return false;
      target.span = span_from(begin);
      phase.targets.push_back(target);
    } while (at(TokenKind::comma));
  }
  if (!read_jump(phase.jump)) return false;
  phase.span = span_from(first);
  item.phases.push_back(std::move(phase));
  return true;
}

// Behind what is left of a sequence or a plan.
void Parser::recover_phases() {
  do {
    recover_jump();
    if (word() == Word::until || word() == Word::else_ || at_plan_phase())
      ++at_;
    else
      return;
  } while (!at_end());
}

// "invariant" equation
void Parser::read_invariant() {
  ++at_;
  Body equations;
  Body* const outer = std::exchange(body_, &equations);
  read_equation();
  body_ = outer;
  for (const Equation& equation : equations.equations) {
    if (equation.left.valid() && !equation.family.valid()) {
      body_->invariants.push_back(equation);
      continue;
    }
    diags_.report(equation.span, expected, "an equation", "an instance or a family")
        .hint("an invariant follows from the equations: `invariant x^2 + y^2 = 1;`");
  }
}

// property = [ NAME ":" ] formula end
void Parser::read_property() {
  const std::size_t first = at_;
  Property property;
  if (kind() == TokenKind::name && kind(1) == TokenKind::colon) {
    property.name = read_name("the name of a property");
    if (!property.name.valid()) return recover();
    ++at_;
  }
  in_property_ = true;
  property.formula = read_formula();
  in_property_ = false;
  if (!property.formula.valid()) return recover();
  const NodeKind kind = tree_[property.formula].kind;
  if (kind != NodeKind::always && kind != NodeKind::eventually && kind != NodeKind::until) {
    property.formula = add({.kind = NodeKind::always, .span = tree_[property.formula].span}, {property.formula});
    if (!property.formula.valid()) return recover();
  }
  property.span = span_from(first);
  body_->properties.push_back(property);
  read_end();
}

// formula = expr [ "until" [ "[" range "]" ] expr ]
NodeId Parser::read_formula() {
  const std::size_t first = at_;
  const NodeId left = read_expression();
  if (!left.valid() || word() != Word::until) return left;
  ++at_;
  NodeId low, high;
  if (at(TokenKind::left_bracket) && !read_bounds(low, high)) return {};
  const NodeId right = read_expression();
  if (!right.valid()) return {};
  const Child children[] = {{left}, {right}, {low}, {high}};
  return add({.kind = NodeKind::until, .span = span_from(first)}, std::span(children).first(low.valid() ? 4 : 2));
}

// ("always"|"eventually") [ "[" range "]" ] "(" formula ")"
NodeId Parser::read_temporal() {
  const Level level(*this);
  if (!level.ok()) return {};
  const std::size_t first = at_++;
  const NodeKind kind = text(first) == "always" ? NodeKind::always : NodeKind::eventually;
  if (!in_property_) {
    diags_.report(span_of(first), temporal_outside, text(first))
        .hint("what must hold over time is a property: `check` on a line of its own, and below it `name: {}(..);`",
              text(first));
    return {};
  }
  NodeId low, high;
  if (at(TokenKind::left_bracket) && !read_bounds(low, high)) return {};
  const std::size_t open = at_;
  if (!expect(TokenKind::left_paren)) return {};
  const NodeId formula = read_formula();
  if (!formula.valid()) return {};
  if (!accept(TokenKind::right_paren)) {
    report_unclosed(open);
    return {};
  }
  const Child children[] = {{formula}, {low}, {high}};
  return add({.kind = kind, .span = span_from(first)}, std::span(children).first(low.valid() ? 3 : 1));
}

// "[" range "]"
bool Parser::read_bounds(NodeId& low, NodeId& high) {
  ++at_;
  return read_range(low, high) && expect(TokenKind::right_bracket);
}

// "{" { jump } "}"
bool Parser::read_jump(Jump& jump) {
  const Level level(*this);
  if (!level.ok()) return false;
  if (!at(TokenKind::left_brace)) {
    diag::Sink::Reported reported = report_expected("`{`");
    if (at(TokenKind::semicolon) || at_end() || on_new_line(at_))
      reported.hint("what happens stands in braces, also when it is nothing: `{{ }}`");
    else if (word() == Word::in)
      reported.hint("the modes stand before the condition: `in a.M when c`");
    return false;
  }
  const std::size_t open = at_;
  if (closing_[open] == 0) {
    diags_.report(span_of(open), unclosed_body, lex::describe(token(open).kind))
        .hint("write `}}` behind the last statement that belongs to it");
    return false;
  }
  ++at_;
  Body equations;
  Body* const outer = std::exchange(body_, &equations);
  const std::size_t outer_end = std::exchange(body_end_, closing_[open]);
  const bool was_in_jump = std::exchange(in_jump_, true);
  while (at_ < body_end_) {
    const std::size_t before = at_;
    read_jump_item(jump);
    if (at_ == before) ++at_;
  }
  at_ = body_end_ + 1;
  in_jump_ = was_in_jump;
  body_ = outer;
  body_end_ = outer_end;
  for (const Equation& equation : equations.equations) {
    if (equation.left.valid() && !equation.family.valid()) {
      jump.equations.push_back(equation);
      continue;
    }
    diags_.report(equation.span, not_here, "an instance or a family", "a jump")
        .hint("a jump has equations between before and after: `next(x) = x + 1;`");
  }
  jump.span = span_from(open);
  return true;
}

// "goto" var end | ( "keep" | "enforce" ) var {"," var} end | "unknown" NAME ["~" arith] {..} end | "for" NAME "in"
// range body | equation
void Parser::read_jump_item(Jump& jump) {
  switch (word()) {
    case Word::goto_: {
      const std::size_t first = at_++;
      if (!at(TokenKind::name)) {
        report_expected("a mode").hint("`goto` names an automaton and the mode to enter: `goto ball.Rolling;`");
        return recover();
      }
      const NodeId target = read_variable();
      if (!target.valid()) return recover();
      jump.gotos.push_back({span_from(first), target});
      read_end();
      return;
    }
    case Word::keep:
      do {
        ++at_;
        if (!at(TokenKind::name)) {
          report_expected("a name").hint("what a jump leaves as it is: `keep x, p';`");
          return recover();
        }
        const NodeId kept = read_variable();
        if (!kept.valid()) return recover();
        jump.keeps.push_back(kept);
      } while (at(TokenKind::comma));
      read_end();
      return;
    case Word::enforce:
      return read_enforce(jump);
    case Word::unknown:
      do {
        ++at_;
        JumpUnknown unknown;
        unknown.span = here();
        unknown.name = read_name("the name of an unknown");
        if (!unknown.name.valid()) return recover();
        if (accept(TokenKind::tilde)) {
          unknown.guess = read_arithmetic();
          if (!unknown.guess.valid()) return recover();
        }
        jump.unknowns.push_back(unknown);
      } while (at(TokenKind::comma));
      read_end();
      return;
    case Word::for_:
      return read_jump_loop(jump);
    default:
      break;
  }
  if (at(TokenKind::semicolon)) {
    diags_.report(here(), empty_statement).hint("remove it");
    ++at_;
    return;
  }
  if (begins_item(word()) && kind(1) != TokenKind::equal && kind(1) != TokenKind::prime) {
    diags_.report(here(), not_in_module, text(at_), "a jump")
        .hint("in a jump stand `goto`, `keep`, `enforce`, `unknown` and equations; is a `}}` missing before it?");
    ++at_;
    return recover();
  }
  read_equation();
}

void Parser::read_enforce(Jump& jump) {
  const std::size_t first = at_;
  do {
    ++at_;
    if (spells("velocities")) {
      jump.enforce_velocities = true;
    } else if (spells("positions")) {
      jump.enforce_positions = true;
    } else {
      report_expected("`velocities` or `positions`")
          .hint("`enforce velocities;` jumps onto the constraints of the mode that is entered");
      return recover();
    }
    ++at_;
  } while (at(TokenKind::comma));
  jump.enforce_span = span_from(first);
  read_end();
}

void Parser::read_jump_loop(Jump& jump) {
  const std::size_t first = at_++;
  JumpLoop loop;
  loop.name = read_name("the counter of the loop");
  if (!loop.name.valid()) return recover();
  if (word() != Word::in) {
    report_expected("`in`").hint("a loop reads `for {} in 1..6 {{ .. }}`", text(first + 1));
    return recover_jump();
  }
  ++at_;
  Jump inner;
  if (!read_range(loop.low, loop.high) || !read_jump(inner)) return recover_jump();
  loop.span = span_from(first);
  tree_.jumps.push_back(std::move(inner));
  loop.jump = static_cast<std::uint32_t>(tree_.jumps.size() - 1);
  jump.loops.push_back(loop);
  accept(TokenKind::semicolon);
}

}  // namespace parse
