// What the person asked for and what the model says -> how a run will go: solver, step, end, record times.
//
//   a solver is named       that one; `bs3` and `rosenbrock` take fixed steps with a step size and without a tolerance
//   else a step size given  rk4 at that step
//   else                    tsit5, adaptive
//
// What is asked for outside comes before what the model's `simulation` section says. An adaptive solver takes the step size
// as its largest step; without one, a model with Newton blocks, tables or delays takes steps of at most a thousandth of the run
// (see docs/decisions/0006), and one with relations of at most a hundredth (0010). Its tolerance is 1e-6 when none is given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "abi/model.h"

namespace sim {

// Asked for from outside. What is empty is left to the model, then to the defaults.
struct Settings {
  std::optional<tactus_solver> solver = {};  // the adaptive form where a name has two
  std::optional<double> step = {};
  std::optional<double> tolerance = {};
  std::optional<double> until = {};
  std::optional<double> every = {};       // record period
  bool every_step = false;                // a row at the end of every step instead
  std::optional<double> least_step = {};  // adaptive: the run fails when the tolerance asks for a shorter one
  std::optional<std::int64_t> most_changes =
      {};                 // the run fails when more transitions were taken, or relations changed more often
  bool recording = true;  // false: no rows are kept, so the model's record period may be anything
};

struct Plan {
  tactus_solver solver = TACTUS_TSIT5;
  bool is_chosen = false;  // by the person: a stiff system then gets advice instead of another solver
  double start = 0;
  double end = 0;
  // Fixed: the step. Adaptive: the largest step.
  double step = 0;
  // Fixed: `full_steps` steps of `step`, then one of `last_step` unless that is 0. The end is start + full_steps * step when
  // (end - start) / step is a whole number to 1e-9.
  std::int64_t full_steps = 0;
  double last_step = 0;
  double tolerance = 0;            // adaptive only
  double least_step = 0;           // adaptive only
  std::int64_t most_changes = -1;  // transitions, or changes of relations; -1: any number
  // Rows at start + k * period and at the end; or, with is_every_step, where steps end, period being infinite.
  double period = 0;
  bool is_every_step = false;
  // Fixed: the period in steps when it is a whole number of them to 1e-9; 0: rows fall between steps.
  std::int64_t period_steps = 0;
  std::vector<std::string> notes;

  bool adaptive() const { return tactus_is_adaptive(solver) != 0; }
};

inline constexpr double least_tolerance = 1e-14;
inline constexpr double most_rows = 1e9;
inline constexpr double default_tolerance = 1e-6;
inline constexpr double default_span = 10;
inline constexpr int default_rows = 1000;
// The fewest steps of an adaptive run without a largest step: of a model that has more to it than its error estimate sees, and of
// one with relations.
inline constexpr double fewest_blind_steps = 1000;
inline constexpr double fewest_steps = 100;

// The solver that a plan will have, from what the model's `simulation` section says (0 and -1: nothing) and what is asked for.
[[nodiscard]] tactus_solver choose_solver(int model_solver, double model_step, double model_tolerance,
                                          const Settings& settings);

// What takes over when an explicit solver finds the model stiff: rosenbrock while a full matrix for every step is cheap, else
// cvode, which keeps one for many.
[[nodiscard]] tactus_solver stiff_solver_for(const tactus_model& model);

// Empty, with `failure` set, when the settings make no sense: the text says which and what to do.
[[nodiscard]] std::optional<Plan> make_plan(const tactus_model& model, const Settings& settings, std::string& failure);

// The solvers' names as a person writes them, in the order of tactus_solver, each once.
std::vector<std::string> solver_names();
std::optional<tactus_solver> find_solver(const std::string& name);
// "rk4", "bs3" (for both of its forms).
std::string_view solver_name(tactus_solver solver);

}  // namespace sim
