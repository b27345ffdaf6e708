// Channels -> panels; see figure.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "runtime/trace/decimate.h"
#include "runtime/trace/figure.h"

namespace trace {
namespace {

struct Extent {
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();

  bool empty() const { return !(least <= greatest); }
  double length() const { return empty() ? 0 : greatest - least; }
  bool constant() const {
    return length() <= 64 * std::numeric_limits<double>::epsilon() * std::max(std::abs(least), std::abs(greatest));
  }
  void include(const Extent& other) {
    least = std::min(least, other.least);
    greatest = std::max(greatest, other.greatest);
  }
};

Extent extent_of(std::span<const double> ys) {
  Extent extent;
  for (double y : ys) {
    if (!(std::abs(y) <= largest_drawable)) continue;
    extent.least = std::min(extent.least, y);
    extent.greatest = std::max(extent.greatest, y);
  }
  return extent;
}

// "p" of "p[1]" and "A[1,2]".
std::string_view stem_of(std::string_view name) {
  if (!name.ends_with(']')) return name;
  std::size_t open = name.rfind('[');
  return open == name.npos || open == 0 ? name : name.substr(0, open);
}

// Channels that stand in one panel, by their index.
struct Group {
  std::vector<std::size_t> channels;
  bool vector = false;
  Extent extent;
  double least_length = std::numeric_limits<double>::infinity();  // of the channels that move

  void add(std::size_t channel, const Extent& its) {
    channels.push_back(channel);
    extent.include(its);
    if (!its.empty() && !its.constant()) least_length = std::min(least_length, its.length());
  }
  bool admits(const Extent& its, double least_fill) const {
    Extent all = extent;
    all.include(its);
    double least = least_length;
    if (!its.empty() && !its.constant()) least = std::min(least, its.length());
    return all.length() * least_fill <= least;
  }
};

// Vectors in groups of their own, scalars one by one, in the order of their first channel.
std::vector<Group> group_vectors(std::span<const Curve> channels, const std::vector<Extent>& extents) {
  std::vector<Group> groups;
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> of_stem;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    std::string_view stem = stem_of(channels[i].name);
    auto [place, is_new] = of_stem.try_emplace({stem, channels[i].unit}, groups.size());
    if (is_new || stem.size() == channels[i].name.size()) {
      place->second = groups.size();
      groups.emplace_back();
    }
    groups[place->second].add(i, extents[i]);
  }
  for (Group& group : groups) group.vector = group.channels.size() > 1;
  return groups;
}

std::vector<Group> join_scalars(const std::vector<Group>& groups, std::span<const Curve> channels,
                                const std::vector<Extent>& extents, std::size_t most, double least_fill) {
  std::vector<Group> panels;
  std::map<std::string_view, std::vector<std::size_t>> scalars_of_unit;  // panels with room
  for (const Group& group : groups) {
    if (group.vector) {
      panels.push_back(group);
      continue;
    }
    std::size_t channel = group.channels.front();
    std::vector<std::size_t>& open = scalars_of_unit[channels[channel].unit];
    auto place = std::find_if(open.begin(), open.end(),
                              [&](std::size_t panel) { return panels[panel].admits(extents[channel], least_fill); });
    if (place == open.end()) {
      open.push_back(panels.size());
      panels.push_back(group);
      continue;
    }
    panels[*place].add(channel, extents[channel]);
    if (panels[*place].channels.size() >= most) open.erase(place);
  }
  return panels;
}

std::string join_names(std::span<const Curve> channels, const std::vector<std::size_t>& chosen) {
  std::string names;
  for (std::size_t channel : chosen) names += (names.empty() ? "" : ", ") + channels[channel].name;
  return names;
}

std::string label_of(const Group& group, std::span<const Curve> channels) {
  const Curve& first = channels[group.channels.front()];
  if (group.vector) return axis_label(stem_of(first.name), first.unit);
  std::string names = join_names(channels, group.channels);
  // Many names: the legend has them.
  if (group.channels.size() > 1 && names.size() > 24) return axis_label("", first.unit);
  return axis_label(names, first.unit);
}

std::string note_of(std::vector<std::size_t> left_out, std::span<const Curve> channels) {
  if (left_out.empty()) return "";
  std::sort(left_out.begin(), left_out.end());
  constexpr std::size_t named = 10;
  std::size_t more = left_out.size() > named + 1 ? left_out.size() - named : 0;
  left_out.resize(left_out.size() - more);
  std::string names = join_names(channels, left_out);
  return more > 0 ? fmt::format("Not shown: {} and {} more.", names, more) : fmt::format("Not shown: {}.", names);
}

}  // namespace

std::string axis_label(std::string_view name, std::string_view unit) {
  if (unit.empty()) return std::string(name);
  std::string product;
  for (char c : unit) product += c == '*' ? "\u00b7" : std::string(1, c);
  return name.empty() ? fmt::format("[{}]", product) : fmt::format("{} [{}]", name, product);
}

Figure layout_panels(std::span<const Curve> channels, const LayoutLimits& limits) {
  std::vector<Extent> extents;
  for (const Curve& channel : channels) extents.push_back(extent_of(channel.ys));

  const std::size_t most_panels = static_cast<std::size_t>(std::max(limits.panels, 1));
  const std::size_t most_scalars = static_cast<std::size_t>(std::max(limits.scalars_in_panel, 1));
  const std::size_t most_components = static_cast<std::size_t>(std::max(limits.components_in_panel, 1));
  const std::vector<Group> vectors = group_vectors(channels, extents);
  std::vector<Group> panels = join_scalars(vectors, channels, extents, most_scalars, limits.least_fill);
  for (double fill = limits.least_fill / 4; panels.size() > most_panels && fill > 0.005; fill /= 4) {
    panels = join_scalars(vectors, channels, extents, most_scalars, fill);
  }

  std::vector<std::size_t> left_out;
  auto leave_out = [&](std::size_t panel) {
    left_out.insert(left_out.end(), panels[panel].channels.begin(), panels[panel].channels.end());
    panels.erase(panels.begin() + static_cast<std::ptrdiff_t>(panel));
  };
  for (std::size_t i = panels.size(); i-- > 0 && panels.size() > most_panels;) {
    if (panels[i].least_length == std::numeric_limits<double>::infinity()) leave_out(i);
  }
  while (panels.size() > most_panels) leave_out(panels.size() - 1);

  Figure figure;
  for (Group& group : panels) {
    if (group.vector && group.channels.size() > most_components) {
      auto cut = group.channels.begin() + static_cast<std::ptrdiff_t>(most_components);
      left_out.insert(left_out.end(), cut, group.channels.end());
      group.channels.erase(cut, group.channels.end());
    }
    Panel panel{label_of(group, channels), {}};
    for (std::size_t channel : group.channels) panel.curves.push_back(channels[channel]);
    figure.panels.push_back(std::move(panel));
  }
  figure.note = note_of(std::move(left_out), channels);
  return figure;
}

}  // namespace trace
