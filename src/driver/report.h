// What the commands say: mistakes in their use, diagnostics of a model, values. Text for people, or one JSON object.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "api/load.h"
#include "diag/printable.h"

namespace driver {

// All that the program prints goes through here, byte by byte: JSON, a laid out program, what has colours already. What
// cannot be written (a full disk, a closed stream) is lost without an exception; exit_code_after_output tells whether
// that was a result. What standard output was given comes before.
void write_text(std::FILE* to, std::string_view text);

// A value as `say` prints it: texts, which may hold a file's name or a piece of a model, without what would steer a
// terminal.
template <class Value>
decltype(auto) shown(Value&& value) {
  if constexpr (std::is_convertible_v<Value, std::string_view>) {
    return diag::printable_lines(std::string_view(value));
  } else {
    return std::forward<Value>(value);
  }
}

template <class... Values>
void say(std::FILE* to, fmt::format_string<decltype(shown(std::declval<Values>()))...> format, Values&&... values) {
  const auto text = [&](const auto&... all) { return fmt::vformat(format, fmt::make_format_args(all...)); };
  write_text(to, text(shown(std::forward<Values>(values))...));
}

// At the very end: flushes standard output. When some of it was lost, says so on stderr and turns exit_done into
// exit_run_failed; other codes stay.
int exit_code_after_output(int exit_code);

// A result that could not be written: "tactus: error: TEXT" to stderr; with `json` also {"status":"failed","failure"}
// to standard output. Returns exit_run_failed.
int not_kept(bool json, std::string_view text);

// "1 step", "2 steps".
std::string counted(std::size_t count, std::string_view what);

// A number for JSON: what is not finite becomes "nan", "inf" or "-inf", which JSON has no number for.
nlohmann::ordered_json json_number(double value);

// Prints the object and an end of line to standard output.
void print_json(const nlohmann::ordered_json& object);

// "tactus: error: TEXT" and "hint: HINT" (when there is one) to stderr; with `json` also
// {"status":"usage","message","hint"} to standard output. Returns exit_usage.
int usage_error(bool json, std::string_view text, std::string_view hint);

// A mistake of ours, or no memory: "tactus: TEXT" to stderr, with `json` also {"status":"internal","message"}. Returns
// exit_internal.
int internal_error(bool json, std::string_view text);

// The model's diagnostics: to stderr for people; with `json` as {"status":"error","diagnostics":[..]} to standard
// output. Returns exit_model_errors; exit_usage, with the status "usage", when no error is the model's.
int model_errors(bool json, const api::Compiled& compiled);

// Warnings for people, to stderr; nothing when there are none.
void print_warnings(const api::Compiled& compiled);

// Whether stderr is a terminal that wants colours (NO_COLOR is unset).
bool stderr_wants_color();

}  // namespace driver
