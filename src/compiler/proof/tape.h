// A question as a list of steps, each of which reads earlier ones: what all methods walk over. Definitions are put in
// place of the leaves that they define, shared parts stand once.
#pragma once

#include <optional>
#include <vector>

#include "compiler/proof/question.h"

namespace proof {

struct Step {
  expr::Node node;  // as in the pool; its operands are given here:
  int a = -1, b = -1, c = -1;
  int leaf = -1;  // index into Tape::leaves
};

struct Leaf {
  ExprId id;
  int step;
  double low, high;  // may be infinite
};

struct Tape {
  std::vector<Step> steps;
  std::vector<Leaf> leaves;
  // Steps that must all hold: the guards, then the assumptions. Conjunctions are taken apart.
  std::vector<int> goals;
  std::vector<int> ties;

  // All that a point must fulfil.
  std::vector<int> claims() const {
    std::vector<int> all = goals;
    all.insert(all.end(), ties.begin(), ties.end());
    return all;
  }
};

[[nodiscard]] Tape make_tape(const Question& question);

// Whether every goal holds in doubles where the leaves have these values, inside of their ranges, and every tie nearly.
// False too when something is read whose value is not known.
[[nodiscard]] bool holds(const Question& question, const Tape& tape, const std::vector<double>& leaves);

// The point, with fewer digits if all still holds there; by name.
[[nodiscard]] std::vector<Coordinate> make_witness(const Question& question, const Tape& tape,
                                                   const std::vector<double>& leaves);

// One step, of its operands' values, truth values being 0 and 1. Empty: not known.
[[nodiscard]] std::optional<double> evaluate(const Question& question, const Step& step, double a, double b, double c);

}  // namespace proof
