#include "diag/source_map.h"

#include <algorithm>

#include "diag/utf8.h"

namespace diag {

std::uint32_t SourceMap::add(std::string name, std::string text) {
  File file{std::move(name), std::move(text), {0}};
  for (std::size_t i = file.text.find('\n'); i != std::string::npos; i = file.text.find('\n', i + 1))
    file.line_starts.push_back(static_cast<std::uint32_t>(i + 1));
  files_.push_back(std::move(file));
  return size() - 1;
}

Position SourceMap::position(std::uint32_t file, std::uint32_t offset) const {
  const File& source = files_[file];
  offset = std::min(offset, static_cast<std::uint32_t>(source.text.size()));
  const auto after = std::upper_bound(source.line_starts.begin(), source.line_starts.end(), offset);
  Position position;
  position.line = static_cast<std::uint32_t>(after - source.line_starts.begin());
  for (std::uint32_t i = source.line_starts[position.line - 1]; i < offset;) {
    i += decode(source.text, i).length;
    ++position.column;
  }
  return position;
}

std::string_view SourceMap::line(std::uint32_t file, std::uint32_t line_number) const {
  const File& source = files_[file];
  if (line_number < 1 || line_number > source.line_starts.size()) return {};
  const std::uint32_t begin = source.line_starts[line_number - 1];
  std::size_t end = source.text.size();
  if (line_number < source.line_starts.size()) end = source.line_starts[line_number] - 1;
  if (end > begin && source.text[end - 1] == '\r') --end;
  return std::string_view(source.text).substr(begin, end - begin);
}

}  // namespace diag
