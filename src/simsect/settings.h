// Symbols of initialisation files -> what they mean for one model: settings of the integrator, values of parameters,
// starts of states.
//
// The integrator's symbols and their defaults are those of the SimSect user's manual (CSE-TR-436-00), 2.4.2;
// `maxStopIterations` and `rkPower` of its figure 1 are `maxStopIter` and `power` of its list. All other symbols are
// parameters, constants and states by name. A name that SimSect could not write, `p'[2]`, is the symbol `pdot_2`; both
// are understood.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diag/sink.h"
#include "simsect/init_file.h"

namespace simsect {

// What the integrator knows. Empty: the files say nothing of it.
struct Integrator {
  std::optional<std::string> system_name = {};
  std::optional<std::string> data_base_name = {};
  std::optional<double> stop_precision = {};        // of the boundary function
  std::optional<std::uint32_t> max_stop_iter = {};  // evaluations to locate one crossing
  std::optional<double> record_period = {};         // 0: every step
  std::optional<double> measure_period = {};        // 0: no messages
  std::optional<std::int64_t> max_chart_count = {};
  std::optional<double> final_time = {};
  std::optional<double> tolerance = {};
  std::optional<double> max_time_step = {};
  std::optional<double> min_time_step = {};
  std::optional<std::string> solver = {};  // of the order that `power` is for
};

// What SimSect takes when a file says nothing.
inline constexpr double default_stop_precision = 1e-10;
inline constexpr std::uint32_t default_max_stop_iter = 128;
inline constexpr double default_record_period = 0;
inline constexpr double default_measure_period = 0;
inline constexpr std::int64_t default_max_chart_count = 128;
inline constexpr double default_final_time = 1;
inline constexpr double default_tolerance = 1e-4;
inline constexpr double default_max_time_step = 1e-2;
inline constexpr double default_min_time_step = 1e-15;
inline constexpr const char* default_solver = "bs3";  // power 0.33: a third order

// The names of a model that a file may set.
struct ModelNames {
  std::string system;                   // as `systemName` calls it
  std::vector<std::string> parameters;  // and constants
  std::vector<std::string> states;      // scalars: "p'[2]"
};

struct Meaning {
  Integrator integrator;
  std::vector<NamedNumber> parameters;  // each once
  std::vector<NamedNumber> starts;      // of states, each once
};

// Of several assignments to one name the last one counts. Symbols without a meaning are warned of.
[[nodiscard]] Meaning find_meaning(const std::vector<Assignment>& assignments, const ModelNames& names,
                                   diag::Sink& diags);

// "p'[2]" as SimSect could write it: "pdot_2".
[[nodiscard]] std::string symbol_of(std::string_view name);

// The same names as symbols, where that leaves each of them the only one; as they are where it does not.
[[nodiscard]] std::vector<std::string> symbols_of(const std::vector<std::string>& names, const ModelNames& all);

}  // namespace simsect
