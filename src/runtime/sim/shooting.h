// Boundary values at other times than the start: a model with such conditions in, the start from which its motion meets
// them out.
//
//   unknown    the states of the start that nobody gave, and all states at nodes t_1 < .. between the start and the
//   last condition
//   equations  x_{k+1} = flow(x_k) from node to node; the conditions, each at its time; constraints and conditions of
//   the start
//   method     Newton, the derivatives of the flow by sensitivities (lifted.h), damped by the natural monotonicity
//   test; where that
//              fails, along equations(x) = (1 - s) equations(guess) for s from 0 to 1; where that fails too with twice
//              as many
//              nodes, and at last from other guesses
//
// One segment while the flow stretches no more than 1e4-fold; else as many equal ones as keep each below 1e3. A model
// with events keeps to one: what its behaviours remember cannot be cut into pieces.
//
// The run itself has a tolerance of its own: what is found is followed at that one too, and where it misses the
// conditions the run takes the finer one of the search, or more segments.
//
// Sources: Stoer and Bulirsch, Introduction to Numerical Analysis, 3rd edition, 7.3; Ascher, Mattheij and Russell,
// Numerical Solution of Boundary Value Problems for Ordinary Differential Equations, SIAM 1995, chapter 4; Deuflhard,
// Newton Methods for Nonlinear Problems, Springer 2004, 3.3 and 7.1.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "abi/model.h"
#include "runtime/sim/failure.h"
#include "runtime/sim/inputs.h"
#include "runtime/sim/plan.h"

namespace sim {

struct ParameterValue {
  std::uint32_t index = 0;
  double value = 0;
};

// Whether a start alone does not say how the model moves.
[[nodiscard]] bool has_later_conditions(const tactus_model& model);

struct BoundaryProblem {
  const tactus_model& model;  // with the tangents of all functions
  const Plan& plan;           // its solver, at a tolerance of its own, and its step
  const std::vector<ParameterValue>& parameters;
  const std::vector<Feed>& feeds;
  const std::atomic<bool>* stop = nullptr;  // true: give up
};

struct BoundaryNode {
  double time = 0;
  std::vector<double> states;
};

struct BoundarySolution {
  std::vector<BoundaryNode> nodes;  // one for each segment, from the start on; empty when none was found
  int iterations = 0;
  double residual = 0;             // the most that a condition is off in a run through the nodes, in its own unit
  double until = 0;                // the time of the last condition
  double tolerance = 0;            // of the adaptive steps of that run: the plan's, or as much finer as it takes
  std::string why_finer;           // in words, when it is finer for a run in one piece
  std::vector<std::string> notes;  // what else a reader of the run should know
  bool is_interrupted = false;
  std::optional<Failure> failure;

  // "boundary values at t = 2 met: 5 iterations, 1 segment, off by at most 1e-12"
  std::string note() const;
};

// Allocates. For a model that has_later_conditions.
[[nodiscard]] BoundarySolution solve_boundary(const BoundaryProblem& problem);

}  // namespace sim
