#include "compiler/proof/polynomial.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "base/check.h"

namespace proof {

using expr::Op;

namespace {

constexpr std::size_t most_steps = 5000;
constexpr double largest_exponent = 64;
constexpr double margin_of_second_try = 0x1p-20;
// Bounds of what is no fraction.
constexpr const char* half_turn = "3.1415926535897933";
constexpr const char* quarter_turn = "1.5707963267948967";
constexpr const char* less_than_quarter_turn = "1.5707963267948966";

// All digits of a double: it has finitely many.
std::string exact(double number) {
  TACTUS_CHECK(std::isfinite(number));
  int exponent = 0;
  double mantissa = std::frexp(std::abs(number), &exponent);
  int decimals = 1;
  if (mantissa != 0) {
    int bits = 0;
    while (mantissa != std::floor(mantissa)) {
      mantissa *= 2;
      ++bits;
    }
    decimals = std::max(1, bits - exponent);
  }
  std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, "%.*f", decimals, std::abs(number))), '0');
  std::snprintf(text.data(), text.size() + 1, "%.*f", decimals, std::abs(number));
  return number < 0 ? "(- " + text + ")" : text;
}

class Writer {
 public:
  Writer(const Tape& tape, double margin) : tape_(tape), margin_(margin) {}

  std::string write() {
    find_polarities();
    for (std::size_t i = 0; i < tape_.leaves.size(); ++i) {
      const Leaf& leaf = tape_.leaves[i];
      declare(fmt::format("x{}", i));
      if (std::isfinite(leaf.low)) require(fmt::format("(<= {} x{})", exact(leaf.low), i));
      if (std::isfinite(leaf.high)) require(fmt::format("(<= x{} {})", i, exact(leaf.high)));
    }
    for (std::size_t i = 0; i < tape_.steps.size(); ++i) step(static_cast<int>(i));
    for (const int claim : tape_.claims()) require(terms_[claim]);
    std::string text = "(set-option :pp.decimal true)\n(set-option :pp.decimal_precision 25)\n(set-logic QF_NRA)\n";
    text += out_;
    text += "(check-sat)\n";
    std::string asked;
    for (std::size_t i = 0; i < tape_.leaves.size(); ++i) asked += fmt::format("x{} ", i);
    for (std::size_t i = 0; i < angles_.size(); ++i) asked += fmt::format("s{} c{} ", i, i);
    if (!asked.empty()) text += fmt::format("(get-value ({}))\n", asked);
    return text;
  }

  const std::vector<int>& angles() const { return angles_; }

 private:
  // In which direction the goals need a relation: more of it, less of it, both.
  void find_polarities() {
    polarities_.assign(tape_.steps.size(), 0);
    for (const int claim : tape_.claims()) polarities_[claim] |= 1;
    for (int i = static_cast<int>(tape_.steps.size()) - 1; i >= 0; --i) {
      const Step& step = tape_.steps[i];
      const int own = polarities_[i];
      const int swapped = ((own & 1) << 1) | (own >> 1);
      switch (step.node.op) {
        case Op::logical_and:
        case Op::logical_or:
          polarities_[step.a] |= own;
          polarities_[step.b] |= own;
          break;
        case Op::logical_not:
          polarities_[step.a] |= swapped;
          break;
        case Op::select:
          polarities_[step.a] |= 3;
          break;
        default:
          break;
      }
    }
  }

  void declare(const std::string& name, const char* sort = "Real") {
    out_ += fmt::format("(declare-fun {} () {})\n", name, sort);
  }
  void require(const std::string& formula) { out_ += fmt::format("(assert {})\n", formula); }
  std::string variable() {
    std::string name = fmt::format("a{}", variables_++);
    declare(name);
    return name;
  }
  std::string define(const std::string& body, const char* sort = "Real") {
    std::string name = fmt::format("n{}", definitions_++);
    out_ += fmt::format("(define-fun {} () {} {})\n", name, sort, body);
    return name;
  }

  // Whether a step is a number at all: "" if always, else a formula.
  static std::string both(const std::string& a, const std::string& b) {
    if (a.empty() || a == b) return b;
    if (b.empty()) return a;
    return fmt::format("(and {} {})", a, b);
  }
  std::string where_defined(const Step& step) const {
    std::string all;
    for (const int operand : {step.a, step.b, step.c})
      if (operand >= 0) all = both(all, defined_[operand]);
    return all;
  }
  std::string named(const std::string& formula) {
    return formula.empty() || formula.front() != '(' ? formula : define(formula, "Bool");
  }

  std::string quotient(const std::string& a, const std::string& b, std::string& defined) {
    const std::string q = variable();
    require(fmt::format("(or (= {} 0.0) (= (* {} {}) {}))", b, q, b, a));
    defined = both(defined, fmt::format("(not (and (= {} 0.0) (= {} 0.0)))", a, b));
    return q;
  }

  std::string root(const std::string& a, std::string& defined) {
    const std::string s = variable();
    require(fmt::format("(<= 0.0 {})", s));
    require(fmt::format("(or (< {} 0.0) (= (* {} {}) {}))", a, s, s, a));
    defined = both(defined, fmt::format("(<= 0.0 {})", a));
    return s;
  }

  // By squaring.
  std::string whole_power(const std::string& base, int exponent) {
    std::string result, square = base;
    for (int left = exponent; left > 0; left /= 2) {
      if (left % 2 == 1) result = result.empty() ? square : define(fmt::format("(* {} {})", result, square));
      if (left > 1) square = define(fmt::format("(* {} {})", square, square));
    }
    return result.empty() ? "1.0" : result;
  }

  std::string power(const Step& step, std::string& defined) {
    const std::string& base = terms_[step.a];
    const expr::Node& exponent = tape_.steps[step.b].node;
    if (exponent.op == Op::constant && std::abs(exponent.number) <= largest_exponent) {
      const double size = std::abs(exponent.number);
      const double whole = std::floor(size);
      std::string result;
      if (size == whole) result = whole_power(base, static_cast<int>(whole));
      if (size == whole + 0.5) {
        result = root(base, defined);
        if (whole > 0) result = define(fmt::format("(* {} {})", result, whole_power(base, static_cast<int>(whole))));
      }
      if (!result.empty()) return exponent.number < 0 ? quotient("1.0", result, defined) : result;
    }
    const std::string p = variable();
    require(fmt::format("(or (<= {} 0.0) (< 0.0 {}))", base, p));
    const std::string is_number = fmt::format("u{}", variables_++);
    declare(is_number, "Bool");
    require(fmt::format("(or (< {} 0.0) {})", base, is_number));
    defined = both(defined, is_number);
    return p;
  }

  // Sine and cosine of step `argument`: their variables, and the sign of the sine.
  std::pair<int, bool> angle(int argument) {
    bool is_negated = false;
    while (tape_.steps[argument].node.op == Op::negate) {
      argument = tape_.steps[argument].a;
      is_negated = !is_negated;
    }
    const auto [place, is_new] = angle_of_.try_emplace(argument, static_cast<int>(angles_.size()));
    if (is_new) {
      const int k = place->second;
      angles_.push_back(argument);
      declare(fmt::format("s{}", k));
      declare(fmt::format("c{}", k));
      require(fmt::format("(= (+ (* s{0} s{0}) (* c{0} c{0})) 1.0)", k));
    }
    return {place->second, is_negated};
  }
  static std::string sine(const std::pair<int, bool>& angle) {
    return angle.second ? fmt::format("(- s{})", angle.first) : fmt::format("s{}", angle.first);
  }

  std::string relation(int i, const char* sign, bool is_ordered) {
    const Step& step = tape_.steps[i];
    std::string right = terms_[step.b];
    if (margin_ > 0 && is_ordered && polarities_[i] == 1) right = fmt::format("(- {} {})", right, exact(margin_));
    if (margin_ > 0 && is_ordered && polarities_[i] == 2) right = fmt::format("(+ {} {})", right, exact(margin_));
    const std::string compared = fmt::format("({} {} {})", sign, terms_[step.a], right);
    const std::string defined = where_defined(step);
    return defined.empty() ? compared : fmt::format("(and {} {})", defined, compared);
  }

  void step(int i) {
    const Step& step = tape_.steps[i];
    std::string defined = where_defined(step);
    auto a = [&]() -> const std::string& { return terms_[step.a]; };
    auto b = [&]() -> const std::string& { return terms_[step.b]; };
    auto infix = [&](const char* sign) { return define(fmt::format("({} {} {})", sign, a(), b())); };
    auto truth = [&](const std::string& body) {
      defined.clear();
      return define(body, "Bool");
    };
    auto bounded = [&](const char* low, const char* high) {
      std::string made = variable();
      require(fmt::format("(and (<= {} {}) (<= {} {}))", low, made, made, high));
      return made;
    };
    std::string term;
    switch (step.node.op) {
      case Op::constant:
        if (std::isfinite(step.node.number)) {
          term = exact(step.node.number);
        } else {
          term = variable();
          if (std::isnan(step.node.number)) defined = "false";
        }
        break;
      case Op::truth:
        term = step.node.number != 0 ? "true" : "false";
        break;
      case Op::time:
      case Op::variable:
      case Op::input:
      case Op::input_rate:
      case Op::parameter:
      case Op::discrete:
      case Op::delayed:
        term = fmt::format("x{}", step.leaf);
        break;
      case Op::add:
        term = infix("+");
        break;
      case Op::subtract:
        term = infix("-");
        break;
      case Op::multiply:
        term = infix("*");
        break;
      case Op::negate:
        term = define(fmt::format("(- {})", a()));
        break;
      case Op::divide: {
        const expr::Node& divisor = tape_.steps[step.b].node;
        const bool is_number = divisor.op == Op::constant && std::isfinite(divisor.number) && divisor.number != 0;
        term = is_number ? infix("/") : quotient(a(), b(), defined);
        break;
      }
      case Op::square_root:
        term = root(a(), defined);
        break;
      case Op::absolute:
        term = define(fmt::format("(ite (< {} 0.0) (- {}) {})", a(), a(), a()));
        break;
      case Op::floor:
        term = variable();
        require(fmt::format("(and (<= {0} {1}) (< {1} (+ {0} 1.0)))", term, a()));
        break;
      case Op::ceil:
        term = variable();
        require(fmt::format("(and (<= {1} {0}) (< (- {0} 1.0) {1}))", term, a()));
        break;
      case Op::sin:
        term = sine(angle(step.a));
        break;
      case Op::cos:
        term = fmt::format("c{}", angle(step.a).first);
        break;
      case Op::tan: {
        const auto of = angle(step.a);
        std::string never_zero_by_zero;
        term = quotient(sine(of), fmt::format("c{}", of.first), never_zero_by_zero);
        break;
      }
      case Op::asin:
        term = bounded((std::string("(- ") + quarter_turn + ")").c_str(), quarter_turn);
        require(fmt::format("(and (= (< 0.0 {0}) (< 0.0 {1})) (= (< {0} 0.0) (< {1} 0.0)))", term, a()));
        defined = both(defined, fmt::format("(and (<= (- 1.0) {0}) (<= {0} 1.0))", a()));
        break;
      case Op::acos:
        term = bounded("0.0", half_turn);
        defined = both(defined, fmt::format("(and (<= (- 1.0) {0}) (<= {0} 1.0))", a()));
        break;
      case Op::atan:
        term = bounded((std::string("(- ") + quarter_turn + ")").c_str(), quarter_turn);
        require(fmt::format("(and (= (< 0.0 {0}) (< 0.0 {1})) (= (< {0} 0.0) (< {1} 0.0)))", term, a()));
        break;
      case Op::atan2:
        term = bounded((std::string("(- ") + half_turn + ")").c_str(), half_turn);
        require(fmt::format("(and (or (<= {1} 0.0) (< 0.0 {0})) (or (<= 0.0 {1}) (< {0} 0.0)))", term, a()));
        require(fmt::format("(or (<= {1} 0.0) (and (<= (- {2}) {0}) (<= {0} {2})))", term, b(), quarter_turn));
        require(fmt::format("(or (<= 0.0 {1}) (<= {0} (- {2})) (<= {2} {0}))", term, b(), less_than_quarter_turn));
        require(fmt::format("(or (not (= {1} 0.0)) (< {2} 0.0) (= {0} 0.0))", term, a(), b()));
        break;
      case Op::exp:
        term = variable();
        require(fmt::format("(and (< 0.0 {0}) (<= (+ 1.0 {1}) {0}))", term, a()));
        break;
      case Op::log:
        term = variable();
        require(fmt::format("(or (<= {1} 0.0) (<= {0} (- {1} 1.0)))", term, a()));
        defined = both(defined, fmt::format("(<= 0.0 {})", a()));
        break;
      case Op::power:
        term = power(step, defined);
        break;
      case Op::table:
      case Op::table_2:
      case Op::noise:
        term = variable();
        break;
      case Op::select: {
        term = define(fmt::format("(ite {} {} {})", a(), b(), terms_[step.c]));
        const std::string& chosen = defined_[step.b];
        const std::string& other = defined_[step.c];
        defined = chosen == other ? chosen
                                  : fmt::format("(ite {} {} {})", a(), chosen.empty() ? "true" : chosen,
                                                other.empty() ? "true" : other);
        break;
      }
      case Op::less:
        term = truth(relation(i, "<", true));
        break;
      case Op::less_equal:
        term = truth(relation(i, "<=", true));
        break;
      case Op::equal:
        term = truth(relation(i, "=", false));
        break;
      case Op::not_equal:
        term = truth(fmt::format("(not {})", relation(i, "=", false)));
        break;
      case Op::logical_and:
        term = truth(fmt::format("(and {} {})", a(), b()));
        break;
      case Op::logical_or:
        term = truth(fmt::format("(or {} {})", a(), b()));
        break;
      case Op::logical_not:
        term = truth(fmt::format("(not {})", a()));
        break;
    }
    terms_.push_back(std::move(term));
    defined_.push_back(named(defined));
  }

  const Tape& tape_;
  const double margin_;
  std::string out_;
  std::vector<std::string> terms_;    // by step
  std::vector<std::string> defined_;  // by step
  std::vector<int> polarities_;       // by step; 1: more of it fulfils the goals sooner, 2: less of it, 3: both
  std::vector<int> angles_;           // the arguments
  std::map<int, int> angle_of_;
  int variables_ = 0;
  int definitions_ = 0;
};

// --- Answers --------------------------------------------------------------------------------------------------------

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  // ((name value) ..), `count` of them.
  std::optional<std::vector<double>> pairs(std::size_t count) {
    std::vector<double> values;
    if (!take('(')) return std::nullopt;
    for (std::size_t i = 0; i < count; ++i) {
      if (!take('(') || word().empty()) return std::nullopt;
      const auto value = number(0);
      if (!value || !take(')')) return std::nullopt;
      values.push_back(*value);
    }
    return take(')') ? std::optional(values) : std::nullopt;
  }

 private:
  static constexpr int deepest = 8;

  void skip() {
    while (!text_.empty() && std::string_view(" \t\r\n").find(text_.front()) != std::string_view::npos)
      text_.remove_prefix(1);
  }
  bool take(char sign) {
    skip();
    if (text_.empty() || text_.front() != sign) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::string word() {
    skip();
    const std::size_t end = std::min(text_.find_first_of(" \t\r\n()"), text_.size());
    std::string taken(text_.substr(0, end));
    text_.remove_prefix(end);
    return taken;
  }
  // 12.5, 1.41? (cut off), (- v), (/ v v)
  std::optional<double> number(int depth) {
    if (depth > deepest) return std::nullopt;
    if (take('(')) {
      const std::string operation = word();
      const auto first = number(depth + 1);
      if (!first) return std::nullopt;
      if (operation == "-") return take(')') ? std::optional(-*first) : std::nullopt;
      const auto second = number(depth + 1);
      if (operation != "/" || !second || *second == 0 || !take(')')) return std::nullopt;
      return *first / *second;
    }
    std::string digits = word();
    if (!digits.empty() && digits.back() == '?') digits.pop_back();
    if (digits.empty() || digits.find_first_not_of("0123456789.") != std::string::npos) return std::nullopt;
    char* end = nullptr;
    const double value = std::strtod(digits.c_str(), &end);
    return end == digits.c_str() + digits.size() ? std::optional(value) : std::nullopt;
  }

  std::string_view text_;
};

// Z3 gave values to leaves and to the pairs on the circle. Leaves that stand only inside of arguments of sine and
// cosine are moved so that these are the angles of the pairs, as far as an argument is linear in one of them.
std::vector<double> place_leaves(const Question& question, const Tape& tape, const std::vector<int>& angles,
                                 const std::vector<double>& values) {
  const std::size_t count = tape.leaves.size();
  std::vector<double> point(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count));
  for (std::size_t i = 0; i < count; ++i) point[i] = std::clamp(point[i], tape.leaves[i].low, tape.leaves[i].high);
  if (angles.empty()) return point;

  std::vector<char> is_read(tape.steps.size(), 0);
  for (const int claim : tape.claims()) is_read[claim] = 1;
  for (int i = static_cast<int>(tape.steps.size()) - 1; i >= 0; --i) {
    const Step& step = tape.steps[i];
    const bool is_turn = step.node.op == Op::sin || step.node.op == Op::cos || step.node.op == Op::tan;
    if (!is_read[i] || is_turn) continue;
    for (const int operand : {step.a, step.b, step.c})
      if (operand >= 0) is_read[operand] = 1;
  }
  std::vector<char> is_fixed(count);
  for (std::size_t i = 0; i < count; ++i) is_fixed[i] = is_read[tape.leaves[i].step];

  auto value_of = [&](int step) {
    std::vector<double> all(static_cast<std::size_t>(step) + 1);
    auto read = [&](int operand) { return operand < 0 ? 0.0 : all[operand]; };
    for (int i = 0; i <= step; ++i) {
      const Step& each = tape.steps[i];
      all[i] = each.leaf >= 0
                   ? point[each.leaf]
                   : evaluate(question, each, read(each.a), read(each.b), read(each.c)).value_or(std::nan(""));
    }
    return all[step];
  };
  for (std::size_t k = 0; k < angles.size(); ++k) {
    const double wanted = std::atan2(values[count + 2 * k], values[count + 2 * k + 1]);
    for (std::size_t i = 0; i < count; ++i) {
      if (is_fixed[i]) continue;
      const double before = value_of(angles[k]);
      point[i] += 1;
      const double slope = value_of(angles[k]) - before;
      point[i] -= 1;
      if (slope == 0 || !std::isfinite(slope)) continue;
      const double turn = 2 * std::acos(-1.0);
      double moved = point[i] + (wanted - before) / slope;
      // Another turn may be inside of the leaf's range.
      const double period = std::abs(turn / slope);
      if (moved < tape.leaves[i].low) moved += period * std::ceil((tape.leaves[i].low - moved) / period);
      if (moved > tape.leaves[i].high) moved -= period * std::ceil((moved - tape.leaves[i].high) / period);
      point[i] = moved;
      is_fixed[i] = 1;
      break;
    }
  }
  return point;
}

}  // namespace

std::string write_smt(const Tape& tape, double margin) { return Writer(tape, margin).write(); }

std::optional<std::vector<double>> read_values(std::string_view reply, std::size_t count) {
  if (count == 0) return std::vector<double>();
  return Reader(reply).pairs(count);
}

std::optional<Verdict> decide_by_polynomials(const Question& question, const Tape& tape, const SolverProcess& solver,
                                             double seconds, std::string& why) {
  if (tape.steps.size() > most_steps) {
    why = fmt::format("the guards have {} operations, more than are given to Z3", tape.steps.size());
    return std::nullopt;
  }
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  // First as it is asked; if the point lies on an edge where doubles do not see it, once more for one inside.
  for (const double margin : {0.0, margin_of_second_try}) {
    const double left = seconds - std::chrono::duration<double>(Clock::now() - start).count();
    if (left <= 0) return std::nullopt;
    Writer writer(tape, margin);
    const SolverProcess::Reply reply = solver.ask(writer.write(), left);
    const bool is_first = margin == 0;
    if (is_first) {
      if (reply.end == SolverProcess::End::late) why = fmt::format("Z3 had no answer within {:g} s", seconds);
      if (reply.end == SolverProcess::End::too_long) why = "Z3 printed more than an answer";
      if (reply.end == SolverProcess::End::failed) why = "Z3 could not be run";
    }
    if (reply.end != SolverProcess::End::answered) return std::nullopt;
    std::string_view text = reply.text;
    const std::size_t line = std::min(text.find('\n'), text.size());
    const std::string_view word = text.substr(0, text.substr(0, line).find_last_not_of(" \r") + 1);
    text.remove_prefix(line);
    if (is_first && word == "unsat") return Verdict{Answer::exclusive, Method::polynomial, {}, {}};
    if (word != "sat") {
      if (is_first) why = word == "unknown" || word == "timeout" ? "Z3 does not know" : "Z3's answer is not understood";
      return std::nullopt;
    }
    const auto values = read_values(text, tape.leaves.size() + 2 * writer.angles().size());
    if (!values) {
      if (is_first) why = "Z3's answer is not understood";
      return std::nullopt;
    }
    const std::vector<double> point = place_leaves(question, tape, writer.angles(), *values);
    if (holds(question, tape, point))
      return Verdict{Answer::overlap, Method::polynomial, make_witness(question, tape, point), {}};
    if (is_first) why = "Z3 finds a point, but evaluated there the guards do not both hold";
  }
  return std::nullopt;
}

}  // namespace proof
