#include "runtime/trace/figure_text.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace trace {
namespace {

constexpr double raised_size = 0.72;
constexpr double raise = 0.38;

struct Run {
  std::string text;
  bool raised;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::vector<Run> runs_of(std::string_view text) {
  std::vector<Run> runs;
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t end = i + 1;
    bool negative = text[i] == '^' && end < text.size() && text[end] == '-';
    std::size_t digits = end + (negative ? 1 : 0);
    end = digits;
    while (text[i] == '^' && end < text.size() && is_digit(text[end])) ++end;
    if (text[i] != '^' || end == digits) {
      plain += text[i];
      continue;
    }
    if (!plain.empty()) runs.push_back({std::exchange(plain, {}), false});
    runs.push_back({(negative ? "\u2212" : "") + std::string(text.substr(digits, end - digits)), true});
    i = end - 1;
  }
  if (!plain.empty()) runs.push_back({plain, false});
  return runs;
}

// The length of the UTF-8 character at the front of `text`, 0 when it is not one (RFC 3629).
std::size_t character_length(std::string_view text) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[i])); };
  unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  std::size_t length = lead >= 0xf0 && lead < 0xf5   ? 4
                       : lead >= 0xe0 && lead < 0xf0 ? 3
                       : lead >= 0xc2 && lead < 0xe0 ? 2
                                                     : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if (lead == 0xe0 && byte(1) < 0xa0) return 0;
  if (lead == 0xed && byte(1) >= 0xa0) return 0;
  if (lead == 0xf0 && byte(1) < 0x90) return 0;
  if (lead == 0xf4 && byte(1) >= 0x90) return 0;
  return length;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::size_t length = character_length(text);
    bool control = static_cast<unsigned char>(text[0]) < 0x20 || text[0] == 0x7f;
    if (length == 0 || control) {
      out += '?';
      text.remove_prefix(1);
      continue;
    }
    out += text.substr(0, length);
    text.remove_prefix(length);
  }
  return out;
}

TextPainter::TextPainter(cairo_t* cairo) : cairo_(cairo) {
  // The same letters at the same places in every kind of file.
  cairo_font_options_t* options = cairo_font_options_create();
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  cairo_set_font_options(cairo_, options);
  cairo_font_options_destroy(options);
}

void TextPainter::select(const TextStyle& style, bool raised) const {
  cairo_select_font_face(cairo_, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                         style.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(cairo_, raised ? style.size * raised_size : style.size);
}

double TextPainter::width(std::string_view text, const TextStyle& style) const {
  double width = 0;
  for (const Run& run : runs_of(valid_utf8(text))) {
    select(style, run.raised);
    cairo_text_extents_t extents;
    cairo_text_extents(cairo_, run.text.c_str(), &extents);
    width += extents.x_advance;
  }
  return width;
}

void TextPainter::draw(std::string_view raw, double x, double y, Align align, const TextStyle& style, bool upwards) {
  std::string text = valid_utf8(raw);
  if (text.empty()) return;
  double before = align == Align::left ? 0 : width(text, style) * (align == Align::center ? 0.5 : 1.0);
  cairo_save(cairo_);
  cairo_translate(cairo_, x, y);
  if (upwards) cairo_rotate(cairo_, -1.5707963267948966);
  cairo_set_source_rgb(cairo_, style.gray, style.gray, style.gray);
  double at = -before;
  for (const Run& run : runs_of(text)) {
    select(style, run.raised);
    cairo_move_to(cairo_, at, run.raised ? -raise * style.size : 0);
    cairo_show_text(cairo_, run.text.c_str());
    cairo_text_extents_t extents;
    cairo_text_extents(cairo_, run.text.c_str(), &extents);
    at += extents.x_advance;
  }
  cairo_new_path(cairo_);
  cairo_restore(cairo_);
  drawn_.push_back({text, upwards ? x : x - before, upwards ? y + before : y, style.size, upwards});
}

std::string TextPainter::fitted(std::string_view raw, double most, const TextStyle& style) const {
  std::string text = valid_utf8(raw);
  if (width(text, style) <= most) return text;
  // The longest length that fits, by bisection; cut before a character, never inside.
  auto cut_at = [&](std::size_t length) {
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) --length;
    return text.substr(0, length);
  };
  std::size_t fits = 0, exceeds = text.size();
  while (exceeds - fits > 1) {
    std::size_t middle = fits + (exceeds - fits) / 2;
    (width(cut_at(middle) + "\u2026", style) <= most ? fits : exceeds) = middle;
  }
  text = cut_at(fits);
  return text + "\u2026";
}

TextStyle TextPainter::shrunk(std::string_view text, double most, TextStyle style, double least) const {
  while (style.size - 0.5 >= least && width(text, style) > most) style.size -= 0.5;
  return style;
}

std::vector<std::string> TextPainter::wrapped(std::string_view text, double most, const TextStyle& style) const {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    std::size_t end = std::min(text.find(' '), text.size());
    std::string word(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    std::string longer = line.empty() ? word : line + ' ' + word;
    if (!line.empty() && width(longer, style) > most) {
      lines.push_back(std::exchange(line, word));
    } else {
      line = longer;
    }
  }
  if (!line.empty()) lines.push_back(line);
  for (std::string& each : lines) each = fitted(each, most, style);
  return lines;
}

}  // namespace trace
