// Texts -> a world that can run. Compiles, makes machine code, finds the start; on any thread, and takes as long as
// that takes.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "api/load.h"
#include "compiler/emit_llvm/jit.h"
#include "runtime/live/loop.h"
#include "runtime/sim/failure.h"

namespace play {

using Json = nlohmann::ordered_json;

// Numbers from outside that replace the text's (`--set`), of parameters and constants.
using Overrides = std::vector<compiler::Override>;

// A parameter that a person moved: it stays so until the text gives it another initial value than the one it had then.
struct Moved {
  std::string name;
  double value = 0;
  double initial = 0;
};

struct Prepared {
  api::Compiled compiled;                          // its diagnostics, whether it went well or not
  std::shared_ptr<emit_llvm::CompiledModel> code;  // null: it did not
  std::unique_ptr<live::Running> running;          // null: or its start failed
  std::optional<sim::Failure> failure;
  std::shared_ptr<const std::vector<live::Named>> discrete;  // what the code has of them, by name
  std::shared_ptr<const std::vector<compiler::WrittenUnit>>
      units;                     // of parameters; null: of code that was there already
  std::vector<api::Text> texts;  // what it was compiled from; empty: code that was there already
  std::optional<Json> items;     // what another process said of the texts, instead of the diagnostics in `compiled`
  bool is_given_up = false;      // a newer text came
};

// When the code is made faster, in the background.
enum class Optimising { at_once, when_told };

// `allow`: compiler::Options' own.
[[nodiscard]] Prepared prepare(const std::vector<api::Text>& texts, const Overrides& overrides,
                               const std::vector<Moved>& moved, double period,
                               Optimising optimising = Optimising::at_once, const std::vector<std::string>& allow = {});
// The same code once more, from its start.
[[nodiscard]] Prepared prepare_again(std::shared_ptr<emit_llvm::CompiledModel> code, const std::vector<Moved>& moved,
                                     double period);
// The scalars of reactive values and modes: what a channel shows is where it lies.
[[nodiscard]] std::vector<live::Named> discrete_names(const ir::Program& program);

// The model's parameters by place: as moved, else as the text says.
[[nodiscard]] std::vector<double> parameters_of(const tactus_model& model, const std::vector<Moved>& moved);

// The best table there is now for what the world is stepped by. May compile.
const tactus_model* best_table(emit_llvm::CompiledModel& code, int solver);

// What a page calls a file: the last part of its path if it is one of the model's and the only one called so, else the
// path.
[[nodiscard]] std::string shown_name(const std::string& path, const std::vector<api::Text>& texts);
// The protocol's `items`: lines and columns from 1, columns in UTF-16 units, `file` as shown_name says.
Json diagnostic_items(const api::Compiled& compiled, const std::vector<api::Text>& texts);

}  // namespace play
