// Figure -> file: what figure_placement.h has placed is drawn once on the surface that the extension asks for, in
// memory; the finished bytes are written at the end.
#include "runtime/trace/figure.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "runtime/trace/figure_placement.h"
#include "runtime/trace/figure_text.h"
#include "runtime/trace/output_file.h"

namespace trace {
namespace {

struct Color {
  double red, green, blue;
};

constexpr Color rgb(unsigned code) {
  return {((code >> 16) & 255) / 255.0, ((code >> 8) & 255) / 255.0, (code & 255) / 255.0};
}

// Okabe and Ito's colours without yellow, which white paper swallows.
constexpr std::array<Color, distinct_colors> palette = {rgb(0x0072b2), rgb(0xd55e00), rgb(0x009e73), rgb(0xcc79a7),
                                                        rgb(0xe69f00), rgb(0x56b4e9), rgb(0x000000)};
// viridis at 0, 1/8, .., 7/8; its last eighth is too light.
constexpr std::array<Color, 8> ramp = {rgb(0x440154), rgb(0x472d7b), rgb(0x3b528b), rgb(0x2c728e),
                                       rgb(0x21918c), rgb(0x28ae80), rgb(0x5ec962), rgb(0xaddc30)};

Color curve_color(std::size_t index, std::size_t count) {
  if (count <= palette.size()) return palette[index];
  double at = static_cast<double>(index) / static_cast<double>(count - 1) * (ramp.size() - 1);
  std::size_t low = std::min(static_cast<std::size_t>(at), ramp.size() - 2);
  double part = at - static_cast<double>(low);
  auto mix = [&](double Color::* c) { return ramp[low].*c + part * (ramp[low + 1].*c - ramp[low].*c); };
  return {mix(&Color::red), mix(&Color::green), mix(&Color::blue)};
}

double curve_width(std::size_t count) { return count <= palette.size() ? 1.1 : 0.8; }

class Drawing {
 public:
  Drawing(cairo_t* cairo, const Figure& figure, const Placement& placement)
      : cairo_(cairo), figure_(figure), placement_(placement), painter_(cairo) {}

  void draw() {
    cairo_set_source_rgb(cairo_, 1, 1, 1);
    cairo_paint(cairo_);
    const Box& first = placement_.panels.front().box;
    const Box& last = placement_.panels.back().box;
    double middle = (first.left + first.right) / 2;
    draw_title(middle);
    for (std::size_t i = 0; i < placement_.panels.size(); ++i) {
      draw_panel(figure_.panels[i], placement_.panels[i]);
    }
    double y = last.bottom + 12;
    for (std::size_t i = 0; i < placement_.x_axis.major.size(); ++i) {
      painter_.draw(placement_.x_axis.labels[i], placement_.to_x(placement_.x_axis.major[i]), y, Align::center,
                    tick_style);
    }
    if (!figure_.x_label.empty()) y += 14;
    painter_.draw(painter_.fitted(figure_.x_label, first.width(), label_style), middle, y, Align::center, label_style);
    painter_.draw(placement_.x_factor, last.right, figure_.x_label.empty() ? last.bottom + 23 : y, Align::right,
                  tick_style);
    y += 5;
    for (const std::string& line : placement_.note_lines)
      painter_.draw(line, page_edge, y += 10, Align::left, note_style);
  }

  const std::vector<DrawnText>& texts() const { return painter_.drawn(); }

 private:
  // Over the panels, but never beyond the page's ends.
  void draw_title(double middle) {
    const double most = placement_.width - 2 * page_edge;
    TextStyle style = painter_.shrunk(figure_.title, most, title_style, 8);
    std::string title = painter_.fitted(figure_.title, most, style);
    double half = painter_.width(title, style) / 2;
    painter_.draw(title, std::clamp(middle, page_edge + half, std::max(page_edge + half, page_edge + most - half)),
                  page_edge + 10, Align::center, style);
  }

  void line(double x0, double y0, double x1, double y1) {
    cairo_move_to(cairo_, x0, y0);
    cairo_line_to(cairo_, x1, y1);
  }

  void stroke(double gray, double width) {
    cairo_set_source_rgb(cairo_, gray, gray, gray);
    cairo_set_line_width(cairo_, width);
    cairo_stroke(cairo_);
  }

  void draw_panel(const Panel& panel, const PanelPlacement& placed) {
    const Box& box = placed.box;
    for (double x : placement_.x_axis.major) line(placement_.to_x(x), box.top, placement_.to_x(x), box.bottom);
    const bool any = std::any_of(placed.curves.begin(), placed.curves.end(),
                                 [](const Strokes& strokes) { return !strokes.empty(); });
    for (double y : placed.y_axis.major) {
      if (any) line(box.left, placed.to_y(y), box.right, placed.to_y(y));
    }
    stroke(0.89, 0.4);

    cairo_save(cairo_);
    cairo_rectangle(cairo_, box.left, box.top, box.width(), box.height());
    cairo_clip(cairo_);
    for (std::size_t i = 0; i < placed.curves.size(); ++i) {
      set_curve_color(i, placed.curves.size());
      if (panel.curves[i].line == Line::marks) continue;
      set_dashes(placed.dashed[i]);
      draw_curve(placed.curves[i], curve_width(placed.curves.size()));
    }
    cairo_restore(cairo_);

    if (any) draw_ticks(placed);
    cairo_rectangle(cairo_, box.left, box.top, box.width(), box.height());
    stroke(0.25, 0.6);
    draw_marks(panel, placed);

    if (!any)
      painter_.draw("no data", (box.left + box.right) / 2, (box.top + box.bottom) / 2 + 3, Align::center,
                    {9.5, 0.55, false});
    for (std::size_t i = 0; any && i < placed.y_axis.major.size(); ++i) {
      painter_.draw(placed.y_axis.labels[i], box.left - 4, placed.to_y(placed.y_axis.major[i]) + 3.1, Align::right,
                    tick_style);
    }
    painter_.draw(placed.factor, box.left, box.top - 4, Align::left, tick_style);
    double y_middle = (box.top + box.bottom) / 2;
    painter_.draw(placed.y_label, placement_.y_label_x, y_middle, Align::center, placed.y_label_style, true);
    draw_legend(panel, placed);
  }

  void draw_ticks(const PanelPlacement& placed) {
    const Box& box = placed.box;
    auto marks = [&](const std::vector<double>& xs, const std::vector<double>& ys, double length) {
      for (double x : xs) line(placement_.to_x(x), box.bottom, placement_.to_x(x), box.bottom - length);
      for (double y : ys) line(box.left, placed.to_y(y), box.left + length, placed.to_y(y));
    };
    marks(placement_.x_axis.major, placed.y_axis.major, 3.5);
    stroke(0.25, 0.6);
    marks(placement_.x_axis.minor, placed.y_axis.minor, 2);
    stroke(0.25, 0.4);
  }

  void set_curve_color(std::size_t index, std::size_t count) {
    Color color = curve_color(index, count);
    cairo_set_source_rgb(cairo_, color.red, color.green, color.blue);
  }

  void set_dashes(bool dashed) {
    constexpr double pattern[] = {3, 3};
    cairo_set_dash(cairo_, pattern, dashed ? 2 : 0, 0);
  }

  // Over the lines, and whole where they stand on the frame; the first curve's on top.
  void draw_marks(const Panel& panel, const PanelPlacement& placed) {
    for (std::size_t i = placed.curves.size(); i-- > 0;) {
      if (panel.curves[i].line != Line::marks) continue;
      set_curve_color(i, placed.curves.size());
      for (const std::vector<Point>& points : placed.curves[i]) {
        for (Point point : points) mark(point.x, point.y);
      }
    }
  }

  void mark(double x, double y) {
    cairo_new_sub_path(cairo_);
    cairo_arc(cairo_, x, y, 2.2, 0, 6.283185307179586);
    cairo_fill(cairo_);
  }

  void draw_curve(const Strokes& strokes, double width) {
    cairo_set_line_width(cairo_, width);
    cairo_set_line_join(cairo_, CAIRO_LINE_JOIN_ROUND);
    // Alone a point is a mark; among others it is a piece of the line.
    double dot = strokes.size() == 1 ? 2.2 : width;
    for (const std::vector<Point>& points : strokes) {
      if (points.size() == 1) {
        cairo_new_sub_path(cairo_);
        cairo_arc(cairo_, points[0].x, points[0].y, dot, 0, 6.283185307179586);
        cairo_fill(cairo_);
        continue;
      }
      cairo_move_to(cairo_, points[0].x, points[0].y);
      for (std::size_t i = 1; i < points.size(); ++i) cairo_line_to(cairo_, points[i].x, points[i].y);
      cairo_stroke(cairo_);
    }
  }

  void draw_legend(const Panel& panel, const PanelPlacement& placed) {
    const Legend& legend = placed.legend;
    if (legend.entries.empty()) return;
    const Box& box = legend.box;
    if (placement_.legends == LegendPlace::inside) {
      cairo_rectangle(cairo_, box.left, box.top, box.width(), box.height());
      cairo_set_source_rgba(cairo_, 1, 1, 1, 0.9);
      cairo_fill_preserve(cairo_);
      stroke(0.82, 0.4);
    }
    double x = box.left + legend_padding, y = box.top + legend_padding + 7.5;
    for (std::size_t i = 0; i < legend.entries.size(); ++i) {
      set_curve_color(legend.entries[i], panel.curves.size());
      cairo_set_line_width(cairo_, 1.4);
      if (panel.curves[legend.entries[i]].line == Line::marks) {
        mark(x + sample_width / 2, y - 3);
      } else {
        set_dashes(placed.dashed[legend.entries[i]]);
        line(x, y - 3, x + sample_width, y - 3);
        cairo_stroke(cairo_);
        set_dashes(false);
      }
      painter_.draw(legend.names[i], x + sample_width + sample_gap, y, Align::left, legend_style);
      if (legend.in_line) {
        x += sample_width + sample_gap + painter_.width(legend.names[i], legend_style) + entry_gap;
      } else {
        y += line_height;
      }
    }
  }

  cairo_t* cairo_;
  const Figure& figure_;
  const Placement& placement_;
  TextPainter painter_;
};

struct DestroySurface {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
struct DestroyCairo {
  void operator()(cairo_t* cairo) const { cairo_destroy(cairo); }
};
using SurfacePointer = std::unique_ptr<cairo_surface_t, DestroySurface>;
using CairoPointer = std::unique_ptr<cairo_t, DestroyCairo>;

enum class Kind { svg, pdf, png };

std::optional<Kind> kind_of(const std::string& path) {
  std::string ending = path.size() < 4 ? "" : path.substr(path.size() - 4);
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (ending == ".svg") return Kind::svg;
  if (ending == ".pdf") return Kind::pdf;
  if (ending == ".png") return Kind::png;
  return std::nullopt;
}

cairo_status_t append(void* closure, const unsigned char* data, unsigned length) {
  static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

// Cairo draws letters as outlines; this adds the text itself, unseen, for searching, selecting and screen readers.
void add_svg_text(std::string& svg, const std::string& title, const std::vector<DrawnText>& texts) {
  std::string layer = "<g fill-opacity=\"0\" font-family=\"sans-serif\">\n";
  for (const DrawnText& text : texts) {
    std::string turn = text.upwards ? fmt::format(" transform=\"rotate(-90 {:.2f} {:.2f})\"", text.x, text.y) : "";
    layer += fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\" font-size=\"{}\"{}>{}</text>\n", text.x, text.y, text.size,
                         turn, xml_escaped(text.text));
  }
  layer += "</g>\n";
  if (std::size_t end = svg.rfind("</svg>"); end != svg.npos) svg.insert(end, layer);
  if (title.empty()) return;
  std::size_t root = svg.find("<svg");
  std::size_t end = root == svg.npos ? svg.npos : svg.find('>', root);
  if (end != svg.npos) svg.insert(end + 1, fmt::format("\n<title>{}</title>", xml_escaped(valid_utf8(title))));
}

cairo_surface_t* create_surface(Kind kind, const Placement& placement, double pixels_per_point, std::string& bytes) {
  switch (kind) {
    case Kind::svg:
      return cairo_svg_surface_create_for_stream(append, &bytes, placement.width, placement.height);
    case Kind::pdf:
      return cairo_pdf_surface_create_for_stream(append, &bytes, placement.width, placement.height);
    case Kind::png:
      break;
  }
  return cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(std::ceil(placement.width * pixels_per_point)),
                                    static_cast<int>(std::ceil(placement.height * pixels_per_point)));
}

}  // namespace

bool can_write_figure(const std::string& path, std::string& failure) {
  if (!kind_of(path)) {
    failure = fmt::format("cannot write `{}`: unknown kind of picture; end the name in .svg, .pdf or .png", path);
    return false;
  }
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder, error)) {
    failure = std::filesystem::exists(folder, error)
                  ? fmt::format("cannot write `{}`: `{}` is not a directory", path, folder.string())
                  : fmt::format("cannot write `{}`: the directory `{}` does not exist", path, folder.string());
    return false;
  }
  if (std::filesystem::is_directory(path, error)) {
    failure = fmt::format("cannot write `{}`: it is a directory; give the name of a file", path);
    return false;
  }
  return true;
}

bool write_figure(const Figure& given, const std::string& path, std::string& failure) {
  const std::optional<Kind> known = kind_of(path);
  if (!known) return can_write_figure(path, failure);
  const Kind kind = *known;
  Figure figure = given;
  if (figure.panels.empty()) figure.panels.emplace_back();

  Placement placement;
  {
    SurfacePointer surface(cairo_recording_surface_create(CAIRO_CONTENT_COLOR, nullptr));
    CairoPointer cairo(cairo_create(surface.get()));
    TextPainter measure(cairo.get());
    placement = place_figure(figure, measure);
  }

  std::string bytes;
  std::vector<DrawnText> texts;
  cairo_status_t status;
  {
    const double pixels_per_point = std::clamp(figure.png_dpi, 30.0, 1200.0) / 72;
    SurfacePointer surface(create_surface(kind, placement, pixels_per_point, bytes));
    if (kind == Kind::pdf && !figure.title.empty()) {
      cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_TITLE, valid_utf8(figure.title).c_str());
    }
    CairoPointer cairo(cairo_create(surface.get()));
    if (kind == Kind::png) cairo_scale(cairo.get(), pixels_per_point, pixels_per_point);
    Drawing drawing(cairo.get(), figure, placement);
    drawing.draw();
    texts = drawing.texts();
    status = cairo_status(cairo.get());
    if (status == CAIRO_STATUS_SUCCESS && kind == Kind::png)
      status = cairo_surface_write_to_png_stream(surface.get(), append, &bytes);
    cairo_surface_finish(surface.get());
    if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(surface.get());
  }
  if (status != CAIRO_STATUS_SUCCESS) {
    failure = fmt::format("cannot draw `{}`: {}", path, cairo_status_to_string(status));
    return false;
  }
  if (kind == Kind::svg) add_svg_text(bytes, figure.title, texts);

  return write_whole(path, bytes, failure);
}

}  // namespace trace
