// Options -> a model compiled with tangents and standing at one instant, and the inputs and outputs that a person
// named. What `linearize` and `equilibrium` begin with.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "abi/model.h"
#include "api/load.h"
#include "compiler/emit_llvm/jit.h"
#include "driver/commands.h"
#include "driver/settings.h"
#include "runtime/control/equilibrium.h"
#include "runtime/control/linearize.h"
#include "runtime/sim/instance.h"

namespace driver {

struct OperatingPoint {
  api::Compiled compiled;
  std::unique_ptr<emit_llvm::CompiledModel> jit;
  const tactus_model* model = nullptr;  // with tangents; with modes that of the structure at the point
  std::string modes;                    // "ball.Rolling, door.Shut" at the point; empty without modes
  std::unique_ptr<sim::Instance> instance;
  std::vector<control::Input> free;  // what options.free names
  std::vector<std::string> notes;
  compiler::Options compiling;  // what it was compiled with
};

// Compiles and runs to `until`, to the start without it; guesses are set there. exit_done, or what the program exits
// with, the reason being told.
[[nodiscard]] int reach_point(const PointOptions& options, std::optional<double> until, OperatingPoint& point);

// All inputs of `external .. reads`.
[[nodiscard]] std::vector<control::Input> default_inputs(const tactus_model& model);
// "u,p[1],k": inputs and parameters; a vector is all its components. `option` stands in messages.
[[nodiscard]] std::optional<std::vector<control::Input>> find_inputs(const tactus_model& model,
                                                                     std::span<const std::string> lists,
                                                                     const std::string& option, Mistake& mistake);
// What an `external .. writes`, else the states.
[[nodiscard]] std::vector<control::Output> default_outputs(const tactus_model& model);
[[nodiscard]] std::optional<std::vector<control::Output>> find_outputs(const OperatingPoint& point,
                                                                       std::span<const std::string> lists,
                                                                       Mistake& mistake);

// One sentence for each thing that the linear system or the state of rest leaves out of this model: relations, modes,
// behaviours.
[[nodiscard]] std::vector<std::string> notes_on_pieces(const OperatingPoint& point);

// A failed evaluation at the point, told as a run's failure is. Returns exit_run_failed.
int tell_failure(const PointOptions& options, OperatingPoint& point, tactus_status status, const std::string& what);

// Whether the file can be written: a folder that is there, an ending that is known.
[[nodiscard]] bool can_write(std::span<const std::string> pictures, std::span<const std::string> read,
                             Mistake& mistake);

}  // namespace driver
