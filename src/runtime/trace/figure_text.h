// Text in a figure: sizes and drawing of labels with exponents, by cairo.
//
// A label is one line of UTF-8, in which `^` and a number (`m/s^2`, `10^-3`) become a raised number.
#pragma once

#include <cairo.h>

#include <string>
#include <string_view>
#include <vector>

namespace trace {

enum class Align { left, center, right };

struct TextStyle {
  double size = 8.5;
  double gray = 0.1;  // 0 black, 1 white
  bool bold = false;
};

// What was drawn, to be put into an SVG as real text.
struct DrawnText {
  std::string text;
  double x;  // of the left end of the base line
  double y;
  double size;
  bool upwards;
};

// Bytes that are not UTF-8, and control characters, become `?`: cairo would refuse the whole figure.
std::string valid_utf8(std::string_view text);

class TextPainter {
 public:
  explicit TextPainter(cairo_t* cairo);

  double width(std::string_view text, const TextStyle& style) const;
  // At the base line; `upwards` turns the text by a quarter to the left, and aligns along that direction.
  void draw(std::string_view text, double x, double y, Align align, const TextStyle& style, bool upwards = false);
  // The longest beginning that fits, with an ellipsis when cut.
  std::string fitted(std::string_view text, double width, const TextStyle& style) const;
  // The style, made smaller down to `least` points until the text fits.
  TextStyle shrunk(std::string_view text, double width, TextStyle style, double least) const;
  std::vector<std::string> wrapped(std::string_view text, double width, const TextStyle& style) const;

  const std::vector<DrawnText>& drawn() const { return drawn_; }

 private:
  void select(const TextStyle& style, bool raised) const;

  cairo_t* cairo_;
  std::vector<DrawnText> drawn_;
};

}  // namespace trace
