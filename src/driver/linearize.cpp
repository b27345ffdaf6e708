// tactus linearize: the linear system that a model is near one instant, and what a control engineer asks of it.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "driver/commands.h"
#include "driver/linear_report.h"
#include "driver/operating_point.h"
#include "driver/report.h"
#include "runtime/control/analyze.h"
#include "runtime/control/response.h"
#include "runtime/trace/csv_writer.h"
#include "runtime/trace/figure.h"
#include "runtime/trace/output_file.h"

namespace driver {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_transfers = 60;  // analysed one by one, and drawn

Json json_matrix(const control::Matrix& matrix) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    Json row = Json::array();
    for (std::size_t j = 0; j < matrix.columns; ++j) row.push_back(json_number(matrix(i, j)));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json json_margin(const std::optional<control::Margin>& margin, const char* unit) {
  if (!margin) return nullptr;
  return {{unit, json_number(margin->value)}, {"frequency", json_number(margin->frequency)}};
}

std::string text_matrix(const std::string& name, const control::Matrix& matrix, const std::vector<std::string>& rows,
                        const std::vector<std::string>& columns) {
  constexpr std::size_t most = 12;
  if (matrix.rows == 0 || matrix.columns == 0) return "";
  if (matrix.rows > most || matrix.columns > most)
    return fmt::format("  {} is {} x {}: --json or --csv gives it\n", name, matrix.rows, matrix.columns);
  std::size_t head = name.size(), width = 6;
  std::vector<std::string> cells;
  for (const std::string& row : rows) head = std::max(head, row.size());
  for (double entry : matrix.entries) cells.push_back(fmt::format("{:.6g}", entry + 0.0));
  for (const auto* list : std::initializer_list<const std::vector<std::string>*>{&cells, &columns}) {
    for (const std::string& cell : *list) width = std::max(width, cell.size());
  }
  std::string text = fmt::format("  {:<{}}", name, head);
  for (const std::string& column : columns) text += fmt::format("  {:>{}}", column, width);
  text += "\n";
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    text += fmt::format("  {:<{}}", rows[i], head);
    for (std::size_t j = 0; j < matrix.columns; ++j)
      text += fmt::format("  {:>{}}", cells[i * matrix.columns + j], width);
    text += "\n";
  }
  return text;
}

// "x'" for the derivative of x, "p'[1]" for that of p[1].
std::string derivative_name(const std::string& state) {
  const std::size_t open =
      state.ends_with(']') ? state.find('[', state.rfind('.') == state.npos ? 0 : state.rfind('.')) : state.npos;
  return open == state.npos ? state + "'" : state.substr(0, open) + "'" + state.substr(open);
}

std::vector<std::string> derivative_names(const std::vector<std::string>& states) {
  std::vector<std::string> names;
  for (const std::string& state : states) names.push_back(derivative_name(state));
  return names;
}

// One table: [A B; C D] with names on both sides.
bool write_csv(const control::LinearSystem& system, const std::string& path, std::string& failure) {
  std::string text = "row";
  for (const auto* list : {&system.states, &system.inputs}) {
    for (const std::string& name : *list) text += "," + trace::csv_name(name);
  }
  text += "\n";
  const auto add_rows = [&](const std::vector<std::string>& names, const control::Matrix& left,
                            const control::Matrix& right) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      text += trace::csv_name(names[i]);
      for (const control::Matrix* part : {&left, &right}) {
        for (std::size_t j = 0; j < part->columns; ++j) text += fmt::format(",{}", (*part)(i, j) + 0.0);
      }
      text += "\n";
    }
  };
  add_rows(derivative_names(system.states), system.a, system.b);
  add_rows(system.outputs, system.c, system.d);
  return trace::write_whole(path, text, failure);
}

// Curves over a common x: as a table, or as a picture.
bool write_table(const std::string& path, const std::string& x_name, std::span<const double> xs,
                 const std::vector<trace::Panel>& panels, std::string& failure) {
  std::vector<std::string> names = {x_name};
  for (const trace::Panel& panel : panels) {
    for (const trace::Curve& curve : panel.curves) names.push_back(trace::column_title(curve.name, curve.unit));
  }
  trace::CsvWriter writer;
  bool good = writer.open_whole(path, names);
  std::vector<double> row;
  for (std::size_t i = 0; good && i < xs.size(); ++i) {
    row.assign(1, xs[i]);
    for (const trace::Panel& panel : panels) {
      for (const trace::Curve& curve : panel.curves) row.push_back(curve.ys[i]);
    }
    good = writer.write_row(row);
  }
  good = writer.close() && good;
  if (!good) failure = writer.failure();
  return good;
}

// All that is known when the work is done.
struct Results {
  const LinearizeOptions& options;
  const OperatingPoint& point;
  const control::Linearization& linear;
  const control::Analysis& analysis;
  const std::vector<control::Transfer>& transfers;
  const std::vector<control::Output>& outputs;
  std::string place;  // "at t = 0", "at rest"
  std::vector<std::string> notes;

  const control::LinearSystem& system() const { return linear.system; }
  // "cart_pole" of "examples/cart_pole.tact".
  std::string title() const { return std::filesystem::path(point.model->name).stem().string(); }
  std::string transfer_name(const control::Transfer& transfer) const {
    return fmt::format("{} / {}", system().outputs[transfer.output], system().inputs[transfer.input]);
  }

  // Those that something gets through.
  std::vector<control::Transfer> seen() const {
    std::vector<control::Transfer> list;
    for (const control::Transfer& transfer : transfers) {
      if (!transfer.is_zero) list.push_back(transfer);
    }
    return list;
  }

  bool draw_bode(const std::string& path, std::string& failure) const {
    const std::vector<control::Transfer> list = seen();
    const control::Bode bode = control::bode(system(), list);
    trace::Figure figure;
    figure.title = title();
    figure.x_label = "frequency [rad/s]";
    figure.x_scale = trace::Scale::logarithmic;
    figure.panels = {{"magnitude [dB]", {}}, {"phase [deg]", {}}};
    figure.panels[0].y_tick = 20;
    figure.panels[1].y_tick = 45;
    const bool is_table = path.ends_with(".csv");
    for (std::size_t k = 0; k < list.size(); ++k) {
      const std::string name = transfer_name(list[k]);
      figure.panels[0].curves.push_back(
          {name + (is_table ? " magnitude" : ""), "dB", bode.frequencies, bode.curves[k].decibels});
      figure.panels[1].curves.push_back(
          {name + (is_table ? " phase" : ""), "deg", bode.frequencies, bode.curves[k].degrees});
    }
    if (is_table) return write_table(path, "frequency [rad/s]", bode.frequencies, figure.panels, failure);
    return trace::write_figure(figure, path, failure);
  }

  bool draw_step(const std::string& path, std::string& failure) const {
    const std::vector<control::Transfer> list = seen();
    const control::StepResponse response = control::step_response(system(), list);
    std::vector<trace::Curve> curves;
    for (std::size_t k = 0; k < list.size(); ++k) {
      std::string name = system().outputs[list[k].output];
      if (system().inputs.size() > 1) name = transfer_name(list[k]);
      curves.push_back({name, outputs[list[k].output].unit, response.times, response.curves[k]});
    }
    if (path.ends_with(".csv")) {
      return write_table(path, "t [s]", response.times, {{"", curves}}, failure);
    }
    trace::Figure figure = trace::layout_panels(curves);
    figure.title = system().inputs.size() == 1 ? fmt::format("{}: {} steps by 1", title(), system().inputs.front())
                                               : fmt::format("{}: an input steps by 1", title());
    return trace::write_figure(figure, path, failure);
  }

  void print_json_object(const std::vector<std::string>& files) const {
    const tactus_model& model = *point.model;
    Json object;
    object["status"] = "done";
    object["time"] = json_number(point.instance->get()->time);
    object["at"] = place;
    object["point"] = json_point(point, linear_inputs());
    object["states"] = system().states;
    object["inputs"] = system().inputs;
    object["outputs"] = system().outputs;
    object["A"] = json_matrix(system().a);
    object["B"] = json_matrix(system().b);
    object["C"] = json_matrix(system().c);
    object["D"] = json_matrix(system().d);
    object["poles"] = json_poles(analysis);
    object["stability"] = stability_word(analysis.stability);
    object["controllable"] = analysis.controllable;
    object["observable"] = analysis.observable;
    if (model.constraint_count > 0) object["states_of_the_model"] = model.state_count;
    object["transfers"] = Json::array();
    for (const control::Transfer& transfer : transfers) {
      Json told = {{"input", system().inputs[transfer.input]}, {"output", system().outputs[transfer.output]}};
      told["poles"] = json_complex(transfer.poles);
      told["zeros"] = json_complex(transfer.zeros);
      told["gain_at_rest"] = json_number(transfer.gain_at_rest);
      told["gain_margin"] = json_margin(transfer.gain_margin, "dB");
      told["phase_margin"] = json_margin(transfer.phase_margin, "degrees");
      told["closed_loop_stable"] = transfer.is_stable_closed;
      if (auto figures = control::step_figures(system(), transfer))
        told["step"] = {{"rise", json_number(figures->rise)},
                        {"overshoot", json_number(figures->overshoot)},
                        {"settled", json_number(figures->settled)}};
      object["transfers"].push_back(std::move(told));
    }
    object["notes"] = notes;
    object["files"] = files;
    print_json(object);
  }

  void print_text(const std::vector<std::string>& files) const {
    say(stdout, "{}: linear {}\n\n", point.model->name, place);
    std::string matrices = text_matrix("A", system().a, derivative_names(system().states), system().states);
    matrices += text_matrix("B", system().b, derivative_names(system().states), system().inputs);
    matrices += text_matrix("C", system().c, system().outputs, system().states);
    matrices += text_matrix("D", system().d, system().outputs, system().inputs);
    say(stdout, "{}\n{}", matrices, text_poles(analysis, !system().inputs.empty(), !system().outputs.empty()));
    constexpr std::size_t most = 12;
    std::size_t told = 0, unreached = 0;
    for (const control::Transfer& transfer : transfers) {
      if (transfer.is_zero) {
        ++unreached;
        continue;
      }
      if (++told <= most) say(stdout, "\n{}", text_transfer(transfer));
    }
    if (told > most) say(stdout, "\n  .. and {} more: --json gives all, --inputs and --outputs pick\n", told - most);
    if (unreached > 0 && told > 0)
      say(stdout, "\n  {}\n",
          unreached == 1 ? "1 input does not reach 1 output"
                         : fmt::format("{} pairs of input and output do not touch", unreached));
    if (!files.empty()) say(stdout, "\n");
    for (const std::string& file : files) say(stdout, "  wrote {}\n", file);
    for (const std::string& note : notes) say(stderr, "note: {}\n", note);
  }

 private:
  std::vector<control::Input> linear_inputs() const { return default_inputs(*point.model); }

  std::string text_transfer(const control::Transfer& transfer) const {
    std::string text = fmt::format("  {}\n", transfer_name(transfer));
    std::string zeros;
    for (const control::Complex zero : transfer.zeros) {
      if (zero.imag() < 0) continue;
      zeros += (zeros.empty() ? "" : ", ") + text_complex(zero);
    }
    text += fmt::format("    zeros         {}\n", zeros.empty() ? "none" : zeros);
    text += fmt::format("    gain at rest  {:.6g}\n", transfer.gain_at_rest);
    const auto margin = [](const std::optional<control::Margin>& m, const char* unit) {
      if (!m) return std::string("no limit");
      if (std::isinf(m->frequency)) return fmt::format("{:.4g} {} at infinite frequency", m->value, unit);
      return fmt::format("{:.4g} {} at {:.4g} rad/s", m->value, unit, m->frequency);
    };
    text += transfer.is_stable_closed
                ? fmt::format("    fed back      stable (u = -y); gain margin {}, phase margin {}\n",
                              margin(transfer.gain_margin, "dB"), margin(transfer.phase_margin, "deg"))
                : std::string("    fed back      not stable (u = -y)\n");
    if (auto figures = control::step_figures(system(), transfer))
      text += fmt::format("    step          rises in {:.4g} s, overshoots {:.3g} %, settles (2 %) in {:.4g} s\n",
                          figures->rise, figures->overshoot, figures->settled);
    return text;
  }
};

}  // namespace

int linearize(const LinearizeOptions& options) {
  const PointOptions& given = options.point;
  const auto usage = [&](const Mistake& mistake) { return usage_error(given.json, mistake.text, mistake.hint); };
  Mistake mistake;
  std::string failure;

  // Mistakes in the command line that need no model.
  std::vector<std::string> outputs_written = options.plot;
  outputs_written.insert(outputs_written.end(), options.step_plot.begin(), options.step_plot.end());
  if (!can_write(outputs_written, given.files, mistake)) return usage(mistake);
  const bool at_rest = options.at == "equilibrium";
  std::optional<double> until;
  if (!options.at.empty() && !at_rest) {
    double time = 0;
    const char* end = options.at.data() + options.at.size();
    auto [last, error] = std::from_chars(options.at.data(), end, time);
    if (error != std::errc() || last != end || !std::isfinite(time))
      return usage({fmt::format("`--at {}` is neither a time nor `equilibrium`", options.at),
                    "such as --at 2.5 or --at equilibrium"});
    until = time;
  }
  if (!at_rest && (!given.free.empty() || !given.guess.empty()))
    return usage(
        {fmt::format("{} says how a state of rest is sought, and none is", given.free.empty() ? "--guess" : "--free"),
         "add --at equilibrium"});

  OperatingPoint point;
  if (int exit_code = reach_point(given, until, point)) return exit_code;
  const tactus_model& model = *point.model;
  std::vector<control::Input> inputs = default_inputs(model);
  std::vector<control::Output> outputs = default_outputs(model);
  if (!options.inputs.empty()) {
    auto found = find_inputs(model, options.inputs, "--inputs", mistake);
    if (!found) return usage(mistake);
    inputs = std::move(*found);
  }
  if (!options.outputs.empty()) {
    auto found = find_outputs(point, options.outputs, mistake);
    if (!found) return usage(mistake);
    outputs = std::move(*found);
  }

  std::vector<std::string> notes = point.notes;
  if (at_rest) {
    const control::Equilibrium found = control::find_equilibrium(model, point.instance->get(), point.free);
    if (found.status != TACTUS_OK) return tell_failure(given, point, found.status, "the guess cannot be evaluated");
    if (!found.is_found) return tell_no_rest(given.json, point, found);
    for (std::string& note : notes_on_rest(point, found)) notes.push_back(std::move(note));
  } else if (auto note = note_on_motion(point)) {
    notes.push_back(*note);
  }

  control::Linearization linear = control::linearize(model, point.instance->get(), inputs, outputs);
  if (linear.status != TACTUS_OK) return tell_failure(given, point, linear.status, "the model has no derivatives here");
  if (options.outputs.empty()) {
    if (auto dropped = drop_still_outputs(outputs, linear.system); !dropped.empty())
      notes.push_back(fmt::format("nothing moves {}: left out of the outputs", fmt::join(dropped, ", ")));
  }
  if (model.constraint_count > 0) {
    notes.push_back(
        fmt::format("{} states are bound by {} constraints: {} of them are independent, and stand for the system",
                    model.state_count, model.constraint_count, linear.independent.size()));
  }
  if (linear.reads_rates) {
    notes.emplace_back(
        "the model reads the rate of an input (u'): here inputs count as standing still, so what their rates do is not "
        "in "
        "B and D");
  }
  if (model.delay_count > 0)
    notes.emplace_back("what a delay gives counts as constant: its past is not part of the system");
  for (std::string& note : notes_on_pieces(point)) notes.push_back(std::move(note));
  if (inputs.empty()) notes.emplace_back("the model reads nothing: name parameters that move it, --inputs k");

  const control::Analysis analysis = control::analyze(linear.system);
  std::vector<control::Transfer> transfers;
  for (std::size_t output = 0; output < linear.system.outputs.size(); ++output) {
    for (std::size_t input = 0; input < inputs.size() && transfers.size() < most_transfers; ++input)
      transfers.push_back(control::analyze_transfer(linear.system, input, output));
  }
  if (inputs.size() * linear.system.outputs.size() > most_transfers)
    notes.push_back(fmt::format(
        "only the first {} of {} pairs of input and output are looked at one by one: --inputs and --outputs pick",
        most_transfers, inputs.size() * linear.system.outputs.size()));
  const bool has_curves =
      std::any_of(transfers.begin(), transfers.end(), [](const control::Transfer& t) { return !t.is_zero; });
  if (!has_curves && !outputs_written.empty())
    return usage({"there is no curve to draw: no input reaches an output", "name others: --inputs u,k --outputs x"});

  std::string place = at_rest ? fmt::format("at rest, t = {:.9g}", point.instance->get()->time)
                              : fmt::format("at t = {:.9g}", point.instance->get()->time);
  const Results results{options, point, linear, analysis, transfers, outputs, place, notes};
  std::vector<std::string> files;
  if (!options.csv.empty()) {
    if (!write_csv(linear.system, options.csv, failure)) return not_kept(given.json, failure);
    files.push_back(options.csv);
  }
  for (const std::string& path : options.plot) {
    if (!results.draw_bode(path, failure)) return not_kept(given.json, failure);
    files.push_back(path);
  }
  for (const std::string& path : options.step_plot) {
    if (!results.draw_step(path, failure)) return not_kept(given.json, failure);
    files.push_back(path);
  }
  if (given.json) {
    results.print_json_object(files);
  } else if (!given.quiet) {
    results.print_text(files);
  }
  return exit_done;
}

}  // namespace driver
