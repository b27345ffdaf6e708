// --set, --solver and --device: words of the command line -> what a run needs, checked against the model.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "abi/model.h"
#include "compiler/compile.h"
#include "play/hand.h"
#include "runtime/sim/run.h"
#include "runtime/trace/signal.h"

namespace driver {

// A mistake in a command line, and how to mend it.
struct Mistake {
  std::string text;
  std::string hint;
};

// "k=9" -> {"k", 9}. Only plain, finite numbers are read. `option` stands in messages.
[[nodiscard]] std::optional<std::vector<compiler::Override>> read_overrides(std::span<const std::string> set,
                                                                            Mistake& mistake,
                                                                            std::string_view option = "--set");

// The values of parameters among the overrides; the compiler has seen to the others, which are constants, and refused
// what is neither. Notes say when a value lies outside its range.
[[nodiscard]] std::vector<sim::ParameterValue> parameter_values(const tactus_model& model,
                                                                std::span<const compiler::Override> overrides,
                                                                std::vector<std::string>& notes);

[[nodiscard]] std::optional<tactus_solver> read_solver(const std::string& name, Mistake& mistake);

// Signals and what they feed; the feeds point into the signals.
struct Devices {
  std::deque<trace::Signal> signals;
  std::vector<sim::Feed> feeds;
  std::optional<play::HandSpec> hand;  // a device that feels the model's force
};

// "hand=simulated:touch" -> its parts. Empty after filling `mistake`.
struct DeviceWord {
  std::string name, kind, argument;
};
[[nodiscard]] std::optional<DeviceWord> read_device(const std::string& word, Mistake& mistake);

// "hand=file:hand.csv" for each; a script is sampled at the plan's steps. Notes name the inputs that nothing feeds, and
// how to feed them.
[[nodiscard]] bool connect_devices(const tactus_model& model, std::span<const std::string> words, Devices& devices,
                                   std::vector<std::string>& notes, Mistake& mistake, const sim::Plan* plan = nullptr);

}  // namespace driver
