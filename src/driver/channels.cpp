#include "driver/channels.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"

namespace driver {
namespace {

std::uint32_t scalars(const tactus_channel& channel) { return channel.rows * channel.columns; }

std::string trimmed(std::string_view text) {
  std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t") - begin + 1));
}

std::string without_blanks(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c != ' ' && c != '\t') result += c;
  }
  return result;
}

// A value of an instance, `motor.i`, that no `external` writes; of a device, `hand.position`, it is not one.
bool is_inside(const tactus_model& model, const tactus_channel& channel) {
  const std::string_view name = channel.name;
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos || (channel.flags & TACTUS_CHANNEL_WRITTEN)) return false;
  return std::none_of(model.ports, model.ports + model.port_count,
                      [&](const tactus_port& port) { return name.substr(0, dot) == port.device; });
}

}  // namespace

std::string component_name(const tactus_channel& channel, std::uint32_t component) {
  if (scalars(channel) == 1) return channel.name;
  if (channel.columns == 1) return fmt::format("{}[{}]", channel.name, component + 1);
  return fmt::format("{}[{}][{}]", channel.name, component / channel.columns + 1, component % channel.columns + 1);
}

std::vector<Shown> default_channels(const tactus_model& model) {
  constexpr std::uint32_t still = TACTUS_CHANNEL_CONSTANT;
  constexpr std::uint32_t derivative = TACTUS_CHANNEL_DERIVATIVE;
  struct Pass {
    std::uint32_t excluded;
    bool inside;
  };
  std::vector<Shown> shown;
  for (auto [excluded, inside] :
       {Pass{still | derivative, false}, Pass{still | derivative, true}, Pass{derivative, true}}) {
    if (!shown.empty()) break;
    for (std::uint32_t i = 0; i < model.channel_count; ++i) {
      const tactus_channel& channel = model.channels[i];
      if ((channel.flags & (excluded | TACTUS_CHANNEL_SCENE)) || (!inside && is_inside(model, channel))) continue;
      shown.push_back({channel.name, &channel, std::nullopt});
    }
  }
  return shown;
}

std::vector<std::string> split_names(std::string_view list) {
  std::vector<std::string> names;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i == list.size() || (list[i] == ',' && depth == 0)) {
      if (std::string name = trimmed(list.substr(begin, i - begin)); !name.empty()) names.push_back(std::move(name));
      begin = i + 1;
    } else if (list[i] == '[' || list[i] == '(') {
      ++depth;
    } else if ((list[i] == ']' || list[i] == ')') && depth > 0) {
      --depth;
    }
  }
  return names;
}

bool names_nothing(std::span<const std::string> lists) {
  return std::all_of(lists.begin(), lists.end(), [](const std::string& list) { return split_names(list).empty(); });
}

namespace {

// A port's name with that of its argument in its place, `b.x'` -> `a.x'`; anything else as it is.
std::string meaning_of(const std::string& written, std::span<const expand::Alias> aliases) {
  for (const expand::Alias& alias : aliases) {
    if (!written.starts_with(alias.name)) continue;
    const std::string rest = written.substr(alias.name.size());
    // `x[2]` has its primes before the bracket.
    const bool is_name = alias.meaning.find_first_of("'[") == std::string::npos;
    if (rest.empty() || (is_name && (rest.starts_with('\'') || rest.starts_with('[')))) return alias.meaning + rest;
  }
  return written;
}

}  // namespace

std::optional<std::vector<Shown>> find_channels(const tactus_model& model, std::span<const std::string> lists,
                                                std::string& failure, std::string& hint,
                                                std::span<const expand::Alias> aliases) {
  std::vector<Shown> shown;
  for (const std::string& list : lists) {
    for (const std::string& name : split_names(list)) {
      const std::string written = without_blanks(name);
      const std::string wanted = meaning_of(written, aliases);
      bool found = false;
      const tactus_channel* indexed = nullptr;  // the channel that `wanted` indexes out of its range
      for (std::uint32_t i = 0; i < model.channel_count && !found; ++i) {
        const tactus_channel& channel = model.channels[i];
        std::string_view base = channel.name;
        if (!wanted.starts_with(base) || (channel.flags & TACTUS_CHANNEL_SCENE)) continue;
        if (wanted == base) {
          shown.push_back({written, &channel, std::nullopt});
          found = true;
        } else if (wanted[base.size()] == '[') {
          indexed = &channel;
          for (std::uint32_t k = 0; k < scalars(channel) && !found; ++k) {
            if (component_name(channel, k) != wanted) continue;
            shown.push_back({written, &channel, k});
            found = true;
          }
        }
      }
      if (found) continue;
      if (wanted == "t") {
        failure = "`t` cannot be chosen: the time is always the first column";
        hint = "leave it out of --show";
        return std::nullopt;
      }
      failure = fmt::format("there is nothing called `{}` in the model", name);
      if (indexed) {
        failure = fmt::format("`{}` has no component `{}`", indexed->name, wanted);
        hint = scalars(*indexed) == 1 ? fmt::format("`{}` is a scalar", indexed->name)
                                      : fmt::format("its components are `{}` to `{}`", component_name(*indexed, 0),
                                                    component_name(*indexed, scalars(*indexed) - 1));
        return std::nullopt;
      }
      std::vector<std::string> names;
      for (std::uint32_t i = 0; i < model.channel_count; ++i) {
        if (!(model.channels[i].flags & TACTUS_CHANNEL_SCENE)) names.emplace_back(model.channels[i].name);
      }
      if (auto near = base::nearest(wanted, names)) {
        hint = fmt::format("did you mean `{}`?", *near);
      } else {
        constexpr std::size_t most = 20;
        const bool is_cut = names.size() > most;
        if (is_cut) names.resize(most);
        hint = fmt::format("it knows {}{}", fmt::join(names, ", "), is_cut ? ", .." : "");
      }
      return std::nullopt;
    }
  }
  return shown;
}

std::vector<Column> columns_of(std::span<const Shown> shown) {
  std::vector<Column> columns;
  for (const Shown& item : shown) {
    const tactus_channel& channel = *item.channel;
    for (std::uint32_t k = 0; k < scalars(channel); ++k) {
      if (item.component && *item.component != k) continue;
      const std::string inside = component_name(channel, k).substr(std::string_view(channel.name).size());
      columns.push_back({item.component ? item.name : item.name + inside, channel.unit, channel.at + k,
                         (channel.flags & TACTUS_CHANNEL_DISCRETE) != 0});
    }
  }
  return columns;
}

}  // namespace driver
