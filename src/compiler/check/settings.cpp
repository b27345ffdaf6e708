#include "compiler/check/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <string_view>

#include "abi/model.h"
#include "base/nearest.h"
#include "compiler/check/diagnostics.h"
#include "compiler/check/numbers.h"

namespace check {
namespace {

using parse::NodeKind;

struct Elsewhere {
  std::string_view theirs;  // in lower case, without `_`
  std::string_view ours;
};

constexpr Elsewhere settings_elsewhere[] = {{"stoptime", "ending_time"},
                                            {"endtime", "ending_time"},
                                            {"finaltime", "ending_time"},
                                            {"tend", "ending_time"},
                                            {"tstop", "ending_time"},
                                            {"tfinal", "ending_time"},
                                            {"tmax", "ending_time"},
                                            {"duration", "ending_time"},
                                            {"starttime", "starting_time"},
                                            {"tstart", "starting_time"},
                                            {"t0", "starting_time"},
                                            {"dt", "step_size"},
                                            {"h", "step_size"},
                                            {"step", "step_size"},
                                            {"timestep", "step_size"},
                                            {"fixedstep", "step_size"},
                                            {"maxstep", "step_size"},
                                            {"tol", "tolerance"},
                                            {"rtol", "tolerance"},
                                            {"reltol", "tolerance"},
                                            {"abstol", "tolerance"},
                                            {"method", "solver"},
                                            {"integrator", "solver"},
                                            {"algorithm", "solver"},
                                            {"interval", "record_period"},
                                            {"outputinterval", "record_period"},
                                            {"sampletime", "record_period"}};
constexpr Elsewhere solvers_elsewhere[] = {{"ode45", "tsit5"},       {"rk45", "tsit5"},
                                           {"dopri5", "tsit5"},      {"ode23", "bs3"},
                                           {"rk23", "bs3"},          {"ode15s", "cvode"},
                                           {"bdf", "cvode"},         {"lsoda", "cvode"},
                                           {"dassl", "cvode"},       {"ida", "cvode"},
                                           {"ode23s", "rosenbrock"}, {"ode23t", "rosenbrock"},
                                           {"radau", "rosenbrock"},  {"radauiia", "rosenbrock"},
                                           {"ode113", "dop853"},     {"ode4", "rk4"},
                                           {"rungekutta", "rk4"},    {"rk", "rk4"},
                                           {"ode1", "euler"}};

std::string_view translated(std::span<const Elsewhere> table, std::string_view word) {
  std::string plain;
  for (char c : word) {
    if (c != '_') plain += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Elsewhere& entry) { return entry.theirs == plain; });
  return found == table.end() ? std::string_view() : found->ours;
}

class SettingsReader {
 public:
  SettingsReader(Model& model, base::Names& names, diag::Sink& diags)
      : model_(model), tree_(*model.tree), names_(names), diags_(diags), numbers_(model, names) {}

  void run() {
    static constexpr std::array known = {"starting_time", "ending_time",   "step_size",       "solver",
                                         "tolerance",     "record_period", "event_precision", "max_transitions"};
    std::unordered_map<base::NameId, base::Span> seen;
    for (const parse::Setting& setting : tree_.settings) {
      const std::string& key = names_.text(setting.name);
      auto [first, fresh] = seen.emplace(setting.name, setting.span);
      if (!fresh) {
        diags_.report(setting.span, declared_twice, key).related(first->second, "given here before");
        continue;
      }
      if (key == "solver") {
        solver_setting(setting);
        continue;
      }
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        auto report = diags_.report(setting.name_span, unknown_setting, key);
        const auto near = base::nearest(key, known);
        const std::string_view ours = translated(settings_elsewhere, key);
        if (!ours.empty() && near != ours)
          report.hint("here it is called `{}`", ours);
        else if (near)
          report.hint("did you mean `{}`?", *near);
        else
          report.hint("it knows starting_time, ending_time, step_size, solver, tolerance and record_period");
        continue;
      }
      auto value = numbers_.value(setting.value);
      if (!value || !std::isfinite(*value)) {
        diags_.report(setting.span, not_constant, fmt::format("`{}`", key))
            .hint("write a number, such as `{} = 1`", key);
        continue;
      }
      bool needs_positive = key != "starting_time" && key != "ending_time";
      if (needs_positive && *value <= 0) {
        diags_.report(setting.span, bad_setting, fmt::format("`{}` must be greater than 0", key));
        continue;
      }
      constexpr double most_transitions = 1e6;  // a second or so: ctrl-C waits for them
      if (key == "max_transitions" && *value > most_transitions) {
        diags_.report(setting.span, bad_setting, "`max_transitions` is at most 1e6")
            .hint("a chain of transitions that ends is rarely longer than 100; without the setting 1000 are allowed");
        continue;
      }
      if (key == "starting_time") model_.settings.starting_time = *value;
      if (key == "ending_time") model_.settings.ending_time = *value;
      if (key == "step_size") model_.settings.step_size = *value;
      if (key == "tolerance") model_.settings.tolerance = *value;
      if (key == "record_period") model_.settings.record_period = *value;
      if (key == "event_precision") model_.settings.event_precision = *value;
      if (key == "max_transitions") model_.settings.max_transitions = *value;
    }
    for (const parse::External& external : tree_.externals) {
      if (external.period.valid()) model_.settings.hand_period = period(external);
    }
    if (model_.settings.ending_time && *model_.settings.ending_time <= model_.settings.starting_time) {
      auto at = std::find_if(tree_.settings.begin(), tree_.settings.end(),
                             [&](const parse::Setting& setting) { return names_.text(setting.name) == "ending_time"; });
      diags_.report(at->span, bad_setting, "`ending_time` does not lie behind `starting_time`")
          .hint("the starting time is {}", model_.settings.starting_time);
    }
  }

 private:
  std::optional<double> period(const parse::External& external) {
    const auto value = numbers_.value(external.period);
    if (value && std::isfinite(*value) && *value > 0) return value;
    if (value)
      diags_.report(tree_[external.period].span, bad_setting, "the period of an external must be greater than 0");
    else
      diags_.report(tree_[external.period].span, not_constant, "the period of an external")
          .hint("write a number, such as `every 0.001`");
    return std::nullopt;
  }

  void solver_setting(const parse::Setting& setting) {
    const parse::Node& node = tree_[setting.value];
    std::string name = node.kind == NodeKind::name     ? names_.text(node.name)
                       : node.kind == NodeKind::string ? tree_.texts[node.text]
                                                       : std::string();
    if (const int solver = tactus_find_solver(name.c_str()); solver >= 0) {
      model_.settings.solver = solver;
      return;
    }
    std::string known;
    for (int solver = 0; solver < TACTUS_SOLVER_COUNT; ++solver) {
      if (tactus_adaptive_form(solver) != solver) continue;
      known += fmt::format("{}{}", known.empty() ? "" : ", ", tactus_solver_name(solver));
    }
    auto report = diags_.report(setting.span, bad_setting, fmt::format("there is no solver `{}`", name));
    if (const std::string_view ours = translated(solvers_elsewhere, name); !ours.empty())
      report.hint("`{}` is of its kind", ours);
    report.hint("choose one of {}", known);
  }

  Model& model_;
  const parse::Tree& tree_;
  base::Names& names_;
  diag::Sink& diags_;
  Numbers numbers_;
};

}  // namespace

void read_settings(Model& model, base::Names& names, diag::Sink& diags) { SettingsReader(model, names, diags).run(); }

}  // namespace check
