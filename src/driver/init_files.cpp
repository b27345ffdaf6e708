#include "driver/init_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "compiler/source/folders.h"
#include "compiler/source/source.h"
#include "driver/report.h"
#include "runtime/trace/output_file.h"
#include "simsect/diagnostics.h"

namespace driver {
namespace {

std::string system_name(const std::string& program) { return std::filesystem::path(program).stem().string(); }

// Mistakes in the files: for people with their lines, for programs as diagnostics.
int tell_mistakes(bool json, const diag::Sink& diags, const diag::SourceMap& sources) {
  if (json) {
    print_json(
        {{"status", "usage"}, {"diagnostics", nlohmann::ordered_json::parse(diag::render_json(diags, sources))}});
  }
  write_text(stderr, diag::render_text(diags, sources, stderr_wants_color()));
  return exit_usage;
}

// "SimSect.rc:3: there is no Geomview here; `tactus play` shows the world"
std::vector<std::string> notes_of(const diag::Sink& diags, const diag::SourceMap& sources) {
  std::vector<std::string> notes;
  for (const diag::Diagnostic& each : diags.diagnostics()) {
    const diag::Position at = sources.position(each.span.file, each.span.begin);
    std::string note = fmt::format("{}:{}: {}", sources.name(each.span.file), at.line, each.text);
    for (const std::string& hint : each.hints) note += "; " + hint;
    notes.push_back(std::move(note));
  }
  return notes;
}

// A file that came with a model says where others are written: in the model's folder, unless a person says more.
void refuse_base_outside(const simsect::Meaning& meaning, const std::vector<simsect::Assignment>& assignments,
                         const RunOptions& options, diag::Sink& diags) {
  const std::optional<std::string>& base = meaning.integrator.data_base_name;
  if (!base) return;
  const source::Folders folders(options.files, options.allow);
  if (std::ranges::all_of(base_suffixes, [&](const char* suffix) { return folders.holds(*base + suffix); })) return;
  for (const simsect::Assignment& each : assignments) {
    if (each.name != "dataBaseName" || each.text != *base) continue;
    diags.report(each.value_span, simsect::out_of_range, each.name, "does not lie in the model's folder")
        .hint("name it on the command line, `--base NAME`, or allow the folder: `--allow PATH`");
    return;
  }
}

}  // namespace

std::optional<Initialised> read_init_files(const RunOptions& options, const std::vector<compiler::Override>& overrides,
                                           int& exit_code) {
  diag::SourceMap sources;
  diag::Sink diags;
  std::vector<simsect::Assignment> assignments;
  for (const std::string& path : options.init) {
    const auto file = source::load(path, sources, diags);
    if (!file) continue;
    for (simsect::Assignment& each : simsect::read_init_file(*file, sources, diags))
      assignments.push_back(std::move(each));
  }
  if (diags.has_errors()) {
    exit_code = tell_mistakes(options.json, diags, sources);
    return std::nullopt;
  }

  Initialised made;
  simsect::ModelNames names;
  compiler::Options compile{overrides};
  compile.settable = &names.parameters;
  compile.allow = options.allow;
  const api::Compiled compiled = api::compile_files(options.files, compile, false);
  if (!compiled.program) {
    exit_code = model_errors(options.json, compiled);
    return std::nullopt;
  }
  for (std::uint32_t file = 0; file < options.files.size(); ++file)
    made.texts.push_back({compiled.sources.name(file), std::string(compiled.sources.text(file))});
  const ir::Program& program = *compiled.program;
  names.system = system_name(program.name);
  names.states = program.state_names;

  made.meaning = simsect::find_meaning(assignments, names, diags);
  if (options.base.empty()) refuse_base_outside(made.meaning, assignments, options, diags);
  if (diags.has_errors()) {
    exit_code = tell_mistakes(options.json, diags, sources);
    return std::nullopt;
  }
  made.notes = notes_of(diags, sources);
  for (const simsect::NamedNumber& each : made.meaning.starts) {
    const auto at = std::find(names.states.begin(), names.states.end(), each.name) - names.states.begin();
    const bool is_found = !program.state_flags.empty() && program.state_flags[at] == TACTUS_STATE_FREE;
    made.starts.push_back({each.name, each.value, is_found});
  }
  return made;
}

void use_integrator(const simsect::Integrator& given, const RunOptions& options, ir::Program& program,
                    sim::Settings& settings) {
  const auto locate = [&](ir::Program& part) {
    part.guard_precision = given.stop_precision.value_or(simsect::default_stop_precision);
    part.location_steps = given.max_stop_iter.value_or(simsect::default_max_stop_iter);
  };
  locate(program);
  for (ir::Program& structure : program.structures) locate(structure);
  settings.least_step = given.min_time_step.value_or(simsect::default_min_time_step);
  settings.most_changes = given.max_chart_count.value_or(simsect::default_max_chart_count);

  if (!settings.solver && (given.solver || program.solver < 0))
    settings.solver = sim::find_solver(given.solver.value_or(simsect::default_solver));
  if (!options.step && (given.max_time_step || program.step_size == 0))
    settings.step = given.max_time_step.value_or(simsect::default_max_time_step);
  const int solver = settings.solver ? int{*settings.solver} : program.solver;
  const bool can_adapt = tactus_is_adaptive(tactus_adaptive_form(solver)) != 0;
  // A method with fixed steps has no use for a tolerance, and one on the command line with a step means these.
  if (can_adapt && !options.tolerance && !(options.step && !options.solver.empty()) &&
      (given.tolerance || program.tolerance == 0))
    settings.tolerance = given.tolerance.value_or(simsect::default_tolerance);
  if (!options.until && (given.final_time || program.ending_time <= program.starting_time))
    settings.until = given.final_time.value_or(simsect::default_final_time);
  if (!options.every && (given.record_period || program.record_period == 0)) {
    const double period = given.record_period.value_or(simsect::default_record_period);
    if (period > 0)
      settings.every = period;
    else
      settings.every_step = true;
  }
}

void BaseFiles::open(const std::string& base, const tactus_model& model, std::vector<std::string> settable) {
  model_ = &model;
  base_ = base;
  names_.parameters = std::move(settable);
  names_.states.assign(model.state_names, model.state_names + model.state_count);
}

void BaseFiles::write(const tactus_instance& start, const std::vector<std::string>& columns) {
  const double* data = tactus_data_const(&start);
  const std::string system = system_name(model_->name);
  auto text = [&](const std::string& comment, const std::vector<std::string>& names, const double* values) {
    const std::vector<std::string> symbols = simsect::symbols_of(names, names_);
    std::vector<simsect::NamedNumber> numbers;
    for (std::size_t i = 0; i < symbols.size(); ++i) numbers.push_back({symbols[i], values[i]});
    return simsect::write_init_file(comment, numbers);
  };
  const std::string where = std::filesystem::path(base_).filename().string();
  const std::string initial = text(fmt::format("the states of {} at t = {}\ncolumns of {}.data: {}", system, start.time,
                                               where, fmt::join(columns, " ")),
                                   names_.states, data + model_->layout.states);
  std::vector<std::string> parameters;
  for (std::uint32_t i = 0; i < model_->parameter_count; ++i) parameters.emplace_back(model_->parameters[i].name);
  const std::string param =
      text(fmt::format("the parameters of {}", system), parameters, data + model_->layout.parameters);
  std::string failure;
  for (const auto& [suffix, content] : {std::pair(".initial", &initial), std::pair(".param", &param)}) {
    if (!trace::write_whole(base_ + suffix, *content, failure) && failure_.empty()) failure_ = failure;
  }
}

void Measure::reach(double time) {
  if (!is_wanted()) return;
  for (;;) {
    const double next = start_ + static_cast<double>(told_ + 1) * period_;
    if (next > time || next > end_) return;
    ++told_;
    say(stderr, "t = {:.9g}\n", next);
  }
}

}  // namespace driver
