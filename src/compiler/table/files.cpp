#include "compiler/table/files.h"

#include "compiler/table/diagnostics.h"

namespace table {
namespace {

// "models/car.tact" -> "models/"
std::string folder_of(const std::string& file) { return file.substr(0, file.find_last_of("/\\") + 1); }

}  // namespace

const Sheet* Files::open(const std::string& path, base::Span written, diag::Sink& diags) {
  // A larger file than a program may be: these are numbers in bulk.
  constexpr std::size_t most_bytes = 4 * source::max_bytes;
  const std::string from = sources_.name(written.file);
  auto [asked, is_new] = asked_.try_emplace({folder_of(from), path}, nullptr);
  if (!is_new) return asked->second;
  source::Reading reading = read_ ? read_(from, path) : source::Reading();
  std::optional<source::File>& file = reading.file;
  if (!file) {
    if (source::report_refusal(reading, path, written, diags)) return nullptr;
    const bool is_absolute = path.starts_with('/') || path.starts_with('\\');
    diags.report(written, file_not_found, path)
        .hint("looked for at `{}`, then in the library; a path begins at the file where it is written",
              (is_absolute ? "" : folder_of(from)) + path);
    return nullptr;
  }
  auto [sheet, is_first] = sheets_.try_emplace(file->name);
  if (is_first) {
    if (auto id = source::add(file->name, std::move(file->text), sources_, diags, most_bytes))
      sheet->second = read_sheet(sources_, *id);
  }
  return asked->second = sheet->second ? &*sheet->second : nullptr;
}

bool Files::may_name(const std::string& path, base::Span written, diag::Sink& diags) const {
  if (!locate_) return true;
  return !source::report_refusal(locate_(sources_.name(written.file), path), path, written, diags);
}

}  // namespace table
