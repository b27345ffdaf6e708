// A place in a source text: bytes [begin, end) of file `file` in the diag::SourceMap.
#pragma once

#include <cstdint>

namespace base {

struct Span {
  std::uint32_t file = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  // From the start of this to the end of `last`.
  constexpr Span to(Span last) const { return {file, begin, last.end}; }
};

}  // namespace base
