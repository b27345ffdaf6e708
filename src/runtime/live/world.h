// One model as it is played: an Instance, what a hand does to it, and what it shows. Enters: a table, a hand. Leaves:
// after every tick the outputs and the force on the hand.
//
//   inputs     the hand's position and velocity as tk_follow estimates them, linear over the tick and continuous
//   a tick     `substeps` fixed steps, events fired where they fall
//   force      what the model writes to the hand, through tk_keep_passive, to the port (port.h), which limits it
//
// Functions marked RT may be called by the loop's thread: they do not allocate, lock, throw or block, and their work is
// bounded by the model's own.
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
#include "runtime/live/port.h"
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
// Ticks of `period`; 0: as often as the text has a hand served, else a thousand times a second. Steps at most as long
// as the text's.
[[nodiscard]] Timing choose_timing(const tactus_model& model, double period);

// What a tick may cost: others wait for it. All of it is known before the world begins.
inline constexpr double least_period = 1e-5;                // s
inline constexpr double longest_period = 3600;              // s: a clock's nanoseconds count for years
inline constexpr std::int64_t most_substeps = 10'000;       // a tick
inline constexpr double most_scheduled_events = 10'000;     // a tick
inline constexpr std::uint32_t most_transitions = 200'000;  // at one instant: SimSect's hexapod asks for 128,000
// Empty: the model's ticks are bounded. Else what to change in the text.
[[nodiscard]] std::optional<sim::Failure> find_unbounded_work(const tactus_model& model, const Timing& timing);

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

// What stands in a person's place at every tick, in the world's time: a device that is simulated, a motion that is
// written down. Both are RT.
class Hand {
 public:
  virtual ~Hand() = default;
  // Where it is at the tick that begins at t.
  virtual Pointer at(double t) = 0;
  // What it feels until t, when the next tick begins.
  virtual void feel(const Force& force, double t) = 0;
};

struct Shown {
  double time = 0;
  std::uint32_t flags = 0;  // of `flag`
  std::array<double, 3> position = {};
  std::array<double, 3> velocity = {};
  std::vector<double> outputs;
};
namespace flag {
inline constexpr std::uint32_t paused = 1, hand = 2, controller = 4, limiter = 8, ended = 16, stalled = 32;
}

// For a mouse, from which nobody feels anything: what a desktop device would bear. A force that must end is zero within
// 20 ms: 15 for its fall, one until the guard notices, and 4 that the guard may be late.
inline constexpr tk_limits mouse_limits = {
    .force = 8, .change = 2000, .jump = 2, .release = 0.015, .input_age = 0.25, .tick_age = 0.05};
inline constexpr double follower_frequency = 200;  // 1/s: a delay of 10 ms

// A scalar of the discrete section. The name of a mode variable says its modes, too.
struct Named {
  std::string name;
  std::uint32_t slot = 0;
};

class World {
 public:
  World(const tactus_model& model, Timing timing);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // The start, from parameters by their place in the table. Solves for it: not RT. A model with boundary values at
  // other times needs its table with all tangents; the search takes every input for zero, and what it found is among
  // timing().notes.
  [[nodiscard]] std::optional<sim::Failure> start(const std::vector<double>& parameters,
                                                  const tactus_model* with_tangents = nullptr);
  // From here on plans are searched for by a thread of their own, and begin late (planner.h). A model without plans
  // stays as it is. Not RT.
  void plan_elsewhere();
  // How `before`'s motion goes on in this one: by name. Not RT; what take_over does was settled here.
  // Discrete values of the same name are kept where both say what they have; where the structure is the same, all are.
  void plan_to_take_over(const World& before, const std::vector<Named>& its_discrete = {},
                         const std::vector<Named>& discrete = {});

  // From the next tick on `hand` touches this world, and no pointer. It tells its position at every tick, so nothing is
  // estimated: the model sees it go straight from one to the next. Not RT.
  void set_hand(std::shared_ptr<Hand> hand);

  // RT. Goes on where `before` is now.
  void take_over(const World& before);
  // RT. One tick with this table, the same model's as at the start, which begins `now` by the clock. Else a status, the
  // world being where it was.
  int tick(const tactus_model* table, const Pointer& pointer, std::int64_t now);
  // RT. What the world gives to the hand after a tick that ended `now`. A simulated hand has a port of its own, in the
  // world's time.
  void give_force(Port& port, std::int64_t now);
  // RT. Whether it takes no more ticks: it has reached its text's `ending_time` (a tick's part beyond, where that falls
  // into a tick), or a `stop when` held. A text without either has no end.
  bool has_ended() const;
  // The event of the `stop when` that held, once shown() says that it ended; -1: none did.
  std::int32_t stopped_by() const { return stopped_by_; }
  // RT. No tick: the force fades.
  void rest(Port& port, std::int64_t now);
  // From another thread: a tick that is under way ends soon, with a status, and so does every later one.
  void cancel();
  // RT. A new value of a parameter; the outputs follow.
  int set_parameter(const tactus_model* table, std::uint32_t index, double value);
  // RT. World seconds a real second: the hand is as quick as the person, not as the world.
  void set_speed(double speed);
  // RT. The present outputs, to whoever reads `shown`. The force is the port's.
  void publish(std::uint32_t flags);

  const tactus_model& model() const { return model_; }
  const Timing& timing() const { return timing_; }
  const HandPlaces& hand() const { return hand_; }
  const sim::Instance& instance() const { return instance_; }
  double time() const { return instance_->time; }
  const std::vector<double>& outputs() const { return outputs_; }
  // The port of a simulated hand; null: a person's hand, and the loop's port.
  const Port* own_port() const { return own_port_ ? &*own_port_ : nullptr; }
  bool is_cancelled() const { return is_cancelled_.load(std::memory_order_relaxed); }
  const tk_passivity& passivity() const { return passivity_; }
  const Planner* planner() const { return planner_.get(); }  // null: no plans, or searched for within the tick
  // The reader's side.
  Mailbox<Shown>& shown() { return shown_; }
  std::vector<double> parameters() const;

 private:
  std::optional<sim::Failure> meet_boundary_values(const std::vector<double>& parameters, const tactus_model& table);
  void write_inputs(const tk_follower& now, const Pointer& pointer);
  double invented() const;
  void keep_book(double invented_before);
  int evaluate(const tactus_model* table);
  int take_stop(int status);
  int take_steps(const tactus_model* table);
  void push_back(Port& port, std::int64_t now);

  struct Copy {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
  };
  // The energy's book (compiler/schemata/book.h).
  struct BookPlaces {
    std::uint32_t start = 0;     // among the states
    std::uint32_t invented = 0;  // among the outputs
  };
  static std::optional<BookPlaces> find_book(const tactus_model& model);

  const tactus_model& model_;
  Timing timing_;
  HandPlaces hand_;
  sim::Instance instance_;
  std::vector<double> warm_;     // put aside while outputs are computed
  std::vector<double> outputs_;  // of the last good tick
  std::optional<BookPlaces> book_;
  std::vector<Copy> kept_states_;
  std::vector<Copy> kept_discrete_;
  std::vector<double> started_discrete_;  // as the start left them
  bool keeps_all_ = false;                // the same structure: discrete values, clocks and delays go on too
  tk_follower follower_ = {};
  tk_passivity passivity_ = {};
  std::array<double, 3> told_ = {};
  std::int32_t stopped_by_ = -1;
  bool was_present_ = false;
  bool was_followed_ = false;        // a simulated hand told where it is before
  std::shared_ptr<Hand> simulated_;  // null: a person's
  std::optional<Port> own_port_;     // of a simulated hand
  double speed_ = 1;
  std::atomic<bool> is_cancelled_ = false;
  Mailbox<Shown> shown_;
  std::unique_ptr<Planner> planner_;  // last: its thread ends before what it reads goes
};

}  // namespace live
