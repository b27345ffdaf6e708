// A second opinion on what a flat model does: no sorting, no symbols, no code.
//
// Enters: a flat model (what flatten makes), a step, times to look at. Leaves: every variable with its derivatives, and
// every behaviour, at these times.
//
// All equations stand together as F(t, y, y', ..) = 0. Its unknowns are the highest derivatives; the lower ones are
// states.
//   regular    dF / d(highest) can be inverted: the states move by the classical Runge-Kutta method of order 4, F is
//   solved
//              at every stage as a whole, by damped Newton with differences and dense elimination
//   otherwise  F holds hidden constraints (a pendulum in Cartesian coordinates, the derivative of a definition): the
//   three-stage
//              Radau IIA method on F itself (Hairer and Wanner, Solving Ordinary Differential Equations II, IV.5 and
//              VII.4)
// Steps are constant between points where something happens. On a step every relation, floor, abs and table stays on
// its piece (evaluate.h); where one leaves it, the time is found by bisection. Events as docs/language.md says.
#pragma once

#include <string>
#include <vector>

#include "compiler/flat/model.h"
#include "evaluate.h"

namespace judge {

// An input: linear between its knots, held beyond them. Empty: 0.
struct Signal {
  std::vector<double> times;
  std::vector<double> values;
};

struct Request {
  double step = 0.01;
  double end = 1;
  std::vector<double> samples;  // increasing, from the start to the end
  std::vector<Signal> inputs;   // by input scalar; those left out are 0
};

struct Row {
  double t = 0;
  std::vector<double> leaves;  // Leaves::at
  std::vector<double> discrete;
  // Highest derivatives of hidden constraints come from differences over the last steps: not yet, after short ones or a
  // jump.
  bool is_settled = true;
};

struct Opinion {
  std::string trouble;  // empty: the run came to its end
  bool regular = true;
  Leaves leaves;
  std::vector<Row> rows;  // one a sample, as far as it came
  // When something happened: events, relations, corners of tables and delays.
  std::vector<double> happenings;
};

[[nodiscard]] Opinion simulate(const flat::Model& model, const Request& request);

}  // namespace judge
