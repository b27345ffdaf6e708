#include "lsp/text.h"

#include <algorithm>
#include <iterator>

#include "diag/utf8.h"

namespace lsp {
namespace {

std::uint32_t units(const diag::CodePoint& point, Encoding encoding) {
  if (encoding == Encoding::utf8) return point.length;
  return point.value >= 0x10000 ? 2 : 1;
}

}  // namespace

Text::Text(std::string content) : content_(std::move(content)) { find_lines(); }

// Lines end with \n, \r\n or \r. No character reaches over the end of a line.
void Text::find_lines() {
  line_starts_ = {0};
  marks_ = {{0, 0}};
  for (std::size_t i = 0; i < content_.size(); ++i) {
    const bool ends =
        content_[i] == '\n' || (content_[i] == '\r' && (i + 1 == content_.size() || content_[i + 1] != '\n'));
    if (ends) line_starts_.push_back(static_cast<std::uint32_t>(i + 1));
  }
  std::uint32_t counted = 0;
  for (std::uint32_t at = 0; at < size();) {
    if (at >= marks_.back().offset + between_marks) marks_.push_back({at, counted});
    const diag::CodePoint point = diag::decode(content_, at);
    counted += units(point, Encoding::utf16);
    at += point.length;
  }
}

std::uint32_t Text::units_before(std::uint32_t offset, Encoding encoding) const {
  if (encoding == Encoding::utf8) return offset;
  const Mark& mark = *std::prev(std::ranges::upper_bound(marks_, offset, {}, &Mark::offset));
  walked_ += offset - mark.offset;
  return mark.units + length_of(std::string_view(content_).substr(mark.offset, offset - mark.offset), encoding);
}

std::string_view Text::line(std::uint32_t line) const {
  const std::uint32_t begin = line_starts_[line];
  const std::uint32_t end = line + 1 < line_count() ? line_starts_[line + 1] : size();
  std::string_view text = std::string_view(content_).substr(begin, end - begin);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

std::uint32_t Text::line_of(std::uint32_t offset) const {
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return static_cast<std::uint32_t>(after - line_starts_.begin()) - 1;
}

std::uint32_t Text::offset_of(Position position, Encoding encoding) const {
  if (position.line >= line_count()) return size();
  const std::uint32_t begin = line_starts_[position.line];
  const std::string_view text = line(position.line);
  const std::uint64_t wanted = std::uint64_t{units_before(begin, encoding)} + position.character;
  // From the last mark before the place, or from the beginning of the line.
  const auto behind =
      std::ranges::upper_bound(marks_, wanted, {}, encoding == Encoding::utf8 ? &Mark::offset : &Mark::units);
  const auto last = static_cast<std::uint32_t>(begin + text.size());
  auto mark = std::prev(behind);
  if (mark->offset > last) mark = std::prev(std::ranges::upper_bound(marks_, last, {}, &Mark::offset));
  std::uint32_t at = std::max(mark->offset, begin);
  std::uint64_t counted = units_before(at, encoding);
  const std::uint32_t from = at;
  while (at < last) {
    const diag::CodePoint point = diag::decode(std::string_view(content_).substr(0, last), at);
    counted += units(point, encoding);
    if (counted > wanted) break;
    at += point.length;
  }
  walked_ += at - from;
  return at;
}

Position Text::position_of(std::uint32_t offset, Encoding encoding) const {
  offset = std::min(offset, size());
  const std::uint32_t line = line_of(offset);
  const std::uint32_t begin = line_starts_[line];
  const auto end = static_cast<std::uint32_t>(std::min<std::size_t>(offset, begin + this->line(line).size()));
  return {line, units_before(end, encoding) - units_before(begin, encoding)};
}

void Text::replace(std::uint32_t begin, std::uint32_t end, std::string_view with) {
  begin = std::min(begin, size());
  end = std::clamp(end, begin, size());
  content_.replace(begin, end - begin, with);
  find_lines();
}

std::uint32_t length_of(std::string_view text, Encoding encoding) {
  std::uint32_t counted = 0;
  for (std::size_t at = 0; at < text.size();) {
    const diag::CodePoint point = diag::decode(text, at);
    counted += units(point, encoding);
    at += point.length;
  }
  return counted;
}

}  // namespace lsp
