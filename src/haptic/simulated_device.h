// A haptic device and the arm that holds it, in simulated time: what a loop sees of them at its ticks.
//
//   (m + m_a) x'' = F - b x' - f_c sign(x') + k_a (r - x) + b_a (r' - x')
//
// F is held from tick to tick, r (where the arm wants to be) moves steadily from tick to tick. Between ticks the motion
// is exact (linear_motion.h): where friction stops the device, holds it and lets it go is located, not stepped over.
// One axis; a device of three is three of these.
//
// A tick: force -> limit -> delay of whole ticks -> held while the device moves -> encoder -> position, difference
// quotient.
//
// tick() allocates nothing, takes no lock, and its work is bounded. The same calls give the same bits.
#pragma once

#include <limits>
#include <vector>

#include "haptic/linear_motion.h"

namespace haptic {

struct Device {
  double mass = 0.1;   // kg, as it is felt at the handle; > 0
  double damping = 0;  // N s/m
  double coulomb = 0;  // N, the friction that does not depend on speed; it holds as much as it brakes
  double encoder = 0;  // m a step; 0: exact
  double force_limit = std::numeric_limits<double>::infinity();  // N
};

// Mass, spring and damper, from the handle to where the arm wants to be. All zero: nobody holds it.
struct Arm {
  double mass = 0;       // kg, moves with the handle
  double damping = 0;    // N s/m
  double stiffness = 0;  // N/m
};

struct Reading {
  double position = 0;  // m, in whole encoder steps
  double velocity = 0;  // m/s: this position less the last, over the period
};

// The nearest whole number of encoder steps; an encoder of 0 is exact.
[[nodiscard]] double quantise(double position, double encoder);

class SimulatedDevice {
 public:
  // `period` in s; `delay` ticks from a force to its effect.
  SimulatedDevice(const Device& device, const Arm& arm, double period, int delay);

  // At rest there, as if held for long; `force` is under way in the delay. The arm's target is at `target`.
  void hold_at(double position, double force, double target);
  void push(double velocity) { velocity_ = velocity; }

  // What the loop sees now.
  Reading reading() const { return reading_; }
  // One period: `force` enters, the arm's target arrives at `target` at its end. Returns what the loop sees then.
  Reading tick(double force, double target);
  Reading tick(double force) { return tick(force, target_); }

  // What no encoder sees.
  double position() const { return position_; }
  double velocity() const { return velocity_; }
  // What acted on the handle over the last tick: limited, delayed.
  double acted() const { return acted_; }
  // J: kinetic energy and that of the arm's spring.
  double energy() const;

 private:
  void move(double force, double target_rate);
  void slide(int direction, bool is_leaving, double force, double target_rate, double& remaining);
  void advance(const Transition& by, double w, double a, double target_rate);

  Device device_;
  Arm arm_;
  double period_;
  double mass_;  // both
  LinearMotion motion_;
  Transition whole_;  // over a period
  double position_ = 0;
  double velocity_ = 0;  // exactly 0 while friction holds
  double target_ = 0;
  double acted_ = 0;
  Reading reading_;
  std::vector<double> under_way_;  // forces, a ring
  std::size_t oldest_ = 0;
};

}  // namespace haptic
