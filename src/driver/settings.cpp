#include "driver/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <string_view>

#include "base/nearest.h"
#include "driver/channels.h"

namespace driver {
namespace {

std::optional<double> read_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// "did you mean ..", or the list of what there is.
std::string choices(std::string_view word, const std::vector<std::string>& names, std::string_view what,
                    std::string_view none) {
  if (names.empty()) return std::string(none);
  if (auto near = base::nearest(word, names))
    return fmt::format("did you mean `{}`? the {} are {}", *near, what, fmt::join(names, ", "));
  return fmt::format("the {} are {}", what, fmt::join(names, ", "));
}

std::uint32_t scalars(const tactus_channel& channel) { return channel.rows * channel.columns; }

// Whether a header's name is that of the component: `p[1]` or `p.1`, `R[1][2]` or `R.1.2`.
bool names_component(std::string_view header, const tactus_channel& channel, std::uint32_t component) {
  std::string name = component_name(channel, component);
  if (header == name) return true;
  std::string dotted;
  for (char c : name) {
    if (c == '[') dotted += '.';
    if (c != '[' && c != ']') dotted += c;
  }
  return header == dotted;
}

// The column of `signal` for each scalar of the channels, in order.
bool match_columns(const trace::Signal& signal, const std::string& path,
                   const std::vector<const tactus_channel*>& channels, std::vector<std::size_t>& columns,
                   std::vector<std::string>& notes, Mistake& mistake) {
  std::vector<std::string> missing;
  std::vector<std::string> wanted;
  for (const tactus_channel* channel : channels) {
    for (std::uint32_t k = 0; k < scalars(*channel); ++k) {
      wanted.push_back(component_name(*channel, k));
      auto found = std::find_if(signal.names().begin(), signal.names().end(),
                                [&](const std::string& header) { return names_component(header, *channel, k); });
      if (found == signal.names().end()) {
        missing.push_back(wanted.back());
        continue;
      }
      columns.push_back(static_cast<std::size_t>(found - signal.names().begin()));
      const std::string& unit = signal.units()[columns.back()];
      if (!unit.empty() && *channel->unit && unit != channel->unit) {
        mistake = {fmt::format("column `{}` of `{}` is in {}, and the model's `{}` in {}", *found, path, unit,
                               wanted.back(), channel->unit),
                   "give the values in the model's unit, and name that or none in the header"};
        return false;
      }
    }
  }
  if (missing.empty()) return true;
  if (missing.size() < wanted.size()) {
    mistake = {fmt::format("`{}` has no column for {}", path, fmt::join(missing, ", ")),
               fmt::format("its columns are t, {}", fmt::join(signal.names(), ", "))};
    return false;
  }
  // No name matches: in order.
  if (signal.columns() < wanted.size()) {
    mistake = {fmt::format("`{}` has {} column{} behind the time, but {} value{} {} read", path, signal.columns(),
                           signal.columns() == 1 ? "" : "s", wanted.size(), wanted.size() == 1 ? "" : "s",
                           wanted.size() == 1 ? "is" : "are"),
               fmt::format("its header should be t,{}", fmt::join(wanted, ","))};
    return false;
  }
  columns.clear();
  for (std::size_t k = 0; k < wanted.size(); ++k) columns.push_back(k);
  if (!signal.names().empty())
    notes.push_back(fmt::format("no column of `{}` is named like what is read: {} {} taken from its columns in order",
                                path, fmt::join(wanted, ", "), wanted.size() == 1 ? "is" : "are"));
  return true;
}

}  // namespace

std::optional<std::vector<compiler::Override>> read_overrides(std::span<const std::string> set, Mistake& mistake,
                                                              std::string_view option) {
  std::vector<compiler::Override> overrides;
  for (const std::string& word : set) {
    std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      mistake = {fmt::format("`{} {}` gives no value", option, word), fmt::format("such as {} k=9", option)};
      return std::nullopt;
    }
    auto value = read_number(std::string_view(word).substr(equals + 1));
    if (!value) {
      mistake = {fmt::format("`{}` in `{} {}` is not a number", word.substr(equals + 1), option, word),
                 fmt::format("such as {0} k=9 or {0} k=1e-3", option)};
      return std::nullopt;
    }
    overrides.push_back({word.substr(0, equals), *value});
  }
  return overrides;
}

std::vector<sim::ParameterValue> parameter_values(const tactus_model& model,
                                                  std::span<const compiler::Override> overrides,
                                                  std::vector<std::string>& notes) {
  std::vector<sim::ParameterValue> values;
  for (const compiler::Override& given : overrides) {
    for (std::uint32_t i = 0; i < model.parameter_count; ++i) {
      const tactus_parameter& parameter = model.parameters[i];
      if (given.name != parameter.name) continue;
      values.push_back({i, given.value});
      bool ranged = parameter.low != parameter.high;
      if (ranged && (given.value < parameter.low || given.value > parameter.high))
        notes.push_back(fmt::format("`{}` = {} lies outside its range {}..{}", given.name, given.value, parameter.low,
                                    parameter.high));
    }
  }
  return values;
}

std::optional<tactus_solver> read_solver(const std::string& name, Mistake& mistake) {
  if (auto solver = sim::find_solver(name)) return solver;
  std::vector<std::string> names = sim::solver_names();
  mistake = {fmt::format("there is no solver `{}`", name), choices(name, names, "solvers", "")};
  return std::nullopt;
}

std::optional<DeviceWord> read_device(const std::string& word, Mistake& mistake) {
  const std::size_t equals = word.find('=');
  const std::size_t colon = word.find(':', equals == std::string::npos ? 0 : equals);
  if (equals == std::string::npos || equals == 0) {
    mistake = {fmt::format("`--device {}` does not say what stands behind which `external`", word),
               "such as --device hand=file:hand.csv"};
    return std::nullopt;
  }
  return DeviceWord{word.substr(0, equals),
                    word.substr(equals + 1, colon == std::string::npos ? std::string::npos : colon - equals - 1),
                    colon == std::string::npos ? "" : word.substr(colon + 1)};
}

namespace {

// Its motion at the steps of a run, at most a million of them.
std::optional<trace::Signal> sample_script(const std::string& text, const sim::Plan& plan, Mistake& mistake) {
  std::string failure;
  const std::unique_ptr<play::Script> script = play::Script::read(text, failure);
  if (!script) {
    mistake = {failure, "such as script:(0.02*sin(3*t),0)"};
    return std::nullopt;
  }
  const double span = plan.end - plan.start;
  const double wanted = plan.adaptive() || !(plan.step > 0) ? span / 1e4 : plan.step;
  const auto count = static_cast<std::size_t>(std::clamp(std::ceil(span / std::max(wanted, 1e-300)), 1.0, 1e6));
  std::vector<std::vector<double>> columns(1 + script->components());
  for (std::size_t k = 0; k <= count; ++k) {
    const double t = plan.start + span * (static_cast<double>(k) / static_cast<double>(count));
    const std::array<double, 3> value = script->at(t);
    columns[0].push_back(t);
    for (std::uint32_t i = 0; i < script->components(); ++i) columns[i + 1].push_back(value[i]);
  }
  auto signal = trace::Signal::from_table({{}, std::move(columns)}, "script", failure);
  if (!signal) mistake = {failure, ""};
  return signal;
}

}  // namespace

bool connect_devices(const tactus_model& model, std::span<const std::string> words, Devices& devices,
                     std::vector<std::string>& notes, Mistake& mistake, const sim::Plan* plan) {
  std::vector<std::string> names;  // of devices that something is read from
  for (std::uint32_t i = 0; i < model.port_count; ++i) {
    const tactus_port& port = model.ports[i];
    if (port.is_input && std::find(names.begin(), names.end(), port.device) == names.end())
      names.emplace_back(port.device);
  }
  std::set<std::string> seen;
  std::set<std::uint32_t> fed;  // input channels
  for (const std::string& word : words) {
    const std::optional<DeviceWord> device = read_device(word, mistake);
    if (!device) return false;
    const auto& [name, kind, argument] = *device;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      bool writes = false;
      for (std::uint32_t i = 0; i < model.port_count; ++i) writes = writes || name == model.ports[i].device;
      mistake = writes ? Mistake{fmt::format("nothing is read from `{}`: it is only written to", name),
                                 "leave that --device out"}
                       : Mistake{fmt::format("the model has no `external {}` that it reads from", name),
                                 choices(name, names, "devices", "it reads from none")};
      return false;
    }
    if (!seen.insert(name).second) {
      mistake = {fmt::format("`--device {}=..` is given twice", name), "one device stands behind one name"};
      return false;
    }
    std::vector<std::string> kinds = {"file"};
    if (plan != nullptr) kinds.insert(kinds.end(), {"script", "simulated"});
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
      std::vector<std::string> later = {"haply"};
      bool planned = std::find(later.begin(), later.end(), kind) != later.end();
      auto near = base::nearest(kind, kinds);
      mistake = {planned ? fmt::format("devices of kind `{}` are not built yet", kind)
                         : fmt::format("there is no kind of device `{}`", kind),
                 fmt::format("{}kinds: file (a recorded hand: {}=file:hand.csv){}; not built yet: {}",
                             near ? fmt::format("did you mean `{}`? ", *near) : "", name,
                             plan != nullptr ? fmt::format(", script ({0}=script:(sin(t),0)), simulated "
                                                           "({0}=simulated:touch); a mouse: tactus play",
                                                           name)
                                             : "",
                             fmt::join(later, ", "))};
      return false;
    }
    if (kind == "simulated") {
      devices.hand = play::read_hand(kind, argument, mistake.text, mistake.hint);
      if (!devices.hand) return false;
      for (std::uint32_t i = 0; i < model.port_count; ++i)
        if (model.ports[i].is_input && name == model.ports[i].device) fed.insert(model.ports[i].channel);
      notes.insert(notes.end(), devices.hand->notes.begin(), devices.hand->notes.end());
      continue;
    }
    if (argument.empty()) {
      mistake = {fmt::format("`--device {}` names no file", word),
                 fmt::format("such as --device {}=file:hand.csv", name)};
      return false;
    }
    std::string failure;
    auto signal = kind == "script" ? sample_script(argument, *plan, mistake) : trace::Signal::read(argument, failure);
    if (!signal) {
      if (kind == "file") mistake = {failure, "the first column is the time, the others are values"};
      return false;
    }
    devices.signals.push_back(std::move(*signal));
    std::vector<const tactus_channel*> channels;
    for (std::uint32_t i = 0; i < model.port_count; ++i) {
      const tactus_port& port = model.ports[i];
      if (port.is_input && name == port.device && fed.insert(port.channel).second)
        channels.push_back(&model.input_channels[port.channel]);
    }
    std::vector<std::size_t> columns;
    if (!match_columns(devices.signals.back(), argument, channels, columns, notes, mistake)) return false;
    std::size_t next = 0;
    for (const tactus_channel* channel : channels) {
      for (std::uint32_t k = 0; k < scalars(*channel); ++k)
        devices.feeds.push_back({channel->at + k, &devices.signals.back(), columns[next++]});
    }
  }
  for (std::uint32_t i = 0; i < model.port_count; ++i) {
    const tactus_port& port = model.ports[i];
    if (!port.is_input || !fed.insert(port.channel).second) continue;
    notes.push_back(fmt::format(
        "nothing feeds `{}`, which is read from `{}`: it stays zero; feed it with --device {}=file:hand.csv",
        model.input_channels[port.channel].name, port.device, port.device));
  }
  return true;
}

}  // namespace driver
