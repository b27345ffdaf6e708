#include "driver/linear_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "driver/report.h"

namespace driver {
namespace {

using Json = nlohmann::ordered_json;

// "the derivative of `x`", or the constraint, by its place in Equilibrium::residuals.
std::string residual_name(const tactus_model& model, std::size_t index) {
  if (index < model.state_count) return fmt::format("the derivative of `{}`", model.state_names[index]);
  const tactus_constraint& constraint = model.constraints[index - model.state_count];
  return fmt::format("`{}` (line {}) is off: what is left over", constraint.text, constraint.line);
}

}  // namespace

std::string text_complex(control::Complex value) {
  const double re = value.real() + 0.0, im = std::abs(value.imag());
  if (im == 0) return fmt::format("{:.6g}", re);
  if (re == 0) return fmt::format("\u00b1{:.6g}i", im);
  return fmt::format("{:.6g} \u00b1 {:.6g}i", re, im);
}

Json json_complex(std::span<const control::Complex> values) {
  Json list = Json::array();
  for (const control::Complex value : values)
    list.push_back({{"re", json_number(value.real() + 0.0)}, {"im", json_number(value.imag() + 0.0)}});
  return list;
}

std::string stability_word(control::Stability stability) {
  switch (stability) {
    case control::Stability::stable:
      return "stable";
    case control::Stability::marginal:
      return "marginal";
    case control::Stability::drifting:
      return "drifting";
    case control::Stability::unstable:
      return "unstable";
  }
  return "";
}

std::string stability_sentence(const control::Analysis& analysis) {
  if (analysis.poles.empty()) return "no poles: outputs follow inputs at once";
  switch (analysis.stability) {
    case control::Stability::stable:
      return "stable: every deviation dies out";
    case control::Stability::marginal:
      return fmt::format("marginal: {} on the imaginary axis; deviations neither die out nor grow in the linear system",
                         counted(analysis.on_axis, "pole"));
    case control::Stability::drifting:
      return "drifting: integrators one behind another; deviations grow like t or faster";
    case control::Stability::unstable:
      break;
  }
  return fmt::format("unstable: {} to the right of the imaginary axis", counted(analysis.unstable, "pole"));
}

std::string text_poles(const control::Analysis& analysis, bool has_inputs, bool has_outputs) {
  if (analysis.poles.empty()) return fmt::format("  {}\n", stability_sentence(analysis));
  constexpr std::size_t most = 40;
  std::vector<std::vector<std::string>> rows = {{"pole", "frequency", "damping", "time constant"}};
  std::size_t left_out = 0;
  for (const control::Pole& pole : analysis.poles) {
    if (pole.value.imag() < 0) continue;
    if (rows.size() > most) {
      ++left_out;
      continue;
    }
    std::string time = std::isfinite(pole.time_constant) ? fmt::format("{:.4g} s", pole.time_constant) : "-";
    if (pole.value.real() > 0 && std::isfinite(pole.time_constant)) time += ", grows";
    std::string flags;
    if (has_inputs && !pole.is_controllable) flags += "  not controllable";
    if (has_outputs && !pole.is_observable) flags += "  not observable";
    rows.push_back({text_complex(pole.value), fmt::format("{:.4g} rad/s", pole.frequency),
                    pole.frequency > 0 ? fmt::format("{:.4g}", pole.damping + 0.0) : "-", time + flags});
  }
  std::size_t widths[3] = {};
  // The width on the page: a UTF-8 byte that goes on with a letter has none.
  const auto width = [](const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
  };
  for (const auto& row : rows) {
    for (int k = 0; k < 3; ++k) widths[k] = std::max(widths[k], width(row[static_cast<std::size_t>(k)]));
  }
  std::string text;
  for (const auto& row : rows) {
    text += "  ";
    for (std::size_t k = 0; k < 3; ++k) text += row[k] + std::string(widths[k] - width(row[k]) + 2, ' ');
    text += row[3] + "\n";
  }
  if (left_out > 0) text += fmt::format("  .. and {} more: --json gives all\n", left_out);
  text += fmt::format("  {}\n", stability_sentence(analysis));
  const std::size_t n = analysis.poles.size();
  if (has_inputs) text += fmt::format("  controllable: {} of {}", analysis.controllable, n);
  if (has_outputs) text += fmt::format("{}observable: {} of {}", has_inputs ? "; " : "  ", analysis.observable, n);
  if (has_inputs || has_outputs) text += "\n";
  return text;
}

Json json_poles(const control::Analysis& analysis) {
  Json list = Json::array();
  for (const control::Pole& pole : analysis.poles)
    list.push_back({{"re", json_number(pole.value.real() + 0.0)},
                    {"im", json_number(pole.value.imag() + 0.0)},
                    {"frequency", json_number(pole.frequency)},
                    {"damping", json_number(pole.damping + 0.0)},
                    {"time_constant", json_number(pole.time_constant)},
                    {"controllable", pole.is_controllable},
                    {"observable", pole.is_observable}});
  return list;
}

Json json_point(const OperatingPoint& point, std::span<const control::Input> inputs) {
  Json values = Json::object();
  const tactus_model& model = *point.model;
  for (std::uint32_t i = 0; i < model.state_count; ++i)
    values[model.state_names[i]] = json_number(point.instance->states()[i]);
  for (const control::Input& input : inputs)
    values[input.name] = json_number(
        point.instance->section(input.is_parameter ? model.layout.parameters : model.layout.inputs)[input.index]);
  return values;
}

int tell_no_rest(bool json, const OperatingPoint& point, const control::Equilibrium& closest) {
  const tactus_model& model = *point.model;
  std::string text = fmt::format("no state of rest was found: at the closest point {} is {:.6g}",
                                 residual_name(model, closest.worst), closest.residuals[closest.worst]);
  std::string hint = "begin elsewhere: --guess x=1, or --all; or let an input or parameter give way: --free u";
  if (json) {
    Json object = {{"status", "failed"},
                   {"failure", {{"kind", "no_rest"}, {"text", text}, {"hint", hint}}},
                   {"closest", json_point(point, point.free)}};
    Json residuals = Json::object();
    for (std::uint32_t i = 0; i < model.state_count; ++i)
      residuals[model.state_names[i]] = json_number(closest.residuals[i]);
    object["derivatives"] = std::move(residuals);
    object["notes"] = notes_on_pieces(point);
    print_json(object);
  } else {
    say(stdout, "the closest point:\n");
    constexpr std::uint32_t most = 40;
    for (std::uint32_t i = 0; i < std::min(model.state_count, most); ++i)
      say(stdout, "  {} = {:.9g}, moves by {:.6g} a second\n", model.state_names[i], closest.states[i],
          closest.residuals[i] + 0.0);
    for (std::size_t k = 0; k < point.free.size(); ++k)
      say(stdout, "  {} = {:.9g}\n", point.free[k].name, closest.free[k]);
  }
  say(stderr, "tactus: error: {}\n  hint: {}\n", text, hint);
  for (const std::string& note : notes_on_pieces(point)) say(stderr, "note: {}\n", note);
  return exit_run_failed;
}

std::vector<std::string> notes_on_rest(const OperatingPoint& point, const control::Equilibrium& found) {
  std::vector<std::string> notes;
  const tactus_model& model = *point.model;
  if (found.depends_on_time)
    notes.push_back(fmt::format("the model depends on the time itself: this is rest at t = {:.9g} only",
                                point.instance->get()->time));
  if (found.freedom > 0) {
    std::vector<std::string> names;
    for (std::size_t index : found.loose) {
      if (names.size() == 8) {
        names.emplace_back("..");
        break;
      }
      names.push_back(index < model.state_count ? model.state_names[index]
                                                : point.free[index - model.state_count].name);
    }
    const std::string others =
        names.size() == 1 ? fmt::format("`{}` is another", names.front())
                          : fmt::format("{} are others, {} of them free", fmt::join(names, ", "), found.freedom);
    notes.push_back(fmt::format("not the only one: the model also rests where {}; this one is near the guess", others));
  }
  return notes;
}

std::optional<std::string> note_on_motion(const OperatingPoint& point) {
  const tactus_model& model = *point.model;
  std::vector<double> rates(model.state_count);
  const double* x = point.instance->states().data();
  if (model.derivative(&model, point.instance->get(), point.instance->get()->time, x, rates.data()) != TACTUS_OK)
    return std::nullopt;
  for (std::uint32_t i = 0; i < model.state_count; ++i) {
    if (std::abs(rates[i]) > 1e-6 * (1 + std::abs(x[i])))
      return fmt::format(
          "the model is not at rest here ({} changes by {:.3g} a second): the matrices are for deviations from its "
          "motion, at this instant; --at equilibrium seeks rest",
          model.state_names[i], rates[i]);
  }
  return std::nullopt;
}

std::vector<std::string> drop_still_outputs(std::vector<control::Output>& outputs, control::LinearSystem& system) {
  std::vector<std::size_t> kept;
  std::vector<std::string> dropped;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    bool moves = false;
    for (std::size_t j = 0; j < system.c.columns; ++j) moves |= system.c(i, j) != 0;
    for (std::size_t j = 0; j < system.d.columns; ++j) moves |= system.d(i, j) != 0;
    if (moves) {
      kept.push_back(i);
    } else {
      dropped.push_back(outputs[i].name);
    }
  }
  if (kept.empty() || dropped.empty()) return {};
  const auto pick_rows = [&](const control::Matrix& from) {
    control::Matrix to(kept.size(), from.columns);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      for (std::size_t j = 0; j < from.columns; ++j) to(i, j) = from(kept[i], j);
    }
    return to;
  };
  system.c = pick_rows(system.c);
  system.d = pick_rows(system.d);
  std::vector<control::Output> remaining;
  system.outputs.clear();
  for (std::size_t i : kept) {
    remaining.push_back(outputs[i]);
    system.outputs.push_back(outputs[i].name);
  }
  outputs = std::move(remaining);
  return dropped;
}

}  // namespace driver
