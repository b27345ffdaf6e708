// The first half of drawing a figure: everything is measured and placed, nothing is drawn.
//
//   Figure --place_figure--> Placement --figure.cpp--> file
//
// Lengths are points (1/72 inch), y points down.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/trace/axis.h"
#include "runtime/trace/decimate.h"
#include "runtime/trace/figure.h"
#include "runtime/trace/figure_text.h"

namespace trace {

inline constexpr TextStyle title_style{10.5, 0.05, true};
inline constexpr TextStyle label_style{9.5, 0.05, false};
inline constexpr TextStyle tick_style{8.5, 0.15, false};
inline constexpr TextStyle legend_style{8.5, 0.1, false};
inline constexpr TextStyle note_style{7.5, 0.4, false};

inline constexpr double page_edge = 6;  // free around everything
inline constexpr double line_height = 11;
// Of a legend: the piece of line before a name, the space behind it, between entries of a line, and around all.
inline constexpr double sample_width = 15, sample_gap = 4, entry_gap = 12, legend_padding = 4;
// Up to so many curves of a panel have colours of their own, more share a ramp.
inline constexpr std::size_t distinct_colors = 7;

struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

// Where the legends stand: inside when every panel has a place free of curves, else in a line above each panel, else,
// when such a line is too long, to the right.
enum class LegendPlace { inside, above, right };

struct Legend {
  std::vector<std::size_t> entries;  // indices of curves; a choice of them when they are many
  std::vector<std::string> names;    // as shown
  bool in_line = false;
  Box box;
};

struct PanelPlacement {
  Box box;
  Axis y_axis;
  AxisMap to_y;
  std::string y_label;
  TextStyle y_label_style;
  std::string factor;  // "x10^-3", above the axis
  std::vector<Strokes> curves;
  std::vector<bool> dashed;  // one a curve: it runs over an earlier one, which shows through
  Legend legend;
};

struct Placement {
  double width = 0, height = 0;
  Axis x_axis;
  AxisMap to_x;
  std::string x_factor;
  double y_label_x = 0;
  std::vector<std::string> note_lines;
  std::vector<PanelPlacement> panels;
  LegendPlace legends = LegendPlace::inside;
};

// `figure` has at least one panel. The result refers to nothing of it.
Placement place_figure(const Figure& figure, const TextPainter& painter);

}  // namespace trace
