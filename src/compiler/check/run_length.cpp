#include "compiler/check/run_length.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "compiler/check/diagnostics.h"

namespace check {
namespace {

constexpr double most = 1e9;
constexpr double a_second = 5e7;  // steps of a model of a few equations, or events with a handler or two, on a good day

std::string duration(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} seconds", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} minutes", seconds / 60);
  if (seconds < 172800) return fmt::format("{:.0f} hours", seconds / 3600);
  if (seconds < 2 * 365.25 * 86400) return fmt::format("{:.0f} days", seconds / 86400);
  const double years = seconds / (365.25 * 86400);
  return years < 1e6 ? fmt::format("{:.0f} years", years) : fmt::format("{:.2g} years", years);
}

}  // namespace

void report_long_runs(const Model& model, const base::Names& names, diag::Sink& diags) {
  const Settings& settings = model.settings;
  const double span = settings.ending_time ? *settings.ending_time - settings.starting_time : 10;
  const auto report = [&](base::Span place, const std::string& what, double length, const char* things) {
    const double count = span / length;
    if (!(count > most)) return;
    diags.report(place, long_run, what, fmt::format("{:.2g}", count), things)
        .hint("even at 50 million a second they take {}; times without a unit are in seconds: is a longer one meant?",
              duration(count / a_second));
  };
  for (const parse::Setting& setting : model.tree->settings) {
    if (names.text(setting.name) == "step_size" && settings.step_size)
      report(setting.span, "a `step_size`", *settings.step_size, "steps");
  }
  for (const Event& event : model.events) {
    if (event.kind == parse::EventKind::every)
      report(event.span, fmt::format("`{}`", names.text(event.name)), event.period, "events");
  }
}

}  // namespace check
