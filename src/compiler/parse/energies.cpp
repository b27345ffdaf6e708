// Productions of what stores energy and passes it on: energies, ports that carry power, and what joins them.
#include <utility>

#include "compiler/parse/diagnostics.h"
#include "compiler/parse/parser.h"

namespace parse {

// "energy" NAME "=" expr end
void Parser::read_energy() {
  const std::size_t first = at_++;
  if (!at(TokenKind::name) || (kind(1) != TokenKind::equal && kind(1) != TokenKind::left_bracket)) {
    if (at(TokenKind::name)) ++at_;
    report_expected(at_ == first + 1 ? "the name of an energy" : "`=`")
        .hint("an energy has a name and a value: `energy H = k * x^2 / 2;`");
    return recover();
  }
  Energy energy;
  const std::size_t name = at_;
  if (!read_name("the name of an energy").valid()) return recover();
  if (!at(TokenKind::equal)) {
    report_expected("`=`").hint("an energy is one number; add up those of many: `energy {} = sum(i in 1..3: ..);`",
                                text(name));
    return recover();
  }
  energy.variable = add_name(name);
  ++at_;
  energy.value = read_expression();
  if (!energy.variable.valid() || !energy.value.valid()) return recover();
  energy.span = span_from(first);
  body_->energies.push_back(energy);
  read_end();
}

// The word `power`, if a port begins here and not an expression: `power(x, n)`, `power = F * v`.
bool Parser::at_power() const { return dialect_ == Dialect::tact && spells("power") && at_name(1); }

// "power" [NAME ":"] arith "->" arith end
void Parser::read_power_port() {
  const std::size_t first = at_++;
  Power power;
  if (kind(1) == TokenKind::colon || (at_name(1) && !on_new_line(at_ + 1)) || kind(1) == TokenKind::equal) {
    power.name = tokens_.name(at_);
    power.name_span = here();
    ++at_;
    if (!at(TokenKind::colon)) {
      report_expected("`:`").hint("a port reads `power {}: F -> v;`: what enters, what leaves", text(first + 1));
      return recover();
    }
    ++at_;
  }
  power.in = read_arithmetic();
  if (!power.in.valid()) return recover();
  if (!at(TokenKind::arrow)) {
    report_expected("`->`").hint("a port reads `power {}F -> v;`: what enters, what leaves",
                                 power.name.valid() ? fmt::format("{}: ", names_.text(power.name)) : "");
    return recover();
  }
  ++at_;
  power.out = read_arithmetic();
  if (!power.out.valid()) return recover();
  power.span = span_from(first);
  if (!power.name.valid()) power.name_span = power.span;
  body_->powers.push_back(power);
  read_end();
}

// "join" var "to" var ["hold" | "extrapolate" | "passive"] end
void Parser::read_join() {
  const std::size_t first = at_++;
  Join join;
  if (!at_name()) {
    report_expected("a port").hint("two ports are joined by `join a.end to b.end;`");
    return recover();
  }
  join.first = read_variable();
  if (!join.first.valid()) return recover();
  if (!spells("to")) {
    report_expected("`to`").hint("two ports are joined by `join {} to b.end;`", sources_.text(tree_[join.first].span));
    return recover();
  }
  ++at_;
  if (!at_name()) {
    report_expected("a port").hint("two ports are joined by `join {} to b.end;`",
                                   sources_.text(tree_[join.first].span));
    return recover();
  }
  join.second = read_variable();
  if (!join.second.valid()) return recover();
  constexpr std::pair<std::string_view, JoinManner> manners[] = {
      {"hold", JoinManner::hold}, {"extrapolate", JoinManner::extrapolate}, {"passive", JoinManner::passive}};
  for (const auto& [spelling, manner] : manners) {
    if (!spells(spelling)) continue;
    join.manner = manner;
    join.manner_span = here();
    ++at_;
    break;
  }
  join.span = span_from(first);
  body_->joins.push_back(join);
  read_end();
}

}  // namespace parse
