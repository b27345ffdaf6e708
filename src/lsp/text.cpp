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

Text::Text(std::string content) : content_(std::move(content)), line_starts_{0}, marks_{{0, 0}} { index(0, size(), 0); }

void Text::index(std::uint32_t begin, std::uint32_t end, std::uint32_t was) {
  // Lines end with \n, \r\n or \r. Whether one begins at a place is decided by the bytes on both sides of it.
  std::vector<std::uint32_t> starts(line_starts_.begin(), std::ranges::lower_bound(line_starts_, std::max(begin, 1u)));
  for (std::uint32_t at = std::max(begin, 1u); at <= end; ++at) {
    const char last = content_[at - 1];
    if (last == '\n' || (last == '\r' && (at == size() || content_[at] != '\n'))) starts.push_back(at);
  }
  for (auto old = std::ranges::upper_bound(line_starts_, was); old != line_starts_.end(); ++old)
    starts.push_back(*old - was + end);
  line_starts_ = std::move(starts);

  // A character has up to four bytes: what begins within three of `begin` may have become another. Characters are counted from the last
  // mark before that, until an old mark behind the change is met; from there on all are what they were.
  const auto safe = std::ranges::upper_bound(marks_, begin > 3 ? begin - 3 : 0, {}, &Mark::offset);
  std::vector<Mark> marks(marks_.begin(), safe);
  auto old = std::ranges::lower_bound(marks_, std::max(was, 1u), {}, &Mark::offset);
  std::uint32_t counted = marks.back().units;
  for (std::uint32_t at = marks.back().offset; at < size();) {
    while (old != marks_.end() && old->offset - was + end < at) ++old;
    if (old != marks_.end() && old->offset - was + end == at) {
      const std::uint32_t units_were = old->units;
      for (; old != marks_.end(); ++old) marks.push_back({old->offset - was + end, old->units - units_were + counted});
      break;
    }
    if (at >= marks.back().offset + between_marks) marks.push_back({at, counted});
    const diag::CodePoint point = diag::decode(content_, at);
    counted += units(point, Encoding::utf16);
    at += point.length;
    walked_ += point.length;
  }
  marks_ = std::move(marks);
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
  index(begin, begin + static_cast<std::uint32_t>(with.size()), end);
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
