// A linear system -> what a control engineer asks of it: poles and what they mean, which of them inputs move and
// outputs show, and for each input and output zeros, gain at rest and margins.
//
//   poles             eigenvalues of A, balanced first (Parlett and Reinsch, Numer. Math. 13, 1969); those that are
//                     exactly zero are taken off by null spaces beforehand, so that a double integrator has two
//                     poles at 0 and not at +-1e-8
//   controllability   the staircase form by singular values (Van Dooren, IEEE Trans. Automat. Control 26(1), 1981):
//                     the poles of what no input reaches. Observability: the same of the transposed system
//   zeros             Emami-Naeini and Van Dooren, Automatica 18(4), 1982, of the part that the input moves and the
//                     output shows
//   margins           crossings of |G| = 1 and of the negative real axis on a fine grid of frequencies, then bisection;
//   and
//                     where G is negative at 0 or at infinity
#pragma once

#include <complex>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/control/linear_system.h"

namespace control {

using Complex = std::complex<double>;

struct Pole {
  Complex value;
  double frequency = 0;  // |p|, rad/s
  double damping = 0;    // -Re p / |p|; 0 for a pole at 0
  // Of its exponential, whether that dies out or grows: 1 / |Re p|; infinite on the imaginary axis.
  double time_constant = std::numeric_limits<double>::infinity();
  bool is_controllable = true;
  bool is_observable = true;
};

// Marginal: poles on the imaginary axis, none beyond. Drifting: among them more at 0 than independent motions, so that
// deviations grow like t.
enum class Stability { stable, marginal, drifting, unstable };

struct Analysis {
  std::vector<Pole> poles;  // slowest first; of a pair the one above the axis first
  Stability stability = Stability::stable;
  std::size_t unstable = 0;  // poles to the right of the axis
  std::size_t on_axis = 0;
  std::size_t controllable = 0;  // dimensions
  std::size_t observable = 0;
};
[[nodiscard]] Analysis analyze(const LinearSystem& system);

struct Margin {
  double value = 0;      // dB, or degrees
  double frequency = 0;  // rad/s; 0 and infinity too, of a gain
};

// From one input to one output.
struct Transfer {
  std::size_t input = 0;
  std::size_t output = 0;
  bool is_zero = false;        // the input does not reach the output
  std::vector<Complex> poles;  // of those that the input moves and the output shows
  std::vector<Complex> zeros;
  double gain_at_rest = 0;  // infinite behind an integrator
  // When -G is fed back: how much gain, or phase, may change before that is no longer stable; the one nearest to 0.
  // Empty: no crossing. Told for what they are only when `is_stable_closed`.
  std::optional<Margin> gain_margin;
  std::optional<Margin> phase_margin;
  bool is_stable_closed = false;
};
[[nodiscard]] Transfer analyze_transfer(const LinearSystem& system, std::size_t input, std::size_t output);

// Whether p counts as on the imaginary axis: its real part is within rounding of 0 for its own size.
[[nodiscard]] bool is_on_axis(Complex p);

// G(s) = C (s I - A)^-1 B + D at many s, one triangular solve each.
class TransferMatrix {
 public:
  explicit TransferMatrix(const LinearSystem& system);
  ~TransferMatrix();
  TransferMatrix(const TransferMatrix&) = delete;
  TransferMatrix& operator=(const TransferMatrix&) = delete;

  // outputs x inputs, by rows; not finite at a pole.
  [[nodiscard]] std::vector<Complex> at(Complex s) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// Only that input and that output.
[[nodiscard]] LinearSystem pick(const LinearSystem& system, std::size_t input, std::size_t output);
// The same without what the input does not move or the output does not show; its states have no names.
[[nodiscard]] LinearSystem visible_part(const LinearSystem& system, std::size_t input, std::size_t output);

}  // namespace control
