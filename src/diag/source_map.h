// The texts that diagnostics point into. compiler/source fills it; rendering reads it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"

namespace diag {

struct Position {
  std::uint32_t line = 1;    // from 1
  std::uint32_t column = 1;  // from 1, in characters (code points), not bytes
};

class SourceMap {
 public:
  std::uint32_t add(std::string name, std::string text);
  std::uint32_t size() const { return static_cast<std::uint32_t>(files_.size()); }
  const std::string& name(std::uint32_t file) const { return files_[file].name; }
  std::string_view text(std::uint32_t file) const { return files_[file].text; }
  std::string_view text(base::Span span) const { return text(span.file).substr(span.begin, span.end - span.begin); }
  Position position(std::uint32_t file, std::uint32_t offset) const;
  // The line (without its end) that holds the offset.
  std::string_view line(std::uint32_t file, std::uint32_t line_number) const;

 private:
  struct File {
    std::string name;
    std::string text;
    std::vector<std::uint32_t> line_starts;
  };
  std::vector<File> files_;
};

}  // namespace diag
