#include "driver/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "driver/commands.h"

namespace driver {

using Json = nlohmann::ordered_json;

namespace {

int output_error = 0;  // errno of the first text that standard output did not take

void note_output_error() {
  if (output_error == 0) output_error = errno != 0 ? errno : EIO;
}

}  // namespace

void write_text(std::FILE* to, std::string_view text) {
  errno = 0;
  if (to != stdout && std::fflush(stdout) != 0) note_output_error();
  if (std::fwrite(text.data(), 1, text.size(), to) != text.size() && to == stdout) note_output_error();
}

int exit_code_after_output(int exit_code) {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) note_output_error();
  if (output_error == 0) return exit_code;
  say(stderr, "tactus: error: cannot write to standard output: {}\n", std::strerror(output_error));
  return exit_code == exit_done ? exit_run_failed : exit_code;
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

Json json_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

void print_json(const Json& object) {
  // Names come from files that may hold anything: what is not UTF-8 is replaced, never thrown at.
  write_text(stdout, object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

int usage_error(bool json, std::string_view text, std::string_view hint) {
  if (json) {
    Json object = {{"status", "usage"}, {"message", text}};
    if (!hint.empty()) object["hint"] = hint;
    print_json(object);
  }
  say(stderr, "tactus: error: {}\n", text);
  if (!hint.empty()) say(stderr, "  hint: {}\n", hint);
  return exit_usage;
}

int internal_error(bool json, std::string_view text) {
  if (json) print_json({{"status", "internal"}, {"message", text}});
  say(stderr, "tactus: {}\n", text);
  return exit_internal;
}

int not_kept(bool json, std::string_view text) {
  if (json) print_json({{"status", "failed"}, {"failure", {{"kind", "not_kept"}, {"text", text}}}});
  say(stderr, "tactus: error: {}\n", text);
  return exit_run_failed;
}

int model_errors(bool json, const api::Compiled& compiled) {
  if (json) {
    print_json({{"status", compiled.is_misuse ? "usage" : "error"},
                {"diagnostics", Json::parse(diag::render_json(compiled.diags, compiled.sources))}});
  } else if (compiled.is_misuse) {
    // No place in a text to point at: a file that is not there, or a word of the command line.
    for (const diag::Diagnostic& diagnostic : compiled.diags.diagnostics()) {
      if (diagnostic.severity != diag::Severity::error) continue;
      bool about_file = diagnostic.span.file < compiled.sources.size() && diagnostic.code.starts_with('F');
      say(stderr, "tactus: error[{}]: {}{}\n", diagnostic.code,
          about_file ? diag::printable(compiled.sources.name(diagnostic.span.file)) + ": " : "", diagnostic.text);
      for (const std::string& hint : diagnostic.hints) say(stderr, "  hint: {}\n", hint);
    }
  } else {
    write_text(stderr, diag::render_text(compiled.diags, compiled.sources, stderr_wants_color()));
  }
  return compiled.is_misuse ? exit_usage : exit_model_errors;
}

void print_warnings(const api::Compiled& compiled) {
  if (!compiled.diags.diagnostics().empty())
    write_text(stderr, diag::render_text(compiled.diags, compiled.sources, stderr_wants_color()));
}

bool stderr_wants_color() {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDERR_FILENO) && !(no_color && *no_color);
}

}  // namespace driver
