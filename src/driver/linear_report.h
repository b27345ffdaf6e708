// Poles, points and states of rest in words, tables and JSON: what `linearize` and `equilibrium` both say.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driver/operating_point.h"
#include "runtime/control/analyze.h"
#include "runtime/control/equilibrium.h"

namespace driver {

// "-1", "0 + 2i"; of a pair "-1 ± 2i".
std::string text_complex(control::Complex value);
nlohmann::ordered_json json_complex(std::span<const control::Complex> values);

// "stable", "marginal", "drifting", "unstable".
std::string stability_word(control::Stability stability);
std::string stability_sentence(const control::Analysis& analysis);

// A table of poles and what they say together.
std::string text_poles(const control::Analysis& analysis, bool has_inputs, bool has_outputs);
nlohmann::ordered_json json_poles(const control::Analysis& analysis);

// States and inputs at the point, by name.
nlohmann::ordered_json json_point(const OperatingPoint& point, std::span<const control::Input> inputs);

// No state of rest: the closest point and what moves there. Returns exit_run_failed.
int tell_no_rest(bool json, const OperatingPoint& point, const control::Equilibrium& closest);
std::vector<std::string> notes_on_rest(const OperatingPoint& point, const control::Equilibrium& found);
// When the model moves at the point: deviations are those from its motion.
std::optional<std::string> note_on_motion(const OperatingPoint& point);

// Takes those outputs out of the system that no state and no input moves, and returns their names.
std::vector<std::string> drop_still_outputs(std::vector<control::Output>& outputs, control::LinearSystem& system);

}  // namespace driver
