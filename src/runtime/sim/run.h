// The batch loop around the kernel: a model's table, what was asked for, and an observer in; rows to the observer and an
// Outcome out.
//
//   tk_reset, parameters, inputs, tk_start; with boundary values at other times the start that meets them (shooting.h)
//   fixed:     chunks of table->fixed_steps up to the next row, each at most about 50 ms of work
//   adaptive:  table->adaptive_step, never across a knot of an input's signal; from where an explicit method finds the system
//              stiff on by a stiff one, unless the person chose the solver
//   rows       at start + k * period and at the end, or where steps end: the grid's own states where a row falls on a step, else by cubic Hermite
//              interpolation (fixed) or the method's dense output (adaptive)
//
// Recording never changes the motion: whatever is recorded, the states go through the same bits. Memory is constant, whatever
// the number of steps.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "abi/model.h"
#include "runtime/sim/failure.h"
#include "runtime/sim/inputs.h"
#include "runtime/sim/plan.h"
#include "runtime/sim/shooting.h"

namespace sim {

// Gets the rows as they are made, on the thread of `run`.
class Observer {
 public:
  virtual ~Observer() = default;
  // The whole outputs section at t. False ends the run: the row could not be kept.
  virtual bool row(double t, std::span<const double> outputs) = 0;
};

struct Request {
  // The table to use from now on: asked before every chunk, so that a better compiled one may take over. All of them have the
  // same metadata and layout.
  std::function<const tactus_model*()> table;
  // The same with tangents, for the stiff solvers; they are compiled when it is first asked for. Empty: `table` has what there is.
  std::function<const tactus_model*()> stiff_table;
  // The same with the tangents of all functions, for boundary values at other times. Empty: there are none.
  std::function<const tactus_model*()> tangent_table;
  Plan plan;
  std::vector<ParameterValue> parameters;
  std::vector<Feed> feeds;                  // an input without one reads zero
  const std::atomic<bool>* stop = nullptr;  // true: end after this chunk, as `interrupted`
  // Shown the state that the run begins with, once it is found. May be empty.
  std::function<void(const tactus_instance&)> at_start;
  // Shown the last good state with all its sections, once, when the run is over and has begun at all. May be empty.
  std::function<void(const tactus_instance&)> at_end;
  // Told the time between two chunks, at most about 50 ms apart unless a single step takes longer. May be empty.
  std::function<void(double)> progress;
};

inline constexpr std::size_t most_events = 10000;

// stopped: a `stop when` of the model ended it, well.
enum class Ending { done, stopped, interrupted, failed, not_kept };

struct Fired {
  std::uint32_t event = 0;  // index into the table's events
  double time = 0;
};

struct Outcome {
  Ending ending = Ending::done;
  double time = 0;  // of the last good state
  std::int64_t steps = 0;
  double constraint_residual = 0;  // the most that a constraint was off at the end of a step, in its own unit
  std::int64_t rejected = 0;       // adaptive
  std::vector<Fired> events;       // the first `most_events`
  std::int64_t events_total = 0;
  std::int64_t crossings = 0;  // how often a relation changed
  std::vector<Fired> broken;   // `check`s of the model that were found broken, and when first
  std::optional<Failure> failure;
  std::vector<double> outputs;               // at `time`; empty when they could not be computed
  tactus_solver solver = TACTUS_TSIT5;       // at the end
  std::optional<double> switched_at;         // when another solver took over
  std::optional<BoundarySolution> boundary;  // when there are boundary values at other times
  std::vector<std::string> notes;
};

// `observer` may be null: then nothing is recorded, and outputs are computed only at the end.
[[nodiscard]] Outcome run(const Request& request, Observer* observer);

}  // namespace sim
