// A wall that a loop computes from samples, and how stiff it may be. A device, an arm and a loop in; stiffnesses out.
//
//   force_k = -(K x_k + B (x_k - x_{k-1}) / T), held for T, `delay` ticks later
//
// Four answers, from the most cautious to the device as it is:
//
//   passive    b > sup over w of W/D(w): whoever holds the device, the loop gives out no energy
//              (J. E. Colgate and G. G. Schenkel, J. Robot. Syst. 14(1), 1997); without delay b > K T/2 + |B|
//   theory     K < (b + B) / (T/2 + t_d): the rule of thumb, for a loop that is fast against the motion
//   linear     the spectral radius of the exact zero-order-hold discretisation, delay and old position among its states
//   simulated  in time, with friction, encoder, limit and one-sidedness; the criterion is that the amplitude grows
#pragma once

#include <optional>

#include "haptic/simulated_device.h"

namespace analysis {

struct Wall {
  double stiffness = 0;        // K, N/m
  double damping = 0;          // B, N s/m
  bool is_unilateral = false;  // at x > 0 only, and it never pulls
};

// On the hand.
[[nodiscard]] double wall_force(const Wall& wall, const haptic::Reading& reading);

struct Loop {
  haptic::Device device;
  haptic::Arm arm;
  double period = 1e-3;  // T, s
  int delay = 0;         // t_d, ticks
};

// The controller of kernel/touch.h between wall and device.
struct Guard {
  double most_damping = 0;  // N s/m
  double reserve = 0;       // J
};
// A damper at a handle is itself a sampled wall, and shakes if it is too strong for the mass that it brakes: half of
// what a wall without stiffness may have. That is about where the guard helps most.
[[nodiscard]] double most_guard_damping(const Loop& loop);

// (b + B) / (T/2 + t_d), b with the arm's; 0 where that is negative.
[[nodiscard]] double theory_stiffness(const Loop& loop, double wall_damping);
// The same with Coulomb friction as the damper that takes as much from a swing of that amplitude: b + 4 f_c / (pi w A),
// w^2 = (K + k_a) / m (its describing function; N. Diolaiti et al., IEEE Trans. Robotics 22(2), 2006). An encoder is
// left out.
[[nodiscard]] double theory_stiffness(const Loop& loop, double wall_damping, double amplitude);

// The largest stiffness that is passive by the device's own damping; 0: none is.
[[nodiscard]] double passive_stiffness(const Loop& loop, double wall_damping);

// Energy that a bilateral wall gives out over what a damper of 1 N s/m would take, moved as sin(w t) at the ticks and
// straight between them, over a whole number of swings: W = sum force_k dx_k, D = sum dx_k^2 / T. `turns` swings in
// `ticks` ticks.
[[nodiscard]] double probe_wall(const Wall& wall, double period, int delay, int turns, int ticks);
// The same in closed form: K T sin((d + 1/2) wT) / (2 sin(wT/2)) - B cos((d + 1) wT).
[[nodiscard]] double generated_over_damper(const Wall& wall, double period, int delay, double frequency);

// Of the linear loop: without Coulomb friction, encoder and limit, the wall bilateral. Below 1 every motion dies out.
[[nodiscard]] double spectral_radius(const Loop& loop, const Wall& wall);
// From 0 up to the first stiffness at which it reaches 1; 0 when the damping alone is too much or too little.
[[nodiscard]] double linear_stiffness(const Loop& loop, double wall_damping);
// The damping at which linear_stiffness is 0 again: the end of the region of stable walls.
[[nodiscard]] double most_wall_damping(const Loop& loop);

struct Trial {
  double amplitude =
      1e-3;         // m: from where the device is let go, beside where it would rest; at a unilateral wall at most half
                    // as deep, so that it does not begin by leaving it
  double push = 1;  // N, of the arm on a unilateral wall at rest
  std::optional<Guard> guard;
};

struct Outcome {
  bool grows = false;
  double first = 0, last = 0;  // m: half the way between extremes, in the first and the last window
  double largest = 0;          // m: the largest of any window
  double seconds = 0;          // of simulated time
  double removed = 0;          // J, by the guard
};

// Lets go of the device at the trial's amplitude and watches. Windows of two swings; it grows when it has doubled, or
// when after 150 windows the amplitude is larger than at first. Of a linear loop without a guard, larger than after
// 100, since what grows may begin unseen. A unilateral wall needs an arm with a spring.
[[nodiscard]] Outcome try_wall(const Loop& loop, const Wall& wall, const Trial& trial);

// From 0 up to the first stiffness at which the amplitude grows, to 0.05%: geometric steps of 10%, then halving.
// `most`: where the search is given up; the result is then `most`.
[[nodiscard]] double simulated_stiffness(const Loop& loop, double wall_damping, bool is_unilateral, const Trial& trial,
                                         double most);

}  // namespace analysis
