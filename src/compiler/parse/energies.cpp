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

// arith "->" arith. False after reporting.
bool Parser::read_power_ends(std::size_t first, Power& power) {
  power.in = read_arithmetic();
  if (!power.in.valid()) return false;
  if (!at(TokenKind::arrow)) {
    report_expected("`->`").hint("a port reads `power {}F -> v;`: what enters, what leaves",
                                 power.name.valid() ? fmt::format("{}: ", names_.text(power.name)) : "");
    return false;
  }
  ++at_;
  power.out = read_arithmetic();
  power.span = span_from(first);
  return power.out.valid();
}

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
  if (!read_power_ends(first, power)) return recover();
  power.span = span_from(first);
  if (!power.name.valid()) power.name_span = power.span;
  body_->powers.push_back(power);
  read_end();
}

// The word `storage`, if a statement begins here: before states in parentheses and `energy`.
bool Parser::at_storage() const {
  return dialect_ == Dialect::tact && spells("storage") && kind(1) == TokenKind::left_paren && closing_[at_ + 1] != 0 &&
         word_at(closing_[at_ + 1] + 1) == Word::energy;
}

// "structure" NAME "=" expr {"," NAME "=" expr}, the names being J, R and G. False after reporting.
bool Parser::read_structure(Storage& storage) {
  constexpr std::string_view form =
      "`structure J = ((0, 1), (-1, 0)), R = .., G = ..`, of which R and G may be left out";
  if (!spells("structure")) {
    report_expected("`structure`").hint("behind its energy a storage has its matrices: {}", form);
    return false;
  }
  do {
    ++at_;
    NodeId* const matrix = spells("J") ? &storage.j : spells("R") ? &storage.r : spells("G") ? &storage.g : nullptr;
    if (matrix == nullptr || matrix->valid() || kind(1) != TokenKind::equal) {
      report_expected(matrix == nullptr || matrix->valid() ? "one of the matrices `J`, `R`, `G`" : "`=`")
          .hint("each of them is given once: {}", form);
      return false;
    }
    at_ += 2;
    *matrix = read_expression();
    if (!matrix->valid()) return false;
  } while (at(TokenKind::comma));
  if (storage.j.valid()) return true;
  report_expected("`J = ..`").hint("what is exchanged without loss is J; a storage that only loses says `J = 0`");
  return false;
}

// "storage" "(" var {"," var} ")" "energy" NAME ["=" expr] structure ["power" [NAME ":"] arith "->" arith] end
void Parser::read_storage() {
  const std::size_t first = at_;
  Storage storage;
  at_ += 2;
  while (true) {
    if (!at_name()) {
      report_expected("a state").hint("a storage begins with its states: `storage (q, p) energy H = ..`");
      return recover();
    }
    storage.states.push_back(read_variable());
    if (!storage.states.back().valid()) return recover();
    if (!at(TokenKind::comma)) break;
    ++at_;
  }
  if (!at(TokenKind::right_paren)) {
    report_expected("`,` or `)`");
    return recover();
  }
  at_ += 2;
  if (!at(TokenKind::name)) {
    report_expected("the name of an energy").hint("`storage (q, p) energy H = p^2 / 2 + q^2 / 2 structure J = ..;`");
    return recover();
  }
  const std::size_t name = at_;
  if (!read_name("the name of an energy").valid()) return recover();
  storage.variable = add_name(name);
  Energy energy;
  if (at(TokenKind::equal)) {
    ++at_;
    energy.variable = storage.variable;
    energy.value = read_expression();
    if (!energy.value.valid()) return recover();
    energy.span = span_from(name);
  }
  if (!read_structure(storage)) return recover();
  Power power;
  if (spells("power")) {
    const std::size_t port = at_++;
    if (kind(1) == TokenKind::colon) {
      power.name = tokens_.name(at_);
      power.name_span = here();
      at_ += 2;
    }
    if (!read_power_ends(port, power)) return recover();
    if (!power.name.valid()) power.name_span = power.span;
  }
  storage.span = span_from(first);
  if (storage.g.valid() != power.in.valid()) {
    (storage.g.valid() ? report_expected("`power u -> y`") : report_expected("`G = ..`"))
        .hint("what enters a storage is G u, and what leaves is G' dH/dx: `.. G = (0, 1) power hand: F -> v;`");
    return recover();
  }
  storage.in = power.in;
  storage.out = power.out;
  if (energy.value.valid()) body_->energies.push_back(energy);
  if (power.in.valid()) body_->powers.push_back(power);
  body_->storages.push_back(std::move(storage));
  read_end();
}

// The word `guard`, if a statement begins here: before a name.
bool Parser::at_guard() const { return dialect_ == Dialect::tact && spells("guard") && at_name(1); }

// "guard" var ["reserve" arith] end
void Parser::read_guard() {
  const std::size_t first = at_++;
  Guard guard;
  guard.port = read_variable();
  if (!guard.port.valid()) return recover();
  if (spells("reserve")) {
    ++at_;
    guard.reserve = read_arithmetic();
    if (!guard.reserve.valid()) return recover();
  }
  guard.span = span_from(first);
  body_->guards.push_back(guard);
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
