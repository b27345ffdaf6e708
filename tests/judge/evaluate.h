// The value of expressions by walking their trees, with the standard library's functions.
//
// Enters: a flat model, an assignment of numbers to leaves. Leaves: the value of every expression that the equations
// reach, each once, since they are shared.
//
// What has corners or jumps is made of smooth pieces: a relation is true or false, floor has a value, abs a sign, a
// table an interval, noise a sample. Evaluation may be told which pieces to use (and then continues them smoothly), and
// can tell which ones hold.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/flat/model.h"

namespace judge {

using expr::ExprId;
using expr::Op;

// Which scalars there are: every variable with its derivatives up to the highest that stands anywhere.
struct Leaves {
  std::vector<std::uint32_t> first;  // by variable: where v is; v' is behind it
  std::vector<std::uint32_t> order;  // by variable: the highest
  std::uint32_t count = 0;

  std::uint32_t at(std::uint32_t variable, std::uint32_t derivative) const { return first[variable] + derivative; }
  std::uint32_t top(std::uint32_t variable) const { return first[variable] + order[variable]; }
};

struct Point {
  double t = 0;
  std::vector<double> leaves;
  std::vector<double> inputs, input_rates, parameters, discrete, delayed;
};

using Pieces = std::vector<double>;

class Evaluator {
 public:
  // `extra` are expressions besides those of the equations.
  Evaluator(const flat::Model& model, const std::vector<ExprId>& extra);

  const Leaves& leaves() const { return leaves_; }
  std::size_t equation_count() const { return model_.equations.size(); }

  // With `held`, on these pieces. Results stay until the next call.
  void evaluate(const Point& point, const Pieces* held);
  double value(ExprId id) const { return values_[place_[id.value]]; }
  double residual(std::size_t equation) const;
  // The pieces on which the last evaluation's arguments lie.
  const Pieces& pieces() const { return pieces_; }
  const std::vector<std::uint32_t>& equations_that_read(std::uint32_t leaf) const { return reading_equations_[leaf]; }
  // d residual / d leaf by differences, equation_count rows of leaves().count; leaves that no equation reads have 0.
  void jacobian(Point point, const Pieces& held, std::vector<double>& rows);

 private:
  struct Step {
    expr::Node node;
    std::uint32_t a = 0, b = 0, c = 0;  // places
    std::uint32_t piece = 0;
  };

  void run(const Step& step, std::uint32_t at, const Point& point, const Pieces* held);
  double held_piece(const Step& step, const Pieces* held, double live);
  double table(const Step& step, double x, const Pieces* held);
  double table_2(const Step& step, double x, double y, const Pieces* held);

  const flat::Model& model_;
  Leaves leaves_;
  std::vector<Step> steps_;
  std::vector<std::uint32_t> place_;  // by expression
  std::vector<double> values_;
  Pieces pieces_;
  std::vector<std::vector<std::uint32_t>> readers_;            // by leaf: steps that depend on it, in order
  std::vector<std::vector<std::uint32_t>> reading_equations_;  // by leaf
};

// A function through samples, as docs/language.md says; written from the papers that src/kernel/table.c names, not from
// it.
double interpolate(tactus_table_method method, const std::vector<double>& x, const std::vector<double>& values,
                   double at, int piece, std::uint32_t order);
// -1 before the first sample, n - 1 behind the last of n.
int piece_of(const std::vector<double>& x, double at);

}  // namespace judge
