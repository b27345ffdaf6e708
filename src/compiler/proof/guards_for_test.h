// Guards written as C++ expressions, for the tests of this folder.
#pragma once

#include <string>
#include <vector>

#include "compiler/proof/question.h"

namespace proof {

struct Guards {
  struct Term {
    Guards* guards;
    ExprId id;
  };

  expr::Pool pool;
  std::vector<std::string> leaves;  // variables
  std::vector<Range> ranges;
  std::vector<Definition> definitions;
  std::vector<ExprId> assumptions;
  std::vector<ExprId> ties;

  Term number(double value) { return {this, pool.constant(value)}; }
  Term leaf(const std::string& name) {
    for (std::size_t i = 0; i < leaves.size(); ++i)
      if (leaves[i] == name) return {this, pool.variable(static_cast<std::uint32_t>(i), 0)};
    leaves.push_back(name);
    return {this, pool.variable(static_cast<std::uint32_t>(leaves.size() - 1), 0)};
  }
  Term leaf(const std::string& name, double low, double high) {
    const Term made = leaf(name);
    ranges.push_back({made.id, low, high});
    return made;
  }
  Question ask(Term first, Term second) const {
    Question question{&pool, first.id, second.id, assumptions, ties, definitions, ranges};
    question.names = [this](const expr::Node& node) {
      return node.op == expr::Op::variable ? leaves[node.index] : std::string();
    };
    return question;
  }
};

using Term = Guards::Term;

inline Term make(expr::Op op, Term a, Term b) { return {a.guards, a.guards->pool.make(op, a.id, b.id)}; }
inline Term make(expr::Op op, Term a) { return {a.guards, a.guards->pool.make(op, a.id)}; }
inline Term number(Term like, double value) { return like.guards->number(value); }

#define TACTUS_INFIX(sign, op)                                                   \
  inline Term operator sign(Term a, Term b) { return make(expr::Op::op, a, b); } \
  inline Term operator sign(Term a, double b) { return a sign number(a, b); }    \
  inline Term operator sign(double a, Term b) { return number(b, a) sign b; }
TACTUS_INFIX(+, add)
TACTUS_INFIX(-, subtract)
TACTUS_INFIX(*, multiply)
TACTUS_INFIX(/, divide)
TACTUS_INFIX(<, less)
TACTUS_INFIX(<=, less_equal)
TACTUS_INFIX(==, equal)
TACTUS_INFIX(!=, not_equal)
#undef TACTUS_INFIX
inline Term operator>(Term a, Term b) { return b < a; }
inline Term operator>(Term a, double b) { return b < a; }
inline Term operator>=(Term a, Term b) { return b <= a; }
inline Term operator>=(Term a, double b) { return b <= a; }
inline Term operator&&(Term a, Term b) { return make(expr::Op::logical_and, a, b); }
inline Term operator||(Term a, Term b) { return make(expr::Op::logical_or, a, b); }
inline Term operator!(Term a) { return make(expr::Op::logical_not, a); }
inline Term operator-(Term a) { return make(expr::Op::negate, a); }
inline Term sin(Term a) { return make(expr::Op::sin, a); }
inline Term cos(Term a) { return make(expr::Op::cos, a); }
inline Term tan(Term a) { return make(expr::Op::tan, a); }
inline Term atan(Term a) { return make(expr::Op::atan, a); }
inline Term atan2(Term a, Term b) { return make(expr::Op::atan2, a, b); }
inline Term asin(Term a) { return make(expr::Op::asin, a); }
inline Term exp(Term a) { return make(expr::Op::exp, a); }
inline Term log(Term a) { return make(expr::Op::log, a); }
inline Term sqrt(Term a) { return make(expr::Op::square_root, a); }
inline Term abs(Term a) { return make(expr::Op::absolute, a); }
inline Term floor(Term a) { return make(expr::Op::floor, a); }
inline Term power(Term a, double b) { return make(expr::Op::power, a, number(a, b)); }
inline Term select(Term c, Term a, Term b) {
  return {c.guards, c.guards->pool.make(expr::Op::select, c.id, a.id, b.id)};
}
inline Term min(Term a, Term b) { return {a.guards, a.guards->pool.minimum(a.id, b.id)}; }
inline Term max(Term a, Term b) { return {a.guards, a.guards->pool.maximum(a.id, b.id)}; }
inline Term square(Term a) { return a * a; }

}  // namespace proof
