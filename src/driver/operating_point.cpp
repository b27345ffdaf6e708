#include "driver/operating_point.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "api/blame.h"
#include "base/nearest.h"
#include "driver/channels.h"
#include "driver/interrupt.h"
#include "driver/progress.h"
#include "driver/report.h"
#include "kernel/kernel.h"
#include "runtime/sim/failure.h"
#include "runtime/sim/plan.h"
#include "runtime/sim/run.h"
#include "runtime/trace/figure.h"

namespace driver {
namespace {

std::uint32_t scalars(const tactus_channel& channel) { return channel.rows * channel.columns; }

// A dense matrix of so many states squared, factored a few times, is a minute's work.
constexpr std::uint32_t most_states = 1500;

std::string choices(std::string_view wanted, const std::vector<std::string>& names, std::string_view what) {
  if (names.empty()) return fmt::format("the model has no {}", what);
  if (auto near = base::nearest(wanted, names)) return fmt::format("did you mean `{}`?", *near);
  constexpr std::size_t most = 20;
  const std::span<const std::string> shown(names.data(), std::min(most, names.size()));
  return fmt::format("the {} are {}{}", what, fmt::join(shown, ", "), names.size() > most ? ", .." : "");
}

int tell(bool json, const sim::Failure& failure, const std::string& what) {
  if (json) {
    nlohmann::ordered_json object = {{"status", "failed"},
                                     {"failure",
                                      {{"kind", failure.kind},
                                       {"time", json_number(failure.time)},
                                       {"text", failure.text},
                                       {"hint", failure.hint}}}};
    if (!failure.equations.empty()) object["failure"]["equations"] = failure.equations;
    if (failure.line) object["failure"]["line"] = failure.line;
    print_json(object);
  }
  say(stderr, "tactus: error: {}: {}\n", what, failure.text);
  if (!failure.hint.empty()) say(stderr, "  hint: {}\n", failure.hint);
  return exit_run_failed;
}

// A signal that is always `value`.
trace::Signal constant_signal(double value) {
  std::string failure;
  return *trace::Signal::from_table({{}, {{0.0}, {value}}}, "--hold", failure);
}

// Values of single inputs, `--hold u=5`, in place of devices.
bool hold_inputs(const tactus_model& model, std::span<const std::string> words, Devices& devices, Mistake& mistake) {
  auto held = read_overrides(words, mistake, "--hold");
  if (!held) return false;
  for (const compiler::Override& given : *held) {
    std::vector<std::string> names;
    std::optional<std::uint32_t> place;
    for (std::uint32_t i = 0; i < model.input_channel_count; ++i) {
      for (std::uint32_t k = 0; k < scalars(model.input_channels[i]); ++k) {
        names.push_back(component_name(model.input_channels[i], k));
        if (names.back() == given.name) place = model.input_channels[i].at + k;
      }
    }
    if (!place) {
      mistake = {fmt::format("there is no input `{}` to hold", given.name), choices(given.name, names, "inputs")};
      return false;
    }
    if (std::any_of(devices.feeds.begin(), devices.feeds.end(),
                    [&](const sim::Feed& feed) { return feed.input == *place; })) {
      mistake = {fmt::format("`{}` has two values: a --device or another --hold feeds it too", given.name),
                 "leave one of them out"};
      return false;
    }
    devices.signals.push_back(constant_signal(given.value));
    devices.feeds.push_back({*place, &devices.signals.back(), 0});
  }
  return true;
}

// Into states, or into the free inputs and parameters.
bool set_guesses(const PointOptions& options, OperatingPoint& point, Mistake& mistake) {
  auto guesses = read_overrides(options.guess, mistake, "--guess");
  if (!guesses) return false;
  const tactus_model& model = *point.model;
  for (const compiler::Override& guess : *guesses) {
    std::vector<std::string> names;
    double* place = nullptr;
    for (std::uint32_t i = 0; i < model.state_count; ++i) {
      names.emplace_back(model.state_names[i]);
      if (guess.name == names.back()) place = &point.instance->states()[i];
    }
    for (const control::Input& free : point.free) {
      names.push_back(free.name);
      if (guess.name == free.name)
        place = point.instance->section(free.is_parameter ? model.layout.parameters : model.layout.inputs) + free.index;
    }
    if (!place) {
      mistake = {fmt::format("`{}` is not a state of the model, nor free: it cannot be guessed", guess.name),
                 choices(guess.name, names, "states")};
      return false;
    }
    *place = guess.value;
  }
  return true;
}

// "ball.Rolling, door.Shut"; plans and sequences that do not run are left out.
std::string modes_at(const tactus_model& whole, const tactus_instance& instance) {
  std::vector<std::string> modes;
  for (std::uint32_t i = 0; i < whole.automaton_count; ++i) {
    const tactus_automaton& automaton = whole.automata[i];
    const auto mode = static_cast<std::uint32_t>(tactus_data_const(&instance)[whole.layout.discrete + automaton.slot]);
    if (mode >= automaton.mode_count || std::string_view(automaton.modes[mode]) == "Idle") continue;
    modes.push_back(fmt::format("`{}.{}`", automaton.name, automaton.modes[mode]));
  }
  constexpr std::size_t most = 8;
  const bool is_long = modes.size() > most;
  if (is_long) modes.resize(most);
  return fmt::format("{}{}", fmt::join(modes, ", "), is_long ? ", .." : "");
}

}  // namespace

int tell_failure(const PointOptions& options, OperatingPoint& point, tactus_status status, const std::string& what) {
  sim::Failure failure = sim::describe_failure(*point.model, *point.instance->get(), status, false);
  api::KeptInstance here;
  here.keep(*point.model, *point.instance->get());
  api::blame(failure, *point.model, here, 0, api::texts_of(point.compiled, options.files.size()), point.compiling);
  return tell(options.json, failure, what);
}

bool can_write(std::span<const std::string> outputs, std::span<const std::string> read, Mistake& mistake) {
  for (const std::string& path : outputs) {
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (path.ends_with(".csv")) {
      if (!folder.empty() && !std::filesystem::is_directory(folder, error)) {
        mistake = {fmt::format("cannot write `{}`: the directory `{}` does not exist", path, folder.string()), ""};
        return false;
      }
    } else if (std::string failure; !trace::can_write_figure(path, failure)) {
      mistake = {failure, "or in .csv, for the numbers"};
      return false;
    }
    for (const std::string& input : read) {
      if (!std::filesystem::equivalent(path, input, error)) continue;
      mistake = {fmt::format("`{}` is read and would be written over", path), "give the name of another file"};
      return false;
    }
  }
  return true;
}

int reach_point(const PointOptions& options, std::optional<double> until, OperatingPoint& point) {
  const auto usage = [&](const Mistake& mistake) { return usage_error(options.json, mistake.text, mistake.hint); };
  Mistake mistake;
  std::string failure;
  auto overrides = read_overrides(options.set, mistake);
  if (!overrides) return usage(mistake);
  point.compiling = {.overrides = *overrides, .allow = options.allow};
  point.compiled = api::compile_files(options.files, point.compiling, false);
  if (!point.compiled.program) return model_errors(options.json, point.compiled);
  if (!options.quiet && !options.json) print_warnings(point.compiled);
  if (!point.compiled.program->subsystems.empty()) {
    return usage({"this model has rates: what is sampled has no linear system and no state of rest at one instant",
                  "leave the rates out of the text: then joined ports are equal at all times"});
  }

  sim::Settings settings;
  settings.until = until ? *until : point.compiled.program->starting_time;
  settings.recording = false;
  emit_llvm::JitOptions tiers;
  tiers.optimise = until.has_value();
  tiers.solver = sim::choose_solver(point.compiled.program->solver, point.compiled.program->step_size,
                                    point.compiled.program->tolerance, settings);
  point.jit = std::make_unique<emit_llvm::CompiledModel>(std::move(*point.compiled.program), tiers);
  point.model = point.jit->with_tangents();
  const tactus_model& model = *point.model;
  if (model.state_count > most_states) {
    return usage(
        {fmt::format("the model has {} states, and matrices are made for {} at most", model.state_count, most_states),
         "make it coarser: fewer cells or instances"});
  }
  auto plan = sim::make_plan(model, settings, failure);
  if (!plan) return usage({failure, ""});

  auto parameters = parameter_values(model, *overrides, point.notes);
  Devices devices;
  std::vector<std::string> unfed;
  if (!connect_devices(model, options.devices, devices, unfed, mistake)) return usage(mistake);
  if (!hold_inputs(model, options.hold, devices, mistake)) return usage(mistake);
  if (!options.free.empty()) {
    auto free = find_inputs(model, options.free, "--free", mistake);
    if (!free) return usage(mistake);
    point.free = std::move(*free);
  }

  point.instance = std::make_unique<sim::Instance>(model);
  Interrupt interrupt;
  sim::Request request;
  request.table = [&] { return point.jit->current(); };
  request.stiff_table = [&] { return point.jit->with_tangents(); };
  request.tangent_table = request.stiff_table;
  request.plan = *plan;
  request.parameters = std::move(parameters);
  request.feeds = devices.feeds;
  request.stop = &interrupt.asked();
  bool has_point = false;
  api::KeptInstance last;
  request.at_start = [&](const tactus_instance& start) { last.keep(model, start); };
  request.at_end = [&](const tactus_instance& instance) {
    std::memcpy(static_cast<void*>(point.instance->get()), &instance, point.instance->bytes());
    has_point = true;
    last.keep(model, instance);
  };
  sim::Outcome outcome;
  {
    Progress progress(plan->start, plan->end, !options.quiet && until.has_value());
    request.progress = [&](double time) { progress.update(time); };
    outcome = sim::run(request, nullptr);
  }
  if (outcome.failure) {
    const double reach = plan->adaptive() ? 1e-6 * std::max(1.0, std::abs(outcome.time)) : plan->step;
    api::blame(*outcome.failure, model, last, reach, api::texts_of(point.compiled, options.files.size()),
               point.compiling);
    return tell(options.json, *outcome.failure, until ? "the run failed" : "there is no start");
  }
  if (outcome.ending == sim::Ending::interrupted || !has_point) {
    say(stderr, "interrupted at t = {:.9g}\n", outcome.time);
    return exit_interrupted;
  }
  point.notes.insert(point.notes.end(), outcome.notes.begin(), outcome.notes.end());
  // Inputs stand still from here on, at what they are now.
  tactus_instance* instance = point.instance->get();
  double* rates = point.instance->section(model.layout.input_rates);
  for (std::uint32_t i = 0; i < model.input_count; ++i)
    point.instance->section(model.layout.inputs)[i] += rates[i] * (instance->time - instance->input_time);
  std::fill_n(rates, model.input_count, 0.0);
  instance->input_time = instance->time;
  const tactus_model* whole = point.jit->with_tangents();
  point.model = tk_active(whole, instance);
  point.modes = modes_at(*whole, *instance);

  if (!set_guesses(options, point, mistake)) return usage(mistake);
  return exit_done;
}

std::vector<control::Input> default_inputs(const tactus_model& model) {
  std::vector<control::Input> inputs;
  for (std::uint32_t i = 0; i < model.input_channel_count; ++i) {
    const tactus_channel& channel = model.input_channels[i];
    for (std::uint32_t k = 0; k < scalars(channel); ++k)
      inputs.push_back({component_name(channel, k), channel.unit, false, channel.at + k});
  }
  return inputs;
}

std::optional<std::vector<control::Input>> find_inputs(const tactus_model& model, std::span<const std::string> lists,
                                                       const std::string& option, Mistake& mistake) {
  std::vector<control::Input> inputs;
  std::set<std::string> seen;
  for (const std::string& list : lists) {
    for (const std::string& name : split_names(list)) {
      std::vector<std::string> names;
      std::vector<control::Input> found;
      for (std::uint32_t i = 0; i < model.input_channel_count; ++i) {
        const tactus_channel& channel = model.input_channels[i];
        names.emplace_back(channel.name);
        for (std::uint32_t k = 0; k < scalars(channel); ++k) {
          if (name == channel.name || name == component_name(channel, k))
            found.push_back({component_name(channel, k), channel.unit, false, channel.at + k});
        }
      }
      for (std::uint32_t i = 0; i < model.parameter_count; ++i) {
        const tactus_parameter& parameter = model.parameters[i];
        names.emplace_back(parameter.name);
        if (name == parameter.name) found.push_back({name, parameter.unit, true, i});
      }
      if (found.empty()) {
        mistake = {
            fmt::format("`{}` is neither an input (`external .. reads`) nor a parameter, which {} names", name, option),
            choices(name, names, "inputs and parameters") +
                fmt::format("; a constant moves once it is written as `parameter {} = ..`", name)};
        return std::nullopt;
      }
      for (control::Input& input : found) {
        if (seen.insert(input.name).second) inputs.push_back(std::move(input));
      }
    }
  }
  if (inputs.empty()) {
    mistake = {fmt::format("{} names nothing", option), fmt::format("such as {} u,k", option)};
    return std::nullopt;
  }
  return inputs;
}

std::vector<control::Output> default_outputs(const tactus_model& model) {
  std::vector<control::Output> outputs;
  for (std::uint32_t i = 0; i < model.channel_count; ++i) {
    const tactus_channel& channel = model.channels[i];
    if (!(channel.flags & TACTUS_CHANNEL_WRITTEN)) continue;
    for (std::uint32_t k = 0; k < scalars(channel); ++k)
      outputs.push_back({component_name(channel, k), channel.unit, false, channel.at + k});
  }
  if (!outputs.empty()) return outputs;
  for (std::uint32_t i = 0; i < model.state_count; ++i) outputs.push_back({model.state_names[i], "", true, i});
  return outputs;
}

std::optional<std::vector<control::Output>> find_outputs(const OperatingPoint& point,
                                                         std::span<const std::string> lists, Mistake& mistake) {
  if (names_nothing(lists)) {
    mistake = {"--outputs names nothing", "such as --outputs x,p[1]"};
    return std::nullopt;
  }
  auto shown = find_channels(*point.model, lists, mistake.text, mistake.hint, point.compiled.aliases);
  if (!shown) return std::nullopt;
  std::vector<control::Output> outputs;
  for (const Column& column : columns_of(*shown)) outputs.push_back({column.label, column.unit, false, column.at});
  return outputs;
}

std::vector<std::string> notes_on_pieces(const OperatingPoint& point) {
  std::vector<std::string> notes;
  const tactus_model& model = *point.model;
  const auto is_jump = [](const tactus_event& event) { return event.kind == TACTUS_TRANSITION; };
  const bool has_jumps = std::any_of(model.events, model.events + model.event_count, is_jump);
  if (!point.modes.empty()) {
    notes.push_back(fmt::format("the modes stay as they are here, {}: no transition is taken", point.modes));
  } else if (has_jumps) {
    notes.emplace_back("no transition is taken: this is the motion between jumps");
  }
  if (model.relation_count > 0) {
    notes.push_back(
        "comparisons and kinks (if, min, abs, ..) stay as they are here: this is the present piece of the model, true "
        "until one "
        "of them changes");
  }
  if (std::any_of(model.events, model.events + model.event_count, [](const tactus_event& event) {
        return event.kind == TACTUS_EVERY || event.kind == TACTUS_AT || event.kind == TACTUS_WHEN;
      }))
    notes.emplace_back("events do not happen: reactive behaviours keep the values that they have here");
  return notes;
}

}  // namespace driver
