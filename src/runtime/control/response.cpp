#include "runtime/control/response.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
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
constexpr double forgotten = 20;      // time constants, after which 2e-9 of a swing is left
constexpr std::int64_t most_samples = 1'000'000;
constexpr double most_work = 4e8;  // multiplications, on the way to rest

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
  bool is_cut = false;  // before all has died out: something grows, or swings on and on
  double fastest_swing = infinity;

  void stretch(double to) {
    end = to;
    count = static_cast<int>(std::clamp(40 * end / fastest_swing, 1000.0, 20000.0));
  }
};

Grid choose_times(std::span<const Transfer> transfers) {
  Grid grid;
  double dying = 0, growing = infinity, swing = 0;
  for (const Transfer& transfer : transfers) {
    for (const Complex p : transfer.poles) {
      const double period = p.imag() == 0 ? 0 : 2 * std::numbers::pi / std::abs(p.imag());
      if (period > 0) grid.fastest_swing = std::min(grid.fastest_swing, period);
      if (p == 0.0) continue;
      if (is_on_axis(p)) {
        swing = std::max(swing, period);
      } else if (p.real() > 0) {
        growing = std::min(growing, 1 / p.real());
      } else {
        const double length = time_constants / -p.real();
        if (period > 0 && most_swings * period < length) grid.is_cut = true;
        dying = std::max(dying, period > 0 ? std::min(length, most_swings * period) : length);
      }
    }
  }
  grid.is_cut = grid.is_cut || swing > 0 || std::isfinite(growing);
  grid.end = std::max(dying, 5 * swing);
  if (std::isfinite(growing)) grid.end = grid.end > 0 ? std::min(grid.end, 4 * growing) : 4 * growing;
  if (grid.end == 0) grid.end = 10;
  grid.stretch(grid.end);
  return grid;
}

// y of x' = A x + b, in the basis of what the input moves and the output shows.
struct Motion {
  explicit Motion(const LinearSystem& part)
      : n(static_cast<Index>(part.a.rows)),
        c(as_eigen(part.c).row(0)),
        through(part.d(0, 0)),
        z(Eigen::VectorXd::Zero(n + 1)) {
    whole = MatrixXd::Zero(n + 1, n + 1);
    whole.topLeftCorner(n, n) = as_eigen(part.a);
    whole.topRightCorner(n, 1) = as_eigen(part.b);
    z[n] = 1;
  }
  MatrixXd step(double h) const { return (whole * h).exp(); }
  void go(const MatrixXd& step) {
    z = (step * z).eval();
    z[n] = 1;
  }
  double value() const { return through + c.dot(z.head(n)); }
  double slope() const { return c.dot((whole * z).head(n)); }

  Index n;
  Eigen::RowVectorXd c;
  double through;
  MatrixXd whole;
  Eigen::VectorXd z;
};

std::vector<double> respond(const LinearSystem& system, const Transfer& transfer, const Grid& grid) {
  Motion motion(visible_part(system, transfer.input, transfer.output));
  const MatrixXd step = motion.step(grid.end / grid.count);
  std::vector<double> values;
  for (int k = 0; k <= grid.count; ++k) {
    values.push_back(motion.value());
    motion.go(step);
  }
  return values;
}

struct Sample {
  double t = 0, y = 0, slope = 0;
};

// The cubic through two samples and their slopes, at a part of the way from one to the other.
double between(const Sample& from, const Sample& to, double part) {
  const double h = to.t - from.t, rest = 1 - part;
  return rest * rest * ((1 + 2 * part) * from.y + part * h * from.slope) +
         part * part * ((3 - 2 * part) * to.y - rest * h * to.slope);
}

// Where f, of one sign at the first and of another at the second, changes it.
template <class Function>
double change(const Sample& from, const Sample& to, const Function& f) {
  double low = 0, high = 1;
  const bool sign = f(from.y) > 0;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    ((f(between(from, to, middle)) > 0) == sign ? low : high) = middle;
  }
  return from.t + high * (to.t - from.t);
}

bool dies_out(const Transfer& transfer) {
  return !transfer.poles.empty() && std::all_of(transfer.poles.begin(), transfer.poles.end(),
                                                [](Complex p) { return p.real() < 0 && !is_on_axis(p); });
}

// A response that dies out, in windows that each are as long as all before, from the fastest motion until the last
// quarter stays within a quarter of the band of 2 percent about the value at rest; each as fine as what still swings in
// it. Every extremum is a sample.
struct Course {
  std::vector<Sample> samples;
  double unit = 0;     // 2 percent are of this: the value at rest, or where that is 0 the largest
  double settled = 0;  // from there on within 2 percent
};

Course follow(const LinearSystem& system, const Transfer& transfer) {
  Motion motion(visible_part(system, transfer.input, transfer.output));
  const double rest = transfer.gain_at_rest;
  double fastest = 0, slowest = infinity;
  for (const Complex p : transfer.poles) {
    fastest = std::max(fastest, std::abs(p));
    slowest = std::min(slowest, -p.real());
  }
  Course course;
  course.unit = std::abs(rest);
  const auto add = [&](double t) {
    const Sample now{t, motion.value(), motion.slope()};
    if (!course.samples.empty() && (course.samples.back().slope > 0) != (now.slope > 0)) {
      const Sample before = course.samples.back();
      double low = 0, high = 1;
      const double h = now.t - before.t, secant = (now.y - before.y) / h;
      for (int i = 0; i < 60; ++i) {
        const double part = (low + high) / 2, left = 1 - part;
        const double slope =
            left * (1 - 3 * part) * before.slope + part * (3 * part - 2) * now.slope + 6 * part * left * secant;
        ((slope > 0) == (before.slope > 0) ? low : high) = part;
      }
      if (low > 0 && high < 1) course.samples.push_back({before.t + low * h, between(before, now, low), 0});
    }
    course.samples.push_back(now);
    if (rest == 0) course.unit = std::max(course.unit, std::abs(now.y));
  };
  const auto off = [&](double y) { return std::abs(y - rest) - 0.02 * course.unit; };
  auto budget = static_cast<std::int64_t>(most_work / static_cast<double>((motion.n + 1) * (motion.n + 1)));
  budget = std::min(budget, most_samples);
  add(0);
  double from = 0, to = 1 / fastest;
  Sample far;  // the farthest of the last quarter
  for (bool is_done = false; !is_done && budget > 0;) {
    double swing = infinity;
    for (const Complex p : transfer.poles) {
      if (p.imag() != 0 && from < forgotten / -p.real())
        swing = std::min(swing, 2 * std::numbers::pi / std::abs(p.imag()));
    }
    const auto count = static_cast<std::int64_t>(std::max(200.0, std::ceil(40 * (to - from) / swing)));
    const double h = (to - from) / static_cast<double>(count);
    const MatrixXd step = motion.step(h);
    double end = from;
    for (std::int64_t k = 1; k <= count && budget > 0; ++k, --budget) {
      motion.go(step);
      end = from + h * static_cast<double>(k);
      add(end);
    }
    far = {};
    for (auto sample = course.samples.rbegin(); sample != course.samples.rend() && sample->t >= 0.75 * end; ++sample) {
      if (std::abs(sample->y - rest) >= std::abs(far.y - rest) || far.t == 0) far = *sample;
    }
    is_done = end * slowest >= time_constants && std::abs(far.y - rest) <= 0.005 * course.unit;
    from = to;
    to *= 2;
  }
  for (std::size_t i = course.samples.size(); i-- > 0;) {
    if (off(course.samples[i].y) <= 0) continue;
    if (i + 1 < course.samples.size()) course.settled = change(course.samples[i], course.samples[i + 1], off);
    break;
  }
  // So many swings that the envelope says when, to a part as small as one of them.
  if (off(far.y) > 0) course.settled = far.t + std::log(std::abs(far.y - rest) / (0.02 * course.unit)) / slowest;
  return course;
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
  Grid grid = choose_times(transfers);
  // Poles that act one behind another are slower than each of them.
  if (!grid.is_cut) {
    double end = grid.end;
    for (const Transfer& transfer : transfers) {
      const double settled = dies_out(transfer) ? follow(system, transfer).settled : 0;
      if (settled > grid.end) end = std::max(end, 1.25 * settled);
    }
    grid.stretch(end);
  }
  StepResponse response;
  for (int k = 0; k <= grid.count; ++k) response.times.push_back(grid.end * k / grid.count);
  for (const Transfer& transfer : transfers) response.curves.push_back(respond(system, transfer, grid));
  return response;
}

std::optional<StepFigures> step_figures(const LinearSystem& system, const Transfer& transfer) {
  const double rest = transfer.gain_at_rest;
  if (!dies_out(transfer) || rest == 0 || !std::isfinite(rest)) return std::nullopt;
  const Course course = follow(system, transfer);
  // The first time at which the response, as a part of its value at rest, is beyond `level`.
  const auto reaches = [&](double level) {
    const auto short_of = [&](double y) { return level - y / rest; };
    for (std::size_t i = 0; i < course.samples.size(); ++i) {
      if (short_of(course.samples[i].y) > 0) continue;
      return i == 0 ? 0.0 : change(course.samples[i - 1], course.samples[i], short_of);
    }
    return infinity;
  };
  StepFigures figures;
  figures.rise = reaches(0.9) - reaches(0.1);
  double peak = 0;
  for (const Sample& sample : course.samples) peak = std::max(peak, sample.y / rest);
  figures.overshoot = 100 * std::max(0.0, peak - 1);
  figures.settled = course.settled;
  return figures;
}

}  // namespace control
