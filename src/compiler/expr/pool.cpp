#include "compiler/expr/pool.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "compiler/expr/budget.h"
#include "compiler/expr/shape.h"
#include "kernel/elementary.h"

namespace expr {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdull;
}

std::uint64_t hash(const Node& node) {
  std::uint64_t h = mix(static_cast<std::uint64_t>(node.op) | (std::uint64_t(node.order_b) << 8), node.order);
  h = mix(h, node.index);
  h = mix(h, (std::uint64_t(node.a.value) << 32) | node.b.value);
  h = mix(h, node.c.value);
  h = mix(h, std::bit_cast<std::uint64_t>(node.number));
  return h ^ (h >> 29);
}

bool same(const Node& x, const Node& y) {
  return x.op == y.op && x.order == y.order && x.order_b == y.order_b && x.index == y.index && x.a == y.a &&
         x.b == y.b && x.c == y.c && std::bit_cast<std::uint64_t>(x.number) == std::bit_cast<std::uint64_t>(y.number);
}

}  // namespace

double compute(Op op, double a, double b) {
  switch (op) {
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::multiply:
      return a * b;
    case Op::divide:
      return a / b;
    case Op::negate:
      return -a;
    case Op::square_root:
      return tk_sqrt(a);
    case Op::absolute:
      return tk_abs(a);
    case Op::floor:
      return tk_floor(a);
    case Op::ceil:
      return tk_ceil(a);
    case Op::sin:
      return tk_sin(a);
    case Op::cos:
      return tk_cos(a);
    case Op::tan:
      return tk_tan(a);
    case Op::asin:
      return tk_asin(a);
    case Op::acos:
      return tk_acos(a);
    case Op::atan:
      return tk_atan(a);
    case Op::atan2:
      return tk_atan2(a, b);
    case Op::exp:
      return tk_exp(a);
    case Op::log:
      return tk_log(a);
    case Op::power:
      return tk_pow(a, b);
    case Op::less:
      return a < b;
    case Op::less_equal:
      return a <= b;
    case Op::equal:
      return a == b;
    case Op::not_equal:
      return a != b;
    default:
      TACTUS_CHECK(!"an operation on doubles");
      return 0;
  }
}

std::string describe(const Shape& shape) {
  if (shape.is_scalar()) return "a scalar";
  if (shape.is_vector()) return fmt::format("a vector of {}", shape.rows);
  return fmt::format("a {} x {} matrix", shape.rows, shape.columns);
}

bool is_leaf(Op op) { return op <= Op::delayed || op == Op::truth; }

bool has_kink(Op op) {
  return op == Op::absolute || op == Op::floor || op == Op::ceil || op == Op::less || op == Op::less_equal;
}

int operand_count(Op op) {
  switch (op) {
    case Op::select:
      return 3;
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::divide:
    case Op::atan2:
    case Op::power:
    case Op::table_2:
    case Op::less:
    case Op::less_equal:
    case Op::equal:
    case Op::not_equal:
    case Op::logical_and:
    case Op::logical_or:
      return 2;
    default:
      return is_leaf(op) ? 0 : 1;
  }
}

const char* name(Op op) {
  static constexpr const char* names[] = {
      "constant", "t",    "variable", "input", "input_rate", "parameter", "discrete", "delayed", "+",     "-",
      "*",        "/",    "-",        "sqrt",  "abs",        "floor",     "ceil",     "sin",     "cos",   "tan",
      "asin",     "acos", "atan",     "atan2", "exp",        "log",       "power",    "table",   "table", "noise",
      "if",       "<",    "<=",       "=",     "!=",         "&&",        "||",       "!",       "truth"};
  return names[static_cast<int>(op)];
}

bool Pool::is_truth(ExprId id) const {
  Op op = nodes_[id.value].op;
  return op >= Op::less && op <= Op::truth;
}

ExprId Pool::constant(double number) {
  Node node{Op::constant};
  node.number = number;
  return intern(node);
}

ExprId Pool::truth(bool value) {
  Node node{Op::truth};
  node.number = value ? 1 : 0;
  return intern(node);
}

ExprId Pool::leaf(Op op, std::uint32_t index, std::uint32_t order) {
  Node node{op};
  node.index = index;
  node.order = order;
  return intern(node);
}

ExprId Pool::table(std::uint32_t index, ExprId a, std::uint32_t order) {
  Node node{Op::table};
  node.index = index;
  node.order = order;
  node.a = a;
  return intern(node);
}

ExprId Pool::table_2(std::uint32_t index, ExprId a, ExprId b, std::uint32_t order_a, std::uint32_t order_b) {
  if (order_b > std::numeric_limits<std::uint8_t>::max()) Budget::spend(most_expressions);
  TACTUS_CHECK(order_b <= std::numeric_limits<std::uint8_t>::max());
  Node node{Op::table_2};
  node.index = index;
  node.order = order_a;
  node.order_b = static_cast<std::uint8_t>(order_b);
  node.a = a;
  node.b = b;
  return intern(node);
}

ExprId Pool::noise(double seed, ExprId phase) {
  Node node{Op::noise};
  node.number = seed;
  node.a = phase;
  return intern(node);
}

ExprId Pool::remake(const Node& node, ExprId a, ExprId b, ExprId c) {
  switch (node.op) {
    case Op::table:
      return table(node.index, a, node.order);
    case Op::table_2:
      return table_2(node.index, a, b, node.order, node.order_b);
    case Op::noise:
      return noise(node.number, a);
    default: {
      const ExprId made = make(node.op, a, b, c);
      return has_kink(node.op) && node.order > 0 ? evaluated(made) : made;
    }
  }
}

ExprId Pool::evaluated(ExprId id) {
  Node node = (*this)[id];
  if (!has_kink(node.op)) return id;
  node.order = 1;
  return intern(node);
}

ExprId Pool::sign(ExprId a, bool is_evaluated) {
  ExprId zero = constant(0);
  ExprId positive = make(Op::less, zero, a);
  ExprId negative = make(Op::less, a, zero);
  if (is_evaluated) {
    positive = evaluated(positive);
    negative = evaluated(negative);
  }
  return make(Op::select, positive, constant(1), make(Op::select, negative, constant(-1), zero));
}

void Pool::grow() {
  std::size_t size = slots_.empty() ? 1024 : slots_.size() * 2;
  slots_.assign(size, ExprId::none_value);
  for (std::uint32_t id = 0; id < nodes_.size(); ++id) {
    std::size_t at = hash(nodes_[id]) & (size - 1);
    while (slots_[at] != ExprId::none_value) at = (at + 1) & (size - 1);
    slots_[at] = id;
  }
}

ExprId Pool::intern(const Node& node) {
  Budget::request();
  if (nodes_.size() * 2 >= slots_.size()) grow();
  std::size_t at = hash(node) & (slots_.size() - 1);
  for (; slots_[at] != ExprId::none_value; at = (at + 1) & (slots_.size() - 1)) {
    if (same(nodes_[slots_[at]], node)) return ExprId(slots_[at]);
  }
  Budget::spend(1);
  slots_[at] = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(node);
  return ExprId(nodes_.size() - 1);
}

// Small whole powers are products, halves are square roots; the rest is the kernel's pow.
ExprId Pool::power(ExprId base, ExprId exponent) {
  if (is_constant(exponent)) {
    double n = (*this)[exponent].number;
    if (n == 0) return constant(1);
    if (n == 1) return base;
    if (n == 2) return multiply(base, base);
    if (n == 3) return multiply(multiply(base, base), base);
    if (n == 4) {
      ExprId square = multiply(base, base);
      return multiply(square, square);
    }
    if (n == 0.5) return make(Op::square_root, base);
    if (n == -1) return divide(constant(1), base);
    if (n == -2) return divide(constant(1), multiply(base, base));
    if (n == -3) return divide(constant(1), multiply(multiply(base, base), base));
  }
  Node node{Op::power};
  node.a = base;
  node.b = exponent;
  return intern(node);
}

ExprId Pool::make(Op op, ExprId a, ExprId b, ExprId c) {
  const int operands = operand_count(op);
  auto number = [&](ExprId id) { return (*this)[id].number; };
  // Whole operations on constants.
  if (op >= Op::add && op <= Op::power && is_constant(a) && (operands == 1 || is_constant(b))) {
    return constant(compute(op, number(a), operands == 2 ? number(b) : 0));
  }
  if (op >= Op::less && op <= Op::not_equal && is_constant(a) && is_constant(b)) {
    return truth(compute(op, number(a), number(b)) != 0);
  }
  auto is_truth_leaf = [&](ExprId id) { return (*this)[id].op == Op::truth; };
  switch (op) {
    case Op::add:
      if (is_constant(a, 0)) return b;
      if (is_constant(b, 0)) return a;
      if ((*this)[b].op == Op::negate) return subtract(a, (*this)[b].a);
      if ((*this)[a].op == Op::negate) return subtract(b, (*this)[a].a);
      break;
    case Op::subtract:
      if (is_constant(b, 0)) return a;
      if (is_constant(a, 0)) return negate(b);
      if (a == b) return constant(0);
      if ((*this)[b].op == Op::negate) return add(a, (*this)[b].a);
      break;
    case Op::multiply:
      if (is_constant(a, 0) || is_constant(b, 0)) return constant(0);
      if (is_constant(a, 1)) return b;
      if (is_constant(b, 1)) return a;
      if (is_constant(a, -1)) return negate(b);
      if (is_constant(b, -1)) return negate(a);
      if ((*this)[a].op == Op::negate && (*this)[b].op == Op::negate) return multiply((*this)[a].a, (*this)[b].a);
      if ((*this)[a].op == Op::negate) return negate(multiply((*this)[a].a, b));
      if ((*this)[b].op == Op::negate) return negate(multiply(a, (*this)[b].a));
      break;
    case Op::divide:
      if (is_constant(a, 0) && !is_constant(b, 0)) return constant(0);
      if (is_constant(b, 1)) return a;
      if (is_constant(b, -1)) return negate(a);
      if ((*this)[a].op == Op::negate && (*this)[b].op == Op::negate) return divide((*this)[a].a, (*this)[b].a);
      if ((*this)[a].op == Op::negate) return negate(divide((*this)[a].a, b));
      break;
    case Op::negate:
      if ((*this)[a].op == Op::negate) return (*this)[a].a;
      if ((*this)[a].op == Op::subtract) return subtract((*this)[a].b, (*this)[a].a);
      break;
    case Op::power:
      return power(a, b);
    case Op::select:
      if (is_truth_leaf(a)) return number(a) != 0 ? b : c;
      if (b == c) return b;
      break;
    case Op::logical_and:
      if (is_truth_leaf(a)) return number(a) != 0 ? b : a;
      if (is_truth_leaf(b)) return number(b) != 0 ? a : b;
      break;
    case Op::logical_or:
      if (is_truth_leaf(a)) return number(a) != 0 ? a : b;
      if (is_truth_leaf(b)) return number(b) != 0 ? b : a;
      break;
    case Op::logical_not:
      if (is_truth_leaf(a)) return truth(number(a) == 0);
      if ((*this)[a].op == Op::logical_not) return (*this)[a].a;
      break;
    case Op::table:
    case Op::table_2:
    case Op::noise:
      TACTUS_CHECK(!"made by their own functions");
      break;
    default:
      break;
  }
  Node node{op};
  node.a = a;
  if (operands >= 2) node.b = b;
  if (operands >= 3) node.c = c;
  return intern(node);
}

std::string print_number(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  char buffer[40];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
  return std::string(buffer, end);
}

namespace {

// Binding strength, loosest first: ||, &&, !, relations, + -, * /, unary -, ^, primary.
int strength(const Pool& pool, ExprId id) {
  const Node& node = pool[id];
  switch (node.op) {
    case Op::select:
      return 0;
    case Op::logical_or:
      return 1;
    case Op::logical_and:
      return 2;
    case Op::logical_not:
      return 3;
    case Op::less:
    case Op::less_equal:
    case Op::equal:
    case Op::not_equal:
      return 4;
    case Op::add:
    case Op::subtract:
      return 5;
    case Op::multiply:
    case Op::divide:
      return 6;
    case Op::negate:
      return 7;
    case Op::constant:
      return node.number < 0 ? 7 : 9;
    case Op::power:
      return 8;
    default:
      return 9;
  }
}

struct Printer {
  const Pool& pool;
  const LeafNames& names;
  std::string out;
  // Longer texts are cut: a message is for reading.
  static constexpr std::size_t longest = 4000;

  void write(ExprId id, int at_least, int depth) {
    if (out.size() > longest || depth > 200) {
      out += "..";
      return;
    }
    const Node& node = pool[id];
    const bool is_smooth = pool.is_evaluated(id);
    bool parentheses = is_smooth || strength(pool, id) < at_least;
    if (is_smooth) out += "smooth";
    if (parentheses) out += '(';
    int own = strength(pool, id);
    auto infix = [&](const char* text, int left, int right) {
      write(node.a, left, depth + 1);
      out += text;
      write(node.b, right, depth + 1);
    };
    switch (node.op) {
      case Op::constant:
        out += print_number(node.number);
        break;
      case Op::truth:
        out += node.number != 0 ? "true" : "false";
        break;
      case Op::time:
        out += 't';
        break;
      case Op::variable:
      case Op::input:
      case Op::input_rate:
      case Op::parameter:
      case Op::discrete:
      case Op::delayed:
        out += named(node);
        break;
      case Op::table:  // table1(x), table1''(x)
        out += named(node);
        out.append(node.order, '\'');
        arguments(node, depth);
        break;
      case Op::table_2:  // table1(x, y), table1^(1,0)(x, y)
        out += named(node);
        if (node.order > 0 || node.order_b > 0) out += fmt::format("^({},{})", node.order, node.order_b);
        arguments(node, depth);
        break;
      case Op::noise:
        out += fmt::format("noise({}, ", print_number(node.number));
        write(node.a, 0, depth + 1);
        out += ')';
        break;
      case Op::add:
        infix(" + ", own, own + 1);
        break;
      case Op::subtract:
        infix(" - ", own, own + 1);
        break;
      case Op::multiply:
        infix(" * ", own, own + 1);
        break;
      case Op::divide:
        infix(" / ", own, own + 1);
        break;
      case Op::less:
        // What holds a truth is asked whether it is 1: its name says that.
        if (pool.is_constant(node.a, 0.5) && pool[node.b].op == Op::discrete &&
            named(pool[node.b]).starts_with("held("))
          out += named(pool[node.b]);
        else
          infix(" < ", 5, 5);
        break;
      case Op::less_equal:
        infix(" <= ", 5, 5);
        break;
      case Op::equal:
        infix(" = ", 5, 5);
        break;
      case Op::not_equal:
        infix(" != ", 5, 5);
        break;
      case Op::logical_and:
        infix(" && ", own, own + 1);
        break;
      case Op::logical_or:
        infix(" || ", own, own + 1);
        break;
      case Op::power:
        infix("^", own + 1, own);
        break;
      case Op::negate:
        out += '-';
        write(node.a, own, depth + 1);
        break;
      case Op::logical_not:
        out += '!';
        write(node.a, own, depth + 1);
        break;
      case Op::select:
        out += "if ";
        write(node.a, 0, depth + 1);
        out += " then ";
        write(node.b, 0, depth + 1);
        out += " else ";
        write(node.c, 0, depth + 1);
        break;
      default:
        out += name(node.op);
        arguments(node, depth);
    }
    if (parentheses) out += ')';
  }

  std::string named(const Node& node) const {
    std::string given = names(node);
    return given.empty() ? fmt::format("{}{}", name(node.op), node.index + 1) : given;
  }

  void arguments(const Node& node, int depth) {
    out += '(';
    write(node.a, 0, depth + 1);
    if (operand_count(node.op) == 2) {
      out += ", ";
      write(node.b, 0, depth + 1);
    }
    out += ')';
  }
};

}  // namespace

std::string print(const Pool& pool, ExprId id, const LeafNames& names) {
  Printer printer{pool, names, {}};
  printer.write(id, 0, 0);
  return std::move(printer.out);
}

}  // namespace expr
