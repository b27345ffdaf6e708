// tactus run: a model's text -> its motion: final values, rows in a CSV file, a plot.
#include "runtime/sim/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "api/blame.h"
#include "api/load.h"
#include "compiler/emit_llvm/jit.h"
#include "driver/channels.h"
#include "driver/commands.h"
#include "driver/init_files.h"
#include "driver/interrupt.h"
#include "driver/progress.h"
#include "driver/report.h"
#include "driver/settings.h"
#include "driver/touched.h"
#include "runtime/sim/words.h"
#include "runtime/trace/csv_writer.h"
#include "runtime/trace/figure.h"
#include "runtime/trace/recorder.h"

namespace driver {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point before) { return std::chrono::duration<double>(Clock::now() - before).count(); }

// Rows to files and to a recorder for the plot, whichever are wanted.
class Rows : public sim::Observer {
 public:
  Rows(std::vector<Column> columns, bool wants_plot) : columns_(std::move(columns)), row_(columns_.size() + 1) {
    if (wants_plot) recorder_ = std::make_unique<trace::Recorder>(columns_.size());
  }

  [[nodiscard]] bool open(const std::string& path, trace::CsvWriter::Layout layout = trace::CsvWriter::Layout::csv) {
    std::vector<std::string> names = {"t"};
    for (const Column& column : columns_) names.push_back(trace::column_title(column.label, column.unit));
    files_.emplace_back(path, trace::CsvWriter());
    return files_.back().second.open(path, names, layout);
  }
  // "t", then the labels of the others.
  std::vector<std::string> column_names() const {
    std::vector<std::string> names = {"t"};
    for (const Column& column : columns_) names.push_back(column.label);
    return names;
  }

  bool row(double t, std::span<const double> outputs) override {
    row_[0] = t;
    for (std::size_t i = 0; i < columns_.size(); ++i) row_[i + 1] = outputs[columns_[i].at];
    if (recorder_) recorder_->add(t, std::span<const double>(row_).subspan(1));
    bool good = true;
    for (auto& file : files_) good = file.second.write_row(row_) && good;
    return good;
  }

  // For a run that computes long without a row.
  void flush_if_due() {
    for (auto& file : files_) file.second.flush_if_due();
  }
  // Of all of them: closed, and what went wrong with the first that failed, else "".
  std::string close() {
    std::string failure;
    for (auto& file : files_)
      if (!file.second.close() && failure.empty()) failure = file.second.failure();
    return failure;
  }
  // Of the file that was opened last: whether it is there, and only its first line could not be written.
  bool is_open() const { return files_.back().second.is_open(); }
  std::string failure() const { return files_.back().second.failure(); }
  // "run.csv (1001 rows)"
  std::vector<std::string> files_written() const {
    std::vector<std::string> all;
    for (const auto& [path, writer] : files_)
      if (path != "-") all.push_back(fmt::format("{} ({})", path, counted(writer.rows(), "row")));
    return all;
  }

  [[nodiscard]] bool draw(const std::string& path, std::string& failure) const {
    std::vector<trace::Curve> curves;
    for (std::size_t i = 0; i < columns_.size(); ++i)
      curves.push_back(
          {columns_[i].label, columns_[i].unit, recorder_->times(), recorder_->channel(i), columns_[i].is_discrete});
    return trace::write_figure(trace::layout_panels(curves), path, failure);
  }

 private:
  std::vector<Column> columns_;
  std::vector<double> row_;
  std::deque<std::pair<std::string, trace::CsvWriter>> files_;
  std::unique_ptr<trace::Recorder> recorder_;
};

const char* ending_name(sim::Ending ending) {
  switch (ending) {
    case sim::Ending::done:
      return "done";
    case sim::Ending::stopped:
      return "stopped";
    case sim::Ending::interrupted:
      return "interrupted";
    case sim::Ending::failed:
    case sim::Ending::not_kept:
      return "failed";
  }
  return "failed";
}

// A scalar as a number, a vector as an array, a matrix as an array of rows.
Json json_value(const Shown& shown, std::span<const double> outputs) {
  const tactus_channel& channel = *shown.channel;
  auto at = [&](std::uint32_t k) { return json_number(outputs[channel.at + k]); };
  if (shown.component) return at(*shown.component);
  if (channel.rows * channel.columns == 1) return at(0);
  Json rows = Json::array();
  for (std::uint32_t i = 0; i < channel.rows; ++i) {
    if (channel.columns == 1) {
      rows.push_back(at(i));
      continue;
    }
    Json row = Json::array();
    for (std::uint32_t j = 0; j < channel.columns; ++j) row.push_back(at(i * channel.columns + j));
    rows.push_back(std::move(row));
  }
  return rows;
}

// "1.5 m", "(1, 2) m", "((1, 0), (0, 1))", cut after `most` numbers.
std::string text_value(const Shown& shown, std::span<const double> outputs) {
  constexpr std::uint32_t most = 12;
  const tactus_channel& channel = *shown.channel;
  auto at = [&](std::uint32_t k) { return fmt::format("{:.9g}", outputs[channel.at + k]); };
  std::string text;
  if (shown.component || channel.rows * channel.columns == 1) {
    text = at(shown.component.value_or(0));
  } else {
    text = "(";
    for (std::uint32_t i = 0; i < channel.rows; ++i) {
      if (i > 0) text += ", ";
      if (i * channel.columns >= most) {
        text += "..";
        break;
      }
      if (channel.columns > 1) text += "(";
      for (std::uint32_t j = 0; j < channel.columns; ++j) text += (j > 0 ? ", " : "") + at(i * channel.columns + j);
      if (channel.columns > 1) text += ")";
    }
    text += ")";
  }
  std::string unit = channel.unit;
  return unit.empty() ? text : text + " " + unit;
}

std::string seconds_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.0f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} s", seconds);
}

// The first of the files to be written that is also read: a part of the model, a device's table, an initialisation
// file.
std::optional<std::string> input_written_over(const RunOptions& options, const std::string& base,
                                              std::vector<std::string> inputs) {
  inputs.insert(inputs.end(), options.init.begin(), options.init.end());
  for (const std::string& device : options.devices) {
    if (std::size_t kind = device.find("=file:"); kind != std::string::npos) inputs.push_back(device.substr(kind + 6));
  }
  std::vector<std::string> outputs = options.plot;
  if (!options.out.empty() && options.out != "-") outputs.push_back(options.out);
  for (const char* suffix : base_suffixes)
    if (!base.empty()) outputs.push_back(base + suffix);
  for (const std::string& output : outputs) {
    std::error_code error;  // a file that is not there is no input
    if (!std::filesystem::is_regular_file(output, error)) continue;
    for (const std::string& input : inputs) {
      if (std::filesystem::equivalent(output, input, error)) return output;
    }
  }
  return std::nullopt;
}

using EnergyBook = std::vector<std::pair<std::string, double>>;

// At the end: what is stored, supplied and so on, of a model that declares energy.
EnergyBook energy_book(const tactus_model& model, const sim::Outcome& outcome) {
  EnergyBook book;
  if (model.ledger == 0 || outcome.outputs.empty()) return book;
  for (const std::string entry : {"stored", "supplied", "dissipated", "booked", "invented"}) {
    for (std::uint32_t i = 0; i < model.channel_count; ++i) {
      if (model.channels[i].name == "book." + entry) book.emplace_back(entry, outcome.outputs[model.channels[i].at]);
    }
  }
  return book;
}

// Friction takes; where `dissipated` is negative by more than steps are off, something else gives.
std::string note_on_losses(const EnergyBook& book) {
  double scale = 0, dissipated = 0;
  for (const auto& [entry, value] : book) {
    if (entry == "dissipated") dissipated = value;
    if (entry == "stored" || entry == "supplied") scale = std::max(scale, std::abs(value));
  }
  if (!(dissipated < -1e-6 * scale)) return "";
  return fmt::format(
      "the equations gave {:.3g} J that no port supplied (`dissipated` is negative): a force that is no `power` port, "
      "friction with "
      "the wrong sign, or constraints, whose forces do no work only as exactly as a step keeps to them",
      -dissipated);
}

// All that is told about a run when it is over.
struct Report {
  const RunOptions& options;
  const tactus_model& model;
  const sim::Plan& plan;
  const sim::Outcome& outcome;
  const std::vector<Shown>& shown;
  const std::vector<std::string>& notes;
  const std::vector<std::string>& files_written;  // "run.csv (1001 rows)"
  std::string not_kept;                           // why rows or a plot could not be written; empty: they were
  double compile_seconds;
  double run_seconds;

  void print_json_object(const api::Compiled& compiled) const {
    Json object;
    object["status"] = not_kept.empty() ? ending_name(outcome.ending) : "failed";
    object["time"] = json_number(outcome.time);
    object["values"] = Json::object();
    if (!outcome.outputs.empty()) {
      for (const Shown& item : shown) object["values"][item.name] = json_value(item, outcome.outputs);
    }
    object["events"] = Json::array();
    for (const sim::Fired& fired : outcome.events)
      object["events"].push_back({{"name", model.events[fired.event].name}, {"time", json_number(fired.time)}});
    object["events_total"] = outcome.events_total;
    for (const sim::Fired& broken : outcome.broken)
      object["broken_checks"].push_back(
          {{"check", model.events[broken.event].name}, {"time", json_number(broken.time)}});
    object["crossings"] = outcome.crossings;
    object["notes"] = notes;
    object["steps"] = outcome.steps;
    object["rejected"] = outcome.rejected;
    if (model.constraint_count > 0) object["constraint_residual"] = json_number(outcome.constraint_residual);
    object["solver"] = sim::solver_name(outcome.solver);
    for (const auto& [entry, value] : energy_book(model, outcome)) object["energy"][entry] = json_number(value);
    if (outcome.boundary && !outcome.boundary->failure) {
      const sim::BoundarySolution& boundary = *outcome.boundary;
      object["boundary"] = {{"until", json_number(boundary.until)},
                            {"iterations", boundary.iterations},
                            {"segments", boundary.nodes.size()},
                            {"residual", json_number(boundary.residual)}};
    }
    if (outcome.switched_at) object["switched_at"] = json_number(*outcome.switched_at);
    object["compile_seconds"] = compile_seconds;
    object["run_seconds"] = run_seconds;
    if (!compiled.diags.diagnostics().empty())
      object["diagnostics"] = Json::parse(diag::render_json(compiled.diags, compiled.sources));
    if (outcome.failure) {
      const sim::Failure& failure = *outcome.failure;
      Json told = {{"kind", failure.kind}, {"time", json_number(failure.time)}, {"text", failure.text}};
      if (!failure.hint.empty()) told["hint"] = failure.hint;
      if (!failure.equations.empty()) told["equations"] = failure.equations;
      if (failure.line) told["line"] = failure.line;
      for (auto [key, values] : {std::pair("unknowns", &failure.unknowns), std::pair("states", &failure.states)}) {
        if (values->empty()) continue;
        told[key] = Json::object();
        for (const sim::NamedValue& value : *values) told[key][value.name] = json_number(value.value);
      }
      object["failure"] = std::move(told);
    } else if (!not_kept.empty()) {
      object["failure"] = {{"kind", "not_kept"}, {"time", json_number(outcome.time)}, {"text", not_kept}};
    }
    print_json(object);
  }

  // The summary for people; rows on standard output leave it to stderr.
  void print_text() const {
    std::FILE* to = options.out == "-" ? stderr : stdout;
    if (!options.quiet) {
      std::string head = outcome.ending == sim::Ending::interrupted ? "interrupted at" : "";
      say(to, "{}: {}t = {:.9g}\n", model.name, head.empty() ? "" : head + " ", outcome.time);
      constexpr std::size_t most = 40;
      std::size_t width = 0;
      for (const Shown& item : shown) width = std::max(width, std::min<std::size_t>(item.name.size(), 16));
      if (!outcome.outputs.empty()) {
        for (std::size_t i = 0; i < shown.size() && i < most; ++i)
          say(to, "  {:<{}} = {}\n", shown[i].name, width, text_value(shown[i], outcome.outputs));
        if (shown.size() > most) say(to, "  .. and {} more: --show a,b picks, --json gives all\n", shown.size() - most);
      }
      std::string steps = counted(static_cast<std::size_t>(outcome.steps), "step");
      double step = plan.full_steps == 0 && plan.last_step > 0 ? plan.last_step : plan.step;  // longer than the run
      std::string solvers(sim::solver_name(plan.solver));
      if (outcome.switched_at) solvers += fmt::format(" and {}", sim::solver_name(outcome.solver));
      std::string method =
          plan.adaptive() ? fmt::format("{} of {} ({} rejected), tolerance {}", steps, solvers, outcome.rejected,
                                        outcome.boundary && !outcome.boundary->failure ? outcome.boundary->tolerance
                                                                                       : plan.tolerance)
                          : fmt::format("{} of {}, h = {}", steps, sim::solver_name(plan.solver), step);
      say(to, "  {}; compiled in {}, ran in {}\n", method, seconds_text(compile_seconds), seconds_text(run_seconds));
      if (const auto book = energy_book(model, outcome); !book.empty()) {
        std::string text;
        for (const auto& [entry, value] : book)
          text += fmt::format("{}{} {:.6g}", text.empty() ? "" : ", ", entry, value);
        say(to, "  energy: {}\n", text);
      }
      for (const std::string& file : files_written) say(to, "  wrote {}\n", file);
      for (const std::string& note : notes) say(stderr, "note: {}\n", note);
    }
    for (const sim::Fired& broken : outcome.broken) {
      say(stderr, "tactus: check broken {}\n",
          sim::in_words([&](tk_text* text) { tk_note_check(&model, broken.event, broken.time, text); }));
    }
    if (outcome.failure) {
      say(stderr, "tactus: error: the run failed: {}\n", outcome.failure->text);
      if (!outcome.failure->hint.empty()) say(stderr, "  hint: {}\n", outcome.failure->hint);
    }
    if (!not_kept.empty()) say(stderr, "tactus: error: {}\n", not_kept);
  }
};

}  // namespace

int run(const RunOptions& options) {
  auto usage = [&](const Mistake& mistake) { return usage_error(options.json, mistake.text, mistake.hint); };
  Mistake mistake;
  std::string failure;

  // Mistakes in the command line that need no model.
  if (options.json && options.out == "-")
    return usage({"--json and `--out -` both want standard output", "name a file: --out run.csv"});
  for (const std::string& path : options.plot) {
    if (!trace::can_write_figure(path, failure)) return usage({failure, ""});
  }
  auto refuse_writing_over = [&](const std::string& path) {
    return usage({fmt::format("`{}` is read by this run and would be written over", path),
                  "give --out, --plot and --base the names of other files"});
  };
  if (auto path = input_written_over(options, options.base, options.files)) return refuse_writing_over(*path);
  if (!options.show.empty() && names_nothing(options.show))
    return usage({"--show names nothing", "such as --show p,p'; without --show all that moves is shown"});
  auto overrides = read_overrides(options.set, mistake);
  if (!overrides) return usage(mistake);
  sim::Settings settings;
  settings.step = options.step;
  settings.tolerance = options.tolerance;
  settings.until = options.until;
  settings.every = options.every;
  if (!options.solver.empty()) {
    settings.solver = read_solver(options.solver, mistake);
    if (!settings.solver) return usage(mistake);
  }

  // What initialisation files say.
  std::optional<Initialised> init;
  if (!options.init.empty()) {
    int exit_code = exit_usage;
    init = read_init_files(options, *overrides, exit_code);
    if (!init) return exit_code;
    for (const simsect::NamedNumber& each : init->meaning.parameters) {
      const bool is_on_command_line =
          std::any_of(overrides->begin(), overrides->end(), [&](const auto& other) { return other.name == each.name; });
      if (!is_on_command_line) overrides->push_back({each.name, each.value});
    }
  }
  std::string base = options.base;
  if (base.empty() && init) base = init->meaning.integrator.data_base_name.value_or("");
  settings.recording = !options.out.empty() || !options.plot.empty() || !base.empty();

  // The model.
  auto before_compile = Clock::now();
  std::vector<std::string> settable;
  compiler::Options compile_options{*overrides};
  compile_options.watches_axioms = options.monitor_axioms;
  compile_options.settable = &settable;
  compile_options.allow = options.allow;
  if (init) compile_options.starts = init->starts;
  api::Compiled compiled = init ? api::compile_texts(init->texts, compile_options)
                                : api::compile_files(options.files, compile_options, false);
  // Files that the model uses are known only now.
  std::vector<std::string> used;
  for (std::uint32_t file = 0; file < compiled.sources.size(); ++file) used.push_back(compiled.sources.name(file));
  if (auto path = input_written_over(options, base, std::move(used))) return refuse_writing_over(*path);
  if (!compiled.program) return model_errors(options.json, compiled);
  if (init) use_integrator(init->meaning.integrator, options, *compiled.program, settings);
  emit_llvm::JitOptions tiers;
  tiers.solver =
      sim::choose_solver(compiled.program->solver, compiled.program->step_size, compiled.program->tolerance, settings);
  if (tactus_is_stiff_solver(tiers.solver)) tiers.tangents = tangent::only(TACTUS_OF_DERIVATIVE);
  tiers.compile_when_reached = options.devices.empty();  // a hand waits for no compiler
  emit_llvm::CompiledModel jit(std::move(*compiled.program), tiers);
  const tactus_model& model = *jit.current();
  double compile_seconds = seconds_since(before_compile);

  // What is asked of it.
  auto plan = sim::make_plan(model, settings, failure);
  if (!plan) return usage({failure, ""});
  std::vector<std::string> notes = plan->notes;
  if (init) notes.insert(notes.end(), init->notes.begin(), init->notes.end());
  auto parameters = parameter_values(model, *overrides, notes);
  Devices devices;
  if (!connect_devices(model, options.devices, devices, notes, mistake, &*plan)) return usage(mistake);
  std::vector<Shown> shown = default_channels(model);
  if (!options.show.empty()) {
    auto found = find_channels(model, options.show, failure, mistake.hint, compiled.aliases);
    if (!found) return usage({failure, mistake.hint});
    shown = std::move(*found);
  }

  // Where the rows go.
  Rows rows(columns_of(shown), !options.plot.empty());
  const auto not_opened = [&] {
    if (!rows.is_open()) return usage({rows.failure(), ""});
    const std::string why = rows.close();
    if (options.json) print_json({{"status", "failed"}, {"failure", {{"kind", "not_kept"}, {"text", why}}}});
    say(stderr, "tactus: error: {}\n", why);
    return int{exit_run_failed};
  };
  if (!options.out.empty() && !rows.open(options.out)) return not_opened();
  BaseFiles base_files;
  if (!base.empty()) {
    if (!rows.open(base + ".data", trace::CsvWriter::Layout::blanks)) return not_opened();
    base_files.open(base, model, settable);
  }

  if (!options.quiet && !options.json) print_warnings(compiled);

  // The run.
  Interrupt interrupt;
  auto before_run = Clock::now();
  sim::Outcome outcome;
  api::KeptInstance last;
  {
    const double measured =
        init ? init->meaning.integrator.measure_period.value_or(simsect::default_measure_period) : 0;
    Measure measure(plan->start, plan->end, options.quiet || options.json ? 0 : measured);
    Progress progress(plan->start, plan->end, !options.quiet && !measure.is_wanted());
    sim::Request request;
    request.table = [&jit] { return jit.current(); };
    request.stiff_table = [&] { return tiers.tangents != tangent::none ? jit.current() : jit.with_tangents(); };
    request.tangent_table = [&] { return jit.with_tangents(); };
    request.plan = *plan;
    request.parameters = std::move(parameters);
    request.feeds = devices.feeds;
    request.stop = &interrupt.asked();
    request.progress = [&](double time) {
      rows.flush_if_due();
      measure.reach(time);
      progress.update(time);
    };
    request.at_start = [&](const tactus_instance& start) {
      last.keep(model, start);
      if (!base.empty()) base_files.write(start, rows.column_names());
    };
    request.at_end = [&](const tactus_instance& end) { last.keep(model, end); };
    if (devices.hand) {
      outcome = run_touched(jit, request, *devices.hand, settings.recording ? &rows : nullptr);
    } else {
      outcome = sim::run(request, settings.recording ? &rows : nullptr);
    }
    measure.reach(outcome.time);
  }
  double run_seconds = seconds_since(before_run);
  if (outcome.failure) {
    const double reach = plan->adaptive() ? 1e-6 * std::max(1.0, std::abs(outcome.time)) : plan->step;
    api::blame(*outcome.failure, model, last, reach, init ? init->texts : api::texts_of(compiled, options.files.size()),
               compile_options);
  }
  notes.insert(notes.end(), outcome.notes.begin(), outcome.notes.end());
  if (const std::string note = note_on_losses(energy_book(model, outcome)); !note.empty()) notes.push_back(note);

  emit_llvm::CompiledModel::leave_threads();  // the run is over: LLVM's better code is of no use any more

  // What it left.
  std::vector<std::string> files_written;
  std::string not_kept = rows.close();
  if (not_kept.empty()) files_written = rows.files_written();
  if (!base.empty()) {
    if (base_files.close()) {
      files_written.push_back(base + ".initial");
      files_written.push_back(base + ".param");
    } else if (not_kept.empty()) {
      not_kept = base_files.failure();
    }
  }
  for (const std::string& path : options.plot) {
    if (rows.draw(path, failure)) {
      files_written.push_back(path);
    } else if (not_kept.empty()) {
      not_kept = failure;
    }
  }
  if (options.json && options.show.empty()) {
    shown.clear();
    for (std::uint32_t i = 0; i < model.channel_count; ++i) {
      if (model.channels[i].flags & TACTUS_CHANNEL_SCENE) continue;
      shown.push_back({model.channels[i].name, &model.channels[i], std::nullopt});
    }
  }
  Report report{options, model, *plan, outcome, shown, notes, files_written, not_kept, compile_seconds, run_seconds};
  if (options.json) {
    report.print_json_object(compiled);
  } else {
    report.print_text();
  }
  if (outcome.ending == sim::Ending::failed || outcome.ending == sim::Ending::not_kept || !not_kept.empty())
    return exit_run_failed;
  if (outcome.ending != sim::Ending::interrupted && !outcome.broken.empty()) return exit_check_broken;
  return outcome.ending == sim::Ending::interrupted ? exit_interrupted : exit_done;
}

}  // namespace driver
