#include "runtime/picture/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>
#include <utility>

namespace picture {
namespace {

constexpr std::size_t most_plots = 4;

// Words that people put into names.
constexpr std::string_view color_words[] = {"white",  "black", "red",   "green",   "blue", "yellow", "orange", "purple",
                                            "violet", "pink",  "brown", "magenta", "cyan", "gray",   "grey",   "gold",
                                            "silver", "tan",   "teal",  "navy",    "lime", "olive",  "maroon"};

std::uint32_t scalars(const tactus_channel& channel) { return channel.rows * channel.columns; }

Place place_of(const tactus_channel& channel) { return {channel.at, scalars(channel)}; }

bool is_point(const tactus_channel& channel) {
  return channel.columns == 1 && (channel.rows == 2 || channel.rows == 3);
}

// Names of a channel's scalars, as the page knows them.
void add_names(const tactus_channel& channel, std::vector<std::string>& names) {
  if (scalars(channel) == 1) {
    names.emplace_back(channel.name);
    return;
  }
  for (std::uint32_t k = 0; k < scalars(channel); ++k) {
    names.push_back(channel.columns == 1
                        ? fmt::format("{}[{}]", channel.name, k + 1)
                        : fmt::format("{}[{}][{}]", channel.name, k / channel.columns + 1, k % channel.columns + 1));
  }
}

// The colour that a name says: `white_ball` is white.
std::string_view color_of(std::string_view name) {
  for (std::size_t begin = 0; begin < name.size(); ++begin) {
    std::size_t end = begin;
    while (end < name.size() && std::isalpha(static_cast<unsigned char>(name[end]))) ++end;
    const auto found = std::find(std::begin(color_words), std::end(color_words), name.substr(begin, end - begin));
    if (found != std::end(color_words)) return *found;
    begin = end;
  }
  return "";
}

World written(const tactus_model& model) {
  World world;
  world.dimensions = model.dimensions;
  for (std::uint32_t d = 0; d < model.drawing_count; ++d) {
    const tactus_drawing& drawing = model.drawings[d];
    const tactus_drawing_option* options = model.drawing_options + drawing.first_option;
    if (std::string_view(drawing.kind) == "plot") {
      std::vector<std::string>& names = world.plots.emplace_back();
      for (std::uint32_t k = 0; k < drawing.option_count; ++k) add_names(model.channels[options[k].channel], names);
      continue;
    }
    Drawing made{drawing.kind, {}};
    if (std::string_view(drawing.kind) == "text")
      made.options.push_back({"text", std::string(drawing.text ? drawing.text : "")});
    for (std::uint32_t k = 0; k < drawing.option_count; ++k) {
      if (options[k].text)
        made.options.push_back({options[k].name, std::string(options[k].text)});
      else
        made.options.push_back({options[k].name, place_of(model.channels[options[k].channel])});
    }
    world.drawings.push_back(std::move(made));
  }
  return world;
}

// Without a scene.
class Guess {
 public:
  explicit Guess(const tactus_model& model) : model_(model) {}

  World run() {
    if (has_screen()) {
      for (std::uint32_t i = 0; i < model_.port_count; ++i) {
        const tactus_port& port = model_.ports[i];
        if (!is_screen(port)) continue;
        if (!port.is_input)
          show(model_.channels[port.channel]);
        else if (const tactus_channel* channel = find(model_.input_channels[port.channel].name))
          show(*channel);
      }
    } else {
      for (std::uint32_t i = 0; i < model_.channel_count; ++i) {
        const tactus_channel& channel = model_.channels[i];
        const bool is_derivative = (channel.flags & TACTUS_CHANNEL_DERIVATIVE) != 0;
        if (is_point(channel) && is_state(channel) && !is_derivative) show(channel);
      }
      if (points_.empty()) plot_some();
    }
    // Traces lie below the balls.
    for (const tactus_channel* point : points_) world_.drawings.push_back(drawing("trace", "point", *point));
    for (const tactus_channel* point : points_) world_.drawings.push_back(drawing("sphere", "at", *point));
    return std::move(world_);
  }

 private:
  static bool is_screen(const tactus_port& port) { return std::string_view(port.device) == "GUI"; }
  bool has_screen() const { return std::any_of(model_.ports, model_.ports + model_.port_count, is_screen); }

  const tactus_channel* find(std::string_view name) const {
    const tactus_channel* end = model_.channels + model_.channel_count;
    const tactus_channel* found =
        std::find_if(model_.channels, end, [&](const tactus_channel& channel) { return name == channel.name; });
    return found == end ? nullptr : found;
  }

  bool is_state(const tactus_channel& channel) const {
    return std::any_of(model_.state_names, model_.state_names + model_.state_count,
                       [&](const char* state) { return state == fmt::format("{}[1]", channel.name); });
  }

  void show(const tactus_channel& channel) {
    if (is_point(channel)) {
      if (std::find(points_.begin(), points_.end(), &channel) != points_.end()) return;
      points_.push_back(&channel);
      if (channel.rows == 3) world_.dimensions = 3;
    } else {
      add_names(channel, world_.plots.emplace_back());
    }
  }

  void plot_some() {
    for (std::uint32_t i = 0; i < model_.channel_count && world_.plots.size() < most_plots; ++i) {
      const tactus_channel& channel = model_.channels[i];
      const bool moves = (channel.flags & (TACTUS_CHANNEL_CONSTANT | TACTUS_CHANNEL_DERIVATIVE)) == 0;
      if (moves && scalars(channel) == 1) show(channel);
    }
  }

  static Drawing drawing(const char* kind, const char* place, const tactus_channel& channel) {
    Drawing made{kind, {{place, place_of(channel)}}};
    if (const std::string_view color = color_of(channel.name); !color.empty())
      made.options.push_back({"color", std::string(color)});
    return made;
  }

  const tactus_model& model_;
  World world_;
  std::vector<const tactus_channel*> points_;
};

}  // namespace

World describe(const tactus_model& model) { return model.drawing_count > 0 ? written(model) : Guess(model).run(); }

}  // namespace picture
