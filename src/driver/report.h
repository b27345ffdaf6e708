// What the commands say: mistakes in their use, diagnostics of a model, values. Text for people, or one JSON object.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "api/load.h"

namespace driver {

// All that the program prints goes through here. What cannot be written (a full disk, a closed stream) is lost without an
// exception; exit_code_after_output tells whether that was a result. What standard output was given comes before.
void write_text(std::FILE* to, std::string_view text);

template <class... Values>
void say(std::FILE* to, fmt::format_string<Values...> format, Values&&... values) {
  write_text(to, fmt::format(format, std::forward<Values>(values)...));
}

// At the very end: flushes standard output. When some of it was lost, says so on stderr and turns exit_done into
// exit_run_failed; other codes stay.
int exit_code_after_output(int exit_code);

// "1 step", "2 steps".
std::string counted(std::size_t count, std::string_view what);

// A number for JSON: what is not finite becomes "nan", "inf" or "-inf", which JSON has no number for.
nlohmann::ordered_json json_number(double value);

// Prints the object and an end of line to standard output.
void print_json(const nlohmann::ordered_json& object);

// "tactus: error: TEXT" and "hint: HINT" (when there is one) to stderr; with `json` also
// {"status":"usage","message","hint"} to standard output. Returns exit_usage.
int usage_error(bool json, std::string_view text, std::string_view hint);

// The model's diagnostics: to stderr for people; with `json` as {"status":"error","diagnostics":[..]} to standard output.
// Returns exit_model_errors; exit_usage, with the status "usage", when no error is the model's.
int model_errors(bool json, const api::Compiled& compiled);

// Warnings for people, to stderr; nothing when there are none.
void print_warnings(const api::Compiled& compiled);

// Whether stderr is a terminal that wants colours (NO_COLOR is unset).
bool stderr_wants_color();

}  // namespace driver
