// Sensitivities along a run: a model with tangents in, a model out whose states are (x, s_1 .. s_p), s_k being the
// derivative of x by the k-th seed, a start of a state or a parameter. Every integrator of the kernel runs it as it is:
//
//   x' = f(t, x, p)      s_k' = (df/dx) s_k + df/dp_k      between events, by tangents of the derivative
//
// At an event time itself may move with the seed. For a relation with guard g that changes at tau (Rozenvasser, Autom.
// Remote Control 28, 1967; Galan, Feehery and Barton, Appl. Numer. Math. 31, 1999):
//
//   dtau = -(g_x s + g_p) / (g_t + g_x f)        f and s before the event
//   d(discrete) and X after = tangent of fire along (dtau, X = s + f dtau, dp, d(discrete) before)
//   s after = X after - (f after) dtau           where x does not jump, s + (f - f after) dtau
//
// Ticks of a clock and given times do not move: dtau = 0. Of several relations that change at one instant the first in
// the table gives dtau; the derivative exists only if all agree. A motion that begins to rest, or to slide along a
// surface, has none here: it ends with TACTUS_SINGULAR, and the kernel never makes a tied table of a lifted one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "abi/model.h"

namespace sim {

// What a run is differentiated by.
struct Seed {
  enum Kind { start_of_state, parameter } kind = parameter;
  std::uint32_t index = 0;
};

// Not movable: the kernel hands its address back. `inner` must outlive it.
class Lifted {
 public:
  // Why there are no sensitivities of this model; empty when there are.
  static std::string obstacle(const tactus_model& inner);

  Lifted(const tactus_model& inner, std::vector<Seed> seeds);
  Lifted(const Lifted&) = delete;
  Lifted& operator=(const Lifted&) = delete;

  // Inputs, parameters, outputs, events and discrete values are those of the inner model; only states are more. For
  // tk_reset, tk_start, tk_begin_events, tk_part, tk_between; in place of tk_fire, `fire`.
  const tactus_model& model() const { return table_.model; }

  // What tk_fire does, and the jump of the sensitivities. TACTUS_SINGULAR when the motion only touches the surface
  // where a relation changes: then no derivative exists. Allocates nothing.
  int fire(tactus_instance* instance) const;
  // Parts and events up to t_end, as tk_part takes h and tolerance.
  int run(tactus_instance* instance, int solver, double h, double tolerance, double t_end) const;

  std::span<const double> sensitivity(const tactus_instance* instance, std::size_t seed) const;
  std::span<const double> discrete_sensitivity(const tactus_instance* instance, std::size_t seed) const;
  // Of the recorded values at (time, states); result: output_count doubles. Changes scratch only.
  int output_sensitivity(tactus_instance* instance, std::size_t seed, std::span<double> result) const;
  // What the conditions leave over at (time, states), whatever their times, and its sensitivity; result:
  // condition_count doubles. For those of the inner model, since the lifted one has none. Change scratch only.
  int conditions(tactus_instance* instance, std::span<double> result) const;
  int condition_sensitivity(tactus_instance* instance, std::size_t seed, std::span<double> result) const;

 private:
  // What the kernel gets; its address leads back here.
  struct Table {
    tactus_model model;
    const Lifted* lifted;
  };
  // Places in the lifted block, in doubles. The whole inner Instance lies at 0, its header first.
  struct Places {
    std::uint32_t directions = 0;  // one for each seed; its part for discrete values lives there
    std::uint32_t moved = 0;       // how fast the time of the present event moves, for each seed
    std::uint32_t before = 0;      // the derivative before it
    std::uint32_t scratch = 0;
  };

  static const Lifted& of(const tactus_model* model) { return *reinterpret_cast<const Table*>(model)->lifted; }
  static int prepare(const tactus_model*, tactus_instance*);
  static int initialize(const tactus_model*, tactus_instance*);
  static int derivative(const tactus_model*, tactus_instance*, double t, const double* x, double* dx);
  static int outputs(const tactus_model*, tactus_instance*, double t, const double* x);
  static int fire_one(const tactus_model*, tactus_instance*, std::uint32_t event);
  static int watch(const tactus_model*, tactus_instance*, double t, const double* x);
  static int constrain(const tactus_model*, tactus_instance*, double t, const double* x, double* result);

  void lay_out();
  void name_states();
  // The inner Instance, its header as the outer one's is now.
  tactus_instance* enter(tactus_instance* outer) const;
  // Returns the status, having told the outer Instance what failed.
  int leave(tactus_instance* outer, int status) const;
  double* direction(tactus_instance* outer, std::size_t seed) const;
  double* states_of(tactus_instance* outer) const;
  int sensitivity_of(tactus_instance* outer, tactus_function function, std::size_t seed, double* result) const;
  // How fast the time of the event that is due moves.
  int find_moves(tactus_instance* outer) const;
  std::uint32_t result_size() const;

  const tactus_model& inner_;
  std::vector<Seed> seeds_;
  std::uint32_t states_;  // of the inner model
  std::uint64_t direction_size_;
  Table table_ = {};
  Places places_;
  std::vector<std::string> names_;
  std::vector<const char*> state_names_;
};

}  // namespace sim
