// tactus equilibrium: states of rest, and what the model does near them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "driver/channels.h"
#include "driver/commands.h"
#include "driver/linear_report.h"
#include "driver/operating_point.h"
#include "driver/report.h"
#include "runtime/control/analyze.h"
#include "runtime/sim/evaluate.h"
#include "runtime/trace/csv_writer.h"
#include "runtime/trace/output_file.h"

namespace driver {
namespace {

using Json = nlohmann::ordered_json;

constexpr int attempts_small = 200, attempts_large = 40;
constexpr std::uint32_t small_model = 20;  // states

// One state of rest with all that is told of it.
struct Rest {
  control::Equilibrium found;
  std::vector<double> outputs;
  std::optional<control::Analysis> analysis;  // empty with delays: their poles are without number
  std::vector<std::string> notes;
};

// Of channels and states: what a person may want to see, scalars by name.
struct Value {
  std::string name;
  std::string unit;
  double value = 0;
};

std::vector<Value> values_of(const OperatingPoint& point, const Rest& rest) {
  const tactus_model& model = *point.model;
  std::vector<Value> values;
  for (std::uint32_t i = 0; i < model.state_count; ++i)
    values.push_back({model.state_names[i], "", rest.found.states[i]});
  for (std::size_t k = 0; k < point.free.size(); ++k)
    values.push_back({point.free[k].name, point.free[k].unit, rest.found.free[k]});
  for (const Column& column : columns_of(default_channels(model))) {
    auto known =
        std::find_if(values.begin(), values.end(), [&](const Value& value) { return value.name == column.label; });
    if (known != values.end()) {
      known->unit = column.unit;
    } else {
      values.push_back({column.label, column.unit, rest.outputs[column.at]});
    }
  }
  return values;
}

tactus_status describe(const OperatingPoint& point, Rest& rest) {
  const tactus_model& model = *point.model;
  tactus_instance* instance = point.instance->get();
  if (auto status = control::place(model, instance, point.free, rest.found)) return status;
  std::vector<double> warm(model.warm_count);
  if (int status = sim::evaluate_outputs(model, instance, instance->time, point.instance->states().data(), warm))
    return static_cast<tactus_status>(status);
  const double* outputs = point.instance->section(model.layout.outputs);
  rest.outputs.assign(outputs, outputs + model.output_count);
  if (model.delay_count == 0) {
    const control::Linearization linear = control::linearize(model, instance, {}, {});
    if (linear.status != TACTUS_OK) return linear.status;
    rest.analysis = control::analyze(linear.system);
  }
  rest.notes = notes_on_rest(point, rest.found);
  return TACTUS_OK;
}

double largest_residual(const Rest& rest) {
  double largest = 0;
  for (double value : rest.found.residuals) largest = std::max(largest, std::abs(value));
  return largest;
}

Json json_rest(const OperatingPoint& point, const Rest& rest) {
  const tactus_model& model = *point.model;
  Json object;
  object["states"] = Json::object();
  for (std::uint32_t i = 0; i < model.state_count; ++i)
    object["states"][model.state_names[i]] = json_number(rest.found.states[i]);
  object["free"] = Json::object();
  for (std::size_t k = 0; k < point.free.size(); ++k)
    object["free"][point.free[k].name] = json_number(rest.found.free[k]);
  object["values"] = Json::object();
  for (std::uint32_t i = 0; i < model.channel_count; ++i) {
    const tactus_channel& channel = model.channels[i];
    if (channel.flags & TACTUS_CHANNEL_SCENE) continue;
    for (std::uint32_t k = 0; k < channel.rows * channel.columns; ++k)
      object["values"][component_name(channel, k)] = json_number(rest.outputs[channel.at + k]);
  }
  object["residual"] = json_number(largest_residual(rest));
  object["isolated"] = rest.found.freedom == 0;
  object["freedom"] = rest.found.freedom;
  if (rest.analysis) {
    object["stability"] = stability_word(rest.analysis->stability);
    object["poles"] = json_poles(*rest.analysis);
  }
  object["notes"] = rest.notes;
  return object;
}

// One of several in short: stability, but not each pole.
void print_rest(const OperatingPoint& point, const Rest& rest, bool in_short) {
  constexpr std::size_t most = 40;
  const std::vector<Value> values = values_of(point, rest);
  std::size_t width = 0;
  for (const Value& value : values) width = std::max(width, std::min<std::size_t>(value.name.size(), 16));
  for (std::size_t i = 0; i < std::min(values.size(), most); ++i)
    say(stdout, "  {:<{}} = {:.9g}{}\n", values[i].name, width, values[i].value + 0.0,
        values[i].unit.empty() ? "" : " " + values[i].unit);
  if (values.size() > most) say(stdout, "  .. and {} more: --json gives all\n", values.size() - most);
  if (in_short) {
    if (rest.analysis) say(stdout, "  {}\n", stability_sentence(*rest.analysis));
    return;
  }
  say(stdout, "  what is left over: {:.2g}\n", largest_residual(rest));
  if (rest.analysis) say(stdout, "\n{}", text_poles(*rest.analysis, false, false));
}

bool write_csv(const OperatingPoint& point, const std::vector<Rest>& all, const std::string& path,
               std::string& failure) {
  std::string text = "name";
  for (std::size_t k = 0; k < all.size(); ++k) text += all.size() == 1 ? ",value" : fmt::format(",rest {}", k + 1);
  text += "\n";
  std::vector<std::vector<Value>> columns;
  for (const Rest& rest : all) columns.push_back(values_of(point, rest));
  for (std::size_t i = 0; i < columns.front().size(); ++i) {
    text += trace::csv_name(trace::column_title(columns.front()[i].name, columns.front()[i].unit));
    for (const auto& column : columns) text += fmt::format(",{}", column[i].value + 0.0);
    text += "\n";
  }
  return trace::write_whole(path, text, failure);
}

}  // namespace

int equilibrium(const EquilibriumOptions& options) {
  const PointOptions& given = options.point;
  OperatingPoint point;
  if (int exit_code = reach_point(given, std::nullopt, point)) return exit_code;
  const tactus_model& model = *point.model;
  tactus_instance* instance = point.instance->get();

  std::vector<Rest> all;
  if (options.all) {
    const int attempts = model.state_count <= small_model ? attempts_small : attempts_large;
    for (control::Equilibrium& found : control::find_equilibria(model, instance, point.free, attempts))
      all.push_back({std::move(found), {}, {}, {}});
  }
  if (all.empty()) {
    control::Equilibrium found = control::find_equilibrium(model, instance, point.free);
    if (found.status != TACTUS_OK) return tell_failure(given, point, found.status, "the guess cannot be evaluated");
    if (!found.is_found) return tell_no_rest(given.json, point, found);
    all.push_back({std::move(found), {}, {}, {}});
  }
  for (Rest& rest : all) {
    if (auto status = describe(point, rest))
      return tell_failure(given, point, status, "the state of rest cannot be evaluated");
  }

  std::vector<std::string> notes = point.notes;
  for (std::string& note : notes_on_pieces(point)) notes.push_back(std::move(note));
  if (model.delay_count > 0) notes.emplace_back("with delays there are poles without number: stability is not told");
  std::string failure;
  if (!options.csv.empty() && !write_csv(point, all, options.csv, failure)) return not_kept(given.json, failure);
  if (given.json) {
    Json object;
    object["status"] = "done";
    object["time"] = json_number(instance->time);
    object["equilibria"] = Json::array();
    for (const Rest& rest : all) object["equilibria"].push_back(json_rest(point, rest));
    object["notes"] = notes;
    print_json(object);
    return exit_done;
  }
  if (given.quiet) return exit_done;
  for (const Rest& rest : all) {
    for (const std::string& note : rest.notes) {
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
    }
  }
  constexpr std::size_t most = 10;
  for (std::size_t k = 0; k < std::min(all.size(), most); ++k) {
    if (all.size() == 1) {
      say(stdout, "{}: at rest, t = {:.9g}\n", model.name, instance->time);
    } else {
      say(stdout, "{}{}: at rest, {} of {}\n", k > 0 ? "\n" : "", model.name, k + 1, all.size());
    }
    print_rest(point, all[k], all.size() > 1);
  }
  if (all.size() > most) say(stdout, "\n  .. and {} more: --json gives all\n", all.size() - most);
  if (!options.csv.empty()) say(stdout, "\n  wrote {}\n", options.csv);
  for (const std::string& note : notes) say(stderr, "note: {}\n", note);
  return exit_done;
}

}  // namespace driver
