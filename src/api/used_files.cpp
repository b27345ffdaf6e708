#include "api/used_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "api/library_texts.h"

namespace api {

std::optional<source::File> read_used_file(const std::string& from, const std::string& path) {
  constexpr std::uintmax_t largest = 64u << 20;
  const std::filesystem::path found = (std::filesystem::path(from).parent_path() / path).lexically_normal();
  std::error_code error;
  // A program may be called as the library's file that it uses; it does not use itself.
  const bool is_itself = found == std::filesystem::path(from).lexically_normal();
  if (!is_itself && std::filesystem::is_regular_file(found, error) &&
      std::filesystem::file_size(found, error) <= largest) {
    std::ifstream file(found, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (file.good() || file.eof()) return source::File{found.string(), std::move(text)};
  }
  for (const std::string& name : {path, path + ".tact"}) {
    if (auto text = library_texts().find(name); text != library_texts().end())
      return source::File{"library/" + name, std::string(text->second)};
  }
  return std::nullopt;
}

}  // namespace api
