// Time series -> a figure for a paper: .svg, .pdf or .png, drawn by cairo.
//
//   channels --layout_panels--> Figure --write_figure--> file
//
// Panels are stacked over one shared x axis. Colours: Okabe and Ito, 2008 (safe for the colour-blind); the components
// of a long vector take a viridis ramp instead. Curves of any length are decimated to what the page can show, so an SVG
// stays below about half a megabyte. In an SVG the letters are outlines, with the same text unseen above them to search
// and select.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trace {

enum class Scale { linear, logarithmic };
// How a curve is drawn: through its points, or as a mark at each of them.
enum class Line { solid, dashed, marks };

// xs and ys are as long as one another (else the shorter counts), are not copied and must outlive the figure. xs comes
// in order. What is not finite makes a gap.
struct Curve {
  std::string name;  // "p[1]"
  std::string unit;  // "m", "" when unknown
  std::span<const double> xs;
  std::span<const double> ys;
  bool is_staircase = false;  // constant between events: level from each point to the next
  Line line = Line::solid;
};

struct Panel {
  std::string y_label;  // "p [m]"
  std::vector<Curve> curves;
  double y_tick = 0;              // ticks stand at whole multiples of this; 0: where 1, 2 and 5 times powers of ten are
  Scale y_scale = Scale::linear;  // logarithmic: only positive ys are shown, and y_tick does not count
};

struct Figure {
  std::string title;  // none when empty
  std::string x_label = "t [s]";
  Scale x_scale = Scale::linear;  // logarithmic: only positive xs are shown
  std::vector<Panel> panels;
  std::string note;   // small, below the figure
  double width = 0;   // in points; 0: 454 (160 mm)
  double height = 0;  // in points; 0: by the number of panels
  double png_dpi = 220;
};

struct LayoutLimits {
  int panels = 6;
  int scalars_in_panel = 5;
  int components_in_panel = 64;
  // Curves share a panel when each would still fill this fraction of its height. It is relaxed before a panel is
  // left out.
  double least_fill = 1.0 / 8;
};

// Groups the components of one vector (`p[1]`, `p[2]`) into one panel, and scalars of one unit and similar range up to
// a few; the order of the channels is kept. What finds no place is named in `note`: constants go first.
Figure layout_panels(std::span<const Curve> channels, const LayoutLimits& limits = {});

// "p [m]", or "p" without a unit; `N*m` is shown with a dot, and write_figure raises the number of `m/s^2`.
std::string axis_label(std::string_view name, std::string_view unit);

// Whether write_figure knows the extension and the folder exists; else `failure` says so. To be asked before a long
// run.
[[nodiscard]] bool can_write_figure(const std::string& path, std::string& failure);

// The kind of file is that of the extension. False, with `failure` set, when it cannot be written.
[[nodiscard]] bool write_figure(const Figure& figure, const std::string& path, std::string& failure);

}  // namespace trace
