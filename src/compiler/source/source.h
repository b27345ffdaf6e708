// A file becomes a text in the diag::SourceMap: valid UTF-8 without NUL bytes and without a byte order mark, at most
// `max_bytes` long. Everything after this relies on that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "diag/sink.h"
#include "diag/source_map.h"

namespace source {

inline constexpr std::size_t max_bytes = 16 * 1024 * 1024;

// The id of the file in `sources`; empty, after reporting to `diags`, when it cannot be read or is not a text. The file
// has an entry in `sources` in either case, for the diagnostics to name.
[[nodiscard]] std::optional<std::uint32_t> load(const std::string& path, diag::SourceMap& sources, diag::Sink& diags);

// The same for a text in memory: standard input, an editor's buffer, a test; or data that a program names.
[[nodiscard]] std::optional<std::uint32_t> add(std::string name, std::string text, diag::SourceMap& sources,
                                               diag::Sink& diags, std::size_t most_bytes = max_bytes);

// A file that a program names.
struct File {
  std::string name;  // for messages, and for what it names itself
  std::string text;
};
// `path` as it is written in the file called `from`; empty when there is none, or it cannot be read.
using Reader = std::function<std::optional<File>(const std::string& from, const std::string& path)>;

}  // namespace source
