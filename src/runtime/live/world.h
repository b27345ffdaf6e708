// One model as it is played: an Instance, what a hand does to it, and what it shows. Enters: a table, a hand. Leaves: after every tick
// the outputs and the force on the hand.
//
//   inputs     the hand's position and velocity as tk_follow estimates them, linear over the tick and continuous
//   a tick     `substeps` fixed steps, events fired where they fall
//   force      what the model writes to the hand, through tk_keep_passive and last tk_limit
//
// Functions marked RT may be called by the loop's thread: they do not allocate, lock, throw or block, and their work is bounded by the
// model's own.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "abi/model.h"
#include "kernel/touch.h"
#include "runtime/live/mailbox.h"
#include "runtime/live/planner.h"
#include "runtime/sim/failure.h"
#include "runtime/sim/instance.h"

namespace live {

// How a model is stepped in real time.
struct Timing {
  double period = 1e-3;  // s of the world, from tick to tick
  std::int64_t substeps = 1;
  int solver = TACTUS_RK4;
  std::vector<std::string> notes;  // what is not as the text says, and why
};
// Ticks of `period`; 0: as often as the text has a hand served, else a thousand times a second. Steps at most as long as the text's.
[[nodiscard]] Timing choose_timing(const tactus_model& model, double period);

// Where a hand touches a model.
struct HandPlaces {
  struct Input {
    enum Kind { position, velocity, button } kind = position;
    std::uint32_t at = 0;     // in the inputs section
    std::uint32_t count = 0;  // components, at most 3 (buttons: 4)
  };
  std::vector<Input> inputs;
  std::uint32_t components = 0;  // of the largest position
  std::uint32_t force_at = 0;    // in the outputs section
  std::uint32_t force_count = 0;
  std::string device;  // the name in the text; empty: the model has no hand
};
[[nodiscard]] HandPlaces find_hand(const tactus_model& model);

// What the person's hand does, in the hand's coordinates.
struct Pointer {
  std::array<double, 3> position = {};
  std::array<double, 4> buttons = {};
  std::int64_t heard = 0;  // when, on the monotonic clock, ns
  bool is_present = false;
};

// What stands in a person's place at every tick, in the world's time: a device that is simulated, a motion that is written down. Both are RT.
class Hand {
 public:
  virtual ~Hand() = default;
  // Where it is at the tick that begins at t.
  virtual Pointer at(double t) = 0;
  // What it feels until t, when the next tick begins.
  virtual void feel(const std::array<double, 3>& force, double t) = 0;
};

struct Shown {
  double time = 0;
  std::uint32_t flags = 0;  // of `flag`
  std::array<double, 3> position = {};
  std::array<double, 3> velocity = {};
  std::array<double, 3> force = {};
  std::vector<double> outputs;
};
namespace flag {
inline constexpr std::uint32_t paused = 1, hand = 2, controller = 4, limiter = 8;
}

// For a mouse, from which nobody feels anything: what a desktop device would bear.
inline constexpr tk_limits mouse_limits = {8, 2000, 0.02, 0.25, 0.05};
inline constexpr double follower_frequency = 200;  // 1/s: a delay of 10 ms

// A scalar of the discrete section. The name of a mode variable says its modes, too.
struct Named {
  std::string name;
  std::uint32_t slot = 0;
};

class World {
 public:
  World(const tactus_model& model, Timing timing, const tk_limits& limits);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // The start, from parameters by their place in the table. Solves for it: not RT. A model with boundary values at other times needs
  // its table with all tangents; the search takes every input for zero, and what it found is among timing().notes.
  [[nodiscard]] std::optional<sim::Failure> start(const std::vector<double>& parameters,
                                                  const tactus_model* with_tangents = nullptr);
  // From here on plans are searched for by a thread of their own, and begin late (planner.h). A model without plans stays as it is. Not RT.
  void plan_elsewhere();
  // How `before`'s motion goes on in this one: by name. Not RT; what take_over does was settled here.
  // Discrete values of the same name are kept where both say what they have; where the structure is the same, all are.
  void plan_to_take_over(const World& before, const std::vector<Named>& its_discrete = {},
                         const std::vector<Named>& discrete = {});

  // From the next tick on `hand` touches this world, and no pointer. It tells its position at every tick, so nothing is estimated: the model sees
  // it go straight from one to the next. Not RT.
  void set_hand(std::shared_ptr<Hand> hand) { simulated_ = std::move(hand); }

  // RT. Goes on where `before` is now.
  void take_over(const World& before);
  // RT. One tick with this table, the same model's as at the start. Else a status, the world being where it was.
  int tick(const tactus_model* table, const Pointer& pointer, double input_age, double tick_age);
  // RT. No tick: the force fades.
  void rest(double dt);
  // RT. A new value of a parameter; the outputs follow.
  int set_parameter(const tactus_model* table, std::uint32_t index, double value);
  // RT. World seconds a real second: the hand is as quick as the person, not as the world.
  void set_speed(double speed);
  // RT. The present outputs and force, to whoever reads `shown`.
  void publish(std::uint32_t flags);

  const tactus_model& model() const { return model_; }
  const Timing& timing() const { return timing_; }
  const HandPlaces& hand() const { return hand_; }
  const sim::Instance& instance() const { return instance_; }
  double time() const { return instance_->time; }
  const std::vector<double>& outputs() const { return outputs_; }
  const tk_limiter& limiter() const { return limiter_; }
  const tk_passivity& passivity() const { return passivity_; }
  const Planner* planner() const { return planner_.get(); }  // null: no plans, or searched for within the tick
  // The reader's side.
  Mailbox<Shown>& shown() { return shown_; }
  std::vector<double> parameters() const;

 private:
  std::optional<sim::Failure> meet_boundary_values(const std::vector<double>& parameters, const tactus_model& table);
  void write_inputs(const tk_follower& now, const Pointer& pointer);
  int evaluate(const tactus_model* table);
  void push_back(double dt, double input_age, double tick_age);

  struct Copy {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
  };

  const tactus_model& model_;
  Timing timing_;
  HandPlaces hand_;
  sim::Instance instance_;
  std::vector<double> warm_;     // put aside while outputs are computed
  std::vector<double> outputs_;  // of the last good tick
  std::vector<Copy> kept_states_;
  std::vector<Copy> kept_discrete_;
  std::vector<double> started_discrete_;  // as the start left them
  bool keeps_all_ = false;                // the same structure: discrete values, clocks and delays go on too
  tk_follower follower_ = {};
  tk_passivity passivity_ = {};
  tk_limiter limiter_ = {};
  std::array<double, 3> told_ = {};
  std::array<double, 3> force_ = {};
  bool was_present_ = false;
  bool was_followed_ = false;        // a simulated hand told where it is before
  std::shared_ptr<Hand> simulated_;  // null: a person's
  double speed_ = 1;                 // the limiter guards a real hand: its seconds are those of the clock
  Mailbox<Shown> shown_;
  std::unique_ptr<Planner> planner_;  // last: its thread ends before what it reads goes
};

}  // namespace live
