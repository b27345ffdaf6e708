#include "api/used_files.h"

#include <filesystem>

#include "api/library_texts.h"

namespace api {

source::Reading UsedFiles::locate(const std::string& from, const std::string& path) const {
  return folders_.locate((std::filesystem::path(from).parent_path() / path).lexically_normal().string());
}

source::Reading UsedFiles::operator()(const std::string& from, const std::string& path) const {
  constexpr std::size_t most_bytes = std::size_t{64} << 20;
  const std::filesystem::path found = (std::filesystem::path(from).parent_path() / path).lexically_normal();
  // A program may be called as the library's file that it uses; it does not use itself. What the library uses is its
  // own.
  const bool is_itself = found == std::filesystem::path(from).lexically_normal();
  const bool is_library =
      from.starts_with("library/") && library_texts().contains(from.substr(8)) && library_texts().contains(path);
  source::Reading reading;
  if (!is_itself && !is_library) reading = folders_.read(found.string(), most_bytes);
  if (reading.file) return reading;
  for (const std::string& name : {path, path + ".tact"}) {
    if (auto text = library_texts().find(name); text != library_texts().end())
      return source::File{"library/" + name, std::string(text->second)};
  }
  return reading;
}

}  // namespace api
