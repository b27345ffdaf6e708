// --init and --base: a run with SimSect's files around it. What a file says comes before the model's `simulation`
// section, and the command line before both; what neither says is as SimSect has it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "abi/model.h"
#include "api/load.h"
#include "compiler/ir/ir.h"
#include "driver/commands.h"
#include "runtime/sim/plan.h"
#include "simsect/settings.h"

namespace driver {

// Of the files of --base.
inline constexpr const char* base_suffixes[] = {".data", ".initial", ".param"};

struct Initialised {
  simsect::Meaning meaning;
  std::vector<api::Text> texts;         // the model's, read once
  std::vector<compiler::Start> starts;  // of the meaning; a guess where the model finds the start itself
  std::vector<std::string> notes;       // what was odd
};

// Reads the files, and compiles the model to know its names. Empty: what is wrong was told, and `exit_code` is the
// program's.
[[nodiscard]] std::optional<Initialised> read_init_files(const RunOptions& options,
                                                         const std::vector<compiler::Override>& overrides,
                                                         int& exit_code);

// What the run is asked for, as far as the command line is silent. Changes what the program says of locating events.
void use_integrator(const simsect::Integrator& given, const RunOptions& options, ir::Program& program,
                    sim::Settings& settings);

// NAME.initial and NAME.param, each whole or not at all; NAME.data is written with the rows.
class BaseFiles {
 public:
  // `settable`: all names that an initialisation file could mean besides states.
  void open(const std::string& base, const tactus_model& model, std::vector<std::string> settable);
  // `columns` are those of NAME.data, for people.
  void write(const tactus_instance& start, const std::vector<std::string>& columns);
  // Whether both were written.
  [[nodiscard]] bool close() const { return failure_.empty(); }
  const std::string& failure() const { return failure_; }

 private:
  const tactus_model* model_ = nullptr;
  std::string base_;
  simsect::ModelNames names_;
  std::string failure_;
};

// `measurePeriod`: a line for every multiple of it that the run has passed.
class Measure {
 public:
  Measure(double start, double end, double period) : start_(start), end_(end), period_(period) {}
  bool is_wanted() const { return period_ > 0; }
  void reach(double time);

 private:
  double start_, end_, period_;
  std::int64_t told_ = 0;
};

}  // namespace driver
