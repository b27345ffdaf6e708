#include "runtime/control/analyze.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "runtime/control/as_eigen.h"

namespace control {
namespace {

using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;

constexpr double rounding = std::numeric_limits<double>::epsilon();
// Singular values below this part of the matrix are none, where ranks decide.
constexpr double no_rank = 1e-11;

struct System {
  MatrixXd a, b, c, d;
};

System as_system(const LinearSystem& system) {
  return {as_eigen(system.a), as_eigen(system.b), as_eigen(system.c), as_eigen(system.d)};
}

System transposed(const System& system) {
  return {system.a.transpose(), system.c.transpose(), system.b.transpose(), system.d.transpose()};
}

// Scales states by powers of 2 so that rows and columns of [A B; C 0] are of like size, B and C counting as large as A.
// Where the sizes of states differ by orders of magnitude, as those of charges and temperatures do, ranks mean
// something only then.
void balance(System& system, double b_weight, double c_weight) {
  for (int sweep = 0; sweep < 100; ++sweep) {
    bool is_done = true;
    for (Index i = 0; i < system.a.rows(); ++i) {
      const double own = std::abs(system.a(i, i));
      const double row = system.a.row(i).lpNorm<1>() - own + b_weight * system.b.row(i).lpNorm<1>();
      const double column = system.a.col(i).lpNorm<1>() - own + c_weight * system.c.col(i).lpNorm<1>();
      if (!(row > 0) || !(column > 0)) continue;
      const double factor = std::ldexp(1.0, static_cast<int>(std::lround(0.5 * std::log2(row / column))));
      if (row / factor + column * factor > 0.95 * (row + column)) continue;
      is_done = false;
      system.a.row(i) /= factor;
      system.a.col(i) *= factor;
      system.b.row(i) /= factor;
      system.c.col(i) *= factor;
    }
    if (is_done) return;
  }
}

System balanced(System system) {
  balance(system, 0, 0);
  // The sizes that B and C count with depend on how the states are scaled, and the other way round.
  for (int round = 0; round < 4; ++round) {
    const double size = system.a.norm() > 0 ? system.a.norm() : 1;
    const auto weight = [&](const MatrixXd& side) { return side.size() && side.norm() > 0 ? size / side.norm() : 0; };
    balance(system, weight(system.b), weight(system.c));
  }
  return system;
}

MatrixXd balanced(const MatrixXd& a) { return balanced(System{a, MatrixXd(a.rows(), 0), MatrixXd(0, a.rows()), {}}).a; }

// An orthogonal matrix whose first `rank` columns span the columns of `matrix`, up to `tolerance`.
struct Range {
  MatrixXd basis;
  Index rank = 0;
};

Range range_of(const MatrixXd& matrix, double tolerance) {
  Range range{MatrixXd::Identity(matrix.rows(), matrix.rows()), 0};
  if (matrix.size() == 0) return range;
  const Eigen::JacobiSVD<MatrixXd, Eigen::FullPivHouseholderQRPreconditioner> svd(
      matrix, Eigen::ComputeFullU | Eigen::ComputeFullV);
  while (range.rank < svd.singularValues().size() && svd.singularValues()[range.rank] > tolerance) ++range.rank;
  range.basis = svd.matrixU();
  return range;
}

// Parts within rounding of an axis are put onto it: a double pole comes out as a pair that is closer than any
// measurement.
Complex tidy(Complex p, double smallest) {
  double re = p.real(), im = p.imag();
  if (std::abs(re) <= std::max(1e-12 * std::abs(p), smallest)) re = 0;
  if (std::abs(im) <= std::max(1e-7 * std::abs(re), smallest)) im = 0;
  return {re, im};
}

struct Spectrum {
  std::vector<Complex> values;
  Index chain = 0;  // the longest chain of integrators
};

// `a` balanced: scaling what has been rotated since would only make its rounding larger.
Spectrum spectrum_of_balanced(MatrixXd a) {
  Spectrum result;
  const double size = a.norm();
  const double smallest = 10 * rounding * static_cast<double>(std::max<Index>(a.rows(), 1)) * size;
  // a = [0 *; 0 rest] in the basis that begins with its null space.
  while (a.rows() > 0) {
    const Range rows = range_of(a.transpose(), smallest);
    const Index nullity = a.rows() - rows.rank;
    if (nullity == 0) break;
    result.values.insert(result.values.end(), static_cast<std::size_t>(nullity), Complex(0, 0));
    ++result.chain;
    const MatrixXd rest = rows.basis.leftCols(rows.rank);
    a = (rest.transpose() * a * rest).eval();
  }
  if (a.rows() > 0) {
    const Eigen::EigenSolver<MatrixXd> solver(a, false);
    for (Index i = 0; i < a.rows(); ++i) result.values.push_back(tidy(solver.eigenvalues()[i], smallest));
  }
  std::stable_sort(result.values.begin(), result.values.end(), [](Complex p, Complex q) {
    const double by_size = std::abs(p) - std::abs(q);
    if (std::abs(by_size) > 1e-9 * std::abs(p)) return by_size < 0;
    return p.imag() != q.imag() ? p.imag() > q.imag() : p.real() < q.real();
  });
  return result;
}

Spectrum spectrum(const MatrixXd& a) { return spectrum_of_balanced(balanced(a)); }

// The staircase: in the basis `q` the first `reached` states are all that inputs move.
struct Staircase {
  MatrixXd q;
  Index reached = 0;
};

Staircase staircase(const MatrixXd& given_a, const MatrixXd& b) {
  const Index n = given_a.rows();
  Staircase stairs{MatrixXd::Identity(n, n), 0};
  MatrixXd a = given_a, step = b;
  const double a_size = a.norm();
  double tolerance = no_rank * b.norm();
  while (stairs.reached < n) {
    const Range range = range_of(step, tolerance);
    if (range.rank == 0) break;
    const Index left = n - stairs.reached;
    a.bottomRows(left) = (range.basis.transpose() * a.bottomRows(left)).eval();
    a.rightCols(left) = (a.rightCols(left) * range.basis).eval();
    stairs.q.rightCols(left) = (stairs.q.rightCols(left) * range.basis).eval();
    const Index from = stairs.reached;
    stairs.reached += range.rank;
    step = a.block(stairs.reached, from, n - stairs.reached, range.rank);
    tolerance = no_rank * a_size;
  }
  return stairs;
}

// Without what the inputs do not move.
System reachable(const System& system) {
  const System even = balanced(system);
  const Staircase stairs = staircase(even.a, even.b);
  if (stairs.reached == even.a.rows()) return even;
  const MatrixXd q = stairs.q.leftCols(stairs.reached);
  return {q.transpose() * even.a * q, q.transpose() * even.b, even.c * q, system.d};
}

// The poles of what no input moves.
std::vector<Complex> unreachable_poles(const MatrixXd& a, const MatrixXd& b) {
  const System even = balanced(System{a, b, MatrixXd(0, a.rows()), {}});
  const Staircase stairs = staircase(even.a, even.b);
  const MatrixXd q = stairs.q.rightCols(a.rows() - stairs.reached);
  return spectrum_of_balanced(q.transpose() * even.a * q).values;
}

// Takes the nearest to each of `found` out of `poles`.
void take_out(std::vector<Complex>& poles, const std::vector<Complex>& found) {
  for (const Complex value : found) {
    const auto nearest = std::min_element(
        poles.begin(), poles.end(), [&](Complex p, Complex q) { return std::abs(p - value) < std::abs(q - value); });
    if (nearest != poles.end()) poles.erase(nearest);
  }
}

// Marks in `poles` the nearest to each of `found`.
void mark(std::vector<Pole>& poles, const std::vector<Complex>& found, bool Pole::* flag) {
  for (const Complex value : found) {
    Pole* nearest = nullptr;
    for (Pole& pole : poles) {
      if (pole.*flag && (!nearest || std::abs(pole.value - value) < std::abs(nearest->value - value))) nearest = &pole;
    }
    if (nearest) nearest->*flag = false;
  }
}

// One half of the reduction of Emami-Naeini and Van Dooren: a system with the same zeros whose D has independent rows.
System with_independent_rows(System s, double tolerance) {
  for (;;) {
    const Range d_range = range_of(s.d, tolerance);
    const Index idle = s.d.rows() - d_range.rank;
    if (idle == 0) return s;
    s.c = (d_range.basis.transpose() * s.c).eval();
    s.d = (d_range.basis.transpose() * s.d).eval();
    const Range seen = range_of(s.c.bottomRows(idle).transpose(), tolerance);
    const Index n = s.a.rows(), kept = n - seen.rank;
    MatrixXd v(n, n);
    v << seen.basis.rightCols(kept), seen.basis.leftCols(seen.rank);
    const MatrixXd a = v.transpose() * s.a * v, b = v.transpose() * s.b, c = s.c.topRows(d_range.rank) * v;
    System next;
    next.a = a.topLeftCorner(kept, kept);
    next.b = b.topRows(kept);
    next.c.resize(d_range.rank + seen.rank, kept);
    next.c << c.leftCols(kept), a.bottomLeftCorner(seen.rank, kept);
    next.d.resize(d_range.rank + seen.rank, s.d.cols());
    next.d << s.d.topRows(d_range.rank), b.bottomRows(seen.rank);
    s = std::move(next);
    if (seen.rank == 0) return s;
  }
}

std::vector<Complex> zeros_of(System s) {
  const double size = s.a.norm() > 0 ? s.a.norm() : 1;
  for (MatrixXd* side : {&s.b, &s.c}) {
    const double length = side->norm();
    if (length == 0) continue;
    *side *= size / length;
    s.d *= size / length;
  }
  const double tolerance = no_rank * size;
  s = with_independent_rows(std::move(s), tolerance);
  s = with_independent_rows(transposed(s), tolerance);
  if (s.a.rows() == 0) return {};
  if (s.d.size() == 0) return spectrum_of_balanced(s.a).values;
  return spectrum_of_balanced(s.a - s.b * s.d.fullPivLu().solve(s.c)).values;
}

// Where f changes sign between two frequencies, by bisection of their logarithms.
template <class Function>
double crossing(double low, double high, const Function& f) {
  const bool is_negative = f(low) < 0;
  for (int i = 0; i < 80; ++i) {
    const double middle = std::sqrt(low * high);
    (((f(middle) < 0) == is_negative) ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

void find_margins(const LinearSystem& single, Transfer& transfer) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const auto* list : {&transfer.poles, &transfer.zeros}) {
    for (const Complex value : *list) {
      if (value == 0.0) continue;
      least = std::min(least, std::abs(value));
      most = std::max(most, std::abs(value));
    }
  }
  if (most == 0) least = most = 1;
  const TransferMatrix matrix(single);
  const auto g = [&](double w) { return matrix.at({0, w})[0]; };
  const auto loudness = [&](double w) { return std::log(std::abs(g(w))); };
  const auto above = [&](double w) { return g(w).imag(); };
  const double low = least / 1e4, high = most * 1e4;
  const int count = std::max(600, static_cast<int>(150 * std::log10(high / low)));
  struct Point {
    double w = 0;
    Complex value = std::numeric_limits<double>::quiet_NaN();
  };
  // The imaginary part of what is real is rounding: such points, or all of an undamped system, do not bracket a change
  // of its sign.
  Point before, before_complex;
  for (int i = 0; i <= count; ++i) {
    const double w = low * std::pow(high / low, static_cast<double>(i) / count);
    const Point now{w, g(w)};
    if (!std::isfinite(std::abs(now.value))) continue;
    if (std::isfinite(std::abs(before.value)) && (std::abs(before.value) < 1) != (std::abs(now.value) < 1)) {
      const double at = crossing(before.w, w, loudness);
      const Complex value = g(at);
      const double phase = std::arg(-value) * 180 / std::numbers::pi;
      if (std::abs(std::abs(value) - 1) < 1e-6 &&
          (!transfer.phase_margin || std::abs(phase) < std::abs(transfer.phase_margin->value)))
        transfer.phase_margin = Margin{phase, at};
    }
    before = now;
    if (std::abs(now.value.imag()) <= 1e-6 * std::abs(now.value)) continue;
    if (std::isfinite(std::abs(before_complex.value)) && (before_complex.value.imag() < 0) != (now.value.imag() < 0)) {
      const double at = crossing(before_complex.w, w, above);
      const Complex value = g(at);
      const double gain = -20 * std::log10(std::abs(value));
      if (value.real() < 0 && std::abs(value.imag()) < 1e-6 * std::abs(value) &&
          (!transfer.gain_margin || std::abs(gain) < std::abs(transfer.gain_margin->value)))
        transfer.gain_margin = Margin{gain, at};
    }
    before_complex = now;
  }
  // G is real at both ends of the axis too: there a pole of the loop passes through 0, or through infinity.
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Margin& end : {Margin{transfer.gain_at_rest, 0}, Margin{single.d(0, 0), infinity}}) {
    if (!(end.value < 0) || !std::isfinite(end.value)) continue;
    const double gain = -20 * std::log10(-end.value);
    if (!transfer.gain_margin || std::abs(gain) < std::abs(transfer.gain_margin->value))
      transfer.gain_margin = Margin{gain, end.frequency};
  }
}

}  // namespace

bool is_on_axis(Complex p) { return std::abs(p.real()) <= 1e-9 * std::abs(p); }

Analysis analyze(const LinearSystem& given) {
  Analysis result;
  const System system = as_system(given);
  const Spectrum found = spectrum(system.a);
  for (const Complex value : found.values) {
    Pole pole{.value = value, .frequency = std::abs(value)};
    if (pole.frequency > 0) pole.damping = value.real() == 0 ? 0 : -value.real() / pole.frequency;
    if (!is_on_axis(value)) pole.time_constant = 1 / std::abs(value.real());
    if (is_on_axis(value)) {
      ++result.on_axis;
    } else if (value.real() > 0) {
      ++result.unstable;
    }
    result.poles.push_back(pole);
  }
  result.stability = result.unstable > 0  ? Stability::unstable
                     : found.chain > 1    ? Stability::drifting
                     : result.on_axis > 0 ? Stability::marginal
                                          : Stability::stable;
  const auto not_moved = unreachable_poles(system.a, system.b);
  const auto not_shown = unreachable_poles(system.a.transpose(), system.c.transpose());
  result.controllable = result.poles.size() - not_moved.size();
  result.observable = result.poles.size() - not_shown.size();
  mark(result.poles, not_moved, &Pole::is_controllable);
  mark(result.poles, not_shown, &Pole::is_observable);
  return result;
}

LinearSystem pick(const LinearSystem& system, std::size_t input, std::size_t output) {
  LinearSystem single{system.a,
                      from_eigen(as_eigen(system.b).col(static_cast<Index>(input))),
                      from_eigen(as_eigen(system.c).row(static_cast<Index>(output))),
                      Matrix(1, 1),
                      system.states,
                      {system.inputs[input]},
                      {system.outputs[output]}};
  single.d(0, 0) = system.d(output, input);
  return single;
}

LinearSystem visible_part(const LinearSystem& system, std::size_t input, std::size_t output) {
  const LinearSystem single = pick(system, input, output);
  const System part = transposed(reachable(transposed(reachable(as_system(single)))));
  return {from_eigen(part.a), from_eigen(part.b), from_eigen(part.c), single.d, {}, single.inputs, single.outputs};
}

Transfer analyze_transfer(const LinearSystem& system, std::size_t input, std::size_t output) {
  Transfer transfer;
  transfer.input = input;
  transfer.output = output;
  const LinearSystem single = pick(system, input, output);
  const System whole = as_system(single);
  const double through = whole.d(0, 0);
  // What the input moves, and of that what the output shows.
  const System moved = reachable(whole), part = transposed(reachable(transposed(moved)));
  transfer.is_zero = part.a.rows() == 0 && through == 0;
  if (transfer.is_zero) return transfer;
  transfer.poles = spectrum(whole.a).values;
  take_out(transfer.poles, unreachable_poles(whole.a, whole.b));
  take_out(transfer.poles, unreachable_poles(moved.a.transpose(), moved.c.transpose()));

  const TransferMatrix matrix(single);
  const bool integrates = std::any_of(transfer.poles.begin(), transfer.poles.end(), [](Complex p) { return p == 0.0; });
  if (part.a.rows() == 0) {
    transfer.gain_at_rest = through;
  } else {
    transfer.zeros = zeros_of(part);
    if (integrates) {
      double least = std::numeric_limits<double>::infinity();
      for (const auto* list : {&transfer.poles, &transfer.zeros}) {
        for (const Complex value : *list) least = value == 0.0 ? least : std::min(least, std::abs(value));
      }
      const double near = std::isfinite(least) ? 1e-6 * least : 1e-6;
      transfer.gain_at_rest = std::copysign(std::numeric_limits<double>::infinity(), matrix.at(near)[0].real());
    } else if (std::any_of(transfer.zeros.begin(), transfer.zeros.end(), [](Complex z) { return z == 0.0; })) {
      transfer.gain_at_rest = 0;
    } else {
      transfer.gain_at_rest = through - (part.c * part.a.fullPivLu().solve(part.b))(0, 0);
    }
  }
  find_margins(single, transfer);
  if (through != -1) {
    const auto closed = spectrum(whole.a - whole.b * whole.c / (1 + through));
    transfer.is_stable_closed = std::all_of(closed.values.begin(), closed.values.end(),
                                            [](Complex p) { return p.real() < 0 && !is_on_axis(p); });
  }
  return transfer;
}

struct TransferMatrix::Parts {
  MatrixXcd triangle, b, c, d;
};

TransferMatrix::TransferMatrix(const LinearSystem& given) : parts_(std::make_unique<Parts>()) {
  const System system = as_system(given);
  const System even = balanced(system);
  parts_->d = system.d.cast<Complex>();
  if (system.a.rows() == 0) return;
  const Eigen::ComplexSchur<MatrixXd> schur(even.a);
  parts_->triangle = schur.matrixT();
  parts_->b = schur.matrixU().adjoint() * even.b.cast<Complex>();
  parts_->c = even.c.cast<Complex>() * schur.matrixU();
}

TransferMatrix::~TransferMatrix() = default;

std::vector<Complex> TransferMatrix::at(Complex s) const {
  MatrixXcd value = parts_->d;
  if (parts_->triangle.rows() > 0 && value.size() > 0) {
    MatrixXcd shifted = -parts_->triangle;
    shifted.diagonal().array() += s;
    value += parts_->c * shifted.triangularView<Eigen::Upper>().solve(parts_->b);
  }
  std::vector<Complex> entries;
  for (Index i = 0; i < value.rows(); ++i) {
    for (Index j = 0; j < value.cols(); ++j) entries.push_back(value(i, j));
  }
  return entries;
}

}  // namespace control
