// Productions of expressions, loosest operator first.
#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/parse/diagnostics.h"
#include "compiler/parse/parser.h"

namespace parse {

Parser::Level::Level(Parser& parser) : parser_(parser) {
  if (++parser.nesting_ == max_nesting + 1) parser.too_deep(parser.here());
}

NodeId Parser::too_deep(base::Span span) {
  diags_.report(span, nested_too_deeply).hint("name a part of it in an equation of its own, and use the name here");
  return {};
}

NodeId Parser::add(Node node, std::span<const Child> children) {
  std::uint32_t height = 0;
  for (const Child& child : children) height = std::max(height, heights_[child.node.value]);
  if (++height > max_height) return too_deep(node.span);
  node.first_child = static_cast<std::uint32_t>(tree_.children.size());
  node.child_count = static_cast<std::uint32_t>(children.size());
  tree_.children.insert(tree_.children.end(), children.begin(), children.end());
  tree_.nodes.push_back(node);
  heights_.push_back(height);
  return NodeId(tree_.nodes.size() - 1);
}

NodeId Parser::add(Node node, std::initializer_list<NodeId> children) {
  Child list[3];
  std::size_t count = 0;
  for (const NodeId child : children) list[count++].node = child;
  return add(node, std::span<const Child>(list, count));
}

NodeId Parser::add_name(std::size_t index) {
  return add({.kind = NodeKind::name, .span = span_of(index), .name = tokens_.name(index)});
}

std::uint32_t Parser::add_text(std::string_view text) {
  tree_.texts.emplace_back(text);
  return static_cast<std::uint32_t>(tree_.texts.size() - 1);
}

// expr = or [ "->" expr ]
NodeId Parser::read_expression() {
  const Level level(*this);
  if (!level.ok()) return {};
  const std::size_t first = at_;
  const NodeId left = read_or();
  if (!left.valid() || !accept(TokenKind::arrow)) return left;
  const NodeId right = read_expression();
  if (!right.valid()) return {};
  return add({.kind = NodeKind::implies, .span = span_from(first)}, {left, right});
}

// `and`, `or` of other languages, behind an operand.
bool Parser::at_foreign_operator(std::string_view word) const {
  return spells(word) &&
         (kind(1) == TokenKind::name || kind(1) == TokenKind::number || kind(1) == TokenKind::left_paren ||
          kind(1) == TokenKind::bang || kind(1) == TokenKind::minus);
}

// or = and { "||" and }
NodeId Parser::read_or() {
  const std::size_t first = at_;
  const NodeId left = read_and();
  if (!left.valid()) return {};
  std::vector<Child> children;
  while (at(TokenKind::or_or) || at_foreign_operator("or")) {
    if (!at(TokenKind::or_or)) diags_.report(here(), foreign_word, "or").hint("write `||`");
    ++at_;
    if (children.empty()) children.push_back({left});
    const NodeId right = read_and();
    if (!right.valid()) return {};
    children.push_back({right});
  }
  return children.empty() ? left : add({.kind = NodeKind::logical_or, .span = span_from(first)}, children);
}

// and = not { "&&" not }
NodeId Parser::read_and() {
  const std::size_t first = at_;
  const NodeId left = read_not();
  if (!left.valid()) return {};
  std::vector<Child> children;
  while (at(TokenKind::and_and) || at_foreign_operator("and")) {
    if (!at(TokenKind::and_and)) diags_.report(here(), foreign_word, "and").hint("write `&&`");
    ++at_;
    if (children.empty()) children.push_back({left});
    const NodeId right = read_not();
    if (!right.valid()) return {};
    children.push_back({right});
  }
  return children.empty() ? left : add({.kind = NodeKind::logical_and, .span = span_from(first)}, children);
}

// not = "!" not | compare
NodeId Parser::read_not() {
  const bool foreign = spells("not") && (kind(1) == TokenKind::name || kind(1) == TokenKind::number);
  if (!at(TokenKind::bang) && !foreign) return read_comparison();
  if (foreign) diags_.report(here(), foreign_word, "not").hint("write `!`");
  const Level level(*this);
  if (!level.ok()) return {};
  const std::size_t first = at_++;
  const NodeId operand = read_not();
  if (!operand.valid()) return {};
  return add({.kind = NodeKind::logical_not, .span = span_from(first)}, {operand});
}

Op Parser::comparison_operator() const {
  switch (kind()) {
    case TokenKind::less:
      return Op::less;
    case TokenKind::less_equal:
      return Op::less_equal;
    case TokenKind::greater:
      return Op::greater;
    case TokenKind::greater_equal:
      return Op::greater_equal;
    case TokenKind::equal:
      return Op::equal;
    case TokenKind::not_equal:
      return Op::not_equal;
    default:
      return Op::none;
  }
}

// compare = arith [ ("<"|"<="|">"|">="|"="|"!=") arith | "in" ( range | arith ) ]
NodeId Parser::read_comparison() {
  const std::size_t first = at_;
  const NodeId left = read_arithmetic();
  if (!left.valid()) return {};
  if (const Op op = comparison_operator(); op != Op::none) {
    ++at_;
    const std::size_t middle = at_;
    const NodeId right = read_arithmetic();
    if (!right.valid()) return {};
    if (comparison_operator() != Op::none) {
      const std::string both(sources_.text(span_from(first)));
      const std::string shared(sources_.text(span_from(middle)));
      const std::size_t second = at_++;
      if (!read_arithmetic().valid()) return {};
      const base::Span rest{tokens_.file, token(second).begin, token(at_ - 1).end};
      diags_.report(span_of(second), chained_comparison).hint("write `{} && {} {}`", both, shared, sources_.text(rest));
      return {};
    }
    return add({.kind = NodeKind::compare, .op = op, .span = span_from(first)}, {left, right});
  }
  if (word() != Word::in || kind(1) == TokenKind::left_brace) return left;
  ++at_;
  const NodeId low = read_arithmetic();
  if (!low.valid()) return {};
  if (!accept(TokenKind::dot_dot)) return add({.kind = NodeKind::in_set, .span = span_from(first)}, {left, low});
  const NodeId high = read_arithmetic();
  if (!high.valid()) return {};
  return add({.kind = NodeKind::in_range, .span = span_from(first)}, {left, low, high});
}

// range = arith ".." arith
bool Parser::read_range(NodeId& low, NodeId& high) {
  low = read_arithmetic();
  if (!low.valid()) return false;
  if (!accept(TokenKind::dot_dot)) {
    diag::Sink::Reported reported = report_expected("`..`");
    if (at(TokenKind::colon) && spells("loop", 2))
      reported.hint("a loop reads `for i in {}..{} {{ .. }}`", sources_.text(tree_[low].span), text(at_ + 1));
    else if (at(TokenKind::colon))
      reported.hint("a range is written `{}..{}`", sources_.text(tree_[low].span), text(at_ + 1));
    else
      reported.hint("a range is written `1..6`");
    return false;
  }
  high = read_arithmetic();
  return high.valid();
}

// arith = term { ("+"|"-") term }
NodeId Parser::read_arithmetic() {
  const std::size_t first = at_;
  const NodeId left = read_term();
  if (!left.valid() || !(at(TokenKind::plus) || at(TokenKind::minus))) return left;
  std::vector<Child> children = {{left, Op::plus}};
  while (at(TokenKind::plus) || at(TokenKind::minus)) {
    const Op op = at(TokenKind::plus) ? Op::plus : Op::minus;
    ++at_;
    const NodeId right = read_term();
    if (!right.valid()) return {};
    children.push_back({right, op});
  }
  return add({.kind = NodeKind::sum, .span = span_from(first)}, children);
}

// term = sign { ("*"|"/") sign }
NodeId Parser::read_term() {
  const std::size_t first = at_;
  const NodeId left = read_sign();
  if (!left.valid() || !(at(TokenKind::star) || at(TokenKind::slash))) return left;
  std::vector<Child> children = {{left, Op::times}};
  while (at(TokenKind::star) || at(TokenKind::slash)) {
    const Op op = at(TokenKind::star) ? Op::times : Op::divide;
    ++at_;
    const NodeId right = read_sign();
    if (!right.valid()) return {};
    children.push_back({right, op});
  }
  return add({.kind = NodeKind::product, .span = span_from(first)}, children);
}

// sign = ("-"|"+") sign | power
NodeId Parser::read_sign() {
  while (accept(TokenKind::plus)) {
  }
  if (!at(TokenKind::minus)) return read_power();
  const Level level(*this);
  if (!level.ok()) return {};
  const std::size_t first = at_++;
  const NodeId operand = read_sign();
  if (!operand.valid()) return {};
  return add({.kind = NodeKind::negate, .span = span_from(first)}, {operand});
}

// power = postfix [ "^" sign ]
NodeId Parser::read_power() {
  const std::size_t first = at_;
  const NodeId base = read_postfix();
  if (!base.valid() || !accept(TokenKind::caret)) return base;
  const Level level(*this);
  if (!level.ok()) return {};
  const NodeId exponent = read_sign();
  if (!exponent.valid()) return {};
  return add({.kind = NodeKind::power, .span = span_from(first)}, {base, exponent});
}

// postfix = NUMBER [unit] | primary { "'" | "[" .. "]" | "(" .. ")" | "." WORD }
NodeId Parser::read_postfix() {
  const std::size_t first = at_;
  if (!at(TokenKind::number)) {
    const NodeId primary = read_primary();
    return primary.valid() ? read_suffixes(primary, first, true) : primary;
  }
  const NodeId number = read_number();
  if (!number.valid()) return {};
  // `2x` and `2 (x + 1)`.
  const bool factor = (at_name() && adjacent(at_)) || (at(TokenKind::left_paren) && !on_new_line(at_));
  if (!factor) return number;
  const std::string_view left = sources_.text(span_from(first));
  if (at_name() && find_unit(text(at_)))
    diags_.report(end_of_previous(), missing_product)
        .hint("a unit stands in brackets: `{0} [{1}]`; a product is written `{0} * {1}`", left, text(at_));
  else
    diags_.report(end_of_previous(), missing_product).hint("write `{} * {}`", left, at_name() ? text(at_) : "(..)");
  const NodeId right = read_power();
  if (!right.valid()) return {};
  const Child children[] = {{number, Op::times}, {right, Op::times}};
  return add({.kind = NodeKind::product, .span = span_from(first)}, children);
}

NodeId Parser::read_suffixes(NodeId node, std::size_t first, bool calls) {
  while (node.valid()) {
    if (at(TokenKind::prime)) {
      node = read_primes(node, first);
    } else if (at(TokenKind::left_bracket)) {
      node = read_index(node, first, calls);
    } else if (calls && at(TokenKind::left_paren)) {
      node = read_call(node, first);
    } else if (at(TokenKind::dot) && kind(1) == TokenKind::name) {
      at_ += 2;
      node = add({.kind = NodeKind::member, .span = span_from(first), .name = tokens_.name(at_ - 1)}, {node});
    } else {
      return node;
    }
  }
  return node;
}

NodeId Parser::read_primes(NodeId node, std::size_t first) {
  const std::size_t begin = at_;
  while (accept(TokenKind::prime)) {
  }
  const std::uint32_t count = static_cast<std::uint32_t>(at_ - begin);
  if (count > max_primes) {
    diags_.report(span_from(begin), too_many_primes, count).hint("the highest order is {}", max_primes);
    return {};
  }
  return add({.kind = NodeKind::prime, .span = span_from(first), .count = count}, {node});
}

NodeId Parser::read_index(NodeId node, std::size_t first, bool several) {
  const std::size_t open = at_++;
  std::vector<Child> children = {{node}};
  do {
    const NodeId index = read_expression();
    if (!index.valid()) return {};
    children.push_back({index});
  } while (several && accept(TokenKind::comma));
  if (!accept(TokenKind::right_bracket)) {
    report_expected("`]`").related(span_of(open), "the `[` that it closes");
    return {};
  }
  return add({.kind = NodeKind::index, .span = span_from(first)}, children);
}

void Parser::report_unclosed(std::size_t open) {
  const std::string_view inside = sources_.text(span_from(open));
  diag::Sink::Reported reported = report_expected("`)`");
  reported.related(span_of(open), "the `(` that it closes");
  if (inside.size() < 60 && inside.find('\n') == std::string_view::npos) reported.hint("write `{})`", inside);
}

// "(" [ arg {"," arg} ] ")", arg = [ NAME "=" ] expr
NodeId Parser::read_call(NodeId node, std::size_t first) {
  const std::size_t open = at_++;
  std::vector<Child> children = {{node}};
  if (!at(TokenKind::right_paren)) {
    do {
      const std::size_t begin = at_;
      const bool named = at_name() && kind(1) == TokenKind::equal;
      if (named) at_ += 2;
      NodeId argument = read_expression();
      if (!argument.valid()) return {};
      if (named)
        argument = add({.kind = NodeKind::argument, .span = span_from(begin), .name = tokens_.name(begin)}, {argument});
      if (!argument.valid()) return {};
      children.push_back({argument});
    } while (accept(TokenKind::comma));
  }
  if (!accept(TokenKind::right_paren)) {
    if (word() == Word::for_ && children.size() == 2 && closing_[open] != 0) {  // sum(x for i in ..)
      report_expected("`)`").hint("what is counted stands first: `{}(i in 1..3: {})`", text(first),
                                  sources_.text(tree_[children[1].node].span));
      at_ = closing_[open] + 1;
      return {};
    }
    report_unclosed(open);
    return {};
  }
  const NodeId call = add({.kind = NodeKind::call, .span = span_from(first)}, children);
  if (call.valid() && children.size() == 2 && tree_[node].kind == NodeKind::name) foreign_calls_.push_back(call);
  return call;
}

NodeId Parser::read_primary() {
  switch (kind()) {
    case TokenKind::number:
      return read_number();
    case TokenKind::string: {
      const std::uint32_t content = add_text(tokens_.strings[token(at_).value]);
      ++at_;
      return add({.kind = NodeKind::string, .span = span_of(at_ - 1), .text = content});
    }
    case TokenKind::left_paren:
      return read_group();
    case TokenKind::name:
      break;
    default:
      report_expected_expression();
      return {};
  }
  if (spells("true") || spells("false")) {
    const double value = spells("true") ? 1 : 0;
    ++at_;
    return add({.kind = NodeKind::boolean, .span = span_of(at_ - 1), .number = value});
  }
  if (word() == Word::if_) return read_conditional();
  if (spells("sum") && kind(1) == TokenKind::left_paren && kind(2) == TokenKind::name && word(3) == Word::in)
    return read_sum_over();
  if ((spells("always") || spells("eventually")) &&
      (kind(1) == TokenKind::left_paren || kind(1) == TokenKind::left_bracket))
    return read_temporal();
  if (word() == Word::then || word() == Word::else_ || word() == Word::in) {
    report_expected_expression();
    return {};
  }
  if (word() != Word::none) report_reserved();
  ++at_;
  return add_name(at_ - 1);
}

NodeId Parser::read_number() {
  const std::size_t first = at_++;
  Node node{.kind = NodeKind::number, .number = tokens_.numbers[token(first).value]};
  if (at(TokenKind::left_bracket)) {
    const std::size_t open = at_;
    const std::optional<Measure> measure = read_unit();
    if (!measure) return {};
    node.number = to_si(node.number, measure->scale);
    std::string_view text = sources_.text(base::Span{tokens_.file, token(open).end, token(at_ - 1).begin});
    while (text.ends_with(' ')) text.remove_suffix(1);
    while (text.starts_with(' ')) text.remove_prefix(1);
    node.unit = tree_.units.add({std::string(text), *measure});
    if (!std::isfinite(node.number)) {
      diags_.report(span_from(first), number_out_of_range).hint("the largest number is about 1.8e308");
      return {};
    }
  }
  node.span = span_from(first);
  return add(node);
}

// "(" expr {"," expr} ")"
NodeId Parser::read_group() {
  const std::size_t open = at_++;
  const NodeId first = read_expression();
  if (!first.valid()) return {};
  std::vector<Child> children;
  while (accept(TokenKind::comma)) {
    if (children.empty()) children.push_back({first});
    const NodeId next = read_expression();
    if (!next.valid()) return {};
    children.push_back({next});
  }
  if (!accept(TokenKind::right_paren)) {
    report_unclosed(open);
    return {};
  }
  return children.empty() ? first : add({.kind = NodeKind::tuple, .span = span_from(open)}, children);
}

// "if" "(" expr "," expr "," expr ")" when the group holds exactly three, else "if" expr "then" expr "else" expr.
// A group of three before `in` or `then` is a vector: `if (1, 1, 1) in box(a, b) then 1 else 0`.
NodeId Parser::read_conditional() {
  const std::size_t first = at_++;
  const Word after = at(TokenKind::left_paren) && closing_[at_] != 0 ? word_at(closing_[at_] + 1) : Word::none;
  const bool call = at(TokenKind::left_paren) && holds_three_[at_] && after != Word::in && after != Word::then;
  NodeId parts[3];
  if (call) ++at_;
  for (int i = 0; i < 3; ++i) {
    if (i > 0 && call && !expect(TokenKind::comma)) return {};
    if (i > 0 && !call) {
      const Word separator = i == 1 ? Word::then : Word::else_;
      if (word() != separator) {
        diag::Sink::Reported reported = report_expected(i == 1 ? "`then`" : "`else`");
        reported.related(span_of(first), "of this `if`");
        const Node& chosen = tree_[parts[i - 1]];
        if (i == 2 && chosen.kind == NodeKind::compare && chosen.op == Op::equal && at(TokenKind::semicolon))
          reported.hint("`if` chooses a value, not an equation: `{} = if {} then {} else ..;`",
                        sources_.text(tree_[tree_.child(parts[1], 0)].span), sources_.text(tree_[parts[0]].span),
                        sources_.text(tree_[tree_.child(parts[1], 1)].span));
        else if (i == 2)
          reported.hint("a value is needed in either case: `if c then a else b`");
        else
          reported.hint("a choice is written `if c then a else b`");
        return {};
      }
      ++at_;
    }
    parts[i] = read_expression();
    if (!parts[i].valid()) return {};
  }
  if (call && !expect(TokenKind::right_paren)) return {};
  return add({.kind = NodeKind::conditional, .span = span_from(first)}, {parts[0], parts[1], parts[2]});
}

// "sum" "(" NAME "in" range ":" expr ")"
NodeId Parser::read_sum_over() {
  const Level level(*this);
  if (!level.ok()) return {};
  const std::size_t first = at_;
  at_ += 2;
  const base::NameId name = read_name("the name that counts");
  if (!name.valid()) return {};
  ++at_;  // in
  NodeId low, high;
  if (!read_range(low, high) || !expect(TokenKind::colon)) return {};
  const NodeId body = read_expression();
  if (!body.valid() || !expect(TokenKind::right_paren)) return {};
  return add({.kind = NodeKind::sum_over, .span = span_from(first), .name = name}, {low, high, body});
}

// value = ["-"] NUMBER [unit] | NAME | STRING | "(" expr ")"
NodeId Parser::read_value() {
  const std::size_t first = at_;
  NodeId value;
  if (at(TokenKind::minus) && kind(1) == TokenKind::number) {
    ++at_;
    value = read_number();
    if (value.valid()) value = add({.kind = NodeKind::negate, .span = span_from(first)}, {value});
  } else if (at(TokenKind::number)) {
    value = read_number();
  } else if (at(TokenKind::left_paren)) {
    value = read_group();
  } else if (at_name() || at(TokenKind::string) || word() == Word::true_ || word() == Word::false_) {
    value = read_primary();
  } else if (!at(TokenKind::minus)) {
    report_expected("a value");
    return {};
  }
  if (at_ != first && !value.valid()) return {};
  switch (kind()) {
    case TokenKind::plus:
    case TokenKind::minus:
    case TokenKind::star:
    case TokenKind::slash:
    case TokenKind::caret:
    case TokenKind::prime:
    case TokenKind::left_bracket:
    case TokenKind::left_paren:
    case TokenKind::dot:
      break;
    default:
      return value;
  }
  // Behind a value no operator can stand: the whole of it is an expression without its parentheses.
  at_ = first;
  value = read_arithmetic();
  if (!value.valid()) return {};
  diags_.report(span_from(first), bare_expression).hint("write `({})`", sources_.text(span_from(first)));
  return value;
}

// var = NAME { "'" | "[" expr "]" | "." WORD }
NodeId Parser::read_variable() {
  const std::size_t first = at_;
  if (!read_name("the name of a variable").valid()) return {};
  return read_suffixes(add_name(first), first, false);
}

// unit = "[" uterm { ("*"|"/") uterm } "]"
std::optional<Measure> Parser::read_unit() {
  const std::size_t open = at_++;
  const std::optional<Measure> measure = read_unit_product();
  if (!measure) return std::nullopt;
  if (!accept(TokenKind::right_bracket)) {
    diag::Sink::Reported reported = report_expected("the `]` of the unit");
    reported.related(span_of(open), "behind a number, `[` begins a unit");
    if (at(TokenKind::name) && find_unit(text(at_))) reported.hint("units are multiplied with `*`: `[kg*m/s]`");
    return std::nullopt;
  }
  return measure;
}

std::optional<Measure> Parser::read_unit_product() {
  std::optional<Measure> product = read_unit_term();
  while (product && (at(TokenKind::star) || at(TokenKind::slash))) {
    const bool divides = at(TokenKind::slash);
    ++at_;
    const std::optional<Measure> factor = read_unit_term();
    if (!factor) return std::nullopt;
    product = multiply(*product, divides ? raise(*factor, -1) : *factor);
  }
  return product;
}

// uterm = ( WORD | "1" | "(" uterm { ("*"|"/") uterm } ")" ) [ "^" ["-"] NUMBER ]
std::optional<Measure> Parser::read_unit_term() {
  const Level level(*this);
  if (!level.ok()) return std::nullopt;
  const std::size_t first = at_;
  std::optional<Measure> measure;
  if (at(TokenKind::name)) {
    measure = find_unit(text(at_));
    if (!measure) {
      std::string symbol(text(at_));
      diag::Sink::Reported reported = diags_.report(here(), unknown_unit, symbol);
      if (const std::string advice = advise_unit(symbol); !advice.empty()) reported.hint("{}", advice);
      return std::nullopt;
    }
    ++at_;
  } else if (at(TokenKind::number) && tokens_.numbers[token(at_).value] == 1) {
    measure = Measure();
    ++at_;
  } else if (accept(TokenKind::left_paren)) {
    measure = read_unit_product();
    if (!measure || !expect(TokenKind::right_paren)) return std::nullopt;
  } else {
    report_expected("a unit").hint(
        "behind a number, `[` begins a unit such as `[m/s^2]`; an index stands behind a name");
    return std::nullopt;
  }
  if (!accept(TokenKind::caret)) return measure;
  const bool negative = accept(TokenKind::minus);
  if (!at(TokenKind::number)) {
    report_expected("the exponent of the unit, a number");
    return std::nullopt;
  }
  const double exponent = tokens_.numbers[token(at_).value];
  ++at_;
  if (exponent > max_unit_exponent) {
    diags_.report(span_from(first), exponent_out_of_range).hint("exponents of units go up to {}", max_unit_exponent);
    return std::nullopt;
  }
  return raise(*measure, negative ? -exponent : exponent);
}

}  // namespace parse
