#include "compiler/source/source.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "compiler/source/diagnostics.h"
#include "diag/utf8.h"

namespace source {
namespace {

namespace fs = std::filesystem;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// The first name in the folder of `path` that differs from it only in its extension or in the case of its letters;
// empty when there is none.
std::string similar_file(const fs::path& path) {
  const auto lower = [](std::string text) {
    for (char& c : text)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
  };
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code error;
  std::string best;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& candidate = entry->path();
    const std::string extension = candidate.extension().string();
    const bool ours = extension == ".tact" || extension == ".phydl" || extension == ".ridl";
    const bool same_stem = ours && lower(candidate.stem().string()) == lower(path.stem().string());
    const bool same_name = lower(candidate.filename().string()) == lower(path.filename().string());
    if (!same_stem && !same_name) continue;
    const std::string name = path.has_parent_path() ? candidate.string() : candidate.filename().string();
    if (best.empty() || name < best) best = name;
  }
  return best;
}

void report_too_large(base::Span span, std::size_t most_bytes, diag::Sink& diags) {
  auto report = diags.report(span, too_large, most_bytes / (1024 * 1024));
  if (most_bytes == max_bytes) report.hint("numbers in bulk belong in a table: `table(\"file.csv\")(x)`");
}

}  // namespace

std::optional<std::uint32_t> add(std::string name, std::string text, diag::SourceMap& sources, diag::Sink& diags,
                                 std::size_t most_bytes) {
  if (text.size() > most_bytes) {
    report_too_large({sources.add(std::move(name), ""), 0, 0}, most_bytes, diags);
    return std::nullopt;
  }
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  const std::uint32_t file = sources.add(std::move(name), std::move(text));
  const std::string_view content = sources.text(file);
  if (content.starts_with("\xff\xfe") || content.starts_with("\xfe\xff")) {
    diags.report({file, 0, 1}, not_utf8, static_cast<unsigned char>(content[0]))
        .hint("the file begins like UTF-16; save it as UTF-8");
    return std::nullopt;
  }
  for (std::uint32_t i = 0; i < content.size();) {
    const diag::CodePoint c = diag::decode(content, i);
    if (!c.valid) {
      diags.report({file, i, i + 1}, not_utf8, static_cast<unsigned char>(content[i]))
          .hint("save the file as UTF-8; in an older encoding this may be a letter with an accent");
      return std::nullopt;
    }
    if (c.value == 0) {
      diags.report({file, i, i + 1}, nul_byte).hint("is this a text file, saved as UTF-8?");
      return std::nullopt;
    }
    i += c.length;
  }
  return file;
}

std::optional<std::uint32_t> load(const std::string& path, diag::SourceMap& sources, diag::Sink& diags) {
  const auto nameless = [&] { return base::Span{sources.add(path, ""), 0, 0}; };
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    diag::Sink::Reported reported = diags.report(nameless(), not_found);
    if (const std::string similar = similar_file(path); !similar.empty()) reported.hint("did you mean `{}`?", similar);
    return std::nullopt;
  }
  if (status.type() == fs::file_type::directory) {
    diags.report(nameless(), is_directory).hint("name a file in it: `{}/model.tact`", path);
    return std::nullopt;
  }
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file) {
    diags.report(nameless(), unreadable, std::generic_category().message(errno))
        .hint("check the permissions of the file");
    return std::nullopt;
  }
  // One byte more than allowed tells a file that is too large, whatever its size claims to be (a pipe has none).
  std::string text;
  char buffer[1 << 16];
  while (text.size() <= max_bytes) {
    const std::size_t count = std::fread(buffer, 1, sizeof buffer, file.get());
    text.append(buffer, count);
    if (count < sizeof buffer) break;
  }
  if (std::ferror(file.get())) {
    diags.report(nameless(), unreadable, std::generic_category().message(errno));
    return std::nullopt;
  }
  return add(path, std::move(text), sources, diags);
}

bool report_refusal(const Reading& reading, const std::string& path, base::Span written, diag::Sink& diags) {
  if (reading.refusal.empty()) return false;
  diag::Sink::Reported reported = diags.report(written, file_refused, path, reading.refusal);
  if (!reading.hint.empty()) reported.hint("{}", reading.hint);
  return true;
}

}  // namespace source
