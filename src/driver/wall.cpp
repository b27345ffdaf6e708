// tactus wall: how stiff a virtual wall a device can show, without shaking.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "analysis/z_width.h"
#include "base/nearest.h"
#include "driver/commands.h"
#include "driver/progress.h"
#include "driver/report.h"
#include "haptic/presets.h"
#include "runtime/trace/csv_writer.h"
#include "runtime/trace/figure.h"

namespace driver {
namespace {

using Json = nlohmann::ordered_json;

std::string preset_names() {
  std::vector<std::string_view> names;
  for (const haptic::Preset& preset : haptic::presets()) names.push_back(preset.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Json json_device(const haptic::Device& device) {
  return {{"mass", device.mass},
          {"damping", device.damping},
          {"coulomb", device.coulomb},
          {"encoder", device.encoder},
          {"force_limit", json_number(device.force_limit)}};
}

int list_presets(bool json) {
  if (json) {
    Json list = Json::array();
    for (const haptic::Preset& preset : haptic::presets()) {
      Json told = {{"name", preset.name}, {"title", preset.title}, {"device", json_device(preset.device)}};
      told["stiffness"] = preset.stiffness;
      told["workspace"] = preset.workspace;
      told["estimate"] = preset.estimate;
      list.push_back(std::move(told));
    }
    print_json({{"status", "done"}, {"presets", list}});
    return exit_done;
  }
  say(stdout, "  {:<8} {:<29} {:>9} {:>10} {:>9} {:>8} {:>9} {:>12} {:>10}\n", "name", "device", "force [N]",
      "stiffness", "reach [m]", "mass [g]", "b [Ns/m]", "friction [N]", "step [um]");
  for (const haptic::Preset& preset : haptic::presets()) {
    const haptic::Device& device = preset.device;
    say(stdout, "  {:<8} {:<29} {:>9.3g} {:>6.4g} N/m {:>9.3g} {:>8.3g} {:>9.3g} {:>12.3g} {:>10.3g}\n", preset.name,
        preset.title, device.force_limit, preset.stiffness, preset.workspace, 1e3 * device.mass, device.damping,
        device.coulomb, 1e6 * device.encoder);
  }
  say(stdout, "\n  published: force, stiffness at 1 kHz, reach\n");
  for (const haptic::Preset& preset : haptic::presets()) say(stdout, "  {}: {}\n", preset.name, preset.estimate);
  return exit_done;
}

// What is asked, in the terms of analysis/.
struct Question {
  analysis::Loop loop;
  analysis::ZWidthOptions options;
  const haptic::Preset* preset = nullptr;
  bool is_limited = false;  // the force limit takes part
  double rate = 0;
  std::vector<std::string> notes;

  std::string title() const {
    return preset ? std::string(preset->title) : fmt::format("A device of {:.4g} g", 1e3 * loop.device.mass);
  }
  bool has_friction() const { return loop.device.coulomb > 0; }
  double amplitude() const { return options.trial.amplitude; }
};

struct Mistake {
  std::string text, hint;
};

std::optional<Mistake> read_device(const WallOptions& given, Question& question) {
  haptic::Device& device = question.loop.device;
  if (!given.preset.empty()) {
    question.preset = haptic::find_preset(given.preset);
    if (!question.preset) {
      std::vector<std::string> names;
      for (const haptic::Preset& preset : haptic::presets()) names.emplace_back(preset.name);
      const auto near = base::nearest(given.preset, names);
      return Mistake{fmt::format("there is no preset `{}`", given.preset),
                     fmt::format("{}there are {}; or describe the device: --mass 0.05 --damping 0.1",
                                 near ? fmt::format("did you mean `{}`? ", *near) : "", preset_names())};
    }
    device = question.preset->device;
  } else if (!given.mass || !given.damping) {
    return Mistake{"it is not said which device is meant",
                   fmt::format("--preset with one of {}; or --mass 0.05 --damping 0.1", preset_names())};
  }
  struct {
    const char* name;
    const std::optional<double>& value;
    double& place;
    bool may_be_zero;
  } const figures[] = {{"--mass", given.mass, device.mass, false},
                       {"--damping", given.damping, device.damping, true},
                       {"--coulomb", given.coulomb, device.coulomb, true},
                       {"--encoder", given.encoder, device.encoder, true},
                       {"--force-limit", given.force_limit, device.force_limit, false}};
  for (const auto& figure : figures) {
    if (!figure.value) continue;
    const double value = *figure.value;
    if (!std::isfinite(value) || value < 0 || (value == 0 && !figure.may_be_zero))
      return Mistake{fmt::format("{} cannot be {}", figure.name, value),
                     fmt::format("a number {} 0, in SI units", figure.may_be_zero ? "not below" : "above")};
    figure.place = value;
  }
  if (!given.arm.empty()) {
    const bool good = given.arm.size() == 3 && std::all_of(given.arm.begin(), given.arm.end(), [](double value) {
                        return std::isfinite(value) && value >= 0;
                      });
    if (!good)
      return Mistake{"--arm needs three numbers, none below 0: mass [kg], damping [N s/m], stiffness [N/m]",
                     "such as --arm 0.15,3,400"};
    question.loop.arm = {given.arm[0], given.arm[1], given.arm[2]};
  }
  return std::nullopt;
}

std::optional<Mistake> read_question(const WallOptions& given, Question& question) {
  if (auto mistake = read_device(given, question)) return mistake;
  if (!(given.rate >= 1 && given.rate <= 1e6))
    return Mistake{fmt::format("a rate of {} Hz is not one that a loop can have", given.rate), "1 to 1000000"};
  if (given.delay < 0 || given.delay > 100)
    return Mistake{fmt::format("a delay of {} ticks is not one that can be looked at", given.delay), "0 to 100"};
  if (!(given.amplitude > 0 && given.amplitude <= 1))
    return Mistake{fmt::format("an amplitude of {} m is not one that a hand has", given.amplitude),
                   "above 0 and at most 1, such as 0.001"};
  if (!(given.push > 0 && std::isfinite(given.push)))
    return Mistake{fmt::format("the arm cannot lean on a wall with {} N", given.push), "a number above 0"};
  if (given.unilateral && !(question.loop.arm.stiffness > 0))
    return Mistake{"a wall of one side needs an arm that holds the device against it",
                   "give it one with a stiffness: --arm 0.15,3,400"};
  for (double damping : given.at) {
    if (!std::isfinite(damping)) return Mistake{"--at needs finite numbers", "dampings of the wall: --at 0,1,5"};
  }
  question.rate = given.rate;
  question.loop.period = 1 / given.rate;
  question.loop.delay = given.delay;
  question.options.wall_dampings = given.at;
  question.options.is_unilateral = given.unilateral;
  question.options.with_guard = given.guard;
  question.options.trial.amplitude = given.amplitude;
  question.options.trial.push = given.push;

  question.is_limited = given.force_limit.has_value();
  haptic::Device& device = question.loop.device;
  if (!question.is_limited && std::isfinite(device.force_limit)) {
    question.notes.push_back(
        fmt::format("the force limit of {:.3g} N takes no part: a wall that is cut off is soft, not stable; "
                    "--force-limit {:.3g} puts it in",
                    device.force_limit, device.force_limit));
    device.force_limit = std::numeric_limits<double>::infinity();
  }
  if (question.preset) question.notes.push_back(fmt::format("{}: {}", given.preset, question.preset->estimate));
  if (question.has_friction())
    question.notes.push_back(
        fmt::format("friction holds small motions: what is simulated is for an amplitude of {:.3g} mm, --amplitude "
                    "asks for another",
                    1e3 * given.amplitude));
  if (device.encoder > 0 && given.amplitude < 2 * device.encoder)
    question.notes.push_back(
        fmt::format("the amplitude of {:.3g} mm is less than two encoder steps of {:.3g} mm: the "
                    "wall hardly sees it",
                    1e3 * given.amplitude, 1e3 * device.encoder));
  return std::nullopt;
}

std::string text_stiffness(const std::optional<double>& value, double most) {
  if (!value) return fmt::format("> {:.3g}", most);
  return *value > 0 ? fmt::format("{:.4g}", *value) : "none";
}

bool is_cut_off(const Question& question, const std::optional<double>& stiffness) {
  return stiffness && question.is_limited && *stiffness * question.amplitude() > question.loop.device.force_limit;
}

void print_text(const Question& question, const analysis::ZWidth& width, const std::vector<std::string>& files) {
  const haptic::Device& device = question.loop.device;
  say(stdout, "{}: {:.4g} g, {:.3g} N s/m", question.preset ? question.preset->title : "a device", 1e3 * device.mass,
      device.damping);
  if (device.coulomb > 0) say(stdout, ", friction {:.3g} N", device.coulomb);
  if (device.encoder > 0) say(stdout, ", encoder steps of {:.3g} um", 1e6 * device.encoder);
  say(stdout, "; {:.6g} Hz, delay of {}\n", question.rate,
      counted(static_cast<std::size_t>(question.loop.delay), "tick"));
  if (const haptic::Arm& arm = question.loop.arm; arm.mass + arm.damping + arm.stiffness > 0)
    say(stdout, "held by an arm: {:.4g} g, {:.3g} N s/m, {:.4g} N/m\n", 1e3 * arm.mass, arm.damping, arm.stiffness);
  say(stdout, "the largest stable stiffness of a {} wall in N/m, over its damping in N s/m:\n\n",
      question.options.is_unilateral ? "one-sided" : "two-sided");
  const bool guard = question.options.with_guard, friction = question.has_friction();
  say(stdout, "  {:>8} {:>9} {:>9}{} {:>9} {:>10}{}\n", "damping", "passive", "theory",
      friction ? fmt::format(" {:>13}", "with friction") : "", "linear", "simulated",
      guard ? fmt::format(" {:>10}", "guarded") : "");
  bool any_cut_off = false;
  for (const analysis::ZWidthPoint& point : width.points) {
    const bool cut_off = is_cut_off(question, point.simulated) || is_cut_off(question, point.guarded);
    any_cut_off |= cut_off;
    say(stdout, "  {:>8.4g} {:>9} {:>9.4g}{} {:>9} {:>10}{}{}\n", point.wall_damping, text_stiffness(point.passive, 0),
        point.theory, friction ? fmt::format(" {:>13.4g}", point.with_friction) : "", text_stiffness(point.linear, 0),
        text_stiffness(point.simulated, width.most_stiffness),
        guard ? fmt::format(" {:>10}", text_stiffness(point.guarded, width.most_stiffness)) : "", cut_off ? " *" : "");
  }
  if (any_cut_off) say(stdout, "  * at this amplitude the force limit cuts it off: softer than it says\n");
  say(stdout, "\n  with a damping of {:.4g} N s/m or more no wall is stable{}\n", width.most_wall_damping,
      friction ? ", were there no friction" : "");
  if (guard)
    say(stdout, "  the guard: a passivity controller that brakes with at most {:.4g} N s/m\n", width.guard_damping);
  for (const std::string& file : files) say(stdout, "  wrote {}\n", file);
  for (const std::string& note : question.notes) say(stderr, "note: {}\n", note);
}

Json json_found(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

void print_object(const Question& question, const analysis::ZWidth& width, const std::vector<std::string>& files) {
  Json object = {{"status", "done"}};
  object["preset"] = question.preset ? Json(question.preset->name) : Json(nullptr);
  object["device"] = json_device(question.loop.device);
  const haptic::Arm& arm = question.loop.arm;
  object["arm"] = {{"mass", arm.mass}, {"damping", arm.damping}, {"stiffness", arm.stiffness}};
  object["rate"] = question.rate;
  object["delay"] = question.loop.delay;
  object["amplitude"] = question.amplitude();
  object["unilateral"] = question.options.is_unilateral;
  object["most_wall_damping"] = width.most_wall_damping;
  object["most_stiffness"] = width.most_stiffness;
  if (question.options.with_guard) object["guard_damping"] = width.guard_damping;
  object["points"] = Json::array();
  for (const analysis::ZWidthPoint& point : width.points) {
    Json told = {{"damping", point.wall_damping}, {"passive", point.passive},
                 {"theory", point.theory},        {"with_friction", point.with_friction},
                 {"linear", point.linear},        {"simulated", json_found(point.simulated)}};
    if (question.options.with_guard) told["guarded"] = json_found(point.guarded);
    if (question.is_limited) told["cut_off"] = is_cut_off(question, point.simulated);
    object["points"].push_back(std::move(told));
  }
  object["notes"] = question.notes;
  object["files"] = files;
  print_json(object);
}

bool write_table(const Question& question, const analysis::ZWidth& width, const std::string& path,
                 std::string& failure) {
  std::vector<std::string> names = {"damping [N*s/m]",     "passive [N/m]", "theory [N/m]",
                                    "with_friction [N/m]", "linear [N/m]",  "simulated [N/m]"};
  if (question.options.with_guard) names.emplace_back("guarded [N/m]");
  trace::CsvWriter writer;
  bool good = writer.open_whole(path, names);
  const double none = std::numeric_limits<double>::infinity();
  for (const analysis::ZWidthPoint& point : width.points) {
    std::vector<double> row = {point.wall_damping,  point.passive, point.theory,
                               point.with_friction, point.linear,  point.simulated.value_or(none)};
    if (question.options.with_guard) row.push_back(point.guarded.value_or(none));
    good = good && writer.write_row(row);
  }
  good = writer.close() && good;
  if (!good) failure = writer.failure();
  return good;
}

// The region of stable walls, both axes logarithmic: the passive corner and the far end are three decades apart.
bool draw(const Question& question, const analysis::ZWidth& width, const std::string& path, std::string& failure) {
  std::vector<double> dampings, simulated, guarded;
  for (const analysis::ZWidthPoint& point : width.points) {
    if (!(point.wall_damping > 0)) continue;
    dampings.push_back(point.wall_damping);
    const double gap = std::numeric_limits<double>::quiet_NaN();
    simulated.push_back(point.simulated.value_or(gap));
    guarded.push_back(point.guarded.value_or(gap));
  }
  const double low = *std::min_element(dampings.begin(), dampings.end());
  const double high = *std::max_element(dampings.begin(), dampings.end());
  const std::vector<analysis::ZWidthPoint> theory =
      analysis::trace_theory(question.loop, question.amplitude(), low, high, 160);
  std::vector<double> xs, passive, straight, with_friction, linear;
  for (const analysis::ZWidthPoint& point : theory) {
    xs.push_back(point.wall_damping);
    straight.push_back(point.theory);
    with_friction.push_back(point.with_friction);
    linear.push_back(point.linear);
  }
  // Where nothing is passive the line falls to the bottom of the picture.
  double bottom = straight.front();
  for (const std::vector<double>* list : {&simulated, &linear}) {
    for (double value : *list) bottom = value > 0 ? std::min(bottom, value) : bottom;
  }
  if (theory.front().passive > 0) bottom = std::min(bottom, theory.front().passive);
  bottom /= 2;
  std::vector<double> passive_xs;
  for (const analysis::ZWidthPoint& point : theory) {
    if (!(point.passive > bottom)) break;
    passive_xs.push_back(point.wall_damping);
    passive.push_back(point.passive);
  }
  if (!passive.empty() && passive.size() < theory.size()) {
    double inside = passive_xs.back(), outside = theory[passive.size()].wall_damping;
    for (int i = 0; i < 20; ++i) {
      const double middle = (inside + outside) / 2;
      (analysis::passive_stiffness(question.loop, middle) > bottom ? inside : outside) = middle;
    }
    passive_xs.push_back(inside);
    passive.push_back(bottom);
  }

  trace::Figure figure;
  figure.title = fmt::format("{}: stable virtual walls at {:.6g} Hz, delay of {}", question.title(), question.rate,
                             counted(static_cast<std::size_t>(question.loop.delay), "tick"));
  figure.x_label = "damping of the wall [N·s/m]";
  figure.x_scale = trace::Scale::logarithmic;
  figure.height = 330;
  trace::Panel panel;
  panel.y_label = "largest stable stiffness [N/m]";
  panel.y_scale = trace::Scale::logarithmic;
  const std::string at = fmt::format("{:.3g} mm", 1e3 * question.amplitude());
  panel.curves.push_back(
      {question.has_friction() ? "simulated, " + at : "simulated", "", dampings, simulated, false, trace::Line::marks});
  if (question.options.with_guard)
    panel.curves.push_back({"with guard", "", dampings, guarded, false, trace::Line::marks});
  panel.curves.push_back({"eigenvalues", "", xs, linear});
  panel.curves.push_back({"(b + B) / (T/2 + delay)", "", xs, straight, false, trace::Line::dashed});
  if (question.has_friction())
    panel.curves.push_back({"the same with friction", "", xs, with_friction, false, trace::Line::dashed});
  if (!passive.empty()) panel.curves.push_back({"passive", "", passive_xs, passive});
  figure.panels.push_back(std::move(panel));
  const haptic::Device& device = question.loop.device;
  figure.note = fmt::format("mass {:.4g} g, damping {:.3g} N s/m", 1e3 * device.mass, device.damping);
  if (device.coulomb > 0) figure.note += fmt::format(", friction {:.3g} N", device.coulomb);
  if (device.encoder > 0) figure.note += fmt::format(", encoder steps of {:.3g} um", 1e6 * device.encoder);
  if (question.is_limited) figure.note += fmt::format(", force limit {:.3g} N", device.force_limit);
  if (!width.points.empty() && width.points.front().wall_damping == 0 && width.points.front().simulated)
    figure.note += fmt::format(". Without damping: {:.4g} N/m", *width.points.front().simulated);
  if (question.preset) figure.note += ". Mass, damping, friction and encoder are estimates";
  figure.note += ".";
  return trace::write_figure(figure, path, failure);
}

}  // namespace

int wall(const WallOptions& given) {
  if (given.list_presets) return list_presets(given.json);
  const auto usage = [&](const Mistake& mistake) { return usage_error(given.json, mistake.text, mistake.hint); };
  Question question;
  if (auto mistake = read_question(given, question)) return usage(*mistake);
  std::string failure;
  for (const std::string& path : given.out) {
    if (!trace::can_write_figure(path, failure)) return usage({failure, ""});
  }

  if (!given.out.empty() && !given.at.empty()) {
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (double damping : given.at) {
      if (damping > 0) least = std::min(least, damping);
      most = std::max(most, damping);
    }
    if (!(least < most))
      return usage({"there is nothing to draw: a picture takes two dampings of the wall above 0",
                    "such as --at 0.1,1,10; without --at they are chosen"});
  }

  Progress progress(0, 1, !given.quiet && !given.json);
  const analysis::ZWidth width =
      analysis::measure_z_width(question.loop, question.options, [&](double part) { progress.update(part); });
  progress.erase();

  std::vector<std::string> files;
  if (!given.csv.empty()) {
    if (!write_table(question, width, given.csv, failure)) return not_kept(given.json, failure);
    files.push_back(given.csv);
  }
  for (const std::string& path : given.out) {
    if (!draw(question, width, path, failure)) return not_kept(given.json, failure);
    files.push_back(path);
  }
  if (given.json) {
    print_object(question, width, files);
  } else if (!given.quiet) {
    print_text(question, width, files);
  }
  return exit_done;
}

}  // namespace driver
