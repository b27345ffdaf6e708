#include "play/describe.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "kernel/kernel.h"
#include "runtime/sim/instance.h"

namespace play {
namespace {

// The outputs at the start with the hand at such a place; empty when there are none.
std::vector<double> outputs_with_hand(const tactus_model& model, const std::vector<double>& parameters,
                                      const live::HandPlaces& hand, const std::array<double, 3>& position) {
  sim::Instance instance(model);
  if (tk_reset(&model, instance.get()) != TACTUS_OK) return {};
  std::copy(parameters.begin(), parameters.end(), instance.section(model.layout.parameters));
  if (tk_start(&model, instance.get()) != TACTUS_OK) return {};
  for (const live::HandPlaces::Input& input : hand.inputs) {
    if (input.kind != live::HandPlaces::Input::position) continue;
    std::copy_n(position.begin(), input.count, instance.section(model.layout.inputs) + input.at);
  }
  if (tk_begin_events(&model, instance.get()) != TACTUS_OK) return {};
  const double* x = instance.section(model.layout.states);
  if (model.outputs(&model, instance.get(), instance->time, x) != TACTUS_OK) return {};
  const double* outputs = instance.section(model.layout.outputs);
  return {outputs, outputs + model.output_count};
}

bool is_drawn(const picture::World& picture, const tactus_channel& channel) {
  for (const picture::Drawing& drawing : picture.drawings) {
    for (const picture::Option& option : drawing.options) {
      const auto* place = std::get_if<picture::Place>(&option.value);
      if (place && place->at == channel.at &&
          (option.name == "at" || option.name == "from" || option.name == "to" || option.name == "point"))
        return true;
    }
  }
  return false;
}

Json option_json(const picture::Option& option) {
  if (const auto* text = std::get_if<std::string>(&option.value)) return *text;
  const auto& place = std::get<picture::Place>(option.value);
  return {{"at", place.at}, {"count", place.count}};
}

Json drawing_json(const picture::Drawing& drawing) {
  Json object = {{"kind", drawing.kind}};
  for (const picture::Option& option : drawing.options) {
    if (const auto* place = std::get_if<picture::Place>(&option.value); place && option.name == "values") {
      // One scalar a hole of the text.
      for (std::uint32_t i = 0; i < place->count; ++i)
        object["values"].push_back(option_json({"", picture::Place{place->at + i, 1}}));
    } else {
      object[option.name] = option_json(option);
    }
  }
  return object;
}

Json number_or_null(double value, bool is_known) { return is_known ? Json(value) : Json(nullptr); }

void put(std::vector<std::byte>& bytes, const void* from, std::size_t size) {
  static_assert(std::endian::native == std::endian::little);
  const auto* begin = static_cast<const std::byte*>(from);
  bytes.insert(bytes.end(), begin, begin + size);
}

}  // namespace

Calibration calibrate(const tactus_model& model, const std::vector<double>& parameters, const picture::World& picture) {
  Calibration calibration;
  const live::HandPlaces hand = live::find_hand(model);
  // Of three coordinates a flat picture uses two.
  const std::uint32_t components = std::min(hand.components, static_cast<std::uint32_t>(picture.dimensions));
  if (components == 0) return calibration;
  const std::vector<double> rest = outputs_with_hand(model, parameters, hand, {});
  if (rest.empty()) return calibration;
  constexpr double little = 1e-3;
  std::vector<std::vector<double>> moved;
  for (std::uint32_t i = 0; i < components; ++i) {
    std::array<double, 3> position = {};
    position[i] = little;
    moved.push_back(outputs_with_hand(model, parameters, hand, position));
    if (moved.back().empty()) return calibration;
  }
  for (std::uint32_t c = 0; c < model.channel_count; ++c) {
    const tactus_channel& channel = model.channels[c];
    if (channel.columns != 1 || channel.rows < components || channel.rows > 3 || !is_drawn(picture, channel)) continue;
    Calibration found;
    bool follows = true;
    for (std::uint32_t i = 0; i < components; ++i) {
      found.scale[i] = (moved[i][channel.at + i] - rest[channel.at + i]) / little;
      found.offset[i] = rest[channel.at + i];
      follows = follows && std::isnormal(found.scale[i]);
    }
    if (!follows) continue;
    if (channel.flags & TACTUS_CHANNEL_SCENE) {
      if (calibration.handle.empty() && calibration.scale == Calibration{}.scale) calibration = found;
      continue;
    }
    found.handle = channel.name;
    return found;
  }
  return calibration;
}

compiler::WrittenUnit shown_unit(const tactus_parameter& parameter, const std::vector<compiler::WrittenUnit>& units) {
  const auto found = std::ranges::find(units, parameter.name, &compiler::WrittenUnit::name);
  return found != units.end() ? *found : compiler::WrittenUnit{parameter.name, parameter.unit, 1};
}

Json describe(const live::World& world, const std::vector<double>& parameters,
              const std::vector<compiler::WrittenUnit>& units) {
  const tactus_model& model = world.model();
  const picture::World picture = picture::describe(model);
  Json object;
  object["dimensions"] = picture.dimensions;
  object["rate"] = std::round(1 / world.timing().period * 1e6) / 1e6;
  object["values"] = Json::array();
  for (std::uint32_t i = 0; i < model.channel_count; ++i) {
    const tactus_channel& channel = model.channels[i];
    if (channel.flags & (TACTUS_CHANNEL_SCENE | TACTUS_CHANNEL_DERIVATIVE)) continue;
    const bool is_angle =
        *channel.unit == 0 && std::ranges::find(units, channel.name, &compiler::WrittenUnit::name) != units.end();
    Json flags = Json::array();
    if (channel.flags & TACTUS_CHANNEL_DISCRETE) flags.push_back("discrete");
    if (channel.flags & TACTUS_CHANNEL_CONSTANT) flags.push_back("constant");
    object["values"].push_back({{"name", channel.name},
                                {"unit", is_angle ? "rad" : channel.unit},
                                {"rows", channel.rows},
                                {"columns", channel.columns},
                                {"at", channel.at},
                                {"flags", flags}});
  }
  object["parameters"] = Json::array();
  for (std::uint32_t i = 0; i < model.parameter_count; ++i) {
    const tactus_parameter& parameter = model.parameters[i];
    const bool has_range = parameter.low < parameter.high;
    const compiler::WrittenUnit unit = shown_unit(parameter, units);
    object["parameters"].push_back({{"name", parameter.name},
                                    {"unit", unit.unit},
                                    {"size", unit.size},
                                    {"value", parameters[i]},
                                    {"initial", parameter.initial},
                                    {"low", number_or_null(parameter.low, has_range)},
                                    {"high", number_or_null(parameter.high, has_range)}});
  }
  object["hand"] = nullptr;
  if (const live::HandPlaces& hand = world.hand(); hand.components > 0) {
    const Calibration calibration = calibrate(model, parameters, picture);
    object["hand"] = {{"device", hand.device},
                      {"components", hand.components},
                      {"scale", calibration.scale},
                      {"offset", calibration.offset},
                      {"handle", calibration.handle.empty() ? Json(nullptr) : Json(calibration.handle)},
                      {"limit", live::mouse_limits.force}};
  }
  object["drawings"] = Json::array();
  for (const picture::Drawing& drawing : picture.drawings) object["drawings"].push_back(drawing_json(drawing));
  object["plots"] = picture.plots;
  object["notes"] = world.timing().notes;
  return object;
}

std::vector<std::byte> frame_of(const live::Shown& shown, const live::Sample& felt, std::uint32_t generation) {
  const auto count = static_cast<std::uint32_t>(shown.outputs.size());
  std::uint32_t flags = shown.flags;
  if (felt.acts & ~(TK_LIMIT_LOST | TK_LIMIT_STALLED)) flags |= live::flag::limiter;
  if (felt.acts & TK_LIMIT_STALLED) flags |= live::flag::stalled;
  const std::uint32_t head[4] = {1, generation, flags, count};
  std::vector<std::byte> bytes;
  bytes.reserve(96 + 8 * shown.outputs.size());
  put(bytes, head, sizeof head);
  put(bytes, &shown.time, sizeof shown.time);
  for (const auto* part : {&shown.position, &shown.velocity, &felt.force}) put(bytes, part->data(), 24);
  put(bytes, shown.outputs.data(), 8 * shown.outputs.size());
  return bytes;
}

}  // namespace play
