#include "api/blame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <span>
#include <string>

#include "kernel/kernel.h"

namespace api {
namespace {

constexpr std::size_t values_shown = 8;

using Values = std::map<std::string, double>;

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

struct Point {
  double t = 0;
  std::vector<double> x;
};

// Where the derivative is not finite: at the last state, else ahead of it.
bool find_not_finite(const tactus_model& model, tactus_instance* instance, double reach, Point& point) {
  const std::size_t n = tk_active(&model, instance)->state_count;
  const double* states = tactus_data(instance) + model.layout.states;
  std::vector<double> rate(n), ahead(n);
  point = {instance->time, {states, states + n}};
  if (model.derivative(&model, instance, point.t, point.x.data(), rate.data()) != TACTUS_OK) return false;
  if (!all_finite(rate)) return true;
  const Point from = point;
  for (double h = 0x1p-50 * std::max(std::abs(from.t), 1e-3);; h *= 2) {
    h = std::min(h, reach);
    point.t = from.t + h;
    for (std::size_t i = 0; i < n; ++i) point.x[i] = from.x[i] + h * rate[i];
    if (model.derivative(&model, instance, point.t, point.x.data(), ahead.data()) != TACTUS_OK) break;
    if (all_finite(point.x) && !all_finite(ahead)) return true;
    if (!(h < reach)) break;
  }
  point = from;
  return false;
}

std::string component_name(const tactus_channel& channel, std::uint32_t component) {
  if (channel.rows * channel.columns == 1) return channel.name;
  if (channel.columns == 1) return fmt::format("{}[{}]", channel.name, component + 1);
  return fmt::format("{}[{}][{}]", channel.name, component / channel.columns + 1, component % channel.columns + 1);
}

// By name: everything that is recorded at a point, states and parameters.
Values values_at(const tactus_model& model, tactus_instance* instance, const Point& point) {
  Values values;
  values["t"] = point.t;
  const double* data = tactus_data(instance);
  for (std::uint32_t i = 0; i < model.parameter_count; ++i)
    values[model.parameters[i].name] = data[model.layout.parameters + i];
  if (model.outputs(&model, instance, point.t, point.x.data()) == TACTUS_OK) {
    for (std::uint32_t c = 0; c < model.channel_count; ++c) {
      const tactus_channel& channel = model.channels[c];
      for (std::uint32_t k = 0; k < channel.rows * channel.columns; ++k)
        values[component_name(channel, k)] = data[model.layout.outputs + channel.at + k];
    }
  }
  for (std::size_t i = 0; i < point.x.size(); ++i) values[model.state_names[i]] = point.x[i];
  return values;
}

const compiler::Origin* first_not_finite(const std::vector<compiler::Origin>& origins, const Values& values) {
  for (const compiler::Origin& origin : origins) {
    const auto value = values.find(origin.name);
    if (value != values.end() && !std::isfinite(value->second)) return &origin;
  }
  return nullptr;
}

// The equation of a state's derivative; of x in `x'' = ..`, where x' is a state, that of x''.
const compiler::Origin* origin_of_state(const compiler::Origins& origins, const std::vector<compiler::Origin>& motion,
                                        std::string name) {
  for (auto rate = origins.rates.find(name); rate != origins.rates.end(); rate = origins.rates.find(name)) {
    name = rate->second;
    const auto found =
        std::find_if(motion.begin(), motion.end(), [&](const compiler::Origin& origin) { return origin.name == name; });
    if (found != motion.end()) return &*found;
  }
  return nullptr;
}

void tell(sim::Failure& failure, const compiler::Origin& origin, const Values& values, bool is_ahead) {
  failure.equations = origin.text;
  failure.line = origin.line;
  const auto value_of = [&](const std::string& name) {
    const auto value = values.find(name);
    if (value == values.end()) return std::string();
    return std::isnan(value->second) ? name + " = nan" : fmt::format("{} = {}", name, value->second);
  };
  const std::string own = value_of(origin.name);
  failure.text += fmt::format("\n  `{}` (line {})", origin.text, origin.line);
  if (!own.empty()) failure.text += fmt::format(" gives {}", own);
  std::string read;
  std::size_t shown = 0;
  for (const std::string& name : origin.reads) {
    const std::string value = value_of(name);
    if (value.empty()) continue;
    if (shown++ == values_shown) {
      read += ", ..";
      break;
    }
    read += (read.empty() ? "" : ", ") + value;
  }
  if (!read.empty()) failure.text += fmt::format(" with {}", read);
  if (is_ahead && std::find(origin.reads.begin(), origin.reads.end(), "t") == origin.reads.end())
    failure.text += fmt::format(", at t = {}", values.at("t"));
}

// Whether more can be said of a failure than the run itself says.
bool needs_blame(const sim::Failure& failure) {
  return failure.equations.empty() && (failure.status == TACTUS_NOT_FINITE || failure.status == TACTUS_STEP_TOO_SMALL);
}

}  // namespace

void KeptInstance::keep(const tactus_model& model, const tactus_instance& instance) {
  const std::size_t bytes = tactus_instance_bytes(&model);
  block_.resize(bytes / 8 + 1);
  std::memcpy(block_.data(), &instance, bytes);
}

std::vector<Text> texts_of(const Compiled& compiled, std::size_t files) {
  std::vector<Text> texts;
  for (std::uint32_t file = 0; file < files; ++file)
    texts.push_back({compiled.sources.name(file), std::string(compiled.sources.text(file))});
  return texts;
}

void blame(sim::Failure& failure, const tactus_model& model, KeptInstance& last, double reach,
           const std::vector<Text>& texts, compiler::Options options) {
  if (!needs_blame(failure)) return;
  compiler::Origins origins;
  options.origins = &origins;
  static_cast<void>(compile_texts(texts, options));
  if (last.empty()) {
    Values values = {{"t", failure.time}};
    for (const sim::NamedValue& state : failure.states) values[state.name] = state.value;
    if (const auto* origin = first_not_finite(origins.start, values)) tell(failure, *origin, values, false);
    return;
  }
  tactus_instance* instance = last.get();
  const std::int32_t failed = instance->failed_index;
  const auto structure = static_cast<std::size_t>(std::max(instance->structure, 0));
  if (structure >= origins.motion.size()) return;
  const std::vector<compiler::Origin>& motion = origins.motion[structure];
  Point point;
  const bool is_found = find_not_finite(model, instance, reach, point);
  const Values values = values_at(model, instance, point);
  const compiler::Origin* origin = is_found ? first_not_finite(motion, values) : nullptr;
  if (!origin && failed >= 0 && static_cast<std::uint32_t>(failed) < model.state_count)
    origin = origin_of_state(origins, motion, model.state_names[failed]);
  if (origin) tell(failure, *origin, values, point.t > failure.time);
  if (origin && is_found && !(point.t > failure.time))
    failure.hint =
        "no step is short enough for that: a division by zero, a root or logarithm of a "
        "negative number, or a number too large?";
}

}  // namespace api
