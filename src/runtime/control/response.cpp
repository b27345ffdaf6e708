#include "runtime/control/response.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <unsupported/Eigen/MatrixFunctions>

#include "runtime/control/as_eigen.h"

namespace control {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double most_decades = 12;
constexpr int points_in_decade = 120;
constexpr double time_constants = 6;  // after which e^-6 = 0.25 percent is left
constexpr double most_swings = 25;    // of a lightly damped motion, shown

std::vector<double> choose_frequencies(std::span<const Transfer> transfers) {
  double least = infinity, most = 0;
  std::vector<double> marks, undamped;
  for (const Transfer& transfer : transfers) {
    for (const auto* list : {&transfer.poles, &transfer.zeros}) {
      for (const Complex value : *list) {
        const double size = std::abs(value);
        if (size == 0) continue;
        least = std::min(least, size);
        most = std::max(most, size);
        if (value.imag() <= 0) continue;
        // About a peak, as fine as it is narrow.
        if (is_on_axis(value)) undamped.push_back(size);
        const double width = std::clamp(std::abs(value.real()) / size, 1e-3, 0.3);
        for (int k = -12; k <= 12; ++k) marks.push_back(size * std::exp(width * k / 3));
      }
    }
  }
  if (most == 0) least = most = 1;
  const double slack = 1e-6;  // a pole at a power of ten has a decade on both sides
  double low = std::floor(std::log10(least / 10) + slack), high = std::ceil(std::log10(most * 10) - slack);
  high = std::min(high, low + most_decades);
  // On an undamped pole there is no value.
  const auto is_undamped = [&](double w) {
    return std::any_of(undamped.begin(), undamped.end(), [&](double peak) { return std::abs(w - peak) < 1e-6 * peak; });
  };
  const int count = static_cast<int>((high - low) * points_in_decade);
  for (int i = 0; i <= count; ++i) marks.push_back(std::pow(10, low + (high - low) * i / count));
  std::sort(marks.begin(), marks.end());
  marks.erase(std::unique(marks.begin(), marks.end(), [](double a, double b) { return b - a < 1e-9 * a; }),
              marks.end());
  std::erase_if(marks,
                [&](double w) { return w < std::pow(10, low) * (1 - 1e-9) || w > std::pow(10, high) * (1 + 1e-9); });
  std::erase_if(marks, is_undamped);
  return marks;
}

// How many poles less zeros lie on the imaginary axis between two frequencies.
int passed(const Transfer& transfer, double from, double to) {
  const auto count = [&](const std::vector<Complex>& list) {
    return static_cast<int>(std::count_if(list.begin(), list.end(), [&](Complex value) {
      return is_on_axis(value) && value.imag() > from && value.imag() <= to;
    }));
  };
  return count(transfer.poles) - count(transfer.zeros);
}

// The first phase is within [-180, 180), each other within half a turn of the one before, less the half turns that
// undamped poles and zeros between them make.
void unwrap(const Transfer& transfer, std::span<const double> frequencies, std::vector<double>& degrees) {
  double before = std::numeric_limits<double>::quiet_NaN(), at = 0;
  for (std::size_t i = 0; i < degrees.size(); ++i) {
    if (!std::isfinite(degrees[i])) continue;
    if (!std::isfinite(before)) {
      if (degrees[i] > 180 - 1e-6) degrees[i] -= 360;
    } else {
      const double expected = before - 180.0 * passed(transfer, at, frequencies[i]);
      degrees[i] -= 360 * std::round((degrees[i] - expected) / 360);
    }
    before = degrees[i];
    at = frequencies[i];
  }
}

// Length and number of steps that show every motion of these poles.
struct Grid {
  double end = 0;
  int count = 0;
};

Grid choose_times(std::span<const Transfer> transfers) {
  double dying = 0, growing = infinity, swing = 0, fastest_swing = infinity;
  for (const Transfer& transfer : transfers) {
    for (const Complex p : transfer.poles) {
      const double period = p.imag() == 0 ? 0 : 2 * std::numbers::pi / std::abs(p.imag());
      if (period > 0) fastest_swing = std::min(fastest_swing, period);
      if (p == 0.0) continue;
      if (is_on_axis(p)) {
        swing = std::max(swing, period);
      } else if (p.real() > 0) {
        growing = std::min(growing, 1 / p.real());
      } else {
        const double length = time_constants / -p.real();
        dying = std::max(dying, period > 0 ? std::min(length, most_swings * period) : length);
      }
    }
  }
  Grid grid;
  grid.end = std::max(dying, 5 * swing);
  if (std::isfinite(growing)) grid.end = grid.end > 0 ? std::min(grid.end, 4 * growing) : 4 * growing;
  if (grid.end == 0) grid.end = 10;
  const double swings = std::isfinite(fastest_swing) ? grid.end / fastest_swing : 0;
  grid.count = static_cast<int>(std::clamp(40 * swings, 1000.0, 20000.0));
  return grid;
}

std::vector<double> respond(const LinearSystem& system, const Transfer& transfer, const Grid& grid) {
  const LinearSystem single = pick(system, transfer.input, transfer.output);
  const Index n = static_cast<Index>(single.a.rows);
  MatrixXd whole = MatrixXd::Zero(n + 1, n + 1);
  whole.topLeftCorner(n, n) = as_eigen(single.a);
  whole.topRightCorner(n, 1) = as_eigen(single.b);
  const MatrixXd step = (whole * (grid.end / grid.count)).exp();
  Eigen::VectorXd z = Eigen::VectorXd::Zero(n + 1);
  z[n] = 1;
  std::vector<double> values;
  for (int k = 0; k <= grid.count; ++k) {
    values.push_back(single.d(0, 0) + (as_eigen(single.c) * z.head(n)).sum());
    z = (step * z).eval();
    z[n] = 1;
  }
  return values;
}

}  // namespace

Bode bode(const LinearSystem& system, std::span<const Transfer> transfers) {
  Bode result;
  result.frequencies = choose_frequencies(transfers);
  result.curves.resize(transfers.size());
  const TransferMatrix matrix(system);
  for (const double w : result.frequencies) {
    const std::vector<Complex> values = matrix.at({0, w});
    for (std::size_t k = 0; k < transfers.size(); ++k) {
      Complex value = values[transfers[k].output * system.inputs.size() + transfers[k].input];
      if (transfers[k].is_zero) value = 0;
      result.curves[k].decibels.push_back(20 * std::log10(std::abs(value)));
      result.curves[k].degrees.push_back(std::abs(value) > 0 ? std::arg(value) * 180 / std::numbers::pi
                                                             : std::numeric_limits<double>::quiet_NaN());
    }
  }
  for (std::size_t k = 0; k < transfers.size(); ++k) unwrap(transfers[k], result.frequencies, result.curves[k].degrees);
  return result;
}

StepResponse step_response(const LinearSystem& system, std::span<const Transfer> transfers) {
  const Grid grid = choose_times(transfers);
  StepResponse response;
  for (int k = 0; k <= grid.count; ++k) response.times.push_back(grid.end * k / grid.count);
  for (const Transfer& transfer : transfers) response.curves.push_back(respond(system, transfer, grid));
  return response;
}

std::optional<StepFigures> step_figures(const LinearSystem& system, const Transfer& transfer) {
  const double rest = transfer.gain_at_rest;
  const bool is_stable = std::all_of(transfer.poles.begin(), transfer.poles.end(),
                                     [](Complex p) { return p.real() < 0 && !is_on_axis(p); });
  if (!is_stable || transfer.poles.empty() || rest == 0 || !std::isfinite(rest)) return std::nullopt;
  const Grid grid = choose_times({&transfer, 1});
  const std::vector<double> values = respond(system, transfer, grid);
  const double h = grid.end / grid.count;
  // The first time at which the response, as a part of its value at rest, is beyond `level`; and the last away from 1
  // by more.
  const auto reaches = [&](double level) {
    for (std::size_t i = 1; i < values.size(); ++i) {
      const double from = values[i - 1] / rest, to = values[i] / rest;
      if (to >= level) return from >= level ? 0.0 : h * (static_cast<double>(i - 1) + (level - from) / (to - from));
    }
    return infinity;
  };
  StepFigures figures;
  figures.rise = reaches(0.9) - reaches(0.1);
  double peak = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double part = values[i] / rest;
    peak = std::max(peak, part);
    if (std::abs(part - 1) <= 0.02) continue;
    const double next = i + 1 < values.size() ? values[i + 1] / rest : 1;
    const double edge = part > 1 ? 1.02 : 0.98;
    const double into = next == part ? 1 : std::clamp((edge - part) / (next - part), 0.0, 1.0);
    figures.settled = h * (static_cast<double>(i) + into);
  }
  figures.overshoot = 100 * std::max(0.0, peak - 1);
  // 25 swings of a lightly damped motion were not enough: its envelope says when.
  if (std::abs(values.back() / rest - 1) > 0.02 || figures.settled >= grid.end * (1 - 1e-9)) {
    double slowest = infinity;
    for (const Complex p : transfer.poles) slowest = std::min(slowest, -p.real());
    figures.settled = std::log(50) / slowest;
  }
  return figures;
}

}  // namespace control
