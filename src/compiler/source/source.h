// A file becomes a text in the diag::SourceMap: valid UTF-8 without NUL bytes and without a byte order mark, at most
// `max_bytes` long. Everything after this relies on that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/span.h"
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
// What became of a file that a program names. Without a file and without a refusal there is none of that name.
struct Reading {
  Reading() = default;
  Reading(std::optional<File> found) : file(std::move(found)) {}  // NOLINT: a reader may just return its file
  Reading(File found) : file(std::move(found)) {}                 // NOLINT
  static Reading refused(std::string reason, std::string hint = "") {
    Reading reading;
    reading.refusal = std::move(reason);
    reading.hint = std::move(hint);
    return reading;
  }

  std::optional<File> file;
  std::string refusal;  // why it is not read: "it lies outside of the model's folder"
  std::string hint;
};
// `path` as it is written in the file called `from`.
using Reader = std::function<Reading(const std::string& from, const std::string& path)>;

// Reports `file_refused` at `written`. False when nothing was refused.
bool report_refusal(const Reading& reading, const std::string& path, base::Span written, diag::Sink& diags);

}  // namespace source
