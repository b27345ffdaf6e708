#include "runtime/trace/figure_placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "runtime/trace/staircase.h"

namespace trace {
namespace {

constexpr double default_width = 454;  // 160 mm
// Decimation: an SVG spends about 24 bytes a point.
constexpr std::size_t point_budget = 17'000;
constexpr double finest_column = 0.3;
constexpr double coarsest_column = 4;
constexpr double curve_tolerance = 0.02;

Range extent(std::span<const Panel> panels, std::span<const double> Curve::* coordinate, Scale x_scale) {
  Range range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const Panel& panel : panels) {
    for (const Curve& curve : panel.curves) {
      // A coordinate counts only where both are there to be drawn.
      const std::size_t count = std::min(curve.xs.size(), curve.ys.size());
      for (std::size_t i = 0; i < count; ++i) {
        if (!(std::abs(curve.xs[i]) <= largest_drawable) || !(std::abs(curve.ys[i]) <= largest_drawable)) continue;
        if (x_scale == Scale::logarithmic && !(curve.xs[i] > 0)) continue;
        if (panel.y_scale == Scale::logarithmic && !(curve.ys[i] > 0)) continue;
        range.low = std::min(range.low, (curve.*coordinate)[i]);
        range.high = std::max(range.high, (curve.*coordinate)[i]);
      }
    }
  }
  return range;
}

std::string factor_text(const Axis& axis) {
  std::string text = axis.exponent == 0 ? "" : fmt::format("\u00d710^{}", axis.exponent);
  if (!axis.offset_label.empty()) text += (text.empty() ? "" : " ") + axis.offset_label;
  return text;
}

double widest(const std::vector<std::string>& texts, const TextPainter& painter, const TextStyle& style) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, painter.width(text, style));
  return width;
}

// As many ticks as their labels leave room for.
Axis choose_x_axis(double low, double high, Scale scale, double width, const TextPainter& painter) {
  for (int target = std::max(2, static_cast<int>(width / 48));; --target) {
    Axis axis =
        scale == Scale::logarithmic ? choose_logarithmic_axis(low, high, target) : choose_axis(low, high, target);
    double needed = (widest(axis.labels, painter, tick_style) + 10) * static_cast<double>(axis.labels.size());
    if (needed <= width || target <= 1) return axis;
  }
}

// The y axis of a panel for data in that range.
Axis choose_y_axis(const Panel& panel, Range data, int target) {
  if (panel.y_scale == Scale::logarithmic) {
    if (!(data.low > 0)) return choose_logarithmic_axis(1, 10, target);  // no data
    const Range decades = padded_range(std::log10(data.low), std::log10(data.high), 0.06);
    return choose_logarithmic_axis(std::pow(10, decades.low), std::pow(10, decades.high), target);
  }
  const Range range = padded_range(data.low, data.high, 0.06);
  return panel.y_tick > 0 ? choose_axis_of_multiples(range.low, range.high, target, panel.y_tick)
                          : choose_axis(range.low, range.high, target);
}

bool needs_legend(const Panel& panel) {
  if (panel.curves.size() > 1) return true;
  return panel.curves.size() == 1 && !panel.curves.front().name.empty() &&
         panel.y_label.find(panel.curves.front().name) == std::string::npos;
}

// At most `most` entries, the first and the last among them.
Legend choose_entries(const Panel& panel, std::size_t most, const TextPainter& painter) {
  Legend legend;
  if (!needs_legend(panel)) return legend;
  const std::size_t count = panel.curves.size();
  const std::size_t shown = count <= distinct_colors + 1 ? count : std::min(count, std::max<std::size_t>(most, 2));
  for (std::size_t i = 0; i < shown; ++i) {
    std::size_t index = shown == count ? i : (i * (count - 1) + (shown - 1) / 2) / (shown - 1);
    legend.entries.push_back(index);
    legend.names.push_back(painter.fitted(panel.curves[index].name, 110, legend_style));
  }
  return legend;
}

// The size of a legend, as a box at the origin.
Box legend_size(const Legend& legend, bool in_line, const TextPainter& painter) {
  double width = 0;
  for (const std::string& name : legend.names) {
    double entry = sample_width + sample_gap + painter.width(name, legend_style);
    width = in_line ? width + entry + entry_gap : std::max(width, entry);
  }
  if (in_line) width -= entry_gap;
  double height = line_height * (in_line ? 1.0 : static_cast<double>(legend.names.size()));
  return {0, 0, width + 2 * legend_padding, height + 2 * legend_padding - 2};
}

// The cells of a panel that curves touch.
class Occupancy {
 public:
  Occupancy(const Box& box, const std::vector<Strokes>& curves)
      : box_(box),
        columns_(static_cast<int>(box.width() / cell) + 1),
        rows_(static_cast<int>(box.height() / cell) + 1),
        taken_(static_cast<std::size_t>(columns_ * rows_)) {
    for (const Strokes& strokes : curves) {
      for (const std::vector<Point>& stroke : strokes) {
        mark(stroke.front());
        for (std::size_t i = 1; i < stroke.size(); ++i) mark_line(stroke[i - 1], stroke[i]);
      }
    }
  }

  int count(const Box& box) const {
    int sum = 0;
    for (int row = row_of(box.top); row <= row_of(box.bottom); ++row) {
      for (int column = column_of(box.left); column <= column_of(box.right); ++column)
        sum += taken_[index(row, column)];
    }
    return sum;
  }

 private:
  static constexpr double cell = 2;

  int row_of(double y) const { return std::clamp(static_cast<int>((y - box_.top) / cell), 0, rows_ - 1); }
  int column_of(double x) const { return std::clamp(static_cast<int>((x - box_.left) / cell), 0, columns_ - 1); }
  std::size_t index(int row, int column) const { return static_cast<std::size_t>(row * columns_ + column); }
  void mark(Point point) { taken_[index(row_of(point.y), column_of(point.x))] = 1; }
  void mark_line(Point from, Point to) {
    int parts = static_cast<int>(std::max(std::abs(to.x - from.x), std::abs(to.y - from.y)) / cell) + 1;
    for (int i = 1; i <= parts; ++i) {
      double part = static_cast<double>(i) / parts;
      mark({from.x + part * (to.x - from.x), from.y + part * (to.y - from.y)});
    }
  }

  Box box_;
  int columns_;
  int rows_;
  std::vector<unsigned char> taken_;
};

// Puts the legend where no curve runs, corners first; false when there is no such place.
bool place_inside(PanelPlacement& panel, const TextPainter& painter) {
  Legend& legend = panel.legend;
  if (legend.entries.empty()) return true;
  constexpr double inset = 5, clearance = 3;
  Occupancy occupancy(panel.box, panel.curves);
  for (bool in_line : {false, true}) {
    Box size = legend_size(legend, in_line, painter);
    double free_x = panel.box.width() - size.width() - 2 * inset,
           free_y = panel.box.height() - size.height() - 2 * inset;
    if (free_x < 0 || free_y < 0) continue;
    struct {
      double x, y;
    } constexpr places[] = {{1, 0}, {1, 1}, {0, 0}, {0, 1}, {0.5, 0}, {0.5, 1}, {1, 0.5}, {0, 0.5}};
    for (auto place : places) {
      double left = panel.box.left + inset + place.x * free_x, top = panel.box.top + inset + place.y * free_y;
      Box box{left, top, left + size.width(), top + size.height()};
      Box clear{box.left - clearance, box.top - clearance, box.right + clearance, box.bottom + clearance};
      if (occupancy.count(clear) > 0) continue;
      legend.in_line = in_line;
      legend.box = box;
      return true;
    }
  }
  return false;
}

// Whether two curves coincide, as seen on a page, over most of their length.
bool coincide(const Curve& a, const Curve& b, double range) {
  const std::size_t count = std::min(std::min(a.xs.size(), a.ys.size()), std::min(b.xs.size(), b.ys.size()));
  if (count < 2 || a.xs.size() != b.xs.size()) return false;
  std::size_t same = 0, seen = 0;
  for (std::size_t i = 0, stride = count / 1000 + 1; i < count; i += stride, ++seen) {
    same += a.xs[i] == b.xs[i] && std::abs(a.ys[i] - b.ys[i]) <= 0.006 * range;
  }
  return 10 * same >= 6 * seen;
}

std::vector<bool> choose_dashes(const Panel& panel, const Axis& y_axis) {
  std::vector<bool> dashed(panel.curves.size());
  for (std::size_t i = 0; i < dashed.size(); ++i) dashed[i] = panel.curves[i].line == Line::dashed;
  if (panel.curves.size() > distinct_colors) return dashed;
  for (std::size_t i = 1; i < dashed.size(); ++i) {
    if (panel.curves[i].line == Line::marks) continue;
    for (std::size_t j = 0; j < i && !dashed[i]; ++j) {
      dashed[i] =
          panel.curves[j].line != Line::marks && coincide(panel.curves[i], panel.curves[j], y_axis.high - y_axis.low);
    }
  }
  return dashed;
}

double default_panel_height(std::size_t panels) {
  constexpr std::array<double, 6> heights = {190, 130, 110, 100, 92, 86};
  return heights[std::min(panels, heights.size()) - 1];
}

int y_ticks(double height) { return std::clamp(static_cast<int>(height / 30), 2, 6); }

// Boxes, axes and decimated curves for one choice of the legends' place. False when the legends do not fit there.
bool place(const Figure& figure, LegendPlace legends, const TextPainter& painter, Placement& placement) {
  const std::size_t count = figure.panels.size();
  placement = {};
  placement.legends = legends;
  placement.width = std::max(figure.width > 0 ? figure.width : default_width, 120.0);
  placement.note_lines = painter.wrapped(figure.note, placement.width - 2 * page_edge, note_style);
  placement.panels.resize(count);

  // Vertical sums.
  const double title_height = figure.title.empty() ? 0 : 17;
  const double tick_height = 13, x_label_height = figure.x_label.empty() ? 4 : 14;
  const double note_height =
      placement.note_lines.empty() ? 0 : 6 + 10 * static_cast<double>(placement.note_lines.size());
  double legend_line = 0;
  if (legends == LegendPlace::above) {
    for (const Panel& panel : figure.panels) legend_line = needs_legend(panel) ? line_height + 3 : legend_line;
  }
  double panel_height = default_panel_height(count);
  const double rows = static_cast<double>(count);
  // Above the first panel and above every other.
  auto fixed_height = [&](double first_gap, double gap) {
    return 2 * page_edge + title_height + first_gap + (rows - 1) * gap + tick_height + x_label_height + note_height;
  };
  auto give_height = [&](double first_gap, double gap) {
    if (figure.height > 0) panel_height = std::max(30.0, (figure.height - fixed_height(first_gap, gap)) / rows);
  };
  give_height(legend_line, legend_line);

  // Axes: their labels fix the margins.
  bool any_factor = false;
  double y_tick_width = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Panel& panel = figure.panels[i];
    PanelPlacement& placed = placement.panels[i];
    placed.y_axis = choose_y_axis(panel, extent({&panel, 1}, &Curve::ys, figure.x_scale), y_ticks(panel_height));
    placed.factor = factor_text(placed.y_axis);
    placed.dashed = choose_dashes(panel, placed.y_axis);
    any_factor |= !placed.factor.empty();
    y_tick_width = std::max(y_tick_width, widest(placed.y_axis.labels, painter, tick_style));
    placed.y_label_style = painter.shrunk(panel.y_label, panel_height, label_style, 7);
    placed.y_label = painter.fitted(panel.y_label, panel_height, placed.y_label_style);
    std::size_t most =
        static_cast<std::size_t>(std::max(2.0, legends == LegendPlace::right ? (panel_height + 4) / line_height : 6.0));
    placed.legend = choose_entries(panel, most, painter);
  }
  const double gap = std::max(legend_line, any_factor ? 14.0 : 9.0);
  const double first_gap =
      std::max(needs_legend(figure.panels[0]) ? legend_line : 0.0, placement.panels[0].factor.empty() ? 0.0 : 13.0);
  give_height(first_gap, gap);
  placement.height = fixed_height(first_gap, gap) + rows * panel_height;

  bool any_label = false;
  for (const PanelPlacement& panel : placement.panels) any_label |= !panel.y_label.empty();
  double left = page_edge + (any_label ? 16 : 0) + y_tick_width + 5;
  double right_margin = page_edge;
  double right_legend = 0;
  if (legends == LegendPlace::right) {
    for (const PanelPlacement& panel : placement.panels) {
      if (!panel.legend.entries.empty())
        right_legend = std::max(right_legend, legend_size(panel.legend, false, painter).width());
    }
    right_margin += right_legend + 2;
  }
  placement.y_label_x = page_edge + 8;
  const bool is_logarithmic = figure.x_scale == Scale::logarithmic;
  Range x_data = extent(figure.panels, &Curve::xs, figure.x_scale);
  Range x_range = padded_range(x_data.low, x_data.high, 0);
  if (is_logarithmic && !(x_range.low > 0)) x_range = {1, 10};  // no data
  placement.to_x.is_logarithmic = is_logarithmic;
  // The ends of the axis as it is divided.
  const double x_low = is_logarithmic ? std::log10(x_range.low) : x_range.low;
  const double x_high = is_logarithmic ? std::log10(x_range.high) : x_range.high;
  const auto stretch = [&](double left_end, double right_end) {
    placement.to_x.scale = (right_end - left_end) / (x_high - x_low);
    placement.to_x.origin = left_end - placement.to_x.scale * x_low;
  };
  double right = placement.width - right_margin;
  for (int pass = 0; pass < 2; ++pass) {
    placement.x_axis = choose_x_axis(x_range.low, x_range.high, figure.x_scale, std::max(right - left, 40.0), painter);
    // The outermost labels reach beyond the axis by up to half their width.
    stretch(left, right);
    double last =
        placement.to_x(placement.x_axis.major.back()) + painter.width(placement.x_axis.labels.back(), tick_style) / 2;
    right -= std::max(0.0, last - (placement.width - page_edge));
  }
  if (right - left < 40) right = left + 40;
  placement.x_factor = factor_text(placement.x_axis);
  stretch(left, right);

  double top = page_edge + title_height + first_gap;
  for (std::size_t i = 0; i < count; ++i) {
    PanelPlacement& panel = placement.panels[i];
    panel.box = {left, top, right, top + panel_height};
    top += panel_height + gap;
    panel.to_y.is_logarithmic = figure.panels[i].y_scale == Scale::logarithmic;
    const double low = panel.to_y.is_logarithmic ? std::log10(panel.y_axis.low) : panel.y_axis.low;
    const double high = panel.to_y.is_logarithmic ? std::log10(panel.y_axis.high) : panel.y_axis.high;
    panel.to_y.scale = -panel_height / (high - low);
    panel.to_y.origin = panel.box.bottom - panel.to_y.scale * low;
  }

  // Curves, in the finest columns that the budget of points allows.
  for (double column = finest_column;; column *= 1.5) {
    std::size_t points = 0;
    for (std::size_t i = 0; i < count; ++i) {
      PanelPlacement& panel = placement.panels[i];
      panel.curves.clear();
      for (const Curve& curve : figure.panels[i].curves) {
        const Staircase steps = curve.is_staircase ? make_staircase(curve.xs, curve.ys) : Staircase();
        const std::span<const double> xs = curve.is_staircase ? std::span<const double>(steps.xs) : curve.xs;
        const std::span<const double> ys = curve.is_staircase ? std::span<const double>(steps.ys) : curve.ys;
        const double tolerance = curve.line == Line::marks ? 0 : curve_tolerance;
        panel.curves.push_back(decimate(xs, ys, placement.to_x, panel.to_y, column, tolerance));
        points += count_points(panel.curves.back());
      }
    }
    if (points <= point_budget || column > coarsest_column) break;
  }

  for (PanelPlacement& panel : placement.panels) {
    Legend& legend = panel.legend;
    if (legend.entries.empty()) continue;
    if (legends == LegendPlace::inside && !place_inside(panel, painter)) return false;
    if (legends == LegendPlace::above) {
      Box size = legend_size(legend, true, painter);
      double free = panel.box.width() - painter.width(panel.factor, tick_style) - (panel.factor.empty() ? 0 : 12);
      if (size.width() - 2 * legend_padding > free) return false;
      legend.in_line = true;
      legend.box = {panel.box.right - size.width() + legend_padding, panel.box.top - size.height() + 1,
                    panel.box.right + legend_padding, panel.box.top + 1};
    }
    if (legends == LegendPlace::right) {
      Box size = legend_size(legend, false, painter);
      legend.box = {panel.box.right + 2, panel.box.top - 3, panel.box.right + 2 + size.width(),
                    panel.box.top - 3 + size.height()};
    }
  }
  return true;
}

}  // namespace

Placement place_figure(const Figure& figure, const TextPainter& painter) {
  Placement placement;
  for (LegendPlace legends : {LegendPlace::inside, LegendPlace::above, LegendPlace::right}) {
    if (place(figure, legends, painter, placement)) break;
  }
  return placement;
}

}  // namespace trace
