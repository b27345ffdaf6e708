// A linear system -> curves: its frequency response, and what a step of each input does.
//
//   Bode   magnitude and phase on a logarithmic grid about its poles and zeros, finer at resonances; the phase goes on
//   without
//          jumps, down by 180 degrees across an undamped pole and up across such a zero
//   step   x' = A x + b exactly on a uniform grid, by one matrix exponential (Van Loan, IEEE Trans. Automat. Control
//   23(3), 1978)
//   rise, overshoot, settling time   read off the response itself, on grids that double until it rests, by cubics
//   through
//          values and slopes; beyond a million samples (swings damped by less than 5e-5) the envelope says when it
//          settles
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "runtime/control/analyze.h"
#include "runtime/control/linear_system.h"

namespace control {

struct BodeCurve {
  std::vector<double> decibels;  // infinite on an undamped pole, minus infinite where nothing gets through
  std::vector<double> degrees;
};
struct Bode {
  std::vector<double> frequencies;  // rad/s, increasing
  std::vector<BodeCurve> curves;    // one a transfer
};
[[nodiscard]] Bode bode(const LinearSystem& system, std::span<const Transfer> transfers);

struct StepResponse {
  std::vector<double> times;                // from 0
  std::vector<std::vector<double>> curves;  // one a transfer
};
// Until every output rests within 2 percent, or 25 swings of a lightly damped one, or a growing one has grown.
[[nodiscard]] StepResponse step_response(const LinearSystem& system, std::span<const Transfer> transfers);

// What is read off a response that comes to rest at a value other than 0.
struct StepFigures {
  double rise = 0;       // from 10 to 90 percent
  double overshoot = 0;  // percent of the value at rest
  double settled = 0;    // from there on within 2 percent
};
[[nodiscard]] std::optional<StepFigures> step_figures(const LinearSystem& system, const Transfer& transfer);

}  // namespace control
