// Equations between unknown dimensions, solved exactly.
//
// The dimension of a product is a linear form in the exponents of its factors, so that what a program says about its
// dimensions is a linear system with rational coefficients, and seven right sides, one a base unit.
//
//   forms --add--> constraints --propagate, eliminate--> values, contradictions
//
// Method: first what is known is propagated: a constraint with one unknown left determines it, breadth first, so that
// every value has a short reason that can be shown to a person. Linear in the size of the constraints. What then still
// has two unknowns or more goes through sparse Gaussian elimination, the rarest unknown as pivot, within a bounded amount
// of work.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/parse/dimension.h"

namespace check {

struct Term {
  std::uint32_t unknown = 0;
  parse::Rational factor;
};

// What is known of the dimension of one scalar before anything is solved.
struct Form {
  enum Kind : std::uint8_t {
    any,   // fits everything, and so does what is multiplied by it: `t`, the literal 0, what a device gives
    bare,  // of numbers without units only: fits everything by itself, a pure number as a factor of something else
    rigid  // `constant` times the unknown dimensions of `terms`
  };
  Kind kind = any;
  parse::Dimension constant = {};
  std::vector<Term> terms = {};  // by unknown
  bool is_stated = false;        // a literal's unit is part of it

  static Form of_bare() { return {bare}; }
  static Form of(const parse::Dimension& dimension) { return {rigid, dimension}; }
  static Form of_literal(const parse::Dimension& dimension) { return {rigid, dimension, {}, true}; }
  static Form of_unknown(std::uint32_t unknown) { return {rigid, {}, {{unknown, {1, 1}}}}; }
  bool is_rigid() const { return kind == rigid; }
};

// a times b to the power of `factor`, of rigid forms. What cannot be computed is `any`.
Form multiply(const Form& a, const Form& b, parse::Rational factor);

class DimensionSolver {
 public:
  std::uint32_t add_unknown() { return unknown_count_++; }
  // a = b, both rigid. A weak one determines an unknown only when no other constraint does, so that `sin(x)` is blamed
  // and not what made x a length.
  void add(const Form& a, const Form& b, bool weak);
  // Once, when all is added. The constraints that contradict those before them in the order of solving; they are left out. A contradiction in
  // which no literal's unit has a part, such as x' = -x, is none that a person asked about, and is not listed.
  std::vector<std::uint32_t> solve();

  // After solve(). Empty when it is not determined.
  std::optional<parse::Dimension> value(const Form& form) const;
  // By how much the sides of a contradictory constraint differ: a / b.
  const parse::Dimension& quotient(std::uint32_t constraint) const { return constraints_[constraint].settled; }
  // The constraint that determined an unknown by propagation.
  std::optional<std::uint32_t> reason(std::uint32_t unknown) const;

 private:
  struct Constraint {
    Form difference;                       // a / b
    std::vector<std::uint32_t> cancelled;  // unknowns of a and b that are not in it
    parse::Dimension settled;              // its constant times what is determined
    std::uint32_t open = 0;                // terms not determined
    bool weak = false;
    bool done = false;
  };

  void propagate(std::vector<std::uint32_t>& contradictions);
  bool is_stated(const Constraint& constraint) const;
  void enqueue(std::uint32_t constraint) { queues_[constraints_[constraint].weak ? 1 : 0].push_back(constraint); }
  void determine(std::uint32_t unknown, const parse::Dimension& value, std::uint32_t reason);
  void eliminate(std::vector<std::uint32_t>& contradictions);
  std::optional<Form> reduced(Form form) const;
  bool settle(std::uint32_t unknown);

  static constexpr std::uint32_t none = 0xffffffffu;

  std::uint32_t unknown_count_ = 0;
  std::vector<Constraint> constraints_;
  std::vector<std::uint32_t> first_use_, uses_;  // constraints of each unknown, with their factors
  std::vector<parse::Rational> use_factors_;
  std::array<std::vector<std::uint32_t>, 2> queues_;         // the weak ones in the second
  std::vector<std::uint32_t> reasons_;                       // by unknown
  std::vector<std::optional<parse::Dimension>> determined_;  // by unknown
  std::vector<bool> stated_;                                 // by unknown: a literal's unit has a part in its value
  std::vector<std::uint32_t> pivot_of_;                      // by unknown: index into pivots_
  std::vector<Form> pivots_;                                 // an unknown in terms of others
  long long work_ = 0;
};

}  // namespace check
